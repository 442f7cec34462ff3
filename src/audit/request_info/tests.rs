use super::super::event::ObjectRef;
use super::super::url;
use super::*;

/// `group resource/subresource namespace name`, `-` for none, or the path.
fn read(verb: &str, uri: &str) -> String {
    let (encoded, query) = url::split(uri);
    let path = url::path(encoded);
    shown(&Attributes::of_uri(verb, &path, query))
}

fn shown(attributes: &Attributes<'_>) -> String {
    let none = |text: &str| {
        if text.is_empty() { "-".to_owned() } else { text.to_owned() }
    };
    match &attributes.target {
        Target::Path(path) => (*path).to_owned(),
        Target::Resource(r) => {
            let slash = if r.subresource.is_empty() { "" } else { "/" };
            format!("{} {}{slash}{} {} {}", none(r.group), r.resource, r.subresource, none(r.namespace), none(&r.name))
        }
    }
}

#[test]
fn resources_are_read_from_the_path() {
    for (verb, uri, expected) in [
        ("list", "/api/v1/pods", "- pods - -"),
        ("get", "/api/v1/nodes/n1", "- nodes - n1"),
        ("list", "/api/v1/namespaces/ns/pods?limit=500", "- pods ns -"),
        ("get", "/api/v1/namespaces/ns/pods/p", "- pods ns p"),
        ("create", "/api/v1/namespaces/ns/configmaps", "- configmaps ns -"),
        ("create", "/api/v1/namespaces/ns/pods/p/exec?command=id", "- pods/exec ns p"),
        ("get", "/api/v1/namespaces/ns/pods/p/proxy/metrics/deep", "- pods/proxy ns p"),
        (
            "patch",
            "/apis/cert-manager.io/v1/namespaces/a/certificates/x/status",
            "cert-manager.io certificates/status a x",
        ),
        ("list", "/apis/metrics.k8s.io/v1beta1/nodes", "metrics.k8s.io nodes - -"),
        ("get", "/apis/apps/v1/namespaces/ns/deployments/web/scale/", "apps deployments/scale ns web"),
        ("deletecollection", "/api/v1/namespaces/ns/pods?labelSelector=a%3Db", "- pods ns -"),
        ("get", "/api/v1/namespaces/ns/services/https:foo:443/proxy/metrics", "- services/proxy ns https:foo:443"),
    ] {
        assert_eq!(read(verb, uri), expected, "{verb} {uri}");
    }
}

#[test]
fn a_namespace_object_lies_in_itself() {
    assert_eq!(read("get", "/api/v1/namespaces/ns"), "- namespaces ns ns");
    assert_eq!(read("update", "/api/v1/namespaces/ns/finalize"), "- namespaces/finalize ns ns");
    assert_eq!(read("patch", "/api/v1/namespaces/ns/status"), "- namespaces/status ns ns");
    assert_eq!(read("list", "/api/v1/namespaces"), "- namespaces - -");
    assert_eq!(read("create", "/api/v1/namespaces"), "- namespaces - -");
    // Not a subresource of namespaces: a resource of that name.
    assert_eq!(read("list", "/api/v1/namespaces/ns/scale"), "- scale ns -");
    // Only core and grouped namespaces are alike: the segment counts, not the group.
    assert_eq!(read("get", "/apis/g/v1/namespaces/ns"), "g namespaces ns ns");
}

#[test]
fn old_prefixes_say_the_verb() {
    assert_eq!(read("watch", "/api/v1/watch/pods"), "- pods - -");
    assert_eq!(read("watch", "/api/v1/watch/namespaces/ns/pods/p"), "- pods ns p");
    assert_eq!(read("proxy", "/api/v1/proxy/namespaces/ns/services/s/metrics"), "- services ns s");
    // A selector does not count there.
    assert_eq!(read("watch", "/api/v1/watch/pods?fieldSelector=metadata.name=x"), "- pods - -");
}

#[test]
fn everything_else_is_a_path_without_query() {
    for (uri, expected) in [
        ("/metrics?format=prom", "/metrics"),
        ("/api", "/api"),
        ("/api/v1", "/api/v1"),
        ("/apis/apps/v1?timeout=32s", "/apis/apps/v1"),
        ("/apis/apps", "/apis/apps"),
        ("/healthz/ping", "/healthz/ping"),
        ("/version/", "/version/"),
        ("/openapi/v3/apis/apps/v1", "/openapi/v3/apis/apps/v1"),
        ("/a%20b", "/a b"),
        ("/", "/"),
        ("/api/v1/watch", "/api/v1/watch"),
    ] {
        assert_eq!(read("get", uri), expected);
    }
}

#[test]
fn a_selected_name_counts_for_list_and_watch_only() {
    let uri = "/api/v1/namespaces/ns/secrets?fieldSelector=metadata.name%3Dfoo";
    assert_eq!(read("list", uri), "- secrets ns foo");
    assert_eq!(read("watch", uri), "- secrets ns foo");
    assert_eq!(read("deletecollection", uri), "- secrets ns -");
    assert_eq!(read("list", "/api/v1/secrets?fieldSelector=metadata.name!%3Dfoo"), "- secrets - -");
}

#[test]
fn segments_are_split_after_decoding() {
    assert_eq!(read("get", "/api/v1/namespaces/ns/pods/a%2Fb"), "- pods/b ns a");
    assert_eq!(read("get", "/apis/g/v1/namespaces/ns/things/a%3Ab"), "g things ns a:b");
    // What Go would refuse stays as it is.
    assert_eq!(read("get", "/api/v1/namespaces/ns/pods/a%zz"), "- pods ns a%zz");
}

#[test]
fn plain_uris_are_borrowed() {
    let (encoded, query) = url::split("/api/v1/secrets?fieldSelector=metadata.name=x");
    assert!(matches!(url::path(encoded), Cow::Borrowed(_)));
    let attributes = Attributes::of_uri("list", encoded, query);
    assert!(matches!(attributes.target, Target::Resource(Resource { name: Cow::Borrowed("x"), .. })));
}

#[test]
fn object_references_stand_in_for_a_missing_uri() {
    let parse = |json| serde_json::from_str::<ObjectRef<'_>>(json).expect("an objectRef");
    let cases = [
        ("get", r#"{"resource":"pods","namespace":"n","name":"p"}"#, "- pods n p"),
        ("create", r#"{"resource":"pods","namespace":"n","name":"from-body"}"#, "- pods n -"),
        ("create", r#"{"resource":"pods","subresource":"exec","namespace":"n","name":"p"}"#, "- pods/exec n p"),
        ("get", r#"{"resource":"pods/exec","namespace":"n","name":"p"}"#, "- pods/exec n p"),
        ("list", r#"{"resource":"deployments","apiVersion":"apps/v1beta1"}"#, "apps deployments - -"),
        ("list", r#"{"resource":"deployments","apiGroup":"apps","apiVersion":"v1"}"#, "apps deployments - -"),
    ];
    for (verb, json, expected) in cases {
        let object = parse(json);
        assert_eq!(shown(&Attributes::of_object(verb, &object).expect("attributes")), expected, "{json}");
    }
    assert_eq!(Attributes::of_object("get", &parse(r#"{"name":"x"}"#)), None);
}
