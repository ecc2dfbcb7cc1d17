//! Lessons: their goals are missed by the first kernel and reached by the solutions, and what a warp accesses is told.

use serde_json::Value;

use crate::compiler;
use crate::program::{Bench, Said, repository};

/// All lessons, in their order.
const LESSONS: [&str; 12] = [
    "coalescing",
    "banks",
    "divergence",
    "reduction",
    "occupancy",
    "vectors",
    "tiling",
    "async-copies",
    "tensor-cores",
    "roofline",
    "races",
    "triton",
];

#[test]
fn every_lesson_is_in_its_place() {
    let folders = std::fs::read_dir(repository().join("sample-projects/lessons")).unwrap();
    assert_eq!(folders.count(), LESSONS.len());
    for (name, order) in LESSONS.into_iter().zip(1..) {
        let text = std::fs::read_to_string(format!("{}/lesson.ron", folder(name))).unwrap();
        assert!(text.contains(&format!("order: {order},")), "{name}");
    }
}

fn folder(name: &str) -> String {
    repository().join("sample-projects/lessons").join(name).to_str().unwrap().to_owned()
}

/// Runs the program; `None`, with a printed reason, without the compiler or without Triton where a kernel needs it.
fn run(arguments: &[&str]) -> Option<Said> {
    compiler::required()?;
    let bench = Bench::new();
    let mut command = bench.command(arguments);
    if let Some(python) = std::env::var_os("LIGHTBENCH_PYTHON") {
        command.env("LIGHTBENCH_PYTHON", python);
    }
    let said = Said::from(command.output().unwrap());
    let all = format!("{}{}", said.output, said.errors);
    if all.contains("Triton kernels need Python with Triton") {
        crate::skip::skip(
            "no Triton (`LIGHTBENCH_PYTHON` names an interpreter that has it)",
            "LIGHTBENCH_REQUIRE_TRITON",
        );
        return None;
    }
    Some(said)
}

#[test]
fn every_lesson_can_be_solved_and_is_not_solved_yet() {
    for name in LESSONS {
        let Some(said) = run(&["lesson", &folder(name), "--json"]) else { return };
        let document = said.json();
        let proofs = document["proofs"].as_array().unwrap();
        // Its steps are about predictions.
        assert!(!proofs.is_empty() || name == "roofline", "{name}");
        for proof in proofs {
            assert_eq!(proof["sound"], true, "{name}: {proof:#}");
        }
        assert_eq!(said.status, 0, "{name}");
    }
}

#[test]
fn every_kernel_that_must_be_rejected_is() {
    for name in LESSONS {
        let folder = folder(name);
        let wrong = std::fs::read_dir(format!("{folder}/wrong")).unwrap();
        for path in wrong.map(|entry| entry.unwrap().path()) {
            let kernel = path.file_stem().unwrap().to_str().unwrap();
            let arguments = ["run", &folder, "--kernel", kernel, "--json", "--no-history"];
            let arguments = [&arguments[..], &["--device", "virtual:h200"]].concat();
            let Some(said) = run(&arguments) else { return };
            let document = said.json();
            let verdict = document["verdict"].as_str().unwrap();
            let kind = document[verdict]["kind"].as_str().unwrap_or_default();
            let text = std::fs::read_to_string(&path).unwrap();
            let expected = format!("expect: {verdict}({kind}),");
            assert!(text.contains(&expected), "{name}/{kernel}: {expected}");
        }
    }
}

