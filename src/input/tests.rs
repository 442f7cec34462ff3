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
    let found = manifests(&[root.clone(), format!("{root}/a.yaml")], &Select::default()).unwrap();
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
    assert!(matches!(manifests(&["no/such/path".to_owned()], &Select::default()), Err(Error::Open { .. })));
    assert!(matches!(read_logs(&["no/such/path".to_owned()], &mut |_| {}), Err(Error::Open { .. })));
}

#[test]
fn files_are_read_whatever_their_name() {
    let folder = folder(&[("role.txt", b"a: 1")]);
    let found = manifests(&[folder.path().join("role.txt").to_str().unwrap().to_owned()], &Select::default()).unwrap();
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
    let path = folder.path().to_str().unwrap().to_owned();
    let found = manifests(&[path.clone(), format!("{path}/")], &Select::default()).unwrap();
    assert_eq!(found.files.iter().filter(|file| file.source.is_some()).count(), 4);
    assert_eq!(found.git_ignored, 0);
    let lost: Vec<&str> = found.diagnostics.iter().map(|lost| lost.message.as_str()).collect();
    assert_eq!(lost.len(), 2, "{lost:?}");
    assert!(lost[0].contains("No such file") && lost[1] == "not a regular file", "{lost:?}");
}

/// A tar archive of these entries; with a link target a symbolic link.
fn tar(entries: &[(&str, &[u8], Option<&str>)]) -> Vec<u8> {
    let mut bytes = tar::Builder::new(Vec::new());
    for (name, content, link) in entries {
        let mut header = tar::Header::new_ustar();
        // As hostile archives have them: the crate itself refuses to write such names.
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        if let Some(link) = link {
            header.set_entry_type(tar::EntryType::Symlink);
            header.set_link_name(link).unwrap();
        }
        header.set_cksum();
        bytes.append(&header, *content).unwrap();
    }
    bytes.into_inner().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, bytes).unwrap();
    encoder.finish().unwrap()
}

fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in entries {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut writer, content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Paths and texts, below the archive, and what was lost.
fn read_archive(name: &str, bytes: &[u8], select: &Select) -> (Vec<(String, String)>, Vec<String>, Discovered) {
    let folder = folder(&[(name, bytes)]);
    let path = folder.path().join(name).to_str().unwrap().to_owned();
    let found = manifests(std::slice::from_ref(&path), select).unwrap();
    let inside = |shown: &str| shown.replacen(&path, "", 1);
    let files = found.files.iter().filter_map(|file| {
        let source = found.sources.get(file.source?)?;
        Some((inside(&file.path), source.text.to_string()))
    });
    let lost = found.diagnostics.iter().map(|lost| format!("{}: {}", inside(&lost.location.path), lost.message));
    (files.collect(), lost.collect(), found)
}

#[test]
fn archives_are_read_as_directories() {
    let entries: [(&str, &[u8], _); 4] = [
        ("chart/Chart.yaml", b"a: 1", None),
        ("./chart/templates/role.yaml", b"old", None),
        ("chart/README.md", b"x", None),
        ("chart/templates/role.yaml", b"new", None),
    ];
    let expected = [("/chart/Chart.yaml", "a: 1"), ("/chart/templates/role.yaml", "new")];
    let expected = expected.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let tar = tar(&entries);
    for (name, bytes) in [("op.tar", tar.clone()), ("op.tgz", gzip(&tar)), ("layer", gzip(&tar))] {
        let (files, lost, found) = read_archive(name, &bytes, &Select::default());
        assert_eq!((files.as_slice(), lost.as_slice()), (expected.as_slice(), [].as_slice()), "{name}");
        assert_eq!(found.other.get("md"), Some(&1), "{name}");
    }
    let zipped = zip(&[("chart/Chart.yaml", b"a: 1"), ("chart/templates/role.yaml", b"new")]);
    assert_eq!(read_archive("op.zip", &zipped, &Select::default()).0, expected);
    let one = read_archive("role.yaml.gz", &gzip(b"a: 1"), &Select::default());
    assert_eq!(one.0, [(String::new(), "a: 1".to_owned())]);
}

#[test]
fn hostile_names_and_links_in_archives_cost_their_entry() {
    let entries: [(&str, &[u8], _); 5] = [
        ("../../etc/a.yaml", b"a: 1", None),
        ("/etc/b.yaml", b"b: 1", None),
        ("c.yaml", b"", Some("/etc/passwd")),
        ("d\\..\\..\\e.yaml", b"e: 1", None),
        ("ok.yaml", b"ok: 1", None),
    ];
    let (files, lost, _) = read_archive("op.tar", &tar(&entries), &Select::default());
    assert_eq!(files, [("/ok.yaml".to_owned(), "ok: 1".to_owned())]);
    let out = |name: &str| format!(": `{name}` leads out of the archive and is left out");
    let link = "/c.yaml: a link in an archive is not followed".to_owned();
    assert_eq!(lost, [out("../../etc/a.yaml"), out("/etc/b.yaml"), link, out("d\\..\\..\\e.yaml")]);
}

#[test]
fn archives_unpack_to_no_more_than_their_limits() {
    let large = vec![b' '; (64 << 20) + 1];
    let zeros = zip(&[("a.yaml", &large), ("b.yaml", b"b: 1")]);
    assert!(zeros.len() < 1 << 20);
    let (files, lost, _) = read_archive("bomb.zip", &zeros, &Select::default());
    assert_eq!(files, [("/b.yaml".to_owned(), "b: 1".to_owned())]);
    assert_eq!(lost, ["/a.yaml: larger than 64 MiB"]);

    let (_, lost, _) = read_archive("bomb.yaml.gz", &gzip(&large), &Select::default());
    assert_eq!(lost, [": larger than 64 MiB"]);

    let part = &large[..60 << 20];
    let entries: Vec<(String, &[u8], Option<&str>)> = (0..5).map(|i| (format!("{i}.yaml"), part, None)).collect();
    let entries: Vec<(&str, &[u8], Option<&str>)> =
        entries.iter().map(|(name, b, l)| (name.as_str(), *b, *l)).collect();
    let (files, lost, _) = read_archive("bomb.tgz", &gzip(&tar(&entries)), &Select::default());
    assert_eq!(files.len(), 4);
    assert_eq!(lost[0], "/4.yaml: the archive ends in it");
    assert!(lost.len() == 2 && lost[1].contains("256 MiB"), "{lost:?}");
}

#[test]
fn a_broken_archive_costs_its_broken_part() {
    let whole = gzip(&tar(&[("a.yaml", b"a: 1", None), ("b.yaml", &vec![b'#'; 4000], None)]));
    let (files, lost, _) = read_archive("op.tgz", &whole[..whole.len() - 20], &Select::default());
    assert_eq!(files.first(), Some(&("/a.yaml".to_owned(), "a: 1".to_owned())));
    assert!(lost[0].starts_with("/b.yaml: "), "{lost:?}");
    let zipped = zip(&[("a.yaml", b"a: 1")]);
    let (files, lost, _) = read_archive("op.zip", &zipped[..zipped.len() - 10], &Select::default());
    assert!(files.is_empty() && lost.len() == 1, "{lost:?}");
}

#[test]
fn globs_choose_among_the_files_of_folders_and_archives() {
    let select = |include: &[&str], exclude: &[&str]| Select {
        include: include.iter().map(|glob| (*glob).to_owned()).collect(),
        exclude: exclude.iter().map(|glob| (*glob).to_owned()).collect(),
    };
    let files: [(&str, &[u8]); 5] = [
        ("config/role.yaml", b"a: 1"),
        ("config/crd/crd.yaml", b"a: 1"),
        ("tests/role.yaml", b"a: 1"),
        ("skipped/role.yaml", b"a: 1"),
        (".gitignore", b"skipped/\n"),
    ];
    let folder = folder(&files);
    let root = folder.path().to_str().unwrap().to_owned();
    let archive = tar(&files.map(|(name, content)| (name, content, None))[..3]);
    for (select, expected, git_ignored) in [
        (select(&[], &["tests", "crd"]), vec!["config/role.yaml"], 1),
        (select(&[], &["config/**"]), vec!["tests/role.yaml"], 1),
        (select(&["role.yaml"], &["tests"]), vec!["config/role.yaml"], 1),
        (select(&["config/**"], &[]), vec!["config/crd/crd.yaml", "config/role.yaml"], 0),
    ] {
        let found = manifests(std::slice::from_ref(&root), &select).unwrap();
        let paths: Vec<&str> =
            found.files.iter().map(|file| file.path.strip_prefix(&format!("{root}/")).unwrap()).collect();
        assert_eq!(paths, expected, "{select:?}");
        assert_eq!(found.git_ignored, git_ignored, "{select:?}");
        assert_eq!(found.deselected, 4 - git_ignored - expected.len() as u64, "{select:?}");
        let inside: Vec<String> =
            read_archive("op.tar", &archive, &select).0.into_iter().map(|(path, _)| path).collect();
        assert_eq!(inside, expected.iter().map(|path| format!("/{path}")).collect::<Vec<_>>(), "{select:?}");
    }
    assert!(matches!(manifests(&[root], &select(&["a{"], &[])), Err(Error::Glob { .. })));
}

#[test]
fn paths_with_wildcards_are_expanded() {
    let folder = folder(&[("a/role.yaml", b""), ("b/role.yaml", b""), ("[x].yaml", b"")]);
    let root = folder.path().to_str().unwrap();
    let expanded = expand(&format!("{root}/*/role.yaml")).unwrap();
    assert_eq!(expanded, [format!("{root}/a/role.yaml"), format!("{root}/b/role.yaml")]);
    assert_eq!(expand(&format!("{root}/[x].yaml")).unwrap().len(), 1);
    assert!(matches!(expand(&format!("{root}/*.json")), Err(Error::NoMatch { .. })));
}

#[test]
fn go_files_are_read_for_markers_as_controller_gen_does() {
    let marker = b"package x\n\n// +kubebuilder:rbac:groups=a,resources=b,verbs=get\n";
    let folder = folder(&[
        ("internal/controller.go", marker),
        ("internal/plain.go", b"package x\n"),
        ("internal/controller_test.go", marker),
        ("api/zz_generated.deepcopy.go", marker),
        ("vendor/a/a.go", marker),
        ("testdata/a.go", marker),
        ("role.yaml", b"a: 1"),
    ]);
    let root = folder.path().to_str().unwrap().to_owned();
    let found = manifests(&[format!("{root}/vendor/a/a.go"), root.clone()], &Select::default()).unwrap();
    let paths: Vec<&str> =
        found.files.iter().map(|file| file.path.strip_prefix(&format!("{root}/")).unwrap()).collect();
    assert_eq!(paths, ["internal/controller.go", "role.yaml", "vendor/a/a.go"]);
    assert_eq!(found.other.into_iter().collect::<Vec<_>>(), [("go".to_owned(), 5)]);
    assert!(found.diagnostics.is_empty());
}
