//! Whether a log under a policy would have shown that a grant is used: of every request that the grant allows, what the
//! policy makes of it. Used by `analysis`, which calls a grant unused only where the log would have shown its use.

use std::collections::BTreeSet;
use std::fmt;

use super::region::{self, Product};
use super::{Level, Policy, PolicyRule, Requester, Stage};
use crate::rbac::{NonResourceRequest, Request, Rule, Scope};

/// More pieces than this are not told apart; a policy written by people comes to a handful.
const MOST_PIECES: usize = 4_096;
/// Stands for every text that a policy does not name.
const OTHER: &str = "\u{10ffff}";

/// How many of the requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Every one.
    Always,
    /// Some.
    Partly,
    /// None.
    Never,
}

/// What a log under the policy shows of a grant's use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visibility<'p> {
    /// Which requests are recorded with the authorizer's decision.
    pub shown: Part,
    /// Which of those are recorded with the body of the request.
    pub bodies: Part,
    /// Why some are not recorded: the first reason in the order of the rules.
    pub hidden: Option<Hidden<'p>>,
}

/// Why a request is not recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hidden<'p> {
    /// The rule has level `None`.
    Level(&'p PolicyRule),
    /// The rule leaves out the stages that carry the decision.
    Stages(&'p PolicyRule),
    /// No rule matches.
    NoRule,
    /// There are too many rules to tell.
    Unknown,
}

impl fmt::Display for Hidden<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Level(rule) => {
                write!(f, "rule {} of the audit policy (line {}) has level None", rule.number, rule.line)
            }
            Self::Stages(rule) => write!(
                f,
                "rule {} of the audit policy (line {}) omits the stages that tell the decision",
                rule.number, rule.line
            ),
            Self::NoRule => f.write_str("no rule of the audit policy matches"),
            Self::Unknown => f.write_str("the audit policy has too many rules to tell"),
        }
    }
}

/// The rules of a policy that are about one requester.
#[derive(Debug, Clone)]
pub struct OwnRules<'p> {
    rules: Vec<OwnRule<'p>>,
}

#[derive(Debug, Clone)]
struct OwnRule<'p> {
    rule: &'p PolicyRule,
    products: Vec<Product<'p>>,
    /// Whether it is about the requester is known; else it is, or it is not.
    sure: bool,
}

impl Policy {
    /// The rules that are about this requester. `all_groups`: it is in no groups but those given, which is known of
    /// service accounts only.
    pub fn about(&self, requester: Requester<'_>, all_groups: bool) -> OwnRules<'_> {
        let own = self.rules.iter().filter_map(|rule| {
            let sure = rule.is_about(requester);
            let maybe = !all_groups && rule.names_user(requester);
            (sure || maybe).then(|| OwnRule { rule, products: region::of_policy_rule(rule), sure })
        });
        OwnRules { rules: own.collect() }
    }
}

impl<'p> OwnRules<'p> {
    /// What a log shows of requests that `rule` allows in `scope`. `cluster_scoped`: the resource has no namespaces.
    pub fn shows(&self, rule: &Rule, scope: &Scope, cluster_scoped: bool) -> Visibility<'p> {
        let mut seen = Seen::default();
        self.resources(region::of_grant(rule, scope, cluster_scoped), &mut seen);
        if *scope == Scope::Cluster {
            for url in &rule.non_resource_urls {
                self.url(url, &rule.verbs, &mut seen);
            }
        }
        seen.visibility()
    }

    /// Whether a request of the requester may be recorded at all, at whatever stage.
    pub fn may_record(&self, request: &Request) -> bool {
        self.matching(request).any(|own| own.rule.level > Level::None && own.rule.omit_stages.len() < Stage::ALL.len())
    }

