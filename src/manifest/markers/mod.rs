//! `// +kubebuilder:rbac:…` markers of Go files: what controller-gen generates roles from, so the line to change.
//! Comments (`comments`) → arguments (`arguments`) → facts; per package the roles they make (`derive`) and which shipped
//! role that is (`link`). All as controller-tools 0.23 has it; `tests/suite/markers.rs` asks controller-gen itself.

mod arguments;
mod comments;
mod constraint;
mod derive;
mod generated;
mod link;
#[cfg(test)]
mod tests;
mod tokens;

use std::ops::Range;

use memchr::memmem;

pub use derive::{GeneratedRole, GeneratedRule, derive};
pub use generated::{Generated, Permission, Token};

use super::{Marker, PolicyRule, Reading};
use crate::source::{Diagnostic, DiagnosticKind, SourceId, SourceMap, Span, Spanned};

/// The name of the marker.
const NAME: &str = "kubebuilder:rbac";

/// Whether controller-gen would read a file below the folder that it is given: Go, no test, nothing generated or
/// vendored, in no folder that `./...` leaves out. `path` is `/`-separated.
pub fn is_source(path: &str) -> bool {
    let left_out = |part: &str| matches!(part, "vendor" | "testdata") || part.starts_with(['_', '.']);
    let file = path.rsplit('/').next().unwrap_or_default();
    is_go(path) && !file.ends_with("_test.go") && !file.starts_with("zz_generated") && !path.split('/').any(left_out)
}

/// Whether a path is that of a Go file.
pub fn is_go(path: &str) -> bool {
    path.ends_with(".go")
}

/// Whether a text may hold rbac markers.
pub fn are_in(text: &str) -> bool {
    memmem::find(text.as_bytes(), b"+kubebuilder:rbac").is_some()
}

/// Reads the markers of a Go file. Those that controller-gen refuses are lost, those that it passes over are told.
pub(super) fn read(sources: &SourceMap, id: SourceId) -> Reading {
    let mut reading = Reading::default();
    let Some(source) = sources.get(id) else { return reading };
    if !constraint::is_built(&source.path, &source.text) {
        return reading;
    }
    for comment in comments::markers(&source.text) {
        let span = |range: Range<usize>| {
            let at = |byte: usize| u32::try_from(comment.start + byte).unwrap_or(u32::MAX);
            Span { source: id, start: at(range.start), end: at(range.end) }
        };
        let mut say = |kind, range, message: String| {
            reading.diagnostics.push(Diagnostic { kind, location: sources.locate(span(range)), message });
        };
        let whole = 0..comment.text.len();
        let Some(start) = arguments_at(comment.text) else {
            if comment.text.trim_start_matches('+').trim_start().starts_with(NAME) {
                say(DiagnosticKind::Note, whole, "no rbac marker to controller-gen, which passes over it".to_owned());
            }
            continue;
        };
        if !comment.counts {
            let why = "controller-gen passes over this marker: it belongs to a declaration; put an empty line between";
            say(DiagnosticKind::Note, whole, why.to_owned());
            continue;
        }
        match arguments::parse(comment.text.get(start..).unwrap_or_default()) {
            Ok(arguments) => {
                let value = |(value, range): arguments::Value| {
                    Spanned::new(value, span(start + range.start..start + range.end))
                };
                let list = |values: Vec<arguments::Value>| values.into_iter().map(value).collect::<Vec<_>>();
                let mut api_groups = list(arguments.groups);
                // What people type for the group without a name.
                api_groups.iter_mut().filter(|group| group.value == "core").for_each(|group| group.value.clear());
                reading.facts.markers.push(Marker {
                    rule: PolicyRule {
                        span: span(whole),
                        verbs: list(arguments.verbs),
                        api_groups,
                        resources: list(arguments.resources),
                        resource_names: list(arguments.resource_names),
                        non_resource_urls: list(arguments.urls),
                    },
                    namespace: arguments.namespace.map(value),
                    role_name: arguments.role_name.map(value),
                });
            }
            Err(refused) => {
                reading.facts.markers_lost += 1;
                let at = start + refused.at.start..start + refused.at.end;
                say(DiagnosticKind::Unreadable, at, format!("controller-gen refuses this marker: {}", refused.why));
            }
        }
    }
    reading
}

/// Where the arguments of an rbac marker begin; `None` for other markers (`splitMarker` and the lookup by name of
/// `pkg/markers`: the name ends at the last colon before the first `=`).
fn arguments_at(marker: &str) -> Option<usize> {
    let body = marker.strip_prefix('+')?;
    let Some((before, _)) = body.split_once('=') else { return (body == NAME).then_some(marker.len()) };
    let name = before.rsplit_once(':').map_or(before, |(name, _)| name);
    (before == NAME || name == NAME).then(|| 1 + name.len() + 1)
}
