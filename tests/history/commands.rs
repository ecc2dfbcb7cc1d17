//! `lightbench history`, `export` and `import`, and what `run` leaves for them.

use std::fs;

use lightbench_core::history::text::Texts;
use lightbench_core::history::{IntegrityCheck, RunRecord};

use super::record;
use crate::compiler;
use crate::program::{Bench, Said};

/// A bench whose project has runs of its own machine in its history.
fn filled(runs: u64) -> Bench {
    let bench = Bench::new();
    let mut store = opened_project(&bench);
    for id in 1..=runs {
        let record: RunRecord = serde_json::from_value(record(id)).unwrap();
        store.append(&record, &Texts::default()).unwrap();
    }
    bench
}

/// The history of the project as the program's own machine has it.
fn opened_project(bench: &Bench) -> lightbench_core::history::Store {
    use lightbench_core::history::{location::HistoryLocation, machine::Machine, open};
    let machine = Machine::open(&bench.path().join(".local/state/lightbench")).unwrap();
    let place = HistoryLocation::for_writing(&bench.project(), None).unwrap();
    open(&place, &machine, IntegrityCheck::None).unwrap().store
}

const RUN: &[&str] = &["run", "scale", "--kernel", "naive", "--device", "virtual:h200"];

fn history(bench: &Bench) -> serde_json::Value {
    bench.run(&["history", "scale", "--json"]).json()
}

#[test]
fn a_project_without_runs_is_not_changed_by_looking() {
    let bench = Bench::new();
    let before = bench.listing();
    bench.run(&["history", "scale"]).expect(0, &["no runs yet"]);
    bench.run(&["export", "scale"]).expect(0, &[]);
    assert_eq!(history(&bench)["runs"].as_array().unwrap().len(), 0);
    assert_eq!(bench.listing(), before);
}

#[test]
fn runs_are_kept_with_what_they_came_from() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    bench.run(RUN).expect(0, &["is correct"]);
    bench.edit("kernels/naive.cu", "{", "{ // edited");
    bench.run(RUN).expect(0, &["is correct"]);
    bench.edit("kernels/naive.cu", "// edited", "no such thing;");
    bench.run(RUN).expect(1, &["does not compile"]);
    let document = history(&bench);
    let runs = document["runs"].as_array().unwrap();
    let verdicts: Vec<_> = runs.iter().map(|run| &run["record"]["outcome"]["verdict"]).collect();
    assert_eq!(verdicts, ["failed", "passed", "passed"]);
    assert!(runs.iter().all(|run| run["provenance"] == "own"));
    assert_eq!(runs[1]["record"]["parent"], runs[2]["record"]["candidate"]);
    assert_ne!(runs[1]["record"]["candidate"], runs[2]["record"]["candidate"]);
    assert_eq!(runs[0]["record"]["outcome"]["word"], "compile");
    assert!(!document.to_string().contains("hidden"), "held-out workloads are not in it");
    bench.run(&["history", "scale", "--verdict", "compile"]).expect(0, &["naive", "compile"]);
    let csv = bench.run(&["history", "scale", "--csv"]);
    assert_eq!(csv.output.lines().count(), 4, "{}", csv.output);
    assert!(bench.project().join(".lightbench/.gitignore").is_file());
}

#[test]
fn a_run_is_compared_as_it_was() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    bench.run(RUN).expect(0, &["is correct"]);
    // The file is something else by now; the run is not.
    bench.edit("kernels/naive.cu", "{", "{ no such thing;");
    let compared = |a, b| {
        let device = ["--device", "virtual:h200", "--json"];
        bench.run(&[&["compare", "scale", a, b], device.as_slice()].concat())
    };
    let document = compared("1", "1").json();
    let [a, b] = document["sides"].as_array().unwrap().as_slice() else { panic!("{document}") };
    assert_eq!((&a["run"], &a["verdict"]), (&1.into(), &"passed".into()), "{document}");
    assert_eq!(a["candidate"], b["candidate"]);
    assert_eq!(a["not_as_when_it_ran"], serde_json::json!([]));
    compared("1", "naive").expect(1, &["does not compile"]);
    compared("2", "1").expect(2, &["no run has the number 2"]);
}

#[test]
fn no_history_leaves_nothing() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let before = bench.listing();
    let arguments: Vec<_> = RUN.iter().copied().chain(["--no-history"]).collect();
    bench.run(&arguments).expect(0, &["is correct"]);
    assert_eq!(bench.listing(), before);
}

#[test]
fn a_history_that_is_none_is_set_aside_by_the_next_run() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    bench.write(".lightbench/history.db", "not a database at all\n".repeat(400));
    bench.run(RUN).expect(0, &["is correct", "set aside", "history-aside-2"]);
    let again = bench.run(RUN);
    again.expect(0, &["is correct"]);
    assert!(!again.everything().contains("aside"), "said once: {}", again.everything());
    assert_eq!(history(&bench)["count"], 2);
}

