//! What single instructions show.

use lightbench_project::manifest::Evidence::{
    CachePersistence, Clocks, DeviceLaunch, Heap, InlineAssembly, Printf, Sleeps, Trap,
};
use lightbench_project::policy::Policy;

use super::{check, found};
use crate::evidence::refusals;

const CALLS: &str = ".extern .func (.param .b64 r) malloc (.param .b64 a);
    .extern .func free (.param .b64 a);
    .extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
    .extern .func __assertfail (.param .b64 a);
    .extern .func (.param .b32 r) cudaLaunchDeviceV2 (.param .b64 a, .param .b64 b);";

#[test]
fn a_clock_is_a_register_that_counts_time_events_or_launches() {
    for register in ["clock", "clock_hi", "globaltimer_lo", "globaltimer_hi", "pm0"] {
        let what = format!("reads `%{register}`");
        check("", &format!("mov.u32 %r1, %{register};"), &[(Clocks, &what)]);
    }
    for register in ["clock64", "globaltimer", "pm7_64", "gridid", "current_graph_exec"] {
        let what = format!("reads `%{register}`");
        check("", &format!("mov.u64 %rd1, %{register};"), &[(Clocks, &what)]);
    }
    check(
        "",
        "mov.b64 %rd1, {%clock, %clock_hi};",
        &[(Clocks, "reads `%clock`"), (Clocks, "reads `%clock_hi`")],
    );
    for register in ["smid", "warpid", "nsmid", "laneid", "tid.x", "dynamic_smem_size"] {
        check("", &format!("mov.u32 %r1, %{register};"), &[]);
    }
}

#[test]
fn sleeping_and_trapping_are_instructions() {
    check("", "nanosleep.u32 20;", &[(Sleeps, "has `nanosleep`")]);
    check("", "@%p1 trap;", &[(Trap, "has `trap`")]);
    check("", "brkpt;", &[(Trap, "has `brkpt`")]);
    check("", "bar.sync 0;\nexit;", &[]);
}

#[test]
fn what_stays_in_the_cache_is_a_hint() {
    let check = |body: &str, what: &str| check("", body, &[(CachePersistence, what)]);
    check("createpolicy.fractional.L2::evict_last.b64 %rd1, 1.0;", "has `createpolicy`");
    check("applypriority.global.L2::evict_normal [%rd1], 128;", "has `applypriority`");
    check("discard.global.L2 [%rd1], 128;", "has `discard`");
    check("prefetch.global.L2::evict_last [%rd1];", "has `.L2::evict_last`");
    check("ld.global.L1::evict_last.u32 %r1, [%rd1];", "has `.L1::evict_last`");
    check("st.global.L2::cache_hint.u32 [%rd1], %r1, %rd2;", "has `.L2::cache_hint`");
    check(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%r1], [%rd1], %r2, [%r3], %rd2;",
        "has `.L2::cache_hint`",
    );
}

#[test]
fn the_constant_of_the_default_policy_keeps_nothing() {
    const USE: &str = "ld.global.L2::cache_hint.u32 %r1, [%rd1], %rd2;";
    const NORMAL: &str = "mov.b64 %rd2, 1152921504606846976;";
    let kept = [(CachePersistence, "has `.L2::cache_hint`")];
    let check = |body: &str, expected: &[_]| check("", &format!("{body} {USE}"), expected);
    check(NORMAL, &[]);
    check("mov.b64 %rd2, 0x12F0000000000000;", &[]);
    check("mov.b64 %rd2, 0x14F0000000000000;", &kept);
    check("mov.b64 %rd2, 0;", &kept);
    // Any other instruction may write the register.
    check(&format!("{NORMAL} add.u64 %rd2, %rd2, %rd3;"), &kept);
    check(&format!("{NORMAL} mov.b64 %rd2, %rd3;"), &kept);
    check(&format!("{NORMAL} mov.b64 %rd2, 0x14F0000000000000;"), &kept);
    check(&format!("{NORMAL} ld.global.v2.u64 {{%rd3, %rd2}}, [%rd1];"), &kept);
    check("@%p1 mov.b64 %rd2, 1152921504606846976;", &kept);
}

#[test]
fn streaming_hints_leave_nothing_behind() {
    for body in [
        "ld.global.L1::no_allocate.L2::128B.u32 %r1, [%rd1];",
        "ld.global.L1::evict_first.u32 %r1, [%rd1];",
        "ld.global.cs.u32 %r1, [%rd1];",
        "prefetch.global.L2 [%rd1];",
    ] {
        check("", body, &[]);
    }
}

#[test]
fn functions_of_the_driver_are_known_by_name() {
    let check = |body: &str, expected| check(CALLS, body, &[expected]);
    check("call (%rd1), malloc, (%rd2);", (Heap, "calls `malloc`"));
    check("call.uni free, (%rd2);", (Heap, "calls `free`"));
    check("call (%r1), vprintf, (%rd1, %rd2);", (Printf, "calls `vprintf`"));
    check("call __assertfail, (%rd1);", (Trap, "calls `__assertfail`"));
    check(
        "call (%r1), cudaLaunchDeviceV2, (%rd1, %rd2);",
        (DeviceLaunch, "calls `cudaLaunchDeviceV2`"),
    );
    check("mov.u64 %rd1, malloc;", (Heap, "takes the address of `malloc`"));
}

#[test]
fn a_function_of_the_same_name_is_not_the_drivers() {
    let own = ".func (.param .b64 r) malloc (.param .b64 a) { ret; }";
    check(own, "call (%rd1), malloc, (%rd2);", &[]);
    check(CALLS, "{ .reg .b64 free;\nmov.u64 free, %rd1;\n}", &[]);
}

#[test]
fn a_table_may_name_a_function_of_the_driver() {
    let table = format!("{CALLS}\n.global .align 8 .u64 table[1] = {{malloc}};");
    let expected = [(Heap, "takes the address of `malloc`")];
    check(&table, "ld.global.u64 %rd1, [table];", &expected);
    check(&table, "", &[]);
}

#[test]
fn assembly_is_between_the_compilers_comments() {
    let body = "// begin inline asm\n{ add.u32 %r1, %r2,\n %r3;\n}\n// end inline asm\n\
                mov.u32 %r4, %r1;\n// begin inline asm\n\n// end inline asm";
    check(
        "",
        body,
        &[(InlineAssembly, "has inline assembly"), (InlineAssembly, "has inline assembly")],
    );
    let found = found("", body);
    assert_eq!(found[0].instruction, "add.u32 %r1, %r2, %r3");
    assert_eq!(found[1].instruction, "");
}

#[test]
fn a_finding_tells_instruction_line_and_entry() {
    let found = found("", "@%p1 bra $L;\n$L:\n@!%p1   nanosleep.u32\n 20;");
    let [sleep] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(sleep.instruction, "nanosleep.u32 20");
    assert_eq!((sleep.ptx_line, sleep.entry.as_str()), (13, "k"));
}

#[test]
fn a_policy_refuses_what_it_names() {
    let found = found("", "nanosleep.u32 20;\ntrap;");
    let refused = |refuse: Vec<_>| {
        let policy = Policy { refuse };
        refusals(&found, &policy).map(|each| each.evidence).collect::<Vec<_>>()
    };
    assert_eq!(refused(Policy::default().refuse), [Sleeps]);
    assert_eq!(refused(vec![Trap, Sleeps]), [Sleeps, Trap]);
    assert_eq!(refused(vec![]), []);
}
