//! The repository's own rules, those that the compiler does not check: headers, sizes, layers, names.

use std::fs;
use std::path::{Path, PathBuf};

/// A word and the places where it may stand (prefixes of paths relative to the repository root).
struct Layer {
    word: &'static str,
    allowed: &'static [&'static str],
    reason: &'static str,
}

const LAYERS: &[Layer] = &[
    Layer {
        word: "cudarc",
        allowed: &["core/src/device/cuda/"],
        reason: "one folder talks to the CUDA driver",
    },
    Layer {
        word: "libloading",
        allowed: &[
            "core/src/compile/nvrtc.rs",
            "core/src/device/cuda/cublas.rs",
            "core/src/device/cuda/cupti.rs",
        ],
        reason: "one file loads the compiler library, one the driver's time stamps, one what runs as a baseline",
    },
    Layer {
        word: "unsafe_code",
        allowed: &["core/src/device/cuda/", "core/src/compile/nvrtc.rs"],
        reason: "unsafe code lives where foreign libraries are called",
    },
    Layer {
        word: "egui",
        allowed: &[
            "app/picture/",
            "app/src/panels/",
            "app/src/testing.rs",
            "app/src/theme/",
            "app/src/widgets/",
            "app/src/window/",
        ],
        reason: "the model of the window knows no toolkit",
    },
    Layer {
        word: "landlock",
        allowed: &["core/src/worker/", "core/src/toolchain/"],
        reason: "the sandbox is one small module",
    },
    Layer {
        word: "thread::Builder",
        allowed: &[
            "app/src/background_worker/",
            "core/models/src/agent.rs",
            "core/models/src/http/dial.rs",
            "core/src/engine/",
            "core/src/verify/checkers.rs",
            "core/src/worker/",
            "core/virtual_gpu/src/",
        ],
        reason: "threads start where they are supervised",
    },
    Layer {
        word: "thread::scope",
        allowed: &[
            "core/src/engine/",
            "core/src/verify/checkers.rs",
            "core/src/worker/",
            "core/virtual_gpu/src/",
        ],
        reason: "threads start where they are supervised",
    },
    Layer { word: "ureq", allowed: &["core/models/src/"], reason: "one crate speaks to servers" },
    Layer {
        word: "keyring::",
        allowed: &["core/models/src/keys.rs"],
        reason: "keys come from one place",
    },
    Layer {
        word: "env::var",
        allowed: &["app/src/args.rs", "app/src/session.rs"],
        reason: "the environment is read once, by the program, and passed on",
    },
];

/// Modules that compute: no files, no network, no clock.
const PURE: &[&str] = &[
    "core/strategies/src/",
    "core/units/src/",
    "core/models/src/events.rs",
    "core/models/src/protocol/",
    "core/models/src/reply/",
    "core/src/arguments/",
    "core/src/project/expression/",
    "core/src/compile/occupancy",
    "core/src/compile/prelude.rs",
    "core/src/compile/ptx",
    "core/src/compile/sass",
    "core/src/compile/diagnostics",
    "core/src/compile/includes",
    "core/src/compile/cubin",
    "core/src/compile/ptxas_log",
    "core/src/compile/signature",
    "core/src/compile/name_errors.rs",
    "core/src/compile/source_names.rs",
    "core/src/explain",
    "core/src/access/",
    "core/src/lesson/",
    "core/src/nsight/command.rs",
    "core/src/nsight/complaint.rs",
    "core/src/nsight/metric.rs",
    "core/src/nsight/quantity.rs",
    "core/src/nsight/table.rs",
    "core/src/trusted/",
    "core/src/verify/evidence/",
    "core/src/history/table.rs",
    "core/src/history/trace/",
    "core/src/report/",
    "core/src/figure/",
    "core/src/measure/",
    "core/src/speed_of_light/",
    "core/src/suggest/prompt/",
    "core/src/suggest/rewrite/",
    "core/virtual_gpu/src/",
];
/// Ends a launch after as many seconds as a user grants it.
const TIME_LIMIT: &str = "core/virtual_gpu/src/machine/limit.rs";
const IMPURE_WORDS: &[&str] =
    &["fs::", "File::", "net::", "Instant", "SystemTime", "process::", "std::{fs"];

/// Names that hide a missing noun.
const JUNK_DRAWERS: &[&str] =
    &["util", "utils", "helper", "helpers", "common", "base", "manager", "misc", "types"];

