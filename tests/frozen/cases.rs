//! The commands whose output is frozen, in groups; the cases of a group run in order, in one folder.

use super::check;
use super::scrub::Values;

/// The version of NVRTC that the expected files were written with: the one that `doctor --fetch` installs.
pub(super) const COMPILER: &str = "13.5.37";

/// Commands without a case, and why.
pub(super) const LEFT_OUT: &[(&str, &str)] = &[
    ("completions", "the script is that of clap_complete; a test of the command runs bash on it"),
    ("picture", "its pictures are compared with those in tests/data/pictures"),
    ("mcp", "it speaks a protocol: tests/mcp.rs"),
    ("accept", "it adds a candidate of an agent: tests/mcp.rs"),
];

/// One command line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    /// The name of its expected file, without `.txt`.
    name: &'static str,
    /// The arguments of the program, separated by white space.
    pub(super) line: &'static str,
}

impl Case {
    /// The name of its expected file.
    pub(super) fn file(self) -> String {
        format!("{}.txt", self.name)
    }
}

/// What the commands of a group need of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Requirement {
    /// Nothing.
    Nothing,
    /// The CUDA compiler, in version [`COMPILER`].
    Compiler,
}

/// Commands that run one after the other in one folder: a later one may need what an earlier one wrote.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub(super) requirement: Requirement,
    pub(super) values: Values,
    pub(super) cases: &'static [Case],
}

