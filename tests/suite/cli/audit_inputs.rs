//! Roles out of small logs with one peculiarity each, against their known answers (`answers.tsv` there).

use std::collections::BTreeMap;

use serde_json::Value;

use super::{rolecall, text};
use crate::common::{entries, shared};

const APPLY: &str = "ns op-ns: apps deployments create,patch";

/// File, rules without names, rules with `--names all` where they differ.
const ANSWERS: &[(&str, &[&str], &[&str])] = &[
    (
        "c01_narrow.log",
        &["ns op-ns: configmaps get,update"],
        &["ns op-ns: configmaps [a,b] get", "ns op-ns: configmaps [a] update"],
    ),
    ("c02_query.log", &["cluster: /metrics get"], &[]),
    ("c03_token.log", &["ns op-ns: serviceaccounts/token create"], &["ns op-ns: serviceaccounts/token [agent] create"]),
    ("c04_ssa.log", &[APPLY], &["ns op-ns: apps deployments [web] create,patch"]),
    ("c06_imp.log", &["cluster: users impersonate"], &["cluster: users [alice] impersonate"]),
    ("c07_trunc.log", &["ns op-ns: pods get"], &["ns op-ns: pods [p] get"]),
    (
        "c08_garbage.log",
        &["cluster: nodes list", "ns op-ns: pods get"],
        &["cluster: nodes list", "ns op-ns: pods [p] get"],
    ),
    (
        "c10_list.json",
        &[
            "cluster: g.example.com res0s,res10s,res11s,res12s,res13s,res14s,res15s,res16s,res17s,res18s,res19s,res1s,res20s,res21s,res22s,res23s,res24s,res25s,res26s,res27s,res28s,res29s,res2s,res30s,res31s,res32s,res33s,res34s,res35s,res36s,res37s,res38s,res39s,res3s,res40s,res41s,res42s,res43s,res44s,res45s,res46s,res47s,res48s,res49s,res4s,res5s,res6s,res7s,res8s,res9s list",
            "ns op-ns: pods get",
        ],
        &[
            "cluster: g.example.com res0s,res10s,res11s,res12s,res13s,res14s,res15s,res16s,res17s,res18s,res19s,res1s,res20s,res21s,res22s,res23s,res24s,res25s,res26s,res27s,res28s,res29s,res2s,res30s,res31s,res32s,res33s,res34s,res35s,res36s,res37s,res38s,res39s,res3s,res40s,res41s,res42s,res43s,res44s,res45s,res46s,res47s,res48s,res49s,res4s,res5s,res6s,res7s,res8s,res9s list",
            "ns op-ns: pods [p0] get",
        ],
    ),
    ("c12_ocp.log", &["cluster: nodes list", "ns op-ns: pods get"], &["cluster: nodes list", "ns op-ns: pods [p] get"]),
    ("c13_list.log", &["ns op-ns: secrets list,watch"], &[]),
    ("c13_list.log.gz", &["ns op-ns: secrets list,watch"], &[]),
    (
        "c14_404.log",
        &["ns op-ns: configmaps get,create"],
        &["ns op-ns: configmaps [x] get", "ns op-ns: configmaps create"],
    ),
    (
        "c17_watch.log",
        &["cluster: pods list,watch", "ns ns1: pods get"],
        &["cluster: pods list,watch", "ns ns1: pods [a] get"],
    ),
    (
        "c19_big.log",
        &["cluster: nodes list", "ns op-ns: configmaps update"],
        &["cluster: nodes list", "ns op-ns: configmaps [big] update"],
    ),
    ("c21_bind.log", &["ns ns1: rbac.authorization.k8s.io rolebindings create"], &[]),
    ("c22_bom.log", &["ns op-ns: secrets list,watch"], &[]),
    (
        "k01.log",
        &[
            "cluster: /metrics get",
            "ns ns1: rbac.authorization.k8s.io rolebindings create",
            "ns op-ns: configmaps get,create",
            "ns op-ns: pods,pods/log get",
        ],
        &[
            "cluster: /metrics get",
            "ns ns1: rbac.authorization.k8s.io rolebindings create",
            "ns op-ns: configmaps [x] get",
            "ns op-ns: configmaps create",
            "ns op-ns: pods,pods/log [p] get",
        ],
    ),
    (
        "r01.log",
        &["cluster: /metrics get", "ns op-ns: configmaps create", "ns op-ns: pods get"],
        &["cluster: /metrics get", "ns op-ns: configmaps create", "ns op-ns: pods [p] get"],
    ),
    (
        "g01.log",
        &[
            "cluster: /metrics get",
            "cluster: nodes list",
            APPLY,
            "ns op-ns: configmaps list",
            "ns op-ns: pods/log get",
            "ns other-ns: secrets get",
        ],
        &[
            "cluster: /metrics get",
            "cluster: nodes list",
            "ns op-ns: apps deployments [web] create,patch",
            "ns op-ns: configmaps list",
            "ns op-ns: pods/log [p] get",
            "ns other-ns: secrets [t] get",
        ],
    ),
    (
        "g02.log",
        &[APPLY, "ns op-ns: configmaps list", "ns op-ns: pods,secrets get"],
        &[
            "ns op-ns: apps deployments [web] create,patch",
            "ns op-ns: configmaps list",
            "ns op-ns: pods [p] get",
            "ns op-ns: secrets [t] get",
        ],
    ),
    ("g03.log", &["cluster: nodes list"], &[]),
];

