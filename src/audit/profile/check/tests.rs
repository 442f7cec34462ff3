use serde_json::{Value, json};

use super::*;

/// A profile of two calls, changed.
fn read(change: impl FnOnce(&mut Value)) -> Result<Profile, String> {
    let call = |user: &str| {
        json!({
            "user": user, "request": {"nonResourceURL": "/metrics", "verb": "get"}, "origin": "call", "decision": "allowed",
            "count": 3, "codes": {"200": 2, "404": 1}, "first": "2026-12-01T02:00:00+02:00",
            "last": "2026-12-01T00:00:00Z", "samples": [], "level": "Metadata",
        })
    };
    let mut profile = json!({
        "schema": "rolecall-usage/v0",
        "quality": {
            "files": 1, "bytes": 1, "lines": 6, "events": 6, "shapes": {}, "skipped": [], "stages": {}, "levels": {},
            "first": "", "last": "",
        },
        "calls": [call("a"), call("b")],
    });
    change(&mut profile);
    Profile::read(&mut profile.to_string().as_bytes())
}

#[test]
fn a_profile_as_logs_give_them_is_read() {
    assert_eq!(read(|_| ()).unwrap().calls.len(), 2);
    // Requests that were refused before anybody knew whose they were.
    assert!(read(|profile| profile["calls"][0]["user"] = json!("")).is_ok());
    assert!(read(|profile| profile["calls"][0]["attributed"] = json!(3)).is_ok());
    assert!(read(|profile| profile["calls"][0]["attributed"] = json!(4)).is_err());
    let huge = |profile: &mut Value| {
        profile["calls"][0]["codes"] = json!({"200": u64::MAX, "404": u64::MAX});
        profile["calls"][0]["count"] = json!(u64::MAX);
    };
    assert!(read(huge).is_ok());
    let without_times = |profile: &mut Value| {
        (profile["calls"][0]["first"], profile["calls"][0]["last"]) = (json!(""), json!(""));
    };
    assert!(read(without_times).is_ok());
}

#[test]
fn a_profile_that_no_log_gives_is_refused_with_the_place() {
    let refused = |pointer: &str, value: Value, why: &str| {
        let error = read(|profile| *profile.pointer_mut(pointer).unwrap() = value).unwrap_err();
        assert_eq!(error, format!("not a consistent profile: {why}"));
    };
    refused("/calls/1/count", json!(4), "calls[1]: codes that do not add up to its count");
    refused("/calls/1/count", json!(u64::MAX), "calls[1]: codes that do not add up to its count");
    refused("/calls/1/codes", json!({}), "calls[1]: codes that do not add up to its count");
    refused("/calls/1/count", json!(0), "calls[1]: no call at all (count 0)");
    refused("/calls/1/user", json!("a"), "calls[1]: the same call as one before");
    refused("/calls/1/first", json!("2026-12-01T00:00:01Z"), "calls[1]: `first` is later than `last`");
    refused("/calls/1/first", json!(""), "calls[1]: one of `first` and `last` is missing");
    refused("/calls/1/last", json!("soon"), "calls[1]: a time that is none");
    refused("/quality/first", json!("soon"), "quality: a time that is none");
    refused("/quality/events", json!(0), "quality.events: 0, but there are calls");
    let many = |profile: &mut Value| {
        profile["calls"][0]["request"] = json!({"apiGroup": "", "resource": "pods", "subresource": "", "verb": "get", "namespace": "n", "name": "p"});
        profile["calls"][0]["moreThan"] = json!(9);
    };
    assert_eq!(
        read(many).unwrap_err(),
        "not a consistent profile: calls[0]: a name, though it stands for many (moreThan)"
    );
}
