//! The flow from paths to a report, shared by the commands.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, bail};
use rayon::prelude::*;

use super::Exit;
use super::args::{InputArgs, RoleArgs};
use super::output::Terminal;
use super::result_file;
use super::selection;
use super::templates::Templates;
use crate::analysis::{self, Assessment, Budget, Context, MOST_GRANTS, Options};
use crate::api::{MINORS, Table};
use crate::audit::Usage;
use crate::audit::policy::Policy;
use crate::finding::{Finding, Severity};
use crate::graph::{Graph, SubjectKey};
use crate::input;
use crate::manifest::{self, Facts, InstallMode, Package, Reading};
use crate::report::{FileInput, FileState, Inputs, Report, Summary, Tool};
use crate::source::{Diagnostic, DiagnosticKind, SourceMap};

/// What to read.
#[derive(Debug, Clone)]
pub struct Request {
    /// Manifest files, folders and archives, wildcards allowed.
    pub paths: Vec<String>,
    /// Which files of folders and archives are read.
    pub select: input::Select,
    /// Charts and kustomizations are rendered first.
    pub render: bool,
    /// Audit logs and usage profiles.
    pub audit: Vec<String>,
    /// Which of their events count.
    pub events: crate::audit::Select,
    /// The audit policy of the logs.
    pub audit_policy: Option<String>,
    /// Namespace of objects that name none.
    pub namespace: Option<String>,
    /// How OLM installs bundles; `None`: as widely as they support.
    pub install_mode: Option<InstallMode>,
    /// Kubernetes minor, such as `1.36`.
    pub kube_version: String,
}

impl Request {
    pub(super) fn new(paths: &[String], args: &InputArgs) -> Result<Self> {
        let here = std::env::current_dir().unwrap_or_default();
        let relative = |paths: &[String]| paths.iter().map(|path| below(&here, path)).collect();
        Ok(Self {
            paths: relative(paths),
            select: input::Select { include: args.include.clone(), exclude: args.exclude.clone() },
            render: args.render,
            audit: relative(&args.audit),
            events: args.selection.select(&input::Logs::find(&args.audit)?)?,
            audit_policy: args.audit_policy.as_ref().map(|path| below(&here, path)),
            namespace: args.namespace.clone(),
            install_mode: args.install_mode.map(InstallMode::from),
            kube_version: args.kube_version.clone(),
        })
    }
}

/// An absolute path below the working directory as a relative one, so that reports and fingerprints do not depend on
/// where a repository is checked out.
fn below(here: &Path, path: &str) -> String {
    match Path::new(path).strip_prefix(here) {
        Ok(rest) if here.is_absolute() && rest.as_os_str().is_empty() => ".".to_owned(),
        Ok(rest) if here.is_absolute() => rest.to_string_lossy().into_owned(),
        _ => path.to_owned(),
    }
}

/// Everything that was read, ready to be judged.
#[derive(Debug)]
pub struct Loaded {
    /// Texts of the manifests.
    pub sources: SourceMap,
    /// Packages with their facts.
    pub packages: Vec<Package>,
    /// The API table with the CRDs of the input.
    pub table: Table,
    /// Kubernetes minor judged against.
    pub kube_version: String,
    /// Whether manifests were asked for, found or not.
    pub manifests_wanted: bool,
    /// What the logs showed.
    pub usage: Option<Usage>,
    /// What the API server recorded in them, where it is known.
    pub policy: Option<Policy>,
    /// How the input was accounted for.
    pub inputs: Inputs,
    pub(super) templates: Templates,
    /// What was asked of the logs.
    events: crate::audit::Select,
    /// Paths of manifests, wildcards filled in.
    named: Vec<String>,
}

