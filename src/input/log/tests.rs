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
    gzip_of(text.as_bytes())
}

fn gzip_of(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("gzip");
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

/// An archive of these files, and of an entry of another kind.
fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        archive.append_data(&mut header, name, *bytes).expect("an entry");
    }
    let mut link = tar::Header::new_gnu();
    link.set_entry_type(tar::EntryType::Symlink);
    link.set_size(0);
    archive.append_link(&mut link, "link.log", "/etc/passwd").expect("a link");
    archive.into_inner().expect("an archive")
}

#[test]
fn an_archive_is_read_as_the_folder_in_it() {
    let folder = TempDir::new().expect("a folder");
    let logs = "must-gather/audit_logs/kube-apiserver";
    let long = event("3").repeat(5_000);
    let packed = gzip(&event("1"));
    let files = [
        (&*format!("{logs}/a-audit.log.gz"), &*packed),
        (&*format!("{logs}/b-audit.log"), long.as_bytes()),
        (&*format!("{logs}/audit.lock"), b"1"),
        ("must-gather/version", b"4.20\n"),
    ];
    let archive = tar(&files);
    for bytes in [archive.clone(), gzip_of(&archive), zstd::encode_all(&*archive, 0).expect("zstd")] {
        let path = file(&folder, "must-gather.tgz", &bytes);
        let usage = read(std::slice::from_ref(&path));
        assert_eq!((usage.quality.events, usage.quality.files), (5_001, 4));
        assert_eq!(usage.calls[0].samples[0].path, format!("{path}/{logs}/a-audit.log.gz"));
        let said: Vec<_> = usage.diagnostics.iter().map(|d| (d.location.path.to_string(), &*d.message)).collect();
        let [(version, _), (link, why)] = &said[..] else { panic!("{said:?}") };
        assert_eq!((version, link), (&format!("{path}/must-gather/version"), &format!("{path}/link.log")));
        assert_eq!(*why, "not a regular file");
    }
}

#[test]
fn a_cut_archive_of_logs_says_so() {
    let folder = TempDir::new().expect("a folder");
    let long = event("1").repeat(1_000);
    let archive = tar(&[("a.log", long.as_bytes()), ("b.log", event("2").as_bytes())]);
    let cut = archive.get(..512 + long.len() / 2).expect("a part");
    let usage = read(&[file(&folder, "cut.tar", cut)]);
    assert!((400..600).contains(&usage.quality.events), "{}", usage.quality.events);
    let said: Vec<_> = usage.diagnostics.iter().map(|d| (d.kind, &*d.message)).collect();
    assert!(
        said.iter().any(|(kind, why)| *kind == DiagnosticKind::Unreadable && why.starts_with("input broke off")),
        "{said:?}"
    );
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
    let zstd = zstd::encode_all(event("3").as_bytes(), 0).expect("zstd");
    let twice = file(&folder, "twice.gz", &gzip_of(&gzip(&event("1"))));
    let other = file(&folder, "other.gz", &gzip_of(&zstd));
    assert_eq!(read(&[twice, other]).quality.events, 2);
    let thrice = file(&folder, "thrice.gz", &gzip_of(&gzip_of(&gzip(&event("2")))));
    let usage = read(&[thrice]);
    assert_eq!(usage.quality.events, 0);
    assert!(usage.diagnostics[0].message.starts_with("binary data"), "{:?}", usage.diagnostics);
}

#[test]
fn a_profile_beside_its_own_log_or_its_twin_is_noted() {
    let folder = TempDir::new().expect("a folder");
    let log = file(&folder, "a.log", event("1").as_bytes());
    let other = file(&folder, "b.log", event("2").as_bytes());
    let profile = |path: &str, log: &String| {
        let profile = Profile::of(read(std::slice::from_ref(log)));
        file(&folder, path, &serde_json::to_vec(&profile).expect("JSON"))
    };
    let (own, twin, others) = (profile("own.json", &log), profile("twin.json", &log), profile("others.json", &other));
    for (logs, noted) in [
        (vec![&log, &own], vec![&log]),
        (vec![&own, &log], vec![&log]),
        (vec![&own, &twin], vec![&twin]),
        (vec![&log, &others], vec![]),
        (vec![&own, &others], vec![]),
    ] {
        let usage = read(&logs.iter().map(|path| (*path).clone()).collect::<Vec<_>>());
        let said: Vec<_> = usage.diagnostics.iter().map(|said| said.location.path.to_string()).collect();
        assert_eq!(said.iter().collect::<Vec<_>>(), noted, "{logs:?}");
        assert!(usage.diagnostics.iter().all(|said| said.message.contains("`1`") && said.message.contains("twice")));
    }
}

#[test]
fn a_name_in_an_archive_is_bounded() {
    let folder = TempDir::new().expect("a folder");
    let long = "a".repeat(4097);
    let first = event("1");
    let path = file(&folder, "long.tar", &tar(&[(&long, first.as_bytes()), ("b.log", event("2").as_bytes())]));
    let usage = read(&[path]);
    assert_eq!(usage.quality.events, 1);
    let said: Vec<_> = usage.diagnostics.iter().map(|said| (said.location.path.len(), &*said.message)).collect();
    assert!(matches!(&said[..], [(..5000, why), _] if why.starts_with("its name goes on")), "{said:?}");
    // Headers that go on end the archive.
    let path = file(&folder, "longer.tar", &tar(&[("b.log", event("2").as_bytes()), (&"a".repeat(2 << 20), b"")]));
    let usage = read(&[path]);
    assert_eq!(usage.quality.events, 1);
    let said = usage.diagnostics.iter().map(|said| &*said.message).collect::<String>();
    assert!(said.contains("more than 1 MiB of headers"), "{said}");
}

#[test]
fn a_skipped_entry_is_no_header() {
    let folder = TempDir::new().expect("a folder");
    let big = vec![b' '; 3 << 20];
    let path = file(&folder, "a.tar", &tar(&[("a.lock", &big), ("b.log", event("2").as_bytes())]));
    assert_eq!(read(&[path]).quality.events, 1);
}

#[test]
fn a_frame_that_zstd_passes_over_may_come_first() {
    let folder = TempDir::new().expect("a folder");
    let frame = [b"\x50\x2a\x4d\x18\x04\0\0\0size".to_vec(), zstd::encode_all(event("1").as_bytes(), 0).expect("zstd")];
    assert_eq!(read(&[file(&folder, "a.zst", &frame.concat())]).quality.events, 1);
}
