use proptest::prelude::*;

use super::*;
use crate::audit::{Behind, What};
use crate::audit::{Profile, Sample};
use crate::rbac::{NonResourceRequest, ResourceRequest};
use crate::source::{Diagnostic, DiagnosticKind, Location};

fn few(texts: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::select(texts).prop_map(str::to_owned)
}

fn observed() -> impl Strategy<Value = Observed> {
    let request = prop_oneof![
        4 => (few(&["get", "list"]), few(&["", "n"]), few(&["", "a", "b", "c"])).prop_map(|(verb, namespace, name)| {
            Request::Resource(ResourceRequest { resource: "pods".to_owned(), verb, namespace, name, ..Default::default() })
        }),
        1 => Just(Request::NonResource(NonResourceRequest { path: "/metrics".to_owned(), verb: "get".to_owned() })),
    ];
    let decision = prop_oneof![Just(Decision::Allowed), Just(Decision::Denied)];
    let time = || few(&["", "2026-12-01T00:00:00Z", "2026-12-01T00:00:00.5Z", "2026-12-02T00:00:00.000000Z"]);
    let sample = (few(&["a.log", "b.log"]), 1..5_u64).prop_map(|(path, line)| Sample {
        path,
        line,
        audit_id: format!("id-{line}"),
    });
    let texts = || prop::collection::btree_set(few(&["p", "q", "r", "s", "t", "u"]), 0..4);
    (
        (few(&["u", "v"]), request, decision),
        prop::collection::btree_map(prop_oneof![Just(200_u16), Just(404)], 1..9_u64, 1..3),
        (time(), time()),
        prop::collection::btree_set(sample, 0..4),
        (texts(), texts(), few(&["Metadata", "Request", "other"]), few(&["", "x", "y"])),
        prop::collection::btree_set(0..90_u8, 0..50),
    )
        .prop_map(
            |(
                (user, request, decision),
                codes,
                (first, last),
                samples,
                (reasons, users, level, namespace),
                signers,
            )| Observed {
                user,
                request,
                origin: Origin::Call,
                decision,
                count: codes.values().sum(),
                codes,
                first,
                last,
                samples: samples.into_iter().take(MOST_SAMPLES).collect(),
                reasons: reasons.into_iter().collect(),
                object_namespace: namespace,
                level,
                impersonators: users.into_iter().collect(),
                attributed_from: Vec::new(),
                attributed: 0,
                behind: signers.into_iter().map(signer).collect(),
                unread: 1,
                more_than: None,
            },
        )
}

fn signer(number: u8) -> Behind {
    Behind { what: What::Signer { name: format!("example.com/{number:02}") }, refused: false }
}

fn usage() -> impl Strategy<Value = Usage> {
    let quality = (0..9_u64, 0..3_u64, few(&["not JSON", "klog line"])).prop_map(|(events, lines, cause)| LogQuality {
        files: 1,
        events,
        skipped: vec![Skipped { cause, lines }],
        stages: [("Panic".to_owned(), events)].into(),
        ..LogQuality::default()
    });
    let said = (few(&["a.log", "b.log"]), 1..4_u32).prop_map(|(path, line)| Diagnostic {
        kind: DiagnosticKind::Unreadable,
        location: Location { path: path.into(), line, column: 1, end_line: line, end_column: 1, span: None },
        message: "x".to_owned(),
    });
    let clients = prop::collection::btree_map(few(&["u", "v"]), prop::collection::btree_set(0..40_u8, 0..30), 0..3);
    (prop::collection::vec(observed(), 0..8), clients, quality, prop::collection::vec(said, 0..3)).prop_map(
        |(calls, agents, quality, diagnostics)| {
            // As a reader leaves it: distinct and sorted.
            let calls = united(calls.into_iter()).into_values().map(Arc::new).collect();
            let clients = agents.into_iter().map(|(user, agents)| {
                let mut clients = clients::Clients::default();
                for agent in agents {
                    clients.note(clients::Client { agent: &format!("op/{agent:02}"), extra: "" });
                }
                (user, clients)
            });
            let clients = clients::united(clients);
            Usage::default().merge(Usage { calls, clients, quality, diagnostics })
        },
    )
}

fn text(usage: Usage) -> String {
    serde_json::to_string(&Profile::of(usage)).unwrap()
}

proptest! {
    #[test]
    fn order_and_grouping_do_not_matter(a in usage(), b in usage(), c in usage(), most in 0..3_usize) {
        let both = text(a.clone().merge(b.clone()));
        prop_assert_eq!(&both, &text(b.clone().merge(a.clone())));
        let left = a.clone().merge(b.clone()).merge(c.clone());
        let right = a.clone().merge(b.clone().merge(c.clone()));
        prop_assert_eq!(text(left.clone()), text(right));
        prop_assert_eq!(text(a.clone().merge(Usage::default())), text(a.clone()));
        // Bounding before merging changes nothing that bounding afterwards does not.
        let early = a.bounded(most).merge(b.bounded(most)).bounded(most).merge(c.bounded(most)).bounded(most);
        prop_assert_eq!(text(early), text(left.bounded(most)));
    }

    #[test]
    fn a_profile_says_what_the_logs_said(usage in usage()) {
        let json = serde_json::to_string(&Profile::of(usage.clone())).unwrap();
        let read: Profile = serde_json::from_str(&json).unwrap();
        let read = read.usage();
        prop_assert_eq!((&read.calls, &read.quality, &read.clients), (&usage.calls, &usage.quality, &usage.clients));
        prop_assert_eq!(read.diagnostics, usage.diagnostics);
    }
}

#[test]
fn names_beyond_the_bound_are_one_call_that_says_so() {
    let call = |name: &str| {
        let request = ResourceRequest {
            resource: "pods".to_owned(),
            verb: "get".to_owned(),
            name: name.to_owned(),
            ..Default::default()
        };
        Arc::new(Observed {
            user: "u".to_owned(),
            request: Request::Resource(request),
            origin: Origin::Call,
            decision: Decision::Allowed,
            count: 2,
            codes: [(200, 2)].into(),
            first: String::new(),
            last: String::new(),
            samples: vec![],
            reasons: vec![],
            object_namespace: String::new(),
            level: "Metadata".to_owned(),
            impersonators: vec![],
            attributed_from: vec![],
            attributed: 0,
            behind: vec![],
            unread: 0,
            more_than: None,
        })
    };
    let usage = Usage { calls: ["a", "b", "c"].map(call).into(), ..Usage::default() };
    assert_eq!(usage.clone().bounded(3).calls.len(), 3);
    let folded = usage.bounded(2);
    let [one] = folded.calls.as_slice() else { panic!("{:?}", folded.calls) };
    assert_eq!((one.count, one.more_than, has_name(one)), (6, Some(2), false));
}
