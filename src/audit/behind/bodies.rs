//! Bodies of writes: the few fields on which more checks depend.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{ADMISSION, AUTHORIZATION, Behind, CERTIFICATES, RBAC, Shown, What, is};
use crate::audit::event::{Event, Raw, Text};
use crate::audit::request_info::Resource;
use crate::rbac::Rule;

/// Most bytes of a body that is looked into: the API server takes no larger request (`MaxRequestBodyBytes`).
const LONGEST: usize = 3 << 20;
/// Most bytes of what is kept of one body.
const MOST_KEPT: usize = 64 << 10;

/// What decides, of this kind of object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Role,
    Binding,
    SignedRequest,
    TrustBundle,
    AdmissionPolicy,
    AdmissionBinding,
    Review,
    Route,
    Plain,
}

impl Kind {
    fn of(verb: &str, resource: &Resource<'_>) -> Self {
        const SIGNED: [&str; 2] = ["certificatesigningrequests", "podcertificaterequests"];
        const POLICIES: [&str; 2] = ["validatingadmissionpolicies", "mutatingadmissionpolicies"];
        const POLICY_BINDINGS: [&str; 2] = ["validatingadmissionpolicybindings", "mutatingadmissionpolicybindings"];
        const REVIEWS: [&str; 4] = [
            "selfsubjectaccessreviews",
            "selfsubjectrulesreviews",
            "subjectaccessreviews",
            "localsubjectaccessreviews",
        ];
        match resource.group {
            RBAC if is(resource, RBAC, &["roles", "clusterroles"], "") => Self::Role,
            RBAC if is(resource, RBAC, &["rolebindings", "clusterrolebindings"], "") => Self::Binding,
            CERTIFICATES if is(resource, CERTIFICATES, &["certificatesigningrequests"], "approval") => {
                Self::SignedRequest
            }
            CERTIFICATES if is(resource, CERTIFICATES, &SIGNED, "status") => Self::SignedRequest,
            CERTIFICATES if is(resource, CERTIFICATES, &["clustertrustbundles"], "") => Self::TrustBundle,
            ADMISSION if is(resource, ADMISSION, &POLICIES, "") => Self::AdmissionPolicy,
            ADMISSION if is(resource, ADMISSION, &POLICY_BINDINGS, "") => Self::AdmissionBinding,
            AUTHORIZATION if verb == "create" && is(resource, AUTHORIZATION, &REVIEWS, "") => Self::Review,
            "route.openshift.io" if is(resource, "route.openshift.io", &["routes"], "") => Self::Route,
            _ => Self::Plain,
        }
    }
}

/// Reads the body of a write.
pub(super) fn read(event: &Event<'_>, verb: &str, resource: &Resource<'_>, code: u16) -> Shown {
    let kind = Kind::of(verb, resource);
    let mut shown = Shown::default();
    let patched = verb == "patch";
    // The check is made on the whole new object: of a patch, only the answer has that. A client may ask for less.
    let whole = |answer: &Raw<'_>| match parse::<TypeMeta<'_>>(answer).as_ref().map(|answer| &*answer.kind) {
        // Owners are metadata.
        Some("PartialObjectMetadata") => kind == Kind::Plain,
        Some(answered) => answered != "Table",
        None => false,
    };
    let answered = (200..300).contains(&code) && patched && whole(&event.response_object);
    let body = if answered { &event.response_object } else { &event.request_object };
    match kind {
        Kind::Plain => {}
        Kind::Review => shown.unread = event.request_object.0.is_empty(),
        // The parameters are of the kind that the policy names, which is another object.
        Kind::AdmissionBinding => shown.unread = true,
        _ => match decided(kind, body, &resource.name, patched && !answered) {
            Some(behind) => shown.behind = behind,
            None => shown.unread = true,
        },
    }
    if memchr::memmem::find(body.0.as_bytes(), b"\"ownerReferences\"").is_some()
        && let Some(object) = parse::<Owned<'_>>(body)
    {
        owners(&object, verb, code, &mut shown.behind);
    }
    shown
}

/// What the body of an object of this kind decides; `None` where it cannot be told.
fn decided(kind: Kind, body: &Raw<'_>, name: &str, is_patch: bool) -> Option<Vec<Behind>> {
    let object: Object<'_> = parse(body)?;
    let mut found = Vec::new();
    let spec = object.spec.unwrap_or_default();
    match kind {
        Kind::Role => {
            // A patch without rules leaves them as they were, and they are checked again.
            let rules = match (object.rules, is_patch) {
                (None, true) => return None,
                (rules, _) => rules.unwrap_or_default(),
            };
            let rules: Vec<Rule> = rules.into_iter().map(BodyRule::rule).collect();
            if rules.iter().map(length).sum::<usize>() > MOST_KEPT {
                return None;
            }
            // Of a plain create, the URL has no name.
            let own = object.metadata.as_ref().map_or("", |metadata| &metadata.name);
            let name = if name.is_empty() { own } else { name };
            if !rules.is_empty() {
                found.push(What::Rules { name: name.to_owned(), rules });
            }
            if object.aggregation_rule.is_some_and(|rule| !rule.cluster_role_selectors.is_empty()) {
                found.push(What::Aggregates);
            }
        }
        Kind::Binding => {
            let role = object.role_ref?;
            found.push(What::RoleRef { role_kind: role.kind.0.into_owned(), name: role.name.0.into_owned() });
        }
        Kind::SignedRequest | Kind::TrustBundle => match &*spec.signer_name {
            "" if kind == Kind::TrustBundle && !is_patch => {}
            "" => return None,
            name => found.push(What::Signer { name: name.to_owned() }),
        },
        Kind::AdmissionPolicy => match spec.param_kind {
            None if is_patch => return None,
            None => {}
            Some(kind) => found.push(What::ParamKind {
                api_version: kind.api_version.0.into_owned(),
                param_kind: kind.kind.0.into_owned(),
            }),
        },
        Kind::Route => {
            if !spec.host.is_empty() || !spec.subdomain.is_empty() {
                found.push(What::Host);
            }
        }
        Kind::AdmissionBinding | Kind::Review | Kind::Plain => {}
    }
    Some(found.into_iter().map(|what| Behind { what, refused: false }).collect())
}

