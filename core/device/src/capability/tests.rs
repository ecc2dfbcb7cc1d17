//! The table of compute capabilities loads and is complete.

use super::*;

#[test]
fn every_capability_states_what_occupancy_needs() {
    let all = Capability::all().unwrap();
    let numbers: Vec<String> = all.iter().map(|one| one.compute_capability.to_string()).collect();
    let expected =
        ["7.5", "8.0", "8.6", "8.7", "8.9", "9.0", "10.0", "10.3", "11.0", "12.0", "12.1"];
    assert_eq!(numbers, expected);
    for capability in all {
        let limits = capability.sm_limits().unwrap();
        assert_eq!(
            limits.max_warps * limits.warp_size,
            capability.max_threads_per_sm.get().unwrap()
        );
    }
}

#[test]
fn the_limits_of_hopper_are_those_of_a_real_one() {
    // Driver attributes of an H200, driver 580.159.04.
    let limits =
        Capability::from_compute_capability(ComputeCapability(9, 0)).unwrap().sm_limits().unwrap();
    assert_eq!(limits.max_warps, 64);
    assert_eq!(limits.max_blocks, 32);
    assert_eq!(limits.registers, 65_536);
    assert_eq!(limits.max_shared_per_block, Bytes(232_448));
    assert_eq!(limits.reserved_shared_per_block, Bytes(1024));
    assert_eq!(limits.carveouts.last(), Some(&Bytes(233_472)));
}

#[test]
fn an_architecture_is_named_after_its_capability() {
    assert_eq!(ComputeCapability(7, 5).architecture(), "sm_75");
    assert_eq!(ComputeCapability(12, 0).architecture(), "sm_120");
}

#[test]
fn an_unsound_table_is_refused_with_all_that_is_wrong() {
    #[track_caller]
    fn check(from: &str, to: &str, expected: &[&str]) {
        assert!(TEXT.contains(from), "{from}");
        let message = Capability::parse(&TEXT.replacen(from, to, 1)).unwrap_err().to_string();
        for part in expected {
            assert!(message.contains(part), "{part} is not in {message}");
        }
    }
    check(
        "[32, 64]",
        "[64, 32]",
        &["compute capability 7.5: the carve-outs must ascend to 64 KiB"],
    );
    check("(8, 0)", "(7, 5)", &["compute capability 7.5 is listed twice"]);
    check(
        "warp_size: known(value: 32, source: \"arch-traits\")",
        "warp_size: unknown(reason: \"\")",
        &["compute capability 7.5 must state `warp_size`"],
    );
    check("\"ptx-isa\": ", "\"ptx\": ", &["`barriers_per_block` cites `ptx-isa`", "lists `ptx`"]);
}
