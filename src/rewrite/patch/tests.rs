use proptest::prelude::*;

use super::*;
use crate::manifest::Role;
use crate::rbac::Rule;
use crate::rewrite::keep::Kept;

/// Roles of a text, changed so.
fn patched(text: &str, entries: &[&[Kept]]) -> (String, Vec<LeftOut>) {
    let mut sources = SourceMap::default();
    let id = sources.add("role.yaml", text);
    let facts = manifest::read(&sources, id).facts;
    let kept = |(role, entries): (&'_ Role, &&[Kept])| (role.clone(), entries.to_vec());
    let roles: Vec<(Role, Vec<Kept>)> = facts.roles.iter().zip(entries).map(kept).collect();
    let roles: Vec<KeptRole<'_>> = roles
        .iter()
        .map(|(role, entries)| KeptRole {
            role,
            entries: entries.clone(),
            additions: Vec::new(),
            unseen: Vec::new(),
            generated: false,
        })
        .collect();
    let (patched, left_out) = patch(&sources, &roles);
    (patched.into_iter().next().map_or_else(|| text.to_owned(), |one| one.text), left_out)
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(|word| if word == "core" { String::new() } else { word.to_owned() }).collect()
}

fn rule(groups: &str, resources: &str, verbs: &str) -> Rule {
    Rule { api_groups: words(groups), resources: words(resources), verbs: words(verbs), ..Rule::default() }
}

fn parts(rules: &[Rule]) -> Kept {
    Kept::Parts(rules.to_vec())
}

const HEAD: &str = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: a # its name\n";

fn changes(before: &str, entries: &[Kept], after: &str) {
    let (text, left_out) = patched(&format!("{HEAD}{before}"), &[entries]);
    assert!(left_out.is_empty(), "{left_out:?}\n{before}");
    assert_eq!(text, format!("{HEAD}{after}"));
    // The same in files of another system.
    let crlf = |text: &str| format!("{HEAD}{text}").replace('\n', "\r\n");
    let (text, left_out) = patched(&crlf(before), &[entries]);
    assert!(left_out.is_empty(), "{left_out:?}\n{before}");
    assert_eq!(text, crlf(after));
}

#[test]
fn tokens_go_in_lists_of_either_style() {
    changes(
        "rules:\n# of pods\n- apiGroups: [\"\"]\n  resources: [pods, 'services' , nodes] # three\n  verbs:\n  - get\n  # why\n  - list # all\n  - \"watch\"\n",
        &[parts(&[rule("core", "services", "get watch")])],
        "rules:\n# of pods\n- apiGroups: [\"\"]\n  resources: ['services'] # three\n  verbs:\n  - get\n  # why\n  - \"watch\"\n",
    );
    changes(
        "rules:\n  - verbs: [ get,\n      list, # all\n      watch ]\n    apiGroups: [\n      apps,\n      # old\n      extensions,\n    ]\n    resources:\n      - deployments\n",
        &[parts(&[rule("apps", "deployments", "get watch")])],
        "rules:\n  - verbs: [ get,\n      watch ]\n    apiGroups: [\n      apps,\n      # old\n    ]\n    resources:\n      - deployments\n",
    );
    changes(
        "rules:\n  - verbs: [get, list, # all\n      watch]\n    apiGroups: [apps]\n    resources: [a]",
        &[parts(&[rule("apps", "a", "get list")])],
        "rules:\n  - verbs: [get, list # all\n      ]\n    apiGroups: [apps]\n    resources: [a]",
    );
}

#[test]
fn an_entry_that_loses_everything_goes_with_its_comments() {
    let entry = |name: &str| format!("  - apiGroups: [a]\n    resources: [{name}]\n    verbs: [get]\n");
    changes(
        &format!(
            "rules:\n  # one\n{}\n  # two\n  # more\n{}    # - list\n\n  # three\n{}",
            entry("a"),
            entry("b"),
            entry("c")
        ),
        &[Kept::Whole, Kept::Nothing, Kept::Whole],
        &format!("rules:\n  # one\n{}\n  # three\n{}", entry("a"), entry("c")),
    );
    changes(
        &format!("rules: # all\n  # one\n{}{}---\n# next\n", entry("a"), entry("b")),
        &[Kept::Nothing, Kept::Nothing],
        "rules: [] # all\n---\n# next\n",
    );
    changes(
        "rules: [{apiGroups: [a], resources: [a], verbs: [get]}, {apiGroups: [b], resources: [b], verbs: [get]}]\n",
        &[Kept::Nothing, Kept::Whole],
        "rules: [{apiGroups: [b], resources: [b], verbs: [get]}]\n",
    );
}

#[test]
fn a_wildcard_gives_way_to_what_was_used() {
    changes(
        "rules:\n- apiGroups:\n  - '*'\n  resources: [\"*\"]\n  verbs:\n    -   '*'  # all\n",
        &[parts(&[rule("core apps", "pods", "get list")])],
        "rules:\n- apiGroups:\n  - \"\"\n  - apps\n  resources: [pods]\n  verbs:\n    -   get  # all\n    -   list\n",
    );
    changes(
        "rules:\n- {apiGroups: ['a'], resources: ['*/scale', 'b'], verbs: ['get']}\n",
        &[parts(&[rule("a", "c/scale b", "get")])],
        "rules:\n- {apiGroups: ['a'], resources: ['c/scale', 'b'], verbs: ['get']}\n",
    );
}

#[test]
fn an_entry_is_split_in_its_own_style() {
    changes(
        "rules:\n  # both\n  - resources:\n      - pods\n      - 'nodes'\n    verbs: [get, list]\n    apiGroups: ['']\n  - verbs: [x]\n",
        &[parts(&[rule("core", "pods", "get list"), rule("core", "nodes", "get")]), Kept::Whole],
        "rules:\n  # both\n  - resources:\n      - pods\n    verbs: [get, list]\n    apiGroups: ['']\n  - resources:\n      - 'nodes'\n    verbs: [get]\n    apiGroups: ['']\n  - verbs: [x]\n",
    );
}

#[test]
fn names_are_pinned_before_the_next_key() {
    let pinned = Rule { resource_names: words("lock"), ..rule("b", "leases", "get update") };
    changes(
        "rules:\n- apiGroups: [\"b\"]\n  resources: [\"leases\"]\n  verbs: [\"create\", \"get\", \"update\"]\n",
        &[parts(&[pinned.clone(), rule("b", "leases", "create")])],
        "rules:\n- apiGroups: [\"b\"]\n  resources: [\"leases\"]\n  resourceNames: [\"lock\"]\n  verbs: [\"get\", \"update\"]\n- apiGroups: [\"b\"]\n  resources: [\"leases\"]\n  verbs: [\"create\"]\n",
    );
    changes(
        "rules:\n- apiGroups:\n  - b\n  resources:\n  - leases\n  verbs:\n  - get\n  - update\n",
        &[parts(&[pinned])],
        "rules:\n- apiGroups:\n  - b\n  resources:\n  - leases\n  resourceNames:\n  - lock\n  verbs:\n  - get\n  - update\n",
    );
}

#[test]
fn json_stays_json() {
    let json = |rules: &str| {
        format!(
            "{{\n  \"apiVersion\": \"rbac.authorization.k8s.io/v1\",\n  \"kind\": \"Role\",\n  \"metadata\": {{\"name\": \"a\"}},\n  \"rules\": {rules}\n}}\n"
        )
    };
    let before = json(
        "[\n    {\n      \"apiGroups\": [\"\"],\n      \"resources\": [\n        \"pods\",\n        \"nodes\"\n      ],\n      \"verbs\": [\"get\",\"list\"]\n    },\n    {\n      \"apiGroups\": [\"a\"], \"resources\": [\"a\"], \"verbs\": [\"*\"]\n    }\n  ]",
    );
    let (after, left_out) = patched(
        &before,
        &[&[parts(&[rule("core", "pods", "get"), rule("core", "nodes", "list")]), parts(&[rule("a", "a", "get")])]],
    );
    assert!(left_out.is_empty(), "{left_out:?}");
    let expected = json(
        "[\n    {\n      \"apiGroups\": [\"\"],\n      \"resources\": [\n        \"pods\"\n      ],\n      \"verbs\": [\"get\"]\n    },\n    {\n      \"apiGroups\": [\"\"],\n      \"resources\": [\n        \"nodes\"\n      ],\n      \"verbs\": [\"list\"]\n    },\n    {\n      \"apiGroups\": [\"a\"], \"resources\": [\"a\"], \"verbs\": [\"get\"]\n    }\n  ]",
    );
    assert_eq!(after, expected);
    serde_json::from_str::<serde_json::Value>(&after).unwrap();
}

#[test]
fn what_is_not_safe_stays_as_it_is_and_is_said() {
    let entry = "- apiGroups: [a]\n  resources: [a]\n  verbs: [get, list]\n";
    let less = [parts(&[rule("a", "a", "get")])];
    for (text, why) in [
        (format!("{HEAD}x: &v [get, list]\nrules:\n- apiGroups: [a]\n  resources: [a]\n  verbs: *v\n"), "alias"),
        (format!("{HEAD}x: &r\n{entry}rules: *r\n"), "alias"),
        (format!("{HEAD}x: &e\n  apiGroups: [a]\n  resources: [a]\nrules:\n- <<: *e\n  verbs: [get, list]\n"), "alias"),
        (format!("{HEAD}rules:\n- apiGroups: [a]\n  resources: [a]\n  verbs: [get, &l list]\nx: *l\n"), "anchor"),
        (
            format!("{HEAD}rules:\n- apiGroups: [a]\n  resources: [a]\n  verbs:\n  - get\n  - &l list\nx: *l\n"),
            "anchor",
        ),
        (format!("{HEAD}rules:\n{entry}  verbs: [get, list]\n"), "given twice"),
        (format!("{HEAD}rules:\n# {{{{ if .Values.rbac }}}}\n{entry}"), "template"),
        (format!("{HEAD}rules:\n#@ if x:\n{entry}#@ end\n"), "template"),
        (format!("{HEAD}rules:\n{entry}---\n#@ if x:\na: 1\n"), "template"),
        (format!("{HEAD}rules:\n{entry}x: #@ data.values.x\n"), "template"),
        (format!("#! a comment of ytt\n{HEAD}rules:\n{entry}"), "template"),
        (format!("{HEAD}rules:\n- apiGroups: [a]\n  resources: [a, '${{B}}']\n  verbs: [get, list]\n"), "template"),
    ] {
        let (after, left_out) = patched(&text, &[&less]);
        assert_eq!(after, text);
        assert!(left_out.len() == 1 && left_out[0].why.contains(why), "{left_out:?}\n{text}");
    }
    // Only comments of ytt are code.
    changes(
        "x: 'a #@ b'\ny: a#@\n# @mail\nrules:\n- apiGroups: [a]\n  resources: [a]\n  verbs: [get, list]\n",
        &less,
        "x: 'a #@ b'\ny: a#@\n# @mail\nrules:\n- apiGroups: [a]\n  resources: [a]\n  verbs: [get]\n",
    );
    // An anchor that nothing gone refers to is kept.
    changes(
        "rules:\n- &a\n  apiGroups: &g [a]\n  resources: [a]\n  verbs:\n  - &x get\n  - list\ny: [*g, *x]\n",
        &less,
        "rules:\n- &a\n  apiGroups: &g [a]\n  resources: [a]\n  verbs:\n  - &x get\ny: [*g, *x]\n",
    );
}

#[test]
fn one_bad_role_costs_itself() {
    let good = format!("{HEAD}rules:\n- apiGroups: [a]\n  resources: [a]\n  verbs: [get, list]\n");
    let bad = format!("{HEAD}rules:\n- apiGroups: [a]\n  resources: [a]\n  verbs:\n  - get\n  - &l list\nx: *l\n");
    let less: &[Kept] = &[parts(&[rule("a", "a", "get")])];
    let (after, left_out) = patched(&format!("{good}---\n{bad}"), &[less, less]);
    assert_eq!(after, format!("{}---\n{bad}", good.replace("[get, list]", "[get]")));
    assert_eq!(left_out.len(), 1);
}

/// Lists as people write them: between brackets in one line or several, or a line an item; quoted or not, with comments.
fn written_list(items: &[&str], indent: usize, style: usize, comments: bool) -> String {
    let pad = " ".repeat(indent);
    let quoted = |(index, item): (usize, &&str)| match (style / 4 + index) % 3 {
        _ if item.is_empty() || item.contains('*') => format!("\"{item}\""),
        0 => (*item).to_owned(),
        1 => format!("'{item}'"),
        _ => format!("\"{item}\""),
    };
    let items: Vec<String> = items.iter().enumerate().map(quoted).collect();
    let note =
        |index: usize| if comments && index.is_multiple_of(2) { format!(" # note, {index}") } else { String::new() };
    match style % 4 {
        0 => format!(" [{}]{}\n", items.join(", "), note(0)),
        1 => {
            let lines = items.iter().enumerate().map(|(i, item)| format!("\n{pad}    {item},{}", note(i)));
            format!(" [{}\n{pad}  ]\n", lines.collect::<String>())
        }
        2 => {
            let lines = items.iter().enumerate().map(|(i, item)| {
                let above = if comments && i % 3 == 1 { format!("{pad}# above {i}\n") } else { String::new() };
                format!("{above}{pad}- {item}{}\n", note(i))
            });
            format!("{}\n{}", note(4), lines.collect::<String>())
        }
        _ => {
            let lines = items.iter().map(|item| format!("{pad}  -  {item}\n"));
            format!("\n{}", lines.collect::<String>())
        }
    }
}

fn some_of(all: &'static [&'static str]) -> impl Strategy<Value = Vec<&'static str>> {
    prop::sample::subsequence(all, 1..=all.len())
}

