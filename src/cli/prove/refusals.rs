//! The refused calls of a user in a log that grows, with the words of the API server: a check behind the authorizer
//! tells only there what it asked for.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Longest line that is looked at, and most refusals kept.
const LONGEST: usize = 1 << 20;
const MOST: usize = 1_000;

/// A kind of call that was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    /// `verb resource.group`.
    pub(super) call: String,
    /// Why, as the API server said first.
    pub(super) message: String,
    /// How often.
    pub(super) count: u64,
}

/// Collects them out of bytes as they come.
pub(super) struct Refusals {
    user: String,
    part: Vec<u8>,
    found: BTreeMap<String, Refusal>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    stage: String,
    verb: String,
    user: User,
    #[serde(default)]
    impersonated_user: Option<User>,
    #[serde(default)]
    object_ref: Option<Object>,
    #[serde(default, rename = "requestURI")]
    uri: String,
    #[serde(default)]
    response_status: Option<Status>,
}

#[derive(Deserialize)]
struct User {
    username: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Object {
    resource: String,
    api_group: String,
    subresource: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Status {
    code: i64,
    message: String,
}

impl Refusals {
    pub(super) fn of(user: &str) -> Self {
        Self { user: user.to_owned(), part: Vec::new(), found: BTreeMap::new() }
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            self.part.extend_from_slice(rest.get(..end).unwrap_or_default());
            rest = rest.get(end + 1..).unwrap_or_default();
            let line = std::mem::take(&mut self.part);
            self.line(&line);
        }
        // Of a line that is too long the beginning is no JSON, and is passed over.
        if self.part.len() < LONGEST {
            self.part.extend_from_slice(rest);
        }
    }

    fn line(&mut self, line: &[u8]) {
        if memchr::memmem::find(line, b"403").is_none() {
            return;
        }
        let Ok(event) = serde_json::from_slice::<Event>(line) else { return };
        let who = event.impersonated_user.as_ref().unwrap_or(&event.user);
        let status = event.response_status.unwrap_or_default();
        if who.username != self.user || status.code != 403 || event.stage != "ResponseComplete" {
            return;
        }
        let what = match event.object_ref {
            Some(object) => {
                let subresource = if object.subresource.is_empty() { "" } else { "/" };
                let dot = if object.api_group.is_empty() { "" } else { "." };
                format!("{}{subresource}{}{dot}{}", object.resource, object.subresource, object.api_group)
            }
            None => event.uri,
        };
        let call = format!("{} {what}", event.verb);
        if let Some(known) = self.found.get_mut(&call) {
            known.count += 1;
            return;
        }
        if self.found.len() < MOST {
            self.found.insert(call.clone(), Refusal { call, message: status.message, count: 1 });
        }
    }

    pub(super) fn found(self) -> Vec<Refusal> {
        self.found.into_values().collect()
    }
}

/// The smallest rule that would allow what the message says was asked for; `None` where it does not say it.
/// Words: `staging/src/k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go` (`forbiddenMessage`),
/// `pkg/registry/rbac/validation/rule.go` (`ConfirmNoEscalation`).
pub(super) fn rule(message: &str) -> Option<String> {
    if let Some((_, held)) = message.split_once("attempting to grant RBAC permissions not currently held:") {
        let rules: Vec<&str> = held.split('\n').map(str::trim).filter(|rule| rule.starts_with('{')).collect();
        return (!rules.is_empty()).then(|| rules.join(", "));
    }
    let (_, asked) = message.split_once("\" cannot ")?;
    let (verb, asked) = asked.split_once(' ')?;
    if let Some(path) = asked.strip_prefix("path ") {
        let (path, _) = path.strip_prefix('"')?.split_once('"')?;
        return Some(format!("nonResourceURLs: [{path}], verbs: [{verb}]"));
    }
    let mut words = asked.split('"');
    let (Some("resource "), Some(resource), Some(" in API group "), Some(group)) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return None;
    };
    let place = match (words.next(), words.next()) {
        (Some(" in the namespace "), Some(namespace)) => format!(" in namespace {namespace}"),
        _ => " in the whole cluster".to_owned(),
    };
    Some(format!("apiGroups: [{group:?}], resources: [{resource}], verbs: [{verb}]{place}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_refusal_are_a_rule() {
        let by = "configmaps \"a\" is forbidden: User \"system:serviceaccount:n:o\" cannot ";
        let cases = [
            (
                r#"get resource "configmaps" in API group "" in the namespace "team-a""#,
                Some(r#"apiGroups: [""], resources: [configmaps], verbs: [get] in namespace team-a"#),
            ),
            (
                r#"patch resource "deployments/scale" in API group "apps" at the cluster scope: RBAC: role not found"#,
                Some(r#"apiGroups: ["apps"], resources: [deployments/scale], verbs: [patch] in the whole cluster"#),
            ),
            (r#"get path "/metrics""#, Some("nonResourceURLs: [/metrics], verbs: [get]")),
            ("do this", None),
        ];
        for (words, expected) in cases {
            assert_eq!(rule(&format!("{by}{words}")).as_deref(), expected, "{words}");
        }
        let grants = "user \"x\" (groups=[\"y\"]) is attempting to grant RBAC permissions not currently held:\n\
                      {APIGroups:[\"\"], Resources:[\"configmaps\"], Verbs:[\"get\"]}";
        assert_eq!(rule(grants).unwrap(), r#"{APIGroups:[""], Resources:["configmaps"], Verbs:["get"]}"#);
        assert_eq!(rule("cannot set blockOwnerDeletion if an ownerReference refers to …"), None);
    }

    #[test]
    fn refusals_of_the_user_alone_are_counted_by_call() {
        let line = |user: &str, code: u16, stage: &str| {
            format!(
                r#"{{"stage":"{stage}","verb":"get","user":{{"username":"{user}"}},"objectRef":{{"resource":"pods"}},"responseStatus":{{"code":{code},"message":"no"}}}}"#
            ) + "\n"
        };
        let log = [
            line("op", 403, "ResponseComplete"),
            line("op", 403, "ResponseStarted"),
            line("op", 200, "ResponseComplete"),
            line("other", 403, "ResponseComplete"),
            "403 no JSON\n".to_owned(),
            line("op", 403, "ResponseComplete"),
        ];
        let mut refusals = Refusals::of("op");
        for bytes in log.concat().as_bytes().chunks(7) {
            refusals.feed(bytes);
        }
        refusals.feed(b"403 without an end");
        let expected = Refusal { call: "get pods".to_owned(), message: "no".to_owned(), count: 2 };
        assert_eq!(refusals.found(), [expected]);
    }
}
