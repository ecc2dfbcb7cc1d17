//! Processes that append: killed at any moment, several at once, and on a disk that fills.
//!
//! The process that appends is this test binary itself, asked for one ignored test.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use lightbench_core::history::query::{Filter, Order};
use lightbench_core::history::text::Texts;
use lightbench_core::history::{HistoryError, IntegrityCheck, RunRecord};

use super::{opened, record};

const FOLDER: &str = "LIGHTBENCH_TEST_FOLDER";
const LIMIT: &str = "LIGHTBENCH_TEST_LIMIT";
const APPENDED: &str = "appended ";
const INTACT: &str = "intact after ";

/// What the processes below run; alone it does nothing.
#[test]
#[ignore = "a part of other tests"]
fn appends_and_reports() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let limit: u64 = std::env::var(LIMIT).unwrap().parse().unwrap();
    let mut store = opened(Path::new(&folder), IntegrityCheck::None).store;
    for _ in 0..limit {
        let (record, texts) = fresh();
        store.append(&record, &texts).unwrap();
        println!("{APPENDED}{}", record.id);
    }
}

/// Fills the disk that the folder is on, looks at what is left, makes room, and goes on.
#[test]
#[ignore = "a part of another test"]
fn fills_the_disk() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let folder = Path::new(&folder);
    let ballast = folder.join("ballast");
    std::fs::write(&ballast, vec![0x5a; 256 << 10]).unwrap();
    let mut store = opened(folder, IntegrityCheck::None).store;
    let mut kept = Vec::new();
    let full = loop {
        let (record, texts) = fresh();
        match store.append(&record, &texts) {
            Ok(number) => kept.push((number, record)),
            Err(error) => break error,
        }
    };
    assert!(matches!(full, HistoryError::Full { .. }), "{full:?}");
    assert!(full.to_string().contains("no space is left"), "{full}");
    for (number, record) in &kept {
        assert_eq!(store.run(*number).unwrap().unwrap().record, *record, "in the same process");
    }
    drop(store);
    std::fs::remove_file(ballast).unwrap();
    let opened = opened(folder, IntegrityCheck::Damage);
    assert_eq!(opened.notices, []);
    let mut store = opened.store;
    assert_eq!(store.count().unwrap(), kept.len() as u64);
    for (number, record) in &kept {
        assert_eq!(store.run(*number).unwrap().unwrap().record, *record);
    }
    let (record, texts) = fresh();
    store.append(&record, &texts).unwrap();
    println!("{INTACT}{}", kept.len());
}

/// A run with a text of its own, of any length.
fn fresh() -> (RunRecord, Texts) {
    let random = getrandom::u64().unwrap();
    let mut document = record(random);
    let mut texts = Texts::default();
    let length = usize::try_from(random % 20_000).unwrap();
    let text = texts.add(format!("{random:016x}").repeat(1 + length / 16).into_bytes());
    document["sources"] = serde_json::json!([{ "file": "kernels/vector16.cu", "text": text }]);
    (serde_json::from_value(document).unwrap(), texts)
}

fn start(test: &str, folder: &Path, limit: u64) -> Child {
    this_binary(test, folder, limit, Command::new(std::env::current_exe().unwrap()))
        .spawn()
        .unwrap()
}

fn this_binary(test: &str, folder: &Path, limit: u64, mut command: Command) -> Command {
    command
        .args(["--exact", &format!("history::processes::{test}"), "--ignored", "--nocapture"])
        .env(FOLDER, folder)
        .env(LIMIT, limit.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// The names of all runs that a process reported until its end. A last line without an end was not reported.
fn reported(child: &mut Child) -> Vec<String> {
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut names = Vec::new();
    let mut line = String::new();
    while output.read_line(&mut line).unwrap() > 0 {
        // The harness writes the name of the test before the first line.
        if let (Some((_, name)), true) = (line.split_once(APPENDED), line.ends_with('\n')) {
            names.push(name.trim_end().to_owned());
        }
        line.clear();
    }
    names
}

/// Everything that a history holds, all of it readable.
fn held(folder: &Path) -> BTreeSet<String> {
    let opened = opened(folder, IntegrityCheck::Damage);
    assert_eq!(opened.notices, [], "nothing was damaged");
    let listing = opened.store.newest(&Filter::default(), Order::Newest, usize::MAX).unwrap();
    assert_eq!(listing.damaged, []);
    for run in &listing.runs {
        for text in run.record.texts() {
            assert!(opened.store.text(&text).unwrap().is_some(), "the text of run {}", run.number);
        }
    }
    listing.runs.iter().map(|run| run.record.id.to_string()).collect()
}

/// Kills a process that appends, again and again, at moments that nobody knows beforehand.
fn check_kills(kills: usize) {
    let folder = tempfile::tempdir().unwrap();
    let mut known = BTreeSet::new();
    let mut appended = 0;
    for _ in 0..kills {
        let mut child = start("appends_and_reports", folder.path(), u64::MAX);
        let moment = getrandom::u64().unwrap() % 80_000;
        std::thread::sleep(Duration::from_micros(moment));
        child.kill().unwrap();
        let names = reported(&mut child);
        child.wait().unwrap();
        appended += names.len();
        known.extend(names);
        let held = held(folder.path());
        let lost: Vec<_> = known.difference(&held).collect();
        assert!(lost.is_empty(), "reported and lost: {lost:?}");
        // One may be there that its process had no time to report.
        assert!(held.len() <= known.len() + 1, "{} runs, {} reported", held.len(), known.len());
        known.extend(held);
    }
    println!("{kills} kills, {appended} runs reported, {} held", known.len());
    assert!(appended > kills, "the processes lived long enough to append: {appended}");
}

#[test]
fn no_kill_loses_what_was_reported() {
    check_kills(10);
}

/// `cargo test -p lightbench --test it two_hundred_kills -- --ignored --nocapture`
#[test]
#[ignore = "half a minute"]
fn two_hundred_kills_lose_nothing_that_was_reported() {
    check_kills(200);
}

#[test]
fn processes_append_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let mut children: Vec<Child> =
        (0..4).map(|_| start("appends_and_reports", folder.path(), 50)).collect();
    let names: BTreeSet<String> = children.iter_mut().flat_map(reported).collect();
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(names.len(), 4 * 50);
    assert_eq!(held(folder.path()), names);
}

/// A disk of its own, in a name space of its own, where the system lets us have one.
#[test]
fn a_disk_that_fills_keeps_what_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let mut shell = Command::new("unshare");
    shell.args(["--user", "--map-root-user", "--mount", "sh", "-c"]);
    shell
        .arg("mount -t tmpfs -o size=2m tmpfs \"$LIGHTBENCH_TEST_FOLDER\" || exit 77; exec \"$@\"");
    shell.arg("sh").arg(std::env::current_exe().unwrap());
    let mut command = this_binary("fills_the_disk", folder.path(), 0, shell);
    let output = match command.stderr(Stdio::piped()).output() {
        Ok(output) if output.status.code() != Some(77) && output.status.code() != Some(1) => output,
        Ok(output) => {
            println!("skipped: no disk of its own: {}", String::from_utf8_lossy(&output.stderr));
            return;
        }
        Err(error) => {
            println!("skipped: {error}");
            return;
        }
    };
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let kept = said.split_once(INTACT).and_then(|(_, count)| count.lines().next()).unwrap();
    assert!(kept.trim().parse::<u64>().unwrap() > 10, "{kept} runs fit");
}
