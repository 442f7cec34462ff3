//! Judgements on small packages and logs: verdicts, points, and the minimal role.

mod asked;
mod kept;

use super::*;
use crate::audit::Collector;
use crate::manifest;
use crate::rbac::Scope;
use std::collections::BTreeSet;

/// Without what is kept because its path may not have been exercised.
fn exact() -> Options {
    Options { drop_unexercised: true, ..Options::default() }
}

/// A package with a Deployment of `ns/op`, and these objects.
fn judge(manifests: &str, events: &[&str], options: Options) -> Vec<Assessment> {
    judge_under("", manifests, events, options)
}

/// The same with these rules of an audit policy; empty: no policy is known.
fn judge_under(rules: &str, manifests: &str, events: &[&str], options: Options) -> Vec<Assessment> {
    let events: Vec<String> = events.iter().enumerate().map(|(at, event)| self::event(at, event)).collect();
    judge_lines(rules, manifests, &events.iter().map(String::as_str).collect::<Vec<_>>(), options)
}

/// The same with the lines of a log.
fn judge_lines(rules: &str, manifests: &str, lines: &[&str], options: Options) -> Vec<Assessment> {
    let text = format!("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n{rules}");
    let policy = (!rules.is_empty()).then(|| Policy::read("policy.yaml", &text).unwrap());
    let operator = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: op, namespace: ns}\nspec:\n  template:\n    \
                    spec:\n      serviceAccountName: op\n      containers: [{name: m, args: [--leader-elect=op-lock]}]\n---\n";
    let mut sources = SourceMap::default();
    let id = sources.add("m.yaml", operator.to_owned() + manifests);
    let reading = manifest::read(&sources, id);
    assert!(reading.diagnostics.is_empty(), "{:?}", reading.diagnostics);
    let mut table = Table::for_minor("1.36").unwrap();
    reading.facts.crds.iter().for_each(|crd| table.add_custom(&crd.resource));
    let mut packages = manifest::package::split(&["m.yaml".to_owned()], vec![("m.yaml".to_owned(), reading.facts)]);
    let mut package = packages.remove(0);
    package.choose_namespace(None, &BTreeSet::new());
    let usage = (!lines.is_empty()).then(|| {
        let log: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
        let mut collector = Collector::new();
        collector.read("audit.log", &mut log.as_bytes());
        collector.finish()
    });
    let graph = Graph::build(&package, "1.36");
    assess(&Context {
        package: &package,
        graph: &graph,
        sources: &sources,
        table: &table,
        minor: "1.36",
        usage: usage.as_ref(),
        policy: policy.as_ref(),
        options: &options,
        budget: &Budget::whole(),
    })
}

/// An event out of `CODE verb URI`, of `ns/op`; 403 is a denial, but with a message behind it a refusal that came after
/// the authorizer.
fn event(at: usize, call: &str) -> String {
    let parts: Vec<&str> = call.splitn(4, ' ').collect();
    let (code, verb, uri) = (parts[0], parts[1], parts[2]);
    let message = parts.get(3).copied().unwrap_or_default();
    let decision = if code == "403" && message.is_empty() { "forbid" } else { "allow" };
    let code = format!("{code},\"message\":{message:?}");
    format!(
        r#"{{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"{at}","stage":"ResponseComplete","requestURI":"{uri}","verb":"{verb}","user":{{"username":"system:serviceaccount:ns:op"}},"responseStatus":{{"code":{code}}},"requestReceivedTimestamp":"2026-11-03T09:00:{at:02}.000000Z","annotations":{{"authorization.k8s.io/decision":"{decision}"}}}}"#
    )
}

/// A ClusterRole with these rules, bound cluster-wide to `ns/op`.
fn cluster(rules: &str) -> String {
    format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: c}}\nrules: [{rules}]\n---\n\
         apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {{name: c}}\n\
         roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: c}}\n\
         subjects: [{{kind: ServiceAccount, name: op, namespace: ns}}]\n---\n"
    )
}

