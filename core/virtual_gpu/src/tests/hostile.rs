//! Hostile PTX on the whole machine: the result is an error, or a fault with its location, within stated limits.
//!
//! Limits: a text has at most 64 MiB; a function has at most 32,768 live registers and 2^20 targets of indexed
//! branches; a kernel has at most 2^22 instructions and 2^20 constants; resident threads take at most about 1 GiB,
//! or the memory of one block; a thread has at most 512 KiB of local memory, 1 MiB of registers and 4096 nested
//! calls; a launch has at most 65,536 memory regions, 256 faults and 1 MiB of printed text. `max_steps` limits the
//! time.

use super::{Module, kernel, texts};
use crate::{
    Access, Argument, DeviceShape, InitialContent, LaunchConfig, LaunchError, Machine, Report,
};

/// A device on which a mistake costs little.
fn small() -> DeviceShape {
    DeviceShape {
        multiprocessors: 2,
        memory_bytes: 16 << 20,
        heap_bytes: 1 << 20,
        ..DeviceShape::default()
    }
}

/// Instructions of a warp that a launch may take.
const STEPS: u64 = 400_000;

/// The result of a launch of a kernel `k(.param .u64 a, .param .u32 n)`.
fn launched(text: &str) -> Result<Report, String> {
    let module = Module::load(text).map_err(|errors| errors[0].to_string())?;
    let mut machine = Machine::new(small());
    let a = machine.buffer("a", 4096, Access::ReadWrite, InitialContent::Uninitialised).unwrap();
    let arguments = vec![Argument::Buffer(a), Argument::Bytes(vec![7, 0, 0, 0])];
    let mut config = LaunchConfig::new([3, 1, 1], [33, 1, 1], arguments);
    config.max_steps = STEPS;
    machine.launch(&module, "k", &config).map_err(|error| error.to_string())
}

/// The words of the faults, or the error, must be these.
#[track_caller]
fn check(text: &str, expected: &str) {
    let found = match launched(text) {
        Ok(report) => {
            assert!(report.steps < 2 * STEPS, "{} steps", report.steps);
            let places: Vec<_> = report.faults.iter().filter(|f| f.place.line == 0).collect();
            assert!(places.is_empty(), "without a place: {places:?}");
            let words = report.faults.iter().map(|fault| fault.kind.word());
            words
                .collect::<std::collections::BTreeSet<_>>()
                .into_iter()
                .collect::<Vec<_>>()
                .join(",")
        }
        Err(message) => message,
    };
    assert!(found.contains(expected) && found.is_empty() == expected.is_empty(), "{found}");
}

/// Anything but a panic will do.
fn answered(text: &str) {
    if let Ok(report) = launched(text) {
        assert!(report.steps < 2 * STEPS, "{} steps", report.steps);
    }
}

const REGISTERS: &str = ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %d<9>;\n";

fn body(statements: &str) -> String {
    kernel(&format!("{REGISTERS}{statements}\n"))
}

/// `before` stands at the top of the module.
fn with(before: &str, statements: &str) -> String {
    body(statements).replacen(".visible", &format!("{before}\n.visible"), 1)
}

#[test]
fn kernels_that_go_on_for_ever_end_at_the_limit_of_steps() {
    check(&body("L: bra L;"), "step_limit");
    check(&body("L: nanosleep.u32 1; bra L;"), "livelock");
    check(&body("L: bar.arrive 1, 1024; bra L;"), "step_limit");
    check(
        &body(
            "L: mov.u32 %r1, %tid.x; and.b32 %r1, %r1, 1; ts: .branchtargets L, M; brx.idx %r1, ts; M: bra L;",
        ),
        "step_limit",
    );
    let malloc = ".extern .func (.param .b64 r) malloc(.param .b64 n);";
    let allocate = "{ .param .b64 n; .param .b64 r; st.param.b64 [n], 64; call (r), malloc, (n); ld.param.b64 %d1, [r]; }";
    check(&with(malloc, &format!("L: {allocate} bra L;")), "step_limit");
    let print = ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n\
                 .global .b8 format[12] = {37, 53, 49, 50, 100, 37, 53, 49, 50, 100, 10, 0};";
    let call = "mov.u64 %d1, format; { .param .b64 f; .param .b64 v; .param .b32 r; st.param.b64 [f], %d1; st.param.b64 [v], %d1; call (r), vprintf, (f, v); }";
    check(&with(print, &format!("L: {call} bra L;")), "step_limit");
}

