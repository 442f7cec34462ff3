//! A rule as a document: YAML front matter (what to match, how bad) over a Markdown body (why, and what to do).
//! Parsed strictly: an unknown or repeated key is an error, never a rule that quietly does nothing.

use serde::Deserialize;
use thiserror::Error;

use super::pattern::{Match, Pattern};
use crate::controls::Framework;
use crate::finding::{Confidence, ScopeClass, Severity};

/// Headings that every body has, in this order.
pub const SECTIONS: [&str; 4] = ["What it means", "Why it matters for an operator", "When it is fine", "How to fix"];

/// One rule.
#[derive(Debug, Clone)]
pub struct RuleDoc {
    /// Stable id (`RC039`), never reused.
    pub id: String,
    /// Kebab-case name: what is wrong.
    pub name: String,
    /// What is wrong, in a few words.
    pub title: String,
    /// Severity by scope class.
    pub severity: Severities,
    /// How sure a finding of it is.
    pub confidence: Confidence,
    /// How it finds.
    pub kind: Kind,
    /// What a capability rule looks for; `None` for checks.
    pub matches: Option<Match>,
    /// Framework ids.
    pub controls: Controls,
    /// Version that first had it.
    pub since: String,
    /// Inline manifests of a capability rule.
    pub tests: InlineTests,
    /// Markdown body, the four sections.
    pub body: String,
}

/// Severity by scope class; a class without one is a scope that the rule does not speak of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Severities {
    cluster: Option<Severity>,
    namespace: Option<Severity>,
    named: Option<Severity>,
    own_group: Option<Severity>,
}

impl Severities {
    /// The severity in a class.
    pub fn get(&self, class: ScopeClass) -> Option<Severity> {
        match class {
            ScopeClass::Cluster => self.cluster,
            ScopeClass::Namespace => self.namespace,
            ScopeClass::Named => self.named,
            ScopeClass::OwnGroup => self.own_group,
        }
    }

    /// The classes that have one, widest first.
    pub fn iter(&self) -> impl Iterator<Item = (ScopeClass, Severity)> {
        ScopeClass::ALL.into_iter().filter_map(|class| Some((class, self.get(class)?)))
    }
}

/// How a rule finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A declarative match on effective permissions.
    Capability,
    /// An analysis built into this binary, by the rule's id.
    Check,
}

/// Framework ids of a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Controls {
    #[serde(default, rename = "nist-800-53")]
    nist_800_53: Vec<String>,
    #[serde(default, rename = "nist-csf-2.0")]
    nist_csf_2: Vec<String>,
    #[serde(default, rename = "cis-controls-v8")]
    cis_controls_v8: Vec<String>,
}

impl Controls {
    /// Framework and id, in the order of the frameworks and of the document.
    pub fn iter(&self) -> impl Iterator<Item = (Framework, &str)> {
        let lists = [
            (Framework::Nist80053, &self.nist_800_53),
            (Framework::Csf2, &self.nist_csf_2),
            (Framework::Cis8, &self.cis_controls_v8),
        ];
        lists.into_iter().flat_map(|(framework, ids)| ids.iter().map(move |id| (framework, id.as_str())))
    }

    /// As shown to people.
    pub fn shown(&self) -> Vec<String> {
        self.iter().map(|(framework, id)| framework.display(id)).collect()
    }
}

/// Manifests that must make a capability rule fire, and that must not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InlineTests {
    /// Each makes the rule fire.
    pub fires: Vec<String>,
    /// None makes it fire.
    pub quiet: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FrontMatter {
    id: String,
    name: String,
    title: String,
    severity: Severities,
    confidence: Confidence,
    kind: Kind,
    #[serde(rename = "match")]
    matches: Option<Match>,
    controls: Controls,
    since: String,
    tests: Option<InlineTests>,
}

