//! The package border: which files belong together as one operator. Roles of the same name in different
//! packages never merge.

use std::collections::{BTreeMap, BTreeSet};

use super::markers::Generated;
use super::{BindingKind, Facts, InstallMode, RoleKind};

/// The namespace of objects that name none, when the package does not tell either.
pub const PLACEHOLDER_NAMESPACE: &str = "default-of-package";

/// The facts of one operator.
#[derive(Debug, Clone, Default)]
pub struct Package {
    /// The folder it came from; `.` for files that were given one by one.
    pub name: String,
    /// Its facts.
    pub facts: Facts,
    /// Namespace of namespaced objects that name none.
    pub namespace: String,
    /// How that namespace was chosen.
    pub namespace_from: NamespaceFrom,
    /// How the Operator Lifecycle Manager installs it; `None` without a ClusterServiceVersion.
    pub install_mode: Option<InstallMode>,
    /// It holds a kustomization that was not built, so names may still change.
    pub kustomized: bool,
    /// Its roles that are generated from its markers, see [`Package::link_markers`].
    pub generated: Vec<Generated>,
}

/// How the namespace of a package was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NamespaceFrom {
    /// Given by the user.
    Flag,
    /// The only one that its manifests name.
    Manifests,
    /// The only one in which the log shows accounts of these names.
    Log,
    /// Nothing tells: [`PLACEHOLDER_NAMESPACE`].
    #[default]
    Placeholder,
}

/// Splits the facts of files into packages.
///
/// A file given by itself belongs to the package `.`. A directory argument is one package, unless two or more of the
/// charts, bundles and top folders in it hold workloads of their own: then each of them is one.
pub fn split(arguments: &[String], files: Vec<(String, Facts)>) -> Vec<Package> {
    let roots: Vec<(&String, Vec<&str>)> = arguments.iter().map(|argument| (argument, components(argument))).collect();
    let units = units(files.iter().map(|(path, _)| path.as_str()));
    let mut placed = Vec::new();
    for (path, facts) in files {
        let parts = components(&path);
        let root = roots
            .iter()
            .filter(|(_, root)| root.len() < parts.len() && parts.starts_with(root))
            .max_by_key(|(_, root)| root.len());
        let (root, unit) = match root {
            Some((argument, root)) => {
                // The outermost chart or bundle below the argument, else the top folder.
                let ends = (root.len() + 1)..parts.len();
                let mut folders = ends.filter_map(|end| Some(parts.get(..end)?.join("/")));
                let top = folders.next();
                let outermost = top.iter().cloned().chain(folders).find(|folder| units.contains(folder));
                (Some((*argument).clone()), outermost.or(top))
            }
            None => (None, None),
        };
        placed.push((root, unit, path, facts));
    }

    let mut with_workloads: BTreeMap<&Option<String>, BTreeSet<&str>> = BTreeMap::new();
    for (root, unit, _, facts) in &placed {
        if let Some(unit) = unit
            && !facts.workloads.is_empty()
        {
            with_workloads.entry(root).or_default().insert(unit);
        }
    }
    let splits: BTreeSet<Option<String>> =
        with_workloads.into_iter().filter(|(_, units)| units.len() > 1).map(|(root, _)| root.clone()).collect();

    let mut packages: BTreeMap<String, Package> = BTreeMap::new();
    for (root, unit, path, facts) in placed {
        let name = match (&root, unit) {
            (Some(_), Some(unit)) if splits.contains(&root) => unit,
            (Some(argument), _) => normal(argument),
            (None, _) => ".".to_owned(),
        };
        let package = packages.entry(name.clone()).or_insert_with(|| Package { name, ..Package::default() });
        package.kustomized |= super::unrendered::is_kustomization(&path);
        package.facts.extend(facts);
    }
    share_markers(&mut packages);
    packages.into_values().collect()
}

/// Folders that hold one operator by their form: Helm charts, and bundles of the Operator Lifecycle Manager.
fn units<'a>(paths: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    let folder = |path: &'a str| {
        let mut parts = components(path);
        let inside = match parts.as_slice() {
            [.., "Chart.yaml"] => 1,
            [.., "metadata", "annotations.yaml"] => 2,
            _ => return None,
        };
        parts.truncate(parts.len() - inside);
        Some(parts.join("/"))
    };
    paths.filter_map(folder).filter(|folder| !folder.is_empty()).collect()
}

/// Code that would be shared by more packages than this is not that of one operator.
const MOST_SHARING: usize = 8;

/// The Go code of an operator often stands in other folders than its manifests: folders of code alone are no packages,
/// and their markers are those of every package that has roles and no markers of its own.
fn share_markers(packages: &mut BTreeMap<String, Package>) {
    let code: Vec<Facts> =
        packages.extract_if(.., |_, package| package.is_code_alone()).map(|(_, p)| p.facts).collect();
    let takes = |package: &&mut Package| !package.facts.roles.is_empty() && package.facts.markers.is_empty();
    let takers: Vec<&mut Package> = packages.values_mut().filter(takes).collect();
    if takers.len() <= MOST_SHARING {
        for package in takers {
            code.iter().cloned().for_each(|facts| package.facts.extend(facts));
        }
    }
}

fn components(path: &str) -> Vec<&str> {
    path.split('/')
        .enumerate()
        .filter(|(i, part)| (*i == 0 || !part.is_empty()) && *part != ".")
        .map(|(_, p)| p)
        .collect()
}

