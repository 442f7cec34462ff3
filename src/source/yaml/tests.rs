use proptest::prelude::*;

use super::*;
use crate::source::SourceMap;

fn read(text: &str) -> (SourceMap, Vec<Document>) {
    let mut map = SourceMap::default();
    let id = map.add("test.yaml", text);
    let documents = parse(id, text).collect();
    (map, documents)
}

fn trees(documents: &[Document]) -> Vec<&Tree> {
    documents
        .iter()
        .filter_map(|document| match &document.content {
            Content::Tree(tree) => Some(tree),
            _ => None,
        })
        .collect()
}

fn path<'a>(tree: &'a Tree, path: &[&str]) -> Node<'a> {
    path.iter().fold(tree.root().unwrap(), |node, key| match key.parse::<usize>() {
        Ok(index) => node.items().unwrap().nth(index).unwrap(),
        Err(_) => node.get(key).unwrap(),
    })
}

#[test]
fn spans_are_the_tokens_also_after_other_alphabets_and_line_ends() {
    for text in [
        "# größe\nname: \"größe\"\nverbs: [get, 'list', \"watch\"]\n",
        "# größe\r\nname: \"größe\"\r\nverbs: [get, 'list', \"watch\"]\r\n",
        "\u{feff}# größe\nname: \"größe\"\nverbs:\n  - get\n  - 'list'\n  - \"watch\"\n",
        "{\"größe\": 1, \"name\": \"größe\", \"verbs\": [\"get\",\"list\",\"watch\"]}",
    ] {
        let (map, documents) = read(text);
        let trees = trees(&documents);
        assert_eq!(map.slice(path(trees[0], &["name"]).span()), "größe", "{text}");
        for (index, verb) in ["get", "list", "watch"].into_iter().enumerate() {
            assert_eq!(map.slice(path(trees[0], &["verbs", &index.to_string()]).span()), verb, "{text}");
        }
    }
}

#[test]
fn lines_and_columns_count_code_points_from_one() {
    let (map, documents) = read("\u{feff}a: 1\r\nü: [äö, get]\n");
    let trees = trees(&documents);
    let place = map.locate(path(trees[0], &["ü", "1"]).span());
    assert_eq!((place.line, place.column, place.end_line, place.end_column), (2, 9, 2, 12));
    let first = map.locate(path(trees[0], &["a"]).span());
    assert_eq!((first.line, first.column), (1, 4), "a byte order mark is no column");
}

#[test]
fn a_broken_document_costs_only_itself() {
    let (map, documents) = read("kind: A\n---\nkind: [unclosed\n---\nkind: B\n---\nkind: 'C\n---\nkind: D\n");
    let kinds: Vec<Option<&str>> = documents
        .iter()
        .map(|document| match &document.content {
            Content::Tree(tree) => tree.root().unwrap().get("kind").and_then(Node::text),
            _ => None,
        })
        .collect();
    assert_eq!(kinds, [Some("A"), None, Some("B"), None, Some("D")]);
    assert_eq!(map.locate(documents[1].span).line, 3, "where the sequence was opened");
}

#[test]
fn blank_documents_and_end_markers() {
    let (_, documents) = read("# only a comment\n---\n---\nkind: A\n...\n---\n# end\n");
    let blank = documents.iter().filter(|document| matches!(document.content, Content::Blank)).count();
    assert_eq!((trees(&documents).len(), documents.len() - blank), (1, 1));
    assert!(read("").1.is_empty());
}

#[test]
fn aliases_and_merge_keys_are_followed_and_explicit_keys_win() {
    let (_, documents) = read("a: &a {x: 1, y: 2}\nb:\n  <<: *a\n  y: 3\nc: *a\nd:\n  y: 4\n  <<: [*a]\n");
    let trees = trees(&documents);
    assert_eq!(path(trees[0], &["b", "x"]).text(), Some("1"));
    assert_eq!(path(trees[0], &["b", "y"]).text(), Some("3"));
    assert_eq!(path(trees[0], &["c", "y"]).text(), Some("2"));
    assert_eq!(path(trees[0], &["d", "y"]).text(), Some("4"));
    assert!(trees[0].duplicate_keys.is_empty());
}

