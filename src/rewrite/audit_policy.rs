//! The audit policy that shows the most of what operators need for the least volume, and what makes a kind cluster or
//! an envtest API server use it. Each choice is a comment in what is written.

use std::fmt::Write as _;

use super::yaml_text::{comment, scalar};
use crate::analysis::Platform;
use crate::graph::SubjectKey;
use crate::rbac::Rule;

/// Where the log is inside of a kind node.
const LOG: &str = "/var/log/kubernetes/audit.log";
const LOG_FOLDER: &str = "/var/log/kubernetes";
const MOUNTED: &str = "/etc/kubernetes/audit/policy.yaml";

/// Resources whose bodies hold secrets; all of them are core.
const SECRET: &str = "[secrets, serviceaccounts/token]";

/// The policy for these subjects, or without one for everybody but Kubernetes' own components. `defaults` is what every
/// authenticated user may do: it needs no grant, so it is not recorded.
pub fn policy(subjects: &[SubjectKey], platform: Platform, defaults: &[Rule]) -> String {
    let who = who(subjects);
    let mut text = comment("", &head(subjects));
    text += "apiVersion: audit.k8s.io/v1\nkind: Policy\n";
    text += &comment("", "When a request comes in, nothing is decided yet: its end tells the same and the decision.");
    text += "omitStages: [RequestReceived]\n";
    text += &comment("", "Half of a body, and no permission depends on it.");
    text += "omitManagedFields: true\nrules:\n";
    text += &rule(
        "Checks that others make on behalf of the operator (webhooks, kubelets): only the body names it and what it\n\
         asks for, and only the answer tells whether it may.",
        "RequestResponse",
        &[
            "verbs: [create]",
            "resources:",
            "  - {group: authorization.k8s.io, resources: [subjectaccessreviews, localsubjectaccessreviews]}",
        ],
    );
    if subjects.is_empty() {
        text += &rule(
            "Kubernetes' own components ask all the time. Take the last line out for an operator in kube-system.",
            "None",
            &["userGroups:", "  - \"system:nodes\"", "  - \"system:serviceaccounts:kube-system\""],
        );
        let components = "users: [\"system:apiserver\", \"system:kube-controller-manager\", \"system:kube-scheduler\", \
                          \"system:kube-proxy\"]";
        text += &rule("", "None", &[components]);
    }
    let paths = default_paths(defaults);
    if !paths.is_empty() {
        let paths = format!("nonResourceURLs: [{}]", paths.join(", "));
        text += &rule(
            "Discovery and health checks: every authenticated user may, so that no grant is needed for them.",
            "None",
            &["verbs: [get]", &paths],
        );
    }
    text += &rule(
        "Whoever writes roles and bindings must hold what they grant, and only their bodies tell what that is.",
        "Request",
        &with(&who, &["verbs: [create, update, patch]", "resources:", "  - group: rbac.authorization.k8s.io"]),
    );
    text += &rule(
        "Approving and signing need `approve` and `sign` on a signer; a patch does not name it, the answer does.",
        "RequestResponse",
        &with(&who, &["verbs: [create, update, patch]", "resources:", "  - group: certificates.k8s.io"]),
    );
    text += &rule(
        "Admission policies need `get` on their parameters, device claims need the binding and the driver, and access\n\
         reviews tell what is probed.",
        "Request",
        &with(
            &who,
            &[
                "verbs: [create, update, patch]",
                "resources:",
                "  - group: admissionregistration.k8s.io",
                "    resources:",
                "      - validatingadmissionpolicies",
                "      - validatingadmissionpolicybindings",
                "      - mutatingadmissionpolicies",
                "      - mutatingadmissionpolicybindings",
                "  - {group: resource.k8s.io, resources: [resourceclaims/status]}",
                "  - group: authorization.k8s.io",
            ],
        ),
    );
    if platform == Platform::OpenShift {
        text += &owner_references(&who);
    }
    text += &rule(
        "Everything else: who asked for what, and whether it was allowed. Events and leases too: each needs a grant.",
        "Metadata",
        &who.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    if !subjects.is_empty() {
        text += &comment("  ", "Of all others nothing is recorded: no rule matches.");
    }
    text
}

/// Bodies for the admission plugin OwnerReferencesPermissionEnforcement.
fn owner_references(who: &[String]) -> String {
    let secret = format!("  - {{group: \"\", resources: {SECRET}}}");
    let kept = rule("Secrets and tokens do not belong into a log.", "Metadata", &with(who, &["resources:", &secret]));
    let bodies = rule(
        "OpenShift checks `update` on OWNER/finalizers for what is made with an owner, and only the body names the owner.",
        "Request",
        &with(who, &["verbs: [create, update, patch]", "resources:", "  - group: \"*\""]),
    );
    kept + &bodies
}

fn head(subjects: &[SubjectKey]) -> String {
    let names: Vec<String> = subjects.iter().map(ToString::to_string).collect();
    let of = if names.is_empty() { "every operator".to_owned() } else { names.join(", ") };
    format!(
        "Audit policy written by rolecall {} to see what {of} needs.\n\
         Give it to rolecall with --audit-policy beside the log, so that what it does not show is known.\n\
         Requests made while impersonating are recorded by the rules for who impersonates.",
        env!("CARGO_PKG_VERSION")
    )
}

/// The lines that restrict a rule to the subjects.
fn who(subjects: &[SubjectKey]) -> Vec<String> {
    if subjects.is_empty() {
        return Vec::new();
    }
    let users: Vec<String> = subjects.iter().map(|subject| format!("  - {}", scalar(&subject.user()))).collect();
    [vec!["users:".to_owned()], users].concat()
}

fn with<'a>(who: &'a [String], lines: &[&'a str]) -> Vec<&'a str> {
    who.iter().map(String::as_str).chain(lines.iter().copied()).collect()
}

fn rule(why: &str, level: &str, lines: &[&str]) -> String {
    let mut text = if why.is_empty() { String::new() } else { comment("  ", why) };
    let _ = writeln!(text, "  - level: {level}");
    for line in lines {
        let _ = writeln!(text, "    {line}");
    }
    text
}

/// Paths of `get` that every authenticated user may ask for; a prefix stands for what it covers.
fn default_paths(defaults: &[Rule]) -> Vec<String> {
    let of_get = defaults.iter().filter(|rule| rule.verbs.iter().any(|verb| verb == "get"));
    let mut paths: Vec<&String> = of_get.flat_map(|rule| &rule.non_resource_urls).collect();
    paths.sort();
    paths.dedup();
    paths.into_iter().map(|path| scalar(path)).collect()
}

/// A kind cluster whose API server uses the policy in `file`.
pub fn kind(file: &str) -> String {
    let file = if file.starts_with('/') { file.to_owned() } else { format!("./{file}") };
    let head = format!(
        "kind create cluster --config THIS; run it in the folder that {file} is relative to.\n\
         The log: docker exec kind-control-plane cat {LOG}"
    );
    let arguments = [("audit-policy-file", MOUNTED), ("audit-log-path", LOG), ("audit-log-maxsize", "0")];
    let map = arguments.map(|(name, value)| format!("            {name}: \"{value}\"\n")).concat();
    let list = arguments.map(|(name, value)| format!("            - {{name: {name}, value: \"{value}\"}}\n")).concat();
    [
        comment("", &head),
        "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nnodes:\n  - role: control-plane\n".to_owned(),
        comment("    ", "Into the node, and from there into the API server's pod."),
        format!("    extraMounts:\n      - hostPath: {}\n        containerPath: {MOUNTED}\n", scalar(&file)),
        "        readOnly: true\n".to_owned(),
        comment(
            "    ",
            "kubeadm takes arguments as a map up to v1beta3 and as a list since v1beta4, which kind uses from Kubernetes\n\
             1.36 on; the patch of the other version is not applied.",
        ),
        "    kubeadmConfigPatches:\n".to_owned(),
        kubeadm("v1beta3", &map),
        kubeadm("v1beta4", &list),
    ]
    .concat()
}

/// A patch of the cluster's kubeadm configuration of this version.
fn kubeadm(version: &str, arguments: &str) -> String {
    format!(
        "      - |
        apiVersion: kubeadm.k8s.io/{version}
        kind: ClusterConfiguration
        apiServer:
          extraArgs:
{arguments}          extraVolumes:
            - name: audit-policy
              hostPath: {MOUNTED}
              mountPath: {MOUNTED}
              readOnly: true
              pathType: File
            - name: audit-log
              hostPath: {LOG_FOLDER}
              mountPath: {LOG_FOLDER}
              pathType: DirectoryOrCreate
"
    )
}

/// The flags of an envtest (or any other) API server that uses the policy in `file`.
pub fn envtest(file: &str) -> String {
    let head = "In Go: testEnv.ControlPlane.GetAPIServer().Configure().Set(\"audit-policy-file\", …) for each of these.\n\
                The configuration that envtest hands out is of system:masters, for whom no role decides anything: run\n\
                the operator as its own account (a token of it, or a user of testEnv.AddUser with its user name and\n\
                groups). envtest starts the API server in a folder of its own: give the whole paths.";
    let file = crate::report::text::safe(file);
    [
        comment("", head),
        format!("--audit-policy-file={file}\n--audit-log-path=audit.log\n"),
        comment("", "One file, however long."),
        "--audit-log-maxsize=0\n".to_owned(),
    ]
    .concat()
}

#[cfg(test)]
mod tests;
