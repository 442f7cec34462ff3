//! One run of the user's command, with what the audit log shows of the subject meanwhile.

use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};

use crate::audit::{Select, Usage};
use crate::input::{self, Tail};

const PAUSE: Duration = Duration::from_millis(50);
/// How many pauses a command that was told to end has for it.
const GRACE: usize = 200;

/// What is run, and where it shows.
pub(super) struct Scenario<'a> {
    pub(super) command: &'a str,
    pub(super) kubeconfig: Option<&'a Path>,
    pub(super) log: &'a Path,
    pub(super) user: &'a str,
    /// How long the log may lag behind.
    pub(super) settle: Duration,
    /// Set by Ctrl-C.
    pub(super) stop: &'a AtomicBool,
}

/// What came of a run.
pub(super) struct Ran {
    pub(super) status: ExitStatus,
    pub(super) usage: Usage,
}

impl Scenario<'_> {
    pub(super) fn interrupted(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Runs the command; `number` is 1 under the shipped role and 2 under the written one. An error when it was
    /// interrupted.
    pub(super) fn run(&self, number: u8) -> Result<Ran> {
        let tail = Tail::from_end(self.log)?;
        let ended = AtomicBool::new(false);
        let select = Select { users: vec![self.user.to_owned()], ..Select::default() };
        thread::scope(|scope| {
            let ended = &ended;
            let following = scope.spawn(move || {
                let mut last = Usage::default();
                tail.follow(select, ended, &mut |usage| {
                    last = usage;
                    Ok::<_, input::Error>(())
                })?;
                Ok::<_, input::Error>(last)
            });
            let status = self.child(number);
            if status.is_ok() {
                self.wait(self.settle);
            }
            ended.store(true, Ordering::SeqCst);
            let usage = following.join().map_err(|_| anyhow!("the reader of the log ended"))??;
            Ok(Ran { status: status?, usage })
        })
    }

    /// Sleeps, unless interrupted.
    fn wait(&self, time: Duration) {
        let pauses = time.as_millis() / PAUSE.as_millis();
        (0..pauses).take_while(|_| !self.interrupted()).for_each(|_| thread::sleep(PAUSE));
    }

    fn child(&self, number: u8) -> Result<ExitStatus> {
        let mut shell = Command::new("sh");
        shell.args(["-c", self.command]).env("ROLECALL_RUN", number.to_string()).stdin(Stdio::null());
        // Standard output is for the result.
        shell.stdout(io::stderr());
        if let Some(kubeconfig) = self.kubeconfig {
            shell.env("KUBECONFIG", kubeconfig);
        }
        // A group of its own, so that all of it can be ended.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut shell, 0);
        let mut child = shell.spawn().context("cannot run `sh`")?;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            if self.interrupted() {
                end(&mut child);
                return Err(anyhow!("interrupted in run {number}"));
            }
            thread::sleep(PAUSE);
        }
    }
}

/// Ends a command and what it has started: by request, then by force.
fn end(child: &mut Child) {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process_group};
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::TERM);
            let ended = (0..GRACE).any(|_| {
                thread::sleep(PAUSE);
                child.try_wait().is_ok_and(|status| status.is_some())
            });
            // Also what the shell has left behind.
            let _ = kill_process_group(group, Signal::KILL);
            if ended {
                return;
            }
        }
    }
    let _ = child.kill();
    let _ = child.wait();
}
