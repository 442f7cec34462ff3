use std::fmt::Write as _;

use proptest::prelude::*;

use super::super::usage::Usage;
use super::*;

/// A line of a log: events in stages, some of one request, and what is none.
fn line(kind: u8, id: u8) -> String {
    let event = |stage: &str, rest: &str| {
        format!(
            r#"{{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"{id}","stage":"{stage}","requestURI":"/api/v1/namespaces/n/pods/p{}?watch=1","verb":"get","user":{{"username":"u{}"}},"requestReceivedTimestamp":"2026-12-01T00:00:{:02}Z"{rest}}}"#,
            id % 5,
            id % 3,
            id % 60
        )
    };
    let allowed = r#","responseStatus":{"code":200},"annotations":{"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":"why"}"#;
    let acting = r#","impersonatedUser":{"username":"alice","groups":["g"]},"responseStatus":{"code":200}"#;
    match kind % 12 {
        0 => event("RequestReceived", ""),
        1 => event("ResponseStarted", allowed),
        2..=5 => event("ResponseComplete", allowed),
        6 => event("ResponseComplete", r#","responseStatus":{"code":404}"#),
        7 => event("ResponseComplete", acting),
        8 => format!("node-1 {}", event("ResponseComplete", allowed)),
        9 => format!(
            "2024-01-01T00:00:00Z stdout {} {}",
            if id.is_multiple_of(2) { "P" } else { "F" },
            event("Panic", "")
        ),
        10 => "x".repeat(usize::from(id) * 20),
        _ => String::new(),
    }
}

fn read(text: &str, cores: usize) -> Usage {
    let mut collector = Collector::new();
    collector.longest = 3_000;
    collector.read_on(cores, "audit.log", text.as_bytes(), &mut || ());
    collector.finish()
}

fn assert_same(text: &str) {
    let (one, many) = (read(text, 1), read(text, 3));
    assert_eq!(one.calls, many.calls);
    assert_eq!(one.quality, many.quality);
    assert_eq!(one.diagnostics, many.diagnostics);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn many_cores_read_what_one_reads(lines in prop::collection::vec((any::<u8>(), any::<u8>()), 0..60), copies in 1..60_usize, ends in any::<bool>()) {
        // Many blocks of it.
        let mut text = line(2, 1) + "\n";
        for _ in 0..copies {
            for &(kind, id) in &lines {
                writeln!(text, "{}", line(kind, id)).unwrap();
            }
        }
        if ends {
            text.pop();
        }
        assert_same(&text);
    }
}

#[test]
fn a_line_over_the_limit_costs_itself_on_any_number_of_cores() {
    let good = line(2, 1);
    for length in [2_999, 3_000, 3_001, BLOCK - 1, BLOCK + 5_000, 3 * BLOCK] {
        let text = format!("{good}\n{}\n{good}\n", "x".repeat(length));
        assert_same(&text);
        assert_eq!(read(&text, 3).quality.events, 2);
    }
}
