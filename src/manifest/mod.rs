//! Kubernetes objects as facts, each with its position in the source it was read from.
//! Sits between `source` (a YAML tree) and `graph` (who holds what).

mod crd;
mod facts;
mod fields;
pub mod package;
mod rbac;
#[cfg(test)]
mod tests;
mod workload;

pub use facts::*;
pub use package::Package;

use fields::Fields;

use crate::source::yaml::{self, Content, Node};
use crate::source::{Diagnostic, DiagnosticKind, Diagnostics, SourceId, SourceMap, Span};

/// What one source held.
#[derive(Debug, Default)]
pub struct Reading {
    /// The facts.
    pub facts: Facts,
    /// How its documents were accounted for.
    pub documents: DocumentCounts,
    /// What was lost or is worth knowing.
    pub diagnostics: Diagnostics,
}

/// Lists within lists are followed this deep, and a source yields at most this many objects: aliases could make more of
/// both out of few bytes.
const MAX_LIST_DEPTH: usize = 8;
const MAX_OBJECTS: u64 = 200_000;

/// Reads every document of a source. The items of a list count as documents, the list itself does not.
pub fn read(sources: &SourceMap, id: SourceId) -> Reading {
    let mut reader = Reader { sources, reading: Reading::default(), visited: 0 };
    let Some(source) = sources.get(id) else { return reader.reading };
    let documents = yaml::parse(id, &source.text);
    if documents.is_empty() {
        reader.reading.documents.empty += 1;
    }
    for document in documents {
        match document.content {
            Content::Blank => reader.reading.documents.empty += 1,
            Content::Broken(why) => {
                reader.reading.documents.unreadable += 1;
                let template = is_template(&source.text, document.span);
                let why = if template { format!("a template that was not rendered ({why})") } else { why };
                reader.lost(document.span, why);
            }
            Content::Tree(tree) => {
                for key in &tree.duplicate_keys {
                    reader.note(key.span, format!("`{}` is given twice, the last one counts", key.value));
                }
                if let Some(root) = tree.root() {
                    reader.object(root, MAX_LIST_DEPTH);
                }
            }
        }
    }
    reader.reading
}

/// Whether template text stands in the document of a parse error: between the markers around it.
fn is_template(text: &str, at: Span) -> bool {
    let at = at.start as usize;
    let before = text.get(..at).and_then(|text| text.rfind("\n---")).unwrap_or_default();
    let after = text.get(at..).and_then(|text| text.find("\n---")).map_or(text.len(), |end| at + end);
    text.get(before..after).is_some_and(|document| document.contains("{{") || document.contains("{%"))
}

struct Reader<'a> {
    sources: &'a SourceMap,
    reading: Reading,
    /// Objects and lists met so far.
    visited: u64,
}

