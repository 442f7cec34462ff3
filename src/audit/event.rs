//! Borrowed serde structs of one `audit.k8s.io/v1` event.
