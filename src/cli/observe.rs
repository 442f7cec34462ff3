//! `rolecall observe`: audit logs → a usage profile, which can be merged and used wherever a log can.

use std::collections::BTreeMap;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};

use super::Exit;
use super::args::subject;
use super::output::Terminal;
use super::progress::Progress;
use super::result_file::{self, write_atomically_with};
use super::selection::{self, SelectionArgs};
use crate::audit::{Profile, Select, Usage};
use crate::graph::SubjectKey;
use crate::input::{self, Logs};
use crate::report::json;
use crate::report::text::count;
use crate::source::DiagnosticKind;

const HELP: &str = "\
Examples:
  rolecall observe audit.log.gz must-gather/ -o usage.json     logs as they are, files and folders
  rolecall observe monday.json tuesday.json -o week.json       profiles of logs, put together
  rolecall observe audit.log --attribute 'admin,agent=manager/*=my-system/my-operator' -o usage.json
  rolecall observe -f /var/log/kubernetes/audit.log -o usage.json

Exit codes: 0 read; 2 usage or input failure; 3 no event was found, or nothing of what was asked for, or unreadable parts \
under --strict";

#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    /// Audit logs and usage profiles, `-` for standard input, or folders of logs
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<String>,
    /// File for the profile; standard output without it, and for `-`
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
    /// Only calls of this subject: NAMESPACE/NAME of a service account, or a user name. Repeatable
    #[arg(long, value_name = "SUBJECT", value_parser = subject)]
    subject: Vec<String>,
    /// Only calls of service accounts
    #[arg(long, conflicts_with = "subject")]
    service_accounts: bool,
    #[command(flatten)]
    selection: SelectionArgs,
    /// Most names of objects that are kept of one user's verb on one resource in one namespace; of more only
    /// that they are more
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000)]
    most_names: usize,
    /// Follow one log file that grows or is rotated, and write the profile to the file of --output again whenever it
    /// did; until Ctrl-C
    #[arg(short, long, requires = "output")]
    follow: bool,
    /// Exit 3 when any part of the logs could not be read
    #[arg(long)]
    strict: bool,
    /// No progress bar
    #[arg(long)]
    no_progress: bool,
}

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    if args.follow {
        return follow(args, terminal);
    }
    let output = result_file::named(args.output.as_ref());
    let mut logs = Logs::find(&args.logs)?;
    if let Some(output) = output {
        if logs.leave_out(output) {
            terminal.note(&format!("{} is the profile that is written anew: not read", output.display()));
        }
        result_file::not_over(output, logs.paths())?;
    }
    let select = select(args, &logs)?;
    let progress = Progress::new(terminal, !args.no_progress, logs.bytes());
    let usage = input::read_selected(&logs, &select, &mut |bytes| progress.add(bytes))?;
    progress.finish();
    let usage = usage.bounded(args.most_names);
    let exit = said(&usage, &select, args.strict, terminal);
    if let (Some(path), true) = (output, usage.calls.is_empty()) {
        // What stands there may be a profile that took long to get.
        terminal.note(&format!("{} is not written", path.display()));
        return Ok(exit);
    }
    let profile = Profile::of(usage);
    match output {
        Some(path) => write_atomically_with(path, &mut |file| Ok(json::profile(&mut BufWriter::new(file), &profile)?))?,
        None => terminal.result_with(&mut |out| Ok(json::profile(&mut BufWriter::new(out), &profile)?))?,
    }
    Ok(exit)
}

/// What is asked of the logs.
fn select(args: &Args, logs: &Logs) -> Result<Select> {
    let mut select = args.selection.select(logs)?;
    select.users = args.subject.iter().map(|subject| SubjectKey::parse(subject).user()).collect();
    select.service_accounts = args.service_accounts;
    Ok(select)
}

/// Says what was read and what was not.
fn said(usage: &Usage, select: &Select, strict: bool, terminal: &Terminal) -> Exit {
    diagnostics(usage, terminal);
    let quality = &usage.quality;
    let shapes: Vec<String> = quality.shapes.iter().map(|(shape, count)| format!("{count} as {shape}")).collect();
    let shapes = if shapes.is_empty() { String::new() } else { format!(": {}", shapes.join(", ")) };
    let left_out = match quality.left_out {
        0 => String::new(),
        events => format!(", {events} of them not asked for"),
    };
    let skipped = match quality.skipped.iter().map(|skipped| skipped.lines).sum() {
        0 => String::new(),
        records => format!(" (and {} skipped)", count(records, "record")),
    };
    terminal.note(&format!(
        "{}{left_out}{skipped} in {}, {}{shapes}",
        count(quality.events, "event"),
        count(quality.files, "file"),
        count(usage.calls.len() as u64, "distinct call"),
    ));
    for limit in &quality.limits {
        terminal.note(limit.text());
    }
    selection::attributed(select, usage).iter().for_each(|what| terminal.note(what));
    if quality.events == 0 {
        terminal.error("no audit event was found");
        return Exit::Incomplete;
    }
    let vain = selection::in_vain(select, usage);
    vain.iter().for_each(|what| terminal.error(what));
    let lost = usage.diagnostics.iter().any(|diagnostic| diagnostic.kind == DiagnosticKind::Unreadable);
    if !vain.is_empty() || (strict && lost) { Exit::Incomplete } else { Exit::Clean }
}

/// Says what happened to the logs; of what happened to many of them alike only the first few.
fn diagnostics(usage: &Usage, terminal: &Terminal) {
    const ALIKE: usize = 5;
    let mut alike = BTreeMap::<&str, usize>::new();
    for diagnostic in &usage.diagnostics {
        let seen = alike.entry(&diagnostic.message).or_default();
        *seen += 1;
        if *seen <= ALIKE {
            let place = &diagnostic.location;
            terminal.note(&format!("{}:{}:{}: {}", place.path, place.line, place.column, diagnostic.message));
        }
    }
    for (message, more) in alike.into_iter().filter(|(_, seen)| *seen > ALIKE) {
        terminal.note(&format!("{} more: {message}", count((more - ALIKE) as u64, "file")));
    }
}

fn follow(args: &Args, terminal: &Terminal) -> Result<Exit> {
    let ([log], Some(output)) = (args.logs.as_slice(), result_file::named(args.output.as_ref())) else {
        bail!("--follow takes exactly one log, and a file for --output");
    };
    let log = Path::new(log);
    if log == Path::new(input::STDIN) || log.is_dir() || args.selection.window.is_some() {
        bail!("--follow takes one log file, no folder and no standard input, and no --window");
    }
    result_file::not_over(output, log.to_str())?;
    let select = select(args, &Logs::find(&args.logs)?)?;
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    if input::is_packed(log)? {
        bail!("--follow reads a log as it is written, and {} is compressed or an archive", log.display());
    }
    ctrlc::set_handler(move || asked.store(true, Ordering::SeqCst)).context("cannot wait for Ctrl-C")?;
    terminal.note(&format!("{} is followed into {} until Ctrl-C", log.display(), output.display()));
    let mut last = Usage::default();
    input::follow(log, select.clone(), &stop, &mut |usage| {
        last = usage.bounded(args.most_names);
        let profile = Profile::of(last.clone());
        write_atomically_with(output, &mut |file| Ok(json::profile(&mut BufWriter::new(file), &profile)?))
    })?;
    Ok(said(&last, &select, args.strict, terminal))
}
