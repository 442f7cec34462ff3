//! CustomResourceDefinitions: what they serve.

use super::fields::{Fields, Metadata};
use super::{Crd, Facts, Known};
use crate::api::CustomResource;
use crate::source::yaml::Node;

pub(super) fn read(fields: &mut Fields<'_>, metadata: Metadata, facts: &mut Facts) -> Known {
    let (Some(name), Some(spec)) = (metadata.name, fields.node().get("spec")) else { return Known::Patch };
    let span = fields.span();
    let resource = fields.within(spec, |spec| {
        let group = spec.text("group")?.value;
        let scope = spec.text("scope").map(|scope| scope.value);
        // v1beta1 has them beside `versions`, v1 in each version.
        let mut subresources: Vec<Node<'_>> = spec.node().get("subresources").into_iter().collect();
        let mut versions: Vec<String> =
            spec.optional_text("version").map(|version| version.value).into_iter().collect();
        for version in spec.mappings("versions") {
            if version.get("served").and_then(Node::text) == Some("false") {
                continue;
            }
            subresources.extend(version.get("subresources"));
            let name = version.get("name").and_then(Node::text).map(str::to_owned);
            versions.extend(name.filter(|name| !versions.contains(name)));
        }
        let names = spec.node().get("names")?;
        spec.within(names, |names| {
            let kind = names.text("kind").map(|kind| kind.value).unwrap_or_default();
            Some(CustomResource {
                api_group: group,
                plural: names.text("plural")?.value,
                singular: names.text("singular").map_or_else(|| kind.to_lowercase(), |singular| singular.value),
                kind,
                short_names: names.texts("shortNames").into_iter().map(|name| name.value).collect(),
                versions,
                // The default of v1beta1; v1 demands it.
                namespaced: scope.as_deref() != Some("Cluster"),
                status: subresources.iter().any(|node| has(*node, "status")),
                scale: subresources.iter().any(|node| has(*node, "scale")),
            })
        })
    });
    match resource {
        Some(resource) => {
            facts.crds.push(Crd { resource, name, span });
            Known::Read
        }
        None => Known::Patch,
    }
}

/// `status: {}` counts, also when it is written as null.
fn has(subresources: Node<'_>, wanted: &str) -> bool {
    subresources.pairs().is_some_and(|mut pairs| pairs.any(|(key, _)| key.text() == Some(wanted)))
}
