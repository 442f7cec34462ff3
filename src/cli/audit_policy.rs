//! `rolecall audit-policy`: the audit policy for better evidence next time, and how a test cluster uses it.

use anyhow::{Result, bail};

use super::Exit;
use super::args::{PlatformArg, possible_subject};
use super::output::Terminal;
use super::result_file::write_file;
use crate::api::{MINORS, builtin};
use crate::graph::SubjectKey;
use crate::rewrite::audit_policy;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Record only this subject: NAMESPACE/NAME of a service account, or a user name. Repeatable; without it everybody
    /// but Kubernetes' own components
    #[arg(long, value_name = "SUBJECT", value_parser = possible_subject)]
    subject: Vec<SubjectKey>,
    /// Write the policy to this file; standard output without it, and for `-`
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
    /// Print the configuration of a kind cluster that uses the file of --output
    #[arg(long, requires = "output")]
    kind: bool,
    /// Print the flags of an envtest API server that uses the file of --output
    #[arg(long, requires = "output", conflicts_with = "kind")]
    envtest: bool,
    /// What the cluster runs: OpenShift checks owners, which only bodies name
    #[arg(long, value_enum, value_name = "PLATFORM", default_value_t = PlatformArg::Vanilla)]
    platform: PlatformArg,
    /// Kubernetes minor of the cluster
    #[arg(long, value_name = "MINOR", default_value = crate::api::DEFAULT_MINOR)]
    kube_version: String,
}

pub(super) fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    if !MINORS.contains(&args.kube_version.as_str()) {
        bail!("no API table for Kubernetes {}; this build knows {}", args.kube_version, MINORS.join(", "));
    }
    let defaults = builtin::authenticated_rules(&args.kube_version);
    let policy = audit_policy::policy(&args.subject, args.platform.into(), &defaults);
    let Some(file) = args.output.as_deref().filter(|file| *file != "-") else {
        if args.kind || args.envtest {
            bail!("--kind and --envtest print what uses the file of --output: `-` is none");
        }
        terminal.result(&policy)?;
        return Ok(Exit::Clean);
    };
    write_file(file, &policy)?;
    if args.kind {
        terminal.result(&audit_policy::kind(file))?;
    } else if args.envtest {
        terminal.result(&audit_policy::envtest(file))?;
    }
    Ok(Exit::Clean)
}
