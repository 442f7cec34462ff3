//! The same calls written in every shape give the same usage, apart from what a shape declares to lose.

mod calls;
mod document;
mod model;
mod write;

use proptest::prelude::*;
use rolecall::audit::{Collector, Loss, Observed, Usage};
use serde_json::Value;

use calls::Call;
use write::{CARRIERS, Carrier};

fn read(log: &str) -> Usage {
    let mut collector = Collector::new();
    collector.read("audit.log", &mut log.as_bytes());
    collector.finish()
}

/// What a log says, without the lines that say it.
fn profile(usage: &Usage) -> Vec<Observed> {
    let bare = |call: &std::sync::Arc<Observed>| Observed { samples: Vec::new(), ..(**call).clone() };
    usage.calls.iter().map(bare).collect()
}

/// The event as a shape with that loss would have it; `None` where it has none.
fn lose(mut event: Value, loss: Loss) -> Option<Value> {
    let fields = event.as_object_mut()?;
    match loss {
        Loss::Impersonation => {
            fields.remove("impersonatedUser");
        }
        Loss::Query => {
            let uri = fields["requestURI"].as_str()?.split('?').next()?.to_owned();
            fields.insert("requestURI".to_owned(), uri.into());
        }
        Loss::ObjectRef => {
            fields.remove("objectRef");
        }
        Loss::Pod => {
            fields["user"].as_object_mut()?.remove("extra");
        }
        Loss::Level => {
            let level = if fields.contains_key("requestObject") { "Request" } else { "Metadata" };
            fields.insert("level".to_owned(), level.into());
        }
        Loss::Code => {
            if let Some(code) = event.pointer_mut("/responseStatus/code") {
                *code = match code.as_u64()? {
                    201 | 202 | 204 => 200.into(),
                    422 => 400.into(),
                    code => code.into(),
                };
            }
        }
        Loss::Received => {
            fields.get("stage").filter(|stage| *stage != "RequestReceived")?;
        }
    }
    Some(event)
}

fn check(carrier: &Carrier, events: &[Value]) -> Result<(), String> {
    let kept = events.iter().filter_map(|event| carrier.shape.losses().iter().copied().try_fold(event.clone(), lose));
    let kept: Vec<Value> = kept.collect();
    let native: String = kept.iter().map(|event| format!("{event}\n")).collect();
    let expected = read(&native);
    let log = (carrier.write)(events);
    let usage = read(&log);
    let (got, wanted) = (profile(&usage), profile(&expected));
    if got != wanted {
        let other = got.iter().find(|call| !wanted.contains(call));
        let missing = wanted.iter().find(|call| !got.contains(call));
        return Err(format!("{}: read {other:#?}, not {missing:#?}\n{log:.3000}", carrier.name));
    }
    if usage.clients != expected.clients {
        return Err(format!("{}: clients {:#?}, not {:#?}", carrier.name, usage.clients, expected.clients));
    }
    if !usage.quality.skipped.is_empty() {
        return Err(format!("{}: lost {:?}\n{log:.3000}", carrier.name, usage.quality.skipped));
    }
    match usage.quality.shapes.keys().all(|shape| shape == carrier.shape.name()) {
        true => Ok(()),
        false => Err(format!("{}: {:?}", carrier.name, usage.quality.shapes)),
    }
}

#[test]
fn every_shape_gives_the_same_usage() {
    let calls = calls::table();
    let events = calls::events(&calls);
    let mut table = String::new();
    let mut wrong = Vec::new();
    for carrier in CARRIERS {
        wrong.extend(check(carrier, &events).err());
        let losses: Vec<_> = carrier.shape.losses().iter().map(|loss| loss.text()).collect();
        table += &format!("{} | {} | {}\n", carrier.shape.name(), carrier.name, losses.join(", "));
    }
    println!("{} calls, {} events, {} carriers\n{table}", calls.len(), events.len(), CARRIERS.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(rolecall::audit::Shape::ALL.iter().all(|shape| CARRIERS.iter().any(|carrier| carrier.shape == *shape)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn whatever_was_called(calls in prop::collection::vec(any_call(), 1..12)) {
        let events = calls::events(&calls);
        for carrier in CARRIERS {
            check(carrier, &events).map_err(TestCaseError::fail)?;
        }
    }
}

fn any_call() -> impl Strategy<Value = Call> {
    let who = (prop::sample::select(calls::USERS), prop::option::of(prop::sample::select(calls::USERS)));
    let verb =
        prop::sample::select(&["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"][..]);
    let what = prop::sample::select(calls::RESOURCES);
    let place = (prop::sample::select(&["", "n1", "n2"][..]), prop::sample::select(&["a", "b.c", "x:y"][..]));
    let answer = prop::sample::select(calls::ANSWERS);
    (who, verb, what, place, answer, 0_u8..4).prop_map(
        |((user, acting), verb, what, (namespace, name), answer, level)| Call {
            user,
            acting,
            verb,
            what,
            namespace,
            name,
            answer,
            level,
            ..Call::default()
        },
    )
}
