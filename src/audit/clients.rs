//! From where a user's calls came: the user agents and the Pods, of each a bounded number. They tell whom to name in
//! `--attribute`, and whether one service account serves several workloads.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::event::Text;
use super::key::cut;

/// Most user agents, and most Pods, kept of one user.
const MOST: usize = 16;
/// API servers cut user agents at 1,024 bytes; this much tells which it is.
const LONGEST: usize = 256;

/// From where the calls of one user came.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Clients {
    /// `userAgent`, at most sixteen, the first by the alphabet, each cut at 256 bytes.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub agents: BTreeSet<String>,
    /// There were more.
    #[serde(skip_serializing_if = "is_false")]
    pub more_agents: bool,
    /// The Pods whose token was used (`authentication.kubernetes.io/pod-name`, KEP-4193, since Kubernetes 1.30), as many.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub pods: BTreeSet<String>,
    /// There were more.
    #[serde(skip_serializing_if = "is_false")]
    pub more_pods: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "asked by serde")]
fn is_false(value: &bool) -> bool {
    !value
}

/// The client of one call; empty for what the log does not say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Client<'a> {
    pub(super) agent: &'a str,
    /// `user.extra`, as JSON.
    pub(super) extra: &'a str,
}

/// The extra that names the Pod whose token was used (Kubernetes `apiserver/pkg/authentication/serviceaccount/util.go`,
/// `PodNameKey`); collectors rename it as they rename annotations.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Extra<'a> {
    #[serde(borrow, rename = "authentication.kubernetes.io/pod-name")]
    #[serde(alias = "authentication_kubernetes_io/pod-name", alias = "authentication.kubernetes.io_slash_pod-name")]
    pod: Option<(Text<'a>,)>,
}

impl<'a> Client<'a> {
    fn pod(self) -> Option<Text<'a>> {
        serde_json::from_str::<Extra<'a>>(self.extra).ok()?.pod.map(|(pod,)| pod)
    }
}

impl Clients {
    /// Takes note of a call.
    pub(super) fn note(&mut self, client: Client<'_>) {
        add(&mut self.agents, &mut self.more_agents, cut(client.agent, LONGEST));
        add(&mut self.pods, &mut self.more_pods, cut(&client.pod().unwrap_or_default(), LONGEST));
    }

    /// Those of two logs.
    pub(super) fn merge(&mut self, other: Self) {
        self.more_agents |= other.more_agents;
        self.more_pods |= other.more_pods;
        other.agents.iter().for_each(|agent| add(&mut self.agents, &mut self.more_agents, agent));
        other.pods.iter().for_each(|pod| add(&mut self.pods, &mut self.more_pods, pod));
    }

    fn is_empty(&self) -> bool {
        self.agents.is_empty() && self.pods.is_empty()
    }
}

/// Keeps the first by the alphabet: the same in any order.
fn add(known: &mut BTreeSet<String>, more: &mut bool, text: &str) {
    if text.is_empty() || known.contains(text) {
        return;
    }
    known.insert(text.to_owned());
    if known.len() > MOST {
        known.pop_last();
        *more = true;
    }
}

/// The clients of all users, of those of whom anything is known.
pub(super) fn united(clients: impl IntoIterator<Item = (String, Clients)>) -> BTreeMap<String, Clients> {
    let mut united = BTreeMap::<String, Clients>::new();
    for (user, clients) in clients.into_iter().filter(|(_, clients)| !clients.is_empty()) {
        united.entry(user).or_default().merge(clients);
    }
    united
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_by_the_alphabet_are_kept_in_any_order() {
        let names: Vec<String> = (0..30).map(|pod| format!("pod-{pod:02}")).collect();
        let of = |names: &[String]| {
            let mut clients = Clients::default();
            for pod in names {
                let extra = format!(r#"{{"authentication.kubernetes.io/pod-name":["{pod}"],"other":["x"]}}"#);
                clients.note(Client { agent: "op/v1", extra: &extra });
            }
            clients
        };
        let all = of(&names);
        assert_eq!((all.pods.len(), all.more_pods, all.more_agents), (MOST, true, false));
        assert_eq!((all.pods.first().unwrap().as_str(), all.pods.last().unwrap().as_str()), ("pod-00", "pod-15"));
        assert_eq!(all.agents, BTreeSet::from(["op/v1".to_owned()]));
        let (a, b) = names.split_at(10);
        for (a, b) in [(a, b), (b, a)] {
            let mut merged = of(a);
            merged.merge(of(b));
            assert_eq!(merged, all);
        }
        assert!(!of(&names[..MOST]).more_pods);
        let long = "ä".repeat(400);
        let mut clients = Clients::default();
        clients.note(Client { agent: &long, extra: r#"{"authentication.kubernetes.io/pod-name":"no list"}"# });
        assert!(clients.agents.first().unwrap().len() <= LONGEST && clients.pods.is_empty());
        assert!(united([("u".to_owned(), Clients::default())]).is_empty());
    }
}
