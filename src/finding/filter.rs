//! Which findings are shown and whether they fail the run, decided once for every format.

use super::{Finding, Severity};

/// Splits at `--min-severity`: those at or above it, and how many lie below.
pub fn split(findings: Vec<Finding>, min: Severity) -> (Vec<Finding>, u64) {
    let all = findings.len();
    let shown: Vec<Finding> = findings.into_iter().filter(|finding| finding.severity >= min).collect();
    let hidden = (all - shown.len()) as u64;
    (shown, hidden)
}

/// Whether any finding is at or above `--fail-on`; `None` never fails.
pub fn fails<'a>(findings: impl IntoIterator<Item = &'a Finding>, fail_on: Option<Severity>) -> bool {
    fail_on.is_some_and(|limit| findings.into_iter().any(|finding| finding.severity >= limit))
}

#[cfg(test)]
mod tests {
    use super::super::{Confidence, LocationOf, ScopeClass};
    use super::*;
    use crate::source::Location;

    fn finding(severity: Severity) -> Finding {
        Finding {
            rule: "RC001".to_owned(),
            severity,
            scope: ScopeClass::Cluster,
            confidence: Confidence::High,
            package: String::new(),
            subject: String::new(),
            message: String::new(),
            evidence: String::new(),
            remedy: String::new(),
            permission: String::new(),
            location: Location {
                path: String::new().into(),
                line: 1,
                column: 1,
                end_line: 1,
                end_column: 1,
                span: None,
            },
            location_of: LocationOf::Name,
            chain: Vec::new(),
            related: Vec::new(),
            controls: Vec::new(),
            fingerprint: String::new(),
        }
    }

    #[test]
    fn the_limit_itself_is_shown_and_the_rest_is_counted() {
        let all = Severity::ALL.into_iter().map(finding).collect();
        let (shown, hidden) = split(all, Severity::Medium);
        assert_eq!((shown.len(), hidden), (3, 2));
    }

    #[test]
    fn a_run_fails_at_the_limit_and_never_without_one() {
        let medium = [finding(Severity::Medium)];
        assert!(fails(&medium, Some(Severity::Medium)));
        assert!(!fails(&medium, Some(Severity::High)));
        assert!(!fails(&medium, None));
    }
}
