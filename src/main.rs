//! The `rolecall` binary: parses arguments, runs, maps the result to an exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    rolecall::cli::main()
}
