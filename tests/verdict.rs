//! From a candidate to a verdict: the sample projects, those who cheat, and what is told about it.

use std::path::PathBuf;

use serde_json::Value;

use crate::compiler;
use crate::program::{Bench, Said, repository};

/// The projects whose kernels all run here; each is a test of its own, so that they run side by side.
macro_rules! samples {
    ($($test:ident: $project:literal,)*) => {
        $(#[test]
        fn $test() {
            check_sample($project);
        })*

        const SAMPLES: &[&str] = &[$($project),*];
    };
}

samples! {
    every_kernel_of_vector_add_passes: "vector-add",
    every_kernel_of_rmsnorm_passes: "rmsnorm",
    every_kernel_of_softmax_f32_passes: "softmax",
    every_kernel_of_softmax_bf16_passes: "softmax-bf16",
    every_kernel_of_vector_sum_passes: "vector-sum",
    every_kernel_of_transpose_passes: "transpose",
    every_kernel_of_histogram_passes: "histogram",
    every_kernel_of_sgemm_passes: "sgemm",
    every_kernel_of_layernorm_passes: "layernorm",
    every_kernel_of_cross_entropy_passes: "cross-entropy",
    every_kernel_of_rotary_passes: "rotary",
    every_kernel_of_scan_passes: "scan",
    every_kernel_of_spmv_csr_passes: "spmv-csr",
    every_kernel_of_jacobi_passes: "jacobi",
    every_kernel_of_the_lesson_of_coalescing_passes: "lessons/coalescing",
    every_kernel_of_the_lesson_of_banks_passes: "lessons/banks",
    every_kernel_of_the_lesson_of_divergence_passes: "lessons/divergence",
    every_kernel_of_the_lesson_of_reduction_passes: "lessons/reduction",
    every_kernel_of_the_lesson_of_occupancy_passes: "lessons/occupancy",
    every_kernel_of_the_lesson_of_vectors_passes: "lessons/vectors",
    every_kernel_of_the_lesson_of_tiling_passes: "lessons/tiling",
    every_kernel_of_the_lesson_of_asynchronous_copies_passes: "lessons/async-copies",
    every_kernel_of_the_lesson_of_tensor_cores_passes: "lessons/tensor-cores",
    every_kernel_of_the_lesson_of_rooflines_passes: "lessons/roofline",
}

/// Lessons whose first kernel is faulty: `tests/lessons.rs` checks that it is, and that the solution passes.
const FAULTY_STARTS: &[&str] = &["lessons/races", "lessons/triton"];

/// Projects that take long on the virtual GPU: their kernels run here for one workload, without times.
const LONG: &[&str] = &["hgemm", "fp8-gemm", "grouped-gemm", "attention", "paged-decode"];

#[test]
fn every_kernel_of_projects_that_take_long_passes() {
    for project in LONG {
        check_runs(project, &[&["--workload", "ragged", "--seed", "1", "--json", "--no-times"]]);
    }
}

/// Two seeds of every kernel of a sample project, once with times.
fn check_sample(project: &str) {
    check_runs(project, &[&["--seed", "1", "--json"], &["--seed", "2", "--json", "--no-times"]]);
}

fn check_runs(project: &str, runs: &[&[&str]]) {
    let path = sample(project);
    for rest in runs {
        let Some(said) = run(&[&["run", path.as_str()], *rest].concat()) else { return };
        let document = said.json();
        let failed: Vec<&Value> = document["runs"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|run| run["verdict"] != "passed")
            .map(|run| &run["sentence"])
            .collect();
        assert!(failed.is_empty(), "{project}, {rest:?}: {failed:?}");
        assert_eq!(said.status, 0);
    }
}

#[test]
fn a_descriptor_of_another_swizzle_is_named_as_the_likely_cause() {
    let kernel = sample("hgemm/wrong/swizzle-forgotten.cu");
    let options = ["--workload", "ragged", "--seed", "1", "--json", "--no-times"];
    let Some(said) = run(&[&["run", kernel.as_str()], &options[..]].concat()) else { return };
    let document = said.json();
    let cause = document["wrong"]["likely_cause"].as_str().unwrap_or_default();
    let expected = "the swizzle of the descriptor is 128 bytes, that of the tensor map none";
    assert!(
        cause.starts_with("wrong/swizzle-forgotten.cu, line ") && cause.contains(expected),
        "{document}"
    );
}

