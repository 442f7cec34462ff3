use crate::analysis::{Assessment, CallVerdict, Grant, RoleState, Verdict};
use crate::finding::{Confidence, Finding, LocationOf, ScopeClass, Severity};
use crate::rbac::Scope;
use crate::rules::fixture::{bind, call, doc, entry, holding, in_ns, judged, run, subject};

fn spots(findings: &[Finding]) -> Vec<(LocationOf, u32, u32)> {
    findings.iter().map(|finding| (finding.location_of, finding.location.line, finding.location.column)).collect()
}

fn severities(findings: &[Finding]) -> Vec<Severity> {
    findings.iter().map(|finding| finding.severity).collect()
}

fn unused_but(assessment: Assessment, used: &[(&str, &str)]) -> Assessment {
    judged(assessment, |grant: &Grant| {
        let own = (grant.rule.verbs[0].as_str(), grant.rule.resources[0].as_str());
        if used.contains(&own) { Verdict::Used } else { Verdict::Unused }
    })
}

#[test]
fn full_authority_fires_on_three_stars_only() {
    assert_eq!(severities(&run("RC001", &holding(Scope::Cluster, "*", "*", "*"))), [Severity::Critical]);
    assert_eq!(severities(&run("RC001", &holding(in_ns(), "*", "*", "*"))), [Severity::High]);
    assert!(run("RC001", &holding(Scope::Cluster, "apps", "*", "*")).is_empty());
    assert!(run("RC001", &holding(Scope::Cluster, "*", "*:a", "*")).is_empty());
}

#[test]
fn cluster_admin_fires_by_the_name_of_the_clusterrole() {
    let bound = bind(subject(), Scope::Cluster, "cluster-admin", RoleState::BuiltInUnknown);
    let findings = run("RC003", &bound);
    assert_eq!((severities(&findings), spots(&findings)), (vec![Severity::Critical], vec![(LocationOf::Name, 802, 9)]));
    let in_namespace = bind(subject(), in_ns(), "cluster-admin", RoleState::BuiltIn);
    assert_eq!(severities(&run("RC003", &in_namespace)), [Severity::High]);
    assert!(run("RC003", &bind(subject(), Scope::Cluster, "view", RoleState::BuiltIn)).is_empty());
    let mut role = bind(subject(), in_ns(), "cluster-admin", RoleState::Shipped);
    role.bindings[0].role.kind = "Role".to_owned();
    assert!(run("RC003", &role).is_empty());
}

#[test]
fn wildcards_point_at_their_token_and_name_what_was_used() {
    let mut wild = judged(holding(Scope::Cluster, "apps core", "pods", "get *"), |_| Verdict::Used);
    for grant in &mut wild.grants {
        grant.used_as = vec!["patch pods".to_owned()];
    }
    let findings = run("RC017", &wild);
    assert_eq!(spots(&findings), [(LocationOf::Verb, 12, 2)]);
    assert!(findings[0].message.ends_with("; used as `patch pods`"), "{}", findings[0].message);
    assert_eq!(
        spots(&run("RC018", &holding(in_ns(), "core", "pods * */status", "get"))),
        [(LocationOf::Resource, 11, 2), (LocationOf::Resource, 11, 3)]
    );
    assert_eq!(spots(&run("RC020", &holding(in_ns(), "apps *", "pods", "get"))), [(LocationOf::Group, 10, 2)]);
}

#[test]
fn without_wildcards_and_in_built_in_roles_no_wildcard_is_told() {
    let plain = holding(Scope::Cluster, "apps", "pods/* */*", "get");
    let built_in = entry(bind(subject(), Scope::Cluster, "cluster-admin", RoleState::BuiltIn), 0, "*", "*", "*");
    for id in ["RC017", "RC018", "RC020"] {
        assert!(run(id, &plain).is_empty(), "{id}");
        assert!(run(id, &built_in).is_empty(), "{id}");
    }
}

