//! Race reports: faults with both accesses.

use std::collections::BTreeSet;

use super::super::super::lower::Program;
use super::super::super::module::SourceLine;
use super::super::fault::{ConflictingAccess, FaultKind, Finding};
use super::super::run::{Launch, MOST_FAULTS, Worker};
use super::block_sync::releases;
use super::clock::Thread;
use super::conflict::ConflictResult;
use super::element::Element;
use super::shadow::{Entry, Strength};
use super::{Accepted, LaunchRaces, PendingRace};

/// A checked access, for a report.
#[derive(Clone, Copy, Debug)]
pub(super) struct CheckedAccess {
    pub(super) pc: u32,
    pub(super) element: Element,
    pub(super) entry: Entry,
}

const fn word(entry: &Entry) -> &'static str {
    match (entry.record.access.strength(), entry.writes) {
        (Strength::Atomic(_), _) => "atomic",
        (Strength::Copy | Strength::Bulk, _) => "asynchronous copy",
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
    /// The coordinates of a thread's block, and of the thread in it.
    pub(super) fn coordinates(&self, thread: Thread) -> ([u32; 3], [u32; 3]) {
        let [x, y, _] = self.grid;
        let block = thread.block();
        let block = [block % x, block / x % y, block / x / y];
        let [x, y, _] = self.block;
        let number = thread.number();
        (block, [number % x, number / x % y, number / (x * y)])
    }

    /// Reports pending races; returns the accepted accesses, and the number of instructions whose strong reads may
    /// return an older value.
    pub(in super::super) fn finish_races(&mut self) -> (Vec<Accepted>, usize) {
        let Some(mut races) = self.races.take() else { return (Vec::new(), 0) };
        // A compiler that unrolls a loop makes several instructions of one expression: it is an attempt if one of
        // them is.
        let line = |pc: u32| self.program.place(self.module, pc).1;
        let lines: BTreeSet<SourceLine> =
            races.attempts.iter().filter_map(|pc| line(*pc)).collect();
        for doubt in std::mem::take(&mut races.pending_races) {
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

/// Why a read may return something else than the last write.
#[derive(Clone, Copy)]
pub(super) struct ReadDefect {
    /// The kind of read.
    pub(super) read: &'static str,
    /// How the last write was done.
    pub(super) wrote: &'static str,
}

impl Worker<'_, '_> {
    /// Reports the findings of a check.
    pub(super) fn report_race(
        &mut self,
        races: &mut LaunchRaces,
        judged: &CheckedAccess,
        verdict: &ConflictResult,
    ) {
        races.attempts.extend(&verdict.attempts);
        races.accepted.extend(verdict.read_before.iter().map(|read| (25, *read)));
        if let Some((other, thread)) = &verdict.behind_write {
            let finding = self.finding(judged, other, *thread);
            let details = self.behind_write(judged, *thread);
            let (_, thread) = self.launch.coordinates(judged.element.thread);
            self.report_of(judged.pc, thread, Finding { details, ..finding });
        }
        races.accepted.extend(verdict.accepted.iter().map(|rule| (*rule, judged.pc)));
        if let Some((other, thread)) = &verdict.race
            && !self.launch.seen.contains_key(&(FaultKind::DataRace, judged.pc))
        {
            let finding = self.finding(judged, other, *thread);
            let (_, thread) = self.launch.coordinates(judged.element.thread);
            self.report_of(judged.pc, thread, finding);
        }
        if let Some((other, thread)) = &verdict.pending_race {
            let own = !judged.entry.writes;
            let read = if own { judged.pc } else { other.record.access.pc() };
            let known = |doubt: &PendingRace| (doubt.read, doubt.pc) == (read, judged.pc);
            if !races.pending_races.iter().any(known) {
                let finding = self.finding(judged, other, *thread);
                let (_, thread) = self.launch.coordinates(judged.element.thread);
                let recorded = self.recorded(judged.pc, thread, finding);
                races.pending_races.push(PendingRace { read, pc: judged.pc, recorded });
            }
        }
    }

    fn finding(&self, judged: &CheckedAccess, other: &Entry, thread: Thread) -> Finding {
        let (block, thread) = self.launch.coordinates(thread);
        let pc = other.record.access.pc();
        let (place, source_line) = self.launch.program.place(self.launch.module, pc);
        let access = word(other);
        let ([bx, by, bz], [x, y, z]) = (block, thread);
        let side = format!("the {access} by block ({bx}, {by}, {bz}), thread ({x}, {y}, {z})");
        let (name, offset) = self.name_of(judged);
        let name_text = name.as_deref().unwrap_or("memory");
        let details = format!(
            "{} of {} bytes at offset {offset} of `{name_text}`{}, which {} orders with {side}",
            with_article(word(&judged.entry)),
            judged.element.bytes,
            self.launch.peers.owner_text(),
            missing(judged, other, self.launch.program),
        ) + at_once(judged, other);
        Finding {
            kind: FaultKind::DataRace,
            lane: judged.element.thread.lane(),
            address: Some(judged.element.address),
            buffer: name,
            other: Some(ConflictingAccess { block, thread, place, source_line, access }),
            details,
        }
    }

    /// Reports an asynchronous read and a write that it does not observe as it should (rules 29 and 30).
    pub(super) fn report_stale_read(
        &mut self,
        judged: &CheckedAccess,
        other: &Entry,
        ReadDefect { read, wrote }: ReadDefect,
    ) {
        let finding = self.finding(judged, other, other.record.thread);
        let ([bx, by, bz], [x, y, z]) = self.launch.coordinates(other.record.thread);
        let (name, offset) = self.name_of(judged);
        let name = name.as_deref().unwrap_or("memory");
        let details = format!(
            "{read} of {} bytes at offset {offset} of `{name}`, which block ({bx}, {by}, {bz}), thread ({x}, {y}, {z}) \
             wrote {wrote}",
            judged.element.bytes,
        );
        let (_, thread) = self.launch.coordinates(judged.element.thread);
        self.report_of(judged.pc, thread, Finding { details, ..finding });
    }

    /// Reports an asynchronous write after a generic access (rule 39).
    pub(super) fn report_asynchronous_write(
        &mut self,
        judged: &CheckedAccess,
        other: &Entry,
        defect: &str,
    ) {
        let finding = self.finding(judged, other, other.record.thread);
        let ([bx, by, bz], [x, y, z]) = self.launch.coordinates(other.record.thread);
        let (name, offset) = self.name_of(judged);
        let name = name.as_deref().unwrap_or("memory");
        let verb = if other.writes { "wrote" } else { "read" };
        let details = format!(
            "an asynchronous write of {} bytes at offset {offset} of `{name}`, which block ({bx}, {by}, {bz}), thread \
             ({x}, {y}, {z}) {verb} {defect}",
            judged.element.bytes,
        );
        let (_, thread) = self.launch.coordinates(judged.element.thread);
        self.report_of(judged.pc, thread, Finding { details, ..finding });
    }

    /// A read through the read-only cache of data that the launch wrote (rule 25).
    fn behind_write(&self, judged: &CheckedAccess, writer: Thread) -> String {
        let ([bx, by, bz], [x, y, z]) = self.launch.coordinates(writer);
        let (name, offset) = self.name_of(judged);
        let (bytes, name) = (judged.element.bytes, name.as_deref().unwrap_or("memory"));
        format!(
            "a read of {bytes} bytes at offset {offset} of `{name}` through the read-only cache (ld.global.nc), which \
             block ({bx}, {by}, {bz}), thread ({x}, {y}, {z}) writes in the same launch: the cache may hold the old value; \
             read it without `__ldg` and without `const __restrict__`"
        )
    }

    fn name_of(&self, judged: &CheckedAccess) -> (Option<String>, usize) {
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

/// The synchronisation that would have ordered the accesses.
fn missing(judged: &CheckedAccess, other: &Entry, program: &Program) -> &'static str {
    let (me, them) = (judged.entry.record.thread, other.record.thread);
    let strengths = (judged.entry.record.access.strength(), other.record.access.strength());
    if let (Some(_), Some(_)) = (strengths.0.reach(), strengths.1.reach())
        && me.block() != them.block()
    {
        return "no scope that includes both";
    }
    // If the program could also have ordered them through memory, a barrier is not all that is missing.
    let by_memory = releases(program);
    if me.same_warp(them) {
        if by_memory { "neither a __syncwarp nor an acquired release" } else { "no __syncwarp" }
    } else if me.block() == them.block() {
        if by_memory { "neither a barrier nor an acquired release" } else { "no barrier" }
    } else {
        "nothing"
    }
}

/// The addition for accesses of one instruction, which a barrier cannot order.
fn at_once(judged: &CheckedAccess, other: &Entry) -> &'static str {
    let (own, other) = (&judged.entry, other);
    let same = own.record.access.pc() == other.record.access.pc();
    if same && own.writes && other.writes && own.record.thread.same_warp(other.record.thread) {
        " in the same instruction: the stores of its lanes are unordered"
    } else {
        ""
    }
}
