//! Random traces of accesses, atomics, fences and barriers: the reported races equal those that a graph of all
//! events gives.

mod oracle;
mod rows;
mod word_runs;

use proptest::prelude::*;

use super::super::super::isa::atomic::AtomicOrder;
use super::super::super::isa::barrier::FenceOrder;
use super::super::super::isa::memory::Ordering;
use super::clock::Thread;
use super::conflict::Rules;
use super::element::{Element, InstructionAccess, Role, access};
use super::fast_words::{ExtraOrdering, WarpTime};
use super::happens_before::{HappensBefore, Reach, Waits};
use super::shadow::{PackedAccess, Record, Shadow, Strength, WORD};

/// One access of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    thread: Thread,
    /// Shared memory of the block, or global memory.
    shared: Place,
    offset: usize,
    bytes: u32,
    strength: Strength,
    role: Role,
    order: AtomicOrder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Shared,
    Global,
}

#[derive(Clone, Debug)]
enum Event {
    Access(Step),
    Fence(Thread, FenceOrder, Reach),
    /// Lanes of a warp.
    WarpBarrier(Thread, u32),
    /// Lanes of warps of a block, and whether they wait.
    Barrier(u32, Vec<(u32, u32, Waits)>),
}

const BLOCKS: u32 = 2;
const THREADS: u32 = 64;

/// Two lanes of each of two warps of each of two blocks.
fn thread(number: u8) -> Thread {
    let number = u32::from(number) % 8;
    Thread::new(number / 4, number / 2 % 2 * 32 + number % 2)
}

const ORDERS: [AtomicOrder; 4] =
    [AtomicOrder::Relaxed, AtomicOrder::Acquire, AtomicOrder::Release, AtomicOrder::AcquireRelease];

const FENCES: [FenceOrder; 4] = [
    FenceOrder::SequentiallyConsistent,
    FenceOrder::AcquireRelease,
    FenceOrder::Acquire,
    FenceOrder::Release,
];

fn event((kind, who, a, b): (u8, u8, u8, u8)) -> Event {
    let thread = thread(who);
    let reach = if b & 4 == 0 { Reach::Device } else { Reach::Block };
    match kind % 16 {
        0..=5 => {
            // Plain accesses of words, and of bytes of the last one.
            let (offset, bytes) =
                if a & 7 < 6 { (usize::from(a % 4) * 4, 4) } else { (12 + usize::from(a >> 6), 1) };
            let role = if b & 1 == 0 { Role::Read } else { Role::Write };
            let shared = if b & 2 == 0 { Place::Global } else { Place::Shared };
            let (strength, order) = (Strength::Weak, AtomicOrder::Relaxed);
            Event::Access(Step { thread, shared, offset, bytes, strength, role, order })
        }
        6..=10 => {
            // Words 0 and 1 are counters of two scopes, word 2 is a flag that one thread sets.
            let word = usize::from(a % 3);
            let flag = word == 2;
            let writes = if flag { who.is_multiple_of(8) } else { b & 8 == 0 };
            let role = match (writes, flag) {
                (true, true) => Role::Write,
                (true, false) => Role::Update,
                (false, _) => Role::Read,
            };
            let order = match (ORDERS[usize::from(b % 4)], role) {
                (AtomicOrder::Release, Role::Read) => AtomicOrder::Relaxed,
                (AtomicOrder::AcquireRelease, Role::Read) => AtomicOrder::Acquire,
                (AtomicOrder::Acquire, Role::Write) => AtomicOrder::Relaxed,
                (AtomicOrder::AcquireRelease, Role::Write) => AtomicOrder::Release,
                (order, _) => order,
            };
            let reach = if word == 1 { Reach::Block } else { Reach::Device };
            let strength = if role == Role::Update {
                Strength::Atomic(reach)
            } else if flag && order == AtomicOrder::Relaxed && b & 16 == 0 {
                Strength::Volatile
            } else {
                Strength::Relaxed(reach)
            };
            let shared = if flag || b & 32 == 0 { Place::Global } else { Place::Shared };
            Event::Access(Step {
                thread,
                shared,
                offset: word * 4,
                bytes: 4,
                strength,
                role,
                order,
            })
        }
        11 | 12 => Event::Fence(thread, FENCES[usize::from(a % 4)], reach),
        13 => Event::WarpBarrier(thread, [u32::MAX, 0b11, 0b01][usize::from(a % 3)]),
        14 => {
            let all = vec![(0, u32::MAX, Waits::Yes), (1, u32::MAX, Waits::Yes)];
            Event::Barrier(thread.block(), all)
        }
        _ => {
            let first = (u32::from(a) % 2, [u32::MAX, 0b10][usize::from(b % 2)], Waits::Yes);
            let waits = if b & 2 == 0 { Waits::Yes } else { Waits::No };
            let second = (1 - first.0, [u32::MAX, 0b01][usize::from(b / 4 % 2)], waits);
            Event::Barrier(thread.block(), vec![first, second])
        }
    }
}

