//! `rolecall rules list`: the rules of this build.

use anyhow::Result;
use clap::Subcommand;

use super::Exit;
use super::output::Terminal;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the rules with their severities and controls
    List,
}

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    match args.command {
        Command::List => terminal.result(&crate::report::rule_list::render(crate::rules::all()))?,
    }
    Ok(Exit::Clean)
}
