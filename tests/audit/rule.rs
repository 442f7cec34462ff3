//! Kubernetes' `RuleAllows` and the default grants, as small as these tests need them.

use rolecall::rbac::{Request, Rule, Scope};

/// Whether the grants or what every authenticated user holds allow a request.
pub(crate) fn allows(held: &[(Scope, Rule)], request: &Request) -> bool {
    held.iter()
        .any(|(scope, rule)| scope.reaches(request.namespace()) && rule_allows(rule, request))
        || defaults().iter().any(|rule| rule_allows(rule, request))
}

// To be replaced by `rbac::Rule::allows`.
fn rule_allows(rule: &Rule, request: &Request) -> bool {
    let has = |list: &[String], wanted: &str| list.iter().any(|item| item == "*" || item == wanted);
    if !has(&rule.verbs, request.verb()) {
        return false;
    }
    match request {
        Request::Resource(request) => {
            let combined = request.combined();
            let sub = format!("*/{}", request.subresource);
            has(&rule.api_groups, &request.api_group)
                && rule.resources.iter().any(|resource| {
                    resource == "*"
                        || *resource == combined
                        || (!request.subresource.is_empty() && *resource == sub)
                })
                && (rule.resource_names.is_empty() || rule.resource_names.contains(&request.name))
        }
        Request::NonResource(request) => rule.non_resource_urls.iter().any(|url| {
            url == "*"
                || *url == request.path
                || url
                    .strip_suffix('*')
                    .is_some_and(|prefix| request.path.starts_with(prefix))
        }),
    }
}

/// `system:discovery`, `system:public-info-viewer`, `system:basic-user` and, for service accounts,
/// `system:service-account-issuer-discovery`.
fn defaults() -> Vec<Rule> {
    let strings = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    let urls = [
        "/api",
        "/api/*",
        "/apis",
        "/apis/*",
        "/healthz",
        "/livez",
        "/openapi",
        "/openapi/*",
        "/readyz",
        "/version",
        "/version/",
        "/.well-known/openid-configuration",
        "/openid/v1/jwks",
    ];
    vec![
        Rule {
            non_resource_urls: strings(&urls),
            verbs: strings(&["get"]),
            ..Rule::default()
        },
        Rule {
            api_groups: strings(&["authorization.k8s.io"]),
            resources: strings(&["selfsubjectaccessreviews", "selfsubjectrulesreviews"]),
            verbs: strings(&["create"]),
            ..Rule::default()
        },
        Rule {
            api_groups: strings(&["authentication.k8s.io"]),
            resources: strings(&["selfsubjectreviews"]),
            verbs: strings(&["create"]),
            ..Rule::default()
        },
    ]
}
