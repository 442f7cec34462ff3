use super::super::rendered::{Documents, Rendered};
use super::*;

fn place(sources: &SourceMap, id: SourceId, word: &str) -> crate::source::Location {
    let start = u32::try_from(sources.get(id).unwrap().text.find(word).unwrap()).unwrap();
    sources.locate(Span { source: id, start, end: start + 1 })
}

#[test]
fn a_place_in_rendered_text_leads_to_the_line_of_its_template() {
    let mut sources = SourceMap::default();
    let text = "---\n# Source: op/templates/a.yaml\nkind: A\nverbs: [get]\nsame: 1\n---\n# Source: op/charts/s/templates/b.yaml\n# more\nkind: B\n---\nkind: C\n";
    let rendered = sources.add("chart/(helm template)", text);
    sources.add("chart/templates/a.yaml", "{{ if x }}\n  verbs: [get]\nsame: 1\nsame: 1\n");
    let mut known = Rendered::default();
    known.add(rendered, "chart".to_owned());
    let template = |word| {
        let (place, input) = known.template(&sources, &mut Documents::default(), &place(&sources, rendered, word))?;
        Some((place.path.to_string(), place.line, input))
    };
    assert_eq!(template("verbs"), Some(("chart/templates/a.yaml".to_owned(), 2, true)));
    assert_eq!(template("same"), Some(("chart/templates/a.yaml".to_owned(), 1, true)));
    // Not among the files that were read.
    assert_eq!(template("kind: B"), Some(("op/charts/s/templates/b.yaml".to_owned(), 1, false)));
    assert_eq!(template("kind: C"), None);
}

#[test]
fn only_comments_before_an_object_name_its_template() {
    let mut sources = SourceMap::default();
    let id = sources.add("a.yaml", "kind: A\n# Source: x/y.yaml\nverbs: []\n");
    assert!(Rendered::default().template(&sources, &mut Documents::default(), &place(&sources, id, "verbs")).is_none());
}
