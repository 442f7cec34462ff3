//! `role --in-place` on copies of real manifests, with recorded logs and with logs made of a part of what the roles
//! grant: each role holds exactly what the minimal roles keep of it, and nothing but changed entries was touched.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::cli::rolecall;
use crate::common::{PINNED_MINOR, entries, load, runs, shared, text};
use rolecall::analysis::{Assessment, Basis, Grant, Options, Verdict};
use rolecall::cli::pipeline::Loaded;
use rolecall::manifest::{PolicyRule, Role};
use rolecall::rbac::{PermissionSet, Rule, Scope};
use rolecall::source::{Span, yaml};

/// How many files of the corpus are patched.
const FILES: usize = 20;

#[derive(Debug, Default)]
struct Row {
    name: String,
    files: usize,
    roles: usize,
    removed: usize,
    changed: usize,
    kept: usize,
    added: usize,
    left_out: usize,
    /// The roles as they are now are judged to hold more that goes.
    again: bool,
}

impl Row {
    fn print(&self) {
        let Self { name, files, roles, removed, changed, kept, added, left_out, again } = self;
        let again = if *again { ", second run takes more" } else { "" };
        println!(
            "{name:40} {files:3} files {roles:3} roles | entries: {removed:3} removed {changed:3} changed {kept:3} kept | roles: {added} added to, {left_out} left out{again}"
        );
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for path in entries(from) {
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else if path.is_file() {
            fs::copy(&path, target).unwrap();
        }
    }
}

fn entry_span(grant: &Grant) -> Option<Span> {
    let places = grant.places.as_ref()?;
    places.generated.as_ref().unwrap_or(&places.entry).span
}

fn rules(role: &Role) -> Vec<Rule> {
    role.rules.iter().map(PolicyRule::to_rule).collect()
}

/// What a role is to hold, by the algebra alone, and what may be added; `None` for one that stays as it is.
fn expected(role: &Role, assessments: &[&Assessment]) -> Option<(PermissionSet, PermissionSet)> {
    let own = PermissionSet::from_rules(&rules(role));
    let mut kept = PermissionSet::default();
    let mut held = false;
    let mut additions = Vec::new();
    for assessment in assessments.iter().filter(|assessment| !assessment.subject.unbound) {
        let of_role = |grant: &&Grant| entry_span(grant).is_some_and(|span| role.rules.iter().any(|r| r.span == span));
        let scopes: BTreeSet<&Scope> = assessment.grants.iter().filter(of_role).map(|grant| &grant.scope).collect();
        held |= !scopes.is_empty();
        let minimal = assessment.minimal.as_ref();
        if minimal.is_none() && !scopes.is_empty() {
            return None;
        }
        for (scope, wanted) in minimal.iter().flat_map(|minimal| &minimal.scopes).map(|one| (&one.scope, &one.rules)) {
            let (added, wanted): (Vec<_>, Vec<_>) = wanted.iter().partition(|rule| rule.basis == Basis::Unexplained);
            let mut wanted = PermissionSet::from_rules(wanted.iter().map(|rule| &rule.rule));
            if scopes.contains(scope) {
                additions.extend(added.iter().map(|rule| &rule.rule));
            }
            if !scopes.contains(scope) {
                if *scope == Scope::Cluster || !scopes.contains(&Scope::Cluster) {
                    continue;
                }
                let there = assessment.grants.iter().filter(|grant| grant.scope == *scope).map(|grant| &grant.rule);
                wanted = wanted.subtract(&PermissionSet::from_rules(there));
            }
            kept = kept.union(&own.intersect(&wanted));
        }
    }
    held.then(|| (kept, PermissionSet::from_rules(additions)))
}

/// The lines of an entry with the comments and blank lines around it.
fn around(text: &str, span: Span) -> Range<usize> {
    let start = text[..span.start as usize].rfind('\n').map_or(0, |at| at + 1);
    let end = text[span.end as usize..].find('\n').map_or(text.len(), |at| span.end as usize + at + 1);
    let loose = |line: &str| {
        let line = line.trim();
        line.is_empty() || line.starts_with('#') || line == "]" || line == "-" || line.starts_with("- &")
    };
    let above: usize = text[..start].split_inclusive('\n').rev().take_while(|line| loose(line)).map(str::len).sum();
    let below: usize = text[end..].split_inclusive('\n').take_while(|line| loose(line)).map(str::len).sum();
    start - above..end + below
}

/// Checks one file that was changed against what it was.
fn compare(
    before: (&Loaded, &str),
    after: &str,
    expected: &BTreeMap<Span, Option<(PermissionSet, PermissionSet)>>,
    row: &mut Row,
) {
    let (loaded, path) = before;
    let (id, source) = loaded.sources.iter().find(|(_, source)| *source.path == *path).unwrap();
    let old: Vec<&Role> = loaded.packages.iter().flat_map(|package| &package.facts.roles).collect();
    let mut old: Vec<&Role> = old.into_iter().filter(|role| role.span.source == id).collect();
    old.sort_by_key(|role| role.span.start);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(Path::new(path).file_name().unwrap());
    fs::write(&file, after).unwrap();
    let again = load(&[text(&file)], &[]);
    let mut new: Vec<&Role> = again.packages.iter().flat_map(|package| &package.facts.roles).collect();
    new.sort_by_key(|role| role.span.start);
    assert_eq!(old.len(), new.len(), "{path}");
    let mut changed: Vec<Range<usize>> = Vec::new();
    let mut removed: Vec<Range<usize>> = Vec::new();
    for (old, new) in old.iter().zip(&new) {
        assert_eq!(old.name.value, new.name.value, "{path}");
        let (was, got) = (PermissionSet::from_rules(&rules(old)), PermissionSet::from_rules(&rules(new)));
        let wanted = expected.get(&old.name.span).and_then(Option::as_ref);
        let Some((wanted, additions)) = wanted.filter(|_| was != got) else {
            assert!(was == got, "{path}: {} is nobody's to change", old.name.value);
            continue;
        };
        let (more, less) = (got.subtract(wanted).subtract(additions), wanted.subtract(&got));
        let role = &old.name.value;
        assert!(more.is_empty(), "{path}: {role} holds too much {:#?}", more.parts());
        assert!(less.is_empty(), "{path}: {role} holds too little {:#?}", less.parts());
        row.added += usize::from(!got.subtract(wanted).is_empty());
        row.roles += 1;
        if let Some(last) = old.rules.last().filter(|_| !got.subtract(wanted).is_empty()) {
            let end = last.span.end as usize;
            let end = source.text[end..].find('\n').map_or(source.text.len(), |newline| end + newline + 1);
            changed.push(end..end);
        }
        let none_left = new.rules.is_empty();
        for (index, entry) in old.rules.iter().enumerate() {
            let own = PermissionSet::from_rules([&entry.to_rule()]);
            if wanted.covers(&own) {
                row.kept += 1;
                continue;
            }
            let mut lines = around(&source.text, entry.span);
            if none_left && index == 0 {
                lines.start = source.text[..lines.start].rfind("rules:").unwrap();
            }
            changed.push(lines);
            // What is left of a wildcard may stand in an entry that stays whole.
            let whole = old.rules.iter().map(PolicyRule::to_rule);
            let whole: Vec<Rule> = whole.filter(|rule| wanted.covers(&PermissionSet::from_rules([rule]))).collect();
            if !PermissionSet::from_rules(&whole).covers(&own.intersect(wanted)) {
                row.changed += 1;
            } else {
                row.removed += 1;
                removed.push(around(&source.text, entry.span));
            }
        }
    }
    // All lines outside of changed entries are there, in order.
    changed.sort_by_key(|range| range.start);
    let (mut at, mut rest) = (0, after);
    for range in &changed {
        let stays = &source.text[at.min(range.start)..range.start];
        let found = rest.find(stays).unwrap_or_else(|| panic!("{path}: lost\n{stays}"));
        assert!(at > 0 || found == 0, "{path}: something was put before the first change");
        rest = &rest[found + stays.len()..];
        at = at.max(range.end);
    }
    assert!(rest.ends_with(&source.text[at..]), "{path}: the end has changed");
    // Comments of removed entries may go, and those in the line of a removed token.
    for document in yaml::parse(id, &source.text) {
        for comment in document.comments {
            let start = comment.span.start as usize;
            let own_line = source.text[..start].rsplit('\n').next().unwrap().trim().is_empty();
            let outside = !removed.iter().any(|range| range.contains(&start));
            assert!(!(own_line && outside) || after.contains(&comment.value), "{path}: {comment:?} is lost");
        }
    }
}

/// Patches a copy of the manifests in place, and compares.
fn patch(name: &str, manifests: &Path, log: &Path) -> Option<Row> {
    let before = load(&[text(manifests)], &[text(log)]);
    let assessments = before.assess(&Options::default());
    let mut wanted = BTreeMap::new();
    for package in &before.packages {
        let of_package: Vec<&Assessment> = assessments.iter().filter(|a| a.package == package.name).collect();
        for role in &package.facts.roles {
            wanted.insert(role.name.span, expected(role, &of_package));
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let manifests_copy = folder.path().join("manifests");
    copy(manifests, &manifests_copy);
    let args = ["--audit", log.to_str().unwrap(), "--no-progress", "--kube-version", PINNED_MINOR];
    let run = |flag: &str| rolecall(&[&["role", manifests_copy.to_str().unwrap(), flag], args.as_slice()].concat());
    let first = run("--in-place");
    if first.code != 0 {
        println!("{name}: {}", first.stderr.lines().last().unwrap_or_default());
        return None;
    }
    let mut row = Row { name: name.to_owned(), ..Row::default() };
    row.left_out = first.stderr.lines().filter(|line| line.contains("left as it is")).count();
    for (_, source) in before.sources.iter() {
        let below = Path::new(&*source.path).strip_prefix(manifests).unwrap();
        let Ok(after) = fs::read_to_string(manifests_copy.join(below)) else { continue };
        // Texts without facts are not kept.
        if source.text.is_empty() || after == source.text {
            continue;
        }
        row.files += 1;
        compare((&before, &source.path), &after, &wanted, &mut row);
    }
    let second = run("--patch");
    row.again = !second.stdout.is_empty();
    if row.again {
        assert!(row.added > 0 || only_dead_goes(&manifests_copy, log), "{name}: {}", second.stdout);
        assert_eq!(run("--in-place").code, 0, "{name}");
        let third = run("--patch");
        assert_eq!((third.code, third.stdout.as_str()), (0, ""), "{name}: {}", third.stderr);
    }
    Some(row)
}

/// Whether what still goes was held for part of a larger entry, and is dead by itself.
fn only_dead_goes(manifests: &Path, log: &Path) -> bool {
    let loaded = load(&[text(manifests)], &[text(log)]);
    let assessments = loaded.assess(&Options::default());
    let all: Vec<&Assessment> = assessments.iter().collect();
    let dead = all.iter().flat_map(|assessment| &assessment.grants).filter(|grant| grant.verdict == Verdict::Dead);
    let dead = PermissionSet::from_rules(dead.map(|grant| &grant.rule));
    loaded.packages.iter().flat_map(|package| &package.facts.roles).all(|role| {
        expected(role, &all)
            .is_none_or(|(kept, _)| dead.covers(&PermissionSet::from_rules(&rules(role)).subtract(&kept)))
    })
}

#[test]
fn recorded_operators_keep_what_they_need() {
    let Some(recorded) = shared("cases/recorded") else { return };
    let mut files = 0;
    for run in runs(&recorded).into_iter().filter(|run| run.name == "default") {
        let row = patch(&run.operator, &run.manifests, &run.log).unwrap();
        row.print();
        files += row.files;
    }
    assert!(files >= 6, "{files}");
}

/// Calls that use every third grant, as a log.
fn made_log(loaded: &Loaded) -> String {
    let mut log = String::new();
    let assessments = loaded.assess(&Options::default());
    for assessment in assessments.iter().filter(|a| a.subject.user.starts_with("system:serviceaccount:")) {
        let grants = assessment.grants.iter().filter(|grant| grant.places.is_some() && grant.index % 3 != 1);
        for grant in grants.filter(|grant| grant.index % 7 != 0) {
            log += &call(&assessment.subject.user, grant).unwrap_or_default();
        }
    }
    log
}

fn call(user: &str, grant: &Grant) -> Option<String> {
    let plain = |word: &String, instead: &str| if word == "*" { instead.to_owned() } else { word.clone() };
    let verb = plain(grant.rule.verbs.first()?, "get");
    let group = plain(grant.rule.api_groups.first()?, "apps");
    let resource = plain(grant.rule.resources.first()?, "deployments");
    let (resource, subresource) = resource.split_once('/').unwrap_or((&resource, ""));
    let name = grant.rule.resource_names.first().cloned().unwrap_or_else(|| "one".to_owned());
    let namespace = match &grant.scope {
        Scope::Cluster => "",
        Scope::Namespace(namespace) => namespace,
    };
    if resource == "*" || !["get", "list", "watch", "create", "update", "patch", "delete"].contains(&verb.as_str()) {
        return None;
    }
    let on_list = matches!(verb.as_str(), "list" | "watch" | "create");
    let base = if group.is_empty() { "/api/v1".to_owned() } else { format!("/apis/{group}/v1") };
    let within = if namespace.is_empty() { String::new() } else { format!("/namespaces/{namespace}") };
    let below = if subresource.is_empty() { String::new() } else { format!("/{subresource}") };
    let object = if on_list && subresource.is_empty() { String::new() } else { format!("/{name}{below}") };
    let named = !grant.rule.resource_names.is_empty() && object.is_empty();
    // Kubernetes takes the name of a list out of its selector.
    let query = match (verb.as_str(), named) {
        ("watch", true) => format!("?fieldSelector=metadata.name%3D{name}&watch=true"),
        ("list", true) => format!("?fieldSelector=metadata.name%3D{name}"),
        ("watch", false) => "?watch=true".to_owned(),
        _ => String::new(),
    };
    let event = json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "stage": "ResponseComplete",
        "auditID": format!("{user}-{}", grant.index), "verb": verb, "user": {"username": user},
        "requestURI": format!("{base}{within}/{resource}{object}{query}"),
        "objectRef": {
            "resource": resource, "subresource": subresource, "apiGroup": group, "apiVersion": "v1",
            "namespace": namespace, "name": if object.is_empty() && !(named && on_list && verb != "create") { "" } else { &name },
        },
        "responseStatus": {"code": 200}, "requestReceivedTimestamp": "2026-12-01T00:00:00.000000Z",
        "annotations": {"authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": ""},
    });
    Some(format!("{event}\n"))
}

#[test]
fn files_of_the_corpus_keep_their_form() {
    let Some(corpus) = shared("corpus") else { return };
    let folder = tempfile::tempdir().unwrap();
    let log: PathBuf = folder.path().join("audit.log");
    let all: Vec<PathBuf> = entries(&corpus).into_iter().filter(|path| path.is_dir()).collect();
    // Neighbours are often alike.
    let step = std::env::var("ROLECALL_STEP").map_or(7, |step| step.parse().unwrap());
    let (mut files, mut operators) = (0, 0);
    for start in 0..step {
        for operator in all.iter().skip(start).step_by(step) {
            if files >= FILES && step != 1 {
                break;
            }
            let calls = made_log(&load(&[text(operator)], &[]));
            if calls.is_empty() {
                continue;
            }
            fs::write(&log, calls).unwrap();
            let name = operator.file_name().unwrap().to_str().unwrap();
            let Some(row) = patch(name, operator, &log) else { continue };
            row.print();
            files += row.files;
            operators += 1;
        }
    }
    println!("{files} files of {operators} operators");
    assert!(files >= FILES, "{files}");
}
