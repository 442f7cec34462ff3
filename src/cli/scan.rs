//! `rolecall scan`: manifests and an audit log in, a report out.

use anyhow::Result;

use super::args::{InputArgs, RoleArgs, Threshold};
use super::output::{Format, Output, Terminal};
use super::pipeline::{Loaded, Request};
use super::progress::Progress;
use super::result_file::write_file;
use super::{Exit, pipeline};
use crate::finding::Severity;
use crate::input;
use crate::report::{self, Report};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Manifest files or folders, `-` for standard input
    #[arg(default_value = ".", value_name = "PATH")]
    paths: Vec<String>,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    role: RoleArgs,
    /// Format of the result, and a file for it; repeatable: table, json, sarif, markdown
    #[arg(short, long, default_value = "table", value_name = "FORMAT[=PATH]")]
    output: Vec<Output>,
    /// Exit 1 when a finding is at least this severe: info, low, medium, high, critical, never
    #[arg(long, default_value = "medium", value_name = "SEVERITY")]
    fail_on: Threshold,
    /// Show findings that are at least this severe
    #[arg(long, default_value = "info", value_name = "SEVERITY")]
    min_severity: Severity,
    /// Category of the SARIF run (`automationDetails.id`), to tell several uploads of one commit apart
    #[arg(long, value_name = "CATEGORY")]
    sarif_category: Option<String>,
}

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    if args.output.iter().filter(|output| output.path.is_none()).count() > 1 {
        anyhow::bail!("only one --output can go to standard output; give the others a file: FORMAT=PATH");
    }
    let mut files: Vec<&String> = args.output.iter().filter_map(|output| output.path.as_ref()).collect();
    files.sort_unstable();
    if let Some([twice, _]) = files.windows(2).find(|pair| matches!(pair, [a, b] if a == b)) {
        anyhow::bail!("two --output go to {twice}");
    }
    let progress = Progress::new(terminal, !args.input.no_progress, input::log::log_bytes(&args.input.audit));
    let loaded = Loaded::read(&Request::new(&args.paths, &args.input)?, &mut |bytes| progress.add(bytes))?;
    progress.finish();
    args.output.iter().try_for_each(|output| loaded.not_over(output.path.as_ref()))?;
    let assessments = loaded.assess(&pipeline::options(&args.input, &args.role));
    let findings = crate::rules::run(&assessments);
    let fails = findings.iter().any(|finding| args.fail_on.reached_by(finding.severity));
    let report = loaded.report(assessments, findings, args.min_severity);
    for output in &args.output {
        let text = render(args, output.format, &report, &loaded)?;
        match &output.path {
            Some(path) => write_file(path, &text)?,
            None => terminal.result(&text)?,
        }
    }
    Ok(match loaded.completeness(&report.assessments, args.input.strict, terminal) {
        Exit::Clean if fails => Exit::Findings,
        exit => exit,
    })
}

fn render(args: &Args, format: Format, report: &Report, loaded: &Loaded) -> Result<String> {
    Ok(match format {
        Format::Table => report::table::render(report, &loaded.sources),
        Format::Json => report::json::render(report)?,
        Format::Sarif => {
            report::sarif::render(report, &loaded.sources, crate::rules::all(), args.sarif_category.as_deref())?
        }
        Format::Markdown => report::markdown::render(report),
    })
}
