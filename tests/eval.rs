//! Streams of candidates, from lines to verdicts.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::compiler;
use crate::program::{Bench, Said, repository};

const PATIENCE: Duration = Duration::from_secs(120);

const NAIVE: &str = include_str!("data/scale/kernels/naive.cu");

/// A candidate of the project `scale`.
fn line(id: &str, kernel: &str) -> Value {
    json!({ "id": id, "project": "scale", "kernel": kernel })
}

/// The naive kernel with a change.
fn changed(old: &str, new: &str) -> String {
    assert!(NAIVE.contains(old), "{old}");
    NAIVE.replace(old, new)
}

/// A correct kernel whose text no other one has.
fn distinct(number: usize) -> String {
    format!("{NAIVE}// {number}\n")
}

fn write(bench: &Bench, lines: &[String]) -> PathBuf {
    let path = bench.path().join("candidates.jsonl");
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    path
}

fn eval(bench: &Bench, rest: &[&str]) -> Said {
    let arguments = ["eval", "--jsonl", "candidates.jsonl", "--device", "virtual:h200"];
    bench.run(&[&arguments[..], rest].concat())
}

/// The documents of an output.
fn documents(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The outcome of each identifier; lines without one are called after their number.
fn outcomes(text: &str) -> BTreeMap<String, String> {
    let mut outcomes = BTreeMap::new();
    for document in documents(text) {
        assert_eq!(document["schema"], "lightbench.eval/1");
        let id = match &document["id"] {
            Value::Null => format!("line {}", document["line"]),
            Value::String(id) => id.clone(),
            other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                other.to_string()
            }
        };
        let word = document["run"]["verdict"].as_str().unwrap_or("-");
        let outcome = format!("{} {word}", document["outcome"].as_str().unwrap());
        let earlier = outcomes.insert(id.clone(), outcome);
        assert!(earlier.is_none() || id == "twice", "{id} has two lines");
    }
    outcomes
}

#[test]
fn every_line_has_one_outcome() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let before = bench.listing();
    let candidates: &[(&str, &str, String)] = &[
        ("good", "passed passed", NAIVE.to_owned()),
        ("wrong", "failed wrong", changed("alpha * x[i]", "2.0f * x[i]")),
        ("fault", "failed fault", changed("i < count", "i <= count")),
        ("compile", "failed compile", changed("alpha * x[i]", "beta * x[i]")),
        ("no-block", "failed -", "__global__ void scale() {}\n".to_owned()),
        ("no-text", "failed -", String::new()),
        ("twice", "error -", distinct(1)),
        ("twice", "error -", distinct(2)),
    ];
    let mut lines: Vec<String> =
        candidates.iter().map(|(id, _, kernel)| line(id, kernel).to_string()).collect();
    lines.push("{\"id\": \"cut".to_owned());
    lines.push(String::new());
    lines.push(format!("{{\"id\": \"large\", \"kernel\": \"{}\"}}", "x".repeat(16 << 20)));
    lines.push(json!({ "id": 12, "project": "nowhere", "kernel": NAIVE }).to_string());
    lines.push(
        json!({ "id": "size", "project": "scale", "kernel": NAIVE, "workloads": "huge" })
            .to_string(),
    );
    lines.push(
        json!({ "id": "one", "project": "scale", "kernel": NAIVE, "workloads": ["odd"] })
            .to_string(),
    );
    write(&bench, &lines);
    let said = eval(&bench, &["--seed", "1"]);
    said.expect(2, &["3 passed, 5 failed"]);
    let mut expected: BTreeMap<String, String> = candidates
        .iter()
        .map(|(id, outcome, _)| ((*id).to_owned(), (*outcome).to_owned()))
        .collect();
    for (id, outcome) in [
        ("line 9", "error -"),
        ("line 11", "error -"),
        ("12", "error -"),
        ("size", "error -"),
        ("one", "passed passed"),
    ] {
        expected.insert(id.to_owned(), outcome.to_owned());
    }
    let found = documents(&said.output);
    assert_eq!(found.len(), candidates.len() + 5);
    let twice = found.iter().filter(|document| document["id"] == "twice");
    let twice: Vec<&str> = twice.map(|document| document["outcome"].as_str().unwrap()).collect();
    // The error comes at once, the verdict later.
    assert_eq!(twice, ["error", "passed"]);
    let found_outcomes = outcomes(&said.output);
    expected.insert("twice".to_owned(), "passed passed".to_owned());
    assert_eq!(found_outcomes, expected);
    let message = |id: &Value| {
        let document = found.iter().find(|document| document["id"] == *id);
        document.unwrap()["error"]["message"].as_str().unwrap_or_default().to_owned()
    };
    assert!(message(&json!("twice")).contains("the first is in line 7"));
    assert!(message(&json!("size")).contains("huge"));
    assert_eq!(bench.listing(), before, "nothing is written into a project");
}

