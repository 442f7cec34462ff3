//! The served tables, the built-in policy, and the verdict of grants row by row.

mod builtin;
mod extensions;
mod intent;
mod liveness;
mod table;

use super::{CustomResource, Table};

const RBAC: &str = "rbac.authorization.k8s.io";

/// A minor that is not the newest, with two CRDs: `widgets.example.com` with status, `gadgets.example.com` with nothing.
fn table() -> Table {
    let mut table = Table::for_minor("1.36").unwrap();
    for (plural, singular, kind, status) in
        [("widgets", "widget", "Widget", true), ("gadgets", "gadget", "Gadget", false)]
    {
        table.add_custom(&CustomResource {
            api_group: "example.com".into(),
            plural: plural.into(),
            singular: singular.into(),
            kind: kind.into(),
            short_names: vec![format!("{singular}short")],
            versions: vec!["v1".into()],
            namespaced: true,
            status,
            scale: false,
        });
    }
    table
}
