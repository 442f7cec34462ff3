use super::*;

#[test]
fn a_name_is_what_kubernetes_takes_from_a_field_selector() {
    for (query, expected) in [
        ("fieldSelector=metadata.name=x", Some("x")),
        ("fieldSelector=metadata.name%3Dx&watch=true", Some("x")),
        ("limit=5&fieldSelector=metadata.name%3D%3Dx", Some("x")),
        ("fieldSelector=spec.nodeName%3Dn%2Cmetadata.name%3Dx", Some("x")),
        ("fieldSelector=metadata.name%3Da%5C%2Cb", Some("a,b")),
        // Two names: the first in order.
        ("fieldSelector=metadata.name%3Db%2Cmetadata.name%3Da", Some("a")),
        ("fieldSelector=metadata.name!%3Dx", None),
        ("fieldSelector=metadata.namespace%3Dx", None),
        ("fieldSelector=nonsense", None),
        ("fieldSelector=metadata.name%3Dx%2Cnonsense", None),
        ("fieldSelector=metadata.name%3Da%3Db", None),
        ("fieldSelector=metadata.name%3Da%2Fb", None),
        ("fieldSelector=metadata.name%3D..", None),
        ("labelSelector=metadata.name%3Dx", None),
        // One bad option spoils them all.
        ("limit=many&fieldSelector=metadata.name%3Dx", None),
        ("timeoutSeconds=1.5&fieldSelector=metadata.name%3Dx", None),
        // Go refuses such a pair.
        ("fieldSelector=metadata.name%3Dx;y", None),
        ("fieldSelector=metadata.name%3D%zz", None),
        // The first of two.
        ("fieldSelector=metadata.name%3Da&fieldSelector=metadata.name%3Db", Some("a")),
    ] {
        assert_eq!(selected_name(query).as_deref(), expected, "{query}");
    }
}

#[test]
fn a_plus_is_a_space_in_a_query_only() {
    assert_eq!(decode("a+b", true).as_deref(), Some("a b"));
    assert_eq!(path("a+b"), "a+b");
}
