//! Programs of the lab that never outlive the test: a shell between us and the program ends it when its standard input
//! closes, which also happens when the test process is killed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

/// Starts `$@` and kills it at the end of the standard input; ends with it, and with its status.
const KEEPER: &str = r#"
exec 3<&0
"$@" </dev/null 3<&- &
program=$!
(cat <&3; kill -9 $program) >/dev/null 2>&1 &
exec 3<&-
wait $program
"#;

/// A running program with its log.
pub(super) struct Process {
    pub(super) name: String,
    keeper: Child,
    log: PathBuf,
}

impl Process {
    /// Starts a program; what it prints goes to `NAME.log` in the folder.
    pub(super) fn start(program: &Path, args: &[String], env: &[(&str, &str)], folder: &Path) -> Self {
        let name = program.file_name().unwrap().to_str().unwrap().to_owned();
        let log = folder.join(format!("{name}.log"));
        let file = File::options().create(true).append(true).open(&log).unwrap();
        let keeper = Command::new("sh")
            .args(["-c", KEEPER, "sh"])
            .arg(program)
            .args(args)
            .envs(env.iter().copied())
            .stdin(Stdio::piped())
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .spawn()
            .unwrap_or_else(|error| panic!("{name} does not start: {error}"));
        Self { name, keeper, log }
    }

    /// `Some` with what is to be said when it has ended by itself.
    pub(super) fn obituary(&mut self) -> Option<String> {
        let status = self.keeper.try_wait().unwrap()?;
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        // Not the stack of a Go program: why it ended stands before it.
        let told = log.split("\ngoroutine ").next().unwrap_or_default();
        let tail: Vec<&str> = told.lines().rev().take(20).collect();
        let tail = tail.into_iter().rev().collect::<Vec<_>>().join("\n");
        Some(format!("{} ended with {}; the end of its log:\n{tail}", self.name, ending(status)))
    }
}

/// A shell tells of a signal as 128 and its number.
fn ending(status: ExitStatus) -> String {
    match status.code() {
        Some(code) if code > 128 => format!("signal {}", code - 128),
        _ => status.to_string(),
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}
