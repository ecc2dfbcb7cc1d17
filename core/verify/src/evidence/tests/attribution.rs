//! Whose code something is. The chains are those that NVRTC 13.5 writes.

use lightbench_project::includes::LineTableHazard;
use lightbench_project::manifest::Evidence::{
    CachePersistence, Clocks, DeviceGlobals, InlineAssembly, Sleeps, Trap,
};

use super::module;
use crate::evidence::provenance::from_files;
use crate::evidence::{Disbelief, Found, Origin, find};

const TABLES: &str = r#"
.file 1 "/lightbench/kernels/k.cu"
.file 2 "/cache/include/cccl/cuda/std/__atomic/wait/polling.h"
.file 3 "/cache/include/cccl/cuda/std/__thread/threading_support.h"
.file 4 "/cache/include/cccl/cuda/__ptx/instructions/generated/get_sreg.h"
.file 5 "/cache/include/cccl/cuda/std/__semaphore/atomic_semaphore.h"
.file 6 "/tmp/lightbench-worker-Xy1/tools.cuh"
.file 7 "/cache/include/cooperative_groups.h"
.file 8 "/cache/include/tools.cuh"
.file 9 "cuda_fp16.h"
.section .debug_str
{
$wait: .b8 95,90,119,97,105,116,0
$clock: .b8 95,90,99,108,111,99,107,0
$until: .b8 95,90,78,49,55,116,114,121,95,97,99,113,117,105,114,101,95,117,110,116,105,108,73,105,69,69,0
$sleep: .b8 95,90,78,52,99,117,100,97,51,115,116,100,51,95,95,52,50,51,95,95,99,99,99,108,95,116,104,114,101,97,100,95,115,108,101,101,112,95,102,111,114,69,78,83,48,95,54,99,104,114,111,110,111,69,0
$lambda: .b8 95,90,102,0
}
"#;

const CLOCK: &str = "mov.u64 %rd1, %globaltimer;";

