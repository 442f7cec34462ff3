//! The written role in the place of the shipped one, and back. No role is edited: the subject is taken out of the
//! bindings that name it, and bound to roles made for the proof. What others hold stays as it is.

use std::fmt::Write as _;
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::cluster::{Cluster, label, set, text};
use super::journal::Journal;
use crate::cli::output::Terminal;
use crate::graph::SubjectKey;
use crate::report::text::safe;

/// Names of the objects made for a proof begin so; nobody else's do.
const PREFIX: &str = "rolecall-prove:";
/// How often a way back is tried before it is left to `--restore`.
const ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_secs(2);

/// The bindings that name the subject itself.
pub(super) fn naming(bindings: &[Value], key: &SubjectKey) -> Vec<Value> {
    bindings.iter().filter(|binding| subjects(binding).iter().any(|one| is(one, key))).cloned().collect()
}

/// Bindings that reach the subject through a group; they stay. Not those that Kubernetes makes for everybody.
pub(super) fn through_groups(bindings: &[Value], key: &SubjectKey) -> Vec<String> {
    let groups = key.groups();
    let of_group =
        |one: &Value| text(one, "/kind") == "Group" && groups.iter().any(|group| text(one, "/name") == group);
    let built_in = |binding: &Value| text(binding, "/metadata/labels/kubernetes.io~1bootstrapping") == "rbac-defaults";
    let found = bindings.iter().filter(|binding| !built_in(binding) && subjects(binding).iter().any(of_group));
    found.map(label).collect()
}

/// The documents of a written role, under names of the proof.
pub(super) fn made(written: &str, key: &SubjectKey) -> Result<Vec<Value>> {
    let documents: Vec<Value> = serde_saphyr::from_multiple(written).context("the written role")?;
    let own = format!("{PREFIX}{}:{}", key.namespace().unwrap_or_default(), key.name()).replace(['/', '%'], "-");
    let mut made = Vec::new();
    for mut object in documents.into_iter().filter(Value::is_object) {
        if let Some(metadata) = object.pointer_mut("/metadata") {
            set(metadata, "name", own.clone().into());
            set(metadata, "labels", json!({"app.kubernetes.io/managed-by": "rolecall"}));
        }
        if let Some(role) = object.pointer_mut("/roleRef") {
            set(role, "name", own.clone().into());
        }
        made.push(object);
    }
    Ok(made)
}

/// What will be changed, for people.
pub(super) fn plan(journal: &Journal, key: &SubjectKey, stays: &[String]) -> String {
    let mut plan = "For the second run, and put back after it, whatever comes:\n".to_owned();
    for binding in &journal.saved {
        let others = subjects(binding).iter().filter(|one| !is(one, key)).count();
        let others = match others {
            0 => String::new(),
            1 => "; its other subject stays".to_owned(),
            others => format!("; its {others} other subjects stay"),
        };
        let role = format!("{} {}", text(binding, "/roleRef/kind"), text(binding, "/roleRef/name"));
        let _ = writeln!(plan, "  - {} (of {role}): {} is taken out{others}", label(binding), journal.subject);
    }
    for object in &journal.made {
        let _ = writeln!(plan, "  + {} is made", label(object));
    }
    for binding in stays {
        let _ = writeln!(plan, "  = {binding} reaches it through a group: what that gives stays");
    }
    plan += "No role is edited.\n";
    plan.lines().map(|line| format!("{}\n", safe(line))).collect()
}

/// A swap that was begun. Undone when dropped.
pub(super) struct Swapped<'a> {
    cluster: &'a Cluster,
    terminal: &'a Terminal,
    path: &'a Path,
    journal: Option<Journal>,
}

impl<'a> Swapped<'a> {
    /// Writes the journal and makes the swap; the new role first, so that the subject is never without.
    pub(super) fn begin(
        cluster: &'a Cluster,
        terminal: &'a Terminal,
        path: &'a Path,
        journal: Journal,
        key: &SubjectKey,
        settle: Duration,
    ) -> Result<Self> {
        for object in &journal.made {
            if cluster.get(object)?.is_some() {
                bail!("{} exists already: another proof runs, or was killed (undo it by --restore)", label(object));
            }
        }
        journal.write(path)?;
        let swapped = Self { cluster, terminal, path, journal: Some(journal.clone()) };
        for object in &journal.made {
            cluster.create(object)?;
        }
        // The authorizer follows roles and bindings a moment later.
        thread::sleep(settle);
        for binding in &journal.saved {
            let rest: Vec<Value> = subjects(binding).iter().filter(|one| !is(one, key)).cloned().collect();
            cluster.set_subjects(binding, &rest)?;
        }
        thread::sleep(settle);
        Ok(swapped)
    }

    /// Puts everything back, and says so.
    pub(super) fn undo(&mut self) -> Result<()> {
        let Some(journal) = self.journal.take() else { return Ok(()) };
        restore(self.cluster, &journal, self.path, self.terminal)
    }
}