/// What is said beside the role: file, where, part of the text.
const SAID: &[(&str, &str)] = &[
    ("c07_trunc.log", "c07_trunc.log:2:120: audit event cut short"),
    ("c08_garbage.log", "c08_garbage.log:2:1: not JSON"),
    ("c21_bind.log", "every rule of the bound role, or `bind` on that role"),
    ("k01.log", "every rule of the bound role, or `bind` on that role"),
];

/// `ns NAMESPACE: [GROUP] RESOURCES [NAMES] VERBS`, sorted.
pub(crate) fn rules(yaml: &str) -> Vec<String> {
    let documents: Vec<Value> = if yaml.is_empty() { vec![] } else { serde_saphyr::from_multiple(yaml).unwrap() };
    let list = |value: &Value| {
        let texts: Vec<&str> = value.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        texts.join(",")
    };
    let mut rules = Vec::new();
    for document in documents.iter().filter(|document| document["kind"].as_str().unwrap().ends_with("Role")) {
        let scope = document["metadata"]["namespace"].as_str().map_or("cluster".to_owned(), |ns| format!("ns {ns}"));
        for rule in document["rules"].as_array().unwrap() {
            let names = list(&rule["resourceNames"]);
            let names = if names.is_empty() { names } else { format!("[{names}]") };
            let parts = [
                list(&rule["apiGroups"]),
                list(&rule["resources"]),
                list(&rule["nonResourceURLs"]),
                names,
                list(&rule["verbs"]),
            ];
            let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            rules.push(format!("{scope}: {}", parts.join(" ")));
        }
    }
    rules.sort();
    rules
}

#[test]
fn small_logs_give_the_known_roles() {
    let Some(folder) = shared("cases/audit-inputs") else { return };
    let mut answered = BTreeMap::new();
    for (file, plain, named) in ANSWERS {
        let log = folder.join(file);
        for names in ["shipped", "all"] {
            let answer = rolecall(&["role", "--subject", "op-ns/op", "--audit", text(&log), "--names", names]);
            let expected = if names == "all" && !named.is_empty() { named } else { plain };
            assert_eq!(rules(&answer.stdout), *expected, "{file} {names}");
            // A log of a shape that is not read is refused by name, never an empty role.
            assert_eq!(answer.code, if expected.is_empty() { 3 } else { 0 }, "{file} {names}: {}", answer.stderr);
            for (_, said) in SAID.iter().filter(|(of, _)| of == file) {
                assert!(answer.stderr.contains(said), "{file}: {}", answer.stderr);
            }
            if ["k01.log", "r01.log", "g01.log"].contains(file) {
                assert!(answer.stdout.contains("Denied in the log and not granted here: delete secrets in op-ns (1×)"));
            }
        }
        answered.insert((*file).to_owned(), ());
    }
    for path in entries(&folder) {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        assert!(name == "answers.tsv" || answered.contains_key(&name), "{name} has no answer here");
    }
}
