//! Fetching with a pip that is a shell script: what is trusted, and what is left behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::*;
use crate::{LockError, ReceiptProblem, discover, tests as trees};

/// Answers `--version`; else finds the folder after `--target` and runs the given lines in it.
fn machine(install: &str) -> TempDir {
    let root = trees::tree(&["elf"]);
    let script = format!(
        "#!/bin/sh\n\
         case \"$*\" in *--version*) echo 'pip 99'; exit 0;; esac\n\
         while [ \"$1\" != --target ]; do shift; done\n\
         cd \"$2\" || exit 9\n\
         ROOT={root}; ELF={root}/elf\n\
         echo run >> $ROOT/runs\n\
         {install}\n",
        root = root.path().display()
    );
    fs::create_dir_all(root.path().join("path")).unwrap();
    fs::write(root.path().join("script"), script).unwrap();
    // Copied by a child: a program that this process has open for writing while another test
    // starts a child could not be started ("text file busy").
    let copy = std::process::Command::new("sh")
        .args(["-c", "cp script path/python3 && chmod +x path/python3"])
        .current_dir(root.path())
        .status();
    assert!(copy.unwrap().success());
    root
}

const WHOLE: &str = "
    mkdir -p nvidia/cu13/lib nvidia/cu13/bin nvidia_cuda_nvrtc-13.5.37.dist-info
    cp $ELF nvidia/cu13/lib/libnvrtc.so.13; printf 'half\\033[31m way\\n'; sleep 0.3
    cp $ELF nvidia/cu13/lib/libnvrtc-builtins.so.13.5
    cp $ELF nvidia/cu13/bin/nvdisasm; cp $ELF nvidia/cu13/bin/cuobjdump";

const NEVER_ENDS: &str = "
    mkdir -p nvidia/cu13/lib; cp $ELF nvidia/cu13/lib/libnvrtc.so.13
    while true; do echo tick >> $ROOT/ticks; sleep 0.05; done &
    echo started; wait";

fn fetch_on(
    root: &Path,
    limit: Duration,
    cancelled: &dyn Fn() -> bool,
) -> (Result<PathBuf, FetchError>, Vec<FetchEvent>) {
    let mut events = Vec::new();
    let request = FetchRequest { set: PinnedSet::Compiler13, limit };
    let result =
        fetch(&trees::surroundings(root), request, cancelled, &mut |event| events.push(event));
    (result, events)
}

const LONG: Duration = Duration::from_secs(30);

