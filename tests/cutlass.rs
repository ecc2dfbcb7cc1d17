//! CuTe kernels in projects, with the headers that `LIGHTBENCH_CUTLASS` names, and what a library of headers may be.
//!
//! Without the headers a test prints that it is skipped and passes; with `LIGHTBENCH_REQUIRE_CUTLASS` it fails.

use std::fs;
use std::path::{Path, PathBuf};

use crate::compiler;
use crate::program::{Bench, Said, copy_folder, repository};
use crate::skip::skip;

/// The headers of CUTLASS; a printed skip without them.
fn headers() -> Option<PathBuf> {
    compiler::required()?;
    let named = std::env::var_os("LIGHTBENCH_CUTLASS").map(PathBuf::from);
    if named.is_none() {
        skip("no CUTLASS (`LIGHTBENCH_CUTLASS` names its folder)", "LIGHTBENCH_REQUIRE_CUTLASS");
    }
    named
}

#[test]
fn cute_kernels_get_verdicts() {
    let check = |file: &str, workload: &str| {
        let Some(headers) = headers() else { return };
        let bench = Bench::new();
        let folder = bench.path().join("hgemm");
        copy_folder(&repository().join("sample-projects/hgemm"), &folder);
        let text = repository().join("tests/cutlass/kernels").join(file);
        fs::copy(text, folder.join("kernels/cute.cu")).unwrap();
        let arguments = ["run", "hgemm", "--kernel", "cute", "--no-times", "--workload", workload];
        let mut command = bench.command(&arguments);
        let said = Said::from(command.env("LIGHTBENCH_CUTLASS", headers).output().unwrap());
        said.expect(0, &["cute is correct"]);
    };
    check("hgemm.cu", "ragged");
    check("hgemm-hopper.cu", "ragged");
}

/// A library that has the headers which Lightbench's own header includes, in this version.
fn small_library(folder: &Path, version: &str) {
    let [major, minor, patch] = [0, 2, 4].map(|at| &version[at..=at]);
    let version = format!(
        "#define CUTLASS_MAJOR {major}\n#define CUTLASS_MINOR {minor}\n#define CUTLASS_PATCH {patch}\n"
    );
    for (file, text) in [
        ("cutlass/version.h", version.as_str()),
        ("cute/config.hpp", "#pragma once\n"),
        (
            "cute/twice.hpp",
            "template <class T> __device__ T twice(T value) { return value + value; }\n",
        ),
        ("cute/outside.hpp", "#include \"../../secret.h\"\n"),
    ] {
        let path = folder.join("include").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// A kernel of the fixture project that names the library and includes one of its headers.
fn with_library(bench: &Bench, header: &str) {
    let text = fs::read_to_string(bench.project().join("kernels/naive.cu")).unwrap();
    let named = text.replacen("    steps", "    libraries: [cutlass],\n    steps", 1);
    assert_ne!(named, text);
    let (block, code) = named.split_once("@*/").unwrap();
    bench.write("kernels/named.cu", format!("{block}@*/\n#include <{header}>{code}"));
}

fn check_named(bench: &Bench, library: Option<&Path>) -> Said {
    let mut command = bench.command(&["check", "scale", "--kernel", "named"]);
    command.envs(library.map(|folder| ("LIGHTBENCH_CUTLASS", folder)));
    Said::from(command.output().unwrap())
}

#[test]
fn the_settings_name_the_folder() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    with_library(&bench, "cute/twice.hpp");
    small_library(&bench.path().join("library"), "4.2.0");
    let state = bench.path().join("state");
    fs::create_dir(&state).unwrap();
    let folder = bench.path().join("library");
    let settings = format!("(libraries: (cutlass: Some({:?})))", folder.display().to_string());
    fs::write(state.join("settings.ron"), settings).unwrap();
    let mut command = bench.command(&["check", "scale", "--kernel", "named"]);
    let said = Said::from(command.env("LIGHTBENCH_STATE", &state).output().unwrap());
    said.expect(0, &["registers"]);
    let mut command = bench.command(&["doctor"]);
    let said = Said::from(command.env("LIGHTBENCH_STATE", &state).output().unwrap());
    assert!(said.output.contains("CUTLASS            4.2.0"), "{said:#?}");
}

#[test]
fn without_the_library_a_kernel_is_not_judged_and_others_are() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    with_library(&bench, "cute/twice.hpp");
    let said = bench.run(&["run", "scale", "--kernel", "named", "--no-times"]);
    said.expect(3, &["libraries: [cutlass]", "pip install --no-deps nvidia-cutlass"]);
    let said = bench.run(&["run", "scale", "--kernel", "naive", "--no-times"]);
    said.expect(0, &["naive is correct"]);
    let said = bench.run(&["run", "scale", "--no-times"]);
    said.expect(3, &["naive is correct", "pip install --no-deps nvidia-cutlass"]);
}

#[test]
fn a_project_names_no_folder() {
    let bench = Bench::new();
    with_library(&bench, "cute/twice.hpp");
    for path in ["\"/opt/cutlass\"", "cutlass(\"/opt/cutlass\")", "opt"] {
        let list = format!("libraries: [{path}]");
        bench.edit("kernels/named.cu", "libraries: [cutlass]", &list);
        let said = bench.run(&["check", "scale", "--kernel", "named"]);
        assert_ne!(said.status, 0, "{said:#?}");
        assert!(said.errors.contains("named.cu:"), "{said:#?}");
        bench.edit("kernels/named.cu", &list, "libraries: [cutlass]");
    }
}

#[test]
fn a_library_is_read_by_its_kernels_only_and_nothing_beside_it_is() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let library = bench.path().join("library");
    small_library(&library, "4.2.0");
    fs::write(library.join("secret.h"), "#error the secret was read\n").unwrap();
    with_library(&bench, "cute/outside.hpp");
    let said = check_named(&bench, Some(&library));
    assert_eq!(said.status, 1, "{said:#?}");
    let text = said.output.clone() + &said.errors;
    assert!(text.contains("secret.h") && !text.contains("the secret was read"), "{said:#?}");
    // Without `libraries` the header is not found, and the message says what to write.
    bench.edit("kernels/named.cu", "    libraries: [cutlass],\n", "");
    let said = check_named(&bench, Some(&library));
    let text = said.output.clone() + &said.errors;
    assert!(text.contains("write `libraries: [cutlass]`"), "{said:#?}");
}

#[test]
fn the_version_of_the_library_is_part_of_the_candidate() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let library = bench.path().join("library");
    with_library(&bench, "cute/twice.hpp");
    let candidate = |version: &str| {
        small_library(&library, version);
        let said = check_named(&bench, Some(&library));
        assert_eq!(said.status, 0, "{said:#?}");
        let line = said.output.lines().find(|line| line.trim_start().starts_with("candidate"));
        line.unwrap().to_owned()
    };
    let first = candidate("4.2.0");
    assert_ne!(first, candidate("4.2.1"));
    assert_eq!(first, candidate("4.2.0"));
}