impl Drop for Swapped<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.undo() {
            self.terminal.error(&format!("{error:#}"));
        }
    }
}

/// Undoes a swap by its journal, which is removed when nothing is left to undo.
pub(super) fn restore(cluster: &Cluster, journal: &Journal, path: &Path, terminal: &Terminal) -> Result<()> {
    let key = SubjectKey::parse(&journal.subject);
    for binding in &journal.saved {
        let done = again(|| put_back(cluster, binding, &key)).with_context(|| left(path))?;
        terminal.note(&format!("{}: {done}", label(binding)));
    }
    for object in journal.made.iter().rev() {
        again(|| cluster.delete(object)).with_context(|| left(path))?;
        terminal.note(&format!("{}: removed", label(object)));
    }
    std::fs::remove_file(path).with_context(|| format!("everything is restored; cannot remove {}", path.display()))
}

fn left(path: &Path) -> String {
    format!("NOT RESTORED: run `rolecall prove --restore {}` again", path.display())
}

fn again<T>(attempt: impl Fn() -> Result<T>) -> Result<T> {
    let mut last = attempt();
    for _ in 1..ATTEMPTS {
        if last.is_ok() {
            break;
        }
        thread::sleep(PAUSE);
        last = attempt();
    }
    last
}

/// Names the subject in a binding again. What others did to the binding meanwhile stays.
fn put_back(cluster: &Cluster, saved: &Value, key: &SubjectKey) -> Result<&'static str> {
    let Some(now) = cluster.get(saved)? else {
        cluster.create(&anew(saved))?;
        return Ok("was deleted meanwhile, made again");
    };
    if subjects(&now).iter().any(|one| is(one, key)) {
        return Ok("as before");
    }
    let rest: Vec<&Value> = subjects(saved).iter().filter(|one| !is(one, key)).collect();
    if subjects(&now).iter().collect::<Vec<_>>() == rest {
        cluster.set_subjects(&now, subjects(saved))?;
        return Ok("restored");
    }
    let own = subjects(saved).iter().filter(|one| is(one, key));
    cluster.set_subjects(&now, &subjects(&now).iter().chain(own).cloned().collect::<Vec<_>>())?;
    Ok("restored; its other subjects have changed meanwhile and stay as they are now")
}

/// An object as it can be created: without what the API server gave it.
fn anew(saved: &Value) -> Value {
    let mut object = saved.clone();
    if let Some(metadata) = object.pointer_mut("/metadata").and_then(Value::as_object_mut) {
        metadata.retain(|field, _| {
            ["name", "namespace", "labels", "annotations", "ownerReferences", "finalizers"].contains(&field.as_str())
        });
    }
    object
}

fn subjects(binding: &Value) -> &[Value] {
    binding.pointer("/subjects").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Whether a subject of a binding is this one, by account or by user name.
fn is(subject: &Value, key: &SubjectKey) -> bool {
    let name = text(subject, "/name");
    match (text(subject, "/kind"), key) {
        ("ServiceAccount", SubjectKey::ServiceAccount { namespace, name: own }) => {
            name == own && text(subject, "/namespace") == namespace
        }
        ("User", _) => name == key.user(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binding(subjects: Value) -> Value {
        json!({"kind": "ClusterRoleBinding", "metadata": {"name": "b"}, "subjects": subjects})
    }

    #[test]
    fn a_binding_names_an_account_or_its_user_and_nobody_alike() {
        let key = SubjectKey::parse("ns/op");
        let account =
            |namespace: &str, name: &str| json!({"kind": "ServiceAccount", "name": name, "namespace": namespace});
        let user = json!({"kind": "User", "name": "system:serviceaccount:ns:op"});
        for named in [account("ns", "op"), user] {
            assert_eq!(naming(&[binding(json!([account("x", "y"), named]))], &key).len(), 1);
        }
        let group = json!({"kind": "Group", "name": "system:serviceaccounts:ns"});
        for other in [account("other", "op"), account("ns", "op2"), group.clone()] {
            assert!(naming(&[binding(json!([other]))], &key).is_empty());
        }
        assert!(naming(&[json!({"kind": "RoleBinding"})], &key).is_empty(), "no subjects at all");
        assert_eq!(through_groups(&[binding(json!([group]))], &key), ["ClusterRoleBinding b"]);
    }

    #[test]
    fn what_is_made_has_names_of_the_proof() {
        let written = "# head\n---\nkind: Role\nmetadata:\n  name: rolecall:op\n  namespace: ns\nrules: []\n---\n\
                       kind: RoleBinding\nmetadata:\n  name: rolecall:op\nroleRef:\n  name: rolecall:op\n";
        let made = made(written, &SubjectKey::parse("ns/op")).unwrap();
        let names: Vec<&str> = made.iter().map(|object| text(object, "/metadata/name")).collect();
        assert_eq!(names, ["rolecall-prove:ns:op", "rolecall-prove:ns:op"]);
        assert_eq!(text(&made[1], "/roleRef/name"), "rolecall-prove:ns:op");
    }
}