fn only(assessments: Vec<Assessment>) -> Assessment {
    assert_eq!(assessments.len(), 1);
    assessments.into_iter().next().unwrap()
}

/// `RESOURCE VERB: VERDICT` of every grant.
fn verdicts(assessment: &Assessment) -> Vec<String> {
    let text = |grant: &Grant| {
        let what = grant.rule.resources.first().or(grant.rule.non_resource_urls.first()).unwrap();
        format!("{what} {}: {:?}", grant.rule.verbs[0], grant.verdict)
    };
    assessment.grants.iter().map(text).collect()
}

/// `SCOPE: RESOURCES [NAMES] VERBS (BASIS)` of the minimal role.
fn minimal(assessment: &Assessment) -> Vec<String> {
    let scopes = assessment.minimal.iter().flat_map(|minimal| &minimal.scopes);
    let line = |scope: &Scope, rule: &MinimalRule| {
        let names = &rule.rule.resource_names;
        let names = if names.is_empty() { String::new() } else { format!(" [{}]", names.join(",")) };
        let what = [rule.rule.resources.as_slice(), &rule.rule.non_resource_urls].concat().join(",");
        let basis = if rule.basis == Basis::Used { String::new() } else { format!(" ({:?})", rule.basis) };
        format!("{scope}: {what}{names} {}{basis}", rule.rule.verbs.join(","))
    };
    scopes.flat_map(|scoped| scoped.rules.iter().map(move |rule| line(&scoped.scope, rule))).collect()
}

const ALL: &str = "{apiGroups: ['*'], resources: ['*'], verbs: ['*']}, {nonResourceURLs: ['*'], verbs: ['*']}";

#[test]
fn a_wildcard_is_compared_and_gets_its_real_excess_and_small_role() {
    let used = only(judge(&cluster(ALL), &["200 get /api/v1/namespaces/other/pods/p", "200 get /metrics"], exact()));
    assert_eq!(verdicts(&used), ["* *: Used", "* *: Used"]);
    assert!(used.points.held > 500 && used.points.unbounded, "{:?}", used.points);
    assert_eq!(used.points.used, Some(1));
    assert_eq!(minimal(&used), ["cluster: pods get", "cluster: /metrics get"]);
    let unused = only(judge(&cluster(ALL), &["200 get /version"], exact()));
    assert_eq!(verdicts(&unused), ["* *: Unused", "* *: Used"]);
    // What every authenticated user may do needs no role.
    assert_eq!(minimal(&unused), Vec::<String>::new());
}

#[test]
fn scope_stays_where_the_calls_went_elsewhere_and_narrows_where_they_stayed_at_home() {
    let pods = cluster("{apiGroups: [''], resources: [pods], verbs: [get, list, watch]}");
    let run = |events: &[&str], namespaces| minimal(&only(judge(&pods, events, Options { namespaces, ..exact() })));
    let home = "200 get /api/v1/namespaces/ns/pods/p";
    let away = "200 get /api/v1/namespaces/other/pods/p";
    let wide = "200 list /api/v1/pods";
    assert_eq!(run(&[home], Namespaces::Keep), ["namespace/ns: pods get"]);
    assert_eq!(run(&[home, away], Namespaces::Keep), ["cluster: pods get"]);
    assert_eq!(run(&[home, away], Namespaces::Split), ["namespace/ns: pods get", "namespace/other: pods get"]);
    assert_eq!(run(&[home, wide], Namespaces::Split), ["cluster: pods list,watch", "namespace/ns: pods get"]);
}

