//! Races as faults, with both sides.

use std::collections::BTreeSet;

use super::super::super::lower::Program;
use super::super::super::module::SourceLine;
use super::super::fault::{FaultKind, Finding, OtherSide};
use super::super::run::{Launch, MOST_FAULTS, Worker};
use super::clock::Thread;
use super::element::Element;
use super::judge::Verdict;
use super::means::releases;
use super::shadow::{Entry, Strength};
use super::{Accepted, Doubt, LaunchRaces};

/// An access that was judged, as a report names it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judged {
    pub(super) pc: u32,
    pub(super) element: Element,
    pub(super) entry: Entry,
}

const fn word(entry: &Entry) -> &'static str {
    match (entry.record.what.strength(), entry.writes) {
        (Strength::Atomic(_), _) => "atomic",
        (Strength::Copy, _) => "asynchronous copy",
        (
            Strength::Weak
            | Strength::Volatile
            | Strength::Relaxed(_)
            | Strength::Flag
            | Strength::Collective,
            writes,
        ) => {
            if writes {
                "write"
            } else {
                "read"
            }
        }
    }
}

impl Launch<'_> {
    /// Where something is in the grid: the coordinates of its block and of the thread in it.
    fn coordinates(&self, thread: Thread) -> ([u32; 3], [u32; 3]) {
        let [x, y, _] = self.grid;
        let block = thread.block();
        let block = [block % x, block / x % y, block / x / y];
        let [x, y, _] = self.block;
        let number = thread.number();
        (block, [number % x, number / x % y, number / (x * y)])
    }

    /// Reports what was in doubt; lists what was accepted, and counts the instructions whose strong reads may return an
    /// older value.
    pub(in super::super) fn finish_races(&mut self) -> (Vec<Accepted>, usize) {
        let Some(mut races) = self.races.take() else { return (Vec::new(), 0) };
        // A compiler that unrolls a loop makes several instructions of one expression: it is an attempt if one of them is.
        let line = |pc: u32| self.program.place(self.module, pc).1;
        let lines: BTreeSet<SourceLine> =
            races.attempts.iter().filter_map(|pc| line(*pc)).collect();
        for doubt in std::mem::take(&mut races.doubts) {
            let same_line = line(doubt.read).is_some_and(|line| lines.contains(&line));
            if same_line || races.attempts.contains(&doubt.read) {
                races.accepted.insert((23, doubt.read));
            } else if self.faults.len() < MOST_FAULTS
                && !self.seen.contains_key(&(FaultKind::DataRace, doubt.pc))
            {
                self.seen.insert((FaultKind::DataRace, doubt.pc), self.faults.len());
                self.faults.push(doubt.recorded);
            }
        }
        let accepted = races.accepted.iter().map(|(rule, pc)| {
            let (place, source_line) = self.program.place(self.module, *pc);
            Accepted { rule: *rule, place, source_line }
        });
        (accepted.collect(), races.stale_reads.len())
    }
}

impl Worker<'_, '_> {
    /// What comes of a verdict.
    pub(super) fn report_race(
        &mut self,
        races: &mut LaunchRaces,
        judged: &Judged,
        verdict: &Verdict,
    ) {
        races.attempts.extend(&verdict.attempts);
        races.accepted.extend(verdict.read_before.iter().map(|read| (25, *read)));
        if let Some((other, thread)) = &verdict.behind_write {
            let finding = self.finding(judged, other, *thread);
            let details = self.behind_write(judged, *thread);
            let (_, thread) = self.launch.coordinates(judged.element.thread);
            self.report_of(judged.pc, thread, Finding { details, ..finding });
        }
        if verdict.same_value {
            races.accepted.insert((20, judged.pc));
        }
        if let Some((other, thread)) = &verdict.race
            && !self.launch.seen.contains_key(&(FaultKind::DataRace, judged.pc))
        {
            let finding = self.finding(judged, other, *thread);
            let (_, thread) = self.launch.coordinates(judged.element.thread);
            self.report_of(judged.pc, thread, finding);
        }
        if let Some((other, thread)) = &verdict.doubt {
            let own = !judged.entry.writes;
            let read = if own { judged.pc } else { other.record.what.pc() };
            let known = |doubt: &Doubt| (doubt.read, doubt.pc) == (read, judged.pc);
            if !races.doubts.iter().any(known) {
                let finding = self.finding(judged, other, *thread);
                let (_, thread) = self.launch.coordinates(judged.element.thread);
                let recorded = self.recorded(judged.pc, thread, finding);
                races.doubts.push(Doubt { read, pc: judged.pc, recorded });
            }
        }
    }

