//! Changes one rule entry to what is kept of it, token by token.

use super::edit::Edit;
use super::list::{self, Change, Comments};
use super::style::{Style, values};
use super::written::{Entry, FIELDS, List, Refusal, Token, Written};
use crate::rbac::Rule;

/// The edits that make the entry grant exactly what the rule does, which is inside what it grants.
pub(super) fn edits(written: &Written<'_>, entry: &Entry, style: &Style, rule: &Rule) -> Result<Vec<Edit>, Refusal> {
    let mut edits = Vec::new();
    for field in FIELDS {
        let wanted = values(rule, field);
        match entry.list(field) {
            Some(list) if list.items.is_empty() && !wanted.is_empty() => {
                let items: Vec<String> = wanted.iter().map(|value| style.value(value)).collect();
                edits.push(Edit::replace(list.range.clone(), format!("[{}]", items.join(", "))));
            }
            Some(list) if !list.items.is_empty() && wanted.is_empty() => {
                return Err("an entry names resources and URLs together".to_owned());
            }
            Some(list) => edits.extend(list::edits(written, list, changes(list, style, wanted), Comments::Stay)?),
            None if wanted.is_empty() => {}
            None => edits.push(added(entry, style, field, wanted)?),
        }
    }
    Ok(edits)
}

/// Which items stay, and which give way: a wildcard to what is left of it.
fn changes(list: &List<Token>, style: &Style, wanted: &[String]) -> Vec<Change> {
    let listed = |value: &&String| list.items.iter().any(|item| item.value == **value);
    let new: Vec<&String> = wanted.iter().filter(|value| !listed(value)).collect();
    let gone = |item: &Token| !wanted.contains(&item.value);
    let stands_for = |item: &Token, value: &str| {
        let within = item.value.strip_prefix('*').is_some_and(|rest| value.ends_with(rest));
        let below = item.value.ends_with('*') && value.starts_with(item.value.trim_end_matches('*'));
        gone(item) && (within || below)
    };
    let home = |value: &str| {
        let found = list.items.iter().position(|item| stands_for(item, value));
        found.or_else(|| list.items.iter().position(gone)).unwrap_or(list.items.len().saturating_sub(1))
    };
    let mut coming: Vec<Vec<String>> = vec![Vec::new(); list.items.len()];
    for value in new {
        if let Some(texts) = coming.get_mut(home(value)) {
            texts.push(style.value(value));
        }
    }
    let change = |(item, texts)| if gone(item) { Change::Replace(texts) } else { Change::Keep(Vec::new(), texts) };
    list.items.iter().zip(coming).map(change).collect()
}

/// Names where the entry had none.
fn added(entry: &Entry, style: &Style, field: &str, wanted: &[String]) -> Result<Edit, Refusal> {
    if field != "resourceNames" || entry.keys.iter().any(|key| key.value == field) {
        return Err(format!("`{field}` of an entry is not written as a list"));
    }
    let resources = entry.keys.iter().position(|key| key.value == "resources");
    let resources = resources.ok_or("an entry without resources")?;
    let before = entry.keys.get(resources + 1).or(entry.keys.get(resources)).ok_or("an entry without keys")?;
    Ok(Edit::insert(before.range.start, style.pair_before(field, wanted)))
}
