//! Each rule of the launch block, and what a launch becomes in numbers.

use std::collections::BTreeMap;

use super::fixture::{bent, check_all, files, folder, load, problems};
use crate::{DeviceFacts, Kernel, PlannedArgument, PlannedStep};

const NAIVE: &str = "kernels/naive.cu";

/// What is written, what instead, where the problem begins, and some of its words.
const RULES: &[(&str, &str, &str, &str)] = &[
    ("/*@ lightbench(", "/*@ lightbnech(", "lightbnech", "write `lightbench`"),
    (") @*/", ") */", "*/", "`@*/`"),
    (") @*/", ")", "", "the launch block is not closed"),
    ("title: \"One block per row\",", "tittle: \"One block per row\",", "tittle", "write `title`"),
    ("title: \"One block per row\",", "title: \"\",", "\"\"", "the text is empty"),
    ("\"BLOCK\": [128, 256, 512]", "\"BLOCK\": []", "[]", "no value for `BLOCK`"),
    ("\"BLOCK\": [128, 256, 512]", "\"BLOCK\": [128, 128]", "128]", "128 again"),
    (
        "\"BLOCK\": [128, 256, 512]",
        "\"BLOCK\": [128], \"cols\": [1]",
        "\"cols\"",
        "is a name of the project",
    ),
    ("BLOCK * 2 <= cols", "BLOCK * 2 <= colz", "colz", "write `cols`"),
    ("BLOCK * 2 <= cols", "BLOCK * 2", "BLOCK", "a condition"),
    (
        "\"BLOCK * 2 <= cols",
        "\"BLOCK <= rows",
        "\"BLOCK",
        "no parameter values are allowed for workload `odd-rows`",
    ),
    ("BLOCK * 2 <= cols", "BLOCK / 3 <= cols", "BLOCK", "128 / 3 is not an integer"),
    ("constants: [\"cols\"]", "constants: [\"col\"]", "\"col\"", "write `cols`"),
    (
        "shape: [\"rows\", \"4\"]",
        "shape: [\"rows - 7\", \"4\"]",
        "[\"rows",
        "is 0 in workload `odd-rows`",
    ),
    ("name: \"partial\"", "name: \"x\"", "\"x\"", "is a name of the project"),
    (
        "kernel: \"rmsnorm<PARAM_BLOCK>\"",
        "kernel: \"rmsnorm<PARAM_BLOK>\"",
        "\"rmsnorm",
        "write `PARAM_BLOCK`",
    ),
    ("kernel: \"rmsnorm<PARAM_BLOCK>\"", "kernel: \"a;b\"", ";", "in the name of a kernel"),
    ("kernel: \"rmsnorm<PARAM_BLOCK>\"", "kernel: \"rms<1\"", "\",", "`<` is not closed"),
    ("grid: [\"rows\"]", "grid: [\"row\"]", "row", "write `rows`"),
    ("grid: [\"rows\"]", "grid: []", "[]", "0 dimensions"),
    ("grid: [\"rows\"]", "grid: [\"rows - 7\"]", "[\"rows", "from 1 to 2147483647"),
    ("grid: [\"rows\"]", "grid: [\"1\", \"rows * 4\"]", "[\"1", "from 1 to 65535"),
    ("grid: [\"rows\"]", "grid: [max_active_blocks(\"x\")]", "", "an expression in quotes"),
    ("grid: [\"rows\"]", "grid: [\"max_active_blocks('rms')\"]", "max_active", "write `rmsnorm`"),
    ("block: [\"BLOCK\"]", "block: [\"BLOCK\", 16]", "[\"BLOCK", "at most 1024 in all"),
    (
        "block: [\"BLOCK\"]",
        "block: [\"max_active_blocks('rmsnorm')\"]",
        "max_active",
        "is not known yet",
    ),
    ("block: [\"BLOCK\"]", "block: [\"BLOCK\"], cluster: [2]", "", "a multiple of the cluster"),
    ("block: [\"BLOCK\"]", "block: [\"BLOCK\"], cluster: [32]", "[32]", "from 1 to 16"),
    ("block: [\"BLOCK\"]", "block: [\"BLOCK\"], carveout: 101", "101", "from 0 to 100"),
    (
        "block: [\"BLOCK\"]",
        "block: [\"BLOCK\"], args: [\"x\", \"z\"]",
        "\"z\"",
        "unknown argument `z`",
    ),
    (
        "block: [\"BLOCK\"]",
        "block: [\"BLOCK\"], args: [\"x\", \"rows * cols: i8\"]",
        "\"rows",
        "a value that fits i8",
    ),
    ("\"4 * BLOCK / 32\"", "\"BLOCK * 4096\"", "\"BLOCK", "from 0 to 232448"),
    ("[fast_math, ", "[fast_maht, ", "fast_maht", "write `fast_math`"),
    ("[fast_math, ", "[\"--include-path=/\", ", "\"--include", "a name"),
    ("[fast_math, ", "[fast_math, fast_math, ", "fast_math, max", "a second flag"),
    ("maxrregcount(\"BLOCK // 4", "maxrregcount(\"BLOCK * 4", "maxr", "512 registers"),
    ("[fast_math, ", "[opt_level(4), ", "4", "from 0 to 3"),
    ("flags: [", "expect: compile, flags: [", "compile", "remove `expect`"),
    (
        "flags: [",
        "tensor_maps: [(name: \"t\", tensor: \"x\", box: [\"64\"])], flags: [",
        "[\"64\"]",
        "2, one for each dimension",
    ),
    (
        "flags: [",
        "structs: [(name: \"s\", fields: [\"rows: i7\"])], flags: [",
        "\"rows",
        "unknown C type `i7`",
    ),
    ("flags: [", "textures: [(name: \"t\", tensor: \"x\")], flags: [", "\"x\"", "texels of bf16"),
    (
        "flags: [",
        "constant_memory: [(symbol: \"a-b\", tensor: \"w\")], flags: [",
        "\"a-b\"",
        "cannot name an array",
    ),
    ("    ],\n    flags", "fill(buffer: \"x\", value: 0)],\n    flags", "\"x\"", "`x` is an input"),
    (
        "    ],\n    flags",
        "fill(buffer: \"y\", value: true)],\n    flags",
        "true",
        "a number that fits bf16",
    ),
    (
        "    ],\n    flags",
        "repeat(count: 0, steps: [fill(buffer: \"y\", value: 0)])],\n    flags",
        "0",
        "from 1 to",
    ),
    (
        "    ],\n    flags",
        "repeat(count: \"1024 * 1024\", steps: [repeat(count: 1048576, steps: [repeat(count: 1048576, steps: [fill(buffer: \"y\", value: 0)])])])],\n    flags",
        "\"1024 * 1024\"",
        "at most 1048576 in one run",
    ),
    (
        "    ],\n    flags",
        "repeat(count: 2, swap: [(\"y\", \"partial\")], steps: [fill(buffer: \"y\", value: 0)])],\n    flags",
        "(\"y\"",
        "the same dtype",
    ),
];

