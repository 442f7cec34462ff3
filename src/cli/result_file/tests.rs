use tempfile::TempDir;

use super::*;

#[test]
fn a_dash_is_standard_output() {
    assert_eq!(named(Some(&"-".to_owned())), None);
    assert_eq!(named(Some(&"./-".to_owned())), Some(Path::new("./-")));
    assert_eq!(named(None), None);
}

#[cfg(unix)]
mod unix {
    use std::fs::Permissions;
    use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};

    use super::*;

    #[test]
    fn an_old_file_keeps_its_mode() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("usage.json");
        write_atomically(&path, "new").unwrap();
        for mode in [0o600, 0o664] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let before = fs::metadata(&path).unwrap().ino();
            write_atomically(&path, "newer").unwrap();
            let after = fs::metadata(&path).unwrap();
            assert_eq!((after.mode() & 0o777, after.ino() != before), (mode, true));
            assert_eq!(fs::read_to_string(&path).unwrap(), "newer");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_link_leads_to_its_file_also_to_one_that_is_not_there() {
        let folder = TempDir::new().unwrap();
        let (link, target) = (folder.path().join("link"), folder.path().join("target"));
        symlink("target", &link).unwrap();
        for text in ["first", "second"] {
            write_atomically(&link, text).unwrap();
            assert!(link.is_symlink() && !target.is_symlink());
            assert_eq!(fs::read_to_string(&target).unwrap(), text);
        }
    }

    #[test]
    fn a_pipe_is_written_to_and_stays_one() {
        let folder = TempDir::new().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read_to_string(pipe).unwrap()
        });
        write_atomically(&pipe, "through").unwrap();
        assert_eq!(reader.join().unwrap(), "through");
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
    }

    #[test]
    fn a_folder_is_not_replaced() {
        let folder = TempDir::new().unwrap();
        assert!(write_atomically(folder.path(), "x").is_err());
        assert!(folder.path().is_dir());
    }
}

#[test]
fn what_is_read_is_not_written_over() {
    let folder = TempDir::new().unwrap();
    let [read, other, hard] = ["read", "other", "hard"].map(|name| folder.path().join(name));
    fs::write(&read, "x").unwrap();
    fs::hard_link(&read, &hard).unwrap();
    let refused = |output: &Path| not_over(output, [read.to_str().unwrap()]).is_err();
    assert!(refused(&read) && refused(&folder.path().join(".").join("read")));
    assert_eq!(refused(&hard), cfg!(unix));
    assert!(!refused(&other));
    fs::write(&other, "x").unwrap();
    assert!(!refused(&other));
}
