//! README's commands, run as they stand there, against the output shown under them.

use std::fs;

use super::rolecall;

/// Commands of the `console` blocks with the lines shown under each.
fn commands(readme: &str) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    let mut inside = false;
    for line in readme.lines() {
        match line {
            "```console" => inside = true,
            "```" => inside = false,
            line if inside => match (line.strip_prefix("$ "), commands.last_mut()) {
                (Some(command), _) => commands.push((command.to_owned(), String::new())),
                (None, Some((_, shown))) => *shown += &format!("{line}\n"),
                (None, None) => panic!("output without a command: {line}"),
            },
            _ => {}
        }
    }
    commands
}

#[test]
fn every_command_of_the_readme_answers_as_shown() {
    let readme = fs::read_to_string("README.md").unwrap();
    let mut run = 0;
    for (command, shown) in commands(&readme) {
        // The command of the tests is what runs this.
        if command == "cargo test" {
            continue;
        }
        let words: Vec<&str> = command.split_whitespace().collect();
        let args = match words.as_slice() {
            ["cargo", "run", "-q", "--", args @ ..] | ["rolecall", args @ ..] => args,
            other => panic!("no way to run {other:?}"),
        };
        let (args, file) = match args {
            [args @ .., ">", file] => (args, Some(file)),
            args => (args, None),
        };
        let answer = rolecall(args);
        let noted = answer.stderr.lines().all(|line| line.starts_with("note: "));
        assert!(answer.code <= 1 && noted, "{command}: {answer:?}");
        if let Some(file) = file {
            assert!(file.starts_with("target/"), "{file}");
            fs::write(file, &answer.stdout).unwrap();
        } else {
            assert_shown(&command, &shown, &answer.stdout);
        }
        run += 1;
    }
    assert!(run >= 4, "only {run} commands");
}

/// `...` on a line of its own stands for any lines.
fn assert_shown(command: &str, shown: &str, got: &str) {
    let mut rest = got;
    let mut anywhere = false;
    for part in shown.split_inclusive('\n').collect::<Vec<_>>().split(|line| *line == "...\n") {
        let part = part.concat();
        let found = if anywhere { rest.find(&part) } else { rest.starts_with(&part).then_some(0) };
        let Some(at) = found else { panic!("{command} does not print:\n{part}\nbut:\n{rest}") };
        rest = rest.split_at(at + part.len()).1;
        anywhere = true;
    }
    assert!(rest.is_empty() || shown.ends_with("...\n"), "{command} also prints:\n{rest}");
}