impl Loaded {
    /// Reads everything; `progress` is told of bytes of the log as they are read.
    pub fn read(request: &Request, progress: &mut dyn FnMut(u64)) -> Result<Self> {
        let Some(mut table) = Table::for_minor(&request.kube_version) else {
            bail!("no API table for Kubernetes {}; this build knows {}", request.kube_version, MINORS.join(", "));
        };
        // Before the logs: a policy that is refused should not cost the reading of them.
        let policy = request.audit_policy.as_deref().map(input::audit_policy).transpose()?;
        let usage = match request.audit.as_slice() {
            [] => None,
            logs => Some(input::read_selected(&input::Logs::find(logs)?, &request.events, progress)?),
        };
        let paths: Vec<Vec<String>> = request.paths.iter().map(|path| input::expand(path)).collect::<Result<_, _>>()?;
        let paths = paths.concat();
        let mut found = input::manifests(&paths, &request.select)?;
        let mut templates = Templates::find(&mut found, request.render);
        let mut inputs = Inputs {
            other_files: found.other,
            files_git_ignored: found.git_ignored,
            files_deselected: found.deselected,
            logs: request.audit.clone(),
            ..Inputs::default()
        };
        let rendered = |path| FileInput { path, state: FileState::Rendered };
        inputs.files.extend(found.replaced.into_iter().map(rendered));
        inputs.diagnostics.extend(found.diagnostics);
        let mut files = Vec::new();
        let mut lost_in: BTreeMap<Arc<str>, u64> = BTreeMap::new();
        let sources = &found.sources;
        let readings: Vec<Option<Reading>> =
            found.files.par_iter().map(|file| file.source.map(|source| manifest::read(sources, source))).collect();
        for (file, reading) in found.files.into_iter().zip(readings) {
            let (Some(source), Some(reading)) = (file.source, reading) else {
                inputs.documents_unreadable += 1;
                inputs.files.push(FileInput { path: file.path, state: FileState::Unreadable });
                continue;
            };
            if !reading.facts.have_places() {
                found.sources.forget(source);
            }
            inputs.files.push(FileInput { path: file.path.clone(), state: state(&reading) });
            inputs.documents_read += reading.documents.read;
            inputs.documents_empty += reading.documents.empty;
            inputs.documents_unreadable += reading.documents.unreadable;
            for (kind, count) in reading.documents.ignored {
                *inputs.documents_ignored.entry(kind).or_default() += count;
            }
            for lost in reading.diagnostics.iter().filter(|lost| lost.kind == DiagnosticKind::Unreadable) {
                *lost_in.entry(lost.location.path.clone()).or_default() += 1;
            }
            inputs.diagnostics.extend(reading.diagnostics);
            files.push((file.path, reading.facts));
        }
        templates.count_lost(&lost_in);
        inputs.files.sort_by(|a, b| a.path.cmp(&b.path));
        let matters: BTreeSet<&str> = files
            .iter()
            .filter(|(_, facts): &&(String, Facts)| !facts.roles.is_empty() || !facts.workloads.is_empty())
            .map(|(path, _)| path.as_str())
            .collect();
        // Where nothing was found, what is meant may be outside of the input and come in by building.
        templates.keep_relevant(|path| matters.is_empty() || matters.contains(path));
        inputs.diagnostics.extend(templates.diagnostics(&found.sources));
        if let Some(usage) = &usage {
            inputs.diagnostics.extend(usage.diagnostics.iter().cloned());
        }
        for resource in files.iter().flat_map(|(_, facts): &(String, Facts)| &facts.crds) {
            table.add_custom(&resource.resource);
        }
        let mut packages = manifest::package::split(&paths, files);
        let users: BTreeSet<&str> =
            usage.iter().flat_map(|usage| &usage.calls).map(|call| call.user.as_str()).collect();
        for package in &mut packages {
            package.choose_install_mode(request.install_mode);
            package.choose_namespace(request.namespace.as_deref(), &users);
            inputs.diagnostics.extend(package.link_markers(&found.sources));
        }
        if packages.is_empty() && usage.is_some() {
            packages.push(Package { name: ".".to_owned(), ..Package::default() });
        }
        Ok(Self {
            sources: found.sources,
            packages,
            table,
            kube_version: request.kube_version.clone(),
            manifests_wanted: !request.paths.is_empty(),
            usage,
            policy,
            inputs,
            templates,
            events: request.events.clone(),
            named: paths,
        })
    }

