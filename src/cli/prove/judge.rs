//! What `rolecall role` and `rolecall scan` say of a run: the role to write, and what was refused.

use anyhow::{Result, bail};

use super::super::output::Terminal;
use super::super::pipeline::{self, Loaded, Request};
use super::super::prove_args::Args;
use super::super::role;
use crate::analysis::{Deficit, Options};
use crate::audit::Usage;
use crate::graph::SubjectKey;
use crate::rewrite::role_yaml;

/// The manifests, read once, and how they are judged.
pub(super) struct Judge<'a> {
    args: &'a Args,
    loaded: Loaded,
    options: Options,
}

impl<'a> Judge<'a> {
    pub(super) fn of(args: &'a Args) -> Result<Self> {
        let selection = &args.input.selection;
        let narrowed = [&selection.since, &selection.until, &selection.window].iter().any(|asked| asked.is_some());
        if narrowed || !selection.attribute.is_empty() {
            bail!(
                "the calls that count are those of the subject during the command: --since, --until, --window and --attribute have no place here"
            );
        }
        let mut request = Request::new(&args.paths, &args.input)?;
        request.audit = Vec::new();
        let loaded = Loaded::read(&request, &mut |_| ())?;
        Ok(Self { args, loaded, options: pipeline::options(&args.input, &args.role) })
    }

    /// The role out of the first run, as `rolecall role` writes it, and what was refused in that run.
    pub(super) fn first(
        &mut self,
        key: &SubjectKey,
        usage: &Usage,
        terminal: &Terminal,
    ) -> Result<(String, Vec<Deficit>)> {
        self.loaded.usage = Some(usage.clone());
        let assessments = self.loaded.assess(&self.options);
        self.loaded.completeness(&assessments, self.args.input.strict, terminal);
        let wanted = role::choose(&assessments, &self.args.input.subject)?;
        wanted.notes.iter().for_each(|note| terminal.note(note));
        match &wanted.minimal {
            Some(minimal) => Ok((role_yaml::render(wanted, minimal), wanted.deficits.clone())),
            None => bail!("no role can be cut for {key} from this run"),
        }
    }

    /// What was refused in the second run.
    pub(super) fn second(&mut self, usage: &Usage) -> Result<Vec<Deficit>> {
        self.loaded.usage = Some(usage.clone());
        let assessments = self.loaded.assess(&self.options);
        Ok(role::choose(&assessments, &self.args.input.subject)?.deficits.clone())
    }
}
