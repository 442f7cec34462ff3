//! Reads a policy as the API server does (`pkg/audit/policy/reader.go`, `pkg/apis/audit/validation`): what it refuses
//! is refused, what it warns of is a warning. The versions `v1beta1` and `v1alpha1`, which API servers before 1.24 took,
//! have the same fields. One thing more is taken, a boolean in quotes, which changes nothing for a log that exists.

use std::collections::BTreeSet;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_saphyr::{DuplicateKeyPolicy, Spanned};

use super::{GroupResources, Level, Policy, PolicyRule, Stage};

const GROUP: &str = "audit.k8s.io";
const VERSIONS: [&str; 3] = ["v1", "v1beta1", "v1alpha1"];

/// Why a text is no policy that an API server would take.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// It is not YAML, or a field has a wrong type.
    #[error("{path}: {message}")]
    Malformed {
        /// The path as given.
        path: String,
        /// What is wrong, with its place.
        message: String,
    },
    /// It is another kind of object.
    #[error(
        "{path} is no audit policy: its apiVersion is `{api_version}` and its kind `{kind}`, not `audit.k8s.io/v1` and `Policy`"
    )]
    Kind {
        /// The path as given.
        path: String,
        /// As written.
        api_version: String,
        /// As written.
        kind: String,
    },
    /// Values that the API server refuses, and does not start with.
    #[error("{path}: the API server refuses this policy: {}", problems.join("; "))]
    Invalid {
        /// The path as given.
        path: String,
        /// Each with its place.
        problems: Vec<String>,
    },
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawPolicy {
    #[serde(default, deserialize_with = "or_default")]
    api_version: String,
    #[serde(default, deserialize_with = "or_default")]
    kind: String,
    #[serde(default)]
    #[expect(dead_code, reason = "known, and of no use here")]
    metadata: Option<IgnoredAny>,
    #[serde(default, deserialize_with = "or_default")]
    rules: Vec<Spanned<RawRule>>,
    #[serde(default, deserialize_with = "texts")]
    omit_stages: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    omit_managed_fields: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawRule {
    #[serde(default, deserialize_with = "or_default")]
    level: String,
    #[serde(default, deserialize_with = "texts")]
    users: Vec<String>,
    #[serde(default, deserialize_with = "texts")]
    user_groups: Vec<String>,
    #[serde(default, deserialize_with = "texts")]
    verbs: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    resources: Vec<RawResources>,
    #[serde(default, deserialize_with = "texts")]
    namespaces: Vec<String>,
    #[serde(default, rename = "nonResourceURLs", deserialize_with = "texts")]
    non_resource_urls: Vec<String>,
    #[serde(default, deserialize_with = "texts")]
    omit_stages: Vec<String>,
    #[serde(default)]
    omit_managed_fields: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawResources {
    #[serde(default, deserialize_with = "or_default")]
    group: String,
    #[serde(default, deserialize_with = "texts")]
    resources: Vec<String>,
    #[serde(default, deserialize_with = "texts")]
    resource_names: Vec<String>,
}

/// Go's JSON reader takes null for the empty value of any type.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(from: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

fn texts<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let texts: Option<Vec<Option<String>>> = Option::deserialize(from)?;
    Ok(texts.into_iter().flatten().map(Option::unwrap_or_default).collect())
}

impl Policy {
    /// Reads a policy in YAML or JSON; `path` is for messages.
    ///
    /// # Errors
    /// What the API server would refuse to start with.
    pub fn read(path: &str, text: &str) -> Result<Self, PolicyError> {
        let malformed = |message: String| PolicyError::Malformed { path: path.to_owned(), message };
        let options = serde_saphyr::options! {
            duplicate_keys: DuplicateKeyPolicy::LastWins,
            // A bare `true` or `1` is no text to Kubernetes either.
            no_schema: true,
            with_snippet: false,
        };
        let mut warnings = Vec::new();
        let mut read = None;
        let rest = serde_saphyr::with_deserializer_from_str_with_options(text, options, |from| {
            let raw = serde_ignored::deserialize(from, |field| {
                // `Spanned` reads a rule as the field `value` of a struct of its own.
                let field = field.to_string().replace(".?", "").replacen(".value.", ".", 1);
                if field != "metadata" && !field.ends_with("__serde_saphyr_private_spanned") {
                    warnings.push(format!("the API server does not know the field `{field}`"));
                }
            })?;
            read = Some(raw);
            Ok(())
        });
        let raw: RawPolicy = match (read, rest) {
            (Some(raw), Ok(())) => raw,
            (Some(raw), Err(_)) => {
                warnings.push("what stands after the first document is not read".to_owned());
                raw
            }
            (None, Err(error)) => return Err(malformed(error.to_string())),
            (None, Ok(())) => return Err(malformed("it is empty".to_owned())),
        };
        let version = raw.api_version.split_once('/').filter(|(group, _)| *group == GROUP);
        // No kind is that of what is expected, no version is refused.
        if !matches!(raw.kind.as_str(), "" | "Policy")
            || !version.is_some_and(|(_, version)| VERSIONS.contains(&version))
        {
            return Err(PolicyError::Kind { path: path.to_owned(), api_version: raw.api_version, kind: raw.kind });
        }
        let mut problems = Vec::new();
        let policy = raw.checked(path, warnings, &mut problems);
        if policy.rules.is_empty() {
            problems.push("it has no rules".to_owned());
        }
        if problems.is_empty() { Ok(policy) } else { Err(PolicyError::Invalid { path: path.to_owned(), problems }) }
    }
}

impl RawPolicy {
    fn checked(self, path: &str, warnings: Vec<String>, problems: &mut Vec<String>) -> Policy {
        let omit_stages = stages(&self.omit_stages, "omitStages", problems);
        let mut rules = Vec::with_capacity(self.rules.len());
        for (at, raw) in self.rules.into_iter().enumerate() {
            let line = raw.referenced.line();
            let place = format!("line {line}: rules[{at}]");
            let rule = raw.value.checked(at + 1, line, &place, self.omit_managed_fields, problems);
            rules.push(PolicyRule { omit_stages: &rule.omit_stages | &omit_stages, ..rule });
        }
        Policy { path: path.to_owned(), rules, omit_stages, omit_managed_fields: self.omit_managed_fields, warnings }
    }
}

impl RawRule {
    fn checked(
        self,
        number: usize,
        line: u64,
        place: &str,
        omit_managed_fields: bool,
        problems: &mut Vec<String>,
    ) -> PolicyRule {
        let level = Level::ALL.into_iter().find(|level| level.name() == self.level).unwrap_or_else(|| {
            problems.push(match self.level.as_str() {
                "" => format!("{place}.level is missing"),
                other => format!("{place}.level: `{other}` is none of None, Metadata, Request, RequestResponse"),
            });
            Level::None
        });
        for url in self.non_resource_urls.iter().filter(|url| *url != "*") {
            if !url.starts_with('/') {
                problems.push(format!("{place}.nonResourceURLs: `{url}` does not begin with `/`"));
            }
            if url.find('*').is_some_and(|at| at + 1 < url.len()) {
                problems.push(format!("{place}.nonResourceURLs: `{url}` has a `*` that is not its end"));
            }
        }
        let on_resources = !self.resources.is_empty() || !self.namespaces.is_empty();
        if !self.non_resource_urls.is_empty() && on_resources {
            problems.push(format!("{place} has nonResourceURLs beside resources or namespaces"));
        }
        for resources in &self.resources {
            let group = &resources.group;
            if !group.is_empty() && group != "*" && !is_dns_subdomain(group) {
                problems
                    .push(format!("{place}.resources: `{group}` is no API group (a version does not belong to it)"));
            }
            if !resources.resource_names.is_empty() && resources.resources.is_empty() {
                problems.push(format!("{place}.resources: resourceNames without resources"));
            }
        }
        PolicyRule {
            number,
            line,
            level,
            omit_stages: stages(&self.omit_stages, &format!("{place}.omitStages"), problems),
            users: self.users,
            user_groups: self.user_groups,
            verbs: self.verbs,
            resources: self.resources.into_iter().map(RawResources::checked).collect(),
            namespaces: self.namespaces,
            non_resource_urls: self.non_resource_urls,
            omit_managed_fields: self.omit_managed_fields.unwrap_or(omit_managed_fields),
        }
    }
}

impl RawResources {
    fn checked(self) -> GroupResources {
        GroupResources { group: self.group, resources: self.resources, resource_names: self.resource_names }
    }
}

fn stages(names: &[String], place: &str, problems: &mut Vec<String>) -> BTreeSet<Stage> {
    let mut stages = BTreeSet::new();
    for name in names {
        match Stage::ALL.into_iter().find(|stage| stage.name() == name) {
            Some(stage) => drop(stages.insert(stage)),
            None => problems.push(format!(
                "{place}: `{name}` is none of RequestReceived, ResponseStarted, ResponseComplete, Panic"
            )),
        }
    }
    stages
}

/// `IsDNS1123Subdomain` of apimachinery.
fn is_dns_subdomain(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let label =
        |label: &str| label.starts_with(fits) && label.ends_with(fits) && label.chars().all(|c| fits(c) || c == '-');
    text.len() <= 253 && text.split('.').all(label)
}
