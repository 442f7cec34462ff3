//! The user's own role files, changed to what each role keeps: only tokens and lines of what goes are touched. What is
//! written is read back first; a role that would not read as meant stays as it is, with the reason.

mod edit;
mod entry;
mod list;
mod style;
mod written;

use std::collections::BTreeMap;

use super::keep::{Kept, KeptRole, LeftOut};
use super::yaml_text::comment;
use crate::manifest::{self, PolicyRule, Reading, Role};
use crate::rbac::PermissionSet;
use crate::source::yaml::{self, Content, Document};
use crate::source::{Source, SourceId, SourceMap};
use edit::Edit;
use list::{Change, Comments};
use style::Style;
use written::{Refusal, Written};

/// A file with its roles changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patched {
    /// The text that it was made from.
    pub source: SourceId,
    /// The text after the change.
    pub text: String,
}

/// Above this many roles in one file, one that fails costs all of them.
const MOST_ALONE: usize = 64;

/// Changes the files of the roles. Roles that cannot be changed safely come back with the reason.
pub fn patch(sources: &SourceMap, roles: &[KeptRole<'_>]) -> (Vec<Patched>, Vec<LeftOut>) {
    let mut by_file: BTreeMap<SourceId, Vec<&KeptRole<'_>>> = BTreeMap::new();
    for role in roles.iter().filter(|role| !role.is_unchanged()) {
        by_file.entry(role.role.span.source).or_default().push(role);
    }
    let (mut patched, mut left_out) = (Vec::new(), Vec::new());
    for (id, roles) in by_file {
        let Some(source) = sources.get(id) else { continue };
        match file(source, &roles, &mut left_out) {
            Some(text) if text != source.text => patched.push(Patched { source: id, text }),
            _ => {}
        }
    }
    (patched, left_out)
}

fn file(source: &Source, roles: &[&KeptRole<'_>], left_out: &mut Vec<LeftOut>) -> Option<String> {
    let text = &source.text;
    let documents: Vec<Document> = yaml::parse(roles.first()?.role.span.source, text).collect();
    if let Some(why) = unfit(text, &documents) {
        left_out.extend(roles.iter().map(|role| LeftOut::of(role.role, why)));
        return None;
    }
    let before = read(source, text);
    let mut fit: Vec<(&KeptRole<'_>, Vec<Edit>)> = Vec::new();
    for role in roles {
        match edits(text, &documents, role) {
            Ok(edits) => fit.push((role, edits)),
            Err(why) => left_out.push(LeftOut::of(role.role, why)),
        }
    }
    let together = written(source, &before, &fit);
    if together.is_ok() {
        return together.ok();
    }
    let mut alone = Vec::new();
    for (role, edits) in fit {
        let one = [(role, edits)];
        let why = match written(source, &before, &one) {
            Ok(_) if roles.len() <= MOST_ALONE => {
                alone.extend(one);
                continue;
            }
            Ok(_) => "another role of its file does not read back as meant".to_owned(),
            Err(why) => why,
        };
        left_out.push(LeftOut::of(role.role, why));
    }
    match written(source, &before, &alone) {
        Ok(text) => Some(text),
        Err(why) => {
            left_out.extend(alone.iter().map(|(role, _)| LeftOut::of(role.role, why.clone())));
            None
        }
    }
}

/// Why no role in a text can be changed.
fn unfit(text: &str, documents: &[Document]) -> Option<&'static str> {
    let lone_return = || text.split('\n').any(|line| line.strip_suffix('\r').unwrap_or(line).contains('\r'));
    // What is left out of a template, or stands in it twice, shows in what is no YAML and in comments. In a scalar it is
    // data, unless the scalar is of the role. ytt has nothing but comments.
    let broken = || documents.iter().any(|document| matches!(document.content, Content::Broken(_)));
    let mut comments = documents.iter().flat_map(|document| &document.comments);
    let decides = |text: &str| text.starts_with(YTT) || text.trim_start().get(..2).is_some_and(is_template);
    let ytt = || text.lines().any(|line| line.trim_start().strip_prefix('#').is_some_and(|line| line.starts_with(YTT)));
    if comments.any(|comment| decides(&comment.value)) || (broken() && (is_template(text) || ytt())) {
        Some(TEMPLATE)
    } else if text.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) || lone_return() {
        Some("its file holds control characters")
    } else {
        None
    }
}

const TEMPLATE: &str = "it stands in a template; `--as helm` writes rules to paste into it";

/// What follows `#` in the lines of ytt: code, and its comments.
const YTT: [char; 2] = ['@', '!'];

fn is_template(text: &str) -> bool {
    text.contains("{{") || text.contains("{%")
}

/// Whether a variable (`${NAME}`) stands in the rules, which may be anything.
fn has_variables(role: &Role) -> bool {
    let mut values = role.rules.iter().flat_map(|rule| {
        let lists = [&rule.verbs, &rule.api_groups, &rule.resources, &rule.resource_names, &rule.non_resource_urls];
        lists.into_iter().flatten()
    });
    values.any(|value| value.value.contains("${"))
}

/// The edits of one role.
fn edits(text: &str, documents: &[Document], kept: &KeptRole<'_>) -> Result<Vec<Edit>, Refusal> {
    let role = kept.role;
    let next = documents.partition_point(|document| document.span.start <= role.span.start);
    let document = next.checked_sub(1).and_then(|at| documents.get(at)).ok_or("its document is not found again")?;
    let Content::Tree(tree) = &document.content else { return Err("its document is not found again".to_owned()) };
    if text.get(document.span.start as usize..document.span.end as usize).is_none_or(is_template) || has_variables(role)
    {
        return Err(TEMPLATE.to_owned());
    }
    let written = Written::new(text, document);
    let rules = written.rules(tree, role.span)?;
    if rules.items.len() != kept.entries.len() {
        return Err("not every entry of its rules was read".to_owned());
    }
    let mut changes = Vec::new();
    for (entry, kept) in rules.items.iter().zip(&kept.entries) {
        changes.push(match kept {
            Kept::Whole => Change::Keep(Vec::new(), Vec::new()),
            Kept::Nothing => Change::Replace(Vec::new()),
            Kept::Parts(parts) => {
                let style = Style::of(&written, entry);
                let [first, others @ ..] = parts.as_slice() else {
                    return Err("nothing is left of an entry".to_owned());
                };
                let others = others.iter().map(|part| style.entry(part)).collect();
                Change::Keep(entry::edits(&written, entry, &style, first)?, others)
            }
        });
    }
    let mut edits = Vec::new();
    let like = rules.items.last().map(|entry| Style::of(&written, entry));
    let style = like.unwrap_or_else(|| Style::between_brackets(&written, &rules.key));
    let newline = edit::line_break(text);
    let additions = kept.additions.iter().map(|addition| {
        let why = if rules.flow { String::new() } else { comment("", &addition.reason).replace('\n', newline) };
        format!("{why}{}", style.entry(&addition.rule))
    });
    let additions: Vec<String> = additions.collect();
    let last_left = changes.iter().rposition(|change| matches!(change, Change::Keep(..)));
    match changes.get_mut(last_left.unwrap_or_default()) {
        Some(Change::Keep(_, after) | Change::Replace(after)) => after.extend(additions),
        None if additions.is_empty() => {}
        None => edits.push(Edit::replace(rules.range.clone(), format!("[{}]", additions.join(", ")))),
    }
    edits.extend(list::edits(&written, &rules, changes, Comments::Own)?);
    Ok(edits)
}

fn read(source: &Source, text: &str) -> (SourceMap, Reading) {
    let mut sources = SourceMap::default();
    let id = sources.add(source.path.clone(), text);
    let reading = manifest::read(&sources, id);
    (sources, reading)
}

/// The text with these roles changed, if it reads back so: they hold what they are to keep, and all else is as before.
fn written(
    source: &Source,
    (_, before): &(SourceMap, Reading),
    roles: &[(&KeptRole<'_>, Vec<Edit>)],
) -> Result<String, Refusal> {
    let edits = roles.iter().flat_map(|(_, edits)| edits.iter().cloned()).collect();
    let text = edit::apply(&source.text, edits).ok_or("its entries are shared by anchors")?;
    let (_, after) = read(source, &text);
    let names = |reading: &Reading| -> Vec<(String, String)> {
        reading.facts.objects.iter().map(|object| (object.kind.clone(), object.name.value.clone())).collect()
    };
    let same = after.documents == before.documents
        && after.diagnostics.len() <= before.diagnostics.len()
        && after.facts.roles.len() == before.facts.roles.len()
        && names(&after) == names(before);
    let changed: BTreeMap<(u32, u32), &KeptRole<'_>> =
        roles.iter().map(|(kept, _)| ((kept.role.span.start, kept.role.span.end), *kept)).collect();
    let meant = before.facts.roles.iter().zip(&after.facts.roles).all(|(old, new)| {
        let of = |role: &Role| role.rules.iter().map(PolicyRule::to_rule).collect::<Vec<_>>();
        let wanted = changed.get(&(old.span.start, old.span.end)).map_or_else(|| of(old), |kept| kept.rules());
        old.name.value == new.name.value && PermissionSet::from_rules(&wanted) == PermissionSet::from_rules(&of(new))
    });
    if same && meant { Ok(text) } else { Err("it would not read back as meant (an anchor or an odd form)".to_owned()) }
}

#[cfg(test)]
mod tests;
