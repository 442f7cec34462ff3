//! `rolecall role`: the smallest Role on standard output in one of its forms, or as a change of the user's own files.

mod patch;

use anyhow::{Result, bail};
use clap::ValueEnum;

use super::Exit;
use super::args::{InputArgs, RoleArgs};
use super::output::Terminal;
use super::pipeline::{self, Loaded, Request};
use super::progress::Progress;
use crate::analysis::Assessment;
use crate::input;
use crate::rewrite::{csv, helm, markers, role_yaml};
use crate::source::some_of;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Manifests of the operator; without them the role is what the log alone shows
    #[arg(value_name = "MANIFESTS")]
    paths: Vec<String>,
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    role: RoleArgs,
    /// The form of the role
    #[arg(long = "as", value_enum, value_name = "FORM", default_value_t = Form::Yaml)]
    form: Form,
    /// Print the change of your own role files that leaves them no more than is needed, for `git apply`
    #[arg(long, conflicts_with_all = ["form", "in_place"], requires = "paths")]
    patch: bool,
    /// Make that change in the files
    #[arg(long, conflicts_with = "form", requires = "paths")]
    in_place: bool,
}

/// Values of `--as`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Roles, ClusterRoles and their bindings
    Yaml,
    /// `+kubebuilder:rbac` markers
    Markers,
    /// `clusterPermissions` and `permissions` of a ClusterServiceVersion
    Csv,
    /// Patches of the shipped roles, for a kustomization.yaml
    Kustomize,
    /// Lists of rules, to paste into templates
    Helm,
}

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    if args.input.audit.is_empty() {
        bail!("a role is cut from observed calls: --audit LOG is missing");
    }
    if args.paths.is_empty() && args.input.subject.is_empty() {
        bail!("without manifests, --subject NAMESPACE/NAME must say whose role it is");
    }
    let progress = Progress::new(terminal, !args.input.no_progress, input::log::log_bytes(&args.input.audit));
    let loaded = Loaded::read(&Request::new(&args.paths, &args.input)?, &mut |bytes| progress.add(bytes))?;
    progress.finish();
    if args.patch || args.in_place || args.form == Form::Kustomize {
        return patch::run(args, &loaded, terminal);
    }
    let mut assessments = loaded.assess(&pipeline::options(&args.input, &args.role));
    let incomplete = loaded.completeness(&assessments, args.input.strict, terminal);
    assessments.retain(|assessment| !assessment.subject.unbound);
    if args.input.subject.is_empty() && assessments.iter().any(|assessment| !assessment.workloads.is_empty()) {
        // The operator is what runs; whom else its package binds is for `scan` to tell.
        assessments.retain(|assessment| !assessment.workloads.is_empty());
    }
    let wanted = choose(&assessments, &args.input.subject)?;
    for note in &wanted.notes {
        terminal.note(note);
    }
    let Some(minimal) = &wanted.minimal else {
        terminal.error(&no_calls(&loaded, wanted));
        return Ok(Exit::Incomplete);
    };
    let render = match args.form {
        Form::Markers => markers::render,
        Form::Csv => csv::render,
        Form::Helm => helm::render,
        Form::Yaml | Form::Kustomize => role_yaml::render,
    };
    terminal.result(&render(wanted, minimal))?;
    Ok(incomplete)
}

/// The one subject to write a role for. A subject asked for may be assessed in several packages: the one that
/// knows most of it is taken.
pub(super) fn choose<'a>(assessments: &'a [Assessment], asked: &[String]) -> Result<&'a Assessment> {
    let mut subjects: Vec<&str> = assessments.iter().map(|assessment| assessment.subject.name.as_str()).collect();
    subjects.sort_unstable();
    subjects.dedup();
    if subjects.len() > 1 {
        let what = if asked.is_empty() { "--subject must say which of these" } else { "one --subject at a time, not" };
        bail!("{what}: {}", subjects.join(", "));
    }
    match assessments.iter().max_by_key(|assessment| assessment.grants.len()) {
        Some(assessment) => Ok(assessment),
        None => bail!("the manifests name no service account: --subject NAMESPACE/NAME must say whose role it is"),
    }
}

/// Why there is no role, and whom the log shows instead.
pub(super) fn no_calls(loaded: &Loaded, assessment: &Assessment) -> String {
    let name = &assessment.subject.name;
    let accounts = loaded.accounts_in_log();
    let selected = loaded.usage.as_ref().is_some_and(|usage| usage.calls.is_empty() && usage.quality.events > 0);
    if selected {
        return format!("none of the events that were asked for is of {name}");
    }
    let same = |account: &&String| account.rsplit_once('/').map(|(_, own)| own) == name.rsplit('/').next();
    if let Some(meant) = accounts.iter().find(same) {
        return format!("the log has no event of {name}; was {meant} meant?");
    }
    let others = if accounts.is_empty() { "no service account at all".to_owned() } else { some_of(&accounts, 10) };
    format!("the log has no event of {name}; it shows {others}")
}
