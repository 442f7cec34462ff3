//! What a dead (group, resource, verb) was probably meant to be, as permissions: so that it can be asked whether they
//! are held. `dead` puts the same guesses into words.

use super::dead;
use super::meant::{self, Reach};
use super::table::{Group, Table};

/// An API group, a resource with or without subresource, a verb.
pub type Triple = (String, String, String);

impl Table {
    /// What may have been meant by a (group, resource, verb) of a rule that matches nothing: each guess is served or
    /// checked, or has the wildcards of what was written, and may be several permissions together.
    pub fn meant(&self, api_group: &str, resource: &str, verb: &str) -> Vec<Vec<Triple>> {
        let verb = meant::verb(verb).unwrap_or_else(|| verb.to_owned());
        let (owner, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        let triple = |group: &str, resource: &str| (group.to_owned(), resource.to_owned(), verb.clone());
        if subresource == "*" {
            return self.all_subresources(api_group, owner, &verb).into_iter().collect();
        }
        if api_group == "*" {
            return vec![vec![triple(api_group, resource)]];
        }
        if let Some((group, _)) = api_group.split_once('/').filter(|(group, _)| group.contains('.')) {
            return vec![vec![triple(group, resource)]];
        }
        let exact = |group: &Group| group.any(resource, |_| true).then(|| resource.to_owned());
        let other_word = |group: &Group| meant::resource(group, owner, subresource).or_else(|| close(group, resource));
        let slip = |group: &Group| meant::slip(group, owner).filter(|_| subresource.is_empty());
        let own = self.groups().get_key_value(api_group);
        let here = |find: &dyn Fn(&Group) -> Option<String>| {
            own.into_iter().filter_map(|(name, group)| Some(triple(name, &find(group)?))).collect::<Vec<_>>()
        };
        let anywhere = |reach: Reach, find: &dyn Fn(&Group) -> Option<String>| {
            let groups = self.groups().iter().filter(|(_, group)| reach.has(group));
            groups.filter_map(|(name, group)| Some(triple(name, &find(group)?))).collect::<Vec<_>>()
        };
        let elsewhere = dead::checked_elsewhere(resource, &verb).iter().map(|other| triple(api_group, other)).collect();
        let guesses = [
            elsewhere,
            here(&exact),
            anywhere(Reach::Given, &exact),
            here(&other_word),
            anywhere(Reach::Given, &other_word),
            anywhere(Reach::Extensions, &exact),
            anywhere(Reach::Given, &slip),
            anywhere(Reach::Extensions, &other_word),
        ];
        let takes = |(group, resource, verb): &Triple| !self.liveness(group, resource, verb).is_dead();
        let mut served = guesses.into_iter().map(|guess| guess.into_iter().filter(takes).collect::<Vec<_>>());
        let first = served.find(|guess| !guess.is_empty()).unwrap_or_default();
        first.into_iter().map(|triple| vec![triple]).collect()
    }

    /// What `pods/*` was meant to be: all subresources that take the verb; of `*/*`, everything.
    fn all_subresources(&self, api_group: &str, owner: &str, verb: &str) -> Option<Vec<Triple>> {
        let triple = |resource: String| (api_group.to_owned(), resource, verb.to_owned());
        if owner == "*" {
            return Some(vec![triple("*".to_owned())]);
        }
        let subresources = self.groups().get(api_group)?.resources.get(owner)?;
        let takes = subresources.values().filter(|served| {
            !served.subresource.is_empty() && (verb == "*" || served.verbs.iter().any(|known| known == verb))
        });
        let all: Vec<Triple> = takes.map(|served| triple(format!("{owner}/{}", served.subresource))).collect();
        (!all.is_empty()).then_some(all)
    }
}

/// The subresource of this resource that differs at most in its plural ending.
fn close(group: &Group, resource: &str) -> Option<String> {
    let (owner, subresource) = resource.split_once('/')?;
    let known =
        group.resources.get(owner)?.keys().find(|known| !known.is_empty() && meant::same_word(known, subresource));
    known.map(|known| format!("{owner}/{known}"))
}
