//! The change of the user's own role files: printed for `git apply`, made in place, or as patches of a kustomization.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::{Args, Form, no_calls};
use crate::analysis::Assessment;
use crate::cli::Exit;
use crate::cli::output::Terminal;
use crate::cli::pipeline::{self, Loaded, Request};
use crate::cli::result_file::write_atomically;
use crate::input;
use crate::rewrite::keep::{self, KeptRole, LeftOut};
use crate::rewrite::patch::{self, Patched};
use crate::rewrite::{diff, kustomize};
use crate::source::Source;

pub(super) fn run(args: &Args, loaded: &Loaded, terminal: &Terminal) -> Result<Exit> {
    let options = pipeline::options(&args.input, &args.role);
    let asked = loaded.assess(&options);
    let incomplete = loaded.completeness(&asked, args.input.strict, terminal);
    let asked: Vec<Assessment> = asked.into_iter().filter(|assessment| !assessment.subject.unbound).collect();
    if !asked.iter().any(|assessment| assessment.minimal.is_some()) {
        match asked.first() {
            Some(assessment) => terminal.error(&no_calls(loaded, assessment)),
            None => bail!("no role of the input is bound: --subject NAMESPACE/NAME must say whose role it is"),
        }
        return Ok(Exit::Incomplete);
    }
    // What others need of the same roles stays.
    let mut all = asked.clone();
    if !options.subjects.is_empty() {
        let of_all = loaded.assess(&crate::analysis::Options { subjects: Vec::new(), ..options });
        let known =
            |other: &Assessment| asked.iter().any(|a| (&a.package, &a.subject) == (&other.package, &other.subject));
        all.extend(of_all.into_iter().filter(|other| !known(other)));
    }
    let wanted = |assessment: &Assessment| asked.iter().any(|one| one.subject.name == assessment.subject.name);
    let (mut roles, mut left_out) = (Vec::new(), Vec::new());
    for package in &loaded.packages {
        let of_package: Vec<&Assessment> = all.iter().filter(|a| a.package == package.name).collect();
        let plan = keep::plan(package, &of_package, &wanted);
        plan.homeless.iter().for_each(|note| terminal.note(note));
        roles.extend(plan.roles);
        left_out.extend(plan.left_out);
    }
    for note in asked.iter().filter(|a| a.minimal.is_some()).flat_map(|assessment| &assessment.notes) {
        terminal.note(note);
    }
    let changed = match args.form {
        Form::Kustomize => as_kustomize(roles, &mut left_out, terminal)?,
        _ => as_files(args, loaded, &roles, &mut left_out, terminal)?,
    };
    say(loaded, &mut left_out, terminal);
    Ok(if changed == 0 && !left_out.is_empty() { Exit::Incomplete } else { incomplete })
}

/// Prints the patches of a kustomization; how many roles they change.
fn as_kustomize(roles: Vec<KeptRole<'_>>, left_out: &mut Vec<LeftOut>, terminal: &Terminal) -> Result<usize> {
    // No object has such a name: OLM makes these out of a ClusterServiceVersion.
    let (olm, roles): (Vec<_>, Vec<_>) = roles.into_iter().partition(|kept| kept.role.name.value.contains('/'));
    let why = "it is made of a ClusterServiceVersion: --patch, or --as csv";
    left_out.extend(olm.iter().map(|kept| LeftOut::of(kept.role, why)));
    terminal.result(&kustomize::render(&roles))?;
    Ok(roles.len())
}

/// Prints or makes the change; how many roles it leaves right, those that need none among them.
fn as_files(
    args: &Args,
    loaded: &Loaded,
    roles: &[KeptRole<'_>],
    left_out: &mut Vec<LeftOut>,
    terminal: &Terminal,
) -> Result<usize> {
    let roots = roots(&Request::new(&args.paths, &args.input)?.paths)?;
    let (patched, unsafe_roles) = patch::patch(&loaded.sources, roles);
    let mut right = roles.len() - unsafe_roles.len();
    left_out.extend(unsafe_roles);
    let mut files: Vec<(&Source, PathBuf, Patched)> = Vec::new();
    for one in patched {
        let Some(source) = loaded.sources.get(one.source) else { continue };
        match on_disk(source, &roots) {
            Ok(path) => files.push((source, path, one)),
            Err(why) => {
                let of_file = |kept: &&KeptRole<'_>| kept.role.span.source == one.source && !kept.is_unchanged();
                let lost = roles.iter().filter(of_file).map(|kept| LeftOut::of(kept.role, why.clone()));
                let before = left_out.len();
                left_out.extend(lost);
                right = right.saturating_sub(left_out.len() - before);
            }
        }
    }
    files.sort_by(|a, b| a.0.path.cmp(&b.0.path));
    if args.patch {
        let diffs = files.iter().map(|(source, _, one)| diff::unified(&source.path, &source.text, &one.text));
        terminal.result(&diffs.collect::<String>())?;
    }
    for (source, path, one) in &files {
        if args.in_place {
            write_atomically(path, &one.text)?;
            terminal.note(&format!("changed {}", source.path));
        }
    }
    if files.is_empty() && left_out.is_empty() {
        terminal.note("nothing to change: the roles hold no more than is needed");
    }
    let markers =
        "is generated from +kubebuilder:rbac markers, which would bring back what goes: --as markers writes them";
    for kept in roles.iter().filter(|kept| kept.generated && !kept.is_unchanged()) {
        let place = loaded.sources.locate(kept.role.name.span);
        terminal.note(&format!("{}:{}: {} {markers}", place.path, place.line, kept.role.name.value));
    }
    Ok(right)
}

/// What the user gave, without links.
fn roots(paths: &[String]) -> Result<Vec<PathBuf>> {
    let mut roots = Vec::new();
    for path in paths {
        roots.extend(input::expand(path)?.iter().filter_map(|path| std::fs::canonicalize(path).ok()));
    }
    Ok(roots)
}

/// The file of a text, without links, if it is one that holds just that text and lies in what the user gave.
#[expect(
    clippy::disallowed_methods,
    reason = "whether the file is still what was read is asked right before it is written"
)]
fn on_disk(source: &Source, roots: &[PathBuf]) -> std::result::Result<PathBuf, String> {
    let path = Path::new(&*source.path);
    if &*source.path == "-" {
        return Err("it was read from standard input".to_owned());
    }
    if !path.is_file() {
        return Err("it is in an archive or was rendered, so no file holds it".to_owned());
    }
    let real = std::fs::canonicalize(path).map_err(|error| error.to_string())?;
    if !roots.iter().any(|root| real.starts_with(root)) {
        return Err("a link leads to it out of the given paths".to_owned());
    }
    match std::fs::read(&real) {
        Ok(bytes) if bytes == source.text.as_bytes() => Ok(real),
        Ok(_) => Err("its file is compressed, no UTF-8, or changed since it was read".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Says which roles stay as they are, those of one reason together.
fn say(loaded: &Loaded, left_out: &mut Vec<LeftOut>, terminal: &Terminal) {
    left_out.sort();
    left_out.dedup();
    let mut by_reason: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for one in left_out.iter() {
        let place = loaded.sources.locate(one.name);
        by_reason.entry(&one.why).or_default().push(format!("{} ({}:{})", one.role, place.path, place.line));
    }
    for (why, roles) in by_reason {
        terminal.note(&format!("left as it is: {}: {why}", roles.join(", ")));
    }
}
