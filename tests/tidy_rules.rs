//! The repository's own rules hold: the package `tests/tidy`, which is not part of the workspace, passes.

use std::env;
use std::process::Command;

use crate::program::repository;

#[test]
fn tidy() {
    let cargo = env::var_os("CARGO").expect("Cargo runs the tests");
    let mut command = Command::new(cargo);
    command.current_dir(repository()).args([
        "test",
        "--quiet",
        "--locked",
        "--manifest-path",
        "tests/tidy/Cargo.toml",
    ]);
    // A build folder that the caller chose belongs to the caller, whose Cargo may have locked it.
    command.env_remove("CARGO_TARGET_DIR");
    let output = command.output().expect("Cargo starts");
    let text = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&text));
}