#[test]
fn wildcards_on_urls_are_left_to_the_rule_on_urls() {
    let mut urls = holding(Scope::Cluster, "core", "x", "*");
    urls.grants[0].rule = crate::rbac::Rule {
        non_resource_urls: vec!["*".to_owned()],
        verbs: vec!["*".to_owned()],
        ..crate::rbac::Rule::default()
    };
    for id in ["RC001", "RC017", "RC018", "RC020"] {
        assert!(run(id, &urls).is_empty(), "{id}");
    }
    assert_eq!(run("RC029", &urls).len(), 1);
}

#[test]
fn a_wildcard_on_the_own_api_group_is_information() {
    let own = run("RC017", &holding(Scope::Cluster, "example.com", "*", "*"));
    assert_eq!((own[0].severity, own[0].scope), (Severity::Info, ScopeClass::OwnGroup));
    let mixed = run("RC017", &holding(Scope::Cluster, "example.com apps", "*", "*"));
    assert_eq!((mixed.len(), mixed[0].scope), (1, ScopeClass::Cluster));
}

#[test]
fn an_unbound_role_is_information_and_roles_for_people_are_expected() {
    let mut unbound = bind(subject(), Scope::Cluster, "manager-role", RoleState::Shipped);
    unbound.subject.unbound = true;
    assert_eq!(severities(&run("RC167", &unbound)), [Severity::Info]);
    let mut bound = unbound.clone();
    bound.subject.unbound = false;
    assert!(run("RC167", &bound).is_empty());
    unbound.bindings[0].role.name = "widget-editor-role".to_owned();
    assert!(run("RC167", &unbound).is_empty());
}

#[test]
fn only_a_role_that_is_nowhere_dangles() {
    assert_eq!(
        spots(&run("RC168", &bind(subject(), Scope::Cluster, "gone", RoleState::Missing))),
        [(LocationOf::Name, 802, 9)]
    );
    for state in [RoleState::Shipped, RoleState::BuiltIn, RoleState::BuiltInUnknown, RoleState::Unrendered] {
        assert!(run("RC168", &bind(subject(), Scope::Cluster, "there", state)).is_empty());
    }
}

#[test]
fn dead_tokens_are_told_with_their_reason_also_without_a_log() {
    let mut held = holding(Scope::Cluster, "apps", "deployments pods", "get");
    held.grants[1].verdict = Verdict::Dead;
    held.grants[1].reason = "`pods` is in the core group".to_owned();
    let findings = run("RC173", &held);
    assert_eq!(spots(&findings), [(LocationOf::Resource, 11, 2)]);
    assert!(findings[0].message.ends_with(": `pods` is in the core group"));
    assert!(run("RC173", &holding(Scope::Cluster, "apps", "deployments", "get")).is_empty());
}

#[test]
fn advice_is_withdrawn_where_the_log_shows_that_it_works() {
    let named = holding(in_ns(), "core", "configmaps:a", "create list");
    assert_eq!((run("RC172", &named).len(), run("RC191", &named).len()), (1, 1));
    let used = judged(named, |_| Verdict::Used);
    assert!(run("RC172", &used).is_empty() && run("RC191", &used).is_empty());

    let half = holding(Scope::Cluster, "core events.k8s.io", "pods", "get list watch");
    let half = entry(half, 1, "core", "services", "get list");
    let half = entry(half, 2, "core", "events", "create");
    assert_eq!(spots(&run("RC192", &half)), [(LocationOf::Verb, 22, 2), (LocationOf::Resource, 31, 1)]);
    assert!(run("RC192", &judged(half, |_| Verdict::Used)).is_empty());

    let mut missing = bind(subject(), Scope::Cluster, "op", RoleState::Shipped);
    missing.account = None;
    missing.accounts_beside = vec!["operator".to_owned()];
    assert_eq!(spots(&run("RC169", &missing)), [(LocationOf::Name, 801, 9)]);
    let seen = call(judged(missing, |_| Verdict::Used), "get pods", "op-ns", CallVerdict::Denied, &[]);
    assert!(run("RC169", &seen).is_empty());
}