/// Whether it orders all warps of a block or none.
fn is_plain(event: &Event) -> bool {
    match event {
        Event::Access(step) => step.strength == Strength::Weak,
        Event::Fence(..) => false,
        Event::WarpBarrier(..) => true,
        Event::Barrier(_, parts) => {
            parts.len() == 2
                && parts.iter().all(|(_, mask, waits)| *mask == u32::MAX && *waits == Waits::Yes)
        }
    }
}

/// The result of the machine: for every event, whether it races.
fn detected(events: &[Event]) -> Vec<bool> {
    let mut orders: Vec<HappensBefore> =
        (0..BLOCKS).map(|block| HappensBefore::new(block, THREADS, false)).collect();
    let plain = events.iter().all(is_plain);
    let mut global = Shadow::default();
    let mut shared = vec![Shadow::default(); BLOCKS as usize];
    events
        .iter()
        .map(|event| match event {
            Event::Access(step) => {
                let block = step.thread.block() as usize;
                let shadow =
                    if step.shared == Place::Shared { &mut shared[block] } else { &mut global };
                races(&mut orders[block], shadow, step, plain)
            }
            Event::Fence(thread, order, reach) => {
                let (warp, mask) = (thread.warp(), 1 << thread.lane());
                orders[thread.block() as usize].fence(warp, mask, *order, *reach);
                false
            }
            Event::WarpBarrier(thread, mask) => {
                orders[thread.block() as usize].warp_barrier(thread.warp(), *mask);
                false
            }
            Event::Barrier(block, parts) => {
                let order = &mut orders[*block as usize];
                for (warp, mask, waits) in parts {
                    order.arrive(0, *warp, *mask, *waits);
                }
                order.complete(0);
                false
            }
        })
        .collect()
}

fn races(order: &mut HappensBefore, shadow: &mut Shadow, step: &Step, plain: bool) -> bool {
    let warp = step.thread.warp();
    if step.strength == Strength::Weak && step.bytes == 4 {
        let times = WarpTime {
            block: order.block,
            barrier: order.barrier,
            synced: order.synced(warp),
            merges: false,
            extra_ordering: if plain { ExtraOrdering::Nothing } else { ExtraOrdering::Blocks },
        };
        let what = PackedAccess::new(0, WORD, Strength::Weak, 0);
        let record = Record { thread: step.thread, time: order.now(warp), access: what };
        let word = step.offset / 4;
        if times.update_words(shadow, word..word + 1, &record, step.role) {
            return false;
        }
    }
    let rules = Rules { lenient: false, keeps_readers: true, replicates: false, non_coherent: &[] };
    let visit = InstructionAccess {
        pc: 0,
        strength: step.strength,
        role: step.role,
        order: step.order,
        count: 1,
    };
    let region = (step.shared == Place::Global).then_some(0);
    let (thread, offset) = (step.thread, step.offset);
    let element = Element { thread, address: 0, bytes: step.bytes, region, offset };
    let outcome = access(order, shadow, rules, visit, &element, || false);
    outcome.conflicts.iter().any(|(_, verdict)| verdict.race.is_some())
}

/// The first event at which each place of 4 bytes has a race: behind it, the two need not agree.
fn first_races(events: &[Event], racing: &[bool]) -> Vec<(usize, usize)> {
    let mut seen = Vec::new();
    let mut first = Vec::new();
    for (index, event) in events.iter().enumerate() {
        let Event::Access(step) = event else { continue };
        let block = if step.shared == Place::Shared { 1 + step.thread.block() } else { 0 };
        let place = block as usize * 16 + step.offset / 4;
        if racing[index] && !seen.contains(&place) {
            seen.push(place);
            first.push((index, place));
        }
    }
    first
}

/// Whether the machine and the graph find the same first races.
fn check(kinds: &[(u8, u8, u8, u8)]) {
    let events: Vec<Event> = kinds.iter().copied().map(event).collect();
    let found = first_races(&events, &detected(&events));
    let expected = first_races(&events, &oracle::racing(&events));
    assert_eq!(found, expected, "{events:#?}");
}

/// Two lanes read a counter together and then add to it one after the other; the second may then store to it.
#[test]
fn a_write_replaces_the_lanes_of_a_read_that_happen_before_it() {
    check(&[(6, 4, 1, 40), (6, 5, 1, 40), (6, 4, 1, 48), (6, 5, 1, 32), (0, 5, 1, 199)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]
    #[test]
    fn what_is_reported_is_what_a_graph_of_all_events_says(
        kinds in prop::collection::vec(any::<(u8, u8, u8, u8)>(), 1..100)
    ) {
        let events: Vec<Event> = kinds.into_iter().map(event).collect();
        let found = first_races(&events, &detected(&events));
        let expected = first_races(&events, &oracle::racing(&events));
        prop_assert_eq!(found, expected, "{:#?}", events);
    }

    #[test]
    fn so_it_is_where_only_barriers_of_the_block_order(
        kinds in prop::collection::vec(any::<(u8, u8, u8, u8)>(), 1..300)
    ) {
        let events = kinds.into_iter().map(event).filter(is_plain);
        let events: Vec<Event> = events.take(100).collect();
        let found = first_races(&events, &detected(&events));
        let expected = first_races(&events, &oracle::racing(&events));
        prop_assert_eq!(found, expected, "{:#?}", events);
    }
}
