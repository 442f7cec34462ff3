//! What a subject did, with what that needed: the calls of the Usage profile that are its own, and `needs` of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Context, minor_of};
use crate::api::{Table, builtin};
use crate::audit::{Decision, Observed, Origin, Usage, What};
use crate::manifest::{Package, PolicyRule, RoleKind};
use crate::needs::{self, Cluster, Need, Platform, Roles, Unread};
use crate::rbac::{Request, Rule};

/// Most permissions that bodies may ask for beside the calls themselves; more of them are as if the log had no bodies.
const MOST_ASKED: usize = 100_000;

/// What is known beside the log.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// Kubernetes minor, such as `1.36`.
    pub minor: &'a str,
    /// What the cluster runs.
    pub platform: Platform,
    /// What is served.
    pub table: &'a Table,
    /// The package whose roles a binding may name.
    pub package: Option<&'a Package>,
}

impl<'a> Known<'a> {
    pub(super) fn of(cx: &Context<'a>) -> Self {
        Self { minor: cx.minor, platform: cx.options.platform, table: cx.table, package: Some(cx.package) }
    }
}

/// What a subject did, with what that needed.
#[derive(Debug, Default)]
pub(crate) struct Activity<'a> {
    /// All its calls, and the checks that impersonation made on it.
    pub(crate) calls: Vec<&'a Arc<Observed>>,
    /// Needs of its authorized calls, each once.
    pub(crate) needs: Vec<Need>,
    /// What its calls were refused for behind the authorizer.
    pub(crate) refused: Vec<(&'a Arc<Observed>, Vec<Need>)>,
    /// What the log hints at.
    pub(crate) suspected: Vec<String>,
    /// What missing bodies would have told, with the calls that miss them.
    pub(crate) unread: Vec<(Unread, &'a Request)>,
    /// What the cluster runs: as asked for, else as the log shows.
    pub(crate) platform: Platform,
}

impl<'a> Activity<'a> {
    /// `platform` as [`platform`] tells.
    pub(crate) fn of(usage: &'a Usage, user: &str, known: &Known<'_>, platform: Platform) -> Self {
        // They are sorted by user.
        let start = usage.calls.partition_point(|call| call.user.as_str() < user);
        let all: Vec<&Arc<Observed>> = usage.calls.iter().skip(start).take_while(|call| call.user == user).collect();
        let roles = KnownRoles { known, written: written(&all) };
        let cluster = Cluster { minor: minor_of(known.minor), platform, table: known.table, roles: &roles };
        let mut activity = Self { platform, ..Self::default() };
        let mut needs = BTreeSet::new();
        let mut asked = 0_usize;
        for call in all {
            if is_wild(&call.request) {
                let said = "asks for `*` by name, which nothing has: not counted as a use, and never granted";
                activity.suspected.push(format!("{said} ({})", super::describe(&call.request)));
                continue;
            }
            for need in needs::of(call, &cluster) {
                let asks: usize = need.ways.iter().map(Vec::len).sum();
                if asked.saturating_add(asks) > MOST_ASKED {
                    activity
                        .suspected
                        .push(format!("bodies ask for more than {MOST_ASKED} permissions: not all are read"));
                    activity.unread.push((Unread::Rules, &call.request));
                } else if needs.insert(need) {
                    asked += asks;
                }
            }
            match call.origin {
                Origin::Asked | Origin::AskedBy => {}
                Origin::Call | Origin::Impersonation => activity.calls.push(call),
            }
            let refused = needs::refused(call, &cluster);
            if !refused.is_empty() {
                activity.refused.push((call, refused));
            }
            activity.suspected.extend(needs::suspected(call));
            activity.unread.extend(needs::unread(call).map(|unread| (unread, &call.request)));
            activity.unread.extend(unknown_role(call, &roles).map(|unread| (unread, &call.request)));
        }
        activity.suspected.sort();
        activity.suspected.dedup();
        activity.needs = needs.into_iter().collect();
        activity
    }

    pub(crate) fn allowed(&self) -> impl Iterator<Item = &'a Arc<Observed>> {
        self.calls.iter().copied().filter(|call| call.decision == Decision::Allowed)
    }
}

/// Whether it names `*` where a rule would mean any: no API has such a name, and a rule for it would grant everything.
fn is_wild(request: &Request) -> bool {
    match request {
        Request::Resource(r) => {
            [&r.verb, &r.api_group, &r.resource, &r.subresource].into_iter().any(|word| word == "*")
        }
        Request::NonResource(r) => r.verb == "*" || r.path.ends_with('*'),
    }
}

