use std::io::{BufReader, Read, Write};

use proptest::prelude::*;

use super::super::LONGEST;
use super::*;

/// A reader that hands out few bytes at a time.
struct Drip<'a>(&'a [u8], usize);

impl Read for Drip<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let few = self.1.min(into.len());
        self.0.read(into.get_mut(..few).unwrap_or_default())
    }
}

fn all(text: &[u8], few: usize, longest: usize) -> Vec<Option<Vec<u8>>> {
    let mut input = BufReader::with_capacity(few, Drip(text, few));
    let mut lines = Lines::new(longest);
    let mut read = Vec::new();
    loop {
        match lines.next(&mut input) {
            Step::Record(_, line) => read.push(Some(line.to_vec())),
            Step::Lost(Lost::TooLong) => read.push(None),
            Step::End => return read,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_line_over_the_limit_costs_that_line_only() {
    let mut text = Vec::new();
    for line in ["short", &"x".repeat(100_000), "next", &"y".repeat(11), "0123456789"] {
        writeln!(text, "{line}").expect("a line");
    }
    let read = all(&text, 7000, 10);
    let expected = [Some("short"), None, Some("next"), None, Some("0123456789")];
    assert_eq!(read, expected.map(|line| line.map(|line| line.as_bytes().to_vec())));
}

#[test]
fn a_long_line_is_kept_and_its_memory_given_back() {
    let long = "x".repeat(3 * SHRINK_ABOVE);
    let text = format!("a\n{long}\nb\nc\n{}\n", "y".repeat(20_000));
    let mut input = BufReader::with_capacity(8 << 10, text.as_bytes());
    let mut lines = Lines::new(LONGEST);
    let mut lengths = Vec::new();
    while let Step::Record(_, line) = lines.next(&mut input) {
        lengths.push(line.len());
    }
    assert_eq!(lengths, [1, long.len(), 1, 1, 20_000]);
    assert!(lines.whole.capacity() <= SHRINK_ABOVE, "{}", lines.whole.capacity());
    assert_eq!(lines.bytes, text.len() as u64);
}

#[test]
fn a_broken_stream_says_so_after_its_whole_lines() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("cable"))
        }
    }
    let mut input = BufReader::new(b"whole\ncut".chain(Broken));
    let mut lines = Lines::new(LONGEST);
    assert!(matches!(lines.next(&mut input), Step::Record(1, b"whole")));
    assert!(matches!(lines.next(&mut input), Step::Broken(_)));
}

proptest! {
    #[test]
    fn lines_are_those_of_the_text(text in "[ab\n]{0,60}", few in 1_usize..9) {
        let expected: Vec<_> = text.split_terminator('\n').map(|line| Some(line.as_bytes().to_vec())).collect();
        prop_assert_eq!(all(text.as_bytes(), few, 1000), expected);
    }

    #[test]
    fn a_limit_drops_exactly_the_longer_lines(text in "[ab\n]{0,60}", few in 1_usize..9) {
        let keep = |line: &str| (line.len() <= 4).then(|| line.as_bytes().to_vec());
        let expected: Vec<_> = text.split_terminator('\n').map(keep).collect();
        prop_assert_eq!(all(text.as_bytes(), few, 4), expected);
    }
}
