//! Scalars and comments that read back as what went in, whatever the input held.

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
    serde_json::to_string(text)
        .unwrap_or_default()
        .replace('\u{7f}', "\\u007f")
        .replace('\u{85}', "\\u0085")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
        .replace('\u{feff}', "\\ufeff")
}

/// A comment of one or more lines; nothing in the text can end it.
pub(super) fn comment(indent: &str, text: &str) -> String {
    text.split('\n').map(|line| format!("{indent}# {}\n", crate::report::text::safe(line).trim_end())).collect()
}
