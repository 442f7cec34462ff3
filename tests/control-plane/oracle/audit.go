package main

import (
	"encoding/json"

	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	auditpolicy "k8s.io/apiserver/pkg/audit/policy"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// recorded is what an audit policy makes of one request.
type recorded struct {
	Level             auditinternal.Level   `json:"level"`
	OmitStages        []auditinternal.Stage `json:"omitStages"`
	OmitManagedFields bool                  `json:"omitManagedFields"`
}

// auditRecords says what an audit policy (YAML, as a JSON string) makes of each request of a user, or why the API
// server refuses the policy.
func auditRecords(q question) (any, error) {
	var text string
	if err := json.Unmarshal(q.Owner, &text); err != nil {
		return nil, err
	}
	parsed, err := auditpolicy.LoadPolicyFromBytes([]byte(text))
	if err != nil {
		return map[string]string{"refused": err.Error()}, nil
	}
	evaluator := auditpolicy.NewPolicyRuleEvaluator(parsed)
	records := make([]recorded, 0, len(q.Requests))
	for _, r := range q.Requests {
		config := evaluator.EvaluatePolicyRule(&authorizer.AttributesRecord{
			User: q.User.info(), Verb: r.Verb, APIGroup: r.APIGroup, Resource: r.Resource, Subresource: r.Subresource,
			Namespace: r.Namespace, Name: r.Name, Path: r.NonResourceURL, ResourceRequest: r.NonResourceURL == "",
		})
		records = append(records, recorded{config.Level, config.OmitStages, config.OmitManagedFields})
	}
	return records, nil
}
