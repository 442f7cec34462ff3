//! The change of the user's own role files: printed for `git apply`, made in place, or as patches of a kustomization.

mod files;
mod unread;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use self::files::{Base, Prepared};
use super::{Args, Form, no_calls};
use crate::analysis::Assessment;
use crate::cli::Exit;
use crate::cli::output::Terminal;
use crate::cli::pipeline::{self, Loaded, Request};
use crate::rewrite::keep::{self, Elsewhere, KeptRole, LeftOut};
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
    let elsewhere = Elsewhere::of(&loaded.packages, loaded.usage.as_ref(), &loaded.sources);
    for package in &loaded.packages {
        let of_package: Vec<&Assessment> = all.iter().filter(|a| a.package == package.name).collect();
        let plan = keep::plan(package, &of_package, &elsewhere, &wanted);
        plan.homeless.iter().for_each(|note| terminal.note(note));
        roles.extend(plan.roles);
        left_out.extend(plan.left_out);
    }
    for note in asked.iter().filter(|a| a.minimal.is_some()).flat_map(|assessment| &assessment.notes) {
        terminal.note(note);
    }
    let nothing_judged = roles.is_empty() && left_out.is_empty();
    unread::say(loaded, &asked, nothing_judged, terminal);
    let changed = match args.form {
        Form::Kustomize => as_kustomize(roles, &mut left_out, terminal)?,
        _ => as_files(args, loaded, &roles, &mut left_out, terminal)?,
    };
    say(loaded, &mut left_out, terminal);
    let none_right = changed == 0 && (nothing_judged || !left_out.is_empty());
    Ok(if none_right { Exit::Incomplete } else { incomplete })
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
    let roots = files::roots(&Request::new(&args.paths, &args.input)?.paths)?;
    let (patched, unsafe_roles) = patch::patch(&loaded.sources, roles);
    let mut right = roles.len() - unsafe_roles.len();
    left_out.extend(unsafe_roles);
    let mut files: Vec<(&Source, PathBuf, Patched)> = Vec::new();
    for one in patched {
        let Some(source) = loaded.sources.get(one.source) else { continue };
        match files::on_disk(source, &roots) {
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
        let base = Base::of(&files.iter().map(|(_, path, _)| path.as_path()).collect::<Vec<&Path>>());
        let from_top = base.is_top && !base.is_here;
        let diff = |(source, path, one): &(&Source, PathBuf, Patched)| {
            diff::unified(&base.path(path), &source.text, &one.text, from_top)
        };
        terminal.result(&files.iter().map(diff).collect::<String>())?;
        if !base.is_here && !files.is_empty() {
            let top = if base.is_top { ", the top of the git work tree" } else { "" };
            terminal.note(&format!("the patch is to be applied in {}{top}", base.folder.display()));
        }
    }
    if args.in_place {
        write(&files, terminal)?;
    }
    if files.is_empty() && left_out.is_empty() && right > 0 {
        terminal.note(match roles.iter().all(|kept| kept.unseen.is_empty()) {
            true => "nothing to change: the roles hold no more than is needed",
            false => "nothing to change: what the roles hold is needed, or may be: `rolecall role` says why of each",
        });
    }
    let markers =
        "is generated from +kubebuilder:rbac markers, which would bring back what goes: --as markers writes them";
    for kept in roles.iter().filter(|kept| kept.generated && !kept.is_unchanged()) {
        let place = loaded.sources.locate(kept.role.name.span);
        terminal.note(&format!("{}:{}: {} {markers}", place.path, place.line, kept.role.name.value));
    }
    Ok(right)
}

/// Nothing is changed before all that can fail has been done for every file.
fn write(files: &[(&Source, PathBuf, Patched)], terminal: &Terminal) -> Result<()> {
    let prepared = files.iter().map(|(source, path, one)| Ok((source, Prepared::new(path, &one.text)?)));
    let prepared: Vec<(&&Source, Prepared)> = prepared.collect::<Result<_>>().context("no file is changed")?;
    for (source, file) in prepared {
        file.put()?;
        terminal.note(&format!("changed {}", source.path));
    }
    Ok(())
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
