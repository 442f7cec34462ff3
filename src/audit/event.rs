//! Borrowed serde structs of one `audit.k8s.io` event: only the fields that are used, the rest is skipped
//! unparsed (Kubernetes `staging/src/k8s.io/apiserver/pkg/apis/audit/v1/types.go`).

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// One line of a log. Every field may be missing: whether it is an event is decided afterwards.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Event<'a> {
    /// `Event`.
    #[serde(borrow)]
    pub kind: Text<'a>,
    /// `audit.k8s.io/` and a version.
    #[serde(borrow)]
    pub api_version: Text<'a>,
    /// What the policy chose to log.
    #[serde(borrow)]
    pub level: Text<'a>,
    /// Identity of the request; clients may choose it.
    #[serde(borrow, rename = "auditID")]
    pub audit_id: Text<'a>,
    /// How far the request had come.
    #[serde(borrow)]
    pub stage: Text<'a>,
    /// Path and query as the client sent them.
    #[serde(borrow, rename = "requestURI")]
    pub request_uri: Text<'a>,
    /// Kubernetes' verb, or the HTTP method in lower case. Empty of an OPTIONS on a resource, which has none.
    #[serde(borrow)]
    pub verb: Option<Text<'a>>,
    /// Who asked.
    #[serde(borrow)]
    pub user: Name<'a>,
    /// As whom, once that was allowed. Boxed, as the next, to keep the common event small.
    #[serde(borrow)]
    pub impersonated_user: Option<Box<User<'a>>>,
    /// How the impersonation was allowed.
    #[serde(borrow)]
    pub authentication_metadata: Option<Box<Authentication<'a>>>,
    /// What the client said of itself.
    #[serde(borrow)]
    pub user_agent: Text<'a>,
    /// What was asked of.
    #[serde(borrow)]
    pub object_ref: Option<ObjectRef<'a>>,
    /// The answer.
    #[serde(borrow)]
    pub response_status: Option<Status<'a>>,
    /// When the request came in.
    #[serde(borrow)]
    pub request_received_timestamp: Text<'a>,
    /// When this stage was reached.
    #[serde(borrow)]
    pub stage_timestamp: Text<'a>,
    /// The only time of `v1alpha1` and early `v1beta1` events.
    #[serde(borrow)]
    pub timestamp: Text<'a>,
    /// What filters and admission wrote.
    #[serde(borrow)]
    pub annotations: Option<Annotations<'a>>,
    /// The body of the request, from level `Request` on.
    #[serde(borrow)]
    pub request_object: Raw<'a>,
    /// The body of the answer, at level `RequestResponse`.
    #[serde(borrow)]
    pub response_object: Raw<'a>,
}

impl Event<'_> {
    /// Whether this is an audit event. Items copied out of an `EventList` carry neither kind nor version,
    /// some collectors drop the version.
    pub fn is_audit(&self) -> bool {
        // Rancher's own log has neither level nor the user's name under that key.
        let known = !self.level.is_empty() || !self.user.username.is_empty();
        match (&*self.kind, &*self.api_version) {
            ("" | "Event", "") => known && !self.audit_id.is_empty() && !self.stage.is_empty(),
            ("Event", version) => version.starts_with("audit.k8s.io/"),
            _ => false,
        }
    }

    /// When the request came in, as logged; the next best time of old events.
    pub fn time(&self) -> &str {
        [&self.request_received_timestamp, &self.stage_timestamp, &self.timestamp]
            .into_iter()
            .find(|time| !time.is_empty())
            .map_or("", |time| time)
    }
}

/// The authenticated user; its groups are not used.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Name<'a> {
    /// User name.
    #[serde(borrow)]
    pub username: Text<'a>,
    /// Unparsed: what it says is the same in most events.
    #[serde(borrow)]
    pub extra: Raw<'a>,
}

/// The impersonated user: each field was checked.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct User<'a> {
    /// User name.
    #[serde(borrow)]
    pub username: Text<'a>,
    /// Uid.
    #[serde(borrow)]
    pub uid: Text<'a>,
    /// Groups.
    #[serde(borrow)]
    pub groups: Texts<'a>,
    /// Extras.
    #[serde(borrow)]
    pub extra: Extra<'a>,
}

