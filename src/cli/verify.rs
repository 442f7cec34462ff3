//! `rolecall verify`: would this role have allowed every observed call.

use anyhow::{Result, bail};

use super::Exit;
use super::args::InputArgs;
use super::output::{Format, Output, Terminal};
use super::pipeline::{Loaded, Request};
use super::progress::Progress;
use super::result_file::write_file;
use crate::analysis::{self, Known};
use crate::graph::{Graph, SubjectKey};
use crate::input;
use crate::report::verification;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The role: a file or folder with Roles, ClusterRoles and their bindings. Repeatable
    #[arg(long, required = true, value_name = "FILE")]
    role: Vec<String>,
    #[command(flatten)]
    input: InputArgs,
    /// Format of the result, and a file for it: table, json
    #[arg(short, long, default_value = "table", value_name = "FORMAT[=PATH]")]
    output: Output,
}

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    let [subject] = args.input.subject.as_slice() else { bail!("exactly one --subject NAMESPACE/NAME is needed") };
    if args.input.audit.is_empty() {
        bail!("a role is checked against observed calls: --audit LOG is missing");
    }
    let key = SubjectKey::parse(subject);
    let progress = Progress::new(terminal, !args.input.no_progress, input::log::log_bytes(&args.input.audit));
    let mut request = Request::new(&args.role, &args.input)?;
    request.namespace = request.namespace.or_else(|| key.namespace().map(str::to_owned));
    let loaded = Loaded::read(&request, &mut |bytes| progress.add(bytes))?;
    progress.finish();
    loaded.not_over(args.output.path.as_ref())?;
    let incomplete = loaded.completeness(&[], args.input.strict, terminal);
    let Some(usage) = &loaded.usage else { bail!("no log was read") };

    let mut rules = Vec::new();
    for package in &loaded.packages {
        let graph = Graph::build(package, &args.input.kube_version);
        rules.extend(analysis::rules_for(package, &graph, &key));
    }
    let known = Known {
        minor: &args.input.kube_version,
        platform: args.input.platform.into(),
        table: &loaded.table,
        package: loaded.packages.first(),
    };
    let answer = analysis::verify(&rules, &key.user(), &key.to_string(), usage, &known);
    let text = match args.output.format {
        Format::Table => verification::table(&answer),
        Format::Json => verification::json(&answer)?,
        Format::Sarif | Format::Markdown => bail!("verify writes table or json"),
    };
    // No verdict on nothing.
    if answer.checked == 0 {
        terminal.error(&format!("the log has no authorized call of {key}: nothing was verified"));
        return Ok(Exit::Incomplete);
    }
    match &args.output.path {
        Some(path) => write_file(path, &text)?,
        None => terminal.result(&text)?,
    }
    Ok(if answer.missing.is_empty() { incomplete } else { Exit::Findings })
}
