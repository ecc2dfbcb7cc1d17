//! Reports in the forms that the manual shows.

use super::*;

/// Kind, kernel, source line, thread and what the details hold.
type Expected = (FaultKind, &'static str, Option<u32>, Option<[u32; 3]>, &'static str);

#[track_caller]
fn check(report: &str, expected: &[Expected]) {
    let found = faults(report).unwrap();
    let shown: Vec<_> = found
        .iter()
        .map(|fault| {
            let seen = fault.seen.as_ref();
            let line = seen.and_then(|seen| seen.place.source.as_ref()).map(|(_, line, _)| *line);
            (fault.kind, fault.kernel.as_str(), line, seen.map(|seen| seen.thread))
        })
        .collect();
    let wanted: Vec<_> = expected.iter().map(|(a, b, c, d, _)| (*a, *b, *c, *d)).collect();
    assert_eq!(shown, wanted, "{report}");
    for (fault, (.., details)) in found.iter().zip(expected) {
        assert!(fault.details.contains(details), "{details:?} in {}", fault.details);
    }
}

#[test]
fn accesses_have_their_thread_and_line() {
    check(
        "noise of the program\n\
         ========= COMPUTE-SANITIZER\n\
         ========= Invalid __global__ write of size 4 bytes\n\
         =========     at scale(float *, int)+0x90 in scale.cu:12\n\
         =========     by thread (64,0,0) in block (2,1,0)\n\
         =========     Address 0x7f0000000400 is out of bounds\n\
         =========     and is 1 bytes after the nearest allocation at 0x7f0000000000 of size 1,024 bytes\n\
         =========     Saved host backtrace up to driver entry point at kernel launch time\n\
         =========         Host Frame: main [0x10267] in app\n\
         ========= \n\
         ========= Program hit CUDA_ERROR_LAUNCH_FAILED (error 719) on cuCtxSynchronize\n\
         ========= ERROR SUMMARY: 2 errors\n",
        &[(
            FaultKind::OutOfBounds,
            "scale(float *, int)",
            Some(12),
            Some([64, 0, 0]),
            "1 bytes after the nearest allocation",
        )],
    );
    check(
        "========= Invalid __shared__ read of size 16 bytes\n\
         =========     at tile+0x380 in tile.cu:61\n\
         =========     by thread (65,0,0) in block (0,0,0)\n\
         =========     Address 0x41 is misaligned\n\
         ========= ERROR SUMMARY: 1 error\n",
        &[(FaultKind::Misaligned, "tile", Some(61), Some([65, 0, 0]), "is misaligned")],
    );
    check(
        "========= Uninitialized __global__ memory read of size 4 bytes\n\
         =========     at 0x250 in add.cu:41:add(int*)\n\
         =========     by thread (16,0,0) in block (0,0,0)\n\
         ========= ERROR SUMMARY: 257 errors\n\
         ========= ERROR SUMMARY: 157 errors were not printed. Use --print-limit option\n",
        &[(FaultKind::UninitializedRead, "add(int*)", Some(41), Some([16, 0, 0]), "memory read")],
    );
}

#[test]
fn races_name_both_sides_and_warnings_are_none() {
    check(
        "========= Warning: Race reported between Write access at fold(float *)+0x550 in fold.cu:100\n\
         =========     and Read access at fold(float *)+0x580 in fold.cu:107 [65536 hazards]\n\
         =========\n\
         ========= Error: Race reported between Write access at fold(float *)+0x590 in fold.cu:101\n\
         =========     and Read access at fold(float *)+0x5a0 in fold.cu:109 [508 hazards]\n\
         =========\n\
         ========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)\n",
        &[(FaultKind::DataRace, "fold(float *)", None, None, "fold.cu:109 [508 hazards]")],
    );
}

#[test]
fn barriers_are_told_apart() {
    for (said, kind) in [
        ("Divergent thread(s) in block.", FaultKind::BarrierDivergence),
        ("Divergent thread(s) in warp.", FaultKind::WarpSync),
        ("Invalid arguments.", FaultKind::WarpSync),
        ("Missing wait.", FaultKind::MissingWait),
    ] {
        let report = format!(
            "========= Barrier error detected. {said}\n\
             =========     at meet(int *)+0xa0 in meet.cu:61\n\
             =========     by thread (19,0,0) in block (0,0,0)\n\
             ========= ERROR SUMMARY: 1 error\n"
        );
        check(&report, &[(kind, "meet(int *)", Some(61), Some([19, 0, 0]), "Barrier error")]);
    }
}

#[test]
fn only_a_whole_report_is_clean() {
    check("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n", &[]);
    check("========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n", &[]);
    assert_eq!(faults(""), Err(Unreadable::NoSummary));
    assert_eq!(faults("ERROR SUMMARY: 0 errors\n"), Err(Unreadable::NoSummary));
    assert_eq!(
        faults("========= Something new\n========= ERROR SUMMARY: 3 errors\n"),
        Err(Unreadable::Unknown(3))
    );
}

proptest::proptest! {
    #[test]
    fn no_report_makes_the_reader_panic(
        lines in proptest::collection::vec("(=========)?( {0,6})(Invalid|at|by thread|Address 0x|and|ERROR SUMMARY:|Error: Race reported between| )? ?[-+0-9a-fx:(),. inof]{0,30}", 0..12),
    ) {
        let _answer = faults(&lines.join("\n"));
    }
}
