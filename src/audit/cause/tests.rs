use super::*;

fn of(line: &str) -> Cause {
    match line.strip_prefix('{') {
        None => Cause::of_text(line.as_bytes()),
        Some(_) => {
            let error = serde_json::from_str::<super::super::event::Event<'_>>(line).err();
            Cause::of_object(line.as_bytes(), error.as_ref()).0
        }
    }
}

#[test]
fn look_alikes_are_told_apart() {
    for (line, cause) in [
        (r#"2017-03-21T03:57:09.106841886-04:00 AUDIT: id="c939d2a7" stage="x""#, Cause::LegacyText),
        ("type=SYSCALL msg=audit(1364481363.243:24287): arch=c000003e", Cause::Auditd),
        ("I0101 00:00:00.000000       1 server.go:1] up", Cause::Klog),
        ("E1231 00:00:00.000000       1 x.go:1] {down}", Cause::Klog),
        ("some text", Cause::NotJson),
        ("word word {x", Cause::NotJson),
        ("{not json}", Cause::NotJson),
        (r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","requ"#, Cause::CutShort),
        (r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","verb":5}"#, Cause::WrongField),
        (r#"{"kind":"Event","apiVersion":"v1","involvedObject":{}}"#, Cause::CoreEvent),
        (r#"{"kind":"Event","apiVersion":"events.k8s.io/v1","regarding":{}}"#, Cause::CoreEvent),
        (r#"{"kind":"Policy","apiVersion":"audit.k8s.io/v1","rules":[]}"#, Cause::Policy),
        (r#"{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}"#, Cause::Review),
        (r#"{"kind":"Pod","apiVersion":"v1"}"#, Cause::OtherKind),
        (
            r#"{"auditID":"x","requestURI":"/v3","user":{"name":"u","group":[]},"method":"GET","responseCode":"200"}"#,
            Cause::Rancher,
        ),
        (
            r#"{"auditID":"x","requestURI":"/v3","user":{"name":"u"},"verb":"GET","stage":"RequestReceived"}"#,
            Cause::Rancher,
        ),
        (
            r#"{"auditID":"x","level":"Metadata","stage":"Panic","requestURI":"/","user":"u","verb":"get"}"#,
            Cause::WrongField,
        ),
        (r#"{"level":"info","ts":1,"msg":"Starting"}"#, Cause::JsonLog),
        (r#"{"level":30,"msg":"Starting"}"#, Cause::JsonLog),
        (r#"{"a":1}"#, Cause::OtherJson),
        (r#"{"calls":[],"quality":{},"schema":"rolecall-usage/v0"}"#, Cause::Profile),
        ("\u{0}\u{0}", Cause::Binary),
    ] {
        assert_eq!(of(line), cause, "{line}");
    }
    assert_eq!(Cause::of_text(b"\x28\xb5\x2f\xfd rest"), Cause::Binary);
    for utf16 in [b"\xff\xfe{\0\"\0", b"\xfe\xff\0{\0\"", b"{\0\"\0k\0", b"\0{\0\"\0k"] {
        assert_eq!(Cause::of_text(utf16), Cause::Utf16, "{utf16:?}");
    }
}

#[test]
fn another_kind_is_shown_without_control_characters() {
    let line = br#"{"kind":"\u001b[31mPod","apiVersion":"v1"}"#;
    assert_eq!(Cause::of_object(line, None), (Cause::OtherKind, Some(r"\u{1b}[31mPod".to_owned())));
}

#[test]
fn every_cause_has_its_own_name() {
    let causes = [
        Cause::Broken,
        Cause::CutShort,
        Cause::NotJson,
        Cause::WrongField,
        Cause::NoRequest,
        Cause::NoVerb,
        Cause::Profile,
        Cause::Utf16,
        Cause::LongLine,
        Cause::LongField,
        Cause::NoEnd,
        Cause::Yaml,
        Cause::Row,
        Cause::Nested,
        Cause::OtherService,
        Cause::LegacyText,
        Cause::Rancher,
        Cause::CoreEvent,
        Cause::Policy,
        Cause::Review,
        Cause::Auditd,
        Cause::Klog,
        Cause::JsonLog,
        Cause::OtherKind,
        Cause::OtherJson,
        Cause::Binary,
    ];
    let names: std::collections::BTreeSet<_> = causes.iter().map(|cause| cause.text()).collect();
    assert_eq!(names.len(), causes.len());
}
