//! The fuzz targets on their committed corpus: inputs that once broke something stay tested without a fuzzer.

use std::fs;
use std::path::Path;

use crate::common::entries;

#[path = "../../../fuzz/check.rs"]
mod check;

#[test]
fn the_corpus_of_the_fuzzer_holds() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    type Target = (&'static str, fn(&[u8]));
    let targets: [Target; 5] = [
        ("aks", check::aks),
        ("eks", check::eks),
        ("framing", check::framing),
        ("gke", check::gke),
        ("native", check::native),
    ];
    let folders: Vec<_> = entries(&corpus).iter().map(|path| path.file_name().unwrap().to_owned()).collect();
    assert_eq!(folders, targets.map(|(name, _)| name));
    for (name, target) in targets {
        let inputs = entries(&corpus.join(name));
        assert!(inputs.len() > 3, "{name}");
        inputs.iter().for_each(|input| target(&fs::read(input).unwrap()));
    }
}