#[test]
fn the_last_of_duplicate_keys_wins_and_is_noted() {
    let (map, documents) = read("a: 1\nb: {a: 5}\na: 2\n");
    let trees = trees(&documents);
    assert_eq!(path(trees[0], &["a"]).text(), Some("2"));
    let noted: Vec<(u32, &str)> =
        trees[0].duplicate_keys.iter().map(|key| (map.locate(key.span).line, key.as_str())).collect();
    assert_eq!(noted, [(3, "a")]);
}

#[test]
fn yaml_1_1_values_and_odd_tags_are_plain_text() {
    let (_, documents) = read("a: =\nb: !!string x\nc: 0400\nd: on\ne: ~\nf:\n");
    let tree = trees(&documents)[0];
    for (key, text) in [("a", "="), ("b", "x"), ("c", "0400"), ("d", "on")] {
        assert_eq!(path(tree, &[key]).text(), Some(text));
    }
    assert!(tree.root().unwrap().get("e").is_none() && tree.root().unwrap().get("f").is_none());
}

#[test]
fn bombs_and_depth_cost_no_more_than_their_text() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..30 {
        let below = format!("*a{}", level - 1);
        bomb.extend([format!("a{level}: &a{level} [{}]\n", [below.as_str(); 9].join(", "))]);
    }
    let (_, documents) = read(&bomb);
    assert!(trees(&documents)[0].nodes.len() < 1000);
    let (_, documents) = read("a: &a [*a]\nb: *a\nc: &c\n  <<: *c\n");
    let tree = trees(&documents)[0];
    assert!(tree.root().unwrap().get("c").is_some_and(|c| c.get("x").is_none()), "a mapping that merges itself ends");
    let indented = (0..2_000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    for deep in ["[".repeat(100_000), "- ".repeat(100_000), "{a: ".repeat(100_000), indented] {
        let (_, documents) = read(&deep);
        assert!(documents.iter().any(|document| matches!(document.content, Content::Broken(_))));
    }
}

proptest! {
    #[test]
    fn any_text_is_read_and_spans_lie_within_it(text in "[a-z:{}\\[\\]&*!|>'\"%@`#,?\\-\\t\\r\\n ü\u{feff}]{0,80}") {
        let (map, documents) = read(&text);
        for document in &documents {
            if let Content::Tree(tree) = &document.content {
                for data in &tree.nodes {
                    prop_assert!(text.get(data.span.start as usize..data.span.end as usize).is_some(), "{:?}", data.span);
                    map.locate(data.span);
                }
            }
        }
    }
}

#[test]
fn merges_of_merges_are_looked_through_once() {
    let mut text = "m0: &m0 {x: 1}\n".to_owned();
    for level in 1..40 {
        let below = format!("*m{}", level - 1);
        text.extend([format!("m{level}: &m{level} {{<<: [{}]}}\n", [below.as_str(); 9].join(", "))]);
    }
    let (_, documents) = read(&text);
    let Content::Tree(tree) = &documents[0].content else { panic!("{documents:?}") };
    let top = tree.root().unwrap().get("m25").unwrap();
    assert_eq!(top.get("x").unwrap().text(), Some("1"));
    assert!(top.get("not there").is_none());
    assert_eq!(top.width(), 26);
}

#[test]
fn a_document_of_too_many_values_costs_itself() {
    let text = format!("a: [{}]\n---\nb: 1\n", "1,".repeat(3_000_001));
    let (_, documents) = read(&text);
    assert!(
        matches!(&documents[0].content, Content::Broken(why) if why.contains("more than 3000000 values and comments"))
    );
    assert!(matches!(&documents[1].content, Content::Tree(_)));
    assert_eq!(documents.len(), 2);
}