#[test]
fn a_role_that_several_subjects_hold_is_told_of_once() {
    let twice = entry(holding(Scope::Cluster, "core", "pods", "get"), 1, "core", "pods", "get");
    let mut other = twice.clone();
    other.subject.name = "op-ns/other".to_owned();
    let findings = crate::rules::run_with([doc("RC170")], &[twice, other]);
    assert_eq!(spots(&findings), [(LocationOf::Entry, 20, 0)]);
}

#[test]
fn unused_tokens_and_entries_are_told_once() {
    let held = entry(holding(Scope::Cluster, "core", "pods secrets", "get list"), 1, "apps", "deployments", "get");
    let held = unused_but(held, &[("get", "pods"), ("get", "secrets")]);
    let permission = run("RC181", &held);
    assert_eq!(spots(&permission), [(LocationOf::Verb, 12, 2)]);
    assert_eq!(permission[0].evidence, "0 of 113 calls, 2026-12-01T00:59:32Z to 2026-12-01T01:00:25Z");
    assert_eq!(permission[0].remedy, "Remove `list` from this entry, or keep it and say why.");
    let whole = run("RC187", &held);
    assert_eq!(spots(&whole), [(LocationOf::Entry, 20, 0)]);
    assert_eq!(whole[0].permission, "get deployments.apps");
}

#[test]
fn without_a_log_and_for_what_it_cannot_show_nothing_is_unused() {
    for verdict in [Verdict::Unjudged, Verdict::Needed, Verdict::Used, Verdict::Unobservable, Verdict::Dead] {
        let held = judged(holding(Scope::Cluster, "core", "pods", "get"), |_| verdict);
        assert!(run("RC181", &held).is_empty() && run("RC187", &held).is_empty(), "{verdict:?}");
    }
}

#[test]
fn what_another_subject_uses_of_the_same_role_is_said() {
    let mine = unused_but(holding(Scope::Cluster, "core", "pods", "get list"), &[("get", "pods")]);
    let mut other = judged(mine.clone(), |_| Verdict::Used);
    other.subject.name = "op-ns/other".to_owned();
    let findings = crate::rules::run_with([doc("RC181")], &[mine, other]);
    assert_eq!(findings.len(), 1);
    assert!(findings[0].remedy.starts_with("`op-ns/other` also uses ClusterRole op-role"), "{}", findings[0].remedy);
}

#[test]
fn of_a_built_in_role_one_finding_tells_what_is_unused() {
    let edit =
        entry(bind(subject(), Scope::Cluster, "edit", RoleState::BuiltIn), 0, "core", "pods secrets", "get list");
    let partly = unused_but(edit.clone(), &[("get", "pods")]);
    assert_eq!(spots(&run("RC181", &partly)), [(LocationOf::Name, 802, 9)]);
    assert!(run("RC187", &partly).is_empty());
    let unused = unused_but(edit, &[]);
    assert!(run("RC181", &unused).is_empty());
    assert_eq!(spots(&run("RC187", &unused)), [(LocationOf::Name, 802, 9)]);
}

#[test]
fn cluster_wide_for_one_namespace_is_told_by_entry_or_for_the_whole_binding() {
    let one = unused_but(holding(Scope::Cluster, "core", "leases", "get list"), &[("get", "leases")]);
    let one = call(one, "get leases", "op-ns", CallVerdict::Covered, &[0]);
    let whole = run("RC176", &one);
    assert_eq!((spots(&whole), whole[0].confidence), (vec![(LocationOf::Name, 800, 9)], Confidence::Medium));

    let two = judged(entry(one.clone(), 1, "core", "pods", "list"), |_| Verdict::Used);
    let two = call(
        call(two, "list leases", "op-ns", CallVerdict::Covered, &[1]),
        "list pods",
        "",
        CallVerdict::Covered,
        &[2],
    );
    assert_eq!(spots(&run("RC176", &two)), [(LocationOf::Entry, 10, 0)]);

    let mut elsewhere = one;
    elsewhere.subject.name = "elsewhere/op".to_owned();
    assert_eq!(run("RC176", &elsewhere)[0].confidence, Confidence::Low);
}

