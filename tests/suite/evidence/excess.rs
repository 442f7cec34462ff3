//! Real fixes that took permissions away: of an operator that does what the fixed role allows, the excess that is found
//! in the role before must be what the fix took away, point by point.

use std::collections::BTreeSet;
use std::fs;

use rolecall::analysis::{Confidence, Grant, Options, Verdict};
use rolecall::api::Table;
use rolecall::rbac::{Authority, Request, Rule};

use super::synthesised::{generated, judged, log, manifests, own, points, tuple};
use crate::common::{PINNED_MINOR, entries, shared};
use crate::judge::narrowing::roles::Side;

/// A request without the object's name.
type Point = Request;

fn point(request: &Request) -> Point {
    let mut point = request.clone();
    if let Request::Resource(request) = &mut point {
        request.name = String::new();
    }
    point
}

fn allowed(authority: &Authority, requests: &[Request]) -> BTreeSet<Point> {
    requests.iter().filter(|request| authority.allows(request)).map(point).collect()
}

#[test]
fn the_excess_found_is_what_real_fixes_took_away() {
    let Some(folder) = shared("cases/narrowing") else { return };
    let kept = given_back();
    let table = Table::for_minor(PINNED_MINOR).unwrap();
    let temporary = tempfile::tempdir().unwrap();
    let (mut all_exact, mut all_found, mut all_both) = (0, 0, 0);
    let (mut reported, mut sure) = (0, 0);
    let mut below = Vec::new();
    println!("{:34} {:>7} {:>7} {:>7} {:>7}", "pair", "exact", "found", "recall", "precision");
    for case in entries(&folder).into_iter().filter(|path| path.join("after.roles.yaml").exists()) {
        let name = case.file_name().unwrap().display().to_string();
        let side = |which: &str| Side::read(&case.join(format!("{which}.roles.yaml")));
        let (before, after) = (side("before"), side("after"));
        let points = points(&table, &[&before, &after]);
        let own = own(&after);
        let log = log(&after, &points, &own);
        if log.is_empty() {
            println!("{name:34} nothing is left that could be called");
            continue;
        }
        let was = allowed(&Authority::new(before.rules()), &points);
        let is = allowed(&Authority::new(after.rules()), &points);
        let counts = |point: &&Point| !kept.iter().any(|rule| rule.allows(point));
        let exact: BTreeSet<&Point> = was.difference(&is).filter(counts).collect();
        let manifests = manifests(&before, &own);
        let options = Options { drop_unexercised: true, ..Options::default() };
        let assessment = judged(temporary.path(), &own, &manifests, Some(&log), options);
        let role = allowed(&generated(&assessment), &points);
        let found: BTreeSet<&Point> = was.difference(&role).filter(counts).collect();
        let both = exact.intersection(&found).count();
        let share = |of: usize| if of == 0 { 1.0 } else { both as f64 / of as f64 };
        let (recall, precision) = (share(exact.len()), share(found.len()));
        println!("{name:34} {:>7} {:>7} {recall:>7.3} {precision:>7.3}", exact.len(), found.len());
        if recall < 0.95 || precision < 0.98 {
            let why = |point: &Point| {
                let holds = |grant: &&Grant| grant.scope.reaches(point.namespace()) && grant.rule.allows(point);
                let grants = assessment.grants.iter().filter(holds);
                let verdicts: Vec<_> = grants.map(|grant| format!("{:?} {}", grant.verdict, grant.reason)).collect();
                format!("{}: {}", shown(point), verdicts.join("; "))
            };
            let missed: Vec<String> = exact.difference(&found).take(4).map(|point| why(point)).collect();
            let wrong: Vec<String> = found.difference(&exact).take(4).map(|point| shown(point)).collect();
            below.push(format!(
                "{name}: recall {recall:.3}, missed {missed:?}; precision {precision:.3}, wrong {wrong:?}"
            ));
        }
        (all_exact, all_found, all_both) = (all_exact + exact.len(), all_found + found.len(), all_both + both);
        // At the defaults: what of it is told, and how surely.
        for point in exact {
            let covering = || {
                let holds = |grant: &&Grant| grant.scope.reaches(point.namespace()) && grant.rule.allows(point);
                assessment.grants.iter().filter(holds)
            };
            let told = covering()
                .all(|grant| matches!(grant.verdict, Verdict::Unused | Verdict::Dead) || !grant.used_as.is_empty());
            reported += usize::from(told);
            sure += usize::from(
                told && covering().count() > 0 && covering().all(|grant| grant.confidence == Some(Confidence::High)),
            );
        }
    }
    let (recall, precision) = (all_both as f64 / all_exact as f64, all_both as f64 / all_found as f64);
    println!("all: {all_exact} points of excess, {all_found} found: recall {recall:.4}, precision {precision:.4}");
    println!("at the defaults: {reported} reported, {sure} of them with high confidence");
    println!("below the aim:\n{}", below.join("\n"));
    assert!(recall >= 0.95 && precision >= 0.98, "recall {recall}, precision {precision}");
    assert_eq!(sure, 0, "one short log is never sure");
}

fn shown(point: &Point) -> String {
    match point {
        Request::Resource(r) => format!("{} {}.{} in {:?}", r.verb, r.combined(), r.api_group, r.namespace),
        Request::NonResource(r) => format!("{} {}", r.verb, r.path),
    }
}

/// What projects had to give back does not count as excess.
fn given_back() -> Vec<Rule> {
    let cases = shared("cases/regressions").map(|folder| entries(&folder)).unwrap_or_default();
    let lists = cases.iter().filter_map(|case| fs::read_to_string(case.join("must_keep.jsonl")).ok());
    // Whatever the object's name.
    let rule = |line: &str| Rule { resource_names: Vec::new(), ..tuple(&serde_json::from_str(line).unwrap()) };
    lists.flat_map(|list| list.lines().map(rule).collect::<Vec<_>>()).collect()
}
