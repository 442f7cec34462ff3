use super::*;

const RULE: &str = "---\nid: RC900\nname: a-name\ntitle: A title\nseverity: {cluster: high, named: info}\nconfidence: high\nkind: capability\nmatch:\n  any_of:\n    - {apiGroups: [\"\"], resources: [pods], verbs: [create], scope: cluster}\ncontrols: {nist-800-53: [AC-6(1)], cis-controls-v8: [6.8]}\nsince: \"0.1.0\"\ntests: {fires: [a], quiet: [b]}\n---\n## What it means\nOne.\n\nTwo.\n## Why it matters for an operator\nx\n## When it is fine\nx\n## How to fix\nDo it.\n";

#[test]
fn a_document_parses_with_its_classes_controls_and_sections() {
    let doc = RuleDoc::parse(RULE).unwrap();
    let severities: Vec<_> = doc.severity.iter().collect();
    assert_eq!(severities, [(ScopeClass::Cluster, Severity::High), (ScopeClass::Named, Severity::Info)]);
    assert_eq!(doc.controls.shown(), ["AC-6(1)", "CIS 6.8"]);
    assert_eq!(doc.section("What it means"), "One.\n\nTwo.");
    assert!(doc.matches.unwrap().any_of[0].cluster_only);
    assert_eq!(RuleDoc::parse(&RULE.replace('\n', "\r\n")).unwrap().body, doc.body);
}

#[test]
fn what_is_not_a_rule_is_refused() {
    for (from, to) in [
        ("---\nid", "id"),
        ("title:", "titel:"),
        ("title: A title", "title: A title\ntitle: B"),
        ("high, named", "huge, named"),
        ("verbs: [create]", "verbs: [create], verb: x"),
        ("verbs: [create]", "verbs: []"),
        ("resources: [pods]", "nonResourceURLs: [/x]"),
        ("scope: cluster", "scope: namespace"),
        ("id: RC900", "id: R900"),
        ("name: a-name", "name: A name"),
        ("kind: capability", "kind: check"),
        ("quiet: [b]", "quiet: []"),
        ("nist-800-53", "nist-800"),
        ("## When it is fine\nx", "## When it is fine\n"),
        ("## How to fix", "## How to mend"),
        ("  any_of:", "  all_of: []\n  any_off:"),
    ] {
        let text = RULE.replacen(from, to, 1);
        assert_ne!(text, RULE, "{from}");
        assert!(RuleDoc::parse(&text).is_err(), "{from} → {to}");
    }
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in "(---\n)?[a-zA-Z:{}\\[\\]#\\- \n\"&*]{0,200}(\n---\n)?.{0,40}") {
        let _ = RuleDoc::parse(&text);
    }
}
