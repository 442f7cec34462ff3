package main

import (
	"net/http"
	"net/url"

	"k8s.io/apimachinery/pkg/util/sets"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/component-base/version"
)

type httpRequest struct {
	Method string `json:"method"`
	URI    string `json:"uri"`
}

type requestInfo struct {
	attributes
	Error string `json:"error,omitempty"`
}

// requestAttributes reads requests as the API server does, with its prefixes.
func requestAttributes(requests []httpRequest) any {
	factory := apirequest.RequestInfoFactory{
		APIPrefixes:          sets.NewString("api", "apis"),
		GrouplessAPIPrefixes: sets.NewString("api"),
	}
	infos := make([]requestInfo, 0, len(requests))
	for _, r := range requests {
		// As net/http's server reads a request line.
		target, err := url.ParseRequestURI(r.URI)
		if err != nil {
			infos = append(infos, requestInfo{Error: err.Error()})
			continue
		}
		info, err := factory.NewRequestInfo(&http.Request{Method: r.Method, URL: target})
		if err != nil {
			infos = append(infos, requestInfo{Error: err.Error()})
			continue
		}
		one := requestInfo{attributes: attributes{Verb: info.Verb}}
		if info.IsResourceRequest {
			one.APIGroup, one.Resource, one.Subresource = info.APIGroup, info.Resource, info.Subresource
			one.Namespace, one.Name = info.Namespace, info.Name
		} else {
			one.NonResourceURL = info.Path
		}
		infos = append(infos, one)
	}
	return infos
}

func kubernetesVersion() string { return version.Get().GitVersion }
