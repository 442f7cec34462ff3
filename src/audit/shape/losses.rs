//! What a shape does not keep of an event, and how its form is known: data, shown in `docs/audit-logs.md`.

use super::Shape;

/// Something of a call that the API server's own event says, and another shape does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Loss {
    /// As whom a call was made: it counts for who made it, and `impersonate` does not show.
    Impersonation,
    /// The query of the URL: no name by `fieldSelector=metadata.name=…`.
    Query,
    /// `objectRef`, whose namespace tells of bodies of cluster-scoped objects.
    ObjectRef,
    /// The Pod whose token was used.
    Pod,
    /// The level; `Metadata`, or `Request` where a body shows.
    Level,
    /// The exact HTTP status: a patch or an update that made its object (201) looks like any other.
    Code,
    /// Requests that came in and were not answered.
    Received,
}

impl Loss {
    /// Every loss.
    pub const ALL: [Self; 7] =
        [Self::Impersonation, Self::Query, Self::ObjectRef, Self::Pod, Self::Level, Self::Code, Self::Received];

    /// What is lost, in a few words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Impersonation => "impersonated user",
            Self::Query => "query of the URL",
            Self::ObjectRef => "`objectRef` beside the URL",
            Self::Pod => "name of the Pod",
            Self::Level => "audit level",
            Self::Code => "HTTP status (created or changed)",
            Self::Received => "requests without an answer",
        }
    }

    /// What follows from it.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Impersonation => {
                "a call made as another user counts for who made it, and `impersonate` does not show"
            }
            Self::Query => "a list or watch of one name (`fieldSelector=metadata.name=…`) looks like one of all",
            Self::ObjectRef => "the namespace in the body of a cluster-scoped object does not show",
            Self::Pod => "which Pods of a service account made its calls does not show",
            Self::Level => "`Metadata` is taken, or `Request` where there is a body",
            Self::Code => "a patch or an update that made its object (201, which needs `create`) looks like any other",
            Self::Received => "a request that was never answered does not show",
        }
    }
}

/// How it is known what a shape looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Known {
    /// Real logs of it were read.
    Sample,
    /// From its documentation, or from code that writes or reads it.
    Description,
}

impl Shape {
    /// What it does not keep of a call.
    pub fn losses(self) -> &'static [Loss] {
        match self {
            Self::Gke => {
                &[Loss::Impersonation, Loss::Query, Loss::ObjectRef, Loss::Pod, Loss::Level, Loss::Code, Loss::Received]
            }
            Self::AzureTable => &[Loss::Impersonation],
            _ => &[],
        }
    }

    /// How its form is known.
    pub fn known(self) -> Known {
        match self {
            Self::Native | Self::List | Self::Gke | Self::Aks | Self::ViaQ | Self::Otlp => Known::Sample,
            _ => Known::Description,
        }
    }
}
