//! Every file that a command reads, damaged: the command answers, and works again with the file as it was.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::compiler;
use crate::program::Bench;

/// What is done to a file.
type Damage = (&'static str, fn(&[u8]) -> Vec<u8>);

const DAMAGES: [Damage; 9] = [
    ("empty", |_| Vec::new()),
    ("the first half", |whole| whole[..whole.len() / 2].to_vec()),
    ("a flipped bit in the middle", |whole| flipped(whole, whole.len() / 2)),
    ("a flipped bit near the end", |whole| flipped(whole, whole.len() * 9 / 10)),
    ("zeros", |whole| vec![0; whole.len()]),
    ("no UTF-8", |whole| [whole, &[0xff, 0xfe, 0x80]].concat()),
    ("nested parentheses", |_| b"(".repeat(1 << 17)),
    ("nested arrays", |_| b"[".repeat(1 << 17)),
    ("nested objects", |_| b"{\"a\":".repeat(1 << 15)),
];

fn flipped(whole: &[u8], at: usize) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 0x10;
    }
    bytes
}

/// Runs a command with each damage to the file, and with a folder in its place. The arguments may differ from those that
/// made the file.
fn check(bench: &Bench, file: &Path, arguments: &[&str]) {
    let whole = fs::read(file).unwrap();
    let ask = |what: &str| {
        let began = Instant::now();
        let said = bench.run(arguments);
        let place = format!("{arguments:?} with {}: {what}", file.display());
        let everything = said.everything();
        assert!((0..=3).contains(&said.status), "{place}: {}\n{everything}", said.status);
        assert!(!everything.contains("panicked"), "{place}\n{everything}");
        assert!(began.elapsed() < Duration::from_secs(60), "{place}: {:?}", began.elapsed());
        said.status
    };
    assert!(ask("whole") <= 1);
    for (what, damage) in DAMAGES {
        fs::write(file, damage(&whole)).unwrap();
        ask(what);
    }
    fs::remove_file(file).unwrap();
    fs::create_dir(file).unwrap();
    ask("a folder");
    fs::remove_dir_all(file).unwrap();
    fs::write(file, &whole).unwrap();
    assert!(ask("restored") <= 1, "{} stays unusable", file.display());
}

#[test]
fn a_damaged_project_is_answered() {
    let Some(_) = compiler::required() else { return };
    let bench = Bench::new();
    for file in ["project.ron", "reference.cu", "kernels/naive.cu"] {
        check(&bench, &bench.project().join(file), &["check", "scale"]);
    }
}

#[test]
fn damaged_settings_are_answered() {
    let Some(_) = compiler::required() else { return };
    let bench = Bench::new();
    let state = bench.path().join(".local/state/lightbench");
    bench.run(&["models", "add", "ollama", "--model", "m", "--no-check"]).expect(0, &[]);
    check(&bench, &state.join("settings.ron"), &["models"]);
    let search = ["search", "scale", "--kernel", "naive", "--device", "virtual:h200"];
    let search = [&search[..], &["--budget", "2", "--seed", "1"]].concat();
    bench.run(&search).expect(0, &[]);
    check(&bench, &state.join("knowledge.ron"), &search);
    check(&bench, &state.join("history.key"), &["history", "scale"]);
}

#[test]
fn damaged_journals_are_answered() {
    let Some(_) = compiler::required() else { return };
    let bench = Bench::new();
    let on = ["--device", "virtual:h200", "--seed", "1"];
    bench.run(&[&["search", "scale", "--kernel", "naive", "--budget", "2"], &on[..]].concat());
    let searches = bench.project().join(".lightbench/searches");
    let journal = fs::read_dir(searches).unwrap().next().unwrap().unwrap().path();
    check(&bench, &journal, &["search", "scale", "--resume", "last"]);
    check(&bench, &journal, &["search", "scale", "--replay", "last"]);

    let attack = ["audit", "scale", "--attack", "--budget", "2", "--journal", "attack.jsonl"];
    let attack = [&attack[..], &on].concat();
    bench.run(&attack).expect(0, &[]);
    check(&bench, &bench.path().join("attack.jsonl"), &attack);

    let kernel = fs::read_to_string(bench.project().join("kernels/naive.cu")).unwrap();
    let candidate = json!({ "id": "a", "kernel": kernel });
    fs::write(bench.path().join("candidates.jsonl"), format!("{candidate}\n")).unwrap();
    let eval = ["eval", "--jsonl", "candidates.jsonl", "--project", "scale"];
    let eval = [&eval[..], &["--device", "virtual:h200", "--resume", "verdicts.jsonl"]].concat();
    bench.run(&eval).expect(0, &[]);
    check(&bench, &bench.path().join("verdicts.jsonl"), &eval);
    check(&bench, &bench.path().join("candidates.jsonl"), &eval);
}

#[test]
fn damaged_files_to_import_are_answered() {
    let Some(_) = compiler::required() else { return };
    let bench = Bench::new();
    let run = ["run", "scale", "--kernel", "naive", "--device", "virtual:h200"];
    bench.edit("kernels/naive.cu", "alpha * x[i]", "alpha + x[i]");
    bench.run(&run).expect(1, &[]);
    bench.run(&["export", "scale", "--output", "given.jsonl"]).expect(0, &[]);
    check(&bench, &bench.path().join("given.jsonl"), &["import", "given.jsonl", "scale"]);
    check(&bench, &bench.project().join(".lightbench/history.db"), &["history", "scale"]);
}
