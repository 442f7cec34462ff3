//! `rolecall explain`: the document of a rule.

use anyhow::{Result, bail};

use super::Exit;
use super::output::Terminal;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Rule ids or names, such as RC031
    #[arg(required = true, value_name = "RULE")]
    rules: Vec<String>,
}

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    let mut texts = Vec::new();
    for wanted in &args.rules {
        // A SARIF rule id carries its severity class: RC031/cluster.
        let id = wanted.split('/').next().unwrap_or_default();
        let rule = crate::rules::get(id);
        match rule {
            Some(rule) => texts.push(rule.explain()),
            None => bail!("there is no rule `{wanted}`; `rolecall rules list` shows them all"),
        }
    }
    terminal.result(&texts.join("\n"))?;
    Ok(Exit::Clean)
}
