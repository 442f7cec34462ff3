use std::fmt::Write as _;

use proptest::prelude::*;

use super::super::usage::Usage;
use super::*;

/// A line of a log: events in stages, some of one request, and what is none.
fn line(kind: u8, id: u8) -> String {
    let event = |stage: &str, rest: &str| {
        format!(
            r#"{{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"{id}","stage":"{stage}","requestURI":"/api/v1/namespaces/n/pods/p{}?watch=1","verb":"get","user":{{"username":"u{}","extra":{{"authentication.kubernetes.io/pod-name":["p{}"]}}}},"userAgent":"agent/{}","requestReceivedTimestamp":"2026-12-01T00:00:{:02}Z"{rest}}}"#,
            id % 5,
            id % 3,
            id % 40,
            id % 50,
            id % 60
        )
    };
    let allowed = r#","responseStatus":{"code":200},"annotations":{"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":"why"}"#;
    let acting = r#","impersonatedUser":{"username":"alice","groups":["g"]},"responseStatus":{"code":200}"#;
    match kind % 18 {
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
        // What goes on in the next line, or further.
        11 => event("ResponseComplete", r#","responseObject":{"items":["#),
        12 => (if id.is_multiple_of(2) { "]}}" } else { "{}," }).to_owned(),
        13 => event("ResponseComplete", "").repeat(2),
        14 => format!("\u{c}{} \t\r", event("ResponseComplete", allowed)),
        15 => event("ResponseComplete", allowed) + " x",
        16 => event("ResponseComplete", r#","objectRef":"pods""#),
        _ => String::new(),
    }
}

fn read(text: &[u8], cores: usize) -> Usage {
    let mut collector = Collector::new();
    collector.longest = 3_000;
    match cores {
        // One record after the other.
        0 => collector.read("audit.log", &mut &*text),
        _ => collector.read_on(cores, "audit.log", text, &mut || ()),
    }
    collector.finish()
}

fn assert_same(text: &[u8]) {
    let plain = read(text, 0);
    for cores in [1, 3] {
        let blocks = read(text, cores);
        assert_eq!(plain.calls, blocks.calls, "{cores} cores");
        assert_eq!(plain.quality, blocks.quality, "{cores} cores");
        assert_eq!(plain.clients, blocks.clients, "{cores} cores");
        assert_eq!(plain.diagnostics, blocks.diagnostics, "{cores} cores");
    }
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
        assert_same(text.as_bytes());
    }

    #[test]
    fn bytes_that_are_no_text_cost_their_line(lines in prop::collection::vec((any::<u8>(), any::<u8>()), 1..20), at in any::<prop::sample::Index>()) {
        let mut text = lines.iter().map(|&(kind, id)| line(kind, id)).collect::<Vec<_>>().join("\n").into_bytes();
        if !text.is_empty() {
            let at = at.index(text.len());
            text[at] = 0xff;
        }
        assert_same(&text);
    }
}

#[test]
fn lines_that_have_no_end_are_not_read_over_and_over() {
    // Each goes on to the end of the block: read by as many deserialisers, it would take minutes.
    let text = "{\"a\":[\n".repeat(50_000);
    assert_same(text.as_bytes());
}

#[test]
fn a_line_over_the_limit_costs_itself_on_any_number_of_cores() {
    let good = line(2, 1);
    for length in [2_999, 3_000, 3_001, BLOCK - 1, BLOCK + 5_000, 3 * BLOCK] {
        let text = format!("{good}\n{}\n{good}\n", "x".repeat(length));
        assert_same(text.as_bytes());
        assert_eq!(read(text.as_bytes(), 3).quality.events, 2);
    }
}