#[test]
fn every_folder_of_samples_is_tried() {
    let root = repository().join("sample-projects");
    let folders =
        [root.clone(), root.join("lessons")].map(|folder| std::fs::read_dir(folder).unwrap());
    let folders = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
    let name = |path: PathBuf| path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
    let projects = folders.filter(|path| path.join("project.ron").is_file());
    let mut names: Vec<String> = projects.map(name).collect();
    names.sort();
    let mut tried = [SAMPLES, LONG, FAULTY_STARTS].concat();
    tried.sort_unstable();
    assert_eq!(names, tried);
}

#[test]
fn those_who_cheat_are_caught() {
    check_audit(&cheats());
}

#[test]
fn those_who_keep_something_are_caught_while_they_run() {
    check_audit(repository().join("tests/keepers").to_str().unwrap());
}

#[test]
fn kernels_that_rely_on_the_fill_of_a_norm_are_caught() {
    check_audit(&domain("norm"));
}

#[test]
fn kernels_that_rely_on_the_fill_of_a_loss_are_caught() {
    check_audit(&domain("loss"));
}

#[test]
fn kernels_that_rely_on_the_fill_of_counts_are_caught() {
    check_audit(&domain("counts"));
}

#[test]
fn kernels_that_rely_on_the_fill_of_sparse_rows_are_caught() {
    check_audit(&domain("rows"));
}

#[test]
fn kernels_that_lose_long_sums_are_caught() {
    check_audit(&domain("long"));
}

#[test]
fn kernels_that_rely_on_declared_scalars_are_caught() {
    check_audit(&domain("scalars"));
}

#[test]
fn kernels_that_flush_subnormal_numbers_are_caught() {
    check_audit(&domain("subnormal"));
}

/// A flag is refused by its name, and only where the definition keeps subnormal numbers.
#[test]
fn flags_that_flush_subnormal_numbers_are_refused_by_name() {
    let project = domain("subnormal");
    let Some(said) = run(&["run", &project, "--kernel", "fast-math", "--seed", "1", "--json"])
    else {
        return;
    };
    let document = said.json();
    assert_eq!(document["refused"]["kind"], "subnormals", "{document:#}");
    assert_eq!(document["refused"]["flag"], "fast_math", "{document:#}");
    assert_eq!(said.status, 1);
}

fn domain(project: &str) -> String {
    repository().join("tests/domain").join(project).to_str().unwrap().to_owned()
}

#[test]
fn an_audit_of_sums_finds_no_hole() {
    check_audit(&sample("vector-add"));
}

#[test]
fn an_audit_of_exact_results_finds_no_hole() {
    check_audit(&sample("transpose"));
}

/// Every other sample project: minutes. `cargo test every_audit -- --ignored`
#[test]
#[ignore = "takes many minutes"]
fn every_audit_finds_no_hole() {
    for project in SAMPLES {
        check_audit(&sample(project));
    }
}

fn check_audit(project: &str) {
    let Some(said) = run(&["audit", project, "--seed", "1", "--json"]) else { return };
    let document = said.json();
    let cells = ["cheats", "wrong", "honest"].map(|kind| &document["matrix"][kind]);
    let cells = cells.into_iter().flat_map(|cells| cells.as_array().unwrap());
    let holes: Vec<&Value> = cells.filter(|cell| cell["outcome"] == "hole").collect();
    assert!(holes.is_empty(), "{project}: {holes:#?}");
    assert_eq!(said.status, 0, "{}", said.errors);
}

#[test]
fn a_hole_is_shown_and_ends_with_1() {
    if compiler::required().is_none() {
        return;
    }
    // A tolerance that lets half precision through.
    let bench = Bench::new();
    let folder = bench.path().join("loose");
    copy(&repository().join("tests/cheats"), &folder);
    let manifest = folder.join("project.ron");
    let text = std::fs::read_to_string(&manifest).unwrap();
    let loose = text.replace(
        "elementwise(terms: \"cols\")",
        "elementwise(terms: \"cols\", factor: 2e4, rms: false)",
    );
    assert_ne!(text, loose);
    std::fs::write(&manifest, loose.replace("kind: contraction", "kind: special")).unwrap();
    std::fs::remove_dir_all(folder.join("wrong")).unwrap();
    let said = bench.run(&["audit", folder.to_str().unwrap(), "--device", "virtual:h200"]);
    said.expect(
        1,
        &["✗ inputs rounded to bf16 is correct", "✗ inputs rounded to tf32 is correct", "holes"],
    );
}

