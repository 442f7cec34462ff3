//! Lists in sentences.

/// The first `most` of these, and how many more there are: `a, b and 3 more`.
pub fn some_of<T: AsRef<str>>(texts: impl IntoIterator<Item = T>, most: usize) -> String {
    let (mut text, mut more) = (String::new(), 0_u64);
    for (index, one) in texts.into_iter().enumerate() {
        if index >= most {
            more += 1;
            continue;
        }
        if index > 0 {
            text.push_str(", ");
        }
        text.push_str(one.as_ref());
    }
    if more == 0 { text } else { format!("{text} and {more} more") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_are_named_and_the_others_counted() {
        let all = ["a", "b", "c", "d"];
        for (most, expected) in [(5, "a, b, c, d"), (4, "a, b, c, d"), (3, "a, b, c and 1 more"), (1, "a and 3 more")] {
            assert_eq!(some_of(all, most), expected);
        }
        assert_eq!(some_of([""; 0], 3), "");
    }
}
