//! Policies that are read and refused, what becomes of single requests, and grants against all requests under them.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::*;
use crate::rbac::{NonResourceRequest, Request, ResourceRequest, Rule, Scope};

fn read(rules: &str) -> Result<Policy, PolicyError> {
    Policy::read("p.yaml", &format!("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n{rules}"))
}

fn policy(rules: &str) -> Policy {
    read(rules).unwrap()
}

#[test]
fn a_policy_is_read_with_places() {
    let text = "apiVersion: audit.k8s.io/v1\nkind: Policy\nmetadata: {name: x}\nomitStages: [RequestReceived]\n\
                omitManagedFields: true\nrules:\n  - level: None\n    users: [a]\n  - level: Request\n    \
                resources:\n      - resources: [pods/*]\n        resourceNames: null\n    omitStages: [Panic]\n    \
                omitManagedFields: false\n";
    let policy = Policy::read("p.yaml", text).unwrap();
    let [first, second] = policy.rules.as_slice() else { panic!("{policy:?}") };
    assert_eq!((first.number, first.line, first.level, first.omit_managed_fields), (1, 7, Level::None, true));
    assert_eq!((second.number, second.line, second.level, second.omit_managed_fields), (2, 9, Level::Request, false));
    assert_eq!(second.omit_stages, BTreeSet::from([Stage::RequestReceived, Stage::Panic]));
    assert_eq!(policy.warnings, Vec::<String>::new());
    let json = r#"{"apiVersion":"audit.k8s.io/v1beta1","kind":"Policy","rules":[{"level":"Metadata"}]}"#;
    assert_eq!(Policy::read("p.json", json).unwrap().rules[0].level, Level::Metadata);
}

#[test]
fn what_the_api_server_warns_of_is_a_warning() {
    let policy = policy("- {level: None, verb: [get], resources: [{group: '', resource: [pods]}]}\n---\nkind: X\n");
    assert_eq!(
        policy.warnings,
        [
            "the API server does not know the field `rules.0.verb`",
            "the API server does not know the field `rules.0.resources.0.resource`",
            "what stands after the first document is not read",
        ]
    );
    // So that this rule matches everything.
    assert!(policy.rules[0].verbs.is_empty() && policy.rules[0].resources[0].resources.is_empty());
}

#[test]
fn what_the_api_server_refuses_is_refused() {
    for (rules, why) in [
        (" []", "it has no rules"),
        ("- {}", "line 4: rules[0].level is missing"),
        ("- {level: metadata}", "rules[0].level: `metadata` is none of"),
        ("- {level: None, omitStages: [Received]}", "rules[0].omitStages: `Received` is none of"),
        ("- {level: None, nonResourceURLs: [healthz]}", "`healthz` does not begin with `/`"),
        ("- {level: None, nonResourceURLs: ['/a*b']}", "`/a*b` has a `*` that is not its end"),
        ("- {level: None, nonResourceURLs: [/a], namespaces: [ns]}", "beside resources or namespaces"),
        ("- {level: None, resources: [{group: rbac.authorization.k8s.io/v1}]}", "is no API group"),
        ("- {level: None, resources: [{resourceNames: [x]}]}", "resourceNames without resources"),
        ("- {level: None, users: alice}", "p.yaml: "),
        ("- {level: None, users: [true]}", "p.yaml: "),
        ("- null", "p.yaml: "),
    ] {
        let error = read(rules).expect_err(rules).to_string();
        assert!(error.contains(why), "{rules}: {error}");
    }
    for text in [
        "",
        "# nothing",
        "kind: Policy\nrules: [{level: None}]",
        "apiVersion: audit.k8s.io/v1\nkind: Event\nrules: [{level: None}]",
        "apiVersion: audit.k8s.io/v2\nkind: Policy\n",
    ] {
        assert!(Policy::read("p.yaml", text).is_err(), "{text}");
    }
    assert!(read("- {level: None}").is_ok() && read("- {level: None, nonResourceURLs: ['*', '/a*', /b]}").is_ok());
}

#[test]
fn an_alias_bomb_is_refused() {
    let mut text = "apiVersion: audit.k8s.io/v1\nkind: Policy\na: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
        text = format!("{text}b{level}: &a{level} [{aliases}]\n");
    }
    assert!(Policy::read("p.yaml", &(text + "rules: *a11\n")).is_err());
}

fn grant(group: &str, resource: &str, verb: &str, names: &[&str]) -> Rule {
    let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    Rule {
        api_groups: texts(&[group]),
        resources: texts(&[resource]),
        verbs: texts(&[verb]),
        resource_names: texts(names),
        ..Rule::default()
    }
}

/// What a log under the rules shows of an operator's grant.
fn shown(rules: &str, rule: &Rule, scope: &Scope) -> (Part, Part, String) {
    let policy = policy(rules);
    let groups = ["system:serviceaccounts".to_owned(), "system:authenticated".to_owned()];
    let own = policy.about(Requester { user: "op", groups: &groups }, true);
    let visible = own.shows(rule, scope, false);
    (visible.shown, visible.bodies, visible.hidden.map(|why| why.to_string()).unwrap_or_default())
}

