//! The command line as a user meets it: README's commands, exit codes, bad input, roles out of small logs.

mod action;
mod asked;
pub(crate) mod audit_inputs;
mod audit_policy;
mod bad_input;
mod exit_codes;
mod observe;
mod outputs;
mod readme;
mod role;
mod templates;
mod verify;

use std::path::Path;

use assert_cmd::Command;

pub(crate) const DEMO: &str = "fixtures/demo";
pub(crate) const DEMO_LOG: &str = "fixtures/demo/audit.log.gz";
/// What the table says of the demo under its whole log.
pub(crate) const DEMO_USED: &str = "used 28 (82 calls";
pub(crate) const DEMO_SUBJECT: &str = "notebook-system/notebook-operator";

/// What a run answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) fn rolecall(args: &[&str]) -> Answer {
    answer(Command::cargo_bin("rolecall").unwrap().args(args))
}

pub(crate) fn answer(command: &mut Command) -> Answer {
    let output = command.output().unwrap();
    Answer {
        code: output.status.code().expect("the process was not killed"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The binary in a shell that gives it no more than so much address space.
pub(crate) fn rolecall_within(mebibytes: u64, args: &[&str]) -> Answer {
    let binary = assert_cmd::cargo::cargo_bin("rolecall");
    let limited = format!("ulimit -v {} && exec \"$0\" \"$@\"", mebibytes << 10);
    answer(Command::new("bash").arg("-c").arg(limited).arg(binary).args(args))
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