#[test]
fn recursion_without_end_ends_where_the_memory_of_a_thread_does() {
    check(&with(".func f() { call f; ret; }", "call f;"), "call");
    let large = ".func f() { .local .b8 l[65536]; call f; ret; }";
    check(&with(large, "call f;"), "call");
    // A thousand values in registers of every frame.
    let mut function = ".func f() { .reg .b64 %v<1001>; mov.u64 %v0, 1;".to_owned();
    for index in 1..=1000 {
        function += &format!("add.s64 %v{index}, %v0, {index};\n");
    }
    function += "call f;\n";
    for index in 1..=1000 {
        function += &format!("add.s64 %v0, %v0, %v{index};\n");
    }
    check(&with(&(function + "st.global.u64 [%v0], 1; ret; }"), "call f;"), "call");
}

#[test]
fn garbage_in_registers_is_found_where_it_is_used() {
    check(&body("ld.global.u32 %r1, [%d3];"), "uninitialized_read");
    check(&body("@%p1 bra L; L:"), "uninitialized_read");
    check(&body("mov.u64 %d1, 0x123456789abcdef0; ld.u32 %r1, [%d1];"), "out_of_bounds");
    check(&body("mov.u64 %d1, -4; st.u32 [%d1], 1;"), "out_of_bounds");
    check(&body("mov.u64 %d1, 0x1000000001; ld.u32 %r1, [%d1];"), "out_of_bounds");
    check(&body("mov.u64 %d1, 0x20ffffffff; ld.u8 %r1, [%d1];"), "out_of_bounds");
    answered(&body("mov.u64 %d1, -8; ld.local.u32 %r1, [%d1+9223372036854775807];"));
    answered(&body("mov.u32 %r1, -1; ld.shared.v4.u32 {%r1,%r2,%r3,%r4}, [%r1];"));
    check(&body("mov.u32 %r1, 99; bar.sync %r1;"), "barrier_divergence");
    check(&body("mov.u32 %r1, -32; bar.sync 1, %r1;"), "barrier_divergence");
    check(&body("mov.u32 %r1, 0; bar.arrive 1, %r1;"), "barrier_divergence");
    check(&body("mov.u32 %r1, 9; ts: .branchtargets L; brx.idx %r1, ts; L:"), "call");
    check(&body("mov.u64 %d1, 0x4000000010; p: .callprototype _ (); call %d1, p;"), "call");
    check(&body("mov.u32 %r1, 0; shfl.sync.idx.b32 %r2, %r1, %r1, %r1, %r1;"), "warp_sync");
    check(
        &body(
            "div.s32 %r1, 5, 0; rem.u64 %d1, 5, 0; shl.b32 %r1, 1, 999; bfe.u32 %r2, 1, 999, 999;",
        ),
        "",
    );
}

#[test]
fn offsets_at_the_edge_of_what_a_number_holds_are_faults() {
    let far = "9223372036854775807";
    answered(&with(".global .b32 g[4];", &format!("ld.global.u32 %r1, [g+{far}];")));
    answered(&body(&format!(".local .b32 l[4]; ld.local.u32 %r1, [l+{far}];")));
    answered(&body(&format!(".shared .b32 s[4]; st.shared.u32 [s+{far}], 1;")));
    answered(&body(&format!("mov.u64 %d1, n+{far}; ld.param.u32 %r1, [n+{far}];")));
    answered(&body("ld.param.v4.u32 {%r1,%r2,%r3,%r4}, [n+4294967290];"));
}

#[test]
fn what_does_not_fit_the_device_is_refused() {
    check(&body(".shared .b8 s[300000]; mov.u32 %r1, s;"), "bytes of shared memory in a block");
    answered(&body(".shared .b8 s[99999999999]; mov.u32 %r1, s;"));
    check(&with(".global .b8 g[99999999];", "mov.u64 %d1, g;"), "bytes; the device has");
    check(
        &body(".local .b8 l[4000000]; mov.u64 %d1, l;"),
        "larger than the local memory of a thread",
    );
    answered(&kernel(".reg .b32 %r<4000000000>; mov.u32 %r3999999999, 1;"));
    let mut many = REGISTERS.to_owned();
    many += ".reg .b32 %v<40000>;";
    for index in 0..40_000 {
        many += &format!("mov.u32 %v{index}, {index};\n");
    }
    for index in 0..40_000 {
        many += &format!("st.global.u32 [%d1], %v{index};\n");
    }
    check(&kernel(&many), "live registers");
    let targets = format!("ts: .branchtargets {}L;", "L, ".repeat(2000));
    let branches = format!("{targets} L: {}", "brx.idx %r1, ts;\n".repeat(2000));
    check(&body(&branches), "indexed branches to more than");
}