#[test]
fn a_lesson_that_is_solved_already_is_not_sound() {
    let Some(_) = compiler::required() else { return };
    let bench = Bench::new();
    let copy = bench.path().join("solved");
    for part in ["", "kernels", "steps"] {
        std::fs::create_dir_all(copy.join(part)).unwrap();
        let from = repository().join("sample-projects/lessons/coalescing").join(part);
        for entry in std::fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
            if entry.path().is_file() {
                std::fs::copy(entry.path(), copy.join(part).join(entry.file_name())).unwrap();
            }
        }
    }
    let solution = std::fs::read_to_string(copy.join("kernels/side-by-side.cu")).unwrap();
    std::fs::write(copy.join("kernels/start.cu"), solution).unwrap();
    bench.run(&["lesson", copy.to_str().unwrap()]).expect(1, &["NOT SOUND"]);
    std::fs::write(copy.join("lesson.ron"), "(schema: 1)").unwrap();
    bench.run(&["lesson", copy.to_str().unwrap()]).expect(2, &["lesson.ron:1"]);
    let plain = repository().join("sample-projects/vector-add");
    bench.run(&["lesson", plain.to_str().unwrap()]).expect(2, &["has no lesson.ron"]);
}

#[test]
fn submissions_are_graded_by_the_goals_that_they_reach() {
    let Some(_) = compiler::required() else { return };
    let bench = Bench::new();
    let lesson = folder("coalescing");
    let read = |name: &str| std::fs::read_to_string(format!("{lesson}/kernels/{name}.cu")).unwrap();
    let submissions = bench.path().join("submissions");
    let submit = |path: &str, text: &str| {
        let path = submissions.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let grade = || bench.run(&["lesson", &lesson, "--grade", submissions.to_str().unwrap()]);
    submit("notes.txt", "");
    grade().expect(2, &["has no submissions: files or folders like kernels/start.cu"]);
    submit("ada/kernels/start.cu", &read("vectors"));
    submit("bob.cu", &read("start"));
    submit("cyd/mine.cu", &read("side-by-side").replace("factor * x[i]", "x[i]"));
    submit("dan.cu", &read("vectors").replace("per_thread = 32;", "per_thread = 64;"));
    submit("eve/one.cu", "");
    submit("eve/two.cu", "");
    submit("fay.cu", &read("start").replace("block: [256]", "block: [0]"));
    std::os::unix::fs::symlink(submissions.join("ada"), submissions.join("gus")).unwrap();
    let graded = grade();
    graded.expect(
        0,
        &[
            "✓ ada: passed, step 3 of 3 reached",
            "✗ bob: passed, no step reached",
            "step 2: a load by a warp touches no more than 5 sectors of 32 bytes: 32 (counted)",
            "✗ cyd: wrong, no step reached\n    step 2: the kernel passes verification: wrong (verified)",
            "✗ dan: not run: its locked lines differ from those of kernels/start.cu",
            "✗ eve: not run: neither kernels/start.cu nor exactly one .cu file",
            "✗ fay: not run: kernels/start.cu:",
        ],
    );
    assert!(!graded.everything().contains("gus"), "links lead to the work of others");
}

#[test]
fn accesses_are_those_that_the_lessons_are_about() {
    let check = |arguments: &[&str], expected: &str| {
        let (name, rest) = arguments.split_first().unwrap();
        let folder = folder(name);
        let Some(said) = run(&[&["access", folder.as_str(), "--json"], rest].concat()) else {
            return;
        };
        let document = said.json();
        let told: Vec<&Value> =
            document["accesses"].as_array().unwrap().iter().map(|each| &each["sentence"]).collect();
        assert!(told.iter().any(|told| told.as_str().unwrap().contains(expected)), "{told:?}");
    };
    check(&["coalescing", "--kernel", "start", "--line", "19"], "32 sectors, the minimum is 4");
    check(&["coalescing", "--kernel", "side-by-side", "--line", "19"], "4 sectors, the minimum");
    check(&["banks", "--kernel", "start", "--line", "31"], "a 32-way bank conflict");
    check(&["banks", "--kernel", "padded", "--line", "31", "--warp", "3"], "no bank conflict");
    let Some(said) = run(&["access", &folder("banks"), "--kernel", "start"]) else { return };
    said.expect(0, &["load of shared memory", "tile[place(r, c)]"]);
    let Some(said) = run(&["access", &folder("banks"), "--line", "1"]) else { return };
    said.expect(2, &["line 1 accesses no memory"]);
    let Some(said) = run(&["access", &folder("banks"), "--block", "999"]) else { return };
    said.expect(2, &["no launch has a warp 0"]);
}
