//! Checks at the timed size on a virtual device: kernels that are correct at every smaller size must fail there, or must be
//! reported as not checked.

use super::specimens::{Grid, Specimen};
use super::*;
use crate::project::launch::expectation::WrongKind;
use crate::verify::verdict::{Failure, Wrong};

/// What a verdict says of the workload `large`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Said {
    Whole,
    Sampled,
    NotChecked,
    Wrong(WrongKind),
    Fault,
}

/// Verifies a kernel that does this with an element before it adds one.
fn check(grid: Grid, body: &'static str, expected: Said) {
    let specimen = Specimen { name: "timed-size", block: 256, grid, body };
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path());
    let device = DeviceName::parse("virtual:h200").unwrap();
    let readings = Readings::new(Seconds(1.0), Seconds(1e-6));
    let mut workers = DeviceWorkers::new(&command(readings), &device, None).unwrap();
    let subject = subject(&project, &specimen);
    let (cancellation, mut watcher) = (Cancellation::new(), |_: Step, _: Option<&str>| {});
    let verification = Verification::new(&subject, &mut workers, 1, &cancellation, &mut watcher);
    let said = match verification.run(TimingUse::Measure(Protocol::QUICK)) {
        Ok(passed) => match &passed.timings[0].check {
            SizeCheck::Whole => Said::Whole,
            SizeCheck::Sampled { blocks, of, elements } => {
                assert!(*elements > 64, "{elements} elements of {blocks} of {of} blocks");
                if blocks == of { Said::Whole } else { Said::Sampled }
            }
            SizeCheck::NotChecked(_) => Said::NotChecked,
        },
        Err(Stop::Failure(Failure::Wrong(wrong))) => {
            let Wrong::Seen { kind, workload, .. } = *wrong else { panic!("{wrong:?}") };
            assert_eq!(workload, "large");
            Said::Wrong(kind)
        }
        Err(Stop::Failure(Failure::Fault(fault))) => {
            assert_eq!(fault.workload, "large");
            Said::Fault
        }
        Err(other) => panic!("{body}: {other:?}"),
    };
    assert_eq!(said, expected, "{body}");
}

/// Some 12,000 instructions for each element: the whole grid is too large to run.
const SLOW: &str = "
    mov.u32 %turn, 0;
AGAIN:
    add.u32 %turn, %turn, 1;
    setp.lt.u32 %more, %turn, 4096;
    @%more bra AGAIN;";

/// The same, and at the timed size only the first 1024 elements are written.
const SLOW_AND_UNWRITTEN: &str = "
    mov.u32 %turn, 0;
AGAIN:
    add.u32 %turn, %turn, 1;
    setp.lt.u32 %more, %turn, 4096;
    @%more bra AGAIN;
    setp.lt.u32 %more, %n, 131072;
    @%more bra HONEST;
    setp.ge.u32 %more, %i, 1024;
    @%more bra DONE;
HONEST:";

#[test]
fn honest_kernels_pass() {
    check(Grid::Each, "", Said::Whole);
    check(Grid::Fixed(8), "", Said::Whole);
    check(Grid::Each, SLOW, Said::Sampled);
    check(Grid::Fixed(64), SLOW, Said::Sampled);
}

#[test]
fn wrong_values_at_the_timed_size_are_found() {
    let wrong = "
    setp.lt.u32 %more, %n, 131072;
    @%more bra HONEST;
    add.u32 %value, %value, 1;
HONEST:";
    check(Grid::Each, wrong, Said::Wrong(WrongKind::Numeric));
}

#[test]
fn unwritten_elements_are_found_or_the_size_is_not_checked() {
    let unwritten = "
    setp.lt.u32 %more, %n, 131072;
    @%more bra HONEST;
    setp.eq.u32 %more, %i, 70000;
    @%more bra DONE;
HONEST:";
    check(Grid::Each, unwritten, Said::Wrong(WrongKind::Unwritten));
    check(Grid::Each, SLOW_AND_UNWRITTEN, Said::NotChecked);
}

#[test]
fn an_access_out_of_bounds_at_the_timed_size_is_found() {
    let beyond = "
    setp.lt.u32 %more, %n, 131072;
    @%more bra HONEST;
    ld.global.u32 %lane, [%from+524288];
HONEST:";
    check(Grid::Each, beyond, Said::Fault);
}

#[test]
fn blocks_that_depend_on_each_other_are_not_sampled() {
    let fenced = "
    membar.gl;";
    check(Grid::Each, fenced, Said::NotChecked);
}
