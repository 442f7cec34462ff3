//! The minimal role as `+kubebuilder:rbac` markers, from which controller-gen generates the roles of an operator.

use super::head;
use crate::analysis::{Assessment, MinimalRole, MinimalRule};
use crate::rbac::{Rule, Scope};
use crate::report::text::safe;

/// A block of Go comments, to stand apart from declarations.
pub fn render(assessment: &Assessment, minimal: &MinimalRole) -> String {
    let mut text = go_comment(&head(assessment, minimal));
    for scoped in minimal.scopes.iter().filter(|scoped| !scoped.rules.is_empty()) {
        text += "\n";
        for MinimalRule { rule, reason, .. } in &scoped.rules {
            if !reason.is_empty() {
                text += &go_comment(reason);
            }
            text += &marker(rule, &scoped.scope);
        }
    }
    text
}

fn go_comment(text: &str) -> String {
    text.split('\n').map(|line| format!("// {}\n", safe(line).trim_end())).collect()
}

fn marker(rule: &Rule, scope: &Scope) -> String {
    let lists = [
        ("groups", &rule.api_groups),
        ("resources", &rule.resources),
        ("resourceNames", &rule.resource_names),
        ("urls", &rule.non_resource_urls),
        ("verbs", &rule.verbs),
    ];
    let lists = lists.into_iter().filter(|(_, values)| !values.is_empty());
    let mut arguments: Vec<String> = lists
        .map(|(name, values)| format!("{name}={}", values.iter().map(|text| value(text)).collect::<Vec<_>>().join(";")))
        .collect();
    if let Scope::Namespace(namespace) = scope {
        arguments.insert(0, format!("namespace={}", value(namespace)));
    }
    format!("// +kubebuilder:rbac:{}\n", arguments.join(","))
}

/// A value: bare where nothing in it ends it, or starts a comment of Go, else as a string of Go.
fn value(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '/' | '_' | '*');
    let comment = text.contains("//") || text.contains("/*");
    // `core` means the group without a name.
    if !text.is_empty() && text.chars().all(plain) && !comment {
        return text.to_owned();
    }
    serde_json::to_string(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rbac::PermissionSet;
    use crate::source::SourceMap;

    fn read_back(marker: &str) -> crate::manifest::Reading {
        let mut sources = SourceMap::default();
        let id = sources.add("a.go", format!("package a\n\n{marker}\nfunc f() {{}}\n"));
        crate::manifest::read(&sources, id)
    }

    fn word() -> impl Strategy<Value = String> {
        prop_oneof!["[a-z*./-]{0,6}", "[a-z\"`;,{}= é\\\\]{0,6}"]
    }

    proptest! {
        #[test]
        fn any_rule_reads_back(
            groups in prop::collection::vec(word().prop_filter("core is the empty name", |word| word != "core"), 1..3),
            resources in prop::collection::vec(word(), 1..3),
            names in prop::collection::vec(word(), 0..3),
            verbs in prop::collection::vec(word(), 1..3),
        ) {
            let rule = Rule { api_groups: groups, resources, resource_names: names, verbs, ..Rule::default() };
            let reading = read_back(&marker(&rule, &Scope::Namespace("a-b".to_owned())));
            prop_assert!(reading.diagnostics.is_empty(), "{:?}", reading.diagnostics);
            let read = &reading.facts.markers[0];
            prop_assert_eq!(read.namespace.as_ref().map(|namespace| namespace.as_str()), Some("a-b"));
            prop_assert_eq!(PermissionSet::from_rules([&read.rule.to_rule()]), PermissionSet::from_rules([&rule]));
        }
    }

    #[test]
    fn as_people_write_them() {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let rule = Rule {
            api_groups: vec![String::new(), "apps".to_owned()],
            resources: words("pods deployments/scale"),
            verbs: words("get list"),
            ..Rule::default()
        };
        assert_eq!(
            marker(&rule, &Scope::Cluster),
            "// +kubebuilder:rbac:groups=\"\";apps,resources=pods;deployments/scale,verbs=get;list\n"
        );
        let rule = Rule { non_resource_urls: words("/metrics /healthz/*"), verbs: words("get"), ..Rule::default() };
        assert_eq!(marker(&rule, &Scope::Cluster), "// +kubebuilder:rbac:urls=/metrics;\"/healthz/*\",verbs=get\n");
    }
}
