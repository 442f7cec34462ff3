//! `rolecall prove`: the user's command under the shipped role, under the written one, and what differs. The cluster is
//! as before whatever happens.

mod cluster;
mod command;
mod journal;
mod judge;
mod outcome;
mod swap;

use std::io::{BufRead as _, IsTerminal as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use self::cluster::Cluster;
use self::command::Scenario;
use self::journal::Journal;
use self::judge::Judge;
use self::outcome::Outcome;
use self::swap::Swapped;
use super::Exit;
use super::output::Terminal;
use super::prove_args::Args;
use super::result_file::{named, not_over, write_atomically};
use crate::graph::SubjectKey;

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    // From here on nothing but `kill -9` ends the process between the swap and the way back.
    ctrlc::set_handler(move || asked.store(true, Ordering::SeqCst)).context("cannot wait for Ctrl-C")?;
    match &args.restore {
        Some(path) => restore(args, path, terminal),
        None => prove(args, &stop, terminal),
    }
}

fn connect(args: &Args) -> Result<Cluster> {
    Cluster::connect(args.kubeconfig.as_deref(), args.context.as_deref())
}

fn restore(args: &Args, path: &Path, terminal: &Terminal) -> Result<Exit> {
    let journal = Journal::read(path)?;
    let cluster = connect(args)?;
    if journal.server != cluster.server {
        bail!("{} is of the cluster at {}, not of {}", path.display(), journal.server, cluster.server);
    }
    swap::restore(&cluster, &journal, path, terminal)?;
    terminal.result(&format!("restored what {} held before\n", journal.subject))?;
    Ok(Exit::Clean)
}

fn prove(args: &Args, stop: &AtomicBool, terminal: &Terminal) -> Result<Exit> {
    let [subject] = args.input.subject.as_slice() else { bail!("exactly one --subject NAMESPACE/NAME is needed") };
    let [log] = args.input.audit.as_slice() else {
        bail!("exactly one --audit LOG is needed: the file that the API server writes to")
    };
    let output = named(args.output.as_ref());
    if let Some(output) = output {
        not_over(output, [log.as_str()])?;
    }
    let Some(command) = &args.command else { bail!("--command is needed: what exercises the operator") };
    let key = SubjectKey::parse(subject);
    let mut judge = Judge::of(args)?;
    if args.state.exists() {
        bail!("{} exists: undo that swap first (rolecall prove --restore {0})", args.state.display());
    }
    let cluster = connect(args)?;
    let bindings = cluster.bindings()?;
    let saved = swap::naming(&bindings, &key);
    if saved.is_empty() {
        bail!("no binding of the cluster names {key}: there is nothing to replace");
    }
    let scenario = Scenario {
        command,
        kubeconfig: args.kubeconfig.as_deref(),
        log: Path::new(log),
        user: &key.user(),
        settle: args.settle,
        stop,
    };

    terminal.note("run 1, under the shipped role");
    let first = scenario.run(1)?;
    if first.usage.calls.is_empty() {
        terminal.error(&format!("{log} shows no call of {key} in this run: is it the log of this cluster?"));
        return Ok(Exit::Incomplete);
    }
    if !first.status.success() {
        bail!("the command fails under the shipped role already ({}): there is nothing to compare with", first.status);
    }
    let (written, refused) = judge.first(&key, &first.usage, terminal)?;
    if let Some(path) = output {
        write_atomically(path, &written)?;
    }
    let journal = Journal::new(&cluster.server, subject, saved, swap::made(&written, &key)?);
    let plan = swap::plan(&journal, &key, &swap::through_groups(&bindings, &key));
    let hidden = args.yes && (output.is_some() || args.output.is_none());
    terminal.result(&if hidden { plan } else { format!("{written}\n{plan}") })?;
    if args.dry_run {
        return Ok(Exit::Clean);
    }
    if !args.yes && !agreed(stop)? {
        bail!("nothing was changed");
    }

    let taken = journal.saved.clone();
    let mut swapped = Swapped::begin(&cluster, terminal, &args.state, journal, &key, scenario.settle)?;
    terminal.note("run 2, under the written role");
    let second = scenario.run(2);
    let back = swap::naming(&cluster.bindings().unwrap_or_default(), &key);
    swapped.undo()?;
    let second = second?;
    if let Some(binding) =
        back.iter().find(|binding| taken.iter().any(|own| cluster::label(own) == cluster::label(binding)))
    {
        let binding = cluster::label(binding);
        terminal
            .error(&format!("somebody put {key} back into {binding} during the run: stop what does, and try again"));
        return Ok(Exit::Incomplete);
    }
    let refused = [refused, judge.second(&second.usage)?];
    let outcome = Outcome::of(subject, [&first, &second], &refused, &taken);
    terminal.result(&outcome.text())?;
    Ok(outcome.exit())
}

/// Asks; Ctrl-C is a no.
fn agreed(stop: &AtomicBool) -> Result<bool> {
    if !std::io::stdin().is_terminal() {
        bail!("nobody can be asked: --yes agrees to this, --dry-run only shows it");
    }
    anstream::eprint!("Go on? [y/N] ");
    let (told, answer) = mpsc::channel();
    thread::spawn(move || {
        let mut line = String::new();
        let _ = std::io::stdin().lock().read_line(&mut line);
        let _ = told.send(line);
    });
    while !stop.load(Ordering::SeqCst) {
        if let Ok(line) = answer.recv_timeout(Duration::from_millis(100)) {
            return Ok(matches!(line.trim(), "y" | "Y" | "yes"));
        }
    }
    Ok(false)
}
