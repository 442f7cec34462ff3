//! The audit policy that a log was written under.

use std::fs::File;
use std::io::{self, Read};

use super::Error;
use crate::audit::policy::Policy;

/// No policy that people write comes near; the API server has no limit.
const LONGEST: u64 = 4 << 20;

/// Reads an audit policy.
///
/// # Errors
/// When the file cannot be read, or no API server would take what it holds.
#[expect(clippy::disallowed_methods, reason = "input opens files")]
pub fn audit_policy(path: &str) -> Result<Policy, Error> {
    let failed = |source| Error::Open { path: path.to_owned(), source };
    let mut text = String::new();
    File::open(path).and_then(|file| file.take(LONGEST + 1).read_to_string(&mut text)).map_err(failed)?;
    if text.len() as u64 > LONGEST {
        return Err(failed(io::Error::other("it is longer than 4 MiB")));
    }
    Ok(Policy::read(path, &text)?)
}