    /// Refuses to write a result over what was read.
    pub(super) fn not_over(&self, output: Option<&String>) -> Result<()> {
        let Some(output) = output else { return Ok(()) };
        let used = self.inputs.files.iter().filter(|file| file.state == FileState::Read).map(|file| file.path.as_str());
        let logs = input::Logs::find(&self.inputs.logs)?;
        let policy = self.policy.iter().map(|policy| policy.path.as_str());
        let named = self.named.iter().map(String::as_str);
        result_file::not_over(Path::new(output), used.chain(named).chain(logs.paths()).chain(policy))
    }

    /// Assesses the subjects of every package. A subject asked for is assessed where something is known of it.
    pub fn assess(&self, options: &Options) -> Vec<Assessment> {
        let together = Budget::whole();
        let assess = |package| self.assess_package(package, options, &together);
        let mut assessments: Vec<Assessment> = self.packages.par_iter().flat_map_iter(assess).collect();
        if together.is_exceeded() {
            // Who came too late must not depend on the machine.
            let in_order = Budget::whole();
            let assess = |package| self.assess_package(package, options, &in_order);
            assessments = self.packages.iter().flat_map(assess).collect();
        }
        if !options.subjects.is_empty() && self.packages.len() > 1 {
            let known = |assessment: &Assessment| !assessment.is_unknown();
            let somewhere: BTreeSet<String> =
                assessments.iter().filter(|a| known(a)).map(|a| a.subject.name.clone()).collect();
            let mut first = BTreeSet::new();
            assessments
                .retain(|a| known(a) || (!somewhere.contains(&a.subject.name) && first.insert(a.subject.name.clone())));
        }
        assessments.sort_by(|a, b| (&a.package, &a.subject).cmp(&(&b.package, &b.subject)));
        assessments
    }

    fn assess_package(&self, package: &Package, options: &Options, budget: &Budget) -> Vec<Assessment> {
        analysis::assess(&Context {
            package,
            graph: &Graph::build(package, &self.kube_version),
            sources: &self.sources,
            table: &self.table,
            minor: &self.kube_version,
            usage: self.usage.as_ref(),
            policy: self.policy.as_ref(),
            options,
            budget,
        })
    }