#[test]
fn a_launch_that_no_device_takes_is_refused() {
    let module = Module::load(&kernel("ret;")).unwrap();
    let mut machine = Machine::new(small());
    let arguments = vec![Argument::Bytes(vec![0; 8]), Argument::Bytes(vec![0; 4])];
    for (grid, block) in [
        ([u32::MAX, 1, 1], [1; 3]),
        ([1, 65_536, 1], [1; 3]),
        ([1; 3], [1025, 1, 1]),
        ([1; 3], [32, 32, 2]),
        ([1; 3], [u32::MAX; 3]),
        ([0, 1, 1], [1; 3]),
    ] {
        let config = LaunchConfig::new(grid, block, arguments.clone());
        let refused = machine.launch(&module, "k", &config);
        assert!(matches!(refused, Err(LaunchError::Size { .. })), "{grid:?} {block:?}");
    }
    // The largest grid there is ends at the limit of steps.
    let mut config = LaunchConfig::new([i32::MAX as u32, 65_535, 65_535], [1; 3], arguments);
    config.max_steps = 1000;
    let report = machine.launch(&module, "k", &config).unwrap();
    assert_eq!(report.faults.len(), 1, "{:?}", report.faults);
}

#[test]
fn texts_beyond_the_limit_are_refused_unread_and_large_ones_are_read() {
    let statement = "add.s32 %r1, %r2, %r3;\n";
    let huge = body(&statement.repeat(100_000_000 / statement.len()));
    check(&huge, "the limit of a module is 67108864");
    // Below the limit, many loops: laying out code takes time in proportion.
    let loops: String =
        (0..20_000).map(|i| format!("L{i}: setp.eq.u32 %p1, 1, 1; @!%p1 bra L{i};\n")).collect();
    check(&body(&loops), "");
}

#[test]
fn modules_that_end_early_or_name_themselves_are_answered() {
    for (_, text) in texts("modules") {
        if text.len() > 30_000 {
            continue;
        }
        for end in (0..text.len()).step_by(97 * 7) {
            let end = text.floor_char_boundary(end);
            if let Ok(module) = Module::load(&text[..end]) {
                launch_all(&module);
            }
        }
    }
    let own = ".global .u64 g[2] = {generic(g), g+8};";
    check(&with(own, "ld.global.u64 %d1, [g]; ld.u64 %d2, [%d1];"), "");
    check(&with(".global .u32 g[2] = {1, 2, 3};", ""), "more initial values");
    check(&body("bra NOWHERE;"), "is not declared");
    check(&body("L: L: ret;"), "declared twice");
    check(
        &body("ld.global.v8.u32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%d1];"),
        "uninitialized_read",
    );
}

/// Every kernel with arguments of zero.
fn launch_all(module: &Module) {
    for function in module.kernels() {
        let sizes = function.parameters.iter().map(|parameter| parameter.bytes as usize);
        let arguments = sizes.map(|bytes| Argument::Bytes(vec![0; bytes])).collect();
        let mut config = LaunchConfig::new([2, 1, 1], [32, 1, 1], arguments);
        config.max_steps = 20_000;
        if let Ok(report) = Machine::new(small()).launch(module, &function.name, &config) {
            assert!(report.faults.iter().all(|fault| !fault.to_string().is_empty()));
        }
    }
}

#[test]
fn real_modules_with_words_exchanged_are_answered() {
    let words = ["0", "-1", "%r1", "%rd1", "0x7fffffffffffffff", "99", "0f7FC00000", "%p1", "_"];
    let mut seed = 1_u32;
    let mut next = |end: usize| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as usize % end
    };
    for (_, text) in texts("modules") {
        if text.len() > 12_000 {
            continue;
        }
        for _ in 0..40 {
            let mut pieces: Vec<&str> = text.split_inclusive([' ', ',', ';']).collect();
            for _ in 0..3 {
                let at = next(pieces.len());
                let ending = pieces[at].chars().last().unwrap_or(' ');
                pieces[at] = match next(3) {
                    0 => words[next(words.len())],
                    1 => pieces[next(pieces.len())],
                    _ => "",
                };
                if ending == ';' && !pieces[at].ends_with(';') {
                    pieces.insert(at + 1, ";");
                }
            }
            if let Ok(module) = Module::load(&pieces.concat()) {
                launch_all(&module);
            }
        }
    }
}