    fn finding(&self, judged: &Judged, other: &Entry, thread: Thread) -> Finding {
        let (block, thread) = self.launch.coordinates(thread);
        let pc = other.record.what.pc();
        let (place, source_line) = self.launch.program.place(self.launch.module, pc);
        let access = word(other);
        let ([bx, by, bz], [x, y, z]) = (block, thread);
        let side = format!("the {access} by block ({bx}, {by}, {bz}), thread ({x}, {y}, {z})");
        let (name, offset) = self.name_of(judged);
        let name_text = name.as_deref().unwrap_or("memory");
        let details = format!(
            "{} of {} bytes at offset {offset} of `{name_text}`, which {} orders with {side}",
            with_article(word(&judged.entry)),
            judged.element.bytes,
            missing(judged, other, self.launch.program),
        ) + at_once(judged, other);
        Finding {
            kind: FaultKind::DataRace,
            lane: judged.element.thread.lane(),
            address: Some(judged.element.address),
            buffer: name,
            other: Some(OtherSide { block, thread, place, source_line, access }),
            details,
        }
    }

    /// A read through the read-only cache of what the launch wrote (rule 25).
    fn behind_write(&self, judged: &Judged, writer: Thread) -> String {
        let ([bx, by, bz], [x, y, z]) = self.launch.coordinates(writer);
        let (name, offset) = self.name_of(judged);
        let (bytes, name) = (judged.element.bytes, name.as_deref().unwrap_or("memory"));
        format!(
            "a read of {bytes} bytes at offset {offset} of `{name}` through the read-only cache (ld.global.nc), of which \
             block ({bx}, {by}, {bz}), thread ({x}, {y}, {z}) writes in the same launch: the cache may hold the old value; \
             read it without `__ldg` and without `const __restrict__`"
        )
    }

    fn name_of(&self, judged: &Judged) -> (Option<String>, usize) {
        match judged.element.region {
            Some(region) => {
                let region = self.launch.memory.regions.get(region);
                let start = region.map_or(0, |region| region.start);
                (region.map(|region| region.name.clone()), judged.element.offset - start)
            }
            None => {
                let offset = judged.element.offset as u32;
                let inside =
                    |v: &&super::super::shared::SharedVariable| (v.start..v.end).contains(&offset);
                let variable = self.launch.shared.variables.iter().find(inside);
                let start = variable.map_or(0, |variable| variable.start as usize);
                (variable.map(|variable| variable.name.clone()), judged.element.offset - start)
            }
        }
    }
}

fn with_article(word: &str) -> String {
    format!("{} {word}", if word.starts_with('a') { "an" } else { "a" })
}

/// What would have ordered them.
fn missing(judged: &Judged, other: &Entry, program: &Program) -> &'static str {
    let (me, them) = (judged.entry.record.thread, other.record.thread);
    let strengths = (judged.entry.record.what.strength(), other.record.what.strength());
    if let (Some(_), Some(_)) = (strengths.0.reach(), strengths.1.reach())
        && me.block() != them.block()
    {
        return "no scope that includes both";
    }
    // Where the program could also have ordered them by memory, a barrier is not all that is missing.
    let by_memory = releases(program);
    if me.same_warp(them) {
        if by_memory { "neither a __syncwarp nor an acquired release" } else { "no __syncwarp" }
    } else if me.block() == them.block() {
        if by_memory { "neither a barrier nor an acquired release" } else { "no barrier" }
    } else {
        "nothing"
    }
}

/// What a barrier cannot change.
fn at_once(judged: &Judged, other: &Entry) -> &'static str {
    let (own, other) = (&judged.entry, other);
    let same = own.record.what.pc() == other.record.what.pc();
    if same && own.writes && other.writes && own.record.thread.same_warp(other.record.thread) {
        " in the same instruction: lanes that store at once have no order"
    } else {
        ""
    }
}