#[test]
fn names_are_those_that_are_shipped_or_told_and_all_only_when_asked() {
    let roles = cluster(
        "{apiGroups: [''], resources: [secrets], verbs: [get]}, \
         {apiGroups: [''], resources: [configmaps], resourceNames: [a, b], verbs: [get]}, \
         {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, create, update]}",
    );
    let events = [
        "200 get /api/v1/namespaces/ns/secrets/s",
        "200 get /api/v1/namespaces/ns/configmaps/a",
        "201 create /apis/coordination.k8s.io/v1/namespaces/ns/leases",
        "200 update /apis/coordination.k8s.io/v1/namespaces/ns/leases/op-lock",
    ];
    let run = |names| minimal(&only(judge(&roles, &events, Options { names, ..exact() })));
    let lease = ["namespace/ns: leases create", "namespace/ns: leases [op-lock] update"];
    assert_eq!(
        run(Names::Shipped),
        ["namespace/ns: configmaps [a] get", "namespace/ns: secrets get", lease[0], lease[1]]
    );
    assert_eq!(
        run(Names::All),
        ["namespace/ns: configmaps [a] get", "namespace/ns: secrets [s] get", lease[0], lease[1]]
    );
    assert_eq!(run(Names::None), ["namespace/ns: configmaps,secrets get", "namespace/ns: leases create,update"]);
}

#[test]
fn denied_calls_are_no_use_and_granted_only_when_asked() {
    let roles = cluster("{apiGroups: [''], resources: [pods], verbs: [get, delete]}");
    let events =
        ["200 get /api/v1/namespaces/ns/pods/p", "403 delete /api/v1/namespaces/ns/pods/p", "403 get /api/v1/nodes/n"];
    let judged = only(judge(&roles, &events, exact()));
    assert_eq!(verdicts(&judged), ["pods get: Used", "pods delete: Unused"]);
    assert_eq!(minimal(&judged), ["namespace/ns: pods get"]);
    assert_eq!(judged.minimal.unwrap().denied, ["delete pods in ns (1×)", "get nodes at cluster scope (1×)"]);
    let asked = only(judge(&roles, &events, Options { include_denied: true, ..exact() }));
    assert_eq!(
        minimal(&asked),
        ["cluster: nodes get (Unexplained)", "namespace/ns: pods get", "namespace/ns: pods delete (Unexplained)"]
    );
}

#[test]
fn what_was_refused_is_told_with_what_would_allow_it() {
    let roles = cluster("{apiGroups: [''], resources: [configmaps], verbs: [patch]}");
    let named = "configmaps \"x\" is forbidden: User \"u\" cannot create resource \"configmaps\" in API group \"\" in the \
                 namespace \"ns\"";
    let quota = "configmaps \"y\" is forbidden: exceeded quota: q";
    let maps = "/api/v1/namespaces/ns/configmaps";
    let events = [
        format!("403 patch {maps}/x {named}"),
        format!("403 patch {maps}/y {quota}"),
        "403 get /api/v1/nodes/n".to_owned(),
    ];
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    let judged = only(judge(&roles, &events, exact()));
    let told: Vec<String> = judged
        .deficits
        .iter()
        .map(|deficit| {
            let role = deficit.role.as_ref().map_or("none", |role| &role.name);
            format!("{:?} {} -> {} in {role} {}", deficit.refused_by, deficit.call(), deficit.wants(), deficit.reason)
        })
        .collect();
    assert_eq!(
        told,
        [
            "HiddenCheck patch configmaps -> create configmaps [x] in c checked with this call, and refused",
            "NotPermission patch configmaps ->  in none a quota or limit",
            "Authorizer get nodes -> get nodes [n] in c ",
        ]
    );
    let denied = judged.minimal.unwrap().denied;
    assert_eq!(denied, ["get nodes at cluster scope (1×)", "patch configmaps in ns: wants create configmaps (1×)"]);
}

#[test]
fn allowed_calls_that_no_given_role_grants_are_additions() {
    let roles = cluster("{apiGroups: [''], resources: [pods], verbs: [get]}");
    let judged = only(judge(&roles, &["200 get /api/v1/namespaces/ns/secrets/s"], exact()));
    assert_eq!(minimal(&judged), ["namespace/ns: secrets get (Unexplained)"]);
    let calls: Vec<CallVerdict> = judged.calls.iter().map(|call| call.verdict).collect();
    assert_eq!(calls, [CallVerdict::Unexplained]);
}

