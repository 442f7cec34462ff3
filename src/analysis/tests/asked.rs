//! What options ask for, and what no option can ask for.

use super::*;

#[test]
fn a_star_that_was_asked_for_by_name_grants_nothing() {
    let rules = cluster("{apiGroups: [''], resources: [pods], verbs: [list]}");
    let events = ["404 list /apis/*/v1/*", "404 get /*", "200 list /api/v1/pods"];
    for options in [exact(), Options { include_denied: true, ..exact() }] {
        let judged = only(judge(&rules, &events, options));
        assert_eq!(minimal(&judged), ["cluster: pods list"]);
        assert_eq!(judged.notes.len(), 2, "{:?}", judged.notes);
        assert!(judged.notes.iter().all(|note| note.starts_with("asks for `*` by name")), "{:?}", judged.notes);
    }
}

#[test]
fn what_was_denied_is_said_to_be_left_out_only_where_it_is() {
    let rules = cluster("{apiGroups: [''], resources: [pods], verbs: [list]}");
    let events = ["200 list /api/v1/pods", "403 list /api/v1/nodes"];
    let denied = |options| only(judge(&rules, &events, options)).minimal.map(|minimal| minimal.denied);
    assert_eq!(denied(exact()), Some(vec!["list nodes at cluster scope (1×)".to_owned()]));
    assert_eq!(denied(Options { include_denied: true, ..exact() }), Some(Vec::new()));
}

#[test]
fn a_role_without_the_names_that_are_shipped_says_that_it_is_wider() {
    let rules = cluster("{apiGroups: [''], resources: [secrets], resourceNames: [only], verbs: [get]}");
    let reasons = |names| {
        let options = Options { names, ..exact() };
        let judged = only(judge(&rules, &["200 get /api/v1/namespaces/ns/secrets/only"], options));
        let rules = judged.minimal.into_iter().flat_map(|minimal| minimal.scopes).flat_map(|scoped| scoped.rules);
        rules.map(|rule| (rule.rule.resource_names, rule.reason)).collect::<Vec<_>>()
    };
    assert_eq!(reasons(Names::Shipped), [(vec!["only".to_owned()], String::new())]);
    assert_eq!(
        reasons(Names::None),
        [(vec![], "wider than the shipped role, which has names (--names none)".to_owned())]
    );
}

#[test]
fn what_the_user_keeps_stays_and_what_he_drops_goes_unless_it_is_used() {
    let rules = cluster(
        "{apiGroups: [''], resources: [pods, secrets], verbs: [get]}, {apiGroups: [apps], resources: ['*'], verbs: ['*']}, \
         {apiGroups: [''], resources: [pods/exec], verbs: [create]}",
    );
    let events = ["200 get /api/v1/namespaces/ns/pods/p", "200 get /apis/apps/v1/namespaces/ns/deployments/d"];
    let judged = |keep: &[&str], drop: &[&str], options| {
        let patterns = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<GrantPattern>>();
        let judged = only(judge(&rules, &events, Options { keep: patterns(keep), drop: patterns(drop), ..options }));
        (minimal(&judged), judged.minimal.unwrap().notes)
    };
    let home = ["namespace/ns: pods get", "namespace/ns: deployments get"];
    assert_eq!(judged(&[], &[], exact()).0, home);
    let (kept, notes) = judged(&["get secrets", "* *.apps"], &[], exact());
    assert_eq!(
        (kept, notes.len()),
        (["cluster: secrets get (Kept)", "cluster: * * (Kept)", home[0]].map(str::to_owned).to_vec(), 0)
    );

    let (dropped, notes) = judged(&[], &["* *"], Options::default());
    assert_eq!(dropped, home);
    assert_eq!(notes, ["--drop leaves what was seen in use or is needed: get pods"]);
    let (dropped, notes) = judged(&["list nodes"], &["create pods/*"], Options::default());
    assert!(!dropped.iter().any(|rule| rule.contains("exec")), "{dropped:?}");
    assert!(notes.contains(&"--keep \"list nodes\" means no grant of it".to_owned()), "{notes:?}");
}