#[test]
fn what_may_need_the_whole_cluster_stays_cluster_wide() {
    let used = judged(holding(Scope::Cluster, "core", "leases", "get"), |_| Verdict::Used);
    let two_namespaces = call(
        call(used.clone(), "get leases", "a", CallVerdict::Covered, &[0]),
        "get leases",
        "b",
        CallVerdict::Covered,
        &[0],
    );
    let cluster = call(used.clone(), "get leases", "", CallVerdict::Covered, &[0]);
    let hidden = judged(entry(used.clone(), 0, "core", "leases/finalizers", "update"), |grant| {
        if grant.index == 0 { Verdict::Used } else { Verdict::Needed }
    });
    let hidden = call(hidden, "get leases", "a", CallVerdict::Covered, &[0]);
    let partly_known = used.clone();
    let unused = judged(used, |_| Verdict::Unused);
    for quiet in [two_namespaces, cluster, hidden, partly_known, unused] {
        assert!(run("RC176", &quiet).is_empty());
    }
    let namespaced = judged(holding(in_ns(), "core", "leases", "get"), |_| Verdict::Used);
    assert!(run("RC176", &call(namespaced, "get leases", "op-ns", CallVerdict::Covered, &[0])).is_empty());
}

#[test]
fn denied_and_unexplained_calls_are_told_by_permission() {
    let held = judged(holding(in_ns(), "core", "pods", "get"), |_| Verdict::Used);
    let held = call(held, "delete secrets", "op-ns", CallVerdict::Denied, &[]);
    let held = call(held, "delete secrets", "other", CallVerdict::Denied, &[]);
    let held = call(held, "list nodes", "", CallVerdict::Unexplained, &[]);
    let denied = run("RC182", &held);
    assert_eq!(denied.len(), 1);
    assert_eq!(denied[0].message, "A call was denied: `delete secrets` in namespace `op-ns`, `other`");
    assert_eq!(denied[0].evidence, "2 of 113 calls, 2026-12-01T00:59:32Z to 2026-12-01T01:00:25Z");
    assert_eq!(denied[0].related.iter().filter(|place| place.label.starts_with("audit event")).count(), 2);
    let unexplained = run("RC188", &held);
    assert_eq!((unexplained.len(), unexplained[0].scope), (1, ScopeClass::Cluster));
    let fine = call(judged(subject(), |_| Verdict::Used), "get pods", "op-ns", CallVerdict::Covered, &[]);
    assert!(run("RC182", &fine).is_empty() && run("RC188", &fine).is_empty());
}

#[test]
fn a_denied_call_points_at_the_role_else_at_the_account_else_at_the_log() {
    let denied =
        |assessment| call(judged(assessment, |_| Verdict::Used), "get pods", "op-ns", CallVerdict::Denied, &[]);
    assert_eq!(spots(&run("RC182", &denied(holding(in_ns(), "core", "pods", "list")))), [(LocationOf::Name, 803, 9)]);
    assert_eq!(spots(&run("RC182", &denied(subject()))), [(LocationOf::Name, 902, 9)]);
    let mut nothing = subject();
    nothing.workloads.clear();
    nothing.account = None;
    let findings = run("RC182", &denied(nothing));
    assert_eq!(spots(&findings), [(LocationOf::LogLine, 1, 1)]);
    assert_eq!(&*findings[0].location.path, "audit.log");
}

#[test]
fn fingerprints_know_no_lines_and_are_unique_in_a_run() {
    let held = unused_but(
        entry(holding(Scope::Cluster, "core", "pods", "get list"), 1, "core", "pods", "get list"),
        &[("get", "pods")],
    );
    let mut moved = held.clone();
    for places in moved.grants.iter_mut().filter_map(|grant| grant.places.as_mut()) {
        places.verb.line += 7;
        places.verb.path = "elsewhere.yaml".into();
    }
    let (one, two) = (run("RC181", &held), run("RC181", &moved));
    assert_eq!(one.len(), 2);
    assert_ne!(one[0].fingerprint, one[1].fingerprint);
    let prints = |findings: &[Finding]| findings.iter().map(|finding| finding.fingerprint.clone()).collect::<Vec<_>>();
    assert_eq!(prints(&one), prints(&two));
}
