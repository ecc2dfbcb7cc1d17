//! The choice between the compilers of CUDA 13 and CUDA 12 by the driver, and the layout of the packages of CUDA 12.

use super::*;

const PACKAGES: &str = "venv/lib/python3.12/site-packages";
const LIBRARY_13: &str = "venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13";
const LIBRARY_12: &str = "venv/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12";

/// Both compilers in one environment, with the assembler and the disassembler.
const BOTH: &[&str] = &[
    LIBRARY_13,
    "venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc-builtins.so.13.5",
    "venv/lib/python3.12/site-packages/nvidia/cu13/bin/nvdisasm",
    "venv/lib/python3.12/site-packages/nvidia/cu13/bin/ptxas",
    "venv/lib/python3.12/site-packages/nvidia_cuda_nvrtc-13.5.37.dist-info/RECORD",
    "venv/lib/python3.12/site-packages/nvidia_cuda_nvcc-13.5.37.dist-info/RECORD",
    "venv/lib/python3.12/site-packages/nvidia_cuda_nvdisasm-13.5.37.dist-info/RECORD",
    LIBRARY_12,
    "venv/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.12.9",
    "venv/lib/python3.12/site-packages/nvidia/cuda_runtime/include/cuda_fp16.h",
    "venv/lib/python3.12/site-packages/nvidia/cuda_nvcc/include/crt/mma.h",
    "venv/lib/python3.12/site-packages/nvidia/cuda_nvcc/bin/ptxas",
    "venv/lib/python3.12/site-packages/nvidia/cuda_cccl/include/cuda/std/type_traits",
    "venv/lib/python3.12/site-packages/nvidia_cuda_nvrtc_cu12-12.9.86.dist-info/RECORD",
    "venv/lib/python3.12/site-packages/nvidia_cuda_nvcc_cu12-12.9.86.dist-info/RECORD",
];

/// With both compilers and this driver: version of the compiler and of the assembler, and why the other compiler is not
/// used.
fn check_driver(driver: Option<u32>, compiler: &str, assembler: &str, reason: &str) {
    let root = tree(BOTH);
    let mut around = surroundings(root.path());
    around.virtual_env = Some(root.path().join("venv"));
    around.driver = driver.map(DriverBranch);
    let found = discover_as(&around, &LINUX);
    let (nvrtc, _) = found.compiler.as_ref().unwrap();
    assert_eq!(nvrtc.version.to_string(), compiler, "{driver:?}");
    let version = |tool: &Option<Tool>| tool.as_ref().unwrap().version.unwrap().to_string();
    assert_eq!(version(&found.ptxas), assembler, "{driver:?}");
    assert_eq!(version(&found.nvdisasm), "13.5.37", "{driver:?}");
    let others: Vec<String> = found
        .passed_over
        .iter()
        .filter(|it| it.part == Part::Compiler)
        .map(|it| it.reason.to_string())
        .collect();
    assert_eq!(others, [reason], "{driver:?}");
    let other_assembler = if assembler == "13.5.37" { "cuda_nvcc" } else { "cu13" };
    let is_listed = found
        .passed_over
        .iter()
        .any(|it| it.part == Part::Ptxas && it.path.to_string_lossy().contains(other_assembler));
    // The first assembler that fits ends the search for one.
    assert_eq!(is_listed, assembler != "13.5.37", "{:?}", found.passed_over);
}

#[test]
fn of_two_compilers_the_one_for_the_driver_is_used() {
    let later = "usable, but another has priority";
    check_driver(None, "13.5.37", "13.5.37", later);
    check_driver(Some(580), "13.5.37", "13.5.37", later);
    for driver in [525, 550, 575] {
        let reason = format!(
            "usable without a GPU, but driver {driver} does not load its output: driver 580 or newer is needed"
        );
        check_driver(Some(driver), "12.9.86", "12.9.86", &reason);
    }
    // No kernel runs on this GPU, so that the newest compiler serves the virtual GPU.
    let reason = "usable without a GPU, but driver 470 does not load its output: driver 525 or newer is needed";
    check_driver(Some(470), "13.5.37", "13.5.37", reason);
}

#[test]
fn one_compiler_alone_is_used_with_every_driver() {
    for (files, version) in [(&BOTH[..7], "13.5.37"), (&BOTH[7..], "12.9.86")] {
        let root = tree(files);
        let mut around = surroundings(root.path());
        around.virtual_env = Some(root.path().join("venv"));
        for driver in [None, Some(470), Some(550), Some(580)] {
            around.driver = driver.map(DriverBranch);
            let (nvrtc, _) = discover_as(&around, &LINUX).compiler.unwrap();
            assert_eq!(nvrtc.version.to_string(), version, "{driver:?}");
        }
    }
}

