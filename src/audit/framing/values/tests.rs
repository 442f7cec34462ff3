use std::io::BufReader;

use super::*;

/// Records with their lines, cut out of a text that comes in pieces of so many bytes.
fn all(text: &str, piece: usize) -> Vec<(u64, String)> {
    let mut input = BufReader::with_capacity(piece, text.as_bytes());
    let mut values = Values::new(200);
    let mut found = Vec::new();
    loop {
        match values.next(&mut input) {
            Step::Record(line, record) => found.push((line, String::from_utf8_lossy(record).into_owned())),
            Step::Lost(lost) => found.push((values.start, format!("{lost:?}"))),
            Step::End => return found,
            Step::Broken(error) => panic!("{error}"),
        }
    }
}

#[test]
fn values_are_cut_by_their_brackets() {
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(300));
    for (text, expected) in [
        ("{\"a\":\n1}\n{\"b\":2}{\"c\":3}", vec![(1, "{\"a\":\n1}"), (3, "{\"b\":2}"), (3, "{\"c\":3}")]),
        ("[{\"a\":\"]}\\\"\"},\n {\"b\":[1,{}]}]", vec![(1, "{\"a\":\"]}\\\"\"}"), (2, "{\"b\":[1,{}]}")]),
        (
            "{\"kind\":\"List\",\"items\": [{\"items\":1},{}],\"x\":{\"items\":[{}]}}",
            vec![(1, "{\"items\":1}"), (1, "{}")],
        ),
        ("{\"x\":[{}],\"records\":[{\"records\":[{\"a\":1}]}]}{\"b\":1}", vec![(1, "{\"a\":1}"), (1, "{\"b\":1}")]),
        ("{\"data\":{\"result\":1,\"results\":[[\"1\",\"l\"]]}}", vec![(1, "[\"1\",\"l\"]")]),
        ("{\"body\":{\"items\":[1]}}", vec![(1, "{\"body\":{\"items\":[1]}}")]),
        ("klog line\n{\"a\":1}\n", vec![(1, "klog line"), (2, "{\"a\":1}")]),
        ("{\"a\":{\n{\"b\":1}", vec![(1, "{\"a\":{\n"), (2, "{\"b\":1}")]),
        ("{\"a\":\"b\n{\"b\":1}", vec![(1, "{\"a\":\"b"), (2, "{\"b\":1}")]),
        ("[{\"a\":1},{\"b\"", vec![(1, "{\"a\":1}"), (1, "{\"b\"")]),
        ("[{\"a\":1},", vec![(1, "{\"a\":1}"), (1, "NoEnd")]),
        (&*format!("[{long},{{}}]"), vec![(1, "TooLong"), (1, "{}")]),
        ("[1, null]", vec![(1, "1"), (1, "null")]),
        ("", vec![]),
    ] {
        let expected: Vec<_> = expected.iter().map(|(line, record)| (*line, (*record).to_owned())).collect();
        for piece in [1, 2, 3, 7, 4096] {
            assert_eq!(all(text, piece), expected, "{text} in pieces of {piece}");
        }
    }
}