/// Verdicts by the word that scripts branch on, with what stands beside them.
#[test]
fn each_verdict_has_its_payload() {
    for (kernel, verdict, kind) in [
        ("honest", "passed", ""),
        ("zeros", "wrong", "numeric"),
        ("tail-unwritten", "wrong", "unwritten"),
        ("tf32-products", "wrong", "imprecise"),
        ("not-a-number", "wrong", "nan"),
        ("memo-in-scratch", "wrong", "state_dependent"),
        ("write-behind", "fault", "out_of_bounds"),
        ("race", "fault", "data_race"),
        ("input-overwritten", "fault", "input_modified"),
        ("looks-at-clock", "refused", "evidence"),
        ("more-parameters", "refused", "arguments"),
        ("too-much-shared", "refused", "launch"),
    ] {
        let Some(said) = run(&["run", &cheats(), "--kernel", kernel, "--seed", "3", "--json"])
        else {
            return;
        };
        let document = said.json();
        assert_eq!(document["verdict"], verdict, "{kernel}: {}", document["sentence"]);
        assert!(document[verdict].is_object(), "{kernel}: {document:#}");
        if !kind.is_empty() {
            assert_eq!(document[verdict]["kind"], kind, "{kernel}");
        }
        assert_eq!(said.status, i32::from(verdict != "passed"), "{kernel}");
    }
}

#[test]
fn what_a_device_lacks_is_not_judged() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    // An instruction for memory that several GPUs share; the virtual device is one.
    let lacking = "  if (count < 0) {\n    asm volatile(\"multimem.red.release.sys.global.add.u32 [%0], %1;\" \
                   :: \"l\"(y), \"r\"(1) : \"memory\");\n  }\n  if (i < count) {";
    bench.edit("kernels/naive.cu", "  if (i < count) {", lacking);
    let arguments = ["run", "scale", "--kernel", "naive", "--device", "virtual:h200"];
    let said = bench.run(&arguments);
    said.expect(3, &["naive was not judged: not supported on this device", "multimem"]);
    assert!(!said.everything().contains('✗'), "{}", said.everything());
    let document = bench.run(&[&arguments[..], &["--json"]].concat()).json();
    assert_eq!(document["verdict"], "not_supported", "{document:#}");
    assert_eq!(document["status"], "not_judged");
    assert!(document["not_supported"]["message"].is_string(), "{document:#}");
    let screened = bench.run(&[&arguments[..], &["--screen", "--json"]].concat());
    assert_eq!((screened.status, &screened.json()["status"]), (3, &"not_judged".into()));
    let history = bench.run(&["history", "scale", "--verdict", "not_supported"]);
    history.expect(0, &["not supported"]);
}

#[test]
fn a_fault_names_thread_and_line_and_the_other_side() {
    let Some(said) = run(&["run", &cheats(), "--kernel", "race", "--json"]) else { return };
    let fault = &said.json()["fault"]["faults"][0];
    assert_eq!(fault["file"], "wrong/race.cu");
    let line = fault["line"].as_u64().unwrap();
    let source = std::fs::read_to_string(repository().join("tests/cheats/wrong/race.cu")).unwrap();
    let line = source.lines().nth(line as usize - 1).unwrap();
    assert!(line.contains("partial"), "{line}");
    assert!(fault["other"]["thread"].is_array() && fault["block"].is_array(), "{fault:#}");
}

#[test]
fn a_seed_draws_the_same_inputs_again() {
    let look = || {
        let said = run(&["run", &cheats(), "--kernel", "zeros", "--seed", "77", "--json"])?;
        Some(said.json()["wrong"]["outputs"].clone())
    };
    let Some(first) = look() else { return };
    assert_eq!(look().unwrap(), first);
    let other = run(&["run", &cheats(), "--kernel", "zeros", "--seed", "78", "--json"]).unwrap();
    assert_ne!(other.json()["wrong"]["outputs"], first);
}

