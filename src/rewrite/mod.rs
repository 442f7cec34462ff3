//! Turns a minimal role into YAML that can be applied.

pub mod role_yaml;
mod yaml_text;