impl Reader<'_> {
    fn diagnose(&mut self, kind: DiagnosticKind, span: Span, message: String) {
        self.reading.diagnostics.push(Diagnostic { kind, location: self.sources.locate(span), message });
    }

    fn lost(&mut self, span: Span, message: String) {
        self.diagnose(DiagnosticKind::Unreadable, span, message);
    }

    fn note(&mut self, span: Span, message: String) {
        self.diagnose(DiagnosticKind::Note, span, message);
    }

    fn ignore(&mut self, kind: &str) {
        *self.reading.documents.ignored.entry(kind.to_owned()).or_default() += 1;
    }

    fn object(&mut self, node: Node<'_>, depth: usize) {
        self.visited += 1;
        if self.visited > MAX_OBJECTS {
            return;
        }
        let mut fields = Fields::new(node);
        let kind = fields.optional_text("kind").map(|kind| kind.value);
        let api_version = fields.optional_text("apiVersion").map(|version| version.value).unwrap_or_default();
        let Some(kind) = kind else {
            self.ignore("(not an object)");
            return;
        };
        let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
        if let Some(list) = list_of(&kind, group) {
            self.list(node, list, depth);
            return;
        }
        let known = self.facts_of(&kind, group, &mut fields);
        for (span, message) in fields.problems {
            self.lost(span, message);
        }
        match known {
            Known::Read => self.reading.documents.read += 1,
            Known::Ignored => self.ignore(&kind),
            Known::Patch => self.ignore(&format!("{kind} (patch)")),
        }
    }

    fn list(&mut self, node: Node<'_>, key: &str, depth: usize) {
        let items = node.get(key).and_then(Node::items);
        match (items, depth.checked_sub(1)) {
            (Some(mut items), Some(depth)) => {
                while self.visited < MAX_OBJECTS
                    && let Some(item) = items.next()
                {
                    self.object(item, depth);
                }
                // Said once, at the list that was cut.
                if self.visited == MAX_OBJECTS && items.next().is_some() {
                    self.visited += 1;
                    self.reading.documents.unreadable += 1;
                    self.lost(
                        node.span(),
                        format!("more than {MAX_OBJECTS} objects in one file: the rest is left out"),
                    );
                }
            }
            (None, _) => self.reading.documents.empty += 1,
            (Some(_), None) => {
                self.reading.documents.unreadable += 1;
                self.lost(node.span(), format!("lists nested more than {MAX_LIST_DEPTH} deep"));
            }
        }
    }

    fn facts_of(&mut self, kind: &str, group: &str, fields: &mut Fields<'_>) -> Known {
        let facts = &mut self.reading.facts;
        let metadata = fields.metadata();
        if let Some(name) = &metadata.name {
            facts.objects.push(Object {
                api_group: group.to_owned(),
                kind: kind.to_owned(),
                namespace: metadata.namespace.clone(),
                name: name.clone(),
            });
        }
        let rbac = matches!(group, "rbac.authorization.k8s.io" | "authorization.openshift.io");
        match kind {
            "Role" | "ClusterRole" if rbac => rbac::role(kind, fields, metadata, facts),
            "RoleBinding" | "ClusterRoleBinding" if rbac => rbac::binding(kind, fields, metadata, facts),
            "ServiceAccount" if group.is_empty() => {
                let Some(name) = metadata.name else { return Known::Patch };
                facts.accounts.push(ServiceAccount { namespace: metadata.namespace, name, span: fields.span() });
                Known::Read
            }
            "Namespace" if group.is_empty() => {
                let Some(name) = metadata.name else { return Known::Patch };
                facts.namespaces.push(Object {
                    api_group: String::new(),
                    kind: kind.to_owned(),
                    namespace: None,
                    name,
                });
                Known::Read
            }
            "CustomResourceDefinition" if group == "apiextensions.k8s.io" => crd::read(fields, metadata, facts),
            _ => workload::read(kind, group, fields, metadata, facts),
        }
    }
}

/// What became of an object.
enum Known {
    /// It is a fact.
    Read,
    /// Its kind grants nothing.
    Ignored,
    /// A part of an object, as kustomize patches are.
    Patch,
}

/// The key of the items when the kind is a list: `v1 List`, the typed lists of RBAC and of the kinds read here, and
/// OpenShift's Template.
fn list_of(kind: &str, group: &str) -> Option<&'static str> {
    match kind {
        "List" => Some("items"),
        "RoleList"
        | "ClusterRoleList"
        | "RoleBindingList"
        | "ClusterRoleBindingList"
        | "ServiceAccountList"
        | "NamespaceList"
        | "CustomResourceDefinitionList"
        | "PodList"
        | "DeploymentList"
        | "StatefulSetList"
        | "DaemonSetList"
        | "ReplicaSetList"
        | "ReplicationControllerList"
        | "JobList"
        | "CronJobList" => Some("items"),
        "Template" if matches!(group, "" | "template.openshift.io") => Some("objects"),
        _ => None,
    }
}
