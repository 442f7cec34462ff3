//! `rolecall schema`: the JSON schemas of what rolecall writes.

use anyhow::Result;
use clap::ValueEnum;

use super::Exit;
use super::output::Terminal;
use crate::report::json;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Of what
    #[arg(value_enum, default_value_t = Of::Report)]
    of: Of,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Of {
    /// The JSON report
    Report,
    /// The usage profile
    Usage,
}

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    terminal.result(&match args.of {
        Of::Report => json::schema(),
        Of::Usage => json::profile_schema(),
    })?;
    Ok(Exit::Clean)
}
