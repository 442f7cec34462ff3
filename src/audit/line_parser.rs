//! Lines of a log → what is to be done of each: events are read where they are plain, passed over where they cannot be
//! of who is asked for, and left to the thread that counts where a line is anything else.

mod events;

use events::Events;

use super::decision::Stage;
use super::event::Event;
use super::level::Level;
use super::prefilter::Prefilter;
use super::records;
use super::select::Select;
use super::sighting::{self, Sighting};

/// Reads lines on any thread.
#[derive(Debug, Clone)]
pub(super) struct LineParser {
    select: Select,
    longest: usize,
    prefilter: Option<Prefilter>,
    /// Where keys are written.
    key: String,
}

/// What is to be done next, in the order of the log.
#[derive(Debug)]
pub(super) enum Next<'a> {
    /// Count an event.
    Event(&'a Sighting<'a>),
    /// Count an event of nobody who is asked for.
    PassedOver(Stage, Level),
    /// Read what may be several records, or none: the line's number, and its bytes from one place to another.
    Line(u64, usize, usize),
}

impl LineParser {
    /// One for lines of at most `longest` bytes.
    pub(super) fn new(select: Select, longest: usize) -> Self {
        Self { prefilter: Prefilter::of(&select), select, longest, key: String::new() }
    }

    /// Whether lines may be passed over.
    pub(super) fn passes_over(&self) -> bool {
        self.prefilter.is_some()
    }

    /// Reads the `number`th block of a log, from 0, with `read`. Every block must be: others may wait for the first.
    pub(super) fn block<T>(&mut self, number: u64, read: impl FnOnce(&mut Self) -> T) -> T {
        self.prefilter.iter_mut().for_each(|prefilter| prefilter.begin(number));
        let said = read(self);
        self.prefilter.iter_mut().for_each(|prefilter| prefilter.end(number));
        said
    }

    /// Reads lines of the `file`th log, of which `before` lines came before; `each` gets what they say.
    pub(super) fn read(&mut self, lines: &[u8], (file, before): (u32, u64), each: &mut impl FnMut(Next<'_>)) -> u64 {
        let mut events = Events::of(lines);
        let ends = memchr::memchr_iter(b'\n', lines).chain([lines.len()]);
        let (mut start, mut line, mut any_event) = (0, before, false);
        for end in ends {
            line += 1;
            let record = lines.get(start..end).unwrap_or_default();
            let text = record.trim_ascii();
            let is_object = text.first() == Some(&b'{') && record.len() <= self.longest;
            // A log is known again by its first event.
            let prefilter = self.prefilter.as_ref().filter(|_| is_object && any_event);
            if let Some((stage, level)) = prefilter.and_then(|prefilter| prefilter.passes_over(text)) {
                each(Next::PassedOver(stage, level));
            } else if let Some(event) = is_object.then(|| events.on_line(start, end)).flatten()
                && self.event(event, text, (file, line), each)
            {
                any_event = true;
            } else if !text.is_empty() {
                each(Next::Line(line, start, end));
            }
            start = end + 1;
        }
        line - before
    }

    /// Takes a plain event; false for everything else.
    #[inline]
    fn event(&mut self, mut event: Event<'_>, text: &[u8], place: (u32, u64), each: &mut impl FnMut(Next<'_>)) -> bool {
        if !event.is_audit() {
            return false;
        }
        let shape = records::mended(text, &mut event);
        let Ok(sighting) = sighting::of(&event, shape, text.len(), place, &self.select, &mut self.key) else {
            return false;
        };
        if let Some(prefilter) = &mut self.prefilter {
            prefilter.note(sighting.key);
        }
        each(Next::Event(&sighting));
        true
    }
}