#[test]
fn every_rule_of_the_block_has_its_problem() {
    check_all(NAIVE, RULES);
}

#[test]
fn repetitions_multiply_up_to_a_limit() {
    let check = |outer: &str, is_accepted: bool| {
        let nested = format!(
            "repeat(count: \"{outer}\", steps: [repeat(count: 1024, steps: [fill(buffer: \"y\", value: 0)])])],\n    flags"
        );
        let found = problems(&bent(NAIVE, "    ],\n    flags", &nested));
        assert_eq!(found.is_empty(), is_accepted, "{outer}: {found:?}");
    };
    check("1023", true);
    // The launches beside the fills are too many.
    check("1024", false);
}

#[test]
fn the_reference_is_plain_and_writes_everything() {
    check_all(
        "reference.cu",
        &[
            ("steps:", "params: {\"B\": [1]}, steps:", "{\"B\"", "one variant without parameters"),
            ("steps:", "flags: [fast_math], steps:", "fast_math", "no flag but `std(…)`"),
            ("steps:", "arch: specific, steps:", "specific", "`portable`"),
            (
                "block: [128]",
                "block: [128], args: [\"x\", \"w\", \"y\"]",
                "",
                "no step of the reference writes `y.magnitude`",
            ),
            (
                "block: [128]",
                "block: [128], args: [\"x\", \"x.magnitude\"]",
                "\"x.mag",
                "unknown argument",
            ),
        ],
    );
}

#[test]
fn a_file_has_exactly_one_block() {
    for (text, found) in [
        ("__global__ void f() {}", "the file has no launch block"),
        ("// /*@ lightbench() @*/\n\"/*@ lightbench(\"", "the file has no launch block"),
        (
            "/*@ lightbench(title: \"a\", steps: []) @*/\n/*@ lightbench() @*/",
            "a second launch block",
        ),
        ("/*@ lightbench(title: \"a\", steps: []) @*/", "nothing is launched"),
        ("/*@ @*/", "a block without a name"),
    ] {
        let mut files = files();
        files[2].1 = text.to_owned();
        let problems = problems(&files);
        assert!(problems[0].found.contains(found), "{text}: {}", problems[0]);
    }
}