#[test]
fn a_grant_is_shown_always_partly_or_never() {
    let events = "- level: None\n  resources: [{group: '', resources: [events]}]\n- level: Request\n  verbs: \
                  [create]\n- level: Metadata\n";
    let why = "rule 1 of the audit policy (line 4) has level None";
    let of = |rule: &Rule| shown(events, rule, &Scope::Cluster);
    assert_eq!(of(&grant("", "events", "create", &[])), (Part::Never, Part::Never, why.to_owned()));
    assert_eq!(of(&grant("events.k8s.io", "events", "create", &[])), (Part::Always, Part::Always, String::new()));
    assert_eq!(of(&grant("", "pods", "get", &[])), (Part::Always, Part::Never, String::new()));
    assert_eq!(of(&grant("", "*", "get", &[])), (Part::Partly, Part::Never, why.to_owned()));
    assert_eq!(of(&grant("*", "events", "*", &[])), (Part::Partly, Part::Partly, why.to_owned()));

    let system = "- {level: None, namespaces: [kube-system]}\n- {level: Metadata}\n";
    let pods = grant("", "pods", "get", &[]);
    assert_eq!(shown(system, &pods, &Scope::Cluster).0, Part::Partly);
    assert_eq!(shown(system, &pods, &Scope::Namespace("kube-system".to_owned())).0, Part::Never);
    assert_eq!(shown(system, &pods, &Scope::Namespace("n".to_owned())).0, Part::Always);

    let lock = "- {level: None, resources: [{resources: [configmaps], resourceNames: [lock]}]}\n- {level: Metadata}\n";
    for (verb, names, expected) in [
        ("get", &[][..], Part::Partly),
        ("get", &["lock"], Part::Never),
        ("get", &["other"], Part::Always),
        ("get", &["lock", "other"], Part::Partly),
        // It asks for no name.
        ("create", &[], Part::Always),
    ] {
        assert_eq!(shown(lock, &grant("", "configmaps", verb, names), &Scope::Cluster).0, expected, "{verb} {names:?}");
    }
    let (part, _, why) = shown("- {level: Metadata, users: [other]}\n", &pods, &Scope::Cluster);
    assert_eq!((part, why.as_str()), (Part::Never, "no rule of the audit policy matches"));
}

#[test]
fn stages_that_tell_no_decision_show_nothing() {
    let started = "- {level: Request, omitStages: [RequestReceived, ResponseComplete]}\n";
    let received = "- {level: Request, omitStages: [ResponseStarted, ResponseComplete]}\n";
    for (verb, resource, expected) in [
        ("watch", "pods", Part::Always),
        ("get", "pods", Part::Never),
        ("*", "pods", Part::Partly),
        ("create", "pods/exec", Part::Always),
    ] {
        let rule = grant("", resource, verb, &[]);
        assert_eq!(shown(started, &rule, &Scope::Cluster).0, expected, "{verb} {resource}");
        assert_eq!(shown(received, &rule, &Scope::Cluster).0, Part::Never, "{verb} {resource}");
    }
}

#[test]
fn paths_are_told_apart_by_the_patterns_of_the_policy() {
    let rules = "- {level: None, nonResourceURLs: ['/healthz*']}\n- {level: Metadata}\n";
    for (url, expected) in [
        ("/healthz", Part::Never),
        ("/healthz/etcd", Part::Never),
        ("/metrics", Part::Always),
        ("/heal*", Part::Partly),
        ("*", Part::Partly),
        ("/m*", Part::Always),
    ] {
        let rule = Rule { non_resource_urls: vec![url.to_owned()], verbs: vec!["get".to_owned()], ..Rule::default() };
        assert_eq!(shown(rules, &rule, &Scope::Cluster).0, expected, "{url}");
    }
}

#[test]
fn a_user_may_be_in_groups_that_are_not_known() {
    let policy = policy("- {level: None, userGroups: [noisy]}\n- {level: Metadata}\n");
    let pods = grant("", "pods", "get", &[]);
    for (all_groups, expected) in [(true, Part::Always), (false, Part::Partly)] {
        let own = policy.about(Requester { user: "alice", groups: &[] }, all_groups);
        assert_eq!(own.shows(&pods, &Scope::Cluster, false).shown, expected);
    }
}

#[test]
fn too_many_rules_are_not_told_apart_and_end() {
    let rules: String = (0..13)
        .map(|at| format!("- {{level: None, verbs: [v{at}], namespaces: [n{at}], resources: [{{group: g{at}, resources: [r{at}/s{at}], resourceNames: [o{at}]}}]}}\n"))
        .collect();
    let rule = grant("*", "*", "*", &[]);
    assert_ne!(shown(&(rules + "- {level: Metadata}\n"), &rule, &Scope::Cluster).0, Part::Never);
}

const VERBS: [&str; 5] = ["get", "create", "watch", "proxy", "other"];
const GROUPS: [&str; 3] = ["", "apps", "other"];
const RESOURCES: [&str; 3] = ["pods", "events", "other"];
const SUBRESOURCES: [&str; 5] = ["", "log", "status", "other", "exec"];
const NAMESPACES: [&str; 3] = ["", "n", "other"];
const NAMES: [&str; 3] = ["", "a", "other"];
const PATTERNS: [&str; 9] = ["pods", "events", "*", "pods/*", "*/status", "pods/log", "pods/status", "*/*", "pods/"];