/// Why a document is no rule.
#[derive(Debug, Error)]
pub enum RuleError {
    /// No `---` lines around the front matter.
    #[error("no front matter: the document must start with a `---` line and close it with another")]
    NoFrontMatter,
    /// The front matter is not what a rule has.
    #[error("front matter: {0}")]
    FrontMatter(String),
    /// A field holds what it may not.
    #[error("`{field}`: {reason}")]
    Field {
        /// The field.
        field: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A section of the body is missing, empty or out of order.
    #[error("body: section `## {0}` is missing, empty or out of order")]
    Section(&'static str),
    /// Two documents with one id.
    #[error("id `{0}` is taken by another document")]
    DuplicateId(String),
}

impl RuleDoc {
    /// Parses one document.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        let (front, body) = split(text).ok_or(RuleError::NoFrontMatter)?;
        let front: FrontMatter =
            serde_saphyr::from_str(&front).map_err(|error| RuleError::FrontMatter(error.to_string()))?;
        let doc = Self {
            id: front.id,
            name: front.name,
            title: front.title,
            severity: front.severity,
            confidence: front.confidence,
            kind: front.kind,
            matches: front.matches,
            controls: front.controls,
            since: front.since,
            tests: front.tests.unwrap_or_default(),
            body,
        };
        doc.validate()?;
        Ok(doc)
    }

    /// Text of a section, without its heading; empty when there is none.
    pub fn section(&self, heading: &str) -> String {
        let mut lines = self.body.lines().skip_while(|line| line.strip_prefix("## ") != Some(heading));
        lines.next();
        let text: Vec<&str> = lines.take_while(|line| !line.starts_with("## ")).collect();
        text.join("\n").trim().to_owned()
    }

    fn validate(&self) -> Result<(), RuleError> {
        let field = |field, reason: &str| Err(RuleError::Field { field, reason: reason.to_owned() });
        let letters = self.id.chars().take_while(char::is_ascii_uppercase).count();
        let digits = self.id.chars().skip(letters).filter(char::is_ascii_digit).count();
        if letters < 2 || digits < 3 || letters + digits != self.id.chars().count() {
            return field("id", "must be two or more capitals and three or more digits, such as `RC039`");
        }
        let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if self.name.is_empty() || !self.name.chars().all(kebab) {
            return field("name", "must be kebab-case");
        }
        if self.title.trim().is_empty() {
            return field("title", "must not be empty");
        }
        if self.severity.iter().next().is_none() {
            return field("severity", "must have at least one scope class");
        }
        match (self.kind, &self.matches) {
            (Kind::Capability, None) => return field("match", "a capability rule needs it"),
            (Kind::Check, Some(_)) => return field("match", "a check has none"),
            (Kind::Check, None) if !super::checks::exists(&self.id) => {
                return field("kind", "no check with this id is built in");
            }
            (Kind::Check, None) => {}
            (Kind::Capability, Some(matches)) => {
                if matches.any_of.is_empty() == matches.all_of.is_empty() {
                    return field("match", "must have either `any_of` or `all_of`");
                }
                let patterns = [&matches.any_of, &matches.all_of, &matches.none_of];
                if !patterns.into_iter().flatten().all(Pattern::is_whole) {
                    return field(
                        "match",
                        "a pattern needs verbs and either apiGroups and resources or nonResourceURLs",
                    );
                }
                if self.tests.fires.is_empty() || self.tests.quiet.is_empty() {
                    return field("tests", "a capability rule needs manifests that fire and manifests that do not");
                }
            }
        }
        let mut rest = self.body.as_str();
        for heading in SECTIONS {
            let marker = format!("## {heading}\n");
            rest = rest.split_once(&marker).map(|(_, rest)| rest).ok_or(RuleError::Section(heading))?;
            if self.section(heading).is_empty() {
                return Err(RuleError::Section(heading));
            }
        }
        Ok(())
    }
}

/// Front matter and body, line breaks as `\n`.
fn split(text: &str) -> Option<(String, String)> {
    let text = text.replace("\r\n", "\n");
    let rest = text.strip_prefix("---\n")?;
    let (front, body) = rest.split_once("\n---\n")?;
    Some((front.to_owned(), body.trim().to_owned() + "\n"))
}

#[cfg(test)]
mod tests;
