use super::*;

const CALL: &str = r#""requestURI":"/api/v1/namespaces/ns/configmaps","verb":"list""#;

fn asked(impersonated: &str, constraint: &str) -> Vec<String> {
    let json = format!(
        r#"{{{CALL},"impersonatedUser":{impersonated},"authenticationMetadata":{{"impersonationConstraint":"{constraint}"}}}}"#
    );
    let event: Event<'_> = serde_json::from_str(&json).expect("an event");
    let call = Attributes::of_uri("list", "/api/v1/namespaces/ns/configmaps", "");
    let user = event.impersonated_user.as_ref().expect("an impersonated user");
    checks(&event, user, &call).iter().map(shown).collect()
}

fn shown(check: &Attributes<'_>) -> String {
    match &check.target {
        Target::Path(path) => format!("{} {path}", check.verb),
        Target::Resource(r) => {
            let slash = if r.subresource.is_empty() { "" } else { "/" };
            let text = [&*check.verb, " ", r.resource, slash, r.subresource].concat();
            [&*text, r.group, r.namespace, &*r.name].join("|")
        }
    }
}

#[test]
fn a_user_is_one_check_and_what_the_server_adds_is_none() {
    assert_eq!(asked(r#"{"username":"jane","groups":["system:authenticated"]}"#, ""), ["impersonate users|||jane"]);
    assert_eq!(
        asked(r#"{"username":"system:anonymous","groups":["system:unauthenticated"]}"#, ""),
        ["impersonate users|||system:anonymous"]
    );
}

#[test]
fn groups_uid_and_extras_are_checks_of_their_own() {
    let user = r#"{"username":"jane","uid":"7","groups":["dev","ops","system:authenticated"],
        "extra":{"scopes":["view","edit"]}}"#;
    assert_eq!(
        asked(user, ""),
        [
            "impersonate users|||jane",
            "impersonate uids|authentication.k8s.io||7",
            "impersonate groups|||dev",
            "impersonate groups|||ops",
            "impersonate userextras/scopes|authentication.k8s.io||view",
            "impersonate userextras/scopes|authentication.k8s.io||edit",
        ]
    );
}

#[test]
fn a_group_asked_for_is_checked_even_if_the_server_would_add_it() {
    let user = r#"{"username":"jane","groups":["system:authenticated","dev"]}"#;
    assert_eq!(asked(user, "").len(), 3);
}

#[test]
fn a_service_account_is_checked_as_such_in_its_namespace() {
    let own = r#"{"username":"system:serviceaccount:ns:sa","groups":["system:serviceaccounts","system:serviceaccounts:ns","system:authenticated"]}"#;
    assert_eq!(asked(own, ""), ["impersonate serviceaccounts||ns|sa"]);
    let more = r#"{"username":"system:serviceaccount:ns:sa","groups":["system:masters","system:authenticated"]}"#;
    assert_eq!(asked(more, ""), ["impersonate serviceaccounts||ns|sa", "impersonate groups|||system:masters"]);
    let other = r#"{"username":"system:serviceaccount:ns:sa","groups":["system:serviceaccounts","system:serviceaccounts:other"]}"#;
    assert_eq!(asked(other, "").len(), 3);
    // No account's name: a user of that name.
    let typo = r#"{"username":"system:serviceaccounts:default:default"}"#;
    assert_eq!(asked(typo, ""), ["impersonate users|||system:serviceaccounts:default:default"]);
}

#[test]
fn constrained_impersonation_has_two_halves() {
    let jane = r#"{"username":"jane","groups":["dev","system:authenticated"]}"#;
    assert_eq!(
        asked(jane, "impersonate:user-info"),
        [
            "impersonate-on:user-info:list configmaps||ns|",
            "impersonate:user-info users|authentication.k8s.io||jane",
            "impersonate:user-info groups|authentication.k8s.io||dev",
        ]
    );
    let account = r#"{"username":"system:serviceaccount:ns:sa","groups":["system:serviceaccounts","system:serviceaccounts:ns","system:authenticated"]}"#;
    assert_eq!(
        asked(account, "impersonate:serviceaccount")[1..],
        ["impersonate:serviceaccount serviceaccounts|authentication.k8s.io|ns|sa"]
    );
    let node = r#"{"username":"system:node:n1","groups":["system:nodes","system:authenticated"]}"#;
    assert_eq!(
        asked(node, "impersonate:arbitrary-node")[1..],
        ["impersonate:arbitrary-node nodes|authentication.k8s.io||n1"]
    );
    assert_eq!(
        asked(node, "impersonate:associated-node")[1..],
        ["impersonate:associated-node nodes|authentication.k8s.io||*"]
    );
}

#[test]
fn the_refused_check_is_read_out_of_the_message() {
    let read = |message| refused(message).as_ref().map(shown);
    assert_eq!(
        read(r#"groups "dev-team" is forbidden: User "u" cannot impersonate resource "groups" in API group "" at the cluster scope"#).as_deref(),
        Some("impersonate groups|||dev-team")
    );
    assert_eq!(
        read(r#"configmaps is forbidden: User "u" cannot impersonate-on:user-info:list resource "configmaps" in API group "" in the namespace "micro""#).as_deref(),
        Some("impersonate-on:user-info:list configmaps||micro|")
    );
    assert_eq!(
        read(r#"userextras.authentication.k8s.io "view" is forbidden: User "u" cannot impersonate resource "userextras/scopes" in API group "authentication.k8s.io" at the cluster scope: reason"#).as_deref(),
        Some("impersonate userextras/scopes|authentication.k8s.io||view")
    );
    assert_eq!(
        read(r#"forbidden: User "u" cannot impersonate-on:user-info:get path "/metrics""#).as_deref(),
        Some("impersonate-on:user-info:get /metrics")
    );
    assert_eq!(read("exceeded quota"), None);
    assert_eq!(read(r#"x is forbidden: User "u" cannot impersonate"#), None);
}

#[test]
fn account_names_are_split_as_kubernetes_does() {
    assert_eq!(service_account("system:serviceaccount:a:b"), Some(("a", "b")));
    assert_eq!(service_account("system:serviceaccount:a:b.c"), Some(("a", "b.c")));
    for other in [
        "jane",
        "system:serviceaccount:a",
        "system:serviceaccount:a:b:c",
        "system:serviceaccount:a.b:c",
        "system:serviceaccount::b",
        "system:serviceaccount:A:b",
    ] {
        assert_eq!(service_account(other), None, "{other}");
    }
}
