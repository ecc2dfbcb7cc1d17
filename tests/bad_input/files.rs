//! Files and folders that are missing, are something else, or hold something else than text.

use super::*;

fn remove(bench: &Bench, file: &str) {
    fs::remove_file(bench.project().join(file)).unwrap();
}

fn link(bench: &Bench, target: &str, file: &str) {
    #[cfg(unix)]
    std::os::unix::fs::symlink(target, bench.project().join(file)).unwrap();
}

fn pipe(bench: &Bench, file: &str) {
    assert!(Command::new("mkfifo").arg(bench.project().join(file)).status().unwrap().success());
}

const CASES: &[Case] = &[
    Case {
        name: "a missing folder",
        change: |_| {},
        arguments: &["check", "nowhere"],
        status: 2,
        says: &["nowhere", "No such file", "expected a folder with a project.ron"],
    },
    Case {
        name: "a folder that is no project",
        change: |_| {},
        arguments: &["check", "scale/kernels"],
        status: 2,
        says: &["scale/kernels/project.ron is missing", "lightbench new"],
    },
    Case {
        name: "a folder that lies below a file",
        change: |_| {},
        arguments: &["check", "scale/reference.cu/x"],
        status: 2,
        says: &["scale/reference.cu/x", "Not a directory"],
    },
    Case {
        name: "no reference",
        change: |bench| remove(bench, "reference.cu"),
        arguments: SCALE,
        status: 2,
        says: &["scale/reference.cu is missing"],
    },
    Case {
        name: "a file called kernels",
        change: |bench| {
            fs::remove_dir_all(bench.project().join("kernels")).unwrap();
            bench.write("kernels", "");
        },
        arguments: SCALE,
        status: 2,
        says: &["scale/kernels: ", "Not a directory"],
    },
    Case {
        name: "a pipe called project.ron",
        change: |bench| {
            remove(bench, "project.ron");
            pipe(bench, "project.ron");
        },
        arguments: SCALE,
        status: 2,
        says: &["scale/project.ron: ", "not a regular file"],
    },
    Case {
        name: "a pipe given as a kernel",
        change: |bench| pipe(bench, "pipe.cu"),
        arguments: &["check", "scale/pipe.cu"],
        status: 2,
        says: &["scale/pipe.cu", "not a regular file"],
    },
    Case {
        name: "50 MB of source in a file of its own",
        change: |bench| bench.write("large.cu", vec![b'a'; 50_000_000]),
        arguments: &["check", "scale/large.cu"],
        status: 2,
        says: &["scale/large.cu", "50000000 bytes"],
    },
    Case {
        name: "a manifest that is not UTF-8",
        change: |bench| bench.write("project.ron", b"(\xff"),
        arguments: SCALE,
        status: 2,
        says: &["scale/project.ron: ", "line 1", "not UTF-8"],
    },
];

#[test]
fn wrong_files_are_reported_by_name() {
    check_all(Needs::Nothing, CASES);
}

