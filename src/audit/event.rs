//! One `audit.k8s.io` event, borrowed from its line; fields that nothing here uses are skipped
//! (Kubernetes `staging/src/k8s.io/apiserver/pkg/apis/audit/v1/types.go`).

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// A string that is borrowed unless it holds escapes. Serde borrows a plain `Cow` only outside of `Option` and lists.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text<'a>(pub Cow<'a, str>);

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }

        deserializer.deserialize_str(TextVisitor)
    }
}

/// An audit event.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Event<'a> {
    /// `Event`.
    #[serde(borrow)]
    pub kind: Option<Text<'a>>,
    /// `audit.k8s.io/VERSION`.
    pub api_version: Option<Text<'a>>,
    /// `Metadata`, `Request`, `RequestResponse`.
    pub level: Option<Text<'a>>,
    /// Unique per request, unless the client chose it.
    #[serde(rename = "auditID")]
    pub audit_id: Option<Text<'a>>,
    /// `RequestReceived`, `ResponseStarted`, `ResponseComplete`, `Panic`.
    pub stage: Option<Text<'a>>,
    /// Path and query as sent.
    #[serde(rename = "requestURI")]
    pub request_uri: Option<Text<'a>>,
    /// Kubernetes verb, or the lower-case HTTP method of a non-resource request.
    pub verb: Option<Text<'a>>,
    /// The authenticated user.
    pub user: Option<User<'a>>,
    /// Whom the user acts as; only when that was allowed.
    pub impersonated_user: Option<User<'a>>,
    /// Which form of impersonation was used (since 1.35).
    pub authentication_metadata: Option<AuthenticationMetadata<'a>>,
    /// The object, its name and namespace completed from the body.
    pub object_ref: Option<ObjectRef<'a>>,
    /// The answer.
    pub response_status: Option<ResponseStatus<'a>>,
    /// When the request came in.
    pub request_received_timestamp: Option<Text<'a>>,
    /// When this stage was reached.
    pub stage_timestamp: Option<Text<'a>>,
    /// What the authorizer and others noted.
    pub annotations: Option<Annotations<'a>>,
}

/// `authentication.k8s.io` user information.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub struct User<'a> {
    /// Name.
    #[serde(borrow)]
    pub username: Option<Text<'a>>,
    /// UID.
    pub uid: Option<Text<'a>>,
    /// Groups.
    pub groups: Option<Vec<Text<'a>>>,
    /// Extra values; only looked at where a user is impersonated.
    #[serde(borrow)]
    pub extra: Option<&'a serde_json::value::RawValue>,
}

/// `authenticationMetadata`.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AuthenticationMetadata<'a> {
    /// Verb of the constrained impersonation, such as `impersonate:user-info`.
    #[serde(borrow)]
    pub impersonation_constraint: Option<Text<'a>>,
}

/// `objectRef`.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectRef<'a> {
    /// Plural.
    #[serde(borrow)]
    pub resource: Option<Text<'a>>,
    /// Namespace; completed from the body.
    pub namespace: Option<Text<'a>>,
    /// Name; completed from the body.
    pub name: Option<Text<'a>>,
    /// Group, absent for core.
    pub api_group: Option<Text<'a>>,
    /// Version; `group/version` in v1alpha1.
    pub api_version: Option<Text<'a>>,
    /// Subresource.
    pub subresource: Option<Text<'a>>,
}

/// `responseStatus`.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub struct ResponseStatus<'a> {
    /// HTTP status code.
    pub code: Option<i32>,
    /// Why it failed.
    #[serde(borrow)]
    pub message: Option<Text<'a>>,
}

/// The annotations of the authorizer.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub struct Annotations<'a> {
    /// `allow` or `forbid`.
    #[serde(borrow, rename = "authorization.k8s.io/decision")]
    pub decision: Option<Text<'a>>,
    /// The binding and role that allowed it.
    #[serde(rename = "authorization.k8s.io/reason")]
    pub reason: Option<Text<'a>>,
}

/// The text of an optional string.
pub(super) fn text<'t>(text: &'t Option<Text<'_>>) -> &'t str {
    text.as_deref().unwrap_or_default()
}
