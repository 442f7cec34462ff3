//! The identity of a finding across runs: what it speaks of, never where that is written.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use super::Finding;

/// Hex digits of a fingerprint.
const DIGITS: usize = 32;

/// First 32 hex digits of the SHA-256 over the parts: rule id (without scope suffix), package, subject, role
/// (`KIND NAMESPACE/NAME`) and permission. Each part carries its length, so that no two lists run together.
pub fn of(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    let mut hex = String::with_capacity(2 * DIGITS);
    for byte in hash.finalize() {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex.truncate(DIGITS);
    hex
}

/// Makes the fingerprints of a sorted run unique: of those that are equal, the second and later ones get the
/// fingerprint of (fingerprint, ordinal).
pub fn make_unique(findings: &mut [Finding]) {
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    for finding in findings {
        let ordinal = seen.entry(finding.fingerprint.clone()).or_default();
        *ordinal += 1;
        if *ordinal > 1 {
            finding.fingerprint = of(&[&finding.fingerprint, &ordinal.to_string()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_together() {
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_ne!(of(&["a"]), of(&["a", ""]));
    }

    #[test]
    fn a_fingerprint_is_32_hex_digits_and_stays_what_it_is() {
        let print = of(&["RC039", "op", "op-ns/op", "ClusterRole op", "create serviceaccounts/token"]);
        assert_eq!(print.len(), DIGITS);
        assert!(print.chars().all(|c| c.is_ascii_hexdigit()));
        // Frozen: baselines of users hold these.
        assert_eq!(of(&[]), "e3b0c44298fc1c149afbf4c8996fb924");
    }
}
