//! The embedded data files. A further minor is one line here and one in `tests/suite/generated.rs`.

/// The Kubernetes minors that this build has data for, ascending.
pub const MINORS: [&str; 7] = ["1.31", "1.32", "1.33", "1.34", "1.35", "1.36", "1.37"];

/// The files of one minor.
pub(super) struct Minor {
    /// One line per served resource; see `table`.
    pub(super) served: &'static str,
    /// Built-in roles and bindings; see `builtin`.
    pub(super) builtin: &'static str,
}

/// The files of a minor such as `1.36`.
pub(super) fn of(minor: &str) -> Option<Minor> {
    macro_rules! embedded {
        ($minor:literal) => {
            Minor {
                served: include_str!(concat!("data/served-", $minor, ".tsv")),
                builtin: include_str!(concat!("data/builtin-", $minor, ".txt")),
            }
        };
    }
    Some(match minor {
        "1.31" => embedded!("1.31"),
        "1.32" => embedded!("1.32"),
        "1.33" => embedded!("1.33"),
        "1.34" => embedded!("1.34"),
        "1.35" => embedded!("1.35"),
        "1.36" => embedded!("1.36"),
        "1.37" => embedded!("1.37"),
        _ => return None,
    })
}
