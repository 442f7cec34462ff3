//! What is read of the calls of one user, when lines of others are passed over, is what is read when none is.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufReader, Read as _};

use flate2::read::MultiGzDecoder;
use rolecall::audit::{Collector, Select, Usage};

use crate::common::{entries, shared};

/// Every record is read.
fn plain(log: &[u8], select: &Select) -> Usage {
    let mut collector = Collector::selecting(select.clone());
    collector.read("audit.log", &mut &*log);
    collector.finish()
}

/// As the command does.
fn quick(log: &[u8], select: &Select) -> Usage {
    let mut collector = Collector::selecting(select.clone());
    collector.read_on(2, "audit.log", log, &mut || ());
    collector.finish()
}

#[test]
fn lines_of_others_can_be_passed_over() {
    let Some(folder) = shared("cases/recorded") else { return };
    let (mut logs, mut users, mut events, mut left_out) = (0, 0, 0, 0);
    for path in entries(&folder).iter().filter(|path| path.is_dir()).flat_map(|operator| entries(operator)) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !matches!(&*name, "audit-default.log.gz" | "audit-request.log.gz") {
            continue;
        }
        let mut log = Vec::new();
        MultiGzDecoder::new(BufReader::new(File::open(&path).expect("a log"))).read_to_end(&mut log).expect("gzip");
        let everyone = plain(&log, &Select::default());
        let found: BTreeSet<&str> = everyone.calls.iter().map(|call| &*call.user).collect();
        let accounts = found.iter().filter(|user| user.starts_with("system:serviceaccount:"));
        let others = found.iter().filter(|user| !user.starts_with("system:serviceaccount:"));
        for user in accounts.take(4).chain(others.take(2)) {
            let select = Select { users: vec![(*user).to_owned()], ..Select::default() };
            let (plain, quick) = (plain(&log, &select), quick(&log, &select));
            assert_eq!(plain.quality, quick.quality, "{user} in {}", path.display());
            assert!(plain.calls == quick.calls && plain.clients == quick.clients, "{user} in {}", path.display());
            assert_eq!(plain.diagnostics, quick.diagnostics, "{user} in {}", path.display());
            (users, events) = (users + 1, events + plain.quality.events);
            left_out += plain.quality.left_out;
        }
        logs += 1;
    }
    println!("recorded: {logs} logs, {users} users, {events} events, {left_out} of them of others: 0 different");
    assert!(logs >= 10 && left_out > events / 2);
}