fn found(body: &str, disbelief: Option<Disbelief>) -> Vec<Found> {
    let text = module(TABLES, body);
    let provenance = from_files("kernels/k.cu", &["tools.cuh"], disbelief);
    find(&text, &["k"], &provenance).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn is_toolkit(body: &str) -> bool {
    let found = found(body, None);
    let [found] = found.as_slice() else { panic!("{found:?}") };
    found.origin != Origin::Candidate
}

#[test]
fn lines_go_out_through_every_call() {
    let body = format!(
        ".loc 1 20 3\n.loc 2 58 3, function_name $wait, inlined_at 1 20 3\n\
         .loc 4 638 3, function_name $clock+0, inlined_at 2 58 3\n{CLOCK}"
    );
    let found = found(&body, None);
    let source = &found[0].source;
    let lines: Vec<_> = source.iter().map(|line| (line.line, line.function.as_deref())).collect();
    assert_eq!(lines, [(638, Some("_Zclock")), (58, Some("_Zwait")), (20, Some("k"))]);
    assert!(source[1].file.ends_with("polling.h"));
    assert_eq!(source[2].file, "/lightbench/kernels/k.cu");
}

#[test]
fn a_wait_may_look_at_the_clock() {
    let waiting = ".loc 1 20 3\n.loc 2 58 3, function_name $wait, inlined_at 1 20 3\n\
                   .loc 3 64 5, function_name $wait, inlined_at 2 58 3\n";
    assert!(is_toolkit(&format!("{waiting}{CLOCK}")));
    let sleeping = format!("{waiting}.loc 3 35 3, function_name $sleep, inlined_at 3 64 5\n");
    assert!(is_toolkit(&format!("{sleeping}nanosleep.u32 %r1;")));
    assert!(!is_toolkit(&format!("{waiting}st.global.L1::evict_last.u32 [%rd1], 1;")));
}

#[test]
fn who_asks_for_the_time_has_a_clock() {
    let asked = ".loc 1 20 3\n.loc 4 638 3, function_name $clock, inlined_at 1 20 3\n";
    assert!(!is_toolkit(&format!("{asked}{CLOCK}")));
    let polled = ".loc 1 20 3\n.loc 3 64 5, function_name $wait, inlined_at 1 20 3\n";
    assert!(!is_toolkit(&format!("{polled}{CLOCK}")));
}

#[test]
fn a_wait_with_a_limit_is_a_clock() {
    let limited = ".loc 1 20 3\n.loc 5 10 3, function_name $until, inlined_at 1 20 3\n\
                   .loc 3 64 5, function_name $wait, inlined_at 5 10 3\n";
    assert!(!is_toolkit(&format!("{limited}{CLOCK}")));
    assert!(is_toolkit(&format!("{}{CLOCK}", limited.replace("$until", "$wait"))));
}

#[test]
fn a_callback_inside_a_wait_is_the_candidates() {
    let callback = ".loc 1 20 3\n.loc 2 58 3, function_name $wait, inlined_at 1 20 3\n\
                    .loc 1 7 3, function_name $lambda, inlined_at 2 58 3\n";
    assert!(!is_toolkit(&format!("{callback}{CLOCK}")));
    let asks = format!("{callback}.loc 4 638 3, function_name $clock, inlined_at 1 7 3\n{CLOCK}");
    assert!(!is_toolkit(&asks));
}

#[test]
fn a_headers_assertion_is_the_headers() {
    assert!(is_toolkit(".loc 7 180 13, function_name $wait, inlined_at 1 17 3\ntrap;"));
    assert!(!is_toolkit(".loc 1 17 3\ntrap;"));
    assert!(!is_toolkit("trap;"));
}

#[test]
fn files_that_are_not_known_are_the_candidates() {
    for file in [6, 8, 9, 77] {
        let body = format!(".loc {file} 1 1, function_name $wait, inlined_at 1 17 3\ntrap;");
        assert!(!is_toolkit(&body), "file {file}");
    }
}

#[test]
fn a_text_without_assembly_has_none() {
    let assembly = ".loc 1 9 3\n// begin inline asm\n{add.f16 %r1,%r2,%r3;\n}\n// end inline asm";
    let found = found(assembly, None);
    assert_eq!(found[0].evidence, InlineAssembly);
    assert_eq!(found[0].origin, Origin::Toolkit(None));
}

#[test]
fn a_text_that_can_forge_lines_is_not_believed() {
    let body = format!(
        ".loc 2 58 3, function_name $wait, inlined_at 1 20 3\n{CLOCK}\nnanosleep.u32 1;\ntrap;\n\
         // begin inline asm\n// end inline asm"
    );
    let believed = found(&body, None);
    let kinds: Vec<_> = believed.iter().map(|each| each.evidence).collect();
    assert_eq!(kinds, [Clocks, Sleeps, Trap, InlineAssembly]);
    assert!(believed.iter().all(|each| each.origin != Origin::Candidate));
    let text = |forgery| Disbelief::Text { file: "kernels/k.cu".to_owned(), forgery };
    for disbelief in
        [Disbelief::Ptx, text(LineTableHazard::RenamedFile), text(LineTableHazard::Assembly)]
    {
        let found = found(&body, Some(disbelief));
        assert!(found.iter().all(|each| each.origin == Origin::Candidate));
    }
}

#[test]
fn a_variable_is_the_candidates_whoever_writes_it() {
    let items = format!("{TABLES}.global .align 4 .u32 _ZN4cuda3std3__48swap_tagE;");
    let body = ".loc 2 58 3, function_name $wait, inlined_at 1 20 3\n\
                st.global.u32 [_ZN4cuda3std3__48swap_tagE], 1;\n\
                createpolicy.fractional.L2::evict_last.b64 %rd1, 1.0;";
    let text = module(&items, body);
    let found = find(&text, &["k"], &from_files("kernels/k.cu", &[], None)).unwrap();
    let kinds: Vec<_> = found.iter().map(|each| each.evidence).collect();
    assert_eq!(kinds, [DeviceGlobals, CachePersistence]);
    assert!(found.iter().all(|each| each.origin == Origin::Candidate));
}
