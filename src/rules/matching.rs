//! Whether two rules have a permission in common, with Kubernetes' exact matching
//! (`pkg/apis/rbac/v1/evaluation_helpers.go`), wildcards allowed on either side.

use crate::rbac::Rule;

/// Whether some permission is in both rules, scope aside. Kubernetes' exact matching: `*` is every resource with
/// its subresources, `*/sub` that subresource of all, `pods/*` a literal; names narrow and have no wildcard.
pub(super) fn intersects(rule: &Rule, pattern: &Rule) -> bool {
    let names = rule.resource_names.is_empty()
        || pattern.resource_names.is_empty()
        || rule.resource_names.iter().any(|name| pattern.resource_names.contains(name));
    any(&rule.verbs, &pattern.verbs, same_or_star)
        && ((names
            && any(&rule.api_groups, &pattern.api_groups, same_or_star)
            && any(&rule.resources, &pattern.resources, resources_meet))
            || any(&rule.non_resource_urls, &pattern.non_resource_urls, urls_meet))
}

fn any(left: &[String], right: &[String], meet: fn(&str, &str) -> bool) -> bool {
    left.iter().any(|a| right.iter().any(|b| meet(a, b)))
}

pub(super) fn same_or_star(a: &str, b: &str) -> bool {
    a == "*" || b == "*" || a == b
}

pub(super) fn resources_meet(a: &str, b: &str) -> bool {
    let sub = |text: &str| text.split_once('/').map(|(_, sub)| sub.to_owned());
    let all_of_sub =
        |wide: &str, other: &str| wide.strip_prefix("*/").is_some_and(|own| sub(other).as_deref() == Some(own));
    same_or_star(a, b) || all_of_sub(a, b) || all_of_sub(b, a)
}

pub(super) fn urls_meet(a: &str, b: &str) -> bool {
    // A trailing `*` is a prefix; `*` alone is the empty prefix.
    match (a.strip_suffix('*').map(trim_stars), b.strip_suffix('*').map(trim_stars)) {
        (Some(a), Some(b)) => a.starts_with(b) || b.starts_with(a),
        (Some(prefix), None) => b.starts_with(prefix),
        (None, Some(prefix)) => a.starts_with(prefix),
        (None, None) => a == b,
    }
}

fn trim_stars(text: &str) -> &str {
    text.trim_end_matches('*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::fixture::rule;

    fn meets(resource: &str, wanted: &str) -> bool {
        intersects(&rule("", resource, "create", &[]), &rule("", wanted, "create", &[]))
    }

    #[test]
    fn resources_meet_as_kubernetes_matches_them() {
        assert!(meets("*", "pods/exec"));
        assert!(meets("*/exec", "pods/exec"));
        assert!(!meets("*/exec", "pods"));
        assert!(!meets("*/exec", "pods/exec2"));
        assert!(!meets("pods", "pods/exec"));
        assert!(!meets("pods/*", "pods/exec"));
        assert!(!meets("pods/*", "pods"));
        assert!(!meets("*/*", "pods/exec"));
    }

    #[test]
    fn verbs_groups_and_names_narrow() {
        let wanted = rule("", "secrets", "get", &[]);
        assert!(intersects(&rule("*", "secrets", "*", &["a"]), &wanted));
        assert!(!intersects(&rule("apps", "secrets", "get", &[]), &wanted));
        assert!(!intersects(&rule("", "secrets", "Get", &[]), &wanted));
        assert!(!intersects(&rule("", "secrets", "get", &["a"]), &rule("", "secrets", "get", &["b"])));
        // There is no wildcard in names.
        assert!(!intersects(&rule("", "secrets", "get", &["*"]), &rule("", "secrets", "get", &["b"])));
        assert!(!intersects(&Rule::default(), &wanted));
    }

    #[test]
    fn urls_meet_as_kubernetes_matches_them() {
        assert!(urls_meet("*", "/logs/*"));
        assert!(urls_meet("/logs/kubelet.log", "/logs/*"));
        assert!(!urls_meet("/log", "/logs/*"));
        assert!(urls_meet("/metrics", "/metrics"));
        assert!(!urls_meet("/metrics", "/metrics/slis"));
    }

    proptest::proptest! {
        #[test]
        fn meeting_is_mutual_and_everything_meets_itself_and_all(
            (group, resource, verb) in ("(a|b|\\*)", "(x|y|\\*)(/(s|t|\\*))?", "(get|list|\\*)"),
            (other_group, other_resource, other_verb) in ("(a|b|\\*)", "(x|y|\\*)(/(s|t|\\*))?", "(get|list|\\*)"),
        ) {
            let one = rule(&group, &resource, &verb, &[]);
            let two = rule(&other_group, &other_resource, &other_verb, &[]);
            proptest::prop_assert_eq!(intersects(&one, &two), intersects(&two, &one));
            proptest::prop_assert!(intersects(&one, &one));
            proptest::prop_assert!(intersects(&one, &rule("*", "*", "*", &[])));
        }
    }
}
