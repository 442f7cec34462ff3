//! `rolecall verify`: would this role have allowed every observed call.

use anyhow::{Result, bail};

use super::Exit;
use super::args::InputArgs;
use super::output::{Format, Output, Terminal};
use super::pipeline::{Loaded, Request};
use super::progress::Progress;
use super::result_file::write_file;
use crate::analysis::{self, Known};
use crate::audit::Select;
use crate::graph::SubjectKey;
use crate::input::{self, Logs};
use crate::manifest::Package;
use crate::report::verification;
use crate::source::DiagnosticKind;

const HELP: &str = "\
Whose the roles are: what bindings in the --role files give to the subject, or to a group of it, counts; a role bound to \
nobody or to others does not. Only where those files hold no binding at all are their roles taken as the subject's, which \
is noted.

Exit codes: 0 the role allows all that the log shows; 1 it would refuse a call, or a check that was made with one; 3 it \
would fail a check of which the log does not tell whether it was made, or nothing was verified; with --strict also where \
anything is listed as not verified. A body that is missing (level Metadata) is listed, not failed.";

#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    /// Manifests of the operator, beside the role: the rules of roles that it binds, and the roles under which it worked.
    /// They are not verified
    #[arg(value_name = "MANIFESTS")]
    paths: Vec<String>,
    /// The role: a file or folder with Roles, ClusterRoles and their bindings. Repeatable
    #[arg(long, required = true, value_name = "FILE")]
    role: Vec<String>,
    #[command(flatten)]
    input: InputArgs,
    /// Log of a run under the role: what was refused there that was not before, and what was not tried again. Repeatable
    #[arg(long, value_name = "LOG")]
    new_log: Vec<String>,
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
    let mut loaded = Loaded::read(&request, &mut |bytes| progress.add(bytes))?;
    progress.finish();
    loaded.not_over(args.output.path.as_ref())?;
    let mut incomplete = loaded.completeness(&[], args.input.strict, terminal);
    let beside = beside(args, &request)?;
    if let Some(beside) = &beside {
        beside.not_over(args.output.path.as_ref())?;
        if beside.completeness(&[], args.input.strict, terminal) != Exit::Clean {
            incomplete = Exit::Incomplete;
        }
        for resource in beside.packages.iter().flat_map(|package| &package.facts.crds) {
            loaded.table.add_custom(&resource.resource);
        }
    }
    let Some(usage) = &loaded.usage else { bail!("no log was read") };

    let minor = &args.input.kube_version;
    let given = analysis::rules_for(&loaded.packages, minor, &key);
    let works = beside.as_ref().map(|beside| analysis::rules_for(&beside.packages, minor, &key).rules);
    let package = together(loaded.packages.iter().chain(beside.iter().flat_map(|beside| &beside.packages)));
    let platform = args.input.platform.into();
    let known = Known { minor, platform, table: &loaded.table, package: package.as_ref() };
    if given.rules.is_empty() && loaded.packages.iter().all(|package| package.facts.roles.is_empty()) {
        terminal.error(&format!(
            "no role was read from {}: what `rolecall role --as yaml` writes can be verified",
            args.role.join(", ")
        ));
        return Ok(Exit::Incomplete);
    }
    let mut answer = analysis::verify(&given.rules, works.as_deref(), &key, usage, &known);
    answer.notes = given.notes;
    if !args.new_log.is_empty() {
        // Whose calls count is the same; when they were made is not.
        let select = Select { attribute: request.events.attribute, ..Select::default() };
        let new = input::read_selected(&Logs::find(&args.new_log)?, &select, &mut |_| ())?;
        for lost in new.diagnostics.iter().filter(|diagnostic| diagnostic.kind == DiagnosticKind::Unreadable) {
            terminal.note(&format!("{}:{}: {}", lost.location.path, lost.location.line, lost.message));
            incomplete = Exit::Incomplete;
        }
        let missing = analysis::verify(&given.rules, works.as_deref(), &key, &new, &known).missing;
        let rerun = analysis::rerun(usage, &new, &key.user(), &missing);
        if !rerun.not_granted.is_empty() {
            incomplete = Exit::Incomplete;
        }
        if rerun.calls == 0 {
            terminal.error(&format!("the new log has no call of {key}: nothing is proven by it"));
            incomplete = Exit::Incomplete;
        }
        answer.rerun = Some(rerun);
    }
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
    let doubtful = !answer.doubtful.is_empty() || (args.input.strict && !answer.not_verified.is_empty());
    let refused = answer.rerun.as_ref().is_some_and(|rerun| !rerun.refused.is_empty());
    Ok(match (answer.missing.is_empty() && !refused, doubtful) {
        (false, _) => Exit::Findings,
        (true, true) => Exit::Incomplete,
        (true, false) => incomplete,
    })
}

/// The manifests beside the role, read by themselves: their bindings give it nothing.
fn beside(args: &Args, request: &Request) -> Result<Option<Loaded>> {
    if args.paths.is_empty() {
        return Ok(None);
    }
    let paths = Request::new(&args.paths, &args.input)?.paths;
    let request = Request { paths, audit: Vec::new(), audit_policy: None, ..request.clone() };
    Loaded::read(&request, &mut |_| ()).map(Some)
}

/// One package with the facts of all: any of them may hold a role that is bound. Those of the role come first, as they
/// would be applied.
fn together<'a>(mut packages: impl Iterator<Item = &'a Package>) -> Option<Package> {
    let mut all = packages.next()?.clone();
    packages.for_each(|package| all.facts.extend(package.facts.clone()));
    Some(all)
}
