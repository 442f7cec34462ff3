use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

use super::*;
use crate::source::DiagnosticKind;

fn event(id: &str) -> String {
    format!(
        r#"{{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"{id}","stage":"ResponseComplete","requestURI":"/metrics","verb":"get","user":{{"username":"u"}},"responseStatus":{{"code":200}}}}"#
    ) + "\n"
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).expect("gzip");
    encoder.finish().expect("gzip")
}

fn file(folder: &TempDir, name: &str, bytes: &[u8]) -> String {
    let path = folder.path().join(name);
    fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    fs::write(&path, bytes).expect("a file");
    path.to_string_lossy().into_owned()
}

fn read(paths: &[String]) -> Usage {
    read_logs(paths, &mut |_| ()).expect("logs")
}

#[test]
fn gzip_is_known_by_its_bytes_not_its_name() {
    let folder = TempDir::new().expect("a folder");
    let packed = file(&folder, "packed.log", &gzip(&event("1")));
    let plain = file(&folder, "plain.log.gz", event("2").as_bytes());
    let tiny = file(&folder, "tiny.log", b"\n");
    let usage = read(&[packed, plain, tiny]);
    assert_eq!((usage.quality.events, usage.calls.len()), (2, 1));
}

#[test]
fn concatenated_members_are_one_log() {
    let folder = TempDir::new().expect("a folder");
    let both = [gzip(&event("1")), gzip(&event("2"))].concat();
    assert_eq!(read(&[file(&folder, "both.gz", &both)]).quality.events, 2);
}

#[test]
fn a_cut_archive_keeps_what_could_be_read() {
    let folder = TempDir::new().expect("a folder");
    let mut text = String::new();
    for id in 0..2000 {
        text += &event(&format!("{:x}", id * 7919));
    }
    let whole = gzip(&text);
    let cut = file(&folder, "cut.gz", whole.get(..whole.len() - 20).unwrap_or_default());
    let usage = read(&[cut]);
    assert!(usage.quality.events > 1000, "{}", usage.quality.events);
    assert_eq!(usage.diagnostics.last().map(|d| d.kind), Some(DiagnosticKind::Unreadable));
    assert!(usage.diagnostics.last().is_some_and(|d| d.message.starts_with("input broke off")));
}

#[test]
fn a_folder_is_read_by_name_and_a_log_given_twice_once() {
    let folder = TempDir::new().expect("a folder");
    file(&folder, "b.log", event("2").as_bytes());
    file(&folder, "a.log", event("1").as_bytes());
    file(&folder, "c/d.log", event("3").as_bytes());
    let root = folder.path().to_string_lossy().into_owned();
    let usage = read(&[root.clone(), format!("{root}/b.log")]);
    let ids: Vec<_> = usage.calls[0].samples.iter().map(|sample| &*sample.audit_id).collect();
    assert_eq!(ids, ["1", "2", "3"]);
    assert_eq!(usage.diagnostics.len(), 1);
    assert!(usage.diagnostics[0].message.contains("twice"));
}

#[test]
fn progress_adds_up_to_the_bytes_on_disk() {
    let folder = TempDir::new().expect("a folder");
    let paths = [file(&folder, "a", &gzip(&event("1"))), file(&folder, "b", event("2").as_bytes())];
    let mut read = 0;
    read_logs(&paths, &mut |bytes| read += bytes).expect("logs");
    assert_eq!(Some(read), log_bytes(&paths));
    assert_eq!(log_bytes(&[STDIN.to_owned()]), None);
}

#[test]
fn a_log_that_is_not_there_is_an_error() {
    let missing = read_logs(&["/nonexistent/audit.log".to_owned()], &mut |_| ());
    assert!(missing.is_err_and(|error| error.to_string().contains("/nonexistent/audit.log")));
}

#[test]
fn what_was_packed_twice_is_read_and_three_times_is_named() {
    let folder = TempDir::new().expect("a folder");
    let gzipped = |bytes: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).expect("gzip");
        encoder.finish().expect("gzip")
    };
    let zstd = zstd::encode_all(event("3").as_bytes(), 0).expect("zstd");
    let twice = file(&folder, "twice.gz", &gzipped(&gzip(&event("1"))));
    let other = file(&folder, "other.gz", &gzipped(&zstd));
    assert_eq!(read(&[twice, other]).quality.events, 2);
    let thrice = file(&folder, "thrice.gz", &gzipped(&gzipped(&gzip(&event("2")))));
    let usage = read(&[thrice]);
    assert_eq!(usage.quality.events, 0);
    assert!(usage.diagnostics[0].message.starts_with("binary data"), "{:?}", usage.diagnostics);
}
