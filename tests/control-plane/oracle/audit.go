package main

import (
	"encoding/json"

	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	auditpolicy "k8s.io/apiserver/pkg/audit/policy"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// auditLevels says at which level an audit policy (YAML, as a JSON string) records each request of a user.
func auditLevels(q question) (any, error) {
	var text string
	if err := json.Unmarshal(q.Owner, &text); err != nil {
		return nil, err
	}
	parsed, err := auditpolicy.LoadPolicyFromBytes([]byte(text))
	if err != nil {
		return nil, err
	}
	evaluator := auditpolicy.NewPolicyRuleEvaluator(parsed)
	levels := make([]auditinternal.Level, 0, len(q.Requests))
	for _, r := range q.Requests {
		levels = append(levels, evaluator.EvaluatePolicyRule(&authorizer.AttributesRecord{
			User: q.User.info(), Verb: r.Verb, APIGroup: r.APIGroup, Resource: r.Resource, Subresource: r.Subresource,
			Namespace: r.Namespace, Name: r.Name, Path: r.NonResourceURL, ResourceRequest: r.NonResourceURL == "",
		}).Level)
	}
	return levels, nil
}
