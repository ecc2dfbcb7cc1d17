//! The compiler that the tests use: the one that the program itself finds on this machine.
//!
//! Where there is none a test that needs it says so and passes, unless `LIGHTBENCH_REQUIRE_COMPILER` is set.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use lightbench_core::toolchain::{HostEnvironment, PinnedSet, Toolchain, discover};

use crate::skip::skip;

/// A compiler and the folders of the tools that go with it.
pub(crate) struct Found {
    pub(crate) toolchain: Toolchain,
    /// For `PATH`: nothing else of the machine's own is on it, pip least of all.
    pub(crate) program_folders: Vec<PathBuf>,
}

/// The compiler, looked for once; none where the machine has none.
pub(crate) fn found() -> Option<&'static Found> {
    static FOUND: OnceLock<Option<Found>> = OnceLock::new();
    FOUND.get_or_init(ask_the_doctor).as_ref()
}

/// The compiler; where there is none, the test is skipped with a line, or fails if it may not be.
pub(crate) fn required() -> Option<&'static Found> {
    let found = found();
    if found.is_none() {
        let missing = "no CUDA compiler on this machine (`lightbench doctor --fetch`)";
        skip(missing, "LIGHTBENCH_REQUIRE_COMPILER");
    }
    found
}

/// The folder of a set of packages in the user's cache, if it was fetched.
pub(crate) fn fetched(set: PinnedSet) -> Option<PathBuf> {
    let mut doctor = Command::new(env!("CARGO_BIN_EXE_lightbench"));
    let said = doctor.args(["doctor", "--json"]).stdin(Stdio::null()).output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&said.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap();
    let cache = findings.iter().find(|finding| finding["topic"] == "cache").unwrap();
    let folder = Path::new(cache["at"].as_str()?).join("toolchain").join(set.folder_name());
    folder.is_dir().then_some(folder)
}

/// Runs the program as it is installed here, with the surroundings that the tests were started in.
fn ask_the_doctor() -> Option<Found> {
    let mut doctor = Command::new(env!("CARGO_BIN_EXE_lightbench"));
    let said = doctor.args(["doctor", "--json"]).stdin(Stdio::null()).output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&said.stdout).unwrap();
    let place = |topic: &str| {
        let findings = report["findings"].as_array().unwrap();
        let finding = findings.iter().find(|finding| finding["topic"] == topic)?;
        let usable = finding["state"] == "ok" || finding["state"] == "info";
        finding["at"].as_str().filter(|_| usable).map(PathBuf::from)
    };
    let library = place("compiler")?;
    let tools = ["disassembler", "cubin_reader", "assembler"].into_iter().filter_map(place);
    let mut program_folders: Vec<PathBuf> =
        tools.filter_map(|tool| tool.parent().map(Path::to_owned)).collect();
    program_folders.dedup();
    let surroundings = HostEnvironment {
        explicit: Some(library),
        path: program_folders.clone(),
        ..HostEnvironment::default()
    };
    let toolchain = discover(&surroundings).into_toolchain().unwrap();
    Some(Found { toolchain, program_folders })
}