/// One bit: that a held-out workload is wrong, and neither its name, nor its sizes, nor what the compiler said of them.
#[test]
fn held_out_workloads_are_one_bit_in_every_sink() {
    for kernel in
        ["asserts-visible-sizes", "traps-elsewhere", "slow-elsewhere", "visible-sizes-only"]
    {
        for form in [&["--json"][..], &[]] {
            let project = cheats();
            let mut arguments = vec!["run", &project, "--kernel", kernel, "--seed", "1"];
            arguments.extend(form);
            let Some(said) = run(&arguments) else { return };
            let all = said.everything();
            for secret in ["hidden", "another size", "trap:"] {
                assert!(!all.contains(secret), "{kernel} tells {secret}: {all}");
            }
            // As a whole number: the digits may occur in a hash or a duration.
            let mut words = all.split(|c: char| !c.is_alphanumeric() && c != '.');
            assert!(!words.any(|word| word.trim_matches('.') == "517"), "{kernel}: {all}");
            assert_eq!(said.status, 1, "{all}");
            if !form.is_empty() {
                let expected = serde_json::json!({ "kind": "held_out" });
                assert_eq!(said.json()["wrong"], expected);
            }
        }
    }
}

#[test]
fn a_kernel_that_never_ends_is_stopped_and_leaves_nothing() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let said = bench.run(&[
        "run",
        &cheats(),
        "--kernel",
        "never-ends",
        "--device",
        "virtual:h200",
        "--no-history",
    ]);
    let place = "wrong/never-ends.cu:";
    let still = "still running after 4194304 steps";
    said.expect(1, &["never-ends was stopped after 6 s in workload `odd`", still, place]);
    assert_eq!(bench.processes(), Vec::<String>::new());
    assert_eq!(std::fs::read_dir(bench.temporary()).unwrap().count(), 0);
}

#[test]
fn requests_that_are_wrong_say_what_is_there() {
    let lone = repository().join("tests/evidence/clock.cu");
    let lone = lone.to_str().unwrap();
    let project = cheats();
    for (arguments, expected) in [
        (&["run", &project, "--kernel", "zeroes"][..], "did you mean `zeros`"),
        (&["run", &project, "--workload", "od"], "unknown workload `od`"),
        (&["run", &project, "--workload", "hidden"], "is held out"),
        (
            &["run", &project, "--param", "BLOCK=1"],
            "no kernel of this project has a parameter `BLOCK`",
        ),
        (&["run", &project, "--device", "virtual:h2000"], "no device sheet is named"),
        (&["run", &project, "--device", "gpu"], "gpu"),
        (&["run", &project, "--kernel", "honest", "--all"], "cannot be used with"),
        (&["run", lone], "`lightbench launch` runs it"),
        (&["run", "nowhere"], "nowhere"),
        (&["run", &format!("{project}/project.ron"), "--kernel", "zeroes"], "did you mean `zeros`"),
        (&["audit", "nowhere"], "nowhere"),
    ] {
        Bench::new().run(arguments).expect(2, &[expected]);
    }
}

/// The cheats' project with other kernels.
fn without_cheats(bench: &Bench) -> PathBuf {
    let folder = bench.path().join("own");
    for file in ["project.ron", "reference.cu"] {
        std::fs::create_dir_all(folder.join("kernels")).unwrap();
        std::fs::copy(repository().join("tests/cheats").join(file), folder.join(file)).unwrap();
    }
    folder
}

#[test]
fn a_project_without_kernels_has_not_passed() {
    let bench = Bench::new();
    let folder = without_cheats(&bench);
    for more in [&[][..], &["--screen"]] {
        let mut arguments = vec!["run", folder.to_str().unwrap(), "--device", "virtual:h200"];
        arguments.extend(more);
        bench.run(&arguments).expect(2, &["cheats has no kernel yet"]);
    }
}