/// Files that are no kernels yet, or none that may be read.
const BROKEN: &[Case] = &[
    Case {
        name: "a folder called like a kernel",
        change: |bench| fs::create_dir(bench.project().join("kernels/x.cu")).unwrap(),
        arguments: SCALE,
        status: 1,
        says: &["--> scale/kernels/x.cu:1:1", "not a regular file"],
    },
    Case {
        name: "a link to itself",
        change: |bench| link(bench, "loop.cu", "kernels/loop.cu"),
        arguments: SCALE,
        status: 1,
        says: &["--> scale/kernels/loop.cu:1:1", "symbolic links"],
    },
    Case {
        name: "a kernel that is a link out of the project",
        change: |bench| link(bench, "../../outside.cuh", "kernels/link.cu"),
        arguments: SCALE,
        status: 1,
        says: &["--> scale/kernels/link.cu:1:1", "outside the project folder"],
    },
    Case {
        name: "an include that is a link out of the project",
        change: |bench| link(bench, "../../outside.cuh", "include/link.cuh"),
        arguments: SCALE,
        status: 1,
        says: &["--> scale/include/link.cuh:1:1", "outside the project folder"],
    },
    Case {
        name: "50 MB of source",
        change: |bench| bench.write("kernels/large.cu", vec![b'a'; 50_000_000]),
        arguments: SCALE,
        status: 1,
        says: &["--> scale/kernels/large.cu:1:1", "50000000 bytes", "at most 1048576"],
    },
    Case {
        name: "a kernel that is not UTF-8",
        change: |bench| bench.write("kernels/latin.cu", b"// first\n// caf\xe9\n"),
        arguments: SCALE,
        status: 1,
        says: &["--> scale/kernels/latin.cu:2:1", "not UTF-8"],
    },
    Case {
        name: "an empty kernel file",
        change: |bench| bench.write("kernels/empty.cu", ""),
        arguments: SCALE,
        status: 1,
        says: &["--> scale/kernels/empty.cu:1:1", "no launch block"],
    },
    Case {
        name: "two kernels of one name",
        change: |bench| {
            let text = fs::read_to_string(bench.project().join("wrong/short.cu")).unwrap();
            bench.write("wrong/Naive.cu", text);
        },
        arguments: SCALE,
        status: 1,
        says: &["a second kernel `Naive`", "kernels/naive.cu", "--> scale/wrong/Naive.cu:1:1"],
    },
    Case {
        name: "a kernel called like the reference",
        change: |bench| {
            let text = fs::read_to_string(bench.project().join("kernels/naive.cu")).unwrap();
            bench.write("kernels/reference.cu", text);
        },
        arguments: SCALE,
        status: 1,
        says: &["--> scale/kernels/reference.cu:1:1", "reference"],
    },
    Case {
        name: "a pipe called like a kernel",
        change: |bench| pipe(bench, "kernels/pipe.cu"),
        arguments: SCALE,
        status: 1,
        says: &["--> scale/kernels/pipe.cu:1:1", "not a regular file"],
    },
    Case {
        name: "a wrong kernel that does not say what to expect",
        change: |bench| bench.edit("wrong/short.cu", "expect: wrong(unwritten),", ""),
        arguments: SCALE,
        status: 1,
        says: &["--> scale/wrong/short.cu:", "expect", "short      failed: cannot be read"],
    },
];

#[test]
fn a_file_that_is_not_understood_is_named_and_stops_no_other() {
    let cases = BROKEN.iter().map(|case| {
        let says = [case.says, &["failed: cannot be read", "1 of 4 failed"]].concat();
        Case { says: says.leak(), ..*case }
    });
    check_all(Needs::Compiler, &cases.collect::<Vec<_>>());
}

#[test]
fn a_folder_that_may_not_be_read_is_named() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = Bench::new();
    let folder = bench.project().join("kernels");
    let allow = |mode| fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
    allow(0o000);
    if fs::read_dir(&folder).is_ok() {
        println!("skipped: permissions do not bind this user");
    } else {
        bench.run(SCALE).expect(2, &["scale/kernels: ", "Permission denied"]);
    }
    allow(0o755);
}

const HARMLESS: &[Case] = &[
    Case {
        name: "line ends of Windows",
        change: |bench| {
            for file in ["project.ron", "kernels/naive.cu", "include/index.cuh"] {
                let text = fs::read_to_string(bench.project().join(file)).unwrap();
                bench.write(file, text.replace('\n', "\r\n"));
            }
        },
        arguments: NAIVE,
        status: 0,
        says: &["compiles"],
    },
    Case {
        name: "byte order marks",
        change: |bench| {
            for file in ["project.ron", "kernels/naive.cu", "include/index.cuh"] {
                let text = fs::read_to_string(bench.project().join(file)).unwrap();
                bench.write(file, format!("\u{feff}{text}"));
            }
        },
        arguments: NAIVE,
        status: 0,
        says: &["compiles"],
    },
    Case {
        name: "a history that came with the project",
        change: |bench| {
            bench.write(".lightbench/history", MARKER);
            bench.write(".lightbench/kernels/00/entry", MARKER);
            bench.write(".hidden.cu", MARKER);
            bench.write("kernels/.hidden.cu", MARKER);
        },
        arguments: NAIVE,
        status: 0,
        says: &["compiles"],
    },
];

#[test]
fn files_that_do_no_harm_are_no_error() {
    check_all(Needs::Compiler, HARMLESS);
}
