//! Real changes of roles (`../shared/cases/narrowing`, `regressions`): what the algebra says was lost and won, against
//! what Kubernetes' authorizer allows before and after; and against the literal list that comes with each case.

mod literal;
pub(crate) mod roles;

use std::collections::{BTreeMap, BTreeSet};

use rolecall::analysis::{Excess, difference};
use rolecall::api::Table;
use rolecall::rbac::{Authority, Comparison, NonResourceRequest, Request, ResourceRequest, Rule, Scope};

use self::roles::{Key, Side, pairs};
use super::oracle::Oracle;
use crate::common::PINNED_MINOR;

/// A word that no role names: it stands for all others.
pub(crate) const OTHER: &str = "other-than-all";

/// Every request that the rules can tell apart: the API table and what they name, with one word more in each place that
/// stands for all others.
pub(crate) fn requests(table: &Table, held: &[(&Scope, &Rule)]) -> Vec<Request> {
    let rules: Vec<&Rule> = held.iter().map(|(_, rule)| *rule).collect();
    let mut namespaces = BTreeSet::from([String::new()]);
    for (scope, _) in held {
        if let Scope::Namespace(namespace) = scope {
            namespaces.extend([namespace.clone(), OTHER.to_owned()]);
        }
    }
    let words = |list: fn(&Rule) -> &Vec<String>| {
        rules.iter().flat_map(|rule| list(rule)).cloned().chain([OTHER.to_owned()]).collect::<BTreeSet<String>>()
    };
    let verbs = words(|rule| &rule.verbs);
    let mut resources: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for served in table.iter() {
        let resource = ResourceRequest {
            resource: served.resource.clone(),
            subresource: served.subresource.clone(),
            ..ResourceRequest::default()
        };
        let known = resources.entry((served.api_group.clone(), resource.combined())).or_default();
        known.extend(served.verbs.iter().cloned());
    }
    for group in words(|rule| &rule.api_groups) {
        for resource in words(|rule| &rule.resources) {
            // A resource that one rule names in this group, or anything else there.
            let here = |rule: &&Rule| rule.api_groups.contains(&group) && rule.resources.contains(&resource);
            if resource == OTHER || rules.iter().any(here) {
                resources.entry((group.clone(), resource)).or_default();
            }
        }
        resources.entry((group.clone(), format!("{OTHER}/{OTHER}"))).or_default();
    }
    let mut requests = Vec::new();
    for ((group, resource), served) in resources {
        let (base, subresource) = resource.split_once('/').unwrap_or((&resource, ""));
        let mut names = BTreeSet::from([String::new()]);
        for rule in rules.iter().filter(|rule| !rule.resource_names.is_empty()) {
            let fits = |words: &[String], word: &str| words.iter().any(|own| own == "*" || own == word);
            let any = format!("*/{subresource}");
            if fits(&rule.api_groups, &group) && (fits(&rule.resources, &resource) || rule.resources.contains(&any)) {
                names.extend(rule.resource_names.iter().cloned().chain([OTHER.to_owned()]));
            }
        }
        for verb in served.union(&verbs) {
            for namespace in &namespaces {
                requests.extend(names.iter().map(|name| {
                    Request::Resource(ResourceRequest {
                        api_group: group.clone(),
                        resource: base.to_owned(),
                        subresource: subresource.to_owned(),
                        verb: verb.clone(),
                        namespace: namespace.clone(),
                        name: name.clone(),
                    })
                }));
            }
        }
    }
    for url in words(|rule| &rule.non_resource_urls) {
        for path in [url.trim_end_matches('*').to_owned(), url.replace('*', OTHER), format!("{url}/{OTHER}")] {
            for verb in verbs.iter().filter(|_| path.starts_with('/')) {
                requests.push(Request::NonResource(NonResourceRequest { path: path.clone(), verb: verb.clone() }));
            }
        }
    }
    requests
}

/// What was compared so far.
#[derive(Default)]
struct Tally {
    points: usize,
    lost: usize,
    won: usize,
    listed: usize,
    verdicts: BTreeMap<String, usize>,
}

