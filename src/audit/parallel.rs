//! One log on several cores: a thread cuts it into blocks of lines, others read the events of a block, the caller's
//! counts them in the order of the log. The same calls as on one core, in memory bounded by the blocks in hand.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::block::Block;
use super::cause::Cause;
use super::line_parser::{LineParser, Next};
use super::reader::{Collector, Current, Head};
use super::shape::Shape;

/// Bytes of a block, more where a line is longer.
const BLOCK: usize = 512 << 10;
/// Bytes in hand on one core: they stay in its cache.
const BUFFER: usize = 128 << 10;
/// A block of long lines takes a place for each so many bytes.
const PLACE: usize = 8 << 20;
/// The thread that counts keeps no more of them busy.
const MOST_THREADS: usize = 8;

impl Collector {
    /// Reads one log (already decompressed) to its end, on up to `cores` cores; `tick` is called now and then. As
    /// [`read`](Self::read) in everything else.
    pub fn read_on(&mut self, cores: usize, path: &str, mut input: impl Read + Send, tick: &mut dyn FnMut()) {
        let head = Head::of(&mut input, self.longest);
        let mut current = self.begin(path);
        if head.is_of_lines() {
            self.bytes += head.mark as u64;
            let parser = LineParser::new(self.select.clone(), self.longest);
            // Blocks decide which lines are passed over: they are the same on any number of cores.
            let size = if cores > 1 || parser.passes_over() { BLOCK } else { BUFFER };
            let cutter = Cutter { input: head.before(input), rest: Vec::new(), size, longest: self.longest };
            let broken = match cores {
                0 | 1 => self.read_blocks(&mut current, cutter, parser, tick),
                _ => self.read_blocks_on(cores.min(MOST_THREADS), &mut current, cutter, &parser, tick),
            };
            if let Err(error) = broken {
                current.line += 1;
                self.lose(&mut current, Cause::Broken, 1, Some(error.to_string()));
            }
        } else {
            self.read_frames(&mut current, head, &mut BufReader::with_capacity(BUFFER, input));
            tick();
        }
        self.end(path, current);
    }

    fn read_blocks(
        &mut self,
        current: &mut Current,
        mut cutter: Cutter<impl Read>,
        mut parser: LineParser,
        tick: &mut dyn FnMut(),
    ) -> io::Result<()> {
        let (mut block, mut before) = (Block::default(), 0);
        for number in 0.. {
            let more = cutter.fill(&mut block);
            before += parser.block(number, |parser| {
                let place = (current.file, before);
                let mut each = |next: Next<'_>| self.count(current, next, &block.lines);
                if block.has_lines() { parser.read(&block.lines, place, &mut each) } else { 0 }
            });
            self.end_block(current, &block, &mut before);
            block.reset();
            tick();
            match more {
                Ok(true) => {}
                ended => return ended.map(drop),
            }
        }
        Ok(())
    }

