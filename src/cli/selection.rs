//! Which events of a log count: the arguments, and what they ask for.

use std::collections::BTreeMap;

use anyhow::{Result, anyhow, bail};
use globset::Glob;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp};

use crate::audit::{Attribution, Clients, MOST_IMPERSONATORS, Observed, Select, Usage};
use crate::graph::SubjectKey;
use crate::input::{self, Logs};
use crate::report::text::count;

/// Which events of the logs count.
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct SelectionArgs {
    /// Only events from this time on: `2026-12-01T00:00:00Z`, or `2026-12-01` for the beginning of that day in UTC
    #[arg(long, value_name = "TIME", conflicts_with = "window")]
    pub(super) since: Option<String>,
    /// Only events up to this time; of a day, to its end
    #[arg(long, value_name = "TIME")]
    pub(super) until: Option<String>,
    /// Only events of the last weeks, days, hours or minutes before the newest, as `7d` or `36h`; reads the logs twice
    #[arg(long, value_name = "DURATION")]
    pub(super) window: Option<String>,
    /// Count the calls of a user, or of those of its clients whose user agent matches, as those of a service account:
    /// USER=NAMESPACE/NAME or USER,agent=GLOB=NAMESPACE/NAME. The glob is of the whole user agent, as `manager/*`.
    /// Repeatable; of several that fit the first counts
    #[arg(long, value_name = "WHO=SUBJECT")]
    pub(super) attribute: Vec<String>,
}

impl SelectionArgs {
    /// What is asked of these logs.
    pub(super) fn select(&self, logs: &Logs) -> Result<Select> {
        let mut select = Select {
            since: self.since.as_deref().map(|since| time(since, Time::MIN)).transpose()?,
            until: self.until.as_deref().map(|until| time(until, Time::MAX)).transpose()?,
            attribute: self.attribute.iter().map(|text| attribution(text)).collect::<Result<_>>()?,
            ..Select::default()
        };
        if let Some(window) = &self.window {
            select.since = Some(beginning(window, logs, &select)?);
        }
        if let (Some(since), Some(until)) = (&self.since, &self.until)
            && select.since > select.until
        {
            bail!("--since {since} is later than --until {until}");
        }
        Ok(select)
    }
}

/// Whose calls were counted as another's, and how many: they are no more than claimed to be the operator's.
pub(super) fn attributed(select: &Select, usage: &Usage) -> Vec<String> {
    let mut found = BTreeMap::<(String, &str), u64>::new();
    for call in usage.calls.iter().filter(|call| call.attributed > 0) {
        let calls = found.entry((call.attributed_from.join(", "), &call.user)).or_default();
        *calls = calls.saturating_add(call.attributed);
    }
    let said = |((from, user), calls): ((String, &str), u64)| {
        let without_agent = select.attribute.iter().any(|one| one.user == user && one.agent.is_none());
        let agents = usage.clients.get(user).filter(|clients| without_agent && clients.agents.len() > 1);
        let agents = agents.map_or(String::new(), |clients| {
            format!(", whatever the client ({}): `,agent=GLOB` tells them apart", agents_of(clients))
        });
        format!("{} of {from} counted as {user}'s, as asked for{agents}", count(calls, "call"))
    };
    found.into_iter().map(said).collect()
}

/// The user agents of a user, in short.
fn agents_of(clients: &Clients) -> String {
    const SHOWN: usize = 60;
    let short = |agent: &String| match agent.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", agent.get(..end).unwrap_or_default()),
        None => agent.clone(),
    };
    let agents: Vec<String> = clients.agents.iter().map(short).collect();
    let more = if clients.more_agents { " and others" } else { "" };
    format!("{}{more}", agents.join(", "))
}

/// What of it was asked for in vain: a slip of the pen would else pass as an operator that does nothing.
pub(super) fn in_vain(select: &Select, usage: &Usage) -> Vec<String> {
    let mut vain = Vec::new();
    if usage.quality.events == 0 {
        return vain;
    }
    let shows = |calls: &dyn Fn(&Observed) -> bool| usage.calls.iter().any(|call| calls(call));
    for one in &select.attribute {
        // Of more users than a call keeps, this may be one.
        let is_it = |from: &[String]| from.contains(&one.who) || from.len() >= MOST_IMPERSONATORS;
        if !shows(&|call| call.user == one.user && is_it(&call.attributed_from)) {
            let (who, user) = (&one.who, &one.user);
            let known = usage.clients.get(who).filter(|_| one.agent.is_some());
            let agents = known.map_or(String::new(), |clients| format!("; its user agents are {}", agents_of(clients)));
            let agent = if one.agent.is_some() { " with such a user agent" } else { "" };
            vain.push(format!("no call of {who}{agent} was counted as one of {user}{agents}"));
        }
    }
    for user in select.users.iter().filter(|user| !shows(&|call| call.user == **user)) {
        vain.push(format!("no call of {user} was found"));
    }
    if usage.calls.is_empty() && vain.is_empty() {
        vain.push(format!("none of {} events is what was asked for", usage.quality.events));
    }
    vain
}

