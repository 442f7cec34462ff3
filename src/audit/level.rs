//! Audit levels, from the one that tells least.

/// What the audit policy chose to log of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// No name, or one that Kubernetes does not know.
    #[default]
    Other,
    Metadata,
    Request,
    RequestResponse,
}

impl Level {
    pub(super) const ALL: [Self; 4] = [Self::Other, Self::Metadata, Self::Request, Self::RequestResponse];

    /// The level of that name.
    pub(super) fn of(name: &str) -> Self {
        match name {
            "Metadata" => Self::Metadata,
            "Request" => Self::Request,
            "RequestResponse" => Self::RequestResponse,
            _ => Self::Other,
        }
    }

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Other => "other",
            Self::Metadata => "Metadata",
            Self::Request => "Request",
            Self::RequestResponse => "RequestResponse",
        }
    }
}
