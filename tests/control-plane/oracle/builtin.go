package main

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"
)

// builtin returns the roles and bindings that the API server of this release creates when it starts.
func builtin() any {
	roles := []rbacv1.Role{}
	for _, list := range bootstrappolicy.NamespaceRoles() {
		roles = append(roles, list...)
	}
	roleBindings := []rbacv1.RoleBinding{}
	for _, list := range bootstrappolicy.NamespaceRoleBindings() {
		roleBindings = append(roleBindings, list...)
	}
	return map[string]any{
		"clusterRoles":        append(bootstrappolicy.ClusterRoles(), bootstrappolicy.ControllerRoles()...),
		"clusterRoleBindings": append(bootstrappolicy.ClusterRoleBindings(), bootstrappolicy.ControllerRoleBindings()...),
		"roles":               roles,
		"roleBindings":        roleBindings,
		"aggregates":          bootstrappolicy.ClusterRolesToAggregate(),
	}
}