impl Tally {
    /// Puts both sides to the judge at every point. The verdict of the points is the verdict of the algebra.
    fn compare(&mut self, oracle: &mut Oracle, table: &Table, title: &str, before: &Side, after: &Side) -> Comparison {
        let requests = requests(table, &before.rules().chain(after.rules()).collect::<Vec<_>>());
        let (was, is) = (before.allowed(oracle, &requests), after.allowed(oracle, &requests));
        let (ours_before, ours_after) = (Authority::new(before.rules()), Authority::new(after.rules()));
        let (lost, won) = (ours_before.subtract(&ours_after), ours_after.subtract(&ours_before));
        let (mut any_lost, mut any_won) = (0, 0);
        for ((request, was), is) in requests.iter().zip(was).zip(is) {
            assert_eq!(ours_before.allows(request), was, "{title}: before, {request:?}");
            assert_eq!(ours_after.allows(request), is, "{title}: after, {request:?}");
            assert_eq!(lost.allows(request), was && !is, "{title}: lost, {request:?}");
            assert_eq!(won.allows(request), is && !was, "{title}: won, {request:?}");
            any_lost += usize::from(was && !is);
            any_won += usize::from(is && !was);
        }
        let found = difference(table, before.rules(), after.rules());
        let theirs = match (any_lost > 0, any_won > 0) {
            (false, false) => Comparison::Equal,
            (true, false) => Comparison::Narrower,
            (false, true) => Comparison::Wider,
            (true, true) => Comparison::Incomparable,
        };
        assert_eq!(found.comparison, theirs, "{title}");
        self.points += requests.len();
        self.lost += any_lost;
        self.won += any_won;
        self.listed += check_list(oracle, title, &found.only_before, before, after);
        self.listed += check_list(oracle, title, &found.only_after, after, before);
        *self.verdicts.entry(format!("{theirs:?}")).or_default() += 1;
        theirs
    }
}

/// Whether Kubernetes finds each point that is listed on one side, and not on the other.
fn check_list(oracle: &mut Oracle, title: &str, listed: &Excess, own: &Side, other: &Side) -> usize {
    let word = |word: &str| word.replace('*', OTHER);
    let mut asked = Vec::new();
    for point in &listed.points {
        let (resource, subresource) = point.resource.split_once('/').unwrap_or((&point.resource, ""));
        let namespace = match &point.scope {
            Scope::Cluster => String::new(),
            Scope::Namespace(namespace) => namespace.clone(),
        };
        let request = |namespace: &str, name: &str| {
            Request::Resource(ResourceRequest {
                api_group: point.api_group.clone(),
                resource: word(resource),
                subresource: word(subresource),
                verb: word(&point.verb),
                namespace: namespace.to_owned(),
                name: name.to_owned(),
            })
        };
        let name = point.names.first().map_or("", String::as_str);
        asked.push((request(&namespace, name), true));
        asked.extend(point.except_names.iter().map(|name| (request(&namespace, name), false)));
        if !point.names.is_empty() {
            asked.push((request(&namespace, OTHER), false));
        }
    }
    for point in &listed.paths {
        let request =
            |path: &str| Request::NonResource(NonResourceRequest { path: word(path), verb: word(&point.verb) });
        asked.push((request(&point.path), true));
        asked.extend(point.except.iter().map(|path| (request(path), false)));
    }
    let requests: Vec<Request> = asked.iter().map(|(request, _)| request.clone()).collect();
    let (here, there) = (own.allowed(oracle, &requests), other.allowed(oracle, &requests));
    for (((request, expected), here), there) in asked.iter().zip(here).zip(there) {
        assert_eq!(here && !there, *expected, "{title}: listed, {request:?}");
    }
    asked.len()
}

#[test]
fn what_real_changes_took_and_gave_is_what_kubernetes_finds() {
    let (Some(mut oracle), Some(pairs)) = (Oracle::start(), pairs()) else { return };
    let table = Table::for_minor(PINNED_MINOR).unwrap();
    let (mut whole, mut by_role) = (Tally::default(), Tally::default());
    for pair in &pairs {
        let (title, before, after) = (&pair.title, &pair.before, &pair.after);
        let verdict = whole.compare(&mut oracle, &table, title, before, after);
        println!("{title}: {verdict:?}");
        let keys: BTreeSet<&Key> = before.objects.iter().chain(&after.objects).map(|(key, _)| key).collect();
        for key in keys {
            let (before, after) = (before.only(key), after.only(key));
            if before.held != after.held {
                by_role.compare(&mut oracle, &table, &format!("{title} {key:?}"), &before, &after);
            }
        }
    }
    for (what, tally) in [("pairs", &whole), ("changed roles", &by_role)] {
        println!(
            "{} {what}, {} points before and after: {} lost, {} won, 0 different; {} listed points asked again; {:?}",
            tally.verdicts.values().sum::<usize>(),
            tally.points,
            tally.lost,
            tally.won,
            tally.listed,
            tally.verdicts
        );
    }
    assert_eq!(whole.verdicts.values().sum::<usize>(), 74);
}