#[test]
fn a_held_out_failure_is_one_bit() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let workload =
        "(name: \"secret\", purpose: held_out, axes: {\"rows\": 5, \"cols\": 11}),\n    ],\n)";
    let text = fs::read_to_string(bench.project().join("project.ron")).unwrap();
    let end = text.rfind("    ],\n)").unwrap();
    fs::write(bench.project().join("project.ron"), format!("{}        {workload}\n", &text[..end]))
        .unwrap();
    let kernel = changed("i < count", "i < count && count != 55");
    write(&bench, &[line("cheat", &kernel).to_string()]);
    let said = eval(&bench, &["--seed", "1"]);
    let document = &documents(&said.output)[0];
    assert_eq!(document["outcome"], "failed", "{document}");
    assert_eq!(document["run"]["wrong"], json!({ "kind": "held_out" }));
    assert!(!said.everything().contains("secret"), "{}", said.everything());
}

#[test]
fn a_verdict_comes_before_the_next_line() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let mut command = bench.command(&["eval", "--jsonl", "--device", "virtual:h200"]);
    let mut program =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let (mut input, output) = (program.stdin.take().unwrap(), program.stdout.take().unwrap());
    let mut output = BufReader::new(output);
    for number in 0..3 {
        let id = format!("number {number}");
        writeln!(input, "{}", line(&id, &distinct(number))).unwrap();
        input.flush().unwrap();
        let mut verdict = String::new();
        output.read_line(&mut verdict).unwrap();
        let verdict: Value = serde_json::from_str(&verdict).unwrap();
        assert_eq!((&verdict["id"], &verdict["outcome"]), (&json!(id), &json!("passed")));
        assert_eq!(verdict["run"]["kernel"], format!("number-{number}"));
    }
    drop(input);
    assert!(program.wait().unwrap().success());
}

#[test]
fn several_devices_share_a_stream() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let lines: Vec<String> =
        (0..4).map(|number| line(&number.to_string(), &distinct(number)).to_string()).collect();
    write(&bench, &lines);
    let said = eval(&bench, &["--device", "virtual:t4"]);
    said.expect(0, &["4 verdicts in", "4 passed"]);
    let mut devices: Vec<String> = documents(&said.output)
        .iter()
        .map(|document| document["run"]["device"].as_str().unwrap().to_owned())
        .collect();
    devices.sort();
    devices.dedup();
    assert_eq!(devices, ["virtual:h200", "virtual:t4"]);
    eval(&bench, &["--device", "virtual:h200"]).expect(2, &["virtual:h200 is named twice"]);
    eval(&bench, &["--device", "virtual:h900"]).expect(2, &["h900"]);
}

#[test]
fn an_evaluation_ends_at_the_limit_of_the_user() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    write(&bench, &[line("slow", &distinct(77)).to_string()]);
    let said = eval(&bench, &["--limit-secs", "0"]);
    said.expect(3, &["1 not judged"]);
    let document = &documents(&said.output)[0];
    assert_eq!(document["outcome"], "not_judged");
    assert_eq!(document["error"]["kind"], "timed_out");
}

#[test]
fn runs_are_kept_on_request() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    write(&bench, &[line("step 1", &distinct(5)).to_string()]);
    eval(&bench, &["--keep"]).expect(0, &["1 passed"]);
    bench.run(&["history", "scale"]).expect(0, &["step-1"]);
}