/// The time so long before the newest event.
fn beginning(window: &str, logs: &Logs, select: &Select) -> Result<String> {
    let window = duration(window)?;
    if logs.have_stdin() {
        bail!("--window reads the logs twice, which standard input cannot be: use --since");
    }
    let newest = input::read_selected(logs, select, &mut |_| ())?.quality.last;
    if newest.is_empty() {
        bail!("--window: no event with a time was found");
    }
    let newest: Timestamp =
        newest.parse().map_err(|error| anyhow!("--window: the newest event has no time: {error}"))?;
    Ok(text(newest.checked_sub(window)?))
}

fn duration(text: &str) -> Result<SignedDuration> {
    let span: Option<Span> = text.parse().ok();
    // Months are of no one length.
    let duration = span.and_then(|span| span.to_duration(SpanRelativeTo::days_are_24_hours()).ok());
    match duration {
        None => bail!("`{text}` is no duration such as `36h`, `7d` or `2w`"),
        Some(duration) if !duration.is_positive() => bail!("`{text}` is no time before the newest event"),
        Some(duration) => Ok(duration),
    }
}

/// A time as logs write it; of a day that time, in UTC as they are.
fn time(written: &str, of_day: Time) -> Result<String> {
    let of_day = |day: Date| TimeZone::UTC.to_timestamp(day.to_datetime(of_day)).ok();
    let time = written.parse::<Timestamp>().ok().or_else(|| {
        let is_day = written.len() == "2026-12-01".len();
        is_day.then(|| written.parse::<Date>().ok().and_then(of_day))?
    });
    time.map(text).ok_or_else(|| anyhow!("`{written}` is no time such as `2026-12-01T00:00:00Z` or `2026-12-01`"))
}

fn text(time: Timestamp) -> String {
    format!("{time:.9}")
}

fn attribution(text: &str) -> Result<Attribution> {
    let usage = || anyhow!("`{text}` is not USER=NAMESPACE/NAME or USER,agent=GLOB=NAMESPACE/NAME");
    let (who, subject) = text.rsplit_once('=').ok_or_else(usage)?;
    let (who, agent) = match who.split_once(",agent=") {
        Some((who, glob)) => (who, Some(Glob::new(glob)?.compile_matcher())),
        None => (who, None),
    };
    let key = SubjectKey::parse(subject);
    if who.is_empty() || !matches!(key, SubjectKey::ServiceAccount { .. }) {
        return Err(usage());
    }
    Ok(Attribution { who: who.to_owned(), agent, user: key.user() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_durations_are_read_and_written_as_logs_do() {
        let since = |text: &str| time(text, Time::MIN).ok();
        assert_eq!(since("2026-12-01T01:00:00+01:00").as_deref(), Some("2026-12-01T00:00:00.000000000Z"));
        assert_eq!(since("2026-12-01").as_deref(), Some("2026-12-01T00:00:00.000000000Z"));
        assert_eq!(time("2026-12-01", Time::MAX).unwrap(), "2026-12-01T23:59:59.999999999Z");
        for wrong in ["yesterday", "2026-13-01", "2026-12", "2026-12-01T", "2026-12-01T10:00", ""] {
            assert_eq!(since(wrong), None, "{wrong}");
        }
        assert_eq!(duration("7d").unwrap(), SignedDuration::from_hours(168));
        assert_eq!(duration("36h 30m").unwrap(), SignedDuration::from_mins(36 * 60 + 30));
        assert!(duration("-1h").is_err() && duration("week").is_err() && duration("0s").is_err());
    }

    #[test]
    fn calls_are_attributed_to_accounts() {
        let one = attribution("kubernetes-admin=ns/op").unwrap();
        assert_eq!(
            (one.who.as_str(), one.user.as_str(), one.agent.is_none()),
            ("kubernetes-admin", "system:serviceaccount:ns:op", true)
        );
        let one = attribution("a=b,agent=manager/*=system:serviceaccount:ns:op").unwrap();
        assert_eq!((one.who.as_str(), one.user.as_str()), ("a=b", "system:serviceaccount:ns:op"));
        assert!(one.agent.unwrap().is_match("manager/v1 (linux/amd64)"));
        for wrong in ["admin", "=ns/op", "admin=op", "admin,agent=[=ns/op"] {
            assert!(attribution(wrong).is_err(), "{wrong}");
        }
    }
}
