//! RC191: `list` or `watch` under object names, which only a field selector on that name uses.

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
        let narrow: Vec<&Grant> = entry.grants.iter().copied().filter(|grant| is_narrow(input.held, grant)).collect();
        let Some(first) = narrow.first() else { continue };
        let role = label(&entry.role);
        let message = format!(
            "{}: {} on {} ({}) in {role} works only with the field selector `metadata.name=NAME`; an ordinary \
             informer is broken, since no other grant allows it",
            doc.title,
            some_of(entries::verbs(&narrow)),
            some_of(entries::things(&narrow)),
            some_of(first.rule.resource_names.iter().map(String::as_str)),
        );
        let draft = Draft::of_grants(input.assessment, message, &entry.role, narrow);
        findings.extend(draft.finish(doc));
    }
}

/// Whose only reader has the selector (Kubernetes `apiserver/pkg/server/dynamiccertificates/configmap_cafile_content.go`).
const WITH_SELECTOR: &str = "extension-apiserver-authentication";

/// Whether names narrow it, and nothing else that is held widens it again. Leader election, which is what named leases
/// are for, lists and watches nothing.
fn is_narrow(held: &Held<'_>, grant: &Grant) -> bool {
    let lists = matches!(entries::verb(grant), "list" | "watch") && entries::thing(grant) != "leases";
    let with_selector = grant.rule.resource_names.iter().all(|name| name == WITH_SELECTOR);
    let unnamed = Rule { resource_names: Vec::new(), ..grant.rule.clone() };
    // Without names, all of them have it.
    lists && grant.served && !grant.is_used() && !with_selector && !held.holds(&grant.scope, &unnamed)
}
