//! Scalars and comments that read back as what went in, whatever the input held.

use std::fmt::Write as _;

use crate::report::text::{is_harmful, safe};

/// A scalar: plain where nothing about it can be misread, else in double quotes as JSON writes it.
pub(super) fn scalar(text: &str) -> String {
    let mut letters = text.chars();
    let starts = letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '/');
    let plain = letters.all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '/' | '_'));
    // Words that YAML 1.1 or 1.2 takes for something else than text.
    let reserved = matches!(
        text.to_ascii_lowercase().as_str(),
        "y" | "n" | "yes" | "no" | "on" | "off" | "true" | "false" | "null" | "nan" | "inf"
    );
    if starts && plain && !reserved {
        return text.to_owned();
    }
    // JSON leaves these as they are, and YAML readers refuse them, fold them or take them for line breaks.
    // And what makes a text look like another one.
    let unfit = |c: char| {
        is_harmful(c)
            || matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
    };
    let mut quoted = String::with_capacity(text.len() + 2);
    for c in serde_json::to_string(text).unwrap_or_default().chars() {
        let _ = match u32::from(c) {
            _ if !unfit(c) => quoted.write_char(c),
            code @ ..=0xffff => write!(quoted, "\\u{code:04x}"),
            code => write!(quoted, "\\U{code:08x}"),
        };
    }
    quoted
}

/// A comment of one or more lines; nothing in the text can end it.
pub(super) fn comment(indent: &str, text: &str) -> String {
    text.split('\n').map(|line| format!("{indent}# {}\n", safe(line).trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_reads_back(text in any::<String>()) {
            let yaml = format!("a: {}\n", scalar(&text));
            let read: std::collections::BTreeMap<String, String> = serde_saphyr::from_str(&yaml).unwrap();
            prop_assert_eq!(&read["a"], &text);
            let printable = |c: char| matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
            prop_assert!(yaml.chars().all(printable), "{:?}", yaml);
        }

        #[test]
        fn a_comment_stays_one(text in any::<String>()) {
            prop_assert!(comment("  ", &text).lines().all(|line| line.starts_with("  #")));
        }
    }

    #[test]
    fn plain_only_where_nothing_can_be_misread() {
        for text in ["a", "get", "apps.k8s.io", "pods/log", "/metrics", "snapshot-controller"] {
            assert_eq!(scalar(text), text);
        }
        assert_eq!(scalar("a\u{202e}b\u{e0001}"), r#""a\u202eb\U000e0001""#);
        for text in
            ["", "*", "1", "1e3", "0x1F", "yes", "No", "null", "~", "a: b", "a #b", "- a", "rolecall:a", "é", "\u{85}"]
        {
            assert!(scalar(text).starts_with('"'), "{text}");
        }
    }
}
