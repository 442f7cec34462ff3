use std::fs;

use super::*;

fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

#[test]
fn directories_are_walked_and_everything_is_counted() {
    let folder = folder(&[
        ("a.yaml", b"a: 1"),
        ("sub/b.yml", b"b: 1"),
        ("sub/c.json", b"{}"),
        ("sub/readme.md", b"x"),
        ("Makefile", b"x"),
        ("bin.yaml", b"a\0b"),
        ("latin.yaml", b"a: \xe4"),
        (".hidden/d.yaml", b"d: 1"),
        ("skipped/e.yaml", b"e: 1"),
        (".git/config.yaml", b"f: 1"),
        (".gitignore", b"skipped/\n"),
        ("empty.yaml", b""),
    ]);
    let root = folder.path().to_str().unwrap().to_owned();
    let found = manifests(&[root.clone(), format!("{root}/a.yaml")]).unwrap();
    let paths: Vec<&str> =
        found.files.iter().map(|file| file.path.strip_prefix(&format!("{root}/")).unwrap()).collect();
    assert_eq!(paths, [".hidden/d.yaml", "a.yaml", "bin.yaml", "empty.yaml", "latin.yaml", "sub/b.yml", "sub/c.json"]);
    assert_eq!(found.other.into_iter().collect::<Vec<_>>(), [("(none)".to_owned(), 2), ("md".to_owned(), 1)]);
    assert_eq!(found.git_ignored, 1);
    let lost: Vec<&str> = found.diagnostics.iter().map(|lost| lost.message.as_str()).collect();
    assert_eq!(
        lost,
        ["a binary file (it holds NUL bytes)", "not UTF-8 from here on in places: those bytes are read as U+FFFD"]
    );
}

#[test]
fn a_path_that_is_not_there_is_an_error() {
    assert!(matches!(manifests(&["no/such/path".to_owned()]), Err(Error::Open { .. })));
    assert!(matches!(read_logs(&["no/such/path".to_owned()], &mut |_| {}), Err(Error::Open { .. })));
}

#[test]
fn files_are_read_whatever_their_name() {
    let folder = folder(&[("role.txt", b"a: 1")]);
    let found = manifests(&[folder.path().join("role.txt").to_str().unwrap().to_owned()]).unwrap();
    assert_eq!(found.files.len(), 1);
}

#[cfg(unix)]
#[test]
fn pipes_in_a_folder_are_not_waited_for_and_names_alike_are_two_files() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = folder(&[("sub/a.yaml", b"a: 1"), ("sub\\a.yaml", b"a: 1")]);
    for name in [b"\xfe.yaml", b"\xff.yaml"] {
        fs::write(folder.path().join(OsStr::from_bytes(name)), b"a: 1").unwrap();
    }
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe.yaml")).status();
    assert!(made.is_ok_and(|status| status.success()));
    std::os::unix::fs::symlink("nowhere", folder.path().join("dangling.yaml")).unwrap();
    let found = manifests(&[folder.path().to_str().unwrap().to_owned()]).unwrap();
    assert_eq!(found.files.iter().filter(|file| file.source.is_some()).count(), 4);
    let lost: Vec<&str> = found.diagnostics.iter().map(|lost| lost.message.as_str()).collect();
    assert_eq!(lost.len(), 2, "{lost:?}");
    assert!(lost.contains(&"not a regular file") && lost.iter().any(|why| why.contains("No such file")), "{lost:?}");
}
