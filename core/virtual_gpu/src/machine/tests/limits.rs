//! Launches that are impossible are rejected, with the reason.

use super::harness::module;
use crate::machine::{Argument, BlockOrder, DeviceShape, LaunchConfig, Machine, Schedule};

const TEXT: &str = ".version 8.5\n.target sm_90\n.address_size 64\n.shared .b8 big[200000];\n\
    .visible .entry k(.param .u32 n) { .reg .b32 %r<3>; mov.u32 %r1, big; ret; }\n\
    .visible .entry m() { .reg .b64 %d<2>; .reg .b32 %r<4>; cvta.shared.u32 %r1, %r2; ret; }\n\
    .extern .func absent();\n\
    .visible .entry caller() { { call.uni absent; } ret; }\n\
    .visible .entry small() .reqntid 32 { ret; }\n";

#[track_caller]
fn check(kernel: &str, change: impl FnOnce(&mut LaunchConfig), expected: &str) {
    let mut config = LaunchConfig::new([1; 3], [32, 1, 1], Vec::new());
    change(&mut config);
    let text = TEXT.replace(".entry small() .reqntid 32 {", ".entry small()\n.reqntid 32\n{");
    let error = Machine::new(DeviceShape::default()).launch(&module(&text), kernel, &config);
    let message = error.unwrap_err().to_string();
    assert!(message.contains(expected), "{message}");
}

#[test]
fn impossible_launches_are_refused() {
    let one = || vec![Argument::Bytes(vec![0; 4])];
    check("nothing", |_| {}, "no kernel `nothing`");
    check("k", |_| {}, "takes 1 arguments; 0 were given");
    check(
        "k",
        |c| c.arguments = vec![Argument::Bytes(vec![0; 8])],
        "has 8 bytes; parameter `n` has 4",
    );
    check("k", |c| c.grid = [0, 1, 1], "a grid of [0, 1, 1]");
    check("k", |c| c.grid = [1, 70_000, 1], "a grid of");
    check("k", |c| c.block = [1024, 2, 1], "1 to 1024 threads");
    check(
        "k",
        |c| {
            c.arguments = one();
            c.dynamic_shared = 100_000;
        },
        "bytes of shared memory",
    );
    check("caller", |_| {}, "a call to `absent`, which has no body in this module");
    let parallel = Schedule::Parallel { threads: std::num::NonZeroUsize::MIN };
    let descending = |c: &mut LaunchConfig| {
        (c.schedule, c.block_order) = (parallel, BlockOrder::Descending);
    };
    check("small", descending, "a block order other than ascending with a parallel schedule");
    check("m", |_| {}, "1 instructions are not supported, the first at line 6");
    check("small", |c| c.block = [64, 1, 1], "requires [32, 1, 1]");
}