#[derive(Debug, Clone)]
struct Made {
    lists: [Vec<&'static str>; 3],
    styles: [usize; 3],
    anchor: bool,
    comments: bool,
    blank: bool,
}

fn made() -> impl Strategy<Value = Made> {
    let lists = (
        some_of(&["", "apps", "batch.example.com"]),
        some_of(&["pods", "nodes/proxy", "jobs", "*/scale"]),
        some_of(&["get", "list", "watch", "create", "*"]),
    );
    let flags =
        (any::<[u8; 3]>().prop_map(|styles| styles.map(usize::from)), any::<bool>(), any::<bool>(), any::<bool>());
    (lists, flags).prop_map(|((a, b, c), (styles, anchor, comments, blank))| Made {
        lists: [a, b, c],
        styles,
        anchor,
        comments,
        blank,
    })
}

fn text_of(made: &[Made], indent: usize) -> String {
    let pad = " ".repeat(indent);
    let mut text = format!("{HEAD}rules:\n");
    for (index, one) in made.iter().enumerate() {
        if one.comments {
            text.extend([format!("{pad}# entry {index}\n")]);
        }
        let anchor = if one.anchor { format!("&e{index}\n{pad}  ") } else { String::new() };
        for (place, (key, list)) in ["apiGroups", "resources", "verbs"].iter().zip(&one.lists).enumerate() {
            let lead = if place == 0 { format!("{pad}- {anchor}") } else { format!("{pad}  ") };
            text.extend([format!("{lead}{key}:"), written_list(list, indent + 2, one.styles[place], one.comments)]);
        }
        if one.blank {
            text += "\n";
        }
    }
    text
}

proptest! {
    #[test]
    fn any_style_keeps_exactly_what_is_kept(
        made in prop::collection::vec(made(), 1..5),
        choices in prop::collection::vec((0u8..4, any::<u64>()), 5),
        indent in 0usize..4,
        crlf in any::<bool>(),
    ) {
        let mut text = text_of(&made, indent);
        if crlf {
            text = text.replace('\n', "\r\n");
        }
        let owned = |list: &[&str]| list.iter().map(|item| (*item).to_owned()).collect::<Vec<_>>();
        let entries: Vec<Kept> = made.iter().zip(&choices).map(|(one, (choice, seed))| {
            let [groups, resources, verbs] = &one.lists;
            let whole = Rule {
                api_groups: owned(groups), resources: owned(resources), verbs: owned(verbs), ..Rule::default()
            };
            let narrowed = |rule: &Rule| Rule {
                verbs: vec![if rule.verbs[0] == "*" { "patch".to_owned() } else { rule.verbs[0].clone() }],
                resource_names: if seed % 5 == 0 { vec!["a name".to_owned()] } else { Vec::new() },
                ..rule.clone()
            };
            match choice {
                0 => Kept::Whole,
                1 => Kept::Nothing,
                2 => Kept::Parts(vec![narrowed(&whole)]),
                _ => {
                    let singles = whole.singles();
                    let kept = singles.into_iter().enumerate().filter(|(i, _)| seed >> (i % 64) & 1 == 1);
                    let kept: Vec<Rule> = kept.map(|(_, rule)| narrowed(&rule)).collect();
                    if kept.is_empty() { Kept::Nothing } else { Kept::Parts(kept) }
                }
            }
        }).collect();
        let (after, left_out) = patched(&text, &[&entries]);
        prop_assert!(left_out.is_empty(), "{:?}\n{}", left_out, text);
        // What the file holds is checked by `patch` itself; here that nothing else was touched.
        for (index, (one, kept)) in made.iter().zip(&entries).enumerate() {
            let comment = format!("# entry {index}");
            prop_assert_eq!(after.contains(&comment), one.comments && *kept != Kept::Nothing, "{}\n{}", text, after);
            if *kept == Kept::Whole {
                let lines = text_of(std::slice::from_ref(one), indent);
                let lines = lines.strip_prefix(&format!("{HEAD}rules:\n")).unwrap().replace("entry 0", &format!("entry {index}"));
                let lines = lines.replace("&e0", &format!("&e{index}"));
                let lines = if crlf { lines.replace('\n', "\r\n") } else { lines };
                prop_assert!(after.contains(lines.trim_end()), "{}\n{}", lines, after);
            }
        }
        let breaks = after.matches('\n').count();
        prop_assert_eq!(after.matches("\r\n").count(), if crlf { breaks } else { 0 });
        prop_assert!(!after.lines().any(|line| line.ends_with(' ')), "{}", after);
        // Again nothing changes.
        let whole: Vec<Kept> = entries.iter().flat_map(|kept| match kept {
            Kept::Whole => vec![Kept::Whole],
            Kept::Nothing => Vec::new(),
            Kept::Parts(rules) => vec![Kept::Whole; rules.len()],
        }).collect();
        prop_assert_eq!(patched(&after, &[&whole]).0, after);
    }

    #[test]
    fn any_text_is_left_or_reads_as_meant(noise in "[a-z:{}\\[\\]&*!|>'\"#,?\\- \\n]{0,40}") {
        let text = format!("{HEAD}rules:\n- apiGroups: [a]\n  resources: [a]\n  verbs: [get, {noise}]\n");
        let less: &[Kept] = &[parts(&[rule("a", "a", "get")])];
        patched(&text, &[less]);
    }
}