#[test]
fn what_is_checked_without_an_event_is_needed_or_unobservable_never_unused() {
    let roles = cluster(
        "{apiGroups: [apps], resources: [deployments], verbs: [patch, create]}, \
         {apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [bind]}, \
         {apiGroups: [apps], resources: [deployments/finalizers], verbs: [update]}, \
         {apiGroups: [''], resources: [pods], verbs: [list, watch]}",
    );
    let events =
        ["201 patch /apis/apps/v1/namespaces/ns/deployments/d", "200 watch /api/v1/namespaces/ns/pods?watch=true"];
    let judged = only(judge(&roles, &events, exact()));
    assert_eq!(
        verdicts(&judged),
        [
            "deployments patch: Used",
            "deployments create: Needed",
            "clusterroles bind: Unobservable",
            "deployments/finalizers update: Unobservable",
            "pods list: Needed",
            "pods watch: Used",
        ]
    );
    let kept = ["cluster: deployments/finalizers update (Kept)", "cluster: clusterroles bind (Kept)"];
    let home = ["namespace/ns: pods list,watch", "namespace/ns: deployments create,patch"];
    assert_eq!(minimal(&judged), [kept[0], kept[1], home[0], home[1]]);
    let dropped = only(judge(&roles, &events, Options { drop_unobservable: true, ..exact() }));
    assert_eq!(minimal(&dropped), home);
}

/// A review that a component makes of someone, with or without its body.
fn review(of: &str, body: bool) -> String {
    let asked = r#"{"spec":{"user":"someone","nonResourceAttributes":{"path":"/metrics","verb":"get"}}}"#;
    let body = if body {
        format!(r#","requestObject":{asked},"responseObject":{{"status":{{"allowed":true}}}}"#)
    } else {
        String::new()
    };
    let level = if body.is_empty() { "Metadata" } else { "RequestResponse" };
    event(50, &format!("201 create /apis/authorization.k8s.io/v1/{of}"))
        .replace("system:serviceaccount:ns:op", "system:node:n")
        .replace(r#""level":"Metadata""#, &format!(r#""level":"{level}"{body}"#))
}

#[test]
fn what_others_check_is_unused_only_where_the_log_shows_what_they_ask() {
    let roles = cluster(
        "{nonResourceURLs: [/metrics], verbs: [get]}, {apiGroups: [''], resources: [nodes/proxy], verbs: [get]}, \
         {apiGroups: [''], resources: [pods/proxy], verbs: [get]}",
    );
    let call = event(0, "200 get /api/v1/namespaces/ns/pods/p");
    let of = |more: &[String]| {
        let lines: Vec<&str> = [&call].into_iter().chain(more).map(String::as_str).collect();
        verdicts(&only(judge_lines("", &roles, &lines, exact())))
    };
    let hidden = ["/metrics get: Unobservable", "nodes/proxy get: Unobservable"];
    let shown = ["/metrics get: Unused", "nodes/proxy get: Unused"];
    let others = ["pods/proxy get: Unused"].map(str::to_owned);
    // The first case has none, the second none of others, the third one that cannot be read; the last shows them all.
    for (log, expected) in [
        (vec![], hidden),
        (vec![review("selfsubjectaccessreviews", true)], hidden),
        (vec![review("subjectaccessreviews", true), review("subjectaccessreviews", false)], hidden),
        (vec![review("subjectaccessreviews", true)], shown),
    ] {
        assert_eq!(of(&log), [&expected.map(str::to_owned)[..], &others].concat(), "{log:?}");
    }
}

#[test]
fn without_a_log_or_without_events_nothing_is_unused() {
    let roles = cluster(
        "{apiGroups: [''], resources: [pods], verbs: [get]}, {apiGroups: [extensions], resources: [deployments], verbs: [get]}",
    );
    let expected = ["pods get: Unjudged", "deployments get: Dead"];
    let silent = only(judge(&roles, &[], Options::default()));
    assert_eq!((verdicts(&silent).as_slice(), silent.points.used), (&expected.map(str::to_owned)[..], None));
    let of_another = judge(
        &roles.replace("name: op,", "name: other,").replace("name: op\n", "name: other\n"),
        &["200 get /api/v1/nodes/n"],
        Options { subjects: vec!["ns/other".to_owned()], ..Options::default() },
    );
    assert_eq!(verdicts(&only(of_another)), expected);
}

#[test]
fn a_role_binding_gives_nothing_on_cluster_scoped_resources() {
    let text = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: r, namespace: ns}\n\
         rules: [{apiGroups: [''], resources: [nodes, pods, namespaces], verbs: [get]}, {nonResourceURLs: [/metrics], verbs: [get]}]\n---\n\
         apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: r, namespace: ns}\n\
         roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}\nsubjects: [{kind: ServiceAccount, name: op}]\n";
    let judged = only(judge(text, &["200 get /api/v1/namespaces/ns/pods/p"], Options::default()));
    assert_eq!(
        verdicts(&judged),
        ["nodes get: Dead", "pods get: Used", "namespaces get: Unused", "/metrics get: Dead"]
    );
    assert_eq!((judged.points.held, judged.points.used), (2, Some(1)));
}

