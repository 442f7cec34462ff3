//! Turns what was found into files that can be applied: the minimal role, and the audit policy for better evidence.

pub mod audit_policy;
pub mod role_yaml;
mod yaml_text;