    fn read_blocks_on(
        &mut self,
        threads: usize,
        current: &mut Current,
        mut cutter: Cutter<impl Read + Send>,
        parser: &LineParser,
        tick: &mut dyn FnMut(),
    ) -> io::Result<()> {
        // Every block in hand is in one of these or with a thread: their number bounds memory.
        let places = 4 * threads;
        let (give_back, empty) = sync_channel::<Block>(places);
        let (cut, to_read) = sync_channel::<(u64, Block)>(threads);
        let (read, to_count) = sync_channel::<(u64, Block)>(places);
        for _ in 0..places {
            // There is room for all of them.
            let _ = give_back.try_send(Block::default());
        }
        let to_read = Mutex::new(to_read);
        thread::scope(|scope| {
            let cutter = scope.spawn(move || {
                for number in 0.. {
                    let Ok(mut block) = empty.recv() else { break };
                    let more = cutter.fill(&mut block);
                    let more_places = (block.lines.len() / PLACE).min(places - 1);
                    block.places.extend(empty.iter().take(more_places));
                    if cut.send((number, block)).is_err() {
                        break;
                    }
                    match more {
                        Ok(true) => {}
                        ended => return ended.map(drop),
                    }
                }
                Ok(())
            });
            for _ in 0..threads {
                let (to_read, read, hasher) = (&to_read, read.clone(), self.in_flight.hasher.clone());
                let mut parser = parser.clone();
                scope.spawn(move || {
                    loop {
                        let next = to_read.lock().unwrap_or_else(PoisonError::into_inner).recv();
                        let Ok((number, mut block)) = next else { return };
                        parser.block(number, |parser| block.parse(parser, &hasher));
                        if read.send((number, block)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(read);
            self.count_in_order(current, &to_count, &give_back, tick);
            cutter.join().unwrap_or_else(|_| Err(io::Error::other("reading stopped")))
        })
    }

    fn count_in_order(
        &mut self,
        current: &mut Current,
        to_count: &Receiver<(u64, Block)>,
        give_back: &SyncSender<Block>,
        tick: &mut dyn FnMut(),
    ) {
        let mut early = BTreeMap::new();
        let (mut next, mut before) = (0, 0);
        for (number, block) in to_count {
            early.insert(number, block);
            while let Some(mut block) = early.remove(&next) {
                next += 1;
                block.in_order(current.file, before, &mut |next| self.count(current, next, &block.lines));
                before += block.parsed.lines;
                self.end_block(current, &block, &mut before);
                block.reset();
                for block in std::mem::take(&mut block.places).into_iter().chain([block]) {
                    // Nobody wants it once the log has been cut.
                    let _ = give_back.try_send(block);
                }
                tick();
            }
        }
    }

    fn count(&mut self, current: &mut Current, next: Next<'_>, lines: &[u8]) {
        match next {
            Next::Event(sighting) => self.take(current, sighting),
            Next::PassedOver(stage, level) => self.pass_over(current, stage, level),
            Next::Line(line, start, end) => {
                current.line = line;
                if end - start > self.longest {
                    self.lose(current, Cause::LongLine, 1, None);
                } else {
                    self.record(current, lines.get(start..end).unwrap_or_default(), Shape::Native, 0);
                }
            }
        }
    }

    /// A block has been counted, with which so many lines of the log have been read.
    fn end_block(&mut self, current: &mut Current, block: &Block, before: &mut u64) {
        current.line = *before;
        self.bytes += block.bytes;
        if block.too_long {
            *before += 1;
            current.line = *before;
            self.lose(current, Cause::LongLine, 1, None);
        }
    }
}

/// Cuts a log into blocks that end where a line does.
struct Cutter<R> {
    input: R,
    /// What was read of the next block.
    rest: Vec<u8>,
    /// Bytes of a block, more where a line is longer.
    size: usize,
    longest: usize,
}

impl<R: Read> Cutter<R> {
    /// Fills an empty block until it is full and ends with a line. False at the end.
    fn fill(&mut self, block: &mut Block) -> io::Result<bool> {
        block.lines.append(&mut self.rest);
        let mut searched = 0;
        loop {
            let more = self.input.by_ref().take(self.size as u64).read_to_end(&mut block.lines);
            let unsearched = block.lines.get(searched..).unwrap_or_default();
            let end = memchr::memrchr(b'\n', unsearched).map(|at| searched + at);
            match (end, more) {
                (_, Ok(0)) => {
                    block.bytes = block.lines.len() as u64;
                    return Ok(false);
                }
                (None, Err(error)) => {
                    block.lines.clear();
                    return Err(error);
                }
                (Some(end), Err(error)) => {
                    block.end_at(end);
                    return Err(error);
                }
                (Some(end), Ok(_)) => {
                    self.rest.extend_from_slice(block.lines.get(end + 1..).unwrap_or_default());
                    block.end_at(end);
                    return Ok(true);
                }
                (None, Ok(_)) if block.lines.len() <= self.longest => searched = block.lines.len(),
                (None, Ok(_)) => {
                    block.bytes += block.lines.len() as u64;
                    block.lines = Vec::new();
                    block.too_long = true;
                    return self.skip(block);
                }
            }
        }
    }

    /// Passes over the rest of a line.
    fn skip(&mut self, block: &mut Block) -> io::Result<bool> {
        let mut chunk = Vec::with_capacity(self.size);
        loop {
            chunk.clear();
            let read = self.input.by_ref().take(self.size as u64).read_to_end(&mut chunk)?;
            match memchr::memchr(b'\n', &chunk) {
                _ if read == 0 => return Ok(false),
                Some(end) => {
                    block.bytes += end as u64 + 1;
                    self.rest.extend_from_slice(chunk.get(end + 1..).unwrap_or_default());
                    return Ok(true);
                }
                None => block.bytes += read as u64,
            }
        }
    }
}

#[cfg(test)]
mod tests;
