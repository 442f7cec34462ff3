//! Whether a granted (group, resource, verb) can match any request or check at all.

use super::Table;

/// Whether a grant can ever matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Liveness {
    /// Some served (resource, verb) matches.
    Live,
    /// Matches no served request, but the API server or an admission plugin checks it
    /// (`bind`, `signers`, `*/finalizers`, `nodes/metrics`, `use` …).
    CheckOnly,
    /// The group is in neither the table nor the CRDs of the input: never called dead.
    UnknownGroup,
    /// Matches nothing that any API serves or checks.
    Dead(DeadReason),
}

/// Why a grant is dead, with a suggestion where one is evident.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadReason {
    /// What is wrong: lower case, one clause.
    pub message: String,
    /// "did you mean" text.
    pub suggestion: Option<String>,
}

impl Table {
    /// Judges one written (apiGroup, resource[/subresource], verb) of a rule; each may be a wildcard.
    pub fn liveness(&self, api_group: &str, resource: &str, verb: &str) -> Liveness {
        let _ = (api_group, resource, verb);
        unimplemented!()
    }
    /// Judges a whole rule entry's resource against *all* groups of that entry and vice versa: cross-product
    /// rules (`apiGroups: ["", apps]` × many resources) grant per existing pair, so a pair is only dead when
    /// neither its group has any of the rule's resources nor its resource exists in any of the rule's groups.
    pub fn cross_product_liveness(
        &self,
        groups: &[&str],
        resources: &[&str],
        api_group: &str,
        resource: &str,
        verb: &str,
    ) -> Liveness {
        let _ = (groups, resources, api_group, resource, verb);
        unimplemented!()
    }
}
