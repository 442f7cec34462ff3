//! What is checked but never served: no audit event ever carries it.

/// Whether (apiGroup, resource[/subresource], verb), taken literally, is only ever checked on behalf of a
/// caller and so can never be an event of its own (`bind`, `escalate`, `impersonate`, `*/finalizers`, signers …).
pub fn is_check_only(api_group: &str, resource: &str, verb: &str) -> bool {
    let _ = (api_group, resource, verb);
    unimplemented!()
}
