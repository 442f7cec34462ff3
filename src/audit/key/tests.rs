use std::borrow::Cow;

use proptest::prelude::*;

use super::super::request_info::Resource;
use super::*;

fn attributes<'a>(parts: &'a [String; 6], is_path: bool) -> Attributes<'a> {
    let [verb, group, resource, subresource, namespace, name] = parts;
    let target = if is_path {
        Target::Path(group)
    } else {
        Target::Resource(Resource { group, resource, subresource, namespace, name: Cow::Borrowed(name) })
    };
    Attributes { verb: Cow::Borrowed(verb), target }
}

fn mark(of: u8) -> (Origin, Decision) {
    let origin = if of.is_multiple_of(2) { Origin::Call } else { Origin::Impersonation };
    (origin, [Decision::Allowed, Decision::Denied, Decision::Undecided][usize::from(of % 3)])
}

fn clean(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

proptest! {
    #[test]
    fn a_key_says_what_was_written(
        user in "[a-c:\0]{0,3}",
        parts in proptest::array::uniform6("[a-c/\0]{0,3}"),
        is_path: bool,
        of in 0_u8..6,
    ) {
        let (origin, decision) = mark(of);
        let mut text = String::new();
        let key = write(&mut text, &user, &attributes(&parts, is_path), origin, decision);
        let (read_user, request, read_origin, read_decision) = read(key);
        prop_assert_eq!((read_user, read_origin, read_decision), (clean(&user), origin, decision));
        let [verb, group, resource, subresource, namespace, name] = parts.each_ref().map(|part| clean(part));
        let expected = if is_path {
            Request::NonResource(NonResourceRequest { path: group, verb })
        } else {
            Request::Resource(ResourceRequest { api_group: group, resource, subresource, verb, namespace, name })
        };
        prop_assert_eq!(request, expected);
    }

    #[test]
    fn keys_sort_as_what_they_say(
        users in proptest::array::uniform2("[ab]{0,2}"),
        parts in proptest::array::uniform2(proptest::array::uniform6("[a/]{0,2}")),
        paths: [bool; 2],
        of in proptest::array::uniform2(0_u8..6),
    ) {
        let key = |at: usize| {
            let (origin, decision) = mark(of[at]);
            let mut text = String::new();
            write(&mut text, &users[at], &attributes(&parts[at], paths[at]), origin, decision).to_owned()
        };
        let (a, b) = (key(0), key(1));
        prop_assert_eq!(a.cmp(&b), read(&a).cmp(&read(&b)));
    }
}