/// A binding of a role whose rules are nowhere to be found: any permission may be held for it.
fn unknown_role(call: &Observed, roles: &KnownRoles<'_>) -> Option<Unread> {
    let namespace = call.request.namespace();
    let passed = call.behind.iter().filter(|behind| !behind.refused);
    let mut bound = passed.filter_map(|behind| match &behind.what {
        What::RoleRef { role_kind, name } => Some((role_kind, name)),
        _ => None,
    });
    bound.any(|(kind, name)| roles.rules(kind, namespace, name).is_none()).then_some(Unread::Binding)
}

/// What the cluster runs: as asked for, else as the log tells: OpenShift's own groups are asked for all the time there.
pub(crate) fn platform(usage: &Usage, asked: Platform) -> Platform {
    let of_openshift = |call: &Arc<Observed>| match &call.request {
        Request::Resource(request) => {
            request.api_group == "config.openshift.io"
                && call.decision == Decision::Allowed
                && call.codes.keys().any(|code| (200..300).contains(code))
        }
        Request::NonResource(_) => false,
    };
    match asked {
        Platform::Auto if usage.calls.iter().any(of_openshift) => Platform::OpenShift,
        asked => asked,
    }
}

/// Rules that were written into roles, by kind, namespace and name.
type Written = BTreeMap<(&'static str, String, String), BTreeSet<Rule>>;

fn written(calls: &[&Arc<Observed>]) -> Written {
    let mut written = Written::new();
    for call in calls.iter().filter(|call| call.decision == Decision::Allowed) {
        let Request::Resource(request) = &call.request else { continue };
        let kind = if request.resource == "roles" { "Role" } else { "ClusterRole" };
        for behind in call.behind.iter().filter(|behind| !behind.refused) {
            if let What::Rules { name, rules } = &behind.what {
                let role = (kind, request.namespace.clone(), name.clone());
                written.entry(role).or_default().extend(rules.iter().cloned());
            }
        }
    }
    written
}

#[derive(Debug)]
struct KnownRoles<'a> {
    known: &'a Known<'a>,
    written: Written,
}

impl Roles for KnownRoles<'_> {
    fn rules(&self, role_kind: &str, namespace: &str, name: &str) -> Option<Vec<Rule>> {
        let is_role = role_kind == "Role";
        let (kind, place, key) = match is_role {
            true => (RoleKind::Role, namespace, "Role"),
            false => (RoleKind::ClusterRole, "", "ClusterRole"),
        };
        let builtin = match is_role {
            true => builtin::role(self.known.minor, namespace, name),
            false => builtin::cluster_role(self.known.minor, name),
        };
        if let Some(role) = builtin {
            return Some(role.rules.clone());
        }
        let shipped = self.known.package.and_then(|package| {
            let same = |role: &&crate::manifest::Role| {
                role.kind == kind
                    && role.name.value == name
                    && (!is_role || package.resolve(role.namespace.as_ref()) == namespace)
            };
            package.facts.roles.iter().find(same)
        });
        if shipped.is_some_and(|role| role.aggregation.is_some()) {
            // Whatever has the labels adds to it, also what is not in the input.
            return None;
        }
        if let Some(role) = shipped {
            return Some(role.rules.iter().map(PolicyRule::to_rule).collect());
        }
        self.written.get(&(key, place.to_owned(), name.to_owned())).map(|rules| rules.iter().cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceMap;

    #[test]
    fn rules_of_an_aggregated_role_are_not_known() {
        let rbac = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\n";
        let rules = "rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]\n";
        let text = format!(
            "{rbac}metadata: {{name: plain}}\n{rules}---\n{rbac}metadata: {{name: all}}\n\
             aggregationRule: {{clusterRoleSelectors: [{{matchLabels: {{a: b}}}}]}}\nrules: []\n"
        );
        let mut sources = SourceMap::default();
        let id = sources.add("m.yaml", text);
        let facts = crate::manifest::read(&sources, id).facts;
        let packages = crate::manifest::package::split(&["m.yaml".to_owned()], vec![("m.yaml".to_owned(), facts)]);
        let table = Table::for_minor("1.36").unwrap();
        let known = Known { minor: "1.36", platform: Platform::Auto, table: &table, package: packages.first() };
        let roles = KnownRoles { known: &known, written: Written::new() };
        assert_eq!(roles.rules("ClusterRole", "", "plain").map(|rules| rules.len()), Some(1));
        assert_eq!(roles.rules("ClusterRole", "", "all"), None);
    }
}