fn normal(path: &str) -> String {
    let parts = components(path);
    if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
}

impl Facts {
    /// Adds the facts of another source.
    pub fn extend(&mut self, other: Self) {
        self.roles.extend(other.roles);
        self.bindings.extend(other.bindings);
        self.accounts.extend(other.accounts);
        self.namespaces.extend(other.namespaces);
        self.crds.extend(other.crds);
        self.workloads.extend(other.workloads);
        self.olm_installs.extend(other.olm_installs);
        self.objects.extend(other.objects);
        self.markers.extend(other.markers);
        self.markers_lost += other.markers_lost;
        self.incomplete |= other.incomplete;
    }
}

impl Package {
    /// Chooses the namespace of objects that name none: `flag`, else the only one that the manifests name, else
    /// the only one in which `users` (user names of a log) has accounts that this package leaves without one.
    pub fn choose_namespace(&mut self, flag: Option<&str>, users: &BTreeSet<&str>) {
        let (namespace, from) = if let Some(flag) = flag {
            (flag.to_owned(), NamespaceFrom::Flag)
        } else if let Some(only) = only(self.named_namespaces()) {
            (only, NamespaceFrom::Manifests)
        } else if let Some(only) = only(self.namespaces_in_log(users)) {
            (only, NamespaceFrom::Log)
        } else {
            (PLACEHOLDER_NAMESPACE.to_owned(), NamespaceFrom::Placeholder)
        };
        self.namespace = namespace;
        self.namespace_from = from;
    }

    /// Installs what ClusterServiceVersions hold as OLM would: for all namespaces where one of them supports that,
    /// unless `flag` says otherwise; else `permissions` hold in the operator's namespace.
    ///
    /// OLM also lets the operator read namespaces when it watches all; nobody can leave that out of a bundle, so it is
    /// no grant of it.
    pub fn choose_install_mode(&mut self, flag: Option<InstallMode>) {
        let installs = &self.facts.olm_installs;
        if installs.is_empty() {
            return;
        }
        let all = installs.iter().any(|install| install.supported.contains(&InstallMode::AllNamespaces));
        let mode = flag.unwrap_or(if all { InstallMode::AllNamespaces } else { InstallMode::OwnNamespace });
        self.install_mode = Some(mode);
        if mode != InstallMode::AllNamespaces {
            return;
        }
        for role in self.facts.roles.iter_mut().filter(|role| role.olm_permissions) {
            role.kind = RoleKind::ClusterRole;
        }
        for binding in self.facts.bindings.iter_mut().filter(|binding| binding.olm_permissions) {
            (binding.kind, binding.role_kind) = (BindingKind::ClusterRoleBinding, RoleKind::ClusterRole);
        }
    }

    /// Whether it holds markers of Go files and nothing else.
    fn is_code_alone(&self) -> bool {
        let facts = &self.facts;
        let has_markers = !facts.markers.is_empty() || facts.markers_lost > 0;
        has_markers && facts.objects.is_empty() && !self.kustomized
    }

    /// The namespace an object is in.
    pub fn resolve<'a>(&'a self, namespace: Option<&'a crate::source::Spanned<String>>) -> &'a str {
        namespace.map_or(self.namespace.as_str(), |namespace| namespace.as_str())
    }

    fn named_namespaces(&self) -> BTreeSet<String> {
        let facts = &self.facts;
        let objects = facts.roles.iter().filter_map(|role| role.namespace.as_ref());
        let objects = objects.chain(facts.bindings.iter().filter_map(|binding| binding.namespace.as_ref()));
        let objects = objects.chain(facts.accounts.iter().filter_map(|account| account.namespace.as_ref()));
        let objects = objects.chain(facts.workloads.iter().filter_map(|workload| workload.namespace.as_ref()));
        let subjects = facts.bindings.iter().flat_map(|binding| &binding.subjects);
        let objects = objects.chain(subjects.filter_map(|subject| subject.namespace.as_ref()));
        let named: BTreeSet<String> = objects.map(|namespace| namespace.value.clone()).collect();
        if !named.is_empty() {
            return named;
        }
        let shipped = facts.namespaces.iter().map(|namespace| namespace.name.value.clone());
        let suggested = facts.olm_installs.iter().filter_map(|install| install.suggested_namespace.clone());
        shipped.chain(suggested).collect()
    }

    /// Namespaces in which the log shows accounts that this package names without a namespace.
    fn namespaces_in_log(&self, users: &BTreeSet<&str>) -> BTreeSet<String> {
        let facts = &self.facts;
        let accounts = facts.accounts.iter().filter(|a| a.namespace.is_none()).map(|a| a.name.as_str());
        let run_as = facts
            .workloads
            .iter()
            .filter(|workload| workload.namespace.is_none())
            .filter_map(|workload| workload.service_account.as_ref().map(|account| account.as_str()));
        let bound = facts.bindings.iter().flat_map(|binding| &binding.subjects);
        let bound = bound.filter(|subject| subject.namespace.is_none()).map(|subject| subject.name.as_str());
        let names: BTreeSet<&str> = accounts.chain(run_as).chain(bound).collect();
        users
            .iter()
            .filter_map(|user| user.strip_prefix("system:serviceaccount:")?.split_once(':'))
            .filter(|(_, name)| names.contains(name))
            .map(|(namespace, _)| namespace.to_owned())
            .collect()
    }
}

fn only(mut set: BTreeSet<String>) -> Option<String> {
    if set.len() == 1 { set.pop_first() } else { None }
}
