//! Single files: kernels of a project, files that belong to none, and kernels written in PTX.

use std::fs;

use super::*;

#[test]
fn a_kernel_file_of_a_project_is_checked_in_its_project() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    for (file, name) in [
        ("scale/kernels/naive.cu", "naive"),
        ("scale/wrong/short.cu", "short"),
        ("scale/reference.cu", "reference"),
    ] {
        let said = bench.run(&["check", file, "--json"]);
        said.expect(0, &[]);
        let document = said.json();
        assert_eq!(document["project"]["name"], "scale");
        assert_eq!(document["kernels"].as_array().unwrap().len(), 1);
        assert_eq!(document["kernels"][0]["name"], name);
    }
    bench
        .run(&["check", "scale/kernels/nowhere.cu"])
        .expect(2, &["unknown kernel `nowhere`", "one of naive, tuned, short, reference"]);
    // From inside the project, too.
    let mut inside = bench.command(&["check", "naive.cu"]);
    let said = Said::from(inside.current_dir(bench.project().join("kernels")).output().unwrap());
    said.expect(0, &["scale · Scale a matrix", "compiles"]);
}

#[test]
fn a_file_of_no_project_shows_all_its_kernels() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let text = "extern \"C\" __global__ void first(float* x) { *x = 1; }\n\
                namespace a { __global__ void __launch_bounds__(128) second(int* x) { *x = 2; } }\n\
                template <int N> __global__ void third(int* x) { *x = N; }\n\
                template __global__ void third<7>(int* x);\n";
    fs::write(bench.path().join("several.cu"), text).unwrap();
    let said = bench.run(&["check", "several.cu"]);
    said.expect(0, &["first", "a::second", "third<", "128 threads", "occupancy at block size"]);
    let document = bench.run(&["check", "several.cu", "--kernel", "first", "--json"]).json();
    assert_eq!(document["kernels"].as_array().unwrap().len(), 1);
    assert_eq!(document["kernels"][0]["symbol"], "first");
    bench
        .run(&["check", "several.cu", "--kernel", "fourth"])
        .expect(2, &["no kernel `fourth` in this file; it has first, third<7>, a::second"]);
    bench
        .run(&["check", "several.cu", "--param", "N=1"])
        .expect(2, &["`--param N=…` needs a project"]);
    bench.run(&["check", "several.cu", "--workload", "w"]).expect(2, &["needs a project"]);
}

#[test]
fn a_kernel_file_whose_project_is_gone_is_checked_alone() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    fs::copy(bench.project().join("reference.cu"), bench.path().join("alone.cu")).unwrap();
    bench.run(&["check", "alone.cu"]).expect(0, &["alone.cu", "reference"]);
}

#[test]
fn kernels_may_be_written_in_ptx() {
    let Some(found) = compiler::required() else { return };
    let bench = Bench::new();
    let document = check_scale(&bench, &["--kernel", "naive", "--ptx", "--json"]).json();
    let lines = kernel(&document, "naive")["ptx"].as_array().unwrap();
    let lines: Vec<_> = lines.iter().map(|line| line["text"].as_str().unwrap()).collect();
    let ptx = lines.join("\n");
    let block = "/*@ lightbench(\n    title: \"In PTX\",\n    steps: [launch(kernel: \"_Z5scalePKfPfxf\",\n\
                 \x20   grid: [\"ceil_div(rows * cols, 256)\"], block: [256])],\n) @*/\n";
    bench.write("kernels/assembled.ptx", format!("{block}{ptx}\n"));
    let said = check_scale(&bench, &["--kernel", "assembled", "--json"]);
    said.expect(0, &[]);
    let assembled = said.json()["kernels"][0].clone();
    assert_eq!(assembled["origin"]["kind"], "assembler");
    let launch = &assembled["launches"][0];
    assert_eq!(launch["symbol"], "_Z5scalePKfPfxf");
    assert_eq!(launch["parameters"].as_array().unwrap().len(), 4);
    // Without an assembler there is no machine code, and nothing is guessed.
    let optimised = &kernel(&document, "naive")["launches"][0]["resources"]["registers"];
    let known = &launch["resources"]["registers"];
    assert_eq!(known, if found.toolchain.ptxas.is_some() { optimised } else { &Value::Null });
    // On its own the file needs no launch block.
    fs::write(bench.path().join("alone.ptx"), &ptx).unwrap();
    bench.run(&["check", "alone.ptx"]).expect(0, &["alone.ptx", "scale"]);
    // Nor does it get away with other arguments.
    bench.edit("kernels/assembled.ptx", "_param_3\n", "_param_3,\n\t.param .u32 more\n");
    check_scale(&bench, &["--kernel", "assembled"])
        .expect(1, &["declares 5 parameters but is given 4"]);
}