const MAX_LINES: usize = 600;

/// Files above `MAX_LINES`; this list may only shrink.
const LONG_FILES: &[&str] = &[];

#[test]
fn every_file_opens_with_what_it_is() {
    check(|file| {
        let opens = file.text.lines().next().is_some_and(|line| line.starts_with("//!"));
        (!opens).then(|| "the first line must start with `//!`".to_owned())
    });
}

#[test]
fn files_stay_short() {
    check(|file| {
        let lines = file.text.lines().count();
        let listed = LONG_FILES.contains(&file.path.as_str());
        match (lines > MAX_LINES, listed) {
            (true, false) => Some(format!("{lines} lines; at most {MAX_LINES}: split by meaning")),
            (false, true) => Some("no longer too long: remove it from LONG_FILES".to_owned()),
            (true, true) | (false, false) => None,
        }
    });
}

#[test]
fn layers_hold() {
    check(|file| {
        if !file.is_program() {
            return None;
        }
        LAYERS
            .iter()
            .find(|layer| {
                file.code().contains(layer.word)
                    && !layer.allowed.iter().any(|prefix| file.path.starts_with(prefix))
            })
            .map(|layer| format!("`{}` may not stand here: {}", layer.word, layer.reason))
    });
}

#[test]
fn modules_that_compute_do_nothing_else() {
    check(|file| {
        let computes = PURE.iter().any(|prefix| file.path.starts_with(prefix));
        if !file.is_program() || !computes || file.path == TIME_LIMIT {
            return None;
        }
        let word = IMPURE_WORDS.iter().find(|word| file.code().contains(**word))?;
        Some(format!("`{word}` in a module that only computes"))
    });
}

#[test]
fn no_junk_drawers() {
    check(|file| {
        let path = Path::new(&file.path);
        let parts = path.components().filter_map(|part| part.as_os_str().to_str());
        let named = parts
            .map(|part| part.trim_end_matches(".rs"))
            .find(|part| JUNK_DRAWERS.contains(part))?;
        Some(format!("`{named}` is not a noun of this program"))
    });
}

#[test]
fn nothing_is_left_to_do() {
    check(|file| {
        // Spelled apart so that this file does not find itself.
        let words = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX")];
        let word = words.into_iter().find(|word| file.text.contains(word))?;
        Some(format!("`{word}`: finish it or write it down as an open issue"))
    });
}

#[test]
fn the_front_pages_stay_short() {
    for (page, most) in [("README.md", 120), ("ARCHITECTURE.md", 250)] {
        let text = fs::read_to_string(root().join(page)).expect("the front page is there");
        let lines = text.lines().count();
        assert!(lines <= most, "{page} has {lines} lines; at most {most}");
    }
}

/// A Rust file of the repository.
struct SourceFile {
    path: String,
    text: String,
}

impl SourceFile {
    /// Whether it is part of the program, rather than of its tests.
    fn is_program(&self) -> bool {
        let is_test = self.path.ends_with("/tests.rs") || self.path.contains("/tests/");
        self.path.contains("/src/") && !is_test
    }

    /// The text without whole-line comments, so that prose may name what code may not use.
    fn code(&self) -> String {
        self.text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// Runs one rule over every Rust file and prints every problem at once.
fn check(rule: impl Fn(&SourceFile) -> Option<String>) {
    let mut problems = Vec::new();
    for file in source_files() {
        if let Some(problem) = rule(&file) {
            problems.push(format!("{}: {problem}", file.path));
        }
    }
    assert!(problems.is_empty(), "{} problem(s)\n{}", problems.len(), problems.join("\n"));
}

fn source_files() -> Vec<SourceFile> {
    let mut files = Vec::new();
    for folder in ["app", "core", "tests"] {
        collect(&root().join(folder), &mut files);
    }
    assert!(files.len() > 10, "the repository's files were found");
    files.sort_by(|left, right| left.path.cmp(&right.path));
    files
}

fn collect(folder: &Path, files: &mut Vec<SourceFile>) {
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            if path.file_name().is_none_or(|name| name != "target") {
                collect(&path, files);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("UTF-8 source");
            let relative = path.strip_prefix(root()).expect("below the root");
            files.push(SourceFile { path: relative.to_string_lossy().into_owned(), text });
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the app folder has a parent").to_owned()
}
