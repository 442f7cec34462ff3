//! Everything that runs pods, and the account that it runs them as.

use std::collections::BTreeSet;

use super::fields::{Allowance, Fields, Metadata};
use super::{Facts, Known, Workload};
use crate::source::Spanned;
use crate::source::yaml::Node;

/// Words remembered of one workload; more would be data, not names.
const MAX_MENTIONS: usize = 4_096;

pub(super) fn read(kind: &str, group: &str, fields: &mut Fields<'_>, metadata: Metadata, facts: &mut Facts) -> Known {
    let Some(pod_spec) = pod_spec(kind, group, fields.node()) else { return Known::Ignored };
    let Some(name) = metadata.name else { return Known::Patch };
    add(kind, metadata.namespace, name, fields, pod_spec, facts);
    Known::Read
}

/// Adds a workload of which `fields` is the whole object.
pub(super) fn add<'a>(
    kind: &str,
    namespace: Option<Spanned<String>>,
    name: Spanned<String>,
    fields: &mut Fields<'a>,
    pod_spec: Node<'a>,
    facts: &mut Facts,
) {
    let span = fields.span();
    let service_account = fields.within(pod_spec, |pod| {
        let old = pod.text("serviceAccount");
        pod.text("serviceAccountName").or(old)
    });
    facts.workloads.push(Workload {
        kind: kind.to_owned(),
        namespace,
        name,
        service_account,
        mentions: mentions(pod_spec, fields.allowance),
        span,
    });
}

/// The pod spec of the workload kinds, and of any object that holds a pod template where Deployments do.
fn pod_spec<'a>(kind: &str, group: &str, node: Node<'a>) -> Option<Node<'a>> {
    let at = |path: &[&str]| path.iter().try_fold(node, |node, key| node.get(key));
    match (kind, group) {
        ("Pod", "") => at(&["spec"]),
        ("CronJob", "batch") => at(&["spec", "jobTemplate", "spec", "template", "spec"]),
        _ => at(&["spec", "template", "spec"]).filter(|spec| spec.get("containers").and_then(Node::items).is_some()),
    }
}

/// Words of command, args and literal environment values, split where flags and lists are.
fn mentions(pod_spec: Node<'_>, allowance: &Allowance) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let mut add = |text: &str| {
        if !allowance.spend(1 + text.len()) {
            return;
        }
        let split = text.split(|c: char| c == '=' || c == ',' || c.is_whitespace());
        for word in split.filter(|word| (2..=253).contains(&word.len())) {
            if words.len() < MAX_MENTIONS {
                words.insert(word.to_owned());
            }
        }
    };
    for list in ["containers", "initContainers"] {
        for container in pod_spec.get(list).and_then(Node::items).into_iter().flatten() {
            for key in ["command", "args"] {
                container
                    .get(key)
                    .and_then(Node::items)
                    .into_iter()
                    .flatten()
                    .filter_map(Node::text)
                    .for_each(&mut add);
            }
            let env = container.get("env").and_then(Node::items).into_iter().flatten();
            env.filter_map(|variable| variable.get("value")?.text()).for_each(&mut add);
        }
    }
    words
}
