//! How long the judgement of one subject takes, after manifests and logs were read: from a hundred grants and a thousand
//! distinct calls to ten thousand and a hundred thousand, in four forms. It should grow as their sum.
//! `cargo bench --bench assess`.

#![expect(clippy::expect_used, clippy::format_push_string, reason = "a bench writes its own input")]

use std::collections::BTreeSet;
use std::fmt;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use rolecall::analysis::{Budget, Context, Options, assess};
use rolecall::api::Table;
use rolecall::audit::{Collector, Usage};
use rolecall::graph::Graph;
use rolecall::manifest::{self, Package};
use rolecall::source::SourceMap;

fn main() {
    divan::main();
}

/// What makes the grants many.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// Resources of many groups, one verb each.
    Exact,
    /// One wildcard for each of many groups.
    Wildcards,
    /// Few permissions in many namespaces.
    Namespaces,
    /// Few permissions on many names.
    Names,
}

#[derive(Debug, Clone, Copy)]
struct Case(Form, usize);

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, {} grants, {} calls", self.0, self.1, self.1 * CALLS)
    }
}

/// Distinct calls for each grant.
const CALLS: usize = 10;
const SIZES: [usize; 3] = [100, 1_000, 10_000];

fn cases() -> impl Iterator<Item = Case> {
    let forms = [Form::Exact, Form::Wildcards, Form::Namespaces, Form::Names];
    forms.into_iter().flat_map(|form| SIZES.map(|size| Case(form, size)))
}

#[divan::bench(args = cases(), max_time = 3)]
fn judge(bencher: Bencher<'_, '_>, case: Case) {
    let input = Input::of(case);
    let options = Options { subjects: vec!["ns/op".to_owned()], ..Options::default() };
    bencher.counter(ItemsCount::new(case.1 * CALLS)).bench(|| {
        let assessments = assess(&Context {
            package: &input.package,
            graph: &input.graph,
            sources: &input.sources,
            table: &input.table,
            minor: "1.36",
            usage: Some(&input.usage),
            policy: None,
            options: black_box(&options),
            budget: &Budget::whole(),
        });
        let only = assessments.first().expect("one subject");
        assert_eq!((only.grants.len(), only.calls.len()), (case.1, case.1 * CALLS), "{case}");
        assessments
    });
}

struct Input {
    sources: SourceMap,
    package: Package,
    graph: Graph,
    table: Table,
    usage: Usage,
}

impl Input {
    fn of(case: Case) -> Self {
        let mut sources = SourceMap::default();
        let id = sources.add("m.yaml", manifests(case));
        let reading = manifest::read(&sources, id);
        let mut packages = manifest::package::split(&["m.yaml".to_owned()], vec![("m.yaml".to_owned(), reading.facts)]);
        let mut package = packages.remove(0);
        package.choose_namespace(None, &BTreeSet::new());
        let graph = Graph::build(&package, "1.36");
        let mut collector = Collector::new();
        collector.read("audit.log", &mut log(case).as_bytes());
        let table = Table::for_minor("1.36").expect("a known minor");
        Self { sources, package, graph, table, usage: collector.finish() }
    }
}

const RBAC: &str = "apiVersion: rbac.authorization.k8s.io/v1";

fn manifests(Case(form, grants): Case) -> String {
    let mut text = format!("{RBAC}\nkind: ClusterRole\nmetadata: {{name: c}}\nrules:\n");
    match form {
        Form::Exact => (0..grants).for_each(|at| {
            text += &format!("- {{apiGroups: [g{}], resources: [r{}], verbs: [get]}}\n", at / 20, at % 20);
        }),
        Form::Wildcards => (0..grants).for_each(|at| {
            text += &format!("- {{apiGroups: [g{at}], resources: ['*'], verbs: ['*']}}\n");
        }),
        Form::Namespaces => (0..10).for_each(|at| {
            text += &format!("- {{apiGroups: [''], resources: [r{at}], verbs: [get]}}\n");
        }),
        Form::Names => (0..grants).for_each(|at| {
            text += &format!("- {{apiGroups: [''], resources: [secrets], resourceNames: [n{at}], verbs: [get]}}\n");
        }),
    }
    let bind = |kind: &str, metadata: &str| {
        format!(
            "---\n{RBAC}\nkind: {kind}\nmetadata: {{{metadata}}}\n\
             roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: c}}\n\
             subjects: [{{kind: ServiceAccount, name: op, namespace: ns}}]\n"
        )
    };
    match form {
        Form::Namespaces => {
            (0..grants / 10).for_each(|at| text += &bind("RoleBinding", &format!("name: b, namespace: ns{at}")));
        }
        _ => text += &bind("ClusterRoleBinding", "name: c"),
    }
    text
}

/// For each grant some calls that it allows.
fn log(Case(form, grants): Case) -> String {
    let mut log = String::new();
    for at in 0..grants {
        for call in 0..CALLS {
            let uri = match form {
                Form::Exact => format!("/apis/g{}/v1/namespaces/ns{call}/r{}/n", at / 20, at % 20),
                Form::Wildcards => format!("/apis/g{at}/v1/namespaces/ns/r{call}/n"),
                Form::Namespaces => format!("/api/v1/namespaces/ns{}/r{}/n{call}", at / 10, at % 10),
                Form::Names => format!("/api/v1/namespaces/ns{call}/secrets/n{at}"),
            };
            log += &format!(
                r#"{{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"{at}.{call}","stage":"ResponseComplete","requestURI":"{uri}","verb":"get","user":{{"username":"system:serviceaccount:ns:op"}},"responseStatus":{{"code":200}},"requestReceivedTimestamp":"2026-11-03T09:00:00.000000Z","annotations":{{"authorization.k8s.io/decision":"allow"}}}}"#
            );
            log.push('\n');
        }
    }
    log
}