/// Each group is a test of its own, so that they run side by side.
macro_rules! groups {
    ($($(#[doc = $doc:literal])* $test:ident: $requirement:ident, $values:ident, {
        $($name:literal: $line:literal;)*
    })*) => {
        $($(#[doc = $doc])*
        #[test]
        fn $test() {
            check(&Group {
                requirement: Requirement::$requirement,
                values: Values::$values,
                cases: &[$(Case { name: $name, line: $line }),*],
            });
        })*

        const ALL: &[&[Case]] = &[$(&[$(Case { name: $name, line: $line }),*]),*];
    };
}

/// The cases of all groups.
pub(super) fn all() -> impl Iterator<Item = Case> {
    ALL.iter().copied().flatten().copied()
}

groups! {
    /// Commands, options and their descriptions.
    help: Nothing, Stored, {
        "help": "help";
        "help-new": "help new";
        "help-check": "help check";
        "help-run": "help run";
        "help-compare": "help compare";
        "help-history": "help history";
        "help-report": "help report";
        "help-explain": "help explain";
        "help-suggest": "help suggest";
        "help-sweep": "help sweep";
        "help-search": "help search";
        "help-launch": "help launch";
        "help-access": "help access";
        "help-profile": "help profile";
        "help-tour": "help tour";
        "help-lesson": "help lesson";
        "help-audit": "help audit";
        "help-eval": "help eval";
        "help-rejudge": "help rejudge";
        "help-completions": "help completions";
        "help-picture": "help picture";
        "help-mcp": "help mcp";
        "help-accept": "help accept";
        "help-export": "help export";
        "help-launcher": "help launcher";
        "help-import": "help import";
        "help-devices": "help devices";
        "help-calibrate": "help calibrate";
        "help-models": "help models";
        "help-doctor": "help doctor";
        "help-models-add": "help models add";
    }

    /// Device sheets and definitions of metrics.
    reference: Nothing, Stored, {
        "devices": "devices";
        "devices-h200": "devices h200";
        "devices-h200-json": "devices h200 --json";
        "devices-t4": "devices t4";
        "explain": "explain";
        "explain-json": "explain --json";
        "explain-occupancy": "explain occupancy";
        "explain-unknown": "explain no-such-number";
    }

    /// What the machine has: its values are not frozen, the topics and fields are.
    machine: Nothing, OfThisMachine, {
        "doctor-json": "doctor --json";
    }

    /// A history, a search journal and settings that an earlier build wrote.
    stored_files: Nothing, Stored, {
        "stored-history": "history kept";
        "stored-history-json": "history kept --json";
        "stored-history-csv": "history kept --csv";
        "stored-history-fastest": "history kept --sort fastest --limit 3";
        "stored-history-verdict": "history kept --verdict compile";
        "stored-history-kernel": "history kept --kernel tuned --json";
        "stored-report-html": "report kept --html";
        "stored-report-markdown": "report kept --markdown";
        "stored-export": "export kept";
        "stored-launcher": "launcher kept --kernel naive";
        "stored-search-export": "search kept --export actions.jsonl";
        "stored-search-replay": "search kept --replay --repeat 2";
        "stored-search-replay-json": "search kept --replay --repeat 2 --json";
        "stored-models": "models";
        "stored-models-json": "models --json";
        "stored-label": "history kept --set-label 1 --words again";
        "stored-history-labelled": "history kept --label again --json";
    }

    /// Traces of an earlier build.
    traces: Nothing, Stored, {
        "import": "import traces.jsonl scale";
        "import-again-json": "import traces.jsonl scale --json";
    }

    /// Tasks of public suites.
    tasks: Nothing, Stored, {
        "import-task": "import tasks/residual_norm_h96.json";
        "import-task-exists": "import tasks/residual_norm_h96.json";
        "import-task-json": "import tasks/scale_rows --into scaled --json";
        "import-task-paged": "import tasks/paged_sum_d16.json --into paged";
        "import-unknown": "import copy.ptx";
        "import-unknown-json": "import tasks --json";
    }

    /// Requests that are refused.
    refused: Nothing, Stored, {
        "no-project": "run nowhere";
        "no-device": "devices h900";
        "profile-virtual": "profile scale --device virtual:h200";
        "calibrate-virtual": "calibrate --device virtual:h200";
        "models-unknown": "models --check nobody";
        "history-verdict": "history scale --verdict great";
        "lesson-none": "lesson scale";
    }

    /// Projects that begin, and kernels that are proposed or written out.
    texts: Nothing, Stored, {
        "new": "new begun";
        "new-exists": "new begun";
        "suggest": "suggest scale";
        "suggest-diff": "suggest samples/softmax --kernel naive --diff";
        "suggest-json": "suggest scale --json";
        "suggest-prompt": "suggest scale --kernel naive --print-prompt";
        "launcher": "launcher scale --kernel tuned --param BLOCK=256 --param UNROLL=4";
        "export-torch": "export scale --kernel tuned --as torch --param BLOCK=256 --param UNROLL=4";
        "export-gpu-mode": "export scale --kernel naive --as gpu-mode";
        "export-kernelbench": "export scale --kernel naive --as kernelbench";
        "export-flashinfer": "export scale --kernel naive --as flashinfer";
    }

    /// A launch of PTX: buffers, counters and faults of the virtual GPU.
    launches: Nothing, Fresh, {
        "launch": "launch copy.ptx --grid 1 --block 32 --arg in:u32[32]=iota --arg buf:u32[32] --print 1 --counters";
        "launch-json": "launch copy.ptx --grid 1 --block 32 --arg in:u32[32]=iota --arg buf:u32[32] --print 1 --counters --json";
        "launch-fault": "launch copy.ptx --grid 1 --block 33 --arg in:u32[32]=iota --arg buf:u32[32]";
        "launch-fault-json": "launch copy.ptx --grid 1 --block 33 --arg in:u32[32]=iota --arg buf:u32[32] --json";
        "launch-random": "launch copy.ptx --grid 1 --block 8 --arg in:f32[8]=normal --arg buf:f32[8] --print 1 --seed 7 --json";
    }

    /// Facts of every sample project's kernels.
    check_samples: Compiler, Fresh, {
        "check-cross-entropy": "check samples/cross-entropy";
        "check-histogram": "check samples/histogram";
        "check-jacobi": "check samples/jacobi";
        "check-layernorm": "check samples/layernorm";
        "check-rmsnorm": "check samples/rmsnorm";
        "check-rotary": "check samples/rotary";
        "check-scan": "check samples/scan";
        "check-sgemm": "check samples/sgemm";
        "check-softmax": "check samples/softmax";
        "check-softmax-bf16": "check samples/softmax-bf16";
        "check-spmv-csr": "check samples/spmv-csr";
        "check-transpose": "check samples/transpose";
        "check-vector-add": "check samples/vector-add";
        "check-vector-sum": "check samples/vector-sum";
        "check-lesson-banks": "check samples/lessons/banks";
        "check-lesson-coalescing": "check samples/lessons/coalescing";
        "check-lesson-divergence": "check samples/lessons/divergence";
        "check-lesson-reduction": "check samples/lessons/reduction";
    }

    /// Facts of one project in every form.
    check_forms: Compiler, Fresh, {
        "check-scale-json": "check scale --json";
        "check-scale-t4-json": "check scale --device t4 --json";
        "check-detail": "check scale --kernel tuned";
        "check-sass": "check scale --kernel naive --sass";
        "check-ptx": "check scale --kernel naive --ptx";
        "check-prelude": "check scale --kernel naive --show-prelude";
        "check-wrong-json": "check scale/wrong/short.cu --json";
        "check-softmax-json": "check samples/softmax --json";
        "access": "access scale";
        "access-json": "access scale --json";
        "access-line": "access scale --line 10";
        "access-line-json": "access scale --line 10 --json";
        "timeline": "timeline scale";
        "timeline-json": "timeline scale --json";
    }

    /// Verdicts and modelled times.
    verdicts: Compiler, Fresh, {
        "run-scale": "run scale --seed 1 --device virtual:h200";
        "run-scale-json": "run scale --seed 1 --device virtual:h200 --json";
        "run-scale-t4-json": "run scale --seed 2 --device virtual:t4 --kernel tuned --json";
        "run-screen-json": "run scale --seed 1 --device virtual:h200 --screen --json";
        "run-reference-json": "run scale --seed 1 --device virtual:h200 --kernel reference --no-times --json";
        "compare": "compare scale naive tuned --seed 1 --device virtual:h200";
        "compare-json": "compare scale naive tuned --seed 1 --device virtual:h200 --json";
        "tour": "tour scale --device virtual:h200";
        "eval": "eval --jsonl candidates.jsonl --seed 1 --device virtual:h200";
        "rejudge": "rejudge scale/wrong --project scale --seed 1 --device virtual:h200";
    }

    /// A lesson, and the verdicts of its kernels.
    lesson: Compiler, Fresh, {
        "lesson": "lesson samples/lessons/reduction";
        "lesson-grade": "lesson samples/lessons/coalescing --grade samples/lessons/coalescing/kernels";
        "lesson-grade-json": "lesson samples/lessons/coalescing --grade samples/lessons/coalescing/kernels --json";
        "lesson-json": "lesson samples/lessons/reduction --json";
        "run-reduction": "run samples/lessons/reduction --seed 1 --device virtual:h200 --no-history";
        "run-reduction-json": "run samples/lessons/reduction --seed 1 --device virtual:h200 --no-history --json";
    }

    /// Kernels that are rejected, one for each reason.
    rejected: Compiler, Fresh, {
        "wrong-vector-add-accumulates-into-a-json": "run samples/vector-add --kernel accumulates-into-a --seed 1 --device virtual:h200 --no-history --json";
        "wrong-vector-add-adds-float4-json": "run samples/vector-add --kernel adds-float4 --seed 1 --device virtual:h200 --no-history --json";
        "wrong-vector-add-bf16-arithmetic-json": "run samples/vector-add --kernel bf16-arithmetic --seed 1 --device virtual:h200 --no-history --json";
        "wrong-vector-add-computed-once-json": "run samples/vector-add --kernel computed-once --seed 1 --device virtual:h200 --no-history --json";
        "wrong-vector-add-count-is-int-json": "run samples/vector-add --kernel count-is-int --seed 1 --device virtual:h200 --no-history --json";
        "wrong-vector-add-off-by-one-json": "run samples/vector-add --kernel off-by-one --seed 1 --device virtual:h200 --no-history --json";
        "wrong-vector-add-tail-skipped-json": "run samples/vector-add --kernel tail-skipped --seed 1 --device virtual:h200 --no-history --json";
        "wrong-vector-add-unaligned-chunks-json": "run samples/vector-add --kernel unaligned-chunks --seed 1 --device virtual:h200 --no-history --json";
        "wrong-vector-add-vectors-rounded-up-json": "run samples/vector-add --kernel vectors-rounded-up --seed 1 --device virtual:h200 --no-history --json";
        "wrong-softmax-array-reused-json": "run samples/softmax --kernel array-reused --seed 1 --device virtual:h200 --no-history --json";
        "wrong-softmax-bf16-exponentials-json": "run samples/softmax --kernel bf16-exponentials --seed 1 --device virtual:h200 --no-history --json";
        "wrong-softmax-differences-in-x-json": "run samples/softmax --kernel differences-in-x --seed 1 --device virtual:h200 --no-history --json";
        "wrong-softmax-maximum-forgotten-json": "run samples/softmax --kernel maximum-forgotten --seed 1 --device virtual:h200 --no-history --json";
        "wrong-softmax-maximum-starts-at-zero-json": "run samples/softmax --kernel maximum-starts-at-zero --seed 1 --device virtual:h200 --no-history --json";
        "wrong-softmax-padding-never-loaded-json": "run samples/softmax --kernel padding-never-loaded --seed 1 --device virtual:h200 --no-history --json";
        "wrong-softmax-rescale-forgotten-json": "run samples/softmax --kernel rescale-forgotten --seed 1 --device virtual:h200 --no-history --json";
        "wrong-softmax-row-guard-forgotten-json": "run samples/softmax --kernel row-guard-forgotten --seed 1 --device virtual:h200 --no-history --json";
        "wrong-softmax-rows-not-aligned-json": "run samples/softmax --kernel rows-not-aligned --seed 1 --device virtual:h200 --no-history --json";
        "wrong-softmax-shared-array-sized-at-run-time-json": "run samples/softmax --kernel shared-array-sized-at-run-time --seed 1 --device virtual:h200 --no-history --json";
        "wrong-vector-add-off-by-one": "run samples/vector-add --kernel off-by-one --seed 1 --device virtual:h200 --no-history";
        "wrong-softmax-array-reused": "run samples/softmax --kernel array-reused --seed 1 --device virtual:h200 --no-history";
        "wrong-vector-add-computed-once": "run samples/vector-add --kernel computed-once --seed 1 --device virtual:h200 --no-history";
        "wrong-vector-add-bf16-arithmetic": "run samples/vector-add --kernel bf16-arithmetic --seed 1 --device virtual:h200 --no-history";
    }

    /// The audit of a definition.
    audit: Compiler, Fresh, {
        "audit": "audit scale --seed 1 --device virtual:h200";
        "audit-json": "audit scale --seed 1 --device virtual:h200 --json";
    }

    /// Searches, and what their journals hold.
    searches: Compiler, Fresh, {
        "search": "search scale --seed 1 --device virtual:h200 --kernel naive --budget 4";
        "search-json": "search scale --seed 1 --device virtual:h200 --kernel naive --budget 4 --json";
        "sweep": "sweep scale --seed 1 --device virtual:h200 --kernel tuned";
        "sweep-json": "sweep scale --seed 1 --device virtual:h200 --kernel tuned --json";
    }
}