#[test]
fn checks_that_carry_a_namespace_and_projects_are_no_void_in_a_role_binding() {
    let role = |rules: &str| {
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {{name: r, namespace: ns}}\nrules: [{rules}]\n---\n\
             apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {{name: r, namespace: ns}}\n\
             roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}}\nsubjects: [{{kind: ServiceAccount, name: op}}]\n"
        )
    };
    let verdicts = |rules: &str| verdicts(&only(judge(&role(rules), &[], Options::default())));
    assert_eq!(
        verdicts(
            "{apiGroups: [security.openshift.io], resources: [securitycontextconstraints], verbs: [use, get, '*']}"
        ),
        [
            "securitycontextconstraints use: Unjudged",
            "securitycontextconstraints get: Dead",
            "securitycontextconstraints *: Unjudged"
        ]
    );
    assert_eq!(
        verdicts("{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [bind, get, '*']}"),
        ["clusterroles bind: Unjudged", "clusterroles get: Dead", "clusterroles *: Unjudged"]
    );
    assert_eq!(
        verdicts("{apiGroups: [project.openshift.io], resources: [projects], verbs: [get, list]}"),
        ["projects get: Unjudged", "projects list: Dead"]
    );
    assert_eq!(
        verdicts("{apiGroups: [config.openshift.io], resources: [proxies, others], verbs: [get]}"),
        ["proxies get: Dead", "others get: Unjudged"]
    );
}

#[test]
fn points_of_an_extension_count_where_its_group_is_named() {
    let held = |rules: &str| {
        let points = only(judge(&cluster(rules), &[], Options::default())).points;
        (points.held, points.unbounded)
    };
    assert_eq!(held("{apiGroups: [route.openshift.io], resources: [routes], verbs: [get, list]}"), (2, false));
    // All verbs of routes; those and the three of the status.
    assert_eq!(held("{apiGroups: [route.openshift.io], resources: [routes], verbs: ['*']}"), (8, false));
    assert_eq!(held("{apiGroups: [route.openshift.io], resources: ['*'], verbs: ['*']}"), (11, false));
    // What neither the table nor the input has: one point where all is said, else told as unbounded.
    assert_eq!(held("{apiGroups: [route.openshift.io], resources: [others], verbs: [get]}"), (1, false));
    assert_eq!(held("{apiGroups: [route.openshift.io], resources: [others], verbs: ['*']}"), (0, true));
    assert_eq!(held("{apiGroups: [unknown.example.com], resources: ['*'], verbs: ['*']}"), (0, true));
    // The group `*` has Kubernetes and the CRDs of the input, and tells that there may be more.
    assert_eq!(held("{apiGroups: ['*'], resources: [routes], verbs: [get]}"), (0, true));
    let everything = held(ALL);
    let of_kubernetes = Table::for_minor("1.36").unwrap();
    let served = of_kubernetes.iter().filter(|served| served.origin == crate::api::Origin::Kubernetes);
    assert!(everything.0 <= served.map(|served| served.verbs.len() as u64).sum() && everything.1);
}

