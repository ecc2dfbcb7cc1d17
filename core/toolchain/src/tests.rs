//! Discovery on made-up folder trees: which compiler is chosen, and why others are not.

mod older_drivers;

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::discover::discover_as;
use super::naming::{LINUX, Naming, WINDOWS};
use super::*;

/// The shortest whole ELF library of this machine: a header and one section header.
pub(super) fn elf() -> Vec<u8> {
    let mut bytes = vec![0_u8; 128];
    bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
    let machine: u16 = if cfg!(target_arch = "aarch64") { 183 } else { 62 };
    bytes[18..20].copy_from_slice(&machine.to_le_bytes());
    bytes[40..48].copy_from_slice(&64_u64.to_le_bytes());
    bytes[58..60].copy_from_slice(&64_u16.to_le_bytes());
    bytes[60..62].copy_from_slice(&1_u16.to_le_bytes());
    bytes
}

/// The shortest whole PE library of this machine: headers and one section of 16 bytes.
fn portable_executable() -> Vec<u8> {
    let mut bytes = vec![0_u8; 144];
    bytes[..2].copy_from_slice(b"MZ");
    bytes[0x3c] = 64;
    bytes[64..68].copy_from_slice(b"PE\0\0");
    let machine: u16 = if cfg!(target_arch = "aarch64") { 0xaa64 } else { 0x8664 };
    bytes[68..70].copy_from_slice(&machine.to_le_bytes());
    bytes[70] = 1;
    bytes[88 + 16] = 16;
    bytes[88 + 20] = 128;
    bytes
}

/// A file tree below a temporary folder; `path!12` cuts a binary to 12 bytes.
pub(super) fn tree(files: &[&str]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for file in files {
        let (path, length) = match file.split_once('!') {
            Some((path, length)) => (path, Some(length.parse::<usize>().unwrap())),
            None => (*file, None),
        };
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut bytes = if path.to_string_lossy().ends_with(".dll")
            || path.to_string_lossy().ends_with(".exe")
        {
            portable_executable()
        } else {
            elf()
        };
        bytes.truncate(length.unwrap_or(bytes.len()));
        fs::write(path, bytes).unwrap();
    }
    root
}

pub(super) fn surroundings(root: &Path) -> HostEnvironment {
    HostEnvironment {
        system: root.to_path_buf(),
        home: Some(root.join("home")),
        cache: Some(root.join("cache")),
        path: vec![root.join("path")],
        ..HostEnvironment::default()
    }
}

struct Case {
    rule: &'static str,
    files: &'static [&'static str],
    adjust: fn(&mut HostEnvironment, &Path),
    /// Library, version and headers, paths below the root.
    chosen: Option<&'static str>,
    passed_over: &'static [&'static str],
}

const AS_IS: fn(&mut HostEnvironment, &Path) = |_, _| {};

fn check(naming: &Naming, case: &Case) {
    let root = tree(case.files);
    let mut surroundings = surroundings(root.path());
    (case.adjust)(&mut surroundings, root.path());
    let found = discover_as(&surroundings, naming);
    let shorten = |text: String| text.replace(&format!("{}/", root.path().display()), "");
    let chosen = found.compiler.as_ref().map(|(nvrtc, headers)| {
        let headers = match headers {
            Headers::Bundled => "bundled".to_owned(),
            Headers::Folders(folders) => {
                folders.iter().map(|it| it.display().to_string()).collect::<Vec<_>>().join(":")
            }
        };
        shorten(format!("{} {} {headers}", nvrtc.library.display(), nvrtc.version))
    });
    assert_eq!(chosen.as_deref(), case.chosen, "{}", case.rule);
    let passed_over: Vec<String> = found
        .passed_over
        .iter()
        .map(|it| shorten(format!("{}: {}", it.path.display(), it.reason)))
        .collect();
    assert_eq!(passed_over, case.passed_over, "{}", case.rule);
}