#[test]
fn a_reference_that_leaves_a_hole_is_named_once() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let folder = without_cheats(&bench);
    let reference = folder.join("reference.cu");
    let text = std::fs::read_to_string(&reference).unwrap();
    std::fs::write(&reference, text.replace("    y[row] = sum;\n", "")).unwrap();
    let honest = repository().join("tests/cheats/kernels/honest.cu");
    std::fs::copy(honest, folder.join("kernels/honest.cu")).unwrap();
    let said = bench.run(&["run", folder.to_str().unwrap(), "--device", "virtual:h200"]);
    let expected = "error: the reference, workload `odd`: it does not write element 0 of `y`";
    said.expect(3, &[expected]);
}

/// It does not race on what the first runs of these seeds are given.
#[test]
fn a_race_on_some_inputs_is_found_on_others() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let folder = without_cheats(&bench);
    let text =
        std::fs::read_to_string(repository().join("tests/cheats/wrong/races-on-some-inputs.cu"));
    let rare =
        text.unwrap().replace("<= 0.05f", "<= 2.0f").replace("    expect: fault(data_race),\n", "");
    assert!(rare.contains("<= 2.0f"), "{rare}");
    std::fs::write(folder.join("kernels/rare.cu"), rare).unwrap();
    for seed in ["1", "2", "5"] {
        let project = folder.to_str().unwrap();
        let said = bench.run(&[
            "run",
            project,
            "--device",
            "virtual:h200",
            "--seed",
            seed,
            "--json",
            "--no-times",
        ]);
        let run = &said.json()["runs"][0];
        assert_eq!(run["fault"]["kind"], "data_race", "{seed}: {}", run["sentence"]);
        assert_ne!(run["fault"]["step"], "results", "{seed}");
    }
}

/// What the program says on the virtual H200, in a folder of its own.
fn run(arguments: &[&str]) -> Option<Said> {
    compiler::required()?;
    let mut arguments = arguments.to_vec();
    arguments.extend(["--device", "virtual:h200"]);
    if arguments.first() == Some(&"run") {
        // These projects lie in the repository.
        arguments.push("--no-history");
    }
    Some(Bench::new().run(&arguments))
}

fn sample(name: &str) -> String {
    repository().join("sample-projects").join(name).to_str().unwrap().to_owned()
}

fn cheats() -> String {
    repository().join("tests/cheats").to_str().unwrap().to_owned()
}

fn copy(from: &PathBuf, to: &PathBuf) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A virtual device has no time of its own: what it says is a band above a bound, the same each time.
#[test]
fn a_modelled_time_says_so() {
    let times = || -> Option<Value> {
        let project = sample("rmsnorm");
        let said = run(&["run", &project, "--kernel", "registers", "--seed", "1", "--json"])?;
        Some(said.json()["passed"]["times"].clone())
    };
    let Some(first) = times() else { return };
    for workload in first.as_array().unwrap() {
        let [timing] = workload["timings"].as_array().unwrap().as_slice() else {
            panic!("one time of {workload}");
        };
        let number = |value: &Value| value.as_f64().unwrap();
        assert_eq!(timing["clock"], "modelled");
        assert_eq!(timing["samples"], 0);
        let (low, high) = (&timing["interval_seconds"][0], &timing["interval_seconds"][1]);
        assert!(number(&timing["bound_seconds"]) <= number(low), "{timing}");
        assert!(number(low) < number(high), "{timing}");
        assert!(!timing["assumptions"].as_array().unwrap().is_empty());
    }
    assert_eq!(times(), Some(first));
}

#[test]
fn only_kernels_that_are_right_are_compared() {
    let check = |a: &str, b: &str, status: i32, workloads: bool| {
        let project = sample("vector-add");
        let Some(said) = run(&["compare", &project, a, b, "--seed", "1", "--json"]) else {
            return;
        };
        assert_eq!(said.status, status, "{a} {b}");
        if status < 2 {
            let document = said.json();
            let compared = document["workloads"].as_array().unwrap();
            assert_eq!(!compared.is_empty(), workloads, "{a} {b}: {document}");
        }
    };
    check("naive", "grid-stride", 0, true);
    check("naive", "nowhere", 2, false);
    let wrong = std::fs::read_dir(format!("{}/wrong", sample("vector-add"))).unwrap();
    let wrong = wrong.map(|entry| entry.unwrap().path()).min().unwrap();
    check("naive", wrong.file_stem().unwrap().to_str().unwrap(), 1, false);
}
