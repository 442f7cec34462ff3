//! RC188: calls that were allowed although nothing in the input grants them.

use super::Input;
use super::denied_call::calls;
use crate::analysis::CallVerdict;
use crate::finding::Finding;
use crate::rules::document::RuleDoc;

pub(super) fn check(input: &Input<'_>, doc: &RuleDoc, findings: &mut Vec<Finding>) {
    calls(input, doc, findings, CallVerdict::Unexplained);
}
