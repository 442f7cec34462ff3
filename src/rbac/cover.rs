//! Writing a finite set of exact permissions as few, readable rules whose product is exactly that set.

use super::Rule;

/// One exact permission of one scope, as a rule will write it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Entry {
    /// A verb on a resource.
    Resource {
        /// API group, empty for core.
        api_group: String,
        /// `resource` or `resource/subresource`, or a wildcard form that is to be kept as written.
        resource: String,
        /// Verb, or `*` when a wildcard is kept as written.
        verb: String,
        /// Object names; empty is unrestricted. Verbs are never merged over different name sets.
        names: Vec<String>,
    },
    /// A verb on a path.
    NonResource {
        /// Path or pattern.
        url: String,
        /// Verb.
        verb: String,
    },
}

/// Rules that grant exactly the given entries (duplicates allowed), in a stable readable order.
pub fn rules(entries: impl IntoIterator<Item = Entry>) -> Vec<Rule> {
    let _ = entries.into_iter().count();
    unimplemented!()
}
