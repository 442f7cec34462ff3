//! Audit policies (`audit.k8s.io` `Policy`): which requests an API server records, at which level and at which stages.
//! [`Policy::read`] reads one, [`Policy::evaluate`] says what becomes of a request, and [`OwnRules::shows`] what
//! becomes of every request that a grant allows.

mod evaluate;
mod read;
mod region;
mod shows;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

pub use evaluate::{Recorded, Requester};
pub use read::PolicyError;
pub use shows::{Hidden, OwnRules, Part, Visibility};

/// A policy as the API server uses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// The file that it was read from, as given.
    pub path: String,
    /// Its rules; the first that matches a request counts.
    pub rules: Vec<PolicyRule>,
    /// Stages that no rule records.
    pub omit_stages: BTreeSet<Stage>,
    /// Whether bodies come without `managedFields` where a rule does not say.
    pub omit_managed_fields: bool,
    /// What the API server warns of when it reads the policy: fields that it does not know, for example.
    pub warnings: Vec<String>,
}

/// One rule. An empty list restricts nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyRule {
    /// Its place among the rules, from 1.
    pub number: usize,
    /// The line that it begins at, from 1.
    pub line: u64,
    /// At which level matching requests are recorded.
    pub level: Level,
    /// User names.
    pub users: Vec<String>,
    /// Groups; a user in one of them matches.
    pub user_groups: Vec<String>,
    /// Verbs; there is no wildcard.
    pub verbs: Vec<String>,
    /// Resources.
    pub resources: Vec<GroupResources>,
    /// Namespaces; the empty text is requests without one.
    pub namespaces: Vec<String>,
    /// URL paths that are no resources; `*` is all, a trailing `*` a prefix.
    pub non_resource_urls: Vec<String>,
    /// Stages that are not recorded, those of the whole policy among them.
    pub omit_stages: BTreeSet<Stage>,
    /// Whether bodies come without `managedFields`.
    pub omit_managed_fields: bool,
}

/// Resources of one API group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GroupResources {
    /// The API group; `*` is all.
    pub group: String,
    /// `RESOURCE`, `RESOURCE/SUBRESOURCE`, `*`, `*/SUBRESOURCE` or `RESOURCE/*` (which has the resource itself too); an
    /// empty list is all.
    pub resources: Vec<String>,
    /// Object names.
    pub resource_names: Vec<String>,
}

/// How much of a request is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing.
    None,
    /// Who asked for what, and the answer's code.
    Metadata,
    /// Also the body of the request.
    Request,
    /// Also the body of the answer.
    RequestResponse,
}

impl Level {
    const ALL: [Self; 4] = [Self::None, Self::Metadata, Self::Request, Self::RequestResponse];

    /// As a policy writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Metadata => "Metadata",
            Self::Request => "Request",
            Self::RequestResponse => "RequestResponse",
        }
    }
}

/// When in the life of a request an event is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// It came in; nothing was decided yet.
    RequestReceived,
    /// The head of the answer was sent: of long-running requests only, such as `watch`.
    ResponseStarted,
    /// The whole answer was sent.
    ResponseComplete,
    /// The API server failed over it.
    Panic,
}

impl Stage {
    const ALL: [Self; 4] = [Self::RequestReceived, Self::ResponseStarted, Self::ResponseComplete, Self::Panic];

    /// As a policy writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::RequestReceived => "RequestReceived",
            Self::ResponseStarted => "ResponseStarted",
            Self::ResponseComplete => "ResponseComplete",
            Self::Panic => "Panic",
        }
    }
}