/// Starts a stream of candidates whose verdicts go to a file.
fn start(bench: &Bench, count: usize) -> Child {
    let lines: Vec<String> =
        (0..count).map(|number| line(&number.to_string(), &distinct(number)).to_string()).collect();
    write(bench, &lines);
    let arguments = [
        "eval",
        "--jsonl",
        "candidates.jsonl",
        "--device",
        "virtual:h200",
        "--resume",
        "out.jsonl",
    ];
    bench.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Waits until the file has a number of whole lines.
fn wait_for_lines(bench: &Bench, count: usize) {
    let deadline = Instant::now() + PATIENCE;
    let path = bench.path().join("out.jsonl");
    while fs::read_to_string(&path).unwrap_or_default().matches('\n').count() < count {
        assert!(Instant::now() < deadline, "no verdict within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_killed_stream_goes_on() {
    if compiler::required().is_none() {
        return;
    }
    const COUNT: usize = 8;
    let bench = Bench::new();
    let mut program = start(&bench, COUNT);
    wait_for_lines(&bench, 2);
    program.kill().unwrap();
    program.wait().unwrap();
    let path = bench.path().join("out.jsonl");
    let before = fs::read_to_string(&path).unwrap();
    let done = before.matches('\n').count();
    assert!(done < COUNT, "the program was killed too late");
    // As if the kill had cut a line off.
    fs::write(&path, before.clone() + "{\"elapsed_seconds\":0.4,\"id\":\"7").unwrap();
    let said = eval(&bench, &["--resume", "out.jsonl"]);
    said.expect(0, &[&format!("{done} skipped"), &format!("{} passed", COUNT - done)]);
    assert_eq!(said.output, "");
    let after = fs::read_to_string(&path).unwrap();
    assert!(after.starts_with(&before));
    assert_eq!(outcomes(&after).len(), COUNT);
    eval(&bench, &["--resume", "out.jsonl"]).expect(0, &[&format!("{COUNT} skipped")]);
    assert_eq!(fs::read_to_string(&path).unwrap(), after);
}

#[cfg(unix)]
#[test]
fn an_interrupted_stream_finishes_what_runs() {
    use rustix::process::{Pid, Signal, kill_process};

    if compiler::required().is_none() {
        return;
    }
    const COUNT: usize = 30;
    let bench = Bench::new();
    let mut program = start(&bench, COUNT);
    wait_for_lines(&bench, 1);
    kill_process(Pid::from_child(&program), Signal::INT).unwrap();
    assert_eq!(program.wait().unwrap().code(), Some(130));
    let text = fs::read_to_string(bench.path().join("out.jsonl")).unwrap();
    assert!(text.ends_with('\n'), "{text}");
    let outcomes = outcomes(&text);
    assert!(outcomes.len() < COUNT && outcomes.values().all(|outcome| outcome == "passed passed"));
}

#[test]
fn solutions_are_judged_again() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let folder = bench.path().join("solutions");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("good.cu"), NAIVE).unwrap();
    fs::write(folder.join("wrong.cu"), changed("alpha * x[i]", "2.0f * x[i]")).unwrap();
    fs::write(folder.join("fault.cu"), changed("i < count", "i <= count")).unwrap();
    fs::write(folder.join("notes.md"), "no kernel").unwrap();
    let arguments = ["rejudge", "solutions", "--project", "scale", "--device", "virtual:h200"];
    let said = bench.run(&arguments);
    said.expect(1, &["3 solutions", "fault.cu", "wrong.cu"]);
    assert!(!said.output.contains("good.cu"), "{}", said.output);
    let said = bench.run(&[&arguments[..], &["--json"]].concat());
    assert_eq!(outcomes(&said.output).len(), 3);
    let said = bench.run(&["rejudge", "scale/include", "--project", "scale"]);
    said.expect(0, &["has no kernel file"]);
}

#[test]
fn the_wrong_kernels_of_a_sample_project_fail_again() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let project = repository().join("sample-projects/softmax");
    let wrong = project.join("wrong");
    let count = fs::read_dir(&wrong).unwrap().count();
    let (wrong, project) = (wrong.to_string_lossy(), project.to_string_lossy());
    let arguments =
        ["rejudge", &wrong, "--project", &project, "--device", "virtual:h200", "--json"];
    let said = bench.run(&arguments);
    let outcomes = outcomes(&said.output);
    assert_eq!(outcomes.len(), count);
    for (id, outcome) in outcomes {
        assert!(outcome.starts_with("failed"), "{id}: {outcome}");
    }
}
