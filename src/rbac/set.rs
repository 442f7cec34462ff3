//! Sets of permissions: union, intersection, subtraction, covering, normal form. Exact: a set holds a request
//! if and only if the rules it was computed from say so. (A slash in the *resource* of a request, which only a
//! hand-made SubjectAccessReview can have, is read as the one before the subresource; `Rule::allows` is exact there too.)
//!
//! A set is a union of products. Each dimension is a Boolean algebra of its own (`strings`, `resources`,
//! `paths`); `region` makes products of them, `union` unions of products.

mod dimension;
mod paths;
mod region;
mod resources;
mod strings;
mod union;

use std::fmt;
use std::sync::Arc;

use self::dimension::Dimension;
use self::paths::PathSet;
use self::region::{Last, Product};
use self::resources::ResourceSet;
use self::strings::StringSet;
use self::union::Union;
use super::{Request, Rule};

/// API groups × resources × object names × verbs.
type ResourceRegion = Product<StringSet, Product<ResourceSet, Product<StringSet, Last<StringSet>>>>;

/// Paths × verbs.
type PathRegion = Product<PathSet, Last<StringSet>>;

/// A set of permissions of one scope, closed under union, intersection and subtraction.
#[derive(Clone, Default)]
pub struct PermissionSet {
    resources: Union<ResourceRegion>,
    paths: Union<PathRegion>,
}

impl PermissionSet {
    /// The permissions that the rules grant together.
    pub fn from_rules<'a>(rules: impl IntoIterator<Item = &'a Rule>) -> Self {
        let (resources, paths) = rules
            .into_iter()
            .map(|rule| (resource_region(rule), path_region(rule)))
            .unzip();
        Self {
            resources: Union::of(resources),
            paths: Union::of(paths),
        }
    }

    /// Whether the request is in the set (scope aside).
    pub fn allows(&self, request: &Request) -> bool {
        match request {
            Request::Resource(asked) => {
                let combined = asked.combined();
                self.resources.any(
                    |Product(groups, Product(resources, Product(names, Last(verbs))))| {
                        verbs.contains(&asked.verb)
                            && groups.contains(&asked.api_group)
                            && resources.contains(&combined)
                            && names.contains(&asked.name)
                    },
                )
            }
            Request::NonResource(asked) => self.paths.any(|Product(paths, Last(verbs))| {
                verbs.contains(&asked.verb) && paths.contains(&asked.path)
            }),
        }
    }

    /// The permissions in both.
    pub fn intersect(&self, other: &Self) -> Self {
        Self {
            resources: self.resources.intersect(&other.resources),
            paths: self.paths.intersect(&other.paths),
        }
    }

    /// Whether some permission is in both: as `!intersect().is_empty()`, without building the intersection.
    pub fn intersects(&self, other: &Self) -> bool {
        self.resources.intersects(&other.resources) || self.paths.intersects(&other.paths)
    }

    /// The permissions in `self` and not in `other`.
    pub fn subtract(&self, other: &Self) -> Self {
        Self {
            resources: self.resources.subtract(&other.resources),
            paths: self.paths.subtract(&other.paths),
        }
    }

    /// The permissions in either.
    pub fn union(&self, other: &Self) -> Self {
        Self {
            resources: self.resources.union(&other.resources),
            paths: self.paths.union(&other.paths),
        }
    }

    /// Whether nothing is in the set.
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.paths.is_empty()
    }

    /// Whether every permission of `other` is in `self`.
    pub fn covers(&self, other: &Self) -> bool {
        self.resources.covers(&other.resources) && self.paths.covers(&other.paths)
    }

    /// The same set as disjoint regions, in a form that depends only on the set and not on how it was built
    /// (for sets of up to some thousand regions; larger ones keep the regions they have).
    pub fn normal_form(&self) -> Self {
        Self {
            resources: self.resources.canonical(),
            paths: self.paths.canonical(),
        }
    }
}

/// One line a region: groups × resources × names × verbs, and paths × verbs.
impl fmt::Debug for PermissionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PermissionSet")
            .field("resources", &self.resources)
            .field("paths", &self.paths)
            .finish()
    }
}

fn resource_region(rule: &Rule) -> ResourceRegion {
    let groups = StringSet::with_wildcard(&rule.api_groups);
    let resources = ResourceSet::from_written(&rule.resources);
    let names = if rule.resource_names.is_empty() {
        StringSet::all()
    } else {
        StringSet::only(&rule.resource_names)
    };
    let verbs = StringSet::with_wildcard(&rule.verbs);
    Product(
        Arc::new(groups),
        Product(
            Arc::new(resources),
            Product(Arc::new(names), Last(Arc::new(verbs))),
        ),
    )
}

fn path_region(rule: &Rule) -> PathRegion {
    let paths = PathSet::from_written(&rule.non_resource_urls);
    Product(
        Arc::new(paths),
        Last(Arc::new(StringSet::with_wildcard(&rule.verbs))),
    )
}