const CASES: &[Case] = &[
    Case { rule: "nothing anywhere", files: &[], adjust: AS_IS, chosen: None, passed_over: &[] },
    Case {
        rule: "a toolkit comes before Python packages; the loader's name is used",
        files: &[
            "usr/local/cuda-13.4/lib64/libnvrtc.so.13",
            "usr/local/cuda-13.4/lib64/libnvrtc.so.13.4.10",
            "usr/local/cuda-13.4/lib64/libnvrtc-builtins.so.13.4",
            "usr/local/cuda-13.4/lib64/libnvrtc-builtins.so.13.4.10",
            "home/.local/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
            "home/.local/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc-builtins.so.13.5",
        ],
        adjust: AS_IS,
        chosen: Some("usr/local/cuda-13.4/lib64/libnvrtc.so.13 13.4.10 bundled"),
        passed_over: &["home/.local/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13: \
                            usable, but another has priority"],
    },
    Case {
        rule: "CUDA 12.8 is found and not used; Python 3.13 comes before 3.9",
        files: &[
            "usr/local/cuda-12.8/lib64/libnvrtc.so.12",
            "usr/local/cuda-12.8/lib64/libnvrtc-builtins.so.12.8",
            "venv/lib/python3.9/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
            "venv/lib/python3.9/site-packages/nvidia/cu13/lib/libnvrtc-builtins.so.13.3",
            "venv/lib/python3.13/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
            "venv/lib/python3.13/site-packages/nvidia/cu13/lib/libnvrtc-builtins.so.13.5",
            "venv/lib/python3.13/site-packages/nvidia_cuda_nvrtc-13.5.37.dist-info/RECORD",
        ],
        adjust: |surroundings, root| surroundings.virtual_env = Some(root.join("venv")),
        chosen: Some(
            "venv/lib/python3.13/site-packages/nvidia/cu13/lib/libnvrtc.so.13 13.5.37 bundled",
        ),
        passed_over: &[
            "usr/local/cuda-12.8/lib64/libnvrtc.so.12: version 12.8; supported are 13.x and 12.9, \
                 and `lightbench doctor --fetch` installs one",
            "venv/lib/python3.9/site-packages/nvidia/cu13/lib/libnvrtc.so.13: \
                 usable, but another has priority",
        ],
    },
    Case {
        rule: "13.0 works with include folders and not without",
        files: &[
            "a/lib64/libnvrtc.so.13",
            "a/lib64/libnvrtc-builtins.so.13.0",
            "b/lib64/libnvrtc.so.13",
            "b/lib64/libnvrtc-builtins.so.13.0",
            "b/include/cuda_fp16.h",
            "b/include/cccl/cub/cub.cuh",
        ],
        adjust: |surroundings, root| {
            surroundings.cuda_home = Some(root.join("a"));
            surroundings.cuda_path = Some(root.join("b"));
        },
        chosen: Some("b/lib64/libnvrtc.so.13 13.0 b/include:b/include/cccl"),
        passed_over: &[
            "a/lib64/libnvrtc.so.13: version 13.0 has no bundled headers, and `cuda_fp16.h` is in none of: a/include, \
                            a/targets/x86_64-linux/include, a/targets/sbsa-linux/include",
        ],
    },
    Case {
        rule: "truncated, without builtins, and of another format",
        files: &[
            "a/lib64/libnvrtc.so.13!100",
            "a/lib64/libnvrtc-builtins.so.13.5",
            "b/lib64/libnvrtc.so.13",
            "opt/cuda/lib64/libnvrtc.so.13",
            "opt/cuda/lib64/libnvrtc-builtins.so.13.5!30",
        ],
        adjust: |surroundings, root| {
            surroundings.cuda_home = Some(root.join("a"));
            surroundings.cuda_path = Some(root.join("b"));
        },
        chosen: None,
        passed_over: &[
            "a/lib64/libnvrtc.so.13: libnvrtc.so.13 is truncated: 100 bytes, needs at least 128",
            "b/lib64/libnvrtc.so.13: its builtins library is missing from its folder",
            "opt/cuda/lib64/libnvrtc.so.13: libnvrtc-builtins.so.13.5 is truncated: 30 bytes, \
                 needs at least 64",
        ],
    },
    Case {
        rule: "a given path wins, and nothing else is used when it holds nothing",
        files: &[
            "usr/local/cuda/lib64/libnvrtc.so.13",
            "usr/local/cuda/lib64/libnvrtc-builtins.so.13.5",
        ],
        adjust: |surroundings, root| surroundings.explicit = Some(root.join("nowhere")),
        chosen: None,
        passed_over: &["usr/local/cuda/lib64/libnvrtc.so.13: usable, but another path was given"],
    },
    Case {
        rule: "a given path may be the library itself",
        files: &[
            "usr/local/cuda/lib64/libnvrtc.so.13",
            "usr/local/cuda/lib64/libnvrtc-builtins.so.13.5",
            "site/nvidia/cu13/lib/libnvrtc.so.13",
            "site/nvidia/cu13/lib/libnvrtc-builtins.so.13.5",
            "site/nvidia_cuda_nvrtc-13.5.37.dist-info/RECORD",
        ],
        adjust: |surroundings, root| {
            surroundings.explicit = Some(root.join("site/nvidia/cu13/lib/libnvrtc.so.13"));
        },
        chosen: Some("site/nvidia/cu13/lib/libnvrtc.so.13 13.5.37 bundled"),
        passed_over: &["usr/local/cuda/lib64/libnvrtc.so.13: usable, but another path was given"],
    },
    Case {
        rule: "a folder in the cache without a receipt is not trusted",
        files: &[
            "cache/toolchain/compiler-13.5.37/nvidia/cu13/lib/libnvrtc.so.13",
            "cache/toolchain/compiler-13.5.37/nvidia/cu13/lib/libnvrtc-builtins.so.13.5",
            "cache/toolchain/.partial-x/nvidia/cu13/lib/libnvrtc.so.13",
        ],
        adjust: AS_IS,
        chosen: None,
        passed_over: &[
            "cache/toolchain/compiler-13.5.37: the install was never finished (no receipt)",
        ],
    },
];