#[test]
fn each_subject_of_the_package_is_judged_and_unbound_roles_by_themselves() {
    let text = cluster("{apiGroups: [''], resources: [pods], verbs: [get]}")
        + "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: alone}\n\
           rules: [{apiGroups: [''], resources: [nodes], verbs: [get]}]\n---\n\
           apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: people}\n\
           roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: c}\n\
           subjects: [{kind: Group, name: people}, {kind: ServiceAccount, name: helper, namespace: ns}]\n";
    let names: Vec<String> =
        judge(&text, &[], Options::default()).into_iter().map(|judged| judged.subject.name).collect();
    assert_eq!(names, ["ns/helper", "ns/op", "people", "unbound:alone"]);
}

#[test]
fn a_verified_role_names_the_call_that_it_would_refuse() {
    let roles = cluster("{apiGroups: [''], resources: [pods], verbs: [get, list]}");
    let log = [
        event(0, "200 get /api/v1/namespaces/ns/pods/p"),
        event(1, "404 get /api/v1/namespaces/ns/secrets/s"),
        event(2, "200 get /version"),
    ];
    let mut collector = Collector::new();
    collector.read("audit.log", &mut log.join("\n").as_bytes());
    let usage = collector.finish();
    let mut sources = SourceMap::default();
    let id = sources.add("m.yaml", roles);
    let facts = manifest::read(&sources, id).facts;
    let package = manifest::package::split(&["m.yaml".to_owned()], vec![("m.yaml".to_owned(), facts)]).remove(0);
    let key = SubjectKey::parse("ns/op");
    let table = crate::api::Table::for_minor("1.36").unwrap();
    let known = Known { minor: "1.36", platform: Platform::Auto, table: &table, package: None };
    let answer = verify(&rules_for(&[package], "1.36", &key).rules, None, &key, &usage, &known);
    let missing: Vec<String> = answer.missing.iter().map(|missing| describe(&missing.request)).collect();
    assert_eq!(missing, ["get secrets"]);
    assert_eq!(answer.missing[0].samples[0].line, 2);
    let leftovers: Vec<&str> =
        answer.leftover.iter().flat_map(|left| left.rule.verbs.iter().map(String::as_str)).collect();
    assert_eq!(leftovers, ["list"]);
}

#[test]
fn entries_that_multiply_out_to_too_much_are_left_out_and_told() {
    let many = |what: &str| (0..60).map(|at| format!("{what}{at}")).collect::<Vec<_>>().join(",");
    let huge = format!("{{apiGroups: [{}], resources: [{}], verbs: [{}]}}", many("g"), many("r"), many("v"));
    let judged = only(judge(
        &cluster(&format!("{huge}, {{apiGroups: [''], resources: [pods], verbs: [get]}}")),
        &[],
        Options::default(),
    ));
    assert_eq!(verdicts(&judged), ["pods get: Unjudged"]);
    assert_eq!(judged.entries_left_out, 1);
    assert!(judged.notes.iter().any(|note| note.contains("are not judged")), "{:?}", judged.notes);
}

/// Verdicts of the grants that are not used, with why.
fn unseen(assessment: &Assessment) -> Vec<String> {
    let unseen = assessment.grants.iter().filter(|grant| grant.verdict != Verdict::Used);
    // Of an unused grant, the reason is what the log lacks to be surer.
    let reason = |grant: &Grant| if grant.verdict == Verdict::Unused { String::new() } else { grant.reason.clone() };
    unseen.map(|grant| format!("{} {:?} {}", grant.rule.verbs.join(","), grant.verdict, reason(grant))).collect()
}