/// Owner references (`plugin/pkg/admission/gc/gc_admission.go`).
fn owners(object: &Owned<'_>, verb: &str, code: u16, behind: &mut Vec<Behind>) {
    let owners = object.metadata.as_ref().and_then(|metadata| metadata.owner_references.as_deref()).unwrap_or_default();
    let mut add = |what| behind.push(Behind { what, refused: false });
    let text = |text: &Text<'_>| (**text).to_owned();
    // What a plain create makes is known by a name that its URL does not have.
    if verb != "create" && !owners.is_empty() {
        add(What::HasOwners { uids: owners.iter().map(|owner| text(&owner.uid)).collect(), made: code == 201 });
    }
    for owner in owners.iter().filter(|owner| owner.block_owner_deletion == Some(true)) {
        let api_version = text(&owner.api_version);
        add(What::BlocksOwner { api_version, owner_kind: text(&owner.kind), name: text(&owner.name) });
    }
}

fn parse<'a, T: Deserialize<'a>>(body: &'a Raw<'_>) -> Option<T> {
    if body.0.is_empty() || body.0.len() > LONGEST {
        return None;
    }
    serde_json::from_str(&body.0).ok()
}

fn length(rule: &Rule) -> usize {
    let lists = [&rule.api_groups, &rule.resources, &rule.resource_names, &rule.non_resource_urls, &rule.verbs];
    lists.into_iter().flatten().map(|text| text.len() + 1).sum()
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Object<'a> {
    #[serde(borrow)]
    metadata: Option<Metadata<'a>>,
    rules: Option<Vec<BodyRule>>,
    aggregation_rule: Option<AggregationRule>,
    #[serde(borrow)]
    role_ref: Option<RoleRef<'a>>,
    #[serde(borrow)]
    spec: Option<Spec<'a>>,
}

/// `hasAggregationRule` (`pkg/registry/rbac/clusterrole/policybased/storage.go`).
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct AggregationRule {
    cluster_role_selectors: Vec<IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TypeMeta<'a> {
    #[serde(borrow)]
    kind: Text<'a>,
}

/// Any object: other fields mean other things in other kinds.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Owned<'a> {
    #[serde(borrow)]
    metadata: Option<Metadata<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Metadata<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    owner_references: Option<Vec<Owner<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Owner<'a> {
    #[serde(borrow)]
    api_version: Text<'a>,
    #[serde(borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    uid: Text<'a>,
    block_owner_deletion: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RoleRef<'a> {
    #[serde(borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
}

/// The fields of several kinds; objects of other kinds are not parsed into this.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Spec<'a> {
    #[serde(borrow, deserialize_with = "lenient")]
    signer_name: Text<'a>,
    #[serde(borrow, deserialize_with = "lenient")]
    host: Text<'a>,
    #[serde(borrow, deserialize_with = "lenient")]
    subdomain: Text<'a>,
    #[serde(borrow)]
    param_kind: Option<ParamKind<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ParamKind<'a> {
    #[serde(borrow)]
    api_version: Text<'a>,
    #[serde(borrow)]
    kind: Text<'a>,
}

/// A text; anything else is none, as these fields mean other things in other kinds.
fn lenient<'de: 'a, 'a, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Text<'a>, D::Error> {
    let raw = Raw::deserialize(deserializer)?;
    let text = match raw.0 {
        Cow::Borrowed(text) => serde_json::from_str::<Text<'a>>(text).unwrap_or_default(),
        Cow::Owned(_) => Text::default(),
    };
    Ok(text)
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct BodyRule {
    api_groups: Option<Vec<String>>,
    resources: Option<Vec<String>>,
    resource_names: Option<Vec<String>>,
    #[serde(rename = "nonResourceURLs")]
    non_resource_urls: Option<Vec<String>>,
    verbs: Option<Vec<String>>,
}

impl BodyRule {
    fn rule(self) -> Rule {
        Rule {
            api_groups: self.api_groups.unwrap_or_default(),
            resources: self.resources.unwrap_or_default(),
            resource_names: self.resource_names.unwrap_or_default(),
            non_resource_urls: self.non_resource_urls.unwrap_or_default(),
            verbs: self.verbs.unwrap_or_default(),
        }
    }
}
