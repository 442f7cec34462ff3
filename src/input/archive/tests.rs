//! Archives made to cost more than they weigh, and entries that are no files.

use super::*;

fn lost(bytes: &[u8]) -> Vec<(String, String)> {
    unpack(bytes).unwrap().lost
}

fn tar_of(entries: &[(&str, tar::EntryType)]) -> Vec<u8> {
    let mut bytes = tar::Builder::new(Vec::new());
    for (name, kind) in entries {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(*kind);
        let content: &[u8] = if *kind == tar::EntryType::Continuous { b"a: 1" } else { b"" };
        header.set_size(content.len() as u64);
        header.as_gnu_mut().unwrap().set_real_size(0);
        bytes.append_data(&mut header, name, content).unwrap();
    }
    bytes.into_inner().unwrap()
}

#[test]
fn what_is_no_file_is_told_where_a_manifest_would_stand() {
    use tar::EntryType as T;
    let kinds = [T::Fifo, T::Char, T::Block, T::Symlink, T::Link, T::GNUSparse, T::new(b'Z'), T::Directory];
    let names: Vec<String> = (0..kinds.len()).map(|i| format!("{i}.yaml")).collect();
    let mut entries: Vec<(&str, T)> = names.iter().map(String::as_str).zip(kinds).collect();
    // POSIX: read as a regular file. A pipe that is no manifest is nobody's loss.
    entries.extend([("whole.yaml", T::Continuous), ("pipe", T::Fifo)]);
    let unpacked = unpack(&tar_of(&entries)).unwrap();
    assert_eq!(unpacked.files, [("whole.yaml".to_owned(), b"a: 1".to_vec())]);
    let regular = "not a regular file";
    let expected = [regular, regular, regular, LINK, LINK, regular, regular];
    let expected: Vec<_> = names.iter().cloned().zip(expected.map(str::to_owned)).collect();
    assert_eq!(unpacked.lost, expected);
}

#[test]
fn names_without_end_cost_their_entry() {
    let long = format!("{}a.yaml", "d/".repeat(MAX_NAME));
    let fits = format!("{}/a.yaml", "d".repeat(MAX_NAME - "/a.yaml".len()));
    let file = tar::EntryType::Continuous;
    let unpacked = unpack(&tar_of(&[(&long, file), (&fits, file), ("ok.yaml", file)])).unwrap();
    let names: Vec<&str> = unpacked.files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, [&fits, "ok.yaml"]);
    let why = "an entry whose name is longer than 4096 bytes is left out";
    assert_eq!(unpacked.lost, [(String::new(), why.to_owned())]);
}

/// A zip whose directory names its one entry again and again.
fn zip_that_repeats(content: &[u8], times: u8) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file("A.yaml", zip::write::SimpleFileOptions::default()).unwrap();
    std::io::Write::write_all(&mut writer, content).unwrap();
    let mut bytes = writer.finish().unwrap().into_inner();
    let mut end = bytes.split_off(bytes.len() - 22);
    let directory = bytes.split_off(u32::from_le_bytes(end[16..20].try_into().unwrap()) as usize);
    for name in (b'A'..).take(usize::from(times)) {
        let mut entry = directory.clone();
        entry[46] = name;
        bytes.extend(entry);
    }
    end[8..12].copy_from_slice(&[times, 0, times, 0]);
    let size = u32::try_from(directory.len()).unwrap() * u32::from(times);
    end[12..16].copy_from_slice(&size.to_le_bytes());
    bytes.extend(end);
    bytes
}

#[test]
fn entries_that_share_their_bytes_unpack_to_no_more_than_the_limit() {
    let small = unpack(&zip_that_repeats(b"a: 1", 26)).unwrap();
    assert_eq!((small.files.len(), small.lost.len()), (26, 0));
    // Each is too large, and none of them is kept.
    let lost = lost(&zip_that_repeats(&vec![b' '; (64 << 20) + 1], 26));
    let too_large = lost.iter().filter(|(_, why)| *why == too_large()).count();
    assert_eq!((too_large, lost.len()), (4, 5));
    assert_eq!(lost[4].1, "unpacks to more than 256 MiB: the rest is left out");
}
