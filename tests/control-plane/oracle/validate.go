package main

import (
	"encoding/json"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/apis/rbac"
	conversion "k8s.io/kubernetes/pkg/apis/rbac/v1"
	"k8s.io/kubernetes/pkg/apis/rbac/validation"
)

// validate returns, for each RBAC object, the errors that the API server would refuse it with.
func validate(objects []json.RawMessage) (any, error) {
	answers := make([][]string, 0, len(objects))
	for _, raw := range objects {
		var meta struct {
			Kind string `json:"kind"`
		}
		if err := json.Unmarshal(raw, &meta); err != nil {
			return nil, err
		}
		errors, err := validateOne(meta.Kind, raw)
		if err != nil {
			return nil, err
		}
		texts := []string{}
		for _, e := range errors {
			texts = append(texts, e.Error())
		}
		answers = append(answers, texts)
	}
	return answers, nil
}

func validateOne(kind string, raw json.RawMessage) (field.ErrorList, error) {
	switch kind {
	case "Role":
		var from rbacv1.Role
		var to rbac.Role
		if err := json.Unmarshal(raw, &from); err != nil {
			return nil, err
		}
		if err := conversion.Convert_v1_Role_To_rbac_Role(&from, &to, nil); err != nil {
			return nil, err
		}
		return validation.ValidateRole(&to), nil
	case "ClusterRole":
		var from rbacv1.ClusterRole
		var to rbac.ClusterRole
		if err := json.Unmarshal(raw, &from); err != nil {
			return nil, err
		}
		if err := conversion.Convert_v1_ClusterRole_To_rbac_ClusterRole(&from, &to, nil); err != nil {
			return nil, err
		}
		return validation.ValidateClusterRole(&to, validation.ClusterRoleValidationOptions{}), nil
	case "RoleBinding":
		var from rbacv1.RoleBinding
		var to rbac.RoleBinding
		if err := json.Unmarshal(raw, &from); err != nil {
			return nil, err
		}
		conversion.SetObjectDefaults_RoleBinding(&from)
		if err := conversion.Convert_v1_RoleBinding_To_rbac_RoleBinding(&from, &to, nil); err != nil {
			return nil, err
		}
		return validation.ValidateRoleBinding(&to), nil
	case "ClusterRoleBinding":
		var from rbacv1.ClusterRoleBinding
		var to rbac.ClusterRoleBinding
		if err := json.Unmarshal(raw, &from); err != nil {
			return nil, err
		}
		conversion.SetObjectDefaults_ClusterRoleBinding(&from)
		if err := conversion.Convert_v1_ClusterRoleBinding_To_rbac_ClusterRoleBinding(&from, &to, nil); err != nil {
			return nil, err
		}
		return validation.ValidateClusterRoleBinding(&to), nil
	}
	return nil, fmt.Errorf("unknown kind %q", kind)
}