fn in_cache(root: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(root.join("cache/toolchain")) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_fetch_is_found_afterwards_and_not_repeated() {
    let root = machine(WHOLE);
    let leftover = root.path().join("cache/toolchain/.partial-old/packages");
    fs::create_dir_all(&leftover).unwrap();
    let (folder, events) = fetch_on(root.path(), LONG, &|| false);
    let folder = folder.unwrap();
    assert!(matches!(&events[0], FetchEvent::LeftoverRemoved { .. }), "{events:?}");
    assert!(matches!(&events[1], FetchEvent::Starting { packages, .. } if packages.len() == 3));
    assert_eq!(events[2], FetchEvent::Line { text: "half[31m way".to_owned() });
    assert_eq!(events[3], FetchEvent::Installed { folder: folder.clone(), bytes: 512 });
    assert_eq!(in_cache(root.path()), [".lock", "compiler-13.5.37"]);
    let toolchain = discover(&trees::surroundings(root.path())).into_toolchain().unwrap();
    assert_eq!(toolchain.nvrtc.version.to_string(), "13.5.37");
    assert!(toolchain.nvdisasm.is_some() && toolchain.cuobjdump.is_some());
    assert_eq!(toolchain.compile_folders(), [folder.join("nvidia/cu13/lib")]);

    let (_, events) = fetch_on(root.path(), LONG, &|| false);
    assert_eq!(events, [FetchEvent::AlreadyThere { folder }]);
}

#[test]
fn a_folder_that_was_tampered_with_is_fetched_again() {
    let root = machine(WHOLE);
    let folder = fetch_on(root.path(), LONG, &|| false).0.unwrap();
    let library = folder.join("nvidia/cu13/lib/libnvrtc.so.13");
    let whole = fs::read(&library).unwrap();

    let mut other = whole.clone();
    other[100] ^= 1;
    fs::write(&library, other).unwrap();
    let receipt = Receipt::trusted(&folder).unwrap();
    let problem = receipt.check_contents(&folder).unwrap_err();
    assert!(matches!(problem, ReceiptProblem::FileContents { .. }), "{problem}");

    fs::write(&library, &whole[..100]).unwrap();
    let problem = Receipt::trusted(&folder).unwrap_err();
    assert!(matches!(problem, ReceiptProblem::FileLength { expected: 128, found: 100, .. }));
    assert!(discover(&trees::surroundings(root.path())).compiler.is_none());

    fs::remove_file(&library).unwrap();
    assert!(matches!(Receipt::trusted(&folder), Err(ReceiptProblem::FileMissing { .. })));
    fs::write(folder.join("lightbench-receipt.json"), "{}").unwrap();
    assert!(matches!(Receipt::trusted(&folder), Err(ReceiptProblem::Unreadable { .. })));

    let (again, events) = fetch_on(root.path(), LONG, &|| false);
    assert!(matches!(events.last(), Some(FetchEvent::Installed { .. })), "{events:?}");
    Receipt::trusted(&again.unwrap()).unwrap();
    assert_eq!(in_cache(root.path()), [".lock", "compiler-13.5.37"]);
}

#[test]
fn of_two_fetches_one_waits_and_finds_the_work_done() {
    let root = machine(WHOLE);
    let both: Vec<Vec<FetchEvent>> = std::thread::scope(|scope| {
        let start = || {
            let (result, events) = fetch_on(root.path(), LONG, &|| false);
            result.unwrap();
            events
        };
        let threads = [scope.spawn(start), scope.spawn(start)];
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let count = |wanted: fn(&FetchEvent) -> bool| {
        both.iter().flatten().filter(|event| wanted(event)).count()
    };
    assert_eq!(count(|event| matches!(event, FetchEvent::Installed { .. })), 1, "{both:?}");
    assert_eq!(count(|event| matches!(event, FetchEvent::WaitingForAnother)), 1, "{both:?}");
    assert_eq!(count(|event| matches!(event, FetchEvent::AlreadyThere { .. })), 1, "{both:?}");
    assert_eq!(fs::read_to_string(root.path().join("runs")).unwrap(), "run\n");
}

#[test]
fn a_cancelled_fetch_ends_at_once_with_all_it_started() {
    let root = machine(NEVER_ENDS);
    let begin = Instant::now();
    let started = AtomicBool::new(false);
    let request = FetchRequest { set: PinnedSet::Compiler13, limit: LONG };
    let result = fetch(
        &trees::surroundings(root.path()),
        request,
        &|| started.load(Ordering::Relaxed),
        &mut |event| {
            let is_output = matches!(event, FetchEvent::Line { text } if text == "started");
            started.fetch_or(is_output, Ordering::Relaxed);
        },
    );
    assert!(matches!(result, Err(FetchError::Cancelled)), "{result:?}");
    assert!(begin.elapsed() < Duration::from_secs(20), "pip is not waited for");
    let ticks = || fs::metadata(root.path().join("ticks")).unwrap().len();
    let before = ticks();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(ticks(), before, "what pip had started is gone too");
    assert_eq!(in_cache(root.path()), [".lock"]);
}

#[test]
fn a_fetch_that_takes_too_long_is_stopped() {
    let root = machine(NEVER_ENDS);
    let (result, _) = fetch_on(root.path(), Duration::from_secs(1), &|| false);
    assert!(matches!(result, Err(FetchError::TimedOut { .. })), "{result:?}");
    assert_eq!(in_cache(root.path()), [".lock"]);
}

fn check_error(install: &str, expected: &[&str]) {
    let root = machine(install);
    let (result, _) = fetch_on(root.path(), LONG, &|| false);
    let message = result.unwrap_err().to_string();
    for part in expected {
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(in_cache(root.path()), [".lock"]);
}

#[test]
fn what_pip_says_reaches_the_user_and_nothing_stays() {
    check_error("echo 'no matching distribution' >&2; exit 1", &["python3 -m pip", "no matching"]);
    check_error("mkdir -p nvidia/cu13/lib", &["nvidia-cuda-nvrtc 13.5.37", "package index"]);
    check_error(&format!("{WHOLE}\n rm nvidia/cu13/bin/nvdisasm"), &["nvidia-cuda-nvdisasm"]);
}

#[test]
fn without_pip_or_a_cache_the_error_says_what_to_do() {
    let root = tempfile::tempdir().unwrap();
    let (result, _) = fetch_on(root.path(), LONG, &|| false);
    let message = result.unwrap_err().to_string();
    assert!(message.contains("no python3, python, pip3 or pip on PATH"), "{message}");
    assert!(message.contains("python3-pip") || message.contains("python.org"), "{message}");

    fs::write(root.path().join("file"), "").unwrap();
    let mut surroundings = trees::surroundings(root.path());
    let request = FetchRequest { set: PinnedSet::Compiler13, limit: LONG };
    for (cache, expected) in
        [(Some(root.path().join("file/cache")), "cannot write"), (None, "no cache folder")]
    {
        surroundings.cache = cache;
        let error = fetch(&surroundings, request, &|| false, &mut |_| {}).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("LIGHTBENCH_CACHE"), "{error}");
    }
}

#[test]
fn an_orphan_of_a_killed_fetch_keeps_the_lock() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join(".lock");
    let lock = Lock::acquire(&path, LONG, &|| false, &mut || {}).unwrap();
    let mut orphan = std::process::Command::new("sleep")
        .arg("60")
        .stdin(lock.shared_as_input().unwrap())
        .spawn()
        .unwrap();
    drop(lock);
    let second = Lock::acquire(&path, Duration::from_millis(200), &|| false, &mut || {});
    assert!(matches!(second, Err(LockError::Held { .. })), "{second:?}");
    orphan.kill().unwrap();
    orphan.wait().unwrap();
    Lock::acquire(&path, LONG, &|| false, &mut || {}).unwrap();
}
