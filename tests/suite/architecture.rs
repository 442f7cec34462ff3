//! The one-way flow of `src/lib.rs`: a module may use those below it, never those above.

use std::fs;
use std::path::{Path, PathBuf};

/// From the top of the flow to its bottom; modules of one row may use each other.
const FLOW: [&[&str]; 12] = [
    &["cli"],
    &["input"],
    &["report", "rewrite"],
    &["rules", "finding", "controls"],
    &["analysis"],
    &["needs"],
    &["graph"],
    &["audit"],
    &["manifest"],
    &["api"],
    &["rbac"],
    &["source"],
];

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn rank(module: &str) -> Option<usize> {
    FLOW.iter().position(|row| row.contains(&module))
}

/// Modules named as `crate::MODULE` in the text, inside `use crate::{…}` too; comments left out.
fn imports(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let code: Vec<&str> =
        text.lines().map(|line| if line.trim_start().starts_with("//") { "" } else { line }).collect();
    for (index, line) in code.iter().enumerate() {
        for (at, _) in line.match_indices("crate::") {
            let rest = &line[at + "crate::".len()..];
            if let Some(list) = rest.strip_prefix('{') {
                let list = [list].into_iter().chain(code[index + 1..].iter().copied()).collect::<Vec<_>>().join(" ");
                let mut depth = 0;
                let mut name = String::new();
                for letter in list.chars() {
                    match letter {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => name.clear(),
                        _ if depth == 0 => {
                            name.push(letter);
                            let word = name.trim();
                            if rank(word).is_some() {
                                found.push((index + 1, word.to_owned()));
                            }
                        }
                        _ => {}
                    }
                }
            } else {
                let name = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                found.push((index + 1, name));
            }
        }
    }
    found
}

#[test]
fn modules_use_only_those_below_them() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for path in files(&src) {
        let relative = path.strip_prefix(&src).unwrap();
        let module = relative.components().next().unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs");
        if module == "lib" || module == "main" {
            continue;
        }
        let own = rank(module).unwrap_or_else(|| panic!("{module} is in no row of the flow"));
        for (line, used) in imports(&fs::read_to_string(&path).unwrap()) {
            let Some(theirs) = rank(&used) else { continue };
            seen += 1;
            if theirs < own {
                wrong.push(format!("src/{}:{line} uses `{used}`, which is above `{module}`", relative.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 30, "only {seen} imports found: the reader of this test is broken");
}

#[test]
fn an_import_against_the_flow_is_found() {
    let text = "use crate::{audit::Usage, rules};\n    let x = crate::report::Report;\n// crate::cli\n";
    let names: Vec<String> = imports(text).into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["audit", "rules", "report"]);
}

/// `lib.rs` shows the flow to people; it names every module, in this order.
#[test]
fn the_flow_in_the_crate_docs_is_this_one() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let mut last = 0;
    for row in FLOW {
        let line = format!("//! {}", row.join(" · "));
        let at = text.find(&line).unwrap_or_else(|| panic!("`{line}` is not in src/lib.rs"));
        assert!(at > last, "`{line}` stands out of order");
        last = at;
    }
}