#[test]
fn wrong_kernels_name_their_failure() {
    let block = |expect: &str| super::fixture::KERNEL.replace("flags:", &format!("{expect}flags:"));
    for (expect, found) in [
        ("expect: compile, ", None),
        ("expect: refused, ", None),
        ("expect: refused(clocks), ", None),
        ("expect: Some(fault(data_race)), ", None),
        ("expect: wrong(unwritten), ", None),
        ("expect: timed_out, ", None),
        ("", Some("does not say how it fails")),
        ("expect: fault(data_rase), ", Some("unknown fault `data_rase`")),
        ("expect: crash, ", Some("unknown failure `crash`")),
    ] {
        let mut files = files();
        files.push(("wrong/race.cu".to_owned(), block(expect)));
        let problems = problems(&files);
        match found {
            None => assert!(problems.is_empty(), "{expect}: {problems:?}"),
            Some(found) => assert!(problems[0].found.contains(found), "{expect}: {problems:?}"),
        }
    }
}

#[test]
fn a_launch_becomes_numbers() {
    let project = load(&files()).unwrap();
    let kernel = project.kernel("naive").unwrap();
    let environment = project.environment(project.workload("odd-rows").unwrap());
    let device = DeviceFacts::default();
    let selection = kernel.launch.select(&environment, &BTreeMap::new(), &device).unwrap();
    assert_eq!(selection.parameters, [("BLOCK".to_owned(), 128)]);
    assert_eq!(selection.constants, [("cols".to_owned(), 264)]);
    assert_eq!(selection.options, ["--use_fast_math", "--maxrregcount=32"]);
    assert_eq!(selection.name_expressions, ["rmsnorm<128>"]);
    let plan = kernel.launch.plan(&environment, &selection, &device, &BTreeMap::new()).unwrap();
    assert_eq!(plan.scratch[0].bytes, 7 * 4 * 4);
    let PlannedStep::Launch(launch) = &plan.steps[0] else { panic!("{plan:?}") };
    assert_eq!((launch.grid, launch.block, launch.shared_bytes), ([7, 1, 1], [128, 1, 1], 16));
    let sizes: Vec<Option<u64>> = launch.arguments.iter().map(PlannedArgument::bytes).collect();
    assert_eq!(sizes, [8, 8, 8, 8, 8, 4].map(Some));
    let chosen = BTreeMap::from([("BLOCK".to_owned(), 512)]);
    assert!(kernel.launch.select(&environment, &chosen, &device).is_err());
}

#[test]
fn occupancy_is_asked_for_last() {
    let text = ("grid: [\"rows\"]", "grid: [\"min(rows, max_active_blocks('rmsnorm'))\"]");
    let project = load(&bent(NAIVE, text.0, text.1)).unwrap_or_else(|error| panic!("{error}"));
    let launch = &project.kernel("naive").unwrap().launch;
    let environment = project.environment(project.workload("llama-8b").unwrap());
    let device = DeviceFacts::default();
    let selection = launch.select(&environment, &BTreeMap::new(), &device).unwrap();
    let footprints = launch.footprints(&environment, &selection, &device).unwrap();
    assert_eq!((footprints[0].block, footprints[0].shared_bytes), ([128, 1, 1], 16));
    let nothing = BTreeMap::new();
    assert!(launch.plan(&environment, &selection, &device, &nothing).unwrap_err().needs_device());
    let occupancy = BTreeMap::from([("rmsnorm<PARAM_BLOCK>".to_owned(), 264)]);
    let plan = launch.plan(&environment, &selection, &device, &occupancy).unwrap();
    let PlannedStep::Launch(step) = &plan.steps[0] else { panic!("{plan:?}") };
    assert_eq!(step.grid[0], 264);
}

#[test]
fn a_kernel_outside_a_project_is_checked_as_far_as_it_goes() {
    let (_keep, root) = folder(&files());
    let kernel = Kernel::load_standalone(&root.join(NAIVE)).unwrap();
    assert_eq!(kernel.launch.unwrap().title, "One block per row");
    std::fs::write(root.join("plain.cu"), "__global__ void f() {}").unwrap();
    assert_eq!(Kernel::load_standalone(&root.join("plain.cu")).unwrap().launch, None);
    std::fs::write(root.join("bad.cu"), "/*@ lightbench(title: \"t\", steps: [launch(kernel: \"f\", grid: [\"n +\"], block: [1])]) @*/").unwrap();
    let error = Kernel::load_standalone(&root.join("bad.cu")).unwrap_err();
    assert!(
        error.to_string().contains("bad.cu:1:67: steps[0].grid[0]: the expression ends too early"),
        "{error}"
    );
}
