//! The initialisation of buffers as the host sees it.

use std::collections::HashSet;
use std::ops::Range;

use super::super::memory::Memory;
use super::super::{
    Access, Argument, FaultKind, InitialContent, LaunchConfig, Machine, QUARANTINE,
};
use super::harness::module;

#[test]
fn uninitialised_ranges_are_the_complement_of_initialised_ones() {
    check(0, 100, InitialContent::Uninitialised, Some(0..100));
    check(0, 100, InitialContent::Bytes(vec![7; 10]), Some(10..100));
    check(64, 100, InitialContent::Bytes(vec![7; 70]), Some(70..100));
    check(0, 100, InitialContent::Bytes(vec![7; 100]), None);
    check(8, 100, InitialContent::Repeated(vec![7; 4]), None);
    check(0, 0, InitialContent::Uninitialised, None);
}

fn check(start: u64, bytes: u64, initial: InitialContent, expected: Option<Range<usize>>) {
    let mut machine = Machine::default();
    let buffer = machine.buffer_behind(start, "buffer", bytes, Access::ReadWrite, initial).unwrap();
    assert_eq!(machine.uninitialised(buffer), Vec::from_iter(expected));
    let mut covered = [machine.initialised(buffer), machine.uninitialised(buffer)].concat();
    covered.retain(|range| !range.is_empty());
    covered.sort_unstable_by_key(|range| range.start);
    let end = covered.iter().fold(0, |end, range| if range.start == end { range.end } else { end });
    assert_eq!(end as u64, bytes, "{covered:?}");
}

#[test]
fn buffers_that_are_freed_make_room_for_others() {
    let mut machine = Machine::default();
    let new = |machine: &mut Machine| {
        machine.buffer("buffer", 8, Access::ReadWrite, InitialContent::Uninitialised).unwrap()
    };
    let (kept, first) = (new(&mut machine), new(&mut machine));
    let address = machine.address(first);
    machine.free(first);
    // As many as a device can have at once, one after another.
    for count in 1..=Memory::MOST_REGIONS {
        let other = new(&mut machine);
        let is_used_again = machine.address(other) == address;
        assert!(!is_used_again || count > QUARANTINE, "the address is used again after {count}");
        assert_ne!(machine.address(other), machine.address(kept));
        machine.free(other);
        machine.free(other);
    }
    // A buffer that was freed twice makes room for one.
    let buffers: Vec<_> = (0..2 * QUARANTINE).map(|_| new(&mut machine)).collect();
    let addresses: HashSet<u64> = buffers.iter().map(|other| machine.address(*other)).collect();
    assert_eq!(addresses.len(), buffers.len());
}

#[test]
fn an_access_to_a_freed_buffer_is_out_of_bounds() {
    let text = ".version 8.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p) {
.reg .b64 %d<1>;
.reg .b32 %r<1>;
ld.param.u64 %d0, [p];
ld.global.u32 %r0, [%d0];
ret;
}
";
    let mut machine = Machine::default();
    let content = InitialContent::Bytes(vec![0; 8]);
    let buffer = machine.buffer("buffer", 8, Access::ReadWrite, content).unwrap();
    let config = LaunchConfig::new([1; 3], [1; 3], vec![Argument::Buffer(buffer)]);
    assert_eq!(machine.launch(&module(text), "k", &config).unwrap().faults, []);
    machine.free(buffer);
    let report = machine.launch(&module(text), "k", &config).unwrap();
    assert_eq!(report.faults[0].kind, FaultKind::OutOfBounds);
}
