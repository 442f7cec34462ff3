//! Which events of a log count, and as whose: times and users asked for, and calls of others that are the operator's.

use globset::GlobMatcher;

use super::time::Time;

/// What is asked of a log. The default asks for everything.
#[derive(Debug, Clone, Default)]
pub struct Select {
    /// Users, by name; empty for all.
    pub users: Vec<String>,
    /// Only service accounts.
    pub service_accounts: bool,
    /// Not before this time (RFC 3339, UTC).
    pub since: Option<String>,
    /// Not after this time.
    pub until: Option<String>,
    /// Calls of these are another's.
    pub attribute: Vec<Attribution>,
}

/// Calls of one user, with one agent, that are another's: test suites run an operator as an admin.
#[derive(Debug, Clone)]
pub struct Attribution {
    /// The user that the log shows.
    pub who: String,
    /// Which of its user agents; `None` for all.
    pub agent: Option<GlobMatcher>,
    /// The user whose calls they are.
    pub user: String,
}

impl Select {
    /// The user whose call it is, when not the one that the log shows.
    pub(super) fn attributed(&self, user: &str, agent: &str) -> Option<&str> {
        let fits = |one: &&Attribution| one.who == user && one.agent.as_ref().is_none_or(|glob| glob.is_match(agent));
        self.attribute.iter().find(fits).map(|one| one.user.as_str())
    }

    /// Whether it is told by user agents, which only logs have.
    pub fn asks_for_agents(&self) -> bool {
        self.attribute.iter().any(|one| one.agent.is_some())
    }

    /// Whether every call counts.
    pub(super) fn is_everything(&self) -> bool {
        self.users.is_empty() && !self.service_accounts && self.since.is_none() && self.until.is_none()
    }

    /// Whether a call of this user at this time counts.
    pub(super) fn wants(&self, user: &str, time: Time) -> bool {
        self.wants_user(user) && self.wants_time(time)
    }

    /// Whether calls of this user count.
    pub(super) fn wants_user(&self, user: &str) -> bool {
        let by_user = self.users.is_empty() || self.users.iter().any(|wanted| wanted == user);
        let by_kind = !self.service_accounts || user.starts_with("system:serviceaccount:");
        by_user && by_kind
    }

    /// Whether a time was asked for: what has none does not count then.
    pub(super) fn asks_for_times(&self) -> bool {
        self.since.is_some() || self.until.is_some()
    }

    /// Whether calls at this time count.
    pub(super) fn wants_time(&self, time: Time) -> bool {
        !self.asks_for_times() || (!time.is_none() && !self.is_before(time) && !self.is_after(time))
    }

    /// Whether it is earlier than what was asked for.
    pub(super) fn is_before(&self, time: Time) -> bool {
        self.since.as_ref().is_some_and(|since| time.parts() < Time::of(since).parts())
    }

    /// Whether it is later than what was asked for.
    pub(super) fn is_after(&self, time: Time) -> bool {
        self.until.as_ref().is_some_and(|until| time.parts() > Time::of(until).parts())
    }
}

#[cfg(test)]
mod tests {
    use globset::Glob;

    use super::*;

    #[test]
    fn users_times_and_agents_are_asked_for() {
        let at = |text| Time::of(text);
        let noon = at("2026-12-01T12:00:00.000000Z");
        assert!(Select::default().wants("anyone", Time::default()));
        let select =
            Select { service_accounts: true, since: Some("2026-12-01T12:00:00Z".to_owned()), ..Select::default() };
        assert!(select.wants("system:serviceaccount:a:b", noon) && !select.wants("admin", noon));
        assert!(!select.wants("system:serviceaccount:a:b", at("2026-12-01T11:59:59.999999Z")));
        assert!(!select.wants("system:serviceaccount:a:b", Time::default()));
        let until =
            Select { until: Some("2026-12-01T12:00:00Z".to_owned()), users: vec!["u".to_owned()], ..Select::default() };
        assert!(until.wants("u", noon) && !until.wants("v", noon) && !until.wants("u", at("2026-12-01T12:00:01Z")));
        let agent = Some(Glob::new("manager/*").unwrap().compile_matcher());
        let one = Attribution { who: "admin".to_owned(), agent, user: "op".to_owned() };
        let select = Select { attribute: vec![one], ..Select::default() };
        assert_eq!(select.attributed("admin", "manager/v1 (linux)"), Some("op"));
        assert_eq!((select.attributed("admin", "kubectl/v1"), select.attributed("other", "manager/v1")), (None, None));
    }
}
