//! Which parts of the program may use what. A place that does not exist fails the test.
//!
//! A place ends in `/` (a folder), in `.rs` (a file), or names a module: `core/src/explain` is `core/src/explain.rs` and all
//! below `core/src/explain/`.

/// Names and the only places that may refer to them.
pub(super) struct Restriction {
    /// Paths of crates, modules, types or functions; what they contain is included.
    pub(super) names: &'static [&'static str],
    pub(super) places: &'static [&'static str],
    pub(super) reason: &'static str,
}

/// What only some modules use.
pub(super) const RESTRICTIONS: &[Restriction] = &[
    Restriction {
        names: &["cudarc"],
        places: &["core/device/src/cuda/"],
        reason: "one folder talks to the CUDA driver",
    },
    Restriction {
        names: &["libloading"],
        places: &[
            "core/compile/src/nvrtc.rs",
            "core/device/src/cuda/cublas.rs",
            "core/device/src/cuda/cupti.rs",
        ],
        reason: "one file loads the compiler library, one the driver's time stamps, one cuBLAS as a baseline",
    },
    Restriction {
        names: &["egui", "eframe", "egui_commonmark", "egui_table", "egui_tiles"],
        places: &[
            "app/picture/",
            "app/src/panels/",
            "app/src/theme/",
            "app/src/widgets/",
            "app/src/window/",
        ],
        reason: "the model of the window uses no toolkit",
    },
    Restriction {
        names: &["landlock", "seccompiler"],
        places: &["core/worker/src/", "core/toolchain/src/"],
        reason: "the sandbox is one small module",
    },
    Restriction {
        names: &["std::thread::Builder", "std::thread::scope", "std::thread::spawn"],
        places: &[
            "app/mcp/src/server.rs",
            "app/src/background_worker/",
            "app/src/commands/eval/bounded_lines.rs",
            "app/src/commands/mcp/run_thread.rs",
            "core/models/src/agent.rs",
            "core/models/src/http/connect.rs",
            "core/remote/src/",
            "core/src/engine/",
            "core/verify/src/checkers.rs",
            "core/verify/src/verification/concurrent.rs",
            "core/worker/src/",
            "core/virtual_gpu/src/",
        ],
        reason: "threads start where they are supervised",
    },
    Restriction {
        names: &["std::sync::Condvar", "std::sync::mpsc", "crossbeam_channel::unbounded"],
        places: &[],
        reason: "threads wait for bounded crossbeam channels, several at once",
    },
    Restriction {
        names: &["ureq", "rustls"],
        places: &["core/models/src/"],
        reason: "one crate connects to servers",
    },
    Restriction {
        names: &["rmcp", "tokio"],
        places: &["app/mcp/"],
        reason: "one crate speaks the protocol of agents, and has the only asynchronous runtime",
    },
    Restriction {
        names: &["keyring"],
        places: &["core/models/src/keys.rs"],
        reason: "one file reads keys from the keyring",
    },
    Restriction {
        names: &["rusqlite"],
        places: &["core/history/src/"],
        reason: "one folder knows how the history is stored",
    },
    Restriction {
        names: &["std::env::var", "std::env::var_os", "std::env::vars", "std::env::vars_os"],
        places: &["app/src/session.rs", "app/worker/src/main.rs"],
        reason: "the program reads the environment once and passes values on",
    },
];

/// Where the lint that denies unsafe code may be silenced.
pub(super) const UNSAFE_PLACES: &[&str] = &["core/device/src/cuda/", "core/compile/src/nvrtc.rs"];

/// Modules that compute: no files, no network, no processes, no clock.
pub(super) const PURE: &[&str] = &[
    "app/mcp/src/page.rs",
    "app/mcp/src/untrusted.rs",
    "core/models/src/events.rs",
    "core/models/src/protocol/",
    "core/models/src/reply/",
    "core/primitives/src/c_names",
    "core/primitives/src/display_text.rs",
    "core/primitives/src/dtype.rs",
    "core/primitives/src/element",
    "core/primitives/src/float_format",
    "core/primitives/src/half.rs",
    "core/primitives/src/random.rs",
    "core/primitives/src/scalar_value.rs",
    "core/src/access/",
    "core/src/arguments/",
    "core/compile/src/cubin",
    "core/cuda_source/src/",
    "core/compile/src/diagnostics",
    "core/project/src/includes",
    "core/compile/src/name_errors.rs",
    "core/compile/src/occupancy",
    "core/project/src/prelude.rs",
    "core/ptx/src/",
    "core/compile/src/ptxas_log",
    "core/compile/src/sass",
    "core/compile/src/signature",
    "core/compile/src/source_names.rs",
    "core/src/explain",
    "core/src/figure/",
    "core/history/src/table.rs",
    "core/history/src/trace/",
    "core/src/lesson/",
    "core/measure/src/",
    "core/src/nsight/command.rs",
    "core/src/nsight/profiler_message.rs",
    "core/src/nsight/metric.rs",
    "core/src/nsight/quantity.rs",
    "core/src/nsight/table.rs",
    "core/project/src/expression/",
    "core/src/report/",
    "core/src/search/prompt/",
    "core/speed_of_light/src/",
    "core/suggest/src/rewrite/",
    "core/verify/src/harness_kernels/",
    "core/verify/src/evidence/",
    "core/strategies/src/",
    "core/units/src/",
    "core/virtual_gpu/src/",
];

/// Files within these modules that are not held to the rule.
pub(super) const IMPURE: &[&str] = &[
    // Ends a launch after the number of seconds that the user grants.
    "core/virtual_gpu/src/machine/limit.rs",
];

/// What modules that compute do not use.
pub(super) const EFFECTS: &[&str] = &[
    "jiff::Timestamp::now",
    "jiff::Zoned::now",
    "landlock",
    "libc",
    "libloading",
    "rusqlite",
    "rustix",
    "std::env",
    "std::fs",
    "std::io::stderr",
    "std::io::stdin",
    "std::io::stdout",
    "std::net",
    "std::os",
    "std::process",
    "std::time::Instant",
    "std::time::SystemTime",
    "tempfile",
    "ureq",
];

/// Whether a file is in a place.
pub(super) fn is_in(file: &str, place: &str) -> bool {
    if place.ends_with('/') {
        return file.starts_with(place);
    }
    let below = file.strip_prefix(place);
    below.is_some_and(|rest| rest.is_empty() || rest == ".rs" || rest.starts_with('/'))
}
