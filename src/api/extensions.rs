//! What well-known extensions serve: two embedded files in one format, read once.
//!
//! A line `[GROUP]`, tab, source opens a group. Each further line is a resource, tab-separated: plural (with
//! subresource where that is served by more than a CRD), kind, singular, scope, what serves it, versions, short names;
//! `-` for empty. What serves it is `crd` with the subresources that the CRD declares (`crd,status,scale`), or, in an
//! aggregated API, the verbs.

use std::sync::OnceLock;

use super::table::{CustomResource, Origin, Served};

/// Written from CRDs in released modules by `tests/suite/extensions.rs`.
pub(super) const GENERATED: &str = include_str!("data/extensions.tsv");

/// Aggregated APIs, and CRDs that no reachable module holds.
pub(super) const BY_HAND: &str = include_str!("data/extensions-by-hand.tsv");

/// All entries of both files.
pub(super) fn all() -> impl Iterator<Item = Served> {
    static ENTRIES: OnceLock<Vec<Served>> = OnceLock::new();
    ENTRIES.get_or_init(|| [GENERATED, BY_HAND].into_iter().flat_map(read).collect()).iter().cloned()
}

/// The entries of one file; a line that is in no group or not of the format gives nothing.
pub(super) fn read(text: &str) -> Vec<Served> {
    let mut api_group = None;
    let mut entries = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some(opened) = group_of(line) {
            api_group = Some(opened);
        } else if let Some(api_group) = api_group {
            entries.extend(entry(api_group, line).into_iter().flatten());
        }
    }
    entries
}

/// The group that a line opens.
pub(super) fn group_of(line: &str) -> Option<&str> {
    Some(line.strip_prefix('[')?.split_once("]\t")?.0)
}

/// A resource of a CRD with its subresources, or one entry of an aggregated API.
fn entry(api_group: &str, line: &str) -> Option<Vec<Served>> {
    let mut fields = line.split('\t').map(|field| if field == "-" { "" } else { field });
    let mut next = || fields.next();
    let (name, kind, singular, scope, by) = (next()?, next()?, next()?, next()?, next()?);
    let words = |field: &str| field.split(',').filter(|word| !word.is_empty()).map(str::to_owned).collect();
    let (versions, short_names): (Vec<String>, Vec<String>) = (words(next()?), words(next()?));
    let by: Vec<String> = words(by);
    let (resource, subresource) = name.split_once('/').unwrap_or((name, ""));
    let has = |word: &str| by.iter().any(|one| one == word);
    if has("crd") {
        let resource = CustomResource {
            api_group: api_group.to_owned(),
            plural: resource.to_owned(),
            singular: singular.to_owned(),
            short_names,
            kind: kind.to_owned(),
            versions,
            namespaced: scope == "namespaced",
            status: has("status"),
            scale: has("scale"),
        };
        return Some(resource.serves(Origin::Extension).collect());
    }
    Some(vec![Served {
        api_group: api_group.to_owned(),
        resource: resource.to_owned(),
        subresource: subresource.to_owned(),
        kind: kind.to_owned(),
        singular: singular.to_owned(),
        verbs: by,
        namespaced: scope == "namespaced",
        by_default: true,
        versions,
        short_names,
        origin: Origin::Extension,
    }])
}