#[test]
fn a_grant_is_unused_only_where_the_policy_records_every_use() {
    let rules = cluster(
        "{apiGroups: [''], resources: [pods], verbs: [get, create]}, {apiGroups: [''], resources: [events], verbs: [patch]}, \
         {nonResourceURLs: [/metrics], verbs: [head]}",
    );
    let events = ["200 get /api/v1/namespaces/x/pods/a"];
    let judged = |policy: &str| judge_under(policy, &rules, &events, Options::default()).remove(0);
    // A path may be guarded by a component that asks for its caller: not in a log without bodies.
    let asked = format!("head Unobservable {}", observable::ASKED_ELSEWHERE);
    assert_eq!(unseen(&judged("")), ["create Unused ", "patch Unused ", asked.as_str()]);
    assert_eq!(unseen(&judged("- {level: Metadata}")), ["create Unused ", "patch Unused ", asked.as_str()]);

    let noisy = "- level: None\n  resources: [{resources: [events]}]\n- level: None\n  namespaces: [kube-system]\n\
                 - level: Metadata\n  resources: [{}]\n";
    let assessment = judged(noisy);
    assert_eq!(
        unseen(&assessment),
        [
            "create Unobservable its use is recorded only in part: rule 2 of the audit policy (line 6) has level None",
            "patch Unobservable its use is not recorded: rule 1 of the audit policy (line 4) has level None",
            "head Unobservable its use is not recorded: no rule of the audit policy matches",
        ]
    );
    assert_eq!(assessment.notes, Vec::<String>::new());
    // What may have been used is kept, with the reason.
    let kept: Vec<_> = assessment.minimal.iter().flat_map(|minimal| &minimal.scopes).flat_map(|s| &s.rules).collect();
    let urls = |rule: &&&MinimalRule| rule.rule.non_resource_urls == ["/metrics"] && rule.basis == Basis::Kept;
    assert_eq!(kept.iter().filter(|rule| rule.basis == Basis::Kept).count(), 3);
    assert!(kept.iter().any(|rule| urls(&rule)));
}

#[test]
fn a_policy_that_cannot_be_that_of_the_log_is_told() {
    let rules = cluster("{apiGroups: ['*'], resources: ['*'], verbs: [get]}");
    let policy = "- {level: None, resources: [{resources: [pods]}]}\n- {level: Metadata}\n";
    let pods = judge_under(policy, &rules, &["200 get /api/v1/namespaces/x/pods/a"], Options::default()).remove(0);
    let partly = "what the wildcard in `get *.*` is used for is recorded only in part: rule 1 of the audit policy (line 4) has level None";
    let not_this = "the log has calls that the audit policy does not record, such as get pods: it was not, or not always, the policy of this log";
    assert_eq!(pods.notes, [not_this, partly]);
    let nodes = judge_under(policy, &rules, &["200 get /api/v1/nodes/a"], Options::default()).remove(0);
    assert_eq!(nodes.notes, [partly]);
}

#[test]
fn counts_that_no_log_can_have_do_not_overflow() {
    let log = ["200 get /api/v1/namespaces/ns/pods/a", "200 get /api/v1/namespaces/ns/pods/b"];
    let log: String = log.iter().enumerate().map(|(at, call)| event(at, call) + "\n").collect();
    let mut collector = Collector::new();
    collector.read("audit.log", &mut log.as_bytes());
    let mut usage = collector.finish();
    for call in &mut usage.calls {
        std::sync::Arc::make_mut(call).count = u64::MAX;
    }
    let table = Table::for_minor("1.36").unwrap();
    let known = Known { minor: "1.36", platform: Platform::Auto, table: &table, package: None };
    let activity = Activity::of(&usage, "system:serviceaccount:ns:op", &known, known.platform);
    assert_eq!(evidence(&activity, &usage).calls, u64::MAX);
}