#[test]
fn a_tree_decides_what_is_chosen_and_what_is_passed_over() {
    for case in CASES {
        check(&LINUX, case);
    }
}

#[test]
fn windows_names_are_known() {
    check(
        &WINDOWS,
        &Case {
            rule: "a wheel on Windows; one DLL cut off inside its section",
            files: &[
                "site/nvidia/cu13/bin/x86_64/nvrtc64_130_0.dll",
                "site/nvidia/cu13/bin/x86_64/nvrtc-builtins64_135.dll",
                "toolkit/bin/x64/nvrtc64_130_0.dll!140",
                "toolkit/bin/x64/nvrtc-builtins64_130.dll",
            ],
            adjust: |surroundings, root| {
                surroundings.cuda_path = Some(root.join("toolkit"));
                surroundings.explicit = Some(root.join("site"));
            },
            chosen: Some("site/nvidia/cu13/bin/x86_64/nvrtc64_130_0.dll 13.5 bundled"),
            passed_over: &["toolkit/bin/x64/nvrtc64_130_0.dll: nvrtc64_130_0.dll is truncated: \
                        140 bytes, needs at least 144"],
        },
    );
}

fn check_nvdisasm(rule: &str, files: &[&str], expected: Option<&str>) {
    let root = tree(files);
    let found = discover_as(&surroundings(root.path()), &LINUX).nvdisasm;
    let shown = found.map(|tool| {
        let path = tool.program.strip_prefix(root.path()).unwrap().display().to_string();
        format!(
            "{path} {} {}",
            tool.version.map_or("?".to_owned(), |it| it.to_string()),
            tool.source
        )
    });
    assert_eq!(shown.as_deref(), expected, "{rule}");
}

