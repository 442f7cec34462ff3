//! Ids of the control frameworks that rules name, each with a gist. The data is `controls.tsv`: NIST titles are
//! public domain, the gists of CIS safeguards are our own words. A mapping supports a control, it proves none.

use std::sync::LazyLock;

const DATA: &str = include_str!("controls.tsv");

/// A framework whose controls rules may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Framework {
    /// NIST SP 800-53 Revision 5.
    Nist80053,
    /// NIST Cybersecurity Framework 2.0.
    Csf2,
    /// CIS Controls version 8 (and 8.1, same numbers).
    Cis8,
}

impl Framework {
    /// All, in the order shown.
    pub const ALL: [Self; 3] = [Self::Nist80053, Self::Csf2, Self::Cis8];

    /// Key in rule documents and in the data file.
    pub fn key(self) -> &'static str {
        match self {
            Self::Nist80053 => "nist-800-53",
            Self::Csf2 => "nist-csf-2.0",
            Self::Cis8 => "cis-controls-v8",
        }
    }

    /// Name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Nist80053 => "NIST SP 800-53 Rev. 5",
            Self::Csf2 => "NIST CSF 2.0",
            Self::Cis8 => "CIS Controls v8",
        }
    }

    /// How one of its ids is shown: `AC-6(1)`, `PR.AA-05`, `CIS 6.8`.
    pub fn display(self, id: &str) -> String {
        match self {
            Self::Nist80053 | Self::Csf2 => id.to_owned(),
            Self::Cis8 => format!("CIS {id}"),
        }
    }
}

/// One control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Control {
    /// Its framework.
    pub framework: Framework,
    /// Its id as the framework writes it (`AC-6(1)`, `PR.AA-05`, `6.8`).
    pub id: &'static str,
    /// Title (NIST SP 800-53) or gist.
    pub gist: &'static str,
}

static CONTROLS: LazyLock<Vec<Control>> = LazyLock::new(|| DATA.lines().filter_map(parse).collect());

fn parse(line: &'static str) -> Option<Control> {
    let mut fields = line.split('\t');
    let key = fields.next()?;
    let framework = Framework::ALL.into_iter().find(|framework| framework.key() == key)?;
    Some(Control { framework, id: fields.next()?, gist: fields.next()? })
}

/// Every control that this build knows.
pub fn all() -> &'static [Control] {
    &CONTROLS
}

/// The control of an id; `None` when this build does not know it.
pub fn lookup(framework: Framework, id: &str) -> Option<&'static Control> {
    CONTROLS.iter().find(|control| control.framework == framework && control.id == id)
}

#[cfg(test)]
mod tests;
