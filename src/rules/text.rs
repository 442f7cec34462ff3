//! The text of a rule document for people: terminal, SARIF help, the generated index.

use super::document::RuleDoc;
use crate::controls;

impl RuleDoc {
    /// File name of the document, `RC039-name.md`.
    pub fn file_name(&self) -> String {
        format!("{}-{}.md", self.id, self.name)
    }

    /// First paragraph of "What it means", on one line.
    pub fn summary(&self) -> String {
        first_paragraph(&self.section("What it means"))
    }

    /// First paragraph of "How to fix", on one line: the advice of a finding that has none of its own.
    pub fn remedy(&self) -> String {
        first_paragraph(&self.section("How to fix"))
    }

    /// The whole document as Markdown, for SARIF `help.markdown`.
    pub fn help_markdown(&self) -> String {
        format!(
            "# {} {}\n\n{}\n\n{}\n## Controls\n\n{}",
            self.id,
            self.title,
            self.severity_line(),
            self.body,
            self.controls_list()
        )
    }

    /// The whole document as plain text, for the terminal.
    pub fn explain(&self) -> String {
        let body: String =
            self.body.lines().map(|line| format!("{}\n", line.strip_prefix("## ").unwrap_or(line))).collect();
        format!(
            "{} {}\n{}\n\n{}\n{body}\nControls it supports\n{}",
            self.id,
            self.name,
            self.title,
            self.severity_line(),
            self.controls_list()
        )
    }

    fn severity_line(&self) -> String {
        let severities: Vec<String> =
            self.severity.iter().map(|(class, severity)| format!("{severity} ({class})")).collect();
        format!("Severity: {}. Since {}.", severities.join(", "), self.since)
    }

    fn controls_list(&self) -> String {
        let line = |(framework, id): (controls::Framework, &str)| {
            let gist = controls::lookup(framework, id).map(|control| format!(": {}", control.gist)).unwrap_or_default();
            format!("- {} {}{gist}\n", framework.title(), framework.display(id))
        };
        self.controls.iter().map(line).collect()
    }
}

/// `rules/README.md`: one line a rule.
pub fn index(docs: &[RuleDoc]) -> String {
    let mut text = String::from(
        "# Rules\n\nGenerated from the rule documents (`UPDATE=1 cargo test index`). \
         One file a rule: its front matter drives the matching, its text is the help.\n\n\
         | id | what is wrong | severity | controls |\n| --- | --- | --- | --- |\n",
    );
    for doc in docs {
        let severities: Vec<String> =
            doc.severity.iter().map(|(class, severity)| format!("{severity} ({class})")).collect();
        let line = format!(
            "| [{}]({}) | {} | {} | {} |\n",
            doc.id,
            doc.file_name(),
            doc.title,
            severities.join(", "),
            doc.controls.shown().join(", ")
        );
        text.push_str(&line);
    }
    text
}

fn first_paragraph(text: &str) -> String {
    text.lines().take_while(|line| !line.trim().is_empty()).map(str::trim).collect::<Vec<_>>().join(" ")
}
