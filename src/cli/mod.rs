//! Commands, one file each. The only place that knows exit codes, the environment and the terminal.

mod args;
mod audit_policy;
mod explain;
mod observe;
mod output;
pub mod pipeline;
mod progress;
#[cfg(feature = "live")]
mod prove;
mod prove_args;
mod result_file;
mod role;
mod rules;
mod scan;
mod schema;
mod selection;
mod templates;
mod verify;

use std::io;
use std::process::ExitCode;

use anyhow::Error;
use clap::{Parser, Subcommand};

/// Exit codes of every command and format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Nothing at or above `--fail-on`.
    Clean,
    /// Findings at or above `--fail-on`; for `verify` and `prove`, calls that the role would refuse or refused.
    Findings,
    /// Wrong usage, or input that cannot be reached.
    Failure,
    /// Nothing found to read, or parts unreadable under `--strict`.
    Incomplete,
}

impl Exit {
    fn code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Findings => 1,
            Self::Failure => 2,
            Self::Incomplete => 3,
        }
    }
}

const EXIT_CODES: &str = "Exit codes: 0 nothing at or above --fail-on; 1 findings; 2 usage or input failure; \
3 incomplete (nothing found to read, or unreadable parts under --strict)";

/// What may a Kubernetes operator do, what does it really do, and what is the smallest Role under which it still
/// works?
#[derive(Debug, Parser)]
#[command(name = "rolecall", version, after_help = EXIT_CODES, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Colour of what is printed on the terminal
    #[arg(long, global = true, value_enum, default_value_t = args::Color::Auto, value_name = "WHEN")]
    color: args::Color,
    /// Say nothing on standard error but errors
    #[arg(short, long, global = true)]
    quiet: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Judge what operators hold, against what an audit log shows them using
    Scan(scan::Args),
    /// Write the smallest Role under which the observed calls still work
    Role(role::Args),
    /// Check whether a Role would have allowed every observed call, and what of it is left over
    Verify(verify::Args),
    /// Run a command under the shipped role and under the smallest, on a live cluster, and say what differs
    Prove(Box<prove_args::Args>),
    /// Put audit logs together to a usage profile, which can be used wherever a log can
    Observe(observe::Args),
    /// Write the audit policy that shows the most of what an operator needs for the least volume
    AuditPolicy(audit_policy::Args),
    /// Explain rules
    Explain(explain::Args),
    /// List the rules
    Rules(rules::Args),
    /// Print the JSON schema of the JSON report, or of a usage profile
    Schema(schema::Args),
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let terminal = output::Terminal::new(cli.color, cli.quiet);
    let exit = match run(cli.command, &terminal) {
        Ok(exit) => exit,
        // `rolecall … | head` is no failure.
        Err(error) if is_broken_pipe(&error) => Exit::Clean,
        Err(error) => {
            terminal.error(&format!("{error:#}"));
            Exit::Failure
        }
    };
    ExitCode::from(exit.code())
}

fn run(command: Command, terminal: &output::Terminal) -> Result<Exit, Error> {
    match command {
        Command::Scan(args) => scan::run(&args, terminal),
        Command::Role(args) => role::run(&args, terminal),
        Command::Verify(args) => verify::run(&args, terminal),
        #[cfg(feature = "live")]
        Command::Prove(args) => prove::run(&args, terminal),
        #[cfg(not(feature = "live"))]
        Command::Prove(args) => prove_args::run(&args, terminal),
        Command::Observe(args) => observe::run(&args, terminal),
        Command::AuditPolicy(args) => audit_policy::run(&args, terminal),
        Command::Explain(args) => explain::run(&args, terminal),
        Command::Rules(args) => rules::run(&args, terminal),
        Command::Schema(args) => schema::run(&args, terminal),
    }
}

fn is_broken_pipe(error: &Error) -> bool {
    error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>()).any(|e| e.kind() == io::ErrorKind::BrokenPipe)
}
