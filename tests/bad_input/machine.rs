//! Machines that lack something: a compiler, a whole one, the right one, a cache that can be written, space.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::*;
use crate::compiler::Found;

/// The program where nothing is: no toolchain, no pip, no cache yet.
fn bare(bench: &Bench, arguments: &[&str]) -> Command {
    let mut command = bench.command(arguments);
    command
        .env_remove("LIGHTBENCH_TOOLCHAIN")
        .env("PATH", "")
        .env("LIGHTBENCH_CACHE", bench.path().join("cache"));
    command
}

#[test]
fn without_a_compiler_and_without_pip_it_says_what_to_do() {
    let bench = Bench::new();
    if bare(&bench, &["doctor"]).output().unwrap().status.success() {
        println!("skipped: this machine has a CUDA toolkit in its usual place");
        return;
    }
    check_one(&bench, bare(&bench, SCALE), 3, &["pip"]);
    check_one(&bench, bare(&bench, &["check", "scale", "--json"]), 3, &["lightbench.error/1"]);
    check_one(&bench, bare(&bench, &["doctor"]), 3, &["missing", "fix: ", "cannot be compiled"]);
    // What needs no compiler works all the same.
    check_one(&bench, bare(&bench, &["devices"]), 0, &["h200"]);
    bench.edit("project.ron", "summary:", "sumary:");
    check_one(&bench, bare(&bench, SCALE), 2, &["--> scale/project.ron:5:5"]);
}

/// Names in a compiler's folder, the real files, and how many bytes of each are there where it is not whole.
type Files<'a> = Vec<(&'static str, &'a Path, Option<usize>)>;

fn compiler_folder(bench: &Bench, files: &Files<'_>) -> PathBuf {
    let folder = bench.path().join("compiler");
    fs::create_dir(&folder).unwrap();
    for (name, real, length) in files {
        match length {
            None => symlink(real, folder.join(name)).unwrap(),
            Some(length) => {
                fs::write(folder.join(name), &fs::read(real).unwrap()[..*length]).unwrap();
            }
        }
    }
    folder
}

fn check_compiler(files: fn(&Found) -> Files<'_>, says: &[&str]) {
    let Some(found) = compiler::required() else { return };
    let bench = Bench::new();
    let folder = compiler_folder(&bench, &files(found));
    let mut command = bench.command(SCALE);
    command.env("LIGHTBENCH_TOOLCHAIN", folder);
    check_one(&bench, command, 3, says);
}

#[test]
fn a_truncated_compiler_is_not_loaded() {
    let says = ["holds no usable CUDA compiler", "libnvrtc.so.13", "truncated: 1000000 bytes"];
    check_compiler(
        |found| {
            let nvrtc = &found.toolchain.nvrtc;
            vec![
                ("libnvrtc.so.13", &nvrtc.library, Some(1_000_000)),
                ("libnvrtc-builtins.so.13.0", &nvrtc.builtins, None),
            ]
        },
        &says,
    );
}

#[test]
fn truncated_builtins_are_not_loaded() {
    check_compiler(
        |found| {
            let nvrtc = &found.toolchain.nvrtc;
            vec![
                ("libnvrtc.so.13", &nvrtc.library, None),
                ("libnvrtc-builtins.so.13.0", &nvrtc.builtins, Some(1000)),
            ]
        },
        &["libnvrtc-builtins.so.13.0 is truncated: 1000 bytes"],
    );
}

#[test]
fn a_compiler_of_another_version_is_not_used() {
    check_compiler(
        |found| {
            let nvrtc = &found.toolchain.nvrtc;
            vec![
                ("libnvrtc.so.12", &nvrtc.library, None),
                ("libnvrtc-builtins.so.12.4", &nvrtc.builtins, None),
            ]
        },
        &["holds no usable CUDA compiler", "12.4", "12.9"],
    );
}

#[test]
fn a_compiler_without_its_builtins_is_not_used() {
    check_compiler(
        |found| vec![("libnvrtc.so.13", &found.toolchain.nvrtc.library, None)],
        &["builtins library is missing"],
    );
}

#[test]
fn a_text_file_is_no_compiler() {
    check_compiler(
        |found| {
            let text =
                Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/scale/project.ron"));
            let builtins = &found.toolchain.nvrtc.builtins;
            vec![("libnvrtc.so.13", text, None), ("libnvrtc-builtins.so.13.0", builtins, None)]
        },
        &["not a 64-bit library"],
    );
}

#[test]
fn a_toolchain_that_is_not_there_is_named() {
    let bench = Bench::new();
    let mut command = bench.command(SCALE);
    command.env("LIGHTBENCH_TOOLCHAIN", "/no/such/folder");
    check_one(&bench, command, 3, &["/no/such/folder", "holds no usable CUDA compiler"]);
}

/// Kernels are compiled all the same, and one line says why nothing is kept.
fn check_cache(place: fn(&Bench) -> PathBuf) {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let cache = place(&bench);
    let mut command = bench.command(NAIVE);
    command.env("LIGHTBENCH_CACHE", &cache);
    check_one(&bench, command, 0, &["compiles", "note: ", cache.to_str().unwrap(), "not cached"]);
}

#[test]
fn a_cache_below_a_file_keeps_nothing() {
    check_cache(|bench| {
        fs::write(bench.path().join("file"), "").unwrap();
        bench.path().join("file/cache")
    });
}

#[test]
fn a_cache_where_nothing_can_be_made_keeps_nothing() {
    check_cache(|_| PathBuf::from("/proc/lightbench"));
}

#[test]
fn a_full_disk_keeps_nothing() {
    let bench = Bench::new();
    let cache = bench.path().join("full");
    let Some(_mounted) = Mounted::at(&cache) else {
        println!("skipped: no file system can be mounted here");
        return;
    };
    if compiler::required().is_none() {
        return;
    }
    fs::write(cache.join("fill"), vec![0; 56 << 10]).ok();
    let mut command = bench.command(NAIVE);
    command.env("LIGHTBENCH_CACHE", &cache);
    check_one(&bench, command, 0, &["compiles", "note: ", "again in each process"]);
    // A second run finds nothing half-written that it trusts.
    let mut command = bench.command(NAIVE);
    command.env("LIGHTBENCH_CACHE", &cache);
    check_one(&bench, command, 0, &["compiles"]);
}

#[test]
fn without_room_for_temporary_files_it_says_so() {
    let bench = Bench::new();
    let temporary = bench.path().join("nowhere");
    let mut command = bench.command(NAIVE);
    command.env("TMPDIR", &temporary).env("LIGHTBENCH_CACHE", bench.path().join("cache"));
    if compiler::required().is_some() {
        check_one(&bench, command, 3, &[temporary.to_str().unwrap()]);
    }
}

/// A file system of 64 KiB, unmounted when the test ends.
struct Mounted {
    folder: PathBuf,
}

impl Mounted {
    fn at(folder: &Path) -> Option<Self> {
        fs::create_dir(folder).unwrap();
        let mut mount = Command::new("mount");
        let mount = mount.args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(folder).output();
        mount.ok()?.status.success().then(|| Self { folder: folder.to_owned() })
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        Command::new("umount").arg("-l").arg(&self.folder).status().ok();
    }
}
