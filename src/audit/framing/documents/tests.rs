use std::io::BufReader;

use super::*;

/// Documents with the lines that they begin in; pieces of so many bytes.
fn all(text: &str, piece: usize) -> Vec<(u64, String)> {
    let mut input = BufReader::with_capacity(piece, text.as_bytes());
    let mut documents = Documents::new(100);
    let mut found = Vec::new();
    loop {
        match documents.next(&mut input) {
            Step::Record(line, json) => found.push((line, String::from_utf8_lossy(json).into_owned())),
            Step::Lost(Lost::Yaml(_)) => found.push((documents.start, "no YAML".to_owned())),
            Step::Lost(lost) => found.push((documents.start, format!("{lost:?}"))),
            Step::Broken(error) => panic!("{error}"),
            Step::End => {
                assert_eq!(documents.bytes, text.len() as u64, "{text}");
                return found;
            }
        }
    }
}

#[test]
fn documents_end_where_the_next_begins() {
    let long = "x".repeat(200);
    for (text, expected) in [
        ("a: 1\n---\nb: 2\n", vec![(1, r#"{"a":1}"#), (3, r#"{"b":2}"#)]),
        ("---\na: 1\n--- {b: 2}\n---\n", vec![(2, r#"{"a":1}"#), (3, r#"{"b":2}"#)]),
        ("a: 1\r\n---\r\nb: 2", vec![(1, r#"{"a":1}"#), (3, r#"{"b":2}"#)]),
        ("# nothing\n---\n\n---\na: 1\n", vec![(5, r#"{"a":1}"#)]),
        ("a: |\n  ---\n  x\n", vec![(1, r#"{"a":"---\nx\n"}"#)]),
        ("a: [1\n---\nb: 2\n", vec![(1, "no YAML"), (3, r#"{"b":2}"#)]),
        ("- a: 1\n- b: 2\n", vec![(1, r#"[{"a":1},{"b":2}]"#)]),
        ("", vec![]),
        (&format!("a: {long}\n---\nb: 2\n"), vec![(1, "TooLong"), (3, r#"{"b":2}"#)]),
    ] {
        let expected: Vec<_> = expected.iter().map(|(line, json)| (*line, (*json).to_owned())).collect();
        for piece in [1, 3, 4096] {
            assert_eq!(all(text, piece), expected, "{text} in pieces of {piece}");
        }
    }
}

#[test]
fn a_line_of_a_key_is_yaml() {
    for (text, expected) in [
        ("kind: Event\n", true),
        ("# saved\n\n---\n", true),
        ("--- # first\n", true),
        ("- insertId: x\n", true),
        ("items:\n", true),
        ("node-1 {\"a\": 1}\n", false),
        ("2026-12-01T00:00:00Z {}\n", false),
        ("http://x\n", false),
        ("I1201 00:00:00 1 x.go:1] up\n", false),
        ("", false),
    ] {
        assert_eq!(is_yaml(text.as_bytes()), expected, "{text}");
    }
}
