//! `rolecall schema`: the JSON schema of the JSON report.

use anyhow::Result;

use super::Exit;
use super::output::Terminal;

pub(super) fn run(terminal: &Terminal) -> Result<Exit> {
    terminal.result(&crate::report::json::schema())?;
    Ok(Exit::Clean)
}
