//! Real operators, recorded on a real API server: what was used, what was not, and whether the generated role
//! suffices. The recordings lie outside the repository.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::common::{PINNED_MINOR, Run, assess, load, runs, shared, text};
use rolecall::analysis::{
    Assessment, Basis, CallVerdict, Known, MinimalRole, MinimalRule, Names, Options, Platform, rules_for, verify,
};
use rolecall::audit::Usage;
use rolecall::graph::SubjectKey;
use rolecall::rbac::{PermissionSet, Rule, Scope};
use rolecall::rewrite::role_yaml;

/// (apiGroup/resource/verb) of grants that no authorized call of the run matched.
fn unused_triples(assessment: &Assessment) -> BTreeMap<String, bool> {
    let mut triples: BTreeMap<String, bool> = BTreeMap::new();
    for grant in
        assessment.grants.iter().filter(|grant| grant.places.is_some() && grant.rule.non_resource_urls.is_empty())
    {
        let triple = format!("{}/{}/{}", grant.rule.api_groups[0], grant.rule.resources[0], grant.rule.verbs[0]);
        *triples.entry(triple).or_insert(true) &= grant.calls == 0;
    }
    triples
}

/// Why our unused triples may differ from those counted by the simple program of the recordings, which ignores
/// scope and names, takes wildcards literally and counts denied calls as calls.
fn explain(triple: &str, assessments: &[Assessment]) -> Option<&'static str> {
    if triple.contains('*') {
        return Some("a wildcard: it counts wildcards as unused unless literally called");
    }
    let calls = assessments.iter().flat_map(|assessment| &assessment.calls);
    let same = calls.filter(|call| match &call.observed.request {
        rolecall::rbac::Request::Resource(request) => {
            triple == format!("{}/{}/{}", request.api_group, request.combined(), request.verb)
        }
        rolecall::rbac::Request::NonResource(_) => false,
    });
    let verdicts: BTreeSet<CallVerdict> = same.map(|call| call.verdict).collect();
    match verdicts.iter().next() {
        Some(_) if verdicts.contains(&CallVerdict::Covered) => {
            Some("covered by a wildcard or by another role, this one is narrower by scope or name")
        }
        Some(CallVerdict::Denied) => Some("only denied calls: it counts them as calls"),
        Some(CallVerdict::Default) => Some("every authenticated user may do it"),
        Some(CallVerdict::Unexplained) => {
            Some("called where this grant does not hold (scope, name or another subject's role)")
        }
        Some(CallVerdict::Undecided) => Some("only undecided calls"),
        _ => None,
    }
}

#[test]
fn unused_triples_equal_those_of_the_recordings() {
    let Some(recorded) = shared("cases/recorded") else { return };
    let (mut compared, mut equal, mut explained, mut strange) = (0, 0, BTreeMap::<&str, u64>::new(), Vec::new());
    for run in runs(&recorded) {
        let loaded = load(&[text(&run.manifests)], &[text(&run.log)]);
        let assessments: Vec<Assessment> =
            run.subjects().iter().map(|subject| assess(&loaded, subject, Options::default())).collect();
        let mut ours: BTreeMap<String, bool> = BTreeMap::new();
        for assessment in &assessments {
            for (triple, unused) in unused_triples(assessment) {
                *ours.entry(triple).or_insert(true) &= unused;
            }
        }
        let theirs: BTreeSet<String> =
            run.facts["unused_triples"].as_array().unwrap().iter().map(|t| t.as_str().unwrap().to_owned()).collect();
        let unused: BTreeSet<String> =
            ours.iter().filter(|(_, unused)| **unused).map(|(triple, _)| triple.clone()).collect();
        compared += 1;
        if ours.is_empty() {
            *explained.entry("no role in the manifests that this version reads (an OLM bundle)").or_default() += 1;
            println!("{}/{}: no shipped role read; theirs has {} unused", run.operator, run.name, theirs.len());
            continue;
        }
        if theirs == unused {
            equal += 1;
        }
        let granted_in_run = run.facts["granted_triples"].as_u64().unwrap();
        let other_role = (granted_in_run != ours.len() as u64)
            .then_some("the run was made with another role than the shipped one (a permission taken away or added)");
        for triple in theirs.symmetric_difference(&unused) {
            match explain(triple, &assessments).or(other_role) {
                Some(why) => *explained.entry(why).or_default() += 1,
                None => strange.push(format!(
                    "{}/{}: {triple} ({})",
                    run.operator,
                    run.name,
                    if unused.contains(triple) { "unused here only" } else { "unused there only" }
                )),
            }
        }
        if run.operator == "external-snapshotter" && run.name == "default" {
            assert_eq!(theirs, unused, "the run that must be equal");
        }
    }
    println!("{compared} runs, {equal} equal; differences: {explained:#?}");
    assert!(strange.is_empty(), "unexplained:\n{}", strange.join("\n"));
}

/// The rules of a written role, read back from its YAML as `verify --role` does.
fn read_back(yaml: &str, subject: &str) -> Vec<(Scope, Rule)> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("role.yaml");
    fs::write(&file, yaml).unwrap();
    let loaded = load(&[text(&file)], &[]);
    assert!(loaded.inputs.diagnostics.is_empty(), "{:?}\n{yaml}", loaded.inputs.diagnostics);
    let given = rules_for(&loaded.packages, PINNED_MINOR, &SubjectKey::parse(subject));
    assert!(given.notes.is_empty(), "{:?}\n{yaml}", given.notes);
    given.rules
}

