use std::io::BufReader;

use super::*;

fn all(text: &str, piece: usize) -> Vec<(u64, String)> {
    let mut input = BufReader::with_capacity(piece, text.as_bytes());
    let mut rows = Rows::new(64 << 10);
    let mut found = Vec::new();
    loop {
        match rows.next(&mut input) {
            Step::Record(line, json) => found.push((line, String::from_utf8_lossy(json).into_owned())),
            Step::Lost(Lost::Row(why)) => found.push((rows.start, why)),
            Step::Lost(lost) => found.push((rows.start, format!("{lost:?}"))),
            Step::Broken(error) => panic!("{error}"),
            Step::End => {
                assert_eq!(rows.bytes, text.len() as u64);
                return found;
            }
        }
    }
}

#[test]
fn rows_are_objects_of_their_columns() {
    let long = "x".repeat(70 << 10);
    let whole = "x".repeat(60 << 10);
    for (text, expected) in [
        ("a,b\n1,\"{\"\"x\"\":\n1}\"\n2,\n", vec![(2, r#"{"a":"1","b":"{\"x\":\n1}"}"#), (4, r#"{"a":"2","b":""}"#)]),
        ("a,b\r\n1,2\r\n", vec![(2, r#"{"a":"1","b":"2"}"#)]),
        ("a,b\n1\n1,2\n", vec![(2, "1 fields under 2 columns"), (3, r#"{"a":"1","b":"2"}"#)]),
        (&format!("a\n{long}\nc\n"), vec![(2, "TooLong"), (3, r#"{"a":"c"}"#)]),
        (&format!("a\n{whole}\n"), vec![(2, &*format!(r#"{{"a":"{whole}"}}"#))]),
        ("a,b\n", vec![]),
    ] {
        let expected: Vec<_> = expected.iter().map(|(line, json)| (*line, (*json).to_owned())).collect();
        for piece in [1, 7, 4096] {
            assert_eq!(
                all(text, piece),
                expected,
                "{} in pieces of {piece}",
                text.chars().take(60).collect::<String>()
            );
        }
    }
}

#[test]
fn more_columns_than_any_table_has_are_no_row() {
    let wide = vec!["1"; MOST_COLUMNS + 1].join(",");
    assert_eq!(
        all(&format!("a,b\n{wide}\n1,2\n"), 4096),
        [(2, "TooLong".to_owned()), (3, r#"{"a":"1","b":"2"}"#.to_owned())]
    );
}

#[test]
fn a_header_names_a_known_column() {
    for (line, expected) in [
        ("@timestamp,@message", true),
        ("\"TimeGenerated\",\"log_s\"", true),
        ("AuditId,Level", true),
        ("@message", false),
        ("a,b", false),
        ("{\"_raw\",", false),
    ] {
        assert_eq!(is_header(line.as_bytes()), expected, "{line}");
    }
}
