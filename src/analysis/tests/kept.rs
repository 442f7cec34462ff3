//! What stays although it was not seen in use.

use super::*;

/// The reasons of the rules that stay so.
fn reasons(assessment: &Assessment) -> Vec<&str> {
    let rules = assessment.minimal.iter().flat_map(|minimal| &minimal.scopes).flat_map(|scoped| &scoped.rules);
    rules.filter(|rule| rule.basis == Basis::Kept).map(|rule| &*rule.reason).collect()
}

const ROLES: &str = "201 create /apis/rbac.authorization.k8s.io/v1/namespaces/ns/roles";

#[test]
fn what_may_be_handed_out_unseen_is_not_narrowed() {
    let rules = cluster(
        "{apiGroups: [rbac.authorization.k8s.io], resources: [roles], verbs: [create]}, \
         {apiGroups: [''], resources: [configmaps], verbs: [get]}, {apiGroups: [apps], resources: ['*'], verbs: [get]}",
    );
    let uses = ["200 get /api/v1/namespaces/ns/configmaps/a", "200 get /apis/apps/v1/namespaces/ns/deployments/d"];
    let narrow = ["namespace/ns: configmaps get", "namespace/ns: deployments get"];
    assert_eq!(minimal(&only(judge(&rules, &uses, exact()))), narrow);
    // The rules of the role are not in the log.
    let all = [ROLES, uses[0], uses[1]];
    let hidden = only(judge(&rules, &all, exact()));
    let wide = ["cluster: configmaps get", "cluster: roles create", "cluster: * get (Kept)"];
    assert_eq!(minimal(&hidden), wide);
    let why = "it writes roles, and may hold this to hand it out: the log does not show their rules";
    assert_eq!(
        reasons(&hidden),
        [format!("kept as a wildcard, of which the log shows get deployments.apps: {why} (--drop-unobservable)")]
    );
    let dropped = only(judge(&rules, &all, Options { drop_unobservable: true, ..exact() }));
    assert_eq!(minimal(&dropped), [narrow[0], narrow[1], "namespace/ns: roles create"]);
    // Who may escalate holds nothing for that.
    let free = rules.replace("verbs: [create]", "verbs: [create, escalate]");
    assert_eq!(minimal(&only(judge(&free, &all, exact())))[..2], ["cluster: roles escalate (Kept)", narrow[0]]);
}

#[test]
fn what_the_policy_does_not_record_in_part_is_not_narrowed() {
    let rules = cluster("{apiGroups: [''], resources: ['*'], verbs: [get]}");
    let policy = "- {level: None, resources: [{resources: [secrets]}]}\n- {level: Metadata}\n";
    let judged = judge_under(policy, &rules, &["200 get /api/v1/namespaces/ns/pods/a"], exact()).remove(0);
    assert_eq!(minimal(&judged), ["cluster: * get (Kept)"]);
    let why = "its use is recorded only in part: rule 1 of the audit policy (line 4) has level None";
    assert_eq!(
        reasons(&judged),
        [format!("kept as a wildcard, of which the log shows get pods: {why} (--drop-unobservable)")]
    );
    let whole = judge_under("- {level: Metadata}\n", &rules, &["200 get /api/v1/namespaces/ns/pods/a"], exact());
    assert_eq!(minimal(&only(whole)), ["namespace/ns: pods get"]);
}

#[test]
fn finalizers_of_owners_that_the_log_does_not_show_outlive_the_wildcard() {
    let rules = cluster(
        "{apiGroups: [apps], resources: ['*'], verbs: ['*']}, {apiGroups: [''], resources: [configmaps], verbs: [create]}",
    );
    let reads = "200 list /apis/apps/v1/deployments";
    let made = "201 create /api/v1/namespaces/ns/configmaps";
    let role = |events: &[&str], platform| minimal(&only(judge(&rules, events, Options { platform, ..exact() })));
    let list = "cluster: deployments list,watch";
    let create = "namespace/ns: configmaps create";
    let finalizers = "cluster: deployments/finalizers update (Kept)";
    assert_eq!(role(&[reads, made], Platform::Auto), [list, finalizers, create]);
    assert_eq!(role(&[reads, made], Platform::OpenShift), [list, finalizers, create]);
    assert_eq!(role(&[reads, made], Platform::Vanilla), [list, create]);
    assert_eq!(role(&[reads], Platform::Auto), [list]);
}

#[test]
fn names_of_a_grant_stay_together_until_the_life_was_seen() {
    let rules = cluster("{apiGroups: [''], resources: [secrets], resourceNames: [a, b], verbs: [get]}");
    let in_role =
        rules.replace("ClusterRole", "Role").replace("metadata: {name: c}", "metadata: {name: c, namespace: ns}");
    let used = ["200 get /api/v1/namespaces/ns/secrets/a"];
    for rules in [&rules, &in_role] {
        let judged = only(judge(rules, &used, Options::default()));
        let scope = &judged.grants[0].scope;
        let both = [format!("{scope}: secrets [a] get"), format!("{scope}: secrets [b] get (Kept)")];
        assert_eq!(minimal(&judged), both);
        assert_eq!(minimal(&only(judge(rules, &used, exact()))), ["namespace/ns: secrets [a] get"]);
    }
}

#[test]
fn a_wildcard_that_stays_stands_for_what_was_seen_of_it() {
    let rules = cluster("{apiGroups: [apps], resources: ['*'], verbs: ['*']}");
    let used = only(judge(&rules, &["200 get /apis/apps/v1/namespaces/x/deployments/d"], Options::default()));
    assert_eq!(minimal(&used), ["cluster: * * (Kept)"]);
}
