//! Declarations of tensor maps: the numbers that they become, and a declaration beyond each limit.

use std::collections::BTreeMap;

use lightbench_primitives::tensor_map::{MapElement, MapRegion, TensorMap};

use super::fixture::{bent, check, files, load, problems};
use crate::{DeviceFacts, PlannedArgument, PlannedStep};

const NAIVE: &str = "kernels/naive.cu";

/// The launch block with one tensor map `t`.
fn declared(map: &str) -> String {
    format!("tensor_maps: [(name: \"t\", {map})], flags: [")
}

/// The map in the workload of 7 rows and 264 columns.
fn planned(files: &[(String, String)]) -> TensorMap {
    let project = load(files).unwrap_or_else(|error| panic!("{error}"));
    let kernel = project.kernel("naive").unwrap_or_else(|error| panic!("{error}"));
    let environment = project.environment(project.workload("odd-rows").unwrap());
    let device = DeviceFacts::default();
    let selection = kernel.launch.select(&environment, &BTreeMap::new(), &device).unwrap();
    let plan = kernel.launch.plan(&environment, &selection, &device, &BTreeMap::new()).unwrap();
    plan.tensor_maps[0].clone()
}

type Expected<'a> = (MapElement, &'a [u64], &'a [u64], u64, MapRegion, &'a [u32]);

fn check_numbers(files: &[(String, String)], expected: Expected<'_>) {
    let map = planned(files);
    let (element, dims, strides, offset, region, element_strides) = expected;
    assert_eq!((map.element, map.offset), (element, offset), "{map:?}");
    assert_eq!((map.dims.as_slice(), map.strides.as_slice()), (dims, strides), "{map:?}");
    assert_eq!((&map.region, map.element_strides.as_slice()), (&region, element_strides));
}

#[test]
fn a_declaration_becomes_numbers_with_the_innermost_dimension_first() {
    let tiled = |sides: &[u32]| MapRegion::Tiled(sides.to_vec());
    let check = |map: &str, expected: Expected<'_>| {
        check_numbers(&bent(NAIVE, "flags: [", &declared(map)), expected);
    };
    let bf16 = MapElement::Bf16;
    check(
        r#"tensor: "x", box: [16, "BLOCK / 2"], swizzle: b128"#,
        (bf16, &[264, 7], &[528], 0, tiled(&[64, 16]), &[1, 1]),
    );
    check(
        r#"tensor: "w", box: [256], data_type: u16"#,
        (MapElement::U16, &[264], &[], 0, tiled(&[256]), &[1]),
    );
    check(
        r#"tensor: "partial", box: [7, 4], data_type: tf32, fill: nan"#,
        (MapElement::Tf32, &[4, 7], &[16], 0, tiled(&[4, 7]), &[1, 1]),
    );
    // Rows of 8 elements, each second one of three, behind the first row.
    check(
        r#"tensor: "x", shape: [6, 33, 8], offset: "cols", box: [1, 32, 8], element_strides: [1, 2, 1]"#,
        (bf16, &[8, 33, 6], &[16, 528], 528, tiled(&[8, 32, 1]), &[1, 2, 1]),
    );
    check(
        r#"tensor: "x", shape: ["rows", 3, 64], strides: ["cols", 88, 1], box: [1, 3, 64]"#,
        (bf16, &[64, 3, 7], &[176, 528], 0, tiled(&[64, 3, 1]), &[1, 1, 1]),
    );
    let im2col = r#"tensor: "x", shape: [1, 7, 11, 24],
        im2col: (lower_corner: [-1, -2], upper_corner: [1, 2], channels: 24, pixels: "BLOCK // 2")"#;
    let region = MapRegion::Im2col {
        lower_corner: vec![-2, -1],
        upper_corner: vec![2, 1],
        channels: 24,
        pixels: 64,
    };
    check(im2col, (bf16, &[24, 11, 7, 1], &[48, 528, 3696], 0, region, &[1; 4]));
}

