//! Audit logs recorded on a real API server, and small ones with known answers, read through the public
//! interface. The data lie beside the repository; without them these tests say so and pass.

mod fuzzed;
mod inputs;
mod micro;
mod peers;
mod pitfalls;
mod public;
mod recorded;
mod selected;
mod shapes;
mod twins;

use rolecall::api::Table;
use rolecall::audit::Observed;
use rolecall::needs::{self, Cluster, NoRoles, Platform};
use rolecall::rbac::Request;

use crate::common::PINNED_MINOR;

/// What a call needed beside its own permission, the first way of each.
fn needed(call: &Observed) -> Vec<Request> {
    let table = Table::for_minor(PINNED_MINOR).expect("a table");
    let cluster = Cluster { minor: (1, 36), platform: Platform::Vanilla, table: &table, roles: &NoRoles };
    let needs = needs::of(call, &cluster).into_iter();
    let asks = needs.flat_map(|need| need.ways.into_iter().take(1).flatten());
    let mut needed: Vec<Request> = asks.map(|ask| ask.request()).collect();
    needed.dedup();
    needed
}
