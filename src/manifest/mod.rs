//! Kubernetes objects as facts, each with its position in the source it was read from.
//! Sits between `source` (a YAML tree) and `graph` (who holds what).

mod crd;
mod facts;
mod fields;
pub mod markers;
mod olm;
pub mod package;
mod rbac;
pub mod rendered;
#[cfg(test)]
mod tests;
pub mod unrendered;
mod workload;

pub use facts::*;
pub use package::Package;

use fields::{Allowance, Fields};
use memchr::memmem;

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

/// Lists within lists are followed this deep.
const MAX_LIST_DEPTH: usize = 8;

/// Reads every document of a source. The items of a list count as documents, the list itself does not. A Go file is no
/// document: it is read for markers.
pub fn read(sources: &SourceMap, id: SourceId) -> Reading {
    let Some(source) = sources.get(id) else { return Reading::default() };
    if markers::is_go(&source.path) {
        return markers::read(sources, id);
    }
    let allowance = Allowance::of(&source.text);
    let mut reader = Reader { sources, allowance: &allowance, cut: false, reading: Reading::default() };
    let mut documents = yaml::parse(id, &source.text).peekable();
    if documents.peek().is_none() {
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
    reader.reading.facts.incomplete = reader.reading.documents.unreadable > 0;
    reader.reading
}

/// How far around a parse error template text is looked for.
const TEMPLATE_WINDOW: usize = 64 << 10;

/// Whether template text stands near a parse error, in the same document.
fn is_template(text: &str, at: Span) -> bool {
    let at = at.start as usize;
    let before = text.as_bytes().get(at.saturating_sub(TEMPLATE_WINDOW)..at).unwrap_or_default();
    let after = text.as_bytes().get(at..text.len().min(at + TEMPLATE_WINDOW)).unwrap_or_default();
    let before = before.get(memmem::rfind(before, b"\n---").unwrap_or_default()..).unwrap_or_default();
    let after = after.get(..memmem::find(after, b"\n---").unwrap_or(after.len())).unwrap_or_default();
    let opens = |part: &[u8]| memmem::find(part, b"{{").or_else(|| memmem::find(part, b"{%")).is_some();
    // The error may stand between the two braces.
    let across = matches!((before.last(), after.first()), (Some(b'{'), Some(b'{' | b'%')));
    opens(before) || opens(after) || across
}

struct Reader<'a> {
    sources: &'a SourceMap,
    reading: Reading,
    allowance: &'a Allowance,
    /// It was said that the rest is left out.
    cut: bool,
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
        if self.is_cut(node.span()) {
            return;
        }
        let mut fields = Fields::new(node, self.allowance);
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
        if self.is_cut(node.span()) {
            return;
        }
        for (span, message) in fields.problems {
            self.lost(span, message);
        }
        match known {
            Known::Read => self.reading.documents.read += 1,
            Known::Ignored => self.ignore(&kind),
            Known::Patch => self.ignore(&format!("{kind} (patch)")),
        }
    }

    /// Whether aliases have made more of the source than it holds; said once, where it happened.
    fn is_cut(&mut self, at: Span) -> bool {
        if self.allowance.is_spent() && !self.cut {
            self.cut = true;
            self.reading.documents.unreadable += 1;
            self.lost(at, "aliases multiply out to more than the file holds: the rest of it is left out".to_owned());
        }
        self.cut
    }

    fn list(&mut self, node: Node<'_>, key: &str, depth: usize) {
        let items = node.get(key).and_then(Node::items);
        match (items, depth.checked_sub(1)) {
            (Some(mut items), Some(depth)) => {
                while !self.cut
                    && let Some(item) = items.next()
                {
                    self.object(item, depth);
                }
            }
            (None, _) if node.get(key).is_some() => {
                self.reading.documents.unreadable += 1;
                self.lost(node.span(), format!("`{key}` of a list is no list"));
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
            "ClusterServiceVersion" if group == "operators.coreos.com" => olm::read(fields, metadata, facts),
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
        "ClusterServiceVersionList"
        | "RoleList"
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