#[test]
fn a_disassembler_is_taken_from_beside_the_compiler_and_not_older() {
    const PACKAGES: &str = "home/.local/lib/python3.12/site-packages";
    let package = |file: &str| format!("{PACKAGES}/{file}");
    let compiler = [
        package("nvidia/cu13/lib/libnvrtc.so.13"),
        package("nvidia/cu13/lib/libnvrtc-builtins.so.13.5"),
    ];
    let beside = [
        package("nvidia/cu13/bin/nvdisasm"),
        package("nvidia_cuda_nvdisasm-13.5.37.dist-info/RECORD"),
    ];
    let old = [
        "usr/local/cuda/bin/nvdisasm",
        "usr/local/cuda/lib64/libnvrtc.so.12",
        "usr/local/cuda/lib64/libnvrtc-builtins.so.12.8",
    ];
    let compiler: Vec<&str> = compiler.iter().map(String::as_str).collect();
    let beside: Vec<&str> = beside.iter().map(String::as_str).collect();
    check_nvdisasm(
        "beside the compiler before the toolkit",
        &[&compiler[..], &beside, &old].concat(),
        Some(&format!("{PACKAGES}/nvidia/cu13/bin/nvdisasm 13.5.37 Python package")),
    );
    check_nvdisasm(
        "one on the search path rather than an older one",
        &[&compiler[..], &old, &["path/nvdisasm"]].concat(),
        Some("path/nvdisasm ? search path"),
    );
    check_nvdisasm(
        "an older one rather than none",
        &[&compiler[..], &old].concat(),
        Some("usr/local/cuda/bin/nvdisasm 12.8 CUDA toolkit"),
    );
    check_nvdisasm("a damaged one never", &[&compiler[..], &["path/nvdisasm!70"]].concat(), None);
}

#[test]
fn errors_name_what_was_found_and_what_to_do() {
    if naming::native().is_none() {
        return;
    }
    let root =
        tree(&["opt/cuda/lib64/libnvrtc.so.13!100", "opt/cuda/lib64/libnvrtc-builtins.so.13.5"]);
    let error = discover(&surroundings(root.path())).into_toolchain().unwrap_err().to_string();
    for part in ["found but not used", "truncated: 100 bytes", "lightbench doctor --fetch"] {
        assert!(error.contains(part), "{error}");
    }
}

fn nvrtc() -> Nvrtc {
    Nvrtc {
        library: PathBuf::from("/lib/libnvrtc.so.13"),
        builtins: PathBuf::from("/lib/libnvrtc-builtins.so.13.5"),
        version: Version::parse("13.5.37").unwrap(),
        source: Source::Toolkit,
    }
}

#[test]
fn headers_are_complete_only_after_the_last_step() {
    let cache = tempfile::tempdir().unwrap();
    let limit = std::time::Duration::from_secs(5);
    let locate = || HeaderFolder::locate(cache.path(), &nvrtc());
    let begin = || locate().begin(limit, &|| false).unwrap();
    // A killed extraction: its folder stays, and is removed by the next one.
    let HeaderExtraction::Extract(staging) = begin() else { panic!("nothing is there yet") };
    let abandoned = cache.path().join("headers/.partial-abandoned");
    fs::create_dir_all(abandoned.join("include")).unwrap();
    drop(staging);
    assert_eq!(locate().state, HeaderState::Absent);

    let HeaderExtraction::Extract(staging) = begin() else { panic!("still nothing") };
    assert!(!abandoned.exists());
    assert!(staging.finish(&nvrtc()).is_err(), "an empty extraction is refused");

    let HeaderExtraction::Extract(staging) = begin() else { panic!("still nothing") };
    fs::write(staging.include().join("cuda_fp16.h"), "half").unwrap();
    let finished = staging.finish(&nvrtc()).unwrap();
    assert_eq!(finished.state, HeaderState::Complete { files: 1, bytes: 4 });
    assert_eq!(locate(), finished);
    assert!(matches!(begin(), HeaderExtraction::Ready(_)));
    assert!(finished.is_whole());
    fs::write(finished.path.join("cuda_fp16.h"), "").unwrap();
    assert!(!locate().is_whole(), "a header was cut");
    let left = fs::read_dir(cache.path().join("headers")).unwrap().count();
    assert_eq!(left, 2, "the lock file and the finished folder");
}