#[test]
fn a_toolkit_of_the_major_version_that_fits_comes_before_python_packages() {
    const OLD: &str = "usr/local/cuda-12.9/lib64/libnvrtc.so.12";
    let files = [
        OLD,
        "usr/local/cuda-12.9/lib64/libnvrtc-builtins.so.12.9",
        "usr/local/cuda-12.9/include/cuda_fp16.h",
        "usr/local/cuda-12.9/include/crt/mma.h",
        "usr/local/cuda-12.9/include/cuda/std/type_traits",
    ];
    let root = tree(&[BOTH, &files[..]].concat());
    let mut around = surroundings(root.path());
    around.virtual_env = Some(root.path().join("venv"));
    for (driver, expected) in [(None, LIBRARY_13), (Some(580), LIBRARY_13), (Some(535), OLD)] {
        around.driver = driver.map(DriverBranch);
        let (nvrtc, _) = discover_as(&around, &LINUX).compiler.unwrap();
        assert_eq!(nvrtc.library, root.path().join(expected), "{driver:?}");
    }
}

const FOLDERS_12: &str = "venv/lib/python3.12/site-packages/nvidia/cuda_runtime/include:\
                          venv/lib/python3.12/site-packages/nvidia/cuda_nvcc/include:\
                          venv/lib/python3.12/site-packages/nvidia/cuda_cccl/include";

#[test]
fn the_headers_of_cuda_12_are_in_three_packages() {
    let chosen = format!("{LIBRARY_12} 12.9.86 {FOLDERS_12}");
    for given in [
        "",
        "/nvidia/cuda_nvrtc",
        "/nvidia/cuda_nvrtc/lib",
        "/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
    ] {
        let root = tree(&BOTH[7..]);
        let around = HostEnvironment {
            explicit: Some(root.path().join(format!("{PACKAGES}{given}"))),
            system: root.path().join("none"),
            ..HostEnvironment::default()
        };
        let (nvrtc, headers) = discover_as(&around, &LINUX).compiler.unwrap();
        let Headers::Folders(folders) = headers else { panic!("headers lie in folders") };
        let folders: Vec<String> = folders.iter().map(|it| it.display().to_string()).collect();
        let found = format!("{} {} {}", nvrtc.library.display(), nvrtc.version, folders.join(":"));
        assert_eq!(found.replace(&format!("{}/", root.path().display()), ""), chosen, "{given}");
    }
}

#[test]
fn a_compiler_without_all_its_headers_is_not_used() {
    for (missing, header) in [
        ("cuda_runtime/include", "cuda_fp16.h"),
        ("cuda_nvcc/include", "crt/mma.h"),
        ("cuda_cccl/include", "cuda/std/type_traits"),
    ] {
        let files: Vec<&str> =
            BOTH[7..].iter().copied().filter(|file| !file.contains(missing)).collect();
        let root = tree(&files);
        let mut around = surroundings(root.path());
        around.virtual_env = Some(root.path().join("venv"));
        let found = discover_as(&around, &LINUX);
        assert!(found.compiler.is_none(), "{missing}");
        let reason = found.passed_over[0].reason.to_string();
        let expected =
            format!("version 12.9.86 has no bundled headers, and `{header}` is in none of: ");
        assert!(reason.starts_with(&expected), "{reason}");
    }
}

#[test]
fn an_untrusted_folder_with_several_packages_is_listed_once() {
    let folder = "cache/toolchain/compiler-12.9.86/nvidia";
    let files = [
        format!("{folder}/cu13/bin/nvdisasm"),
        format!("{folder}/cuda_nvcc/bin/ptxas"),
        format!("{folder}/cuda_nvrtc/lib/libnvrtc.so.12"),
    ];
    let root = tree(&files.each_ref().map(String::as_str));
    let found = discover_as(&surroundings(root.path()), &LINUX);
    assert_eq!(found.passed_over.len(), 1, "{:?}", found.passed_over);
}

#[test]
fn windows_packages_of_cuda_12_are_known() {
    check(
        &WINDOWS,
        &Case {
            rule: "packages of CUDA 12 on Windows",
            files: &[
                "site/nvidia/cuda_nvrtc/bin/nvrtc64_120_0.dll",
                "site/nvidia/cuda_nvrtc/bin/nvrtc-builtins64_129.dll",
                "site/nvidia/cuda_runtime/include/cuda_fp16.h",
                "site/nvidia/cuda_nvcc/include/crt/mma.h",
                "site/nvidia/cuda_cccl/include/cuda/std/type_traits",
            ],
            adjust: |surroundings, root| surroundings.explicit = Some(root.join("site")),
            chosen: Some(
                "site/nvidia/cuda_nvrtc/bin/nvrtc64_120_0.dll 12.9 site/nvidia/cuda_runtime/include:\
                 site/nvidia/cuda_nvcc/include:site/nvidia/cuda_cccl/include",
            ),
            passed_over: &[],
        },
    );
}