#[test]
fn a_newer_history_is_refused_and_does_not_stop_a_run() {
    let bench = filled(1);
    let path = bench.project().join(".lightbench/history.db");
    let file = rusqlite::Connection::open(&path).unwrap();
    // A higher number alone would be a damaged one.
    file.execute_batch("CREATE TABLE later (id INTEGER PRIMARY KEY); PRAGMA user_version = 9;")
        .unwrap();
    file.close().unwrap();
    let bytes = fs::read(&path).unwrap();
    bench.run(&["history", "scale"]).expect(3, &["schema 9", "newer version"]);
    if compiler::required().is_some() {
        bench.run(RUN).expect(0, &["is correct", "not added to the history", "newer version"]);
    }
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn what_came_with_a_project_is_recorded() {
    let bench = filled(2);
    let own = |bench: &Bench| -> Vec<_> {
        let document = history(bench);
        let runs = document["runs"].as_array().unwrap();
        runs.iter().map(|run| (run["provenance"].clone(), run["best"].clone())).collect()
    };
    assert_eq!(own(&bench), [("own".into(), false.into()), ("own".into(), true.into())]);
    let state = bench.path().join(".local/state/lightbench");
    fs::rename(&state, bench.path().join("elsewhere")).unwrap();
    let said = bench.run(&["history", "scale"]);
    said.expect(0, &["recorded", "another machine"]);
    assert_eq!(own(&bench), [("recorded".into(), false.into()), ("recorded".into(), false.into())]);
    bench.run(&["history", "scale", "--choose-baseline", "1"]).expect(2, &["cannot be a baseline"]);
}

#[test]
fn a_baseline_is_chosen_among_runs_of_this_machine() {
    let bench = filled(2);
    bench.run(&["history", "scale", "--choose-baseline", "2"]).expect(0, &["baseline"]);
    assert_eq!(history(&bench)["runs"][0]["baseline"], true);
    bench.run(&["history", "scale", "--choose-baseline", "9"]).expect(2, &["number 9"]);
}

#[test]
fn traces_go_out_and_come_in_as_recorded_runs() {
    let (from, to) = (filled(3), Bench::new());
    let file = to.path().join("traces.jsonl");
    let path = file.to_str().unwrap();
    from.run(&["export", "scale", "--output", path])
        .expect(0, &["3 traces of 3 runs", "without being timed"]);
    to.run(&["import", path, "scale"]).expect(0, &["3 recorded runs are new"]);
    to.run(&["import", path, "scale"]).expect(0, &["0 recorded runs", "3 were already there"]);
    let document = history(&to);
    assert_eq!(document["count"], 3);
    assert!(
        document["runs"]
            .as_array()
            .unwrap()
            .iter()
            .all(|run| run["provenance"] == "recorded" && run["best"] == false)
    );
    let again = to.run(&["export", "scale"]);
    // Errors in a measure of our own are lost, as docs/traces.md says; nothing more is.
    let ours = "{\"extra\":{\"lightbench.worst_error_of_accepted\":0.125}}";
    let first = fs::read_to_string(&file).unwrap();
    assert!(first.contains(ours), "{first}");
    assert_eq!(again.output, first.replace(ours, "{}"));
}

#[test]
fn a_report_is_one_page_in_either_form() {
    let bench = filled(3);
    let page = bench.run(&["report", "scale", "--html"]);
    page.expect(
        0,
        &["<!doctype html>", "default-src 'none'", "vector16", "NVIDIA H200", "<svg", "131 µs"],
    );
    let tables = bench.run(&["report", "scale", "--markdown"]);
    tables.expect(0, &["| kernel |", "| vector16 | passed |", "131 µs"]);
    let file = bench.path().join("report.html");
    let path = file.to_str().unwrap();
    bench
        .run(&["report", "scale", "--html", "--output", path])
        .expect(0, &["the report of 3 runs in"]);
    assert!(fs::read_to_string(file).unwrap().starts_with("<!doctype html>"));
    Bench::new().run(&["report", "scale", "--html"]).expect(0, &["No runs"]);
    bench.run(&["report", "scale"]).expect(2, &["--html"]);
}

#[test]
fn requests_that_cannot_be_met_are_refused() {
    let check = |arguments: &[&str], status: i32, says: &str| {
        let bench = Bench::new();
        bench.write("traces.jsonl", "{}\n");
        let before = bench.listing();
        let said: Said = bench.run(arguments);
        said.expect(status, &[says]);
        assert_eq!(bench.listing(), before, "{arguments:?}");
    };
    check(&["history", "nowhere"], 2, "is not a project");
    check(&["history", "scale", "--verdict", "great"], 2, "expected one of passed, compile");
    check(&["history", "scale", "--json", "--csv"], 2, "cannot be used with");
    check(&["history", "scale", "--choose-baseline", "1"], 2, "number 1");
    check(&["import", "scale/traces.jsonl", "scale"], 2, "line 1: missing field `definition`");
    check(&["import", "scale/none.jsonl", "scale"], 2, "cannot read");
    check(&["import", "scale", "scale"], 2, "not a regular file");
    check(&["export", "scale", "--output", "no/such/folder"], 3, "cannot write");
}