    /// The rules of which one is the first to match a request, when one is; the last of them is sure.
    fn matching<'a>(&'a self, request: &'a Request) -> impl Iterator<Item = &'a OwnRule<'p>> {
        let mut decided = false;
        let matching = self.rules.iter().filter(|own| own.rule.matches(request));
        matching.take_while(move |own| !std::mem::replace(&mut decided, own.sure))
    }

    /// Cuts out of the requests what each rule matches, first rule first.
    fn resources<'a>(&self, mut open: Vec<Product<'a>>, seen: &mut Seen<'p>)
    where
        'p: 'a,
    {
        for own in &self.rules {
            for product in &own.products {
                let mut rest = Vec::with_capacity(open.len());
                for piece in open {
                    let matched = piece.and(product);
                    if let Some(matched) = &matched {
                        seen.product(own.rule, matched);
                    }
                    if matched.is_some() && own.sure {
                        rest.extend(piece.and_not(product));
                    } else {
                        rest.push(piece);
                    }
                }
                open = rest;
                if open.is_empty() {
                    return;
                }
                if open.len() > MOST_PIECES {
                    return seen.hide(Hidden::Unknown);
                }
            }
        }
        if !open.is_empty() {
            seen.hide(Hidden::NoRule);
        }
    }

    /// Asks for one path of each set that the patterns of the policy tell apart.
    fn url(&self, granted: &str, verbs: &[String], seen: &mut Seen<'p>) {
        let mut paths = BTreeSet::new();
        match granted.strip_suffix('*') {
            None => drop(paths.insert(granted.to_owned())),
            Some(prefix) => {
                let prefix = prefix.trim_end_matches('*');
                let named = self.rules.iter().flat_map(|own| &own.rule.non_resource_urls);
                let below = named.map(|url| url.trim_end_matches('*')).filter(|url| url.starts_with(prefix));
                for path in below.chain([prefix]) {
                    paths.extend([path.to_owned(), format!("{path}{OTHER}")]);
                }
            }
        }
        let mut asked: BTreeSet<&str> = verbs.iter().map(String::as_str).collect();
        if asked.remove("*") {
            asked.extend(self.rules.iter().flat_map(|own| &own.rule.verbs).map(String::as_str).chain([OTHER]));
        }
        if paths.len() * asked.len() > MOST_PIECES {
            return seen.hide(Hidden::Unknown);
        }
        for path in paths.iter().filter(|path| !path.is_empty()) {
            for verb in &asked {
                let request = NonResourceRequest { path: path.clone(), verb: (*verb).to_owned() };
                let request = Request::NonResource(request);
                let mut decided = false;
                for own in self.matching(&request) {
                    seen.request(own.rule, &request);
                    decided = own.sure;
                }
                if !decided {
                    seen.hide(Hidden::NoRule);
                }
            }
        }
    }
}

/// What was found so far.
#[derive(Debug, Default)]
struct Seen<'p> {
    shown: bool,
    with_body: bool,
    without_body: bool,
    hidden: Option<Hidden<'p>>,
}

impl<'p> Seen<'p> {
    fn show(&mut self, level: Level) {
        self.shown = true;
        self.with_body |= level >= Level::Request;
        self.without_body |= level < Level::Request;
    }

    fn hide(&mut self, why: Hidden<'p>) {
        self.hidden.get_or_insert(why);
    }

    /// Requests that a rule matches.
    fn product(&mut self, rule: &'p PolicyRule, matched: &Product<'_>) {
        if rule.level == Level::None {
            return self.hide(Hidden::Level(rule));
        }
        if !rule.omit_stages.contains(&Stage::ResponseComplete) {
            return self.show(rule.level);
        }
        // The head of an answer tells the decision too, but only long-running requests have it recorded.
        let mut short = vec![matched.clone()];
        for long in region::long_running() {
            if !rule.omit_stages.contains(&Stage::ResponseStarted) && matched.and(&long).is_some() {
                self.show(rule.level);
                short = short.iter().flat_map(|piece| piece.and_not(&long)).collect();
            }
        }
        if !short.is_empty() {
            self.hide(Hidden::Stages(rule));
        }
    }

    /// One request.
    fn request(&mut self, rule: &'p PolicyRule, request: &Request) {
        if rule.level == Level::None {
            return self.hide(Hidden::Level(rule));
        }
        let complete = !rule.omit_stages.contains(&Stage::ResponseComplete);
        let started = !rule.omit_stages.contains(&Stage::ResponseStarted) && is_long_running(request);
        if complete || started { self.show(rule.level) } else { self.hide(Hidden::Stages(rule)) }
    }

    fn visibility(self) -> Visibility<'p> {
        let part = |some: bool, others: bool| match (some, others) {
            (true, false) => Part::Always,
            (true, true) => Part::Partly,
            (false, _) => Part::Never,
        };
        Visibility {
            shown: part(self.shown, self.hidden.is_some()),
            bodies: part(self.with_body, self.without_body),
            hidden: self.hidden,
        }
    }
}

fn is_long_running(request: &Request) -> bool {
    match request {
        Request::Resource(request) => {
            matches!(request.verb.as_str(), "watch" | "proxy")
                || matches!(request.subresource.as_str(), "attach" | "exec" | "proxy" | "log" | "portforward")
        }
        Request::NonResource(request) => request.path.starts_with("/debug/pprof/"),
    }
}
