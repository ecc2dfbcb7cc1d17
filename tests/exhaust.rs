//! Every command that writes: killed at any moment, and without room, memory or descriptors.
//!
//! Whatever happens to the command, the run that was kept before stays, nothing is written elsewhere, and the same command
//! works afterwards.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::compiler;
use crate::program::{Bench, Said, copy_folder};

/// A command that writes.
struct Case {
    name: &'static str,
    arguments: &'static [&'static str],
    /// What it writes outside of `.lightbench` and the state folder.
    writes: Writes,
}

/// What a command leaves where the user sees it.
#[derive(Clone, Copy)]
enum Writes {
    Nothing,
    /// A folder, which a second run refuses to write again.
    Folder(&'static str),
    /// A file that ends like this; a second run replaces it.
    File(&'static str, &'static str),
    /// The same, and a second run refuses.
    NewFile(&'static str, &'static str),
    /// A file of lines, to which a second run adds what is missing.
    Lines(&'static str),
}

const RUN: Case = Case {
    name: "run",
    arguments: &["run", "scale", "--kernel", "naive", "--device", "virtual:h200"],
    writes: Writes::Nothing,
};

const NEW: Case =
    Case { name: "new", arguments: &["new", "other"], writes: Writes::Folder("other") };

const LABEL: Case = Case {
    name: "history --set-label",
    arguments: &["history", "scale", "--set-label", "1", "--words", "good"],
    writes: Writes::Nothing,
};

const SEARCH: Case = Case {
    name: "search",
    arguments: &[
        "search",
        "scale",
        "--kernel",
        "naive",
        "--device",
        "virtual:h200",
        "--budget",
        "2",
        "--seed",
        "1",
    ],
    writes: Writes::Nothing,
};

const REPORT: Case = Case {
    name: "report",
    arguments: &["report", "scale", "--html", "--output", "page.html"],
    writes: Writes::File("page.html", "</html>"),
};

const MODELS: Case = Case {
    name: "models add",
    arguments: &["models", "add", "ollama", "--model", "m", "--no-check"],
    writes: Writes::NewFile(".local/state/lightbench/settings.ron", ")"),
};

const IMPORT: Case = Case {
    name: "import",
    arguments: &["import", "given.jsonl", "scale"],
    writes: Writes::Nothing,
};

const CASES: [Case; 19] = [
    RUN,
    NEW,
    LABEL,
    SEARCH,
    REPORT,
    MODELS,
    IMPORT,
    Case { name: "check", arguments: &["check", "scale"], writes: Writes::Nothing },
    Case {
        name: "compare",
        arguments: &["compare", "scale", "naive", "tuned", "--device", "virtual:h200"],
        writes: Writes::Nothing,
    },
    Case {
        name: "sweep",
        arguments: &[
            "sweep",
            "scale",
            "--kernel",
            "tuned",
            "--device",
            "virtual:h200",
            "--budget",
            "2",
            "--seed",
            "1",
        ],
        writes: Writes::Nothing,
    },
    Case {
        name: "history --choose-baseline",
        arguments: &["history", "scale", "--choose-baseline", "1"],
        writes: Writes::Nothing,
    },
    Case {
        name: "export",
        arguments: &["export", "scale", "--output", "traces.jsonl"],
        writes: Writes::File("traces.jsonl", "}\n"),
    },
    Case {
        name: "export --as",
        arguments: &["export", "scale", "--kernel", "naive", "--as", "torch", "--into", "naive.py"],
        writes: Writes::NewFile("naive.py", ")\n"),
    },
    Case {
        name: "eval",
        arguments: &[
            "eval",
            "--jsonl",
            "candidates.jsonl",
            "--project",
            "scale",
            "--device",
            "virtual:h200",
            "--resume",
            "verdicts.jsonl",
        ],
        writes: Writes::Lines("verdicts.jsonl"),
    },
    Case {
        name: "audit --attack",
        arguments: &[
            "audit",
            "scale",
            "--attack",
            "--budget",
            "3",
            "--seed",
            "1",
            "--device",
            "virtual:h200",
            "--journal",
            "attack.jsonl",
        ],
        writes: Writes::Lines("attack.jsonl"),
    },
    Case {
        name: "suggest --write",
        arguments: &[
            "suggest", "scale", "--kernel", "naive", "--rule", "restrict", "--write", "better",
        ],
        writes: Writes::NewFile("scale/kernels/better.cu", "}\n"),
    },
    Case {
        name: "launcher",
        arguments: &["launcher", "scale", "--kernel", "naive", "--output", "home.cu"],
        writes: Writes::NewFile("home.cu", "}\n"),
    },
    Case {
        name: "tour",
        arguments: &["tour", "scale", "--device", "virtual:h200"],
        writes: Writes::Nothing,
    },
    Case {
        name: "picture",
        arguments: &["picture", "scale", "page.png"],
        writes: Writes::File("page.png", "IEND\u{ae}B`\u{82}"),
    },
];

/// A process that a signal ended.
const ABORTED: i32 = -1;

/// What a command lacks: an option of the shell's `ulimit`, and its value.
type Limit = (&'static str, u64);

/// Files of no bytes and of 4 KiB (units of 512 bytes), descriptors, and address space (units of 1 KiB).
const LIMITS: [Limit; 8] = [
    ("-f", 0),
    ("-f", 8),
    ("-f", 128),
    ("-n", 8),
    ("-n", 12),
    ("-n", 24),
    ("-v", 300_000),
    ("-v", 500_000),
];

/// A project with a run that passed, one that failed, and its trace; none without a compiler.
fn scene() -> Option<Bench> {
    static MADE: OnceLock<Option<Bench>> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        compiler::required()?;
        let bench = Bench::new();
        bench.run(RUN.arguments).expect(0, &["naive"]);
        // A trace has no place for times that are modelled, but for a failure.
        bench.edit("kernels/naive.cu", "alpha * x[i]", "alpha + x[i]");
        bench.run(RUN.arguments).expect(1, &["naive"]);
        bench.edit("kernels/naive.cu", "alpha + x[i]", "alpha * x[i]");
        bench.run(&["export", "scale", "--output", "given.jsonl"]).expect(0, &[]);
        let kernel = fs::read_to_string(bench.project().join("kernels/naive.cu")).unwrap();
        let candidate = serde_json::json!({ "id": "a", "kernel": kernel });
        fs::write(bench.path().join("candidates.jsonl"), format!("{candidate}\n")).unwrap();
        Some(bench)
    });
    let made = made.as_ref()?;
    let bench = Bench::new();
    fs::remove_dir_all(bench.project()).unwrap();
    for folder in ["scale", ".local"] {
        copy_folder(&made.path().join(folder), &bench.path().join(folder));
    }
    for file in ["given.jsonl", "candidates.jsonl"] {
        fs::copy(made.path().join(file), bench.path().join(file)).unwrap();
    }
    Some(bench)
}

/// How many runs the history has; it must open without a notice.
fn runs(bench: &Bench, what: &str) -> u64 {
    let said = bench.run(&["history", "scale", "--json"]);
    assert_eq!((said.status, said.errors.as_str()), (0, ""), "{what}");
    said.json()["count"].as_u64().unwrap()
}

/// Files of the user's, which no command changes.
fn sources(bench: &Bench) -> Vec<(std::path::PathBuf, String)> {
    let is_source = |(path, _): &(std::path::PathBuf, String)| {
        path.is_file() && !path.starts_with(bench.project().join(".lightbench"))
    };
    let (own, mut all) = (bench.temporary(), bench.listing());
    all.retain(|entry| is_source(entry) && !entry.0.starts_with(&own));
    all
}

/// What stands beside the project.
fn beside(bench: &Bench) -> BTreeSet<String> {
    let entries = fs::read_dir(bench.path()).unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

/// What must hold after a command was harmed, and that it works then.
fn check_afterwards(case: &Case, bench: &Bench, before: &Before, what: &str) {
    let began = Instant::now();
    while !bench.processes().is_empty() {
        assert!(began.elapsed() < Duration::from_secs(20), "{what}: {:?}", bench.processes());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(runs(bench, what) >= before.runs, "{what}: a run is lost");
    let mut known = before.beside.clone();
    let (path, is_whole) = match case.writes {
        Writes::Nothing => (None, true),
        Writes::Folder(name) | Writes::Lines(name) => (Some(name), true),
        Writes::File(name, end) | Writes::NewFile(name, end) => {
            let content = fs::read(bench.path().join(name));
            let end: Vec<u8> = end.chars().map(|letter| letter as u8).collect();
            (Some(name), content.is_ok_and(|content| content.ends_with(&end)))
        }
    };
    let exists = path.is_some_and(|path| bench.path().join(path).exists());
    assert!(is_whole || !exists, "{what}: {path:?} is there and not whole");
    known.extend(path.filter(|path| !path.contains('/')).map(str::to_owned));
    let unfinished = |name: &&String| name.starts_with(".lightbench-new-");
    let new: BTreeSet<String> = beside(bench).difference(&known).cloned().collect();
    assert!(new.iter().all(|name| unfinished(&name)), "{what}: written outside: {new:?}");
    let changed: Vec<_> =
        before.sources.iter().filter(|source| !sources(bench).contains(source)).collect();
    assert!(changed.is_empty(), "{what}: {changed:?}");
    let again = bench.run(case.arguments);
    let refuses = matches!(case.writes, Writes::Folder(_) | Writes::NewFile(..)) && exists;
    assert_eq!(again.status, if refuses { 2 } else { 0 }, "{what}: {}", again.everything());
    // The next project that is made in this folder removes what a killed command left of one.
    let left = beside(bench);
    assert!(refuses || !left.iter().any(|name| unfinished(&name)), "{what}: {left:?}");
    let left: Vec<_> =
        fs::read_dir(bench.temporary()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(left.is_empty(), "{what}: {left:?}");
}

/// What there was before a command was harmed.
struct Before {
    runs: u64,
    beside: BTreeSet<String>,
    sources: Vec<(std::path::PathBuf, String)>,
}

impl Before {
    fn of(bench: &Bench) -> Self {
        Self { runs: runs(bench, "before"), beside: beside(bench), sources: sources(bench) }
    }
}

/// Kills a command at so many points of the time that it takes undisturbed.
fn check_kills(cases: &[Case], points: u32) {
    let mut killed = 0;
    for case in cases {
        let Some(bench) = scene() else { return };
        let began = Instant::now();
        bench.run(case.arguments).expect(0, &[]);
        let took = began.elapsed();
        for point in 0..points {
            let Some(bench) = scene() else { return };
            let before = Before::of(&bench);
            let after = took.mul_f64((f64::from(point) + 0.5) / f64::from(points));
            let mut command = bench.command(case.arguments);
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(after);
            child.kill().unwrap();
            killed += usize::from(!child.wait().unwrap().success());
            check_afterwards(
                case,
                &bench,
                &before,
                &format!("{} killed after {after:?}", case.name),
            );
        }
    }
    let all = cases.len() * points as usize;
    println!("{killed} of {all} commands were killed");
    assert!(killed * 3 >= all, "most end before they are killed: {killed}");
}

/// The command under a limit of the shell.
fn limited(bench: &Bench, case: &Case, (option, value): Limit) -> Said {
    let command = bench.command(case.arguments);
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", &format!("ulimit {option} {value} && exec \"$@\""), "sh"])
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(bench.path())
        .env_clear()
        .envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .stdin(Stdio::null());
    Said::from(shell.output().unwrap())
}

/// Runs each command under each limit: it works, or says that the machine lacks something.
fn check_limits(cases: &[Case], limits: &[Limit]) {
    let (mut refused, mut tried) = (0, 0);
    let each = |case| limits.iter().map(move |limit| (case, *limit));
    for (case, limit) in cases.iter().flat_map(each) {
        let Some(bench) = scene() else { return };
        let before = Before::of(&bench);
        let said = limited(&bench, case, limit);
        let what = format!("{} under ulimit {} {}", case.name, limit.0, limit.1);
        let everything = said.everything();
        // Rust aborts a process that cannot allocate, with a message.
        let aborts = limit.0 == "-v" && said.status == ABORTED && everything.contains("allocat");
        let is_expected = matches!(said.status, 0 | 3) || aborts;
        assert!(is_expected, "{what}: exit status {}\n{everything}", said.status);
        assert!(said.status == 0 || !everything.trim().is_empty(), "{what}: it says nothing");
        refused += usize::from(said.status != 0);
        tried += 1;
        check_afterwards(case, &bench, &before, &what);
    }
    println!("{refused} of {tried} commands lacked something");
    assert!(refused > 0, "the limits are none");
}

#[test]
fn a_killed_command_loses_nothing_and_works_again() {
    check_kills(&CASES[..7], 2);
}

#[test]
fn a_command_without_room_memory_or_descriptors_says_so_and_works_again() {
    check_limits(&[RUN, NEW], &[LIMITS[0], LIMITS[3]]);
}

/// `cargo soak exhaust::every_command`. Beside other tests it keeps the processors so busy that those reach their limits.
#[test]
#[ignore = "takes two minutes"]
fn every_command_that_writes_is_killed_and_exhausted() {
    check_kills(&CASES, 6);
    check_limits(&CASES, &LIMITS);
}

#[test]
fn the_shells_limits_are_in_force() {
    let Some(bench) = scene() else { return };
    assert_eq!(limited(&bench, &REPORT, ("-f", 0)).status, 3);
    assert!(!Path::new(&bench.path().join("page.html")).exists());
}

/// Standard output is a full disk.
#[test]
fn a_command_whose_output_cannot_be_written_says_so() {
    let check = |arguments: &[&str]| {
        let Some(bench) = scene() else { return };
        let mut command = bench.command(arguments);
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let said = Said::from(command.stdout(full).output().unwrap());
        assert_eq!(said.status, 3, "{arguments:?}: {}", said.errors);
        assert!(said.errors.contains("No space left"), "{arguments:?}: {}", said.errors);
    };
    check(RUN.arguments);
    check(&[RUN.arguments, &["--json"]].concat());
    check(SEARCH.arguments);
    check(&[SEARCH.arguments, &["--json"]].concat());
    check(NEW.arguments);
    check(&["history", "scale"]);
    check(&["export", "scale"]);
    check(&[
        "eval",
        "--jsonl",
        "candidates.jsonl",
        "--project",
        "scale",
        "--device",
        "virtual:h200",
    ]);
}
