use std::collections::BTreeMap;

use super::*;
use crate::audit::select::Attribution;
use crate::audit::usage::Decision;
use crate::rbac::{NonResourceRequest, Request};

const ACCOUNT: &str = "system:serviceaccount:n:op";

fn call(user: &str, path: &str, first: &str, last: &str) -> Observed {
    Observed {
        user: user.to_owned(),
        request: Request::NonResource(NonResourceRequest { path: path.to_owned(), verb: "get".to_owned() }),
        origin: Origin::Call,
        decision: Decision::Allowed,
        count: 10,
        codes: BTreeMap::from([(200, 10)]),
        first: first.to_owned(),
        last: last.to_owned(),
        samples: Vec::new(),
        reasons: Vec::new(),
        object_namespace: String::new(),
        level: "Metadata".to_owned(),
        impersonators: Vec::new(),
        attributed_from: Vec::new(),
        attributed: 0,
        behind: Vec::new(),
        unread: 0,
        more_than: None,
    }
}

fn paths(usage: &Usage) -> Vec<&str> {
    let path = |call: &Arc<Observed>| match &call.request {
        Request::NonResource(request) => request.path.clone(),
        Request::Resource(_) => String::new(),
    };
    usage.calls.iter().map(path).map(|path| &*path.leak()).collect()
}

fn at(hour: u8) -> String {
    format!("2026-12-01T{hour:02}:00:00Z")
}

fn usage(calls: impl IntoIterator<Item = Observed>) -> Usage {
    Usage { calls: calls.into_iter().map(Arc::new).collect(), ..Usage::default() }
}

#[test]
fn calls_outside_of_the_times_go_and_those_across_are_told() {
    let calls = [
        call("u", "/before", &at(1), &at(4)),
        call("u", "/across", &at(4), &at(5)),
        call("u", "/inside", "2026-12-01T07:00:00+02:00", &at(6)),
        call("u", "/over", &at(6), &at(7)),
        call("u", "/after", &at(7), &at(8)),
        call("u", "/never", "", ""),
    ];
    let select = Select { since: Some(at(5)), until: Some(at(6)), ..Select::default() };
    let (cut, said) = cut(usage(calls.clone()), &select);
    assert_eq!(paths(&cut), ["/across", "/inside", "/over"]);
    assert_eq!((cut.quality.left_out, cut.quality.first.as_str(), cut.quality.last.as_str()), (30, &*at(4), &*at(7)));
    assert!(said[0].starts_with("2 distinct calls of this profile lie partly outside"), "{said:?}");
    assert!(said[1].starts_with("1 distinct calls of this profile have no time"), "{said:?}");
    let (whole, said) = super::cut(usage(calls), &Select::default());
    assert_eq!((whole.calls.len(), said.len()), (6, 0));
}

#[test]
fn users_are_asked_for_and_calls_attributed_as_in_a_log() {
    let mut asked_by = call("admin", "/asked-by", &at(1), &at(1));
    asked_by.origin = Origin::AskedBy;
    let calls = [call("admin", "/a", &at(1), &at(1)), call(ACCOUNT, "/a", &at(2), &at(2)), asked_by];
    let attribution = Attribution { who: "admin".to_owned(), agent: None, user: ACCOUNT.to_owned() };
    let select = Select { service_accounts: true, attribute: vec![attribution], ..Select::default() };
    let (cut, said) = cut(usage(calls), &select);
    assert!(said.is_empty() && cut.quality.left_out == 10);
    let one = Usage::default().merge(cut);
    assert_eq!(one.calls.len(), 1);
    assert_eq!((one.calls[0].count, &*one.calls[0].attributed_from), (20, &["admin".to_owned()][..]));
}
