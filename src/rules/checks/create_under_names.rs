//! RC172: `create` or `deletecollection` under object names, where the request carries none.

use super::Input;
use crate::analysis::Grant;
use crate::finding::Finding;
use crate::rbac::Rule;
use crate::rules::document::RuleDoc;
use crate::rules::draft::{Draft, label};
use crate::rules::entries;
use crate::rules::evidence::some_of;
use crate::rules::held::Held;

pub(super) fn check(input: &Input<'_>, doc: &RuleDoc, findings: &mut Vec<Finding>) {
    for entry in input.own_entries() {
        let refused: Vec<&Grant> = entry.grants.iter().copied().filter(|grant| is_refused(input.held, grant)).collect();
        let Some(first) = refused.first() else { continue };
        let role = label(&entry.role);
        let message = format!(
            "{}: {} on {} ({}) in {role}; no grant allows it without a name: broken, unless an update or \
             a server-side apply is what creates",
            doc.title,
            some_of(entries::verbs(&refused)),
            some_of(entries::things(&refused)),
            some_of(first.rule.resource_names.iter().map(String::as_str)),
        );
        let draft = Draft::of_grants(input.assessment, message, &entry.role, refused);
        findings.extend(draft.finish(doc));
    }
}

/// Whether the request that was meant is refused. A subresource is created under the name of its owner, and virtual
/// resources are checked with names. With `patch` on the same objects, the creation by server-side apply is what was
/// meant; with `delete`, `deletecollection` came along with the other verbs.
fn is_refused(held: &Held<'_>, grant: &Grant) -> bool {
    let works_with = match entries::verb(grant) {
        "create" => "patch",
        "deletecollection" => "delete",
        _ => return false,
    };
    let named = grant.served && !grant.rule.resource_names.is_empty() && !entries::thing(grant).contains('/');
    let unnamed = Rule { resource_names: Vec::new(), ..grant.rule.clone() };
    let by_name = Rule { verbs: vec![works_with.to_owned()], ..grant.rule.clone() };
    named && !grant.is_used() && !held.holds(&grant.scope, &unnamed) && !held.holds(&grant.scope, &by_name)
}
