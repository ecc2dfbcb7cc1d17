//! Logs of TritonParse: formulas from recorded numbers, the choice of a kernel, and what is refused.

use std::fs;
use std::io::Write as _;

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use lightbench_project::Project;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::example;
use crate::input::read_at_most;
use crate::{Format, Options, Written, import_with, write};

/// A kernel that adds a row to each row of a matrix. `json!` sorts keys, as the names of the parameters are.
const PYTHON: &str = "    @triton.jit\n    def add_row(a_ptr, b_ptr, c_ptr, m, n, tile: tl.constexpr):\n\
    \x20       at = tl.program_id(0) * n + tl.arange(0, tile)\n\
    \x20       tl.store(c_ptr + at, tl.load(a_ptr + at) + tl.load(b_ptr + at))\n";

const PTX: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry add_row(.param .u64 a, .param .u64 b, \
    .param .u64 c, .param .u32 d, .param .u32 e, .param .u64 f)\n{\n    ret;\n}\n";

fn compilation(hash: &str) -> Value {
    json!({"event_type": "compilation", "pid": 1, "payload": {
        "metadata": {"name": "add_row", "hash": hash, "num_warps": 2, "shared": 64, "src_constants": {"(5,)": 128},
            "src_attrs": {"(0,)": [["tt.divisibility", 16]], "(4,)": [["tt.divisibility", 16]]}},
        "file_content": {"add_row.ptx": PTX}, "python_source": {"code": PYTHON}}})
}

fn tensor(shape: &[u64], strides: &[u64]) -> Value {
    json!({"type": "tensor", "shape": shape, "stride": strides, "dtype": "torch.float32"})
}

fn launch(hash: &str, rows: u64, cols: u64) -> Value {
    json!({"event_type": "launch", "pid": 1, "grid": [rows, cols.div_ceil(128)], "compilation_metadata": {"hash": hash},
        "extracted_args": {
            "a_ptr": tensor(&[rows, cols], &[cols, 1]), "b_ptr": tensor(&[cols], &[1]),
            "c_ptr": tensor(&[rows, cols], &[cols, 1]), "m": {"type": "int", "value": rows},
            "n": {"type": "int", "value": cols}, "tile": {"type": "int", "value": 128}}})
}

/// The lines of a log with two sizes.
fn log() -> Vec<Value> {
    vec![compilation("0a1b"), launch("0a1b", 3, 48), launch("0a1b", 5, 160), launch("0a1b", 5, 160)]
}

fn text(events: &[Value]) -> String {
    events.iter().map(|event| format!("{event}\n")).collect()
}

fn imported(text: &str, kernel: Option<&str>) -> Result<(tempfile::TempDir, Written), String> {
    let base = tempfile::tempdir().unwrap();
    let file = base.path().join("log.ndjson");
    fs::write(&file, text).unwrap();
    let options = Options { kernel: kernel.map(str::to_owned), ..Options::default() };
    let imported = import_with(&file, &options).map_err(|error| error.to_string())?;
    let written = write(&base.path().join("new"), imported).map_err(|error| error.to_string())?;
    Project::load(&written.folder).unwrap();
    Ok((base, written))
}

/// Project and kernel of a log contain these texts.
fn check(events: &[Value], expected: &[&str]) {
    let (_base, written) = imported(&text(events), None).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(written.report.format, Format::TritonParse);
    let read = |name: &str| fs::read_to_string(written.folder.join(name)).unwrap();
    let all = format!("{}{}", read("project.ron"), read("kernels/add_row.ptx"));
    for part in expected {
        assert!(all.contains(part), "no {part}:\n{all}");
    }
}

