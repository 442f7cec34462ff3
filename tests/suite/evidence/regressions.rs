//! Permissions that real projects removed as unused and had to give back: at the defaults none of them may be called
//! surely unused or dead, nor be left out of the role, whatever of the others was seen.

use std::fs;

use rolecall::analysis::{Confidence, Grant, Options, Verdict};
use rolecall::api::Table;
use rolecall::rbac::{Authority, Request, ResourceRequest, Rule, Scope};

use super::synthesised::{generated, judged, log, manifests, own, points, tuple};
use crate::common::{PINNED_MINOR, entries, shared};
use crate::judge::narrowing::roles::Side;

#[test]
fn what_had_to_be_given_back_is_never_surely_unused_and_stays_in_the_role() {
    let Some(folder) = shared("cases/regressions") else { return };
    let table = Table::for_minor(PINNED_MINOR).unwrap();
    let temporary = tempfile::tempdir().unwrap();
    let (mut held, mut not_held, mut in_vain, mut harm) = (0, 0, 0, Vec::new());
    for case in entries(&folder).into_iter().filter(|path| path.is_dir()) {
        let name = case.file_name().unwrap().display().to_string();
        let side = |which: &str| Side::read(&case.join(format!("{which}.roles.yaml")));
        let reduced = side("reduced");
        let keep = fs::read_to_string(case.join("must_keep.jsonl")).unwrap();
        let keep: Vec<Rule> = keep.lines().map(|line| tuple(&serde_json::from_str(line).unwrap())).collect();
        for which in ["before", "restored"] {
            let shipped = side(which);
            let own = own(&shipped);
            let log = log(&reduced, &points(&table, &[&reduced, &shipped]), &own);
            let manifests = manifests(&shipped, &own);
            let without = judged(temporary.path(), &own, &manifests, None, Options::default());
            let with = judged(temporary.path(), &own, &manifests, Some(&log), Options::default());
            let (authority, role) = (Authority::new(shipped.rules()), generated(&with));
            for rule in &keep {
                let places = places(&shipped, rule);
                let requests: Vec<Request> = places.iter().map(|place| request(rule, place)).collect();
                let here: Vec<&Request> = requests.iter().filter(|request| authority.allows(request)).collect();
                // R19 is a chart whose role is a ClusterRole or, where namespaces are given, a Role: as the latter it has
                // `list` and `watch` of namespaces in vain. R03 has them on daemonsets/status, which serves neither.
                let verb_in_vain = ["list", "watch"].contains(&&*rule.verbs[0]);
                let r19 = name.starts_with("R19_") && rule.resources == ["namespaces"];
                let r03 = name.starts_with("R03_") && rule.resources == ["daemonsets/status"];
                if verb_in_vain && (r19 || r03) {
                    in_vain += 1;
                    continue;
                }
                if here.is_empty() {
                    not_held += 1;
                    continue;
                }
                held += 1;
                let mut wrong = |what: &str| harm.push(format!("{name} {which}: {what}: {rule:?}"));
                let sure = |grant: &&Grant| {
                    let dead = grant.verdict == Verdict::Dead;
                    let unused = grant.verdict == Verdict::Unused && grant.confidence == Some(Confidence::High);
                    (dead || unused) && here.iter().any(|r| grant.scope.reaches(r.namespace()) && grant.rule.allows(r))
                };
                if let Some(grant) = without.grants.iter().find(sure) {
                    wrong(&format!("without a log {:?} ({})", grant.verdict, grant.reason));
                }
                if let Some(grant) = with.grants.iter().find(sure) {
                    wrong(&format!("{:?} ({})", grant.verdict, grant.reason));
                }
                if here.iter().any(|request| !role.allows(request)) {
                    let lost: Vec<&&Request> = here.iter().filter(|request| !role.allows(request)).collect();
                    let verdicts: Vec<_> = with
                        .grants
                        .iter()
                        .filter(|g| lost.iter().any(|r| g.scope.reaches(r.namespace()) && g.rule.allows(r)))
                        .map(|g| (g.scope.to_string(), g.verdict, g.confidence, &g.reason))
                        .collect();
                    wrong(&format!("left out of the role: {lost:?} {verdicts:?}"));
                }
            }
        }
    }
    println!(
        "{held} permissions held and to be kept, {not_held} not held by what was shipped, {in_vain} held in vain (R03, R19); harm: {}",
        harm.len()
    );
    assert!(harm.is_empty(), "{}", harm.join("\n"));
    assert!(held > 100, "{held}");
}

/// Where the shipped roles hold it.
fn places(shipped: &Side, rule: &Rule) -> Vec<String> {
    let mut places = vec![String::new()];
    places.extend(shipped.held.iter().filter_map(|(_, scope, _)| match scope {
        Scope::Namespace(namespace) => Some(namespace.clone()),
        Scope::Cluster => None,
    }));
    places.sort();
    places.dedup();
    if !rule.non_resource_urls.is_empty() {
        places.truncate(1);
    }
    places
}

fn request(rule: &Rule, namespace: &str) -> Request {
    let first = |list: &[String]| list.first().cloned().unwrap_or_default();
    let resource = first(&rule.resources);
    let (resource, subresource) = resource.split_once('/').unwrap_or((&resource, ""));
    Request::Resource(ResourceRequest {
        api_group: first(&rule.api_groups),
        resource: resource.to_owned(),
        subresource: subresource.to_owned(),
        verb: first(&rule.verbs),
        namespace: namespace.to_owned(),
        name: first(&rule.resource_names),
    })
}