/// `authenticationMetadata`, of constrained impersonation (since 1.35).
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Authentication<'a> {
    /// The verb that allowed it.
    #[serde(borrow)]
    pub impersonation_constraint: Text<'a>,
}

/// `objectRef`. On writes its name and namespace may come from the body.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectRef<'a> {
    /// Plural resource.
    #[serde(borrow)]
    pub resource: Text<'a>,
    /// Namespace.
    #[serde(borrow)]
    pub namespace: Text<'a>,
    /// Name.
    #[serde(borrow)]
    pub name: Text<'a>,
    /// API group.
    #[serde(borrow)]
    pub api_group: Text<'a>,
    /// `audit.k8s.io/` and a version.
    #[serde(borrow)]
    pub api_version: Text<'a>,
    /// Subresource.
    #[serde(borrow)]
    pub subresource: Text<'a>,
}

/// `responseStatus`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Status<'a> {
    /// HTTP status code.
    pub code: i64,
    /// Message of a failure.
    #[serde(borrow)]
    pub message: Text<'a>,
}

/// The two annotations that the authorization filter writes; collectors that may not keep dots or slashes in a key
/// rename them (Elastic, Panther).
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Annotations<'a> {
    /// `allow` or `forbid`.
    #[serde(borrow, rename = "authorization.k8s.io/decision")]
    #[serde(alias = "authorization_k8s_io/decision", alias = "authorization.k8s.io_slash_decision")]
    pub decision: Text<'a>,
    /// The authorizer's reason.
    #[serde(borrow, rename = "authorization.k8s.io/reason")]
    #[serde(alias = "authorization_k8s_io/reason", alias = "authorization.k8s.io_slash_reason")]
    pub reason: Text<'a>,
}

/// A string that borrows from the line unless it has escapes, in `Option` and `Vec` too (serde's own
/// `Cow` owns there). Null is empty, as in Go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
            fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text)))
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Text::default())
            }
        }

        deserializer.deserialize_any(TextVisitor)
    }
}

/// A JSON value as it stands in the line, unparsed; empty for none.
#[derive(Debug, Clone, Default)]
pub struct Raw<'a>(pub Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Raw<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&'de RawValue>::deserialize(deserializer).map(|raw| match raw.get() {
            "null" => Self::default(),
            text => Self(Cow::Borrowed(text)),
        })
    }
}

/// Most values of one list and most keys of `extra`: an event says no more of anybody, and each is a check of its own.
const MOST_VALUES: usize = 4_096;

/// A list of strings; null is empty.
#[derive(Debug, Default)]
pub struct Texts<'a>(pub Vec<Text<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Texts<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextsVisitor;

        impl<'de> Visitor<'de> for TextsVisitor {
            type Value = Texts<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of strings")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = list.next_element::<Text<'de>>()? {
                    at_most(texts.len())?;
                    texts.push(text);
                }
                Ok(Texts(texts))
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Texts::default())
            }
        }

        deserializer.deserialize_any(TextsVisitor)
    }
}

fn at_most<E: de::Error>(so_far: usize) -> Result<(), E> {
    if so_far < MOST_VALUES { Ok(()) } else { Err(E::custom(format!("more than {MOST_VALUES} values in one list"))) }
}

/// `extra`: keys with their values, in the order written.
#[derive(Debug, Default)]
pub struct Extra<'a>(pub Vec<(Text<'a>, Texts<'a>)>);

impl<'de: 'a, 'a> Deserialize<'de> for Extra<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ExtraVisitor;

        impl<'de> Visitor<'de> for ExtraVisitor {
            type Value = Extra<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of string lists")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut extra = Vec::new();
                while let Some((key, values)) = map.next_entry::<Text<'de>, Texts<'de>>()? {
                    at_most(extra.len())?;
                    extra.push((key, values));
                }
                Ok(Extra(extra))
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Extra::default())
            }
        }

        deserializer.deserialize_any(ExtraVisitor)
    }
}