    /// The report, findings below `min_severity` hidden.
    pub fn report(&self, assessments: Vec<Assessment>, mut findings: Vec<Finding>, min_severity: Severity) -> Report {
        self.templates.lead_back(&self.sources, &mut findings);
        let all = findings.len();
        let findings: Vec<Finding> = findings.into_iter().filter(|finding| finding.severity >= min_severity).collect();
        let mut summary = Summary { hidden: (all - findings.len()) as u64, ..Summary::default() };
        for finding in &findings {
            *summary.findings.entry(finding.severity).or_default() += 1;
        }
        Report {
            schema: "rolecall/v0".to_owned(),
            tool: Tool { name: "rolecall".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
            kube_version: self.kube_version.clone(),
            inputs: self.inputs.clone(),
            assessments,
            findings,
            summary,
        }
    }

    /// Service accounts that the log shows, as `NAMESPACE/NAME`.
    pub fn accounts_in_log(&self) -> Vec<String> {
        let calls = self.usage.iter().flat_map(|usage| &usage.calls);
        let accounts: BTreeSet<SubjectKey> = calls.filter_map(|call| SubjectKey::from_user(&call.user)).collect();
        accounts.iter().map(ToString::to_string).collect()
    }

    /// Whether anything was read and judged, and all of it; says on standard error what was not.
    pub(super) fn completeness(&self, assessments: &[Assessment], strict: bool, terminal: &Terminal) -> Exit {
        self.templates.say(terminal);
        if let Some(policy) = &self.policy {
            policy.warnings.iter().for_each(|warning| terminal.note(&format!("{}: {warning}", policy.path)));
        }
        let unreadable = |d: &&Diagnostic| d.kind == DiagnosticKind::Unreadable;
        let lost: Vec<_> = self.inputs.diagnostics.iter().filter(unreadable).collect();
        const SHOWN: usize = 10;
        let told = self.templates.tells();
        let by_itself: Vec<_> = lost.iter().filter(|lost| !told(lost)).collect();
        for diagnostic in by_itself.iter().take(SHOWN) {
            let place = &diagnostic.location;
            terminal.note(&format!("{}:{}:{}: {}", place.path, place.line, place.column, diagnostic.message));
        }
        if by_itself.len() > SHOWN {
            terminal.note(&format!("{} more unreadable parts; --output json lists them all", by_itself.len() - SHOWN));
        }
        // What was made of a log, so that its figures are not taken for more than they are.
        let logs = self.usage.iter().flat_map(|usage| &usage.diagnostics);
        for note in logs.filter(|diagnostic| diagnostic.kind == DiagnosticKind::Note).take(SHOWN) {
            terminal.note(&format!("{}: {}", note.location.path, note.message));
        }
        let attributed = self.usage.iter().flat_map(|usage| selection::attributed(&self.events, usage));
        attributed.for_each(|what| terminal.note(&what));
        let vain = self.usage.as_ref().map_or_else(Vec::new, |usage| selection::in_vain(&self.events, usage));
        vain.iter().for_each(|what| terminal.error(what));
        let no_events = self.usage.as_ref().is_some_and(|usage| usage.quality.events == 0);
        if no_events {
            terminal.error("the log holds no audit event (audit.k8s.io, one JSON object a line)");
        }
        let nothing = self.inputs.documents_read == 0 && self.manifests_wanted;
        if nothing {
            terminal.error("no Kubernetes object of a kind that grants or runs something was found to read");
        }
        let unknown = assessments.iter().filter(|assessment| assessment.is_unknown());
        let unknown: Vec<&str> = unknown.map(|assessment| assessment.subject.name.as_str()).collect();
        if !unknown.is_empty() {
            let who = unknown.join(", ");
            terminal
                .error(&format!("nothing is known of {who}: no object of the input names it, and no event of a log"));
        }
        // Authority that is not judged must not pass as authority without findings.
        let left_out: u64 = assessments.iter().map(|assessment| assessment.entries_left_out).sum();
        if left_out > 0 {
            terminal
                .error(&format!("{left_out} rule entries multiply out to more than {MOST_GRANTS} grants: not judged"));
        }
        if no_events
            || nothing
            || !vain.is_empty()
            || left_out > 0
            || !unknown.is_empty()
            || (strict && !lost.is_empty())
        {
            Exit::Incomplete
        } else {
            Exit::Clean
        }
    }
}

pub(super) fn options(input: &InputArgs, role: &RoleArgs) -> Options {
    Options {
        subjects: input.subject.clone(),
        platform: input.platform.into(),
        namespaces: role.namespaces.into(),
        names: role.names.into(),
        drop_unexercised: role.drop_unexercised,
        drop_unobservable: role.drop_unobservable,
        keep: role.keep.clone(),
        drop: role.drop.clone(),
        include_denied: role.include_denied,
    }
}

fn state(reading: &manifest::Reading) -> FileState {
    let read = reading.documents.read > 0 || !reading.facts.markers.is_empty();
    let lost = reading.documents.unreadable > 0 || reading.facts.markers_lost > 0;
    match (read, lost) {
        (true, _) => FileState::Read,
        (false, true) => FileState::Unreadable,
        (false, false) => FileState::Ignored,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_paths_below_the_working_directory_become_relative() {
        let here = Path::new("/work/repo");
        for (given, expected) in [
            ("/work/repo/config/rbac", "config/rbac"),
            ("/work/repo", "."),
            ("/work/repository/x", "/work/repository/x"),
            ("config", "config"),
            ("../x", "../x"),
            ("-", "-"),
        ] {
            assert_eq!(below(here, given), expected);
        }
    }
}
