//! What can be asked for: parameters, workloads, single kernels, builds, devices; and the cache behind it.

use std::process::Stdio;

use super::*;

#[test]
fn the_document_has_every_fact() {
    if compiler::required().is_none() {
        return;
    }
    let document = check_scale(&Bench::new(), &["--json"]).json();
    let has = |value: &Value, fields: &[&str]| {
        for field in fields {
            assert!(value.get(field).is_some(), "{field} in {value}");
        }
    };
    assert_eq!(document["schema"], "lightbench.check/1");
    assert_eq!(document["project"]["name"], "scale");
    assert_eq!(document["device"]["architecture"], "sm_90");
    assert_eq!(document["workload"]["axes"]["rows"], 4096);
    has(&document, &["compiler", "build", "kernels", "seconds"]);
    let tuned = kernel(&document, "tuned");
    has(tuned, &["candidate", "file", "title", "origin", "warnings", "other"]);
    assert_eq!(tuned["parameters"], serde_json::json!({ "BLOCK": 128, "UNROLL": 4 }));
    let launch = &tuned["launches"][0];
    assert_eq!(launch["kernel"], "scale<128, 4>");
    assert_eq!(launch["grid"], serde_json::json!([32768, 1, 1]));
    assert_eq!(launch["block"], serde_json::json!([128, 1, 1]));
    assert_eq!(launch["max_threads"], serde_json::json!([128, 1, 1]));
    assert_eq!(launch["parameters"].as_array().unwrap().len(), 4);
    assert_eq!(launch["resources"]["static_shared_bytes"], 512);
    has(
        &launch["resources"],
        &["registers", "spill_store_bytes", "stack_bytes", "constant_bytes", "code_bytes"],
    );
    has(&launch["occupancy"], &["blocks_per_sm", "warps_per_sm", "fraction", "limited_by"]);
}

/// What a request changes in the document's first kernel, by JSON pointer.
fn check(arguments: &[&str], expected: &[(&str, Value)]) {
    if compiler::required().is_none() {
        return;
    }
    let said = check_scale(&Bench::new(), &[arguments, &["--json"]].concat());
    said.expect(0, &[]);
    let document = said.json();
    for (pointer, value) in expected {
        assert_eq!(document.pointer(pointer), Some(value), "{pointer} of {arguments:?}");
    }
}

#[test]
fn a_parameter_replaces_the_default() {
    check(
        &["--kernel", "tuned", "--param", "BLOCK=256"],
        &[
            ("/kernels/0/parameters/BLOCK", 256.into()),
            ("/kernels/0/parameters/UNROLL", 4.into()),
            ("/kernels/0/launches/0/kernel", "scale<256, 4>".into()),
            ("/kernels/0/launches/0/resources/static_shared_bytes", 1024.into()),
        ],
    );
}

#[test]
fn over_a_project_a_parameter_is_for_the_kernels_that_have_it() {
    check(
        &["--param", "UNROLL=8"],
        &[
            ("/kernels/0/parameters", serde_json::json!({})),
            ("/kernels/1/parameters/UNROLL", 8.into()),
        ],
    );
}

#[test]
fn a_workload_decides_the_grid() {
    check(
        &["--workload", "odd"],
        &[
            ("/workload/axes/cols", 37.into()),
            ("/kernels/0/launches/0/grid", serde_json::json!([1, 1, 1])),
        ],
    );
}

#[test]
fn a_kernel_can_be_checked_alone() {
    check(&["--kernel", "reference"], &[("/kernels/0/name", "reference".into())]);
    check(&["--kernel", "short"], &[("/kernels/0/file", "wrong/short.cu".into())]);
}

#[test]
fn a_device_decides_the_architecture() {
    check(&["--device", "t4"], &[("/device/architecture", "sm_75".into())]);
    check(&["--device", "rtx5090"], &[("/device/architecture", "sm_120".into())]);
}

#[test]
fn as_written_is_another_build() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let registers = |arguments: &[&str]| {
        let document = check_scale(&bench, arguments).json();
        (document["build"].clone(), document["kernels"][0]["launches"][0]["resources"].clone())
    };
    let (build, written) = registers(&["--kernel", "naive", "--json", "--as-written"]);
    let (_, optimised) = registers(&["--kernel", "naive", "--json"]);
    assert_eq!(build, "as_written");
    assert!(written["code_bytes"].as_u64() > optimised["code_bytes"].as_u64());
}

#[test]
fn a_request_for_something_unknown_names_what_is_known() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let check = |arguments: &[&str], parts: &[&str]| {
        check_scale(&bench, arguments).expect(2, parts);
        let json = [arguments, &["--json"]].concat();
        let said = check_scale(&bench, &json);
        said.expect(2, parts);
    };
    check(&["--kernel", "nav"], &["unknown kernel `nav`", "did you mean `naive`?"]);
    check(&["--workload", "od"], &["unknown workload `od`", "odd, large"]);
    check(&["--device", "h20"], &["`h20`", "did you mean `h200`?"]);
    check(&["--param", "NOPE=1"], &["no kernel of this project has a parameter `NOPE`"]);
    check(
        &["--kernel", "tuned", "--param", "BLOCK=3"],
        &["3 is not a value of `BLOCK`", "[128, 256]"],
    );
}

#[test]
fn the_second_time_comes_from_the_cache_and_says_the_same() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::with_own_cache();
    let run = |origin: &str| {
        let mut document = check_scale(&bench, &["--json"]).json();
        document["seconds"] = Value::Null;
        for kernel in document["kernels"].as_array_mut().unwrap() {
            assert_eq!(kernel["origin"]["kind"], origin);
            kernel["origin"] = Value::Null;
        }
        document
    };
    let (first, second) = (run("compiler"), run("cache"));
    assert_eq!(first, second);
    bench.edit("kernels/naive.cu", "alpha * x[i]", "x[i] * alpha");
    let document = check_scale(&bench, &["--json"]).json();
    assert_eq!(kernel(&document, "naive")["origin"]["kind"], "compiler");
    assert_eq!(kernel(&document, "tuned")["origin"]["kind"], "cache");
}

#[test]
fn several_runs_at_once_share_a_cache_that_is_empty() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::with_empty_cache();
    let run = || {
        let mut command = bench.command(&["check", "scale", "--json"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let runs = [run(), run(), run(), run()];
    for program in runs {
        Said::from(program.wait_with_output().unwrap()).expect(0, &["\"registers\""]);
    }
    let document = check_scale(&bench, &["--json"]).json();
    assert_eq!(kernel(&document, "naive")["origin"]["kind"], "cache");
}

#[test]
fn a_reader_that_stops_listening_is_no_error() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let mut command = bench.command(&["check", "scale", "--ptx"]);
    let mut program = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(program.stdout.take());
    Said::from(program.wait_with_output().unwrap()).expect(0, &[]);
}

#[test]
fn a_damaged_cache_entry_is_compiled_anew() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::with_own_cache();
    check_scale(&bench, &["--kernel", "naive"]).expect(0, &["compiles"]);
    let entries = files(&bench.cache().join("kernels"));
    assert!(!entries.is_empty(), "something is kept");
    for entry in entries {
        let whole = std::fs::read(&entry).unwrap();
        std::fs::write(&entry, &whole[..whole.len() / 2]).unwrap();
    }
    let document = check_scale(&bench, &["--kernel", "naive", "--json"]).json();
    assert_eq!(document["kernels"][0]["origin"]["kind"], "compiler");
}

fn files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}