fn check_refused(events: &[Value], kernel: Option<&str>, expected: &str) {
    let error = imported(&text(events), kernel).map(drop).unwrap_err();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn numbers_of_several_launches_become_formulas() {
    check(
        &log(),
        &[
            "(name: \"m\", min: 3, max: 5)",
            "(name: \"n\", min: 48, max: 160, multiple_of: 16)",
            "(name: \"b\", dtype: f32, shape: [\"n\"], role: input)",
            "shape: [\"m\", \"n\"], role: output",
            "args: [\"a\", \"b\", \"c\", \"m: i32\", \"n: i32\", \"null\"]",
            "grid: [\"m\", \"ceil_div(n, 128)\"], block: [\"64\"], shared: \"64\"",
            "(name: \"largest\", purpose: measure, axes: {\"m\": 5, \"n\": 160})",
        ],
    );
}

#[test]
fn one_launch_has_fixed_sizes() {
    let expected = ["(name: \"m\", min: 3, max: 3)", "max: 48", "grid: [\"m\"]"];
    check(&log()[..2], &expected);
}

#[test]
fn launches_with_numbers_without_formula_are_left_out() {
    let mut events = log();
    // The two launches of 5 rows are the most frequent ones.
    events[1]["grid"] = json!([77]);
    check(&events, &["(name: \"m\", min: 5, max: 5)"]);
    let (_base, written) = imported(&text(&events), None).unwrap();
    let left_out = &written.report.left_out;
    assert!(left_out.iter().any(|part| part.what == "1 of 2 different launches"), "{left_out:?}");
}

#[test]
fn texts_of_a_log_are_no_names() {
    let mut events = log();
    for event in &mut events[1..] {
        let arguments = event["extracted_args"].as_object_mut().unwrap();
        let value = arguments.remove("m").unwrap();
        arguments.insert("m\"), (x".to_owned(), value);
    }
    check(&events, &["(name: \"a_0\", min: 3, max: 5)"]);
}

#[test]
fn many_launches_take_no_longer_than_some() {
    let mut events = vec![compilation("0a1b")];
    events.extend((1..600).map(|rows| launch("0a1b", rows, 48)));
    check(&events, &["(name: \"m\", min: 1, max: 256)", "grid: [\"m\"]"]);
}

#[test]
fn permuted_tensors_have_the_order_of_their_memory() {
    let mut events = log();
    for (event, [rows, cols]) in events[1..].iter_mut().zip([[3, 48], [5, 160], [5, 160]]) {
        event["extracted_args"]["a_ptr"] = tensor(&[rows, cols], &[1, rows]);
    }
    check(&events, &["(name: \"a\", dtype: f32, shape: [\"n\", \"m\"], role: input)"]);
    events[1]["extracted_args"]["a_ptr"] = tensor(&[3, 48], &[64, 1]);
    check_refused(&events[..2], None, "`a_ptr` with the sizes [3, 48] and the strides [64, 1]");
}

#[test]
fn scratch_memory_and_numbers_become_arguments() {
    let mut events = log();
    events[0]["payload"]["metadata"]["global_scratch_size"] = json!(256);
    check(&events, &["(name: \"scratch\", dtype: u8, shape: [\"", "\"n: i32\", \"scratch\"]"]);
}

#[test]
fn a_kernel_is_chosen_by_name_or_hash() {
    let mut events = log();
    let mut other = compilation("ffee");
    events.extend([other.clone(), launch("ffee", 3, 48)]);
    let (_base, written) = imported(&text(&events), None).unwrap();
    assert!(written.report.left_out[0].what.contains("ffee"), "{:?}", written.report.left_out);
    let (_base, written) = imported(&text(&events), Some("ff")).unwrap();
    assert!(written.report.carried[1].contains("ffee"), "{:?}", written.report.carried);
    check_refused(&events, Some("scale"), "no kernel `scale`; expected one of `add_row`");
    other["payload"]["metadata"]["name"] = json!("scale");
    other["payload"]["metadata"]["hash"] = json!("1234");
    events.push(other);
    check_refused(&events, None, "2 kernels: `add_row`, `scale`; expected one");
    check_refused(&events, Some("scale"), "no launch of `scale` with its arguments");
    check_refused(&log()[..1], None, "no launch of `add_row`");
}

#[test]
fn what_a_project_cannot_express_is_refused_at_its_line() {
    let check = |line: usize, pointer: &str, value: Value, expected: &str| {
        let mut events = log();
        *events[line].pointer_mut(pointer).unwrap() = value;
        check_refused(&events, None, expected);
    };
    check(
        0,
        "/payload/file_content",
        json!({}),
        "line 1, payload.file_content[\"add_row.ptx\"]: nothing",
    );
    check(
        0,
        "/payload/python_source/code",
        json!("x = 1"),
        "line 1, the kernel `add_row`: no kernel `add_row`",
    );
    check(0, "/payload/file_content/add_row.ptx", json!("nothing"), "PTX without its entry");
    check(0, "/payload/metadata/src_constants", json!({"(5, 0)": 1}), "the key `(5, 0)`");
    let constants = json!({"(1,)": 1, "(2,)": 1, "(3,)": 1, "(5,)": 128});
    check(0, "/payload/metadata/src_constants", constants, "4 more parameters than arguments");
    check(0, "/payload/metadata/num_warps", json!(-4), "metadata.num_warps: -4");
    check(1, "/grid", json!([0]), "line 2, grid: a list of 1; expected one to three extents");
    check(1, "/extracted_args/a_ptr/dtype", json!("torch.complex64"), "`torch.complex64`");
    check(1, "/extracted_args/a_ptr/stride", json!([1]), "one stride for each size");
    let mut events = log();
    events.truncate(2);
    events[1]["extracted_args"]["a_ptr"] = json!({"type": "TensorDescriptor"});
    check_refused(&events, None, "`a_ptr` of the type TensorDescriptor");
    events[1] = launch("0a1b", 1 << 40, 48);
    check_refused(&events, None, "`a_ptr` with the sizes [1099511627776, 48]");
    let mut events = log();
    events[0]["payload"]["metadata"]["cluster_dims"] = json!([2, 1, 1]);
    check_refused(&events, None, "its blocks form clusters");
}

#[test]
fn compressed_logs_are_unpacked_within_their_limit() {
    let base = tempfile::tempdir().unwrap();
    let pack = |name: &str, parts: &[&[u8]]| {
        let path = base.path().join(name);
        let mut bytes = Vec::new();
        for part in parts {
            let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
            packed.write_all(part).unwrap();
            bytes.extend(packed.finish().unwrap());
        }
        fs::write(&path, bytes).unwrap();
        path
    };
    // A log may be packed line by line.
    let lines: Vec<String> = log().iter().map(|event| format!("{event}\n")).collect();
    let lines: Vec<&[u8]> = lines.iter().map(String::as_bytes).collect();
    let path = pack("log.ndjson.gz", &lines);
    assert_eq!(import_with(&path, &Options::default()).unwrap().report.format, Format::TritonParse);
    let path = pack("bomb.ndjson.gz", &[vec![b' '; 1 << 20].as_slice(); 2]);
    let packed = MultiGzDecoder::new(fs::File::open(&path).unwrap());
    let error = read_at_most(&path, packed, 1 << 20).unwrap_err().to_string();
    assert!(error.contains("1048577 bytes; expected at most 1048576"), "{error}");
    fs::write(&path, "no gzip").unwrap();
    let error = import_with(&path, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("cannot read it"), "{error}");
}

#[test]
fn the_example_has_the_sizes_of_its_launches() {
    let base = tempfile::tempdir().unwrap();
    let imported =
        import_with(&example("triton_parse/product.ndjson"), &Options::default()).unwrap();
    let written = write(&base.path().join("new"), imported).unwrap();
    let kernel = fs::read_to_string(written.folder.join("kernels/product_kernel.ptx")).unwrap();
    assert!(kernel.contains("grid: [\"ceil_div(M, 64) * ceil_div(N, 32)\"]"), "{kernel}");
    let project = fs::read_to_string(written.folder.join("project.ron")).unwrap();
    assert!(project.contains("(kind: contraction, count: \"2 * M * N * K\")"), "{project}");
    assert!(project.contains("(name: \"b\", dtype: f16, shape: [\"N\", \"K\"]"), "{project}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Values of all kinds at all places of a log.
    #[test]
    fn no_log_panics(line in 0_usize..4, place in any::<prop::sample::Index>(), kind in 0_usize..8) {
        let mut events = log();
        let mut places = Vec::new();
        collect(&events[line], String::new(), &mut places);
        let value = [json!(null), json!(0), json!(-1), json!(u64::MAX), json!(1e300), json!(""), json!([]), json!({})];
        *events[line].pointer_mut(place.get::<String>(&places)).unwrap() = value[kind].clone();
        imported(&text(&events), None).ok();
    }
}

/// The places of all values inside a value.
fn collect(value: &Value, at: String, places: &mut Vec<String>) {
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(entries) => {
            entries.iter().map(|(key, value)| (key.replace('/', "~1"), value)).collect()
        }
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    for (key, value) in inner {
        collect(value, format!("{at}/{key}"), places);
    }
    places.push(at);
}