fn some(of: &'static [&'static str], most: usize) -> impl Strategy<Value = Vec<String>> {
    subsequence(of, 0..=most).prop_map(|list| list.into_iter().map(str::to_owned).collect())
}

fn any_rule() -> impl Strategy<Value = PolicyRule> {
    let resources = (select(&["", "apps", "*"][..]), some(&PATTERNS, 3), some(&["", "a"], 1)).prop_map(
        |(group, resources, names)| GroupResources {
            group: group.to_owned(),
            resource_names: if resources.is_empty() { Vec::new() } else { names },
            resources,
        },
    );
    let stages = subsequence(&Stage::ALL[..], 0..=3).prop_map(BTreeSet::from_iter);
    (
        select(&Level::ALL[..]),
        some(&VERBS[..3], 2),
        proptest::collection::vec(resources, 0..3),
        some(&NAMESPACES[..2], 1),
        stages,
    )
        .prop_map(|(level, verbs, resources, namespaces, omit_stages)| PolicyRule {
            number: 0,
            line: 0,
            level,
            users: Vec::new(),
            user_groups: Vec::new(),
            verbs,
            resources,
            namespaces,
            non_resource_urls: Vec::new(),
            omit_stages,
            omit_managed_fields: false,
        })
}

fn all_requests() -> Vec<ResourceRequest> {
    let mut all = Vec::new();
    for (verb, api_group) in VERBS.iter().flat_map(|verb| GROUPS.map(|group| (verb, group))) {
        for (resource, subresource) in RESOURCES.iter().flat_map(|resource| SUBRESOURCES.map(|sub| (resource, sub))) {
            for (namespace, name) in NAMESPACES.iter().flat_map(|namespace| NAMES.map(|name| (namespace, name))) {
                all.push(ResourceRequest {
                    api_group: api_group.to_owned(),
                    resource: (*resource).to_owned(),
                    subresource: subresource.to_owned(),
                    verb: (*verb).to_owned(),
                    namespace: (*namespace).to_owned(),
                    name: name.to_owned(),
                });
            }
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// `shows` is what asking for every request comes to.
    #[test]
    fn a_grant_is_all_its_requests(
        rules in proptest::collection::vec(any_rule(), 1..5),
        group in select(&["", "apps", "*"][..]),
        resource in select(&["pods", "events", "*", "*/status", "pods/log"][..]),
        verb in select(&["get", "create", "watch", "*"][..]),
        names in some(&["a", "other"], 2),
        scope in select(vec![Scope::Cluster, Scope::Namespace("n".to_owned())]),
    ) {
        let policy = Policy {
            path: String::new(), rules, omit_stages: BTreeSet::new(), omit_managed_fields: false, warnings: Vec::new(),
        };
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let rule = grant(group, resource, verb, if verb == "create" || verb == "*" { &[] } else { &names });
        let requester = Requester { user: "op", groups: &[] };
        let (mut shown, mut hidden, mut with, mut without) = (false, false, false, false);
        for request in all_requests() {
            let long = matches!(&*request.verb, "watch" | "proxy") || matches!(&*request.subresource, "log" | "exec");
            let in_scope = scope.reaches(&request.namespace);
            // Such a request is answered 405 before anything is authorized for it; under a wildcard it may stay.
            if verb == "create" && resource != "*" && request.subresource.is_empty() && !request.name.is_empty() {
                continue;
            }
            let request = Request::Resource(request);
            if !in_scope || !rule.allows(&request) {
                continue;
            }
            let recorded = policy.evaluate(requester, &request);
            let told = !recorded.omit_stages.contains(&Stage::ResponseComplete)
                || long && !recorded.omit_stages.contains(&Stage::ResponseStarted);
            if recorded.level > Level::None && told {
                shown = true;
                with |= recorded.level >= Level::Request;
                without |= recorded.level < Level::Request;
            } else {
                hidden = true;
            }
        }
        let part = |some, others| match (some, others) {
            (true, false) => Part::Always,
            (true, true) => Part::Partly,
            (false, _) => Part::Never,
        };
        let visible = policy.about(requester, true).shows(&rule, &scope, false);
        prop_assert_eq!((visible.shown, visible.bodies), (part(shown, hidden), part(with, without)));
        prop_assert_eq!(visible.hidden.is_some(), hidden);
    }
}

#[test]
fn a_request_that_no_rule_matches_is_not_recorded() {
    let policy = policy("- {level: Request, verbs: [get], nonResourceURLs: [/metrics]}\n");
    let path = |path: &str| Request::NonResource(NonResourceRequest { path: path.to_owned(), verb: "get".to_owned() });
    let requester = Requester { user: "op", groups: &[] };
    assert_eq!(policy.evaluate(requester, &path("/metrics")).level, Level::Request);
    assert_eq!(policy.evaluate(requester, &path("/version")).rule, None);
}
