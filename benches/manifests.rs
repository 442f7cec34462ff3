//! How fast manifests are read: bytes a second of the bare event parser beside the reader of facts, over the same
//! texts in one run. `cargo bench --bench manifests`.
//!
//! One big CRD, and twenty thousand small ClusterRoles, which is the worst case for a tree; where `../shared/corpus` is
//! there, also every manifest of it.

#![expect(clippy::format_push_string, reason = "a bench writes its own input")]

use std::fmt;
use std::sync::LazyLock;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use granit_parser::Parser;
use rolecall::input::{Select, manifests};
use rolecall::manifest;
use rolecall::source::SourceMap;

fn main() {
    divan::main();
}

#[derive(Clone, Copy)]
enum Text {
    BigCrd,
    SmallRoles,
    Corpus,
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BigCrd => "a big CRD",
            Self::SmallRoles => "20 000 ClusterRoles",
            Self::Corpus => "the corpus",
        })
    }
}

const TEXTS: [Text; 3] = [Text::BigCrd, Text::SmallRoles, Text::Corpus];

impl Text {
    fn sources(self) -> &'static SourceMap {
        static BIG: LazyLock<SourceMap> = LazyLock::new(|| one(big_crd()));
        static SMALL: LazyLock<SourceMap> = LazyLock::new(|| one(small_roles()));
        static CORPUS: LazyLock<SourceMap> = LazyLock::new(|| {
            manifests(&["../shared/corpus".to_owned()], &Select::default())
                .map(|found| found.sources)
                .unwrap_or_default()
        });
        match self {
            Self::BigCrd => &BIG,
            Self::SmallRoles => &SMALL,
            Self::Corpus => &CORPUS,
        }
    }

    fn bytes(self) -> BytesCount {
        BytesCount::new(self.sources().iter().map(|(_, source)| source.text.len()).sum::<usize>())
    }
}

/// What any reader of these texts pays.
#[divan::bench(args = TEXTS, sample_count = 10)]
fn events(bencher: Bencher<'_, '_>, text: Text) {
    bencher.counter(text.bytes()).bench(|| {
        let texts = text.sources().iter().map(|(_, source)| source.text.as_str());
        texts.map(|text| Parser::new_from_str(black_box(text)).take_while(Result::is_ok).count()).sum::<usize>()
    });
}

/// The whole: events, trees, facts.
#[divan::bench(args = TEXTS, sample_count = 10)]
fn facts(bencher: Bencher<'_, '_>, text: Text) {
    bencher.counter(text.bytes()).bench(|| {
        let sources = text.sources();
        sources.iter().map(|(id, _)| manifest::read(black_box(sources), id).documents.read).sum::<u64>()
    });
}

fn one(text: String) -> SourceMap {
    let mut sources = SourceMap::default();
    sources.add("bench.yaml", text);
    sources
}

/// Two megabytes of schema, as the CRDs of real operators have it.
fn big_crd() -> String {
    let mut text = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: things.example.org\n\
                    spec:\n  group: example.org\n  names:\n    kind: Thing\n    plural: things\n  scope: Namespaced\n\
                    \x20 versions:\n  - name: v1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n\
                    \x20       type: object\n        properties:\n"
        .to_owned();
    for number in 0..8_000 {
        text += &format!(
            "          field{number}:\n            description: |-\n              What the field means, in a sentence or\n\
             \x20             two that run over several lines.\n            type: string\n            enum:\n\
             \x20           - One\n            - Two\n"
        );
    }
    text
}

fn small_roles() -> String {
    let mut text = String::new();
    for number in 0..20_000 {
        text += &format!(
            "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: role-{number}\nrules:\n\
             - apiGroups: [\"\"]\n  resources: [pods, services]\n  verbs: [get, list, watch]\n"
        );
    }
    text
}
