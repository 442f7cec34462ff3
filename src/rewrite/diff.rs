//! A unified diff that `git apply` and `patch -p1` take.

use similar::TextDiff;

/// The change of one file; empty where there is none. `path` is relative to where the diff is to be applied: with
/// `from_top` that is the top of a git work tree, which `git apply` then finds from below too.
pub fn unified(path: &str, before: &str, after: &str, from_top: bool) -> String {
    if before == after {
        return String::new();
    }
    let path = path.trim_start_matches('/');
    let diff = TextDiff::from_lines(before, after);
    let (old, new) = (name("a", path), name("b", path));
    let head = if from_top {
        format!("diff --git {} {}\n", old.trim_end_matches('\t'), new.trim_end_matches('\t'))
    } else {
        String::new()
    };
    head + &diff.unified_diff().context_radius(3).header(&old, &new).to_string()
}

/// A file name as git writes it: quoted where it holds what ends it early, a tab behind one with blanks.
fn name(side: &str, path: &str) -> String {
    let odd = |c: char| c.is_control() || matches!(c, '"' | '\\');
    if path.contains(odd) {
        let escaped: String = format!("{side}/{path}")
            .bytes()
            .map(|byte| match byte {
                b'"' | b'\\' => format!("\\{}", char::from(byte)),
                b' '..=b'~' => char::from(byte).to_string(),
                _ => format!("\\{byte:03o}"),
            })
            .collect();
        return format!("\"{escaped}\"");
    }
    let tab = if path.contains(' ') { "\t" } else { "" };
    format!("{side}/{path}{tab}")
}