#[test]
fn a_map_without_a_shape_has_the_layout_of_its_tensor() {
    let mut files = bent(NAIVE, "flags: [", &declared(r#"tensor: "x", box: [8, 64]"#));
    let shape = r#"name: "x", dtype: bf16, shape: ["rows", "cols"]"#;
    let layout = format!("{shape}, layout: leading_dimension(\"cols + 8\")");
    files[0].1 = files[0].1.replace(shape, &layout);
    let region = MapRegion::Tiled(vec![64, 8]);
    check_numbers(&files, (MapElement::Bf16, &[264, 7], &[544], 0, region, &[1, 1]));
}

/// The declaration, where the problem begins, and some of its words.
const REFUSED: &[(&str, &str, &str)] = &[
    (r#"tensor: "z", box: [8]"#, "\"z\"", "unknown buffer `z`"),
    (r#"tensor: "x", box: [64]"#, "[64]", "`box` of the tensor map `t`: 1 in workload `odd-rows`"),
    (
        r#"tensor: "x", box: [64, 257]"#,
        "257",
        "`box[1]` of the tensor map `t`: 257 (`257`) in workload `odd-rows`; 1 to 256",
    ),
    (r#"tensor: "x", box: [0, 64]"#, "0", "`box[0]` of the tensor map `t`: 0"),
    (r#"tensor: "x", box: [8, "BLOCK * 4"]"#, "\"BLOCK", "512 (`BLOCK * 4`)"),
    (r#"tensor: "x", box: [8, -1]"#, "[8", "`-1` is -1 in workload `odd-rows`"),
    (r#"tensor: "x", box: [8, "colz"]"#, "colz", "write `cols`"),
    (r#"tensor: "x", box: [8, "64 // (rows - 7)"]"#, "64 //", "zero"),
    (
        r#"tensor: "x", box: [64, 4]"#,
        "4]",
        "8 bytes (`4`) in workload `odd-rows`; a multiple of 16",
    ),
    (
        r#"tensor: "x", box: [8, 128], swizzle: b128"#,
        "128",
        "at most 128 bytes, the swizzle's span",
    ),
    (r#"tensor: "x", shape: ["rows - 7", 8], box: [1, 8]"#, "\"rows", "1 to 2^32"),
    (r#"tensor: "x", shape: [1, 1, 1, 1, 1, 8], box: [8]"#, "[1, 1", "6 dimensions in workload"),
    (r#"tensor: "x", shape: ["rows + 1", "cols"], box: [1, 8]"#, "[\"rows", "ends at byte 4224"),
    (r#"tensor: "x", strides: ["cols + 1", 1], box: [1, 8]"#, "\"cols + 1", "530 (`cols + 1`)"),
    (r#"tensor: "x", strides: ["cols", 2], box: [1, 8]"#, "2]", "1: the elements of the last"),
    (r#"tensor: "x", strides: ["cols"], box: [1, 8]"#, "[\"cols", "1 strides for 2 dimensions"),
    (r#"tensor: "x", strides: ["2 ** 40", 1], box: [1, 8]"#, "\"2 **", "below 2^40"),
    (r#"tensor: "x", offset: 4, box: [1, 8]"#, "4", "`offset` of the tensor map `t`: 8 (`4`)"),
    (r#"tensor: "x", offset: 8, box: [1, 8]"#, "\"x\"", "ends at byte 3712"),
    (r#"tensor: "x", element_strides: [9, 1], box: [1, 8]"#, "9", "1 to 8"),
    (r#"tensor: "x", element_strides: [0, 1], box: [1, 8]"#, "0", "1 to 8"),
    (r#"tensor: "x", element_strides: [1], box: [1, 8]"#, "[1]", "2, one for each dimension"),
    (r#"tensor: "x", box: [1, 8], data_type: u16, fill: nan"#, "nan", "nan for u16"),
    (r#"tensor: "x", box: [1, 8], data_type: tf32"#, "tf32", "one of u16, bf16"),
    (r#"tensor: "x", box: [1, 8], data_type: i16"#, "", "i16"),
    (r#"tensor: "x", box: [1, 8], interleave: b16"#, "\"x\"", "2 dimensions"),
    (
        r#"tensor: "x", shape: [4, 4, 16], box: [1, 4, 4], interleave: b32, swizzle: b64"#,
        "b64",
        "b32 with an interleave of b32",
    ),
    (
        r#"tensor: "x", shape: [4, 4, 16], box: [1, 4, 4], interleave: b16, swizzle: b32"#,
        "b32",
        "none with an interleave of b16",
    ),
    (
        r#"tensor: "x", shape: [4, 4, 8], box: [1, 4, 4], interleave: b32, swizzle: b32"#,
        "\"x\"",
        "a multiple of 32 bytes below 2^40",
    ),
    (r#"tensor: "x""#, "(name: \"t\"", "without `box` and without `im2col`"),
    (
        r#"tensor: "x", box: [1, 8], im2col: (lower_corner: [], upper_corner: [], channels: 8, pixels: 8)"#,
        "(lower",
        "with `box` and with `im2col`",
    ),
    (
        r#"tensor: "x", im2col: (lower_corner: [], upper_corner: [], channels: 8, pixels: 8)"#,
        "\"x\"",
        "2 dimensions in workload `odd-rows`; 3 to 5 for im2col",
    ),
    (
        r#"tensor: "x", shape: [1, 1, 7, 8], im2col: (lower_corner: [-129, 0], upper_corner: [0, 0], channels: 8, pixels: 8)"#,
        "-129",
        "`lower_corner[0]` of the tensor map `t`: -129 (`-129`)",
    ),
    (
        r#"tensor: "x", shape: [1, 1, 7, 8], im2col: (lower_corner: [0, 0], upper_corner: [0, 128], channels: 8, pixels: 8)"#,
        "128",
        "`upper_corner[1]` of the tensor map `t`: 128 (`128`)",
    ),
    (
        r#"tensor: "x", shape: [1, 7, 8], im2col: (lower_corner: [0], upper_corner: [0], channels: 257, pixels: 8)"#,
        "257",
        "`channels` of the tensor map `t`: 257 (`257`)",
    ),
    (
        r#"tensor: "x", shape: [1, 7, 8], im2col: (lower_corner: [0], upper_corner: [0], channels: 8, pixels: 1025)"#,
        "1025",
        "1 to 1024",
    ),
    (
        r#"tensor: "x", shape: [1, 7, 8], im2col: (lower_corner: [0], upper_corner: [0], channels: 7, pixels: 1)"#,
        "7, pixels",
        "a multiple of 16 bytes",
    ),
];

#[test]
fn every_limit_has_its_problem() {
    let outcomes = REFUSED
        .iter()
        .map(|(map, marked, found)| check(NAIVE, ("flags: [", &declared(map)), marked, found));
    let failures: Vec<String> = outcomes.filter_map(Result::err).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_tensor_of_a_map_is_aligned() {
    let check = |align: u64, modes: &str, expected: Option<&str>| {
        let map = format!("tensor: \"x\", shape: [4, 4, 16], box: [1, 4, 4]{modes}");
        let mut files = bent(NAIVE, "flags: [", &declared(&map));
        let name = r#"name: "x", dtype: bf16"#;
        files[0].1 = files[0].1.replace(name, &format!("{name}, align: {align}"));
        let found: Vec<String> = problems(&files).iter().map(ToString::to_string).collect();
        match expected {
            None => assert!(found.is_empty(), "{found:?}"),
            Some(words) => assert!(found.iter().any(|line| line.contains(words)), "{found:?}"),
        }
    };
    let interleaved = ", interleave: b32, swizzle: b32";
    let plain = ", data_type: u16";
    check(32, interleaved, None);
    check(16, interleaved, Some("write `align: 32` for `x`"));
    check(16, ", interleave: b16", None);
    // A row of 4 elements has 8 bytes.
    check(16, plain, Some("a multiple of 16 bytes"));
    check(8, ", interleave: b16", Some("`x` is aligned to 8 bytes; expected at least 16 bytes"));
}

#[test]
fn a_reference_has_no_tensor_maps() {
    let found = check(
        "reference.cu",
        ("steps:", "tensor_maps: [(name: \"t\", tensor: \"x\", box: [1, 8])], steps:"),
        "[(name",
        "a reference with tensor maps",
    );
    assert_eq!(found, Ok(()));
}

#[test]
fn a_map_is_an_argument_of_128_bytes() {
    let mut files = files();
    files[2].1 = files[2]
        .1
        .replace("flags: [", &declared(r#"tensor: "x", box: [1, 8]"#))
        .replace("block: [\"BLOCK\"],", "block: [\"BLOCK\"], args: [\"t\", \"y\"],");
    let project = load(&files).unwrap();
    let launch = &project.kernel("naive").unwrap().launch;
    let environment = project.environment(project.workload("llama-8b").unwrap());
    let device = DeviceFacts::default();
    let selection = launch.select(&environment, &BTreeMap::new(), &device).unwrap();
    let plan = launch.plan(&environment, &selection, &device, &BTreeMap::new()).unwrap();
    let PlannedStep::Launch(step) = &plan.steps[0] else { panic!("{plan:?}") };
    let sizes: Vec<Option<u64>> = step.arguments.iter().map(PlannedArgument::bytes).collect();
    assert_eq!(sizes, [128, 8].map(Some));
    assert_eq!(plan.tensor_maps[0].dims, [8192, 16_384]);
}
