package main

import (
	"context"
	"encoding/json"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/component-helpers/auth/rbac/validation"
	registry "k8s.io/kubernetes/pkg/registry/rbac/validation"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac"
)

// policy is every RBAC object that the question knows of.
type policy struct {
	Roles               []*rbacv1.Role               `json:"roles,omitempty"`
	ClusterRoles        []*rbacv1.ClusterRole        `json:"clusterRoles,omitempty"`
	RoleBindings        []*rbacv1.RoleBinding        `json:"roleBindings,omitempty"`
	ClusterRoleBindings []*rbacv1.ClusterRoleBinding `json:"clusterRoleBindings,omitempty"`
}

type subject struct {
	Name   string   `json:"name"`
	Groups []string `json:"groups"`
}

// info is the user as the API server's authenticator makes it: a question that names no groups gets those of its kind.
func (s subject) info() user.Info {
	groups := s.Groups
	if groups == nil {
		if namespace, _, err := serviceaccount.SplitUsername(s.Name); err == nil {
			groups = serviceaccount.MakeGroupNames(namespace)
		}
		groups = append(groups, user.AllAuthenticated)
	}
	return &user.DefaultInfo{Name: s.Name, Groups: groups}
}

// attributes is one authorization check, in rolecall's own serialisation of a request.
type attributes struct {
	APIGroup       string `json:"apiGroup"`
	Resource       string `json:"resource"`
	Subresource    string `json:"subresource"`
	Verb           string `json:"verb"`
	Namespace      string `json:"namespace"`
	Name           string `json:"name"`
	NonResourceURL string `json:"nonResourceURL"`
}

type decision struct {
	Allowed bool   `json:"allowed"`
	Reason  string `json:"reason,omitempty"`
}

// authorize asks as RBACAuthorizer.Authorize does, and also says which binding allowed.
func authorize(q question) (any, error) {
	resolver, _ := registry.NewTestRuleResolver(q.Roles, q.RoleBindings, q.ClusterRoles, q.ClusterRoleBindings)
	background := context.Background()
	decisions := make([]decision, 0, len(q.Requests))
	for _, r := range q.Requests {
		record := authorizer.AttributesRecord{
			User: q.User.info(), Verb: r.Verb, APIGroup: r.APIGroup, Resource: r.Resource, Subresource: r.Subresource,
			Namespace: r.Namespace, Name: r.Name, Path: r.NonResourceURL, ResourceRequest: r.NonResourceURL == "",
		}
		var one decision
		resolver.VisitRulesFor(background, record.User, record.Namespace, func(source fmt.Stringer, rule *rbacv1.PolicyRule, _ error) bool {
			if rule != nil && rbac.RuleAllows(record, rule) {
				one = decision{Allowed: true, Reason: source.String()}
				return false
			}
			return true
		})
		decisions = append(decisions, one)
	}
	return decisions, nil
}

// rulesFor returns the rules that the user holds in the namespace of the first request.
func rulesFor(q question) (any, error) {
	resolver, _ := registry.NewTestRuleResolver(q.Roles, q.RoleBindings, q.ClusterRoles, q.ClusterRoleBindings)
	namespace := ""
	if len(q.Requests) > 0 {
		namespace = q.Requests[0].Namespace
	}
	// A role that is not there is an error beside the rules of the others.
	rules, _ := resolver.RulesFor(context.Background(), q.User.info(), namespace)
	if rules == nil {
		rules = []rbacv1.PolicyRule{}
	}
	return rules, nil
}

func escalation(q question) (any, error) {
	resolver, _ := registry.NewTestRuleResolver(q.Roles, q.RoleBindings, q.ClusterRoles, q.ClusterRoleBindings)
	var rules []rbacv1.PolicyRule
	if err := json.Unmarshal(q.Servant, &rules); err != nil {
		return nil, err
	}
	ctx := apirequest.WithUser(context.Background(), q.User.info())
	if len(q.Requests) > 0 {
		ctx = apirequest.WithNamespace(ctx, q.Requests[0].Namespace)
	}
	err := registry.ConfirmNoEscalation(ctx, resolver, rules)
	if err != nil {
		return decision{Allowed: false, Reason: err.Error()}, nil
	}
	return decision{Allowed: true}, nil
}

func covers(q question) (any, error) {
	var owner, servant []rbacv1.PolicyRule
	if err := json.Unmarshal(q.Owner, &owner); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(q.Servant, &servant); err != nil {
		return nil, err
	}
	covered, missing := validation.Covers(owner, servant)
	return map[string]any{"covered": covered, "missing": missing}, nil
}
