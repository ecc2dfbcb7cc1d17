//! Textures and surfaces, from the launch block to the verdict.

use crate::compiler;
use crate::program::{Bench, Said, copy_folder, repository};

/// The project, in a bench of its own.
fn box_filter() -> Bench {
    let bench = Bench::new();
    let folder = bench.path().join("box-filter");
    copy_folder(&repository().join("tests/textures/box-filter"), &folder);
    bench
}

fn run(bench: &Bench, kernel: &str) -> Said {
    let folder = bench.path().join("box-filter");
    let folder = folder.to_str().unwrap();
    bench.run(&["run", folder, "--kernel", kernel, "--device", "virtual:h200", "--seed", "1"])
}

#[test]
fn kernels_with_textures_and_surfaces_are_verified() {
    if compiler::required().is_none() {
        return;
    }
    let bench = box_filter();
    for kernel in ["array", "linear", "surfaces"] {
        run(&bench, kernel).expect(0, &["is correct"]);
    }
    run(&bench, "same-launch").expect(1, &["data race", "a texture fetch or surface load"]);
    run(&bench, "half-a-texel").expect(1, &["is wrong in workload `small`"]);
}

/// What is written instead in `kernels/array.cu`, and a part of the message.
const REFUSED: &[(&str, &str, &str)] = &[
    ("tensor: \"x\"", "tensor: \"x\", filter: linear, address: wrap", "`normalized: true` with it"),
    ("tensor: \"x\"", "tensor: \"x\", channels: 3", "expected 1, 2 or 4"),
    ("tensor: \"x\"", "tensor: \"x\", channels: 4", "expected 4, the channels"),
    ("tensor: \"x\"", "tensor: \"x\", read: normalized", "integers of 8 and 16 bits"),
    ("tensor: \"x\"", "tensor: \"z\"", "unknown buffer `z`"),
    ("\"image\", \"y\"", "\"x\", \"y\"", "is in an array, and used by its address"),
    ("\"image\", \"y\"", "\"picture\", \"y\"", "unknown argument `picture`"),
    (
        "textures: [(",
        "surfaces: [(name: \"out\", tensor: \"x\", channels: 2)], textures: [(",
        "as another object of the tensor",
    ),
    (
        "tex2D<float>(image, column + j + 0.5f, row + i + 0.5f)",
        "tex1D<float>(image, column + 0.5f)",
        "1 coordinates of an object of 2 dimensions",
    ),
    (
        "tex2D<float>(image, column + j + 0.5f, row + i + 0.5f)",
        "tex2D<int>(image, column + 0.5f, row)",
        "a fetch of integers from a texture that returns f32",
    ),
];

#[test]
fn objects_that_do_not_fit_are_refused_with_the_limit() {
    if compiler::required().is_none() {
        return;
    }
    for (old, new, words) in REFUSED {
        let bench = box_filter();
        let file = bench.path().join("box-filter/kernels/array.cu");
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains(old), "{old}");
        std::fs::write(&file, text.replace(old, new)).unwrap();
        let said = run(&bench, "array");
        let everything = said.everything();
        assert!(said.status != 0 && everything.contains(words), "{new}: {words}\n{everything}");
    }
}
