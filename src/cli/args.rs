//! Arguments that several commands share.

use std::str::FromStr;

use clap::ValueEnum;

use super::selection::SelectionArgs;
use crate::analysis::{GrantPattern, Names, Namespaces, Platform};
use crate::finding::Severity;
use crate::graph::SubjectKey;
use crate::manifest::InstallMode;

/// Where input comes from.
#[derive(Debug, clap::Args)]
pub(super) struct InputArgs {
    /// Audit log or usage profile, `-` for standard input, or a folder of logs; plain, gzip or zstd. Repeatable
    #[arg(long, value_name = "LOG")]
    pub(super) audit: Vec<String>,
    #[command(flatten)]
    pub(super) selection: SelectionArgs,
    /// The audit policy that the API server wrote these logs under: a grant is then called unused only where every use
    /// would have been recorded
    #[arg(long, value_name = "FILE", requires = "audit")]
    pub(super) audit_policy: Option<String>,
    /// Only this subject: NAMESPACE/NAME of a service account, or a user name. Repeatable
    #[arg(long, value_name = "SUBJECT", value_parser = subject)]
    pub(super) subject: Vec<String>,
    /// Of folders and archives only files that match, as in a .gitignore. Repeatable
    #[arg(long, value_name = "GLOB")]
    pub(super) include: Vec<String>,
    /// Not files and folders that match, as in a .gitignore. Repeatable
    #[arg(long, value_name = "GLOB")]
    pub(super) exclude: Vec<String>,
    /// Render Helm charts and kustomizations first, with `helm` and `kubectl`
    #[arg(long)]
    pub(super) render: bool,
    /// Namespace of objects that name none
    #[arg(short, long, value_name = "NAMESPACE")]
    pub(super) namespace: Option<String>,
    /// How the Operator Lifecycle Manager installs bundles, when not as widely as they support
    #[arg(long, value_enum, value_name = "MODE")]
    pub(super) install_mode: Option<InstallModeArg>,
    /// Kubernetes minor to judge against
    #[arg(long, value_name = "MINOR", default_value = crate::api::DEFAULT_MINOR)]
    pub(super) kube_version: String,
    /// What the cluster runs: OpenShift checks more
    #[arg(long, value_enum, value_name = "PLATFORM", default_value_t = PlatformArg::Auto)]
    pub(super) platform: PlatformArg,
    /// Exit 3 when any part of the input could not be read
    #[arg(long)]
    pub(super) strict: bool,
    /// No progress bar
    #[arg(long)]
    pub(super) no_progress: bool,
}

/// A subject: any text that could be a name.
pub(super) fn subject(text: &str) -> Result<String, &'static str> {
    if text.trim().is_empty() || text.contains(char::is_control) { Err(NO_SUBJECT) } else { Ok(text.to_owned()) }
}

/// A subject that Kubernetes can know.
pub(super) fn possible_subject(text: &str) -> Result<SubjectKey, &'static str> {
    Some(SubjectKey::parse(text)).filter(SubjectKey::is_possible).ok_or(NO_SUBJECT)
}

const NO_SUBJECT: &str = "neither NAMESPACE/NAME of a service account nor the name of a user";

/// Values of `--install-mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum InstallModeArg {
    /// It watches its own namespace
    #[value(name = "OwnNamespace")]
    Own,
    /// It watches all namespaces: `permissions` hold in the whole cluster
    #[value(name = "AllNamespaces")]
    All,
}

impl From<InstallModeArg> for InstallMode {
    fn from(arg: InstallModeArg) -> Self {
        match arg {
            InstallModeArg::Own => Self::OwnNamespace,
            InstallModeArg::All => Self::AllNamespaces,
        }
    }
}

/// Values of `--platform`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum PlatformArg {
    /// As the log shows; else what either may check is kept
    Auto,
    /// Kubernetes as it comes
    Vanilla,
    /// OpenShift
    Openshift,
}

impl From<PlatformArg> for Platform {
    fn from(arg: PlatformArg) -> Self {
        match arg {
            PlatformArg::Auto => Self::Auto,
            PlatformArg::Vanilla => Self::Vanilla,
            PlatformArg::Openshift => Self::OpenShift,
        }
    }
}

/// How the minimal role is cut.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct RoleArgs {
    /// Object names to pin in the role
    #[arg(long, value_enum, default_value_t = NamesArg::Shipped)]
    pub(super) names: NamesArg,
    /// Scope of permissions that the shipped role holds cluster-wide
    #[arg(long, value_enum, default_value_t = NamespacesArg::Keep)]
    pub(super) namespaces: NamespacesArg,
    /// Grant denied calls too
    #[arg(long)]
    pub(super) include_denied: bool,
    /// Keep these grants as they are: `VERB RESOURCE[/SUBRESOURCE][.GROUP]` or `VERB /PATH`, `*` for anything. Repeatable
    #[arg(long, value_name = "GRANT")]
    pub(super) keep: Vec<GrantPattern>,
    /// Leave these grants out where they were not seen in use, whatever speaks for keeping them. Repeatable
    #[arg(long, value_name = "GRANT")]
    pub(super) drop: Vec<GrantPattern>,
    /// Leave out unused grants that are kept because their path may not have been exercised in the log
    #[arg(long)]
    pub(super) drop_unexercised: bool,
    /// Leave out grants that are kept because the log could not have shown their use: the operator may break
    #[arg(long)]
    pub(super) drop_unobservable: bool,
}

/// Values of `--names`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum NamesArg {
    /// Names that the shipped role has, and objects that the package itself ships or names
    Shipped,
    /// Every name seen, where names work
    All,
    /// No names
    None,
}

impl From<NamesArg> for Names {
    fn from(names: NamesArg) -> Self {
        match names {
            NamesArg::Shipped => Self::Shipped,
            NamesArg::All => Self::All,
            NamesArg::None => Self::None,
        }
    }
}

/// Values of `--namespaces`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum NamespacesArg {
    /// Stay cluster-wide where calls touched other namespaces than the account's own
    Keep,
    /// Exactly the namespaces seen
    Split,
}

impl From<NamespacesArg> for Namespaces {
    fn from(namespaces: NamespacesArg) -> Self {
        match namespaces {
            NamespacesArg::Keep => Self::Keep,
            NamespacesArg::Split => Self::Split,
        }
    }
}

/// Values of `--color`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// A severity, or never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Threshold {
    /// At or above this one.
    At(Severity),
    /// Never.
    Never,
}

impl Threshold {
    /// Whether a severity reaches the threshold.
    pub(super) fn reached_by(self, severity: Severity) -> bool {
        match self {
            Self::At(threshold) => severity >= threshold,
            Self::Never => false,
        }
    }
}

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "never" => Ok(Self::Never),
            text => text.parse().map(Self::At).map_err(|error: String| format!("{error}, or never")),
        }
    }
}
