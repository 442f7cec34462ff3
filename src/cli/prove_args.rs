//! Arguments of `rolecall prove`, and what it says in a build that talks to no cluster.

use std::path::PathBuf;
use std::time::Duration;

use super::args::{InputArgs, RoleArgs};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Manifests that the operator ships; without them the role is what the run alone shows
    #[arg(value_name = "MANIFESTS")]
    pub(super) paths: Vec<String>,
    /// What exercises the operator, such as its e2e tests; run by `sh`, twice, with ROLECALL_RUN=1 and 2. It should
    /// also restart the operator: a watch that is open is not checked again
    #[arg(short, long, value_name = "COMMAND", required_unless_present = "restore")]
    pub(super) command: Option<String>,
    /// Kubeconfig of who may change bindings; the command gets it as KUBECONFIG
    #[arg(long, value_name = "FILE")]
    pub(super) kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig
    #[arg(long, value_name = "NAME")]
    pub(super) context: Option<String>,
    /// Change the bindings without asking
    #[arg(short, long)]
    pub(super) yes: bool,
    /// Run the command once, show the role and what would be changed, and change nothing
    #[arg(long, conflicts_with = "yes")]
    pub(super) dry_run: bool,
    /// Undo the swap of a run that was killed, by its state file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "yes", "dry_run"])]
    pub(super) restore: Option<PathBuf>,
    /// Where what is changed is written down first
    #[arg(long, value_name = "FILE", default_value = "rolecall-prove.json")]
    pub(super) state: PathBuf,
    /// Seconds that the log and the authorizer may take to follow
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    pub(super) settle: Duration,
    /// File for the role that is put to the proof
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<String>,
    #[command(flatten)]
    pub(super) input: InputArgs,
    #[command(flatten)]
    pub(super) role: RoleArgs,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let most = Duration::from_secs(600);
    seconds.filter(|seconds| *seconds <= most).ok_or_else(|| "not a number of seconds up to 600".to_owned())
}

/// Says so.
#[cfg(not(feature = "live"))]
pub(super) fn run(_: &Args, _: &super::output::Terminal) -> anyhow::Result<super::Exit> {
    anyhow::bail!("this build talks to no cluster: build rolecall with the feature `live`")
}
