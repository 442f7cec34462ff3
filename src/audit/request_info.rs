//! Authorization attributes from a request URI and a verb
//! (Kubernetes `staging/src/k8s.io/apiserver/pkg/endpoints/request/requestinfo.go`).