/// The role without each entry (verb × resource × group, list and watch as one) that is there for a use, and that entry.
pub(crate) fn without_each_entry(minimal: &MinimalRole) -> impl Iterator<Item = (String, Vec<(Scope, Rule)>)> {
    let rules = || minimal.scopes.iter().flat_map(|scoped| scoped.rules.iter().map(|rule| (&scoped.scope, rule)));
    let entries = |keep: &dyn Fn(&MinimalRule, &Rule) -> bool| -> Vec<(Scope, Rule)> {
        let entries =
            rules().flat_map(|(scope, rule)| rule.rule.singles().into_iter().map(move |one| (scope, rule, one)));
        entries.filter(|(_, rule, one)| keep(rule, one)).map(|(scope, _, one)| (scope.clone(), one)).collect()
    };
    let used = entries(&|rule, one| !rule.unseen.contains(one));
    let all = entries(&|_, _| true);
    used.into_iter().map(move |(scope, entry)| {
        let list_or_watch = |verb: &str| verb == "list" || verb == "watch";
        let pair = list_or_watch(&entry.verbs[0]);
        let is_rest = |(other_scope, other): &&(Scope, Rule)| {
            let same = other.api_groups == entry.api_groups
                && other.resources == entry.resources
                && other.non_resource_urls == entry.non_resource_urls
                && (other.verbs == entry.verbs || (pair && list_or_watch(&other.verbs[0])));
            !(same && (*other_scope == scope) && (pair || other.resource_names == entry.resource_names))
        };
        (format!("{entry:?} in {scope}"), all.iter().filter(is_rest).cloned().collect())
    })
}

/// What is known beside the log.
pub(crate) fn known(loaded: &rolecall::cli::pipeline::Loaded) -> Known<'_> {
    let (platform, package) = (Platform::Auto, loaded.packages.first());
    Known { minor: PINNED_MINOR, platform, table: &loaded.table, package }
}

/// Without any one entry `verify` must name a call. Returns how many entries were tried.
fn every_entry_is_needed(minimal: &MinimalRole, subject: &str, usage: &Usage, known: &Known<'_>, what: &str) -> u64 {
    let key = SubjectKey::parse(subject);
    let mut tried = 0;
    for (entry, rest) in without_each_entry(minimal) {
        let answer = verify(&rest, None, &key, usage, known);
        assert!(!answer.missing.is_empty(), "{what}: without {entry} nothing is missing");
        tried += 1;
    }
    tried
}

/// The role never grants more than the shipped ones do, additions left out.
fn no_wider_than_shipped(minimal: &MinimalRole, assessment: &Assessment, what: &str) {
    for scoped in &minimal.scopes {
        let granted: Vec<&Rule> = assessment
            .grants
            .iter()
            .filter(|grant| grant.scope == Scope::Cluster || grant.scope == scoped.scope)
            .map(|grant| &grant.rule)
            .collect();
        let granted = PermissionSet::from_rules(granted);
        let ours = scoped.rules.iter().filter(|rule| rule.basis != Basis::Unexplained).map(|rule| &rule.rule);
        let wider = PermissionSet::from_rules(ours).subtract(&granted);
        assert!(wider.is_empty(), "{what}: {} is wider than shipped by {wider:?}", scoped.scope);
    }
}

#[test]
fn the_generated_role_allows_every_authorised_call_and_not_more_than_needed() {
    let Some(recorded) = shared("cases/recorded") else { return };
    let (mut roles, mut entries) = (0, 0);
    for run in runs(&recorded) {
        let Run { operator, name, .. } = &run;
        for manifests in [vec![text(&run.manifests)], vec![]] {
            let loaded = load(&manifests, &[text(&run.log)]);
            let usage = loaded.usage.as_ref().unwrap();
            let known = known(&loaded);
            for subject in run.subjects() {
                for names in [Names::Shipped, Names::All] {
                    let what = format!("{operator}/{name} {subject} manifests={} {names:?}", !manifests.is_empty());
                    let assessment =
                        assess(&loaded, &subject, Options { names, drop_unexercised: true, ..Options::default() });
                    let Some(minimal) = &assessment.minimal else { panic!("{what}: no role") };
                    let yaml = role_yaml::render(&assessment, minimal);
                    let rules = read_back(&yaml, &subject);
                    let key = SubjectKey::parse(&subject);
                    let answer = verify(&rules, None, &key, usage, &known);
                    assert!(answer.checked > 0, "{what}: nothing checked");
                    assert!(answer.missing.is_empty(), "{what}: {:#?}\n{yaml}", answer.missing);
                    if !assessment.grants.is_empty() {
                        no_wider_than_shipped(minimal, &assessment, &what);
                    }
                    roles += 1;
                    entries += every_entry_is_needed(minimal, &subject, usage, &known, &what);
                }
            }
        }
    }
    println!("{roles} roles verified, {entries} entries removed one at a time");
}
