//! The served tables, the built-in policy, and the verdict of grants row by row.

mod builtin;
mod liveness;
mod table;

use super::{CustomResource, DEFAULT_MINOR, Table};

const RBAC: &str = "rbac.authorization.k8s.io";

/// The default minor with two CRDs: `widgets.example.com` with status, `gadgets.example.com` with nothing.
fn table() -> Table {
    let mut table = Table::for_minor(DEFAULT_MINOR).unwrap();
    for (plural, singular, kind, status) in
        [("widgets", "widget", "Widget", true), ("gadgets", "gadget", "Gadget", false)]
    {
        table.add_custom(&CustomResource {
            api_group: "example.com".into(),
            plural: plural.into(),
            singular: singular.into(),
            kind: kind.into(),
            namespaced: true,
            status,
            scale: false,
        });
    }
    table
}
