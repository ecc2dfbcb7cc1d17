//! What sample kernels compute is what the host computes; counters say how memory was used.

use super::*;

/// The absolute path of a sample kernel.
fn sample(project: &str, kernel: &str) -> String {
    let file = repository().join(format!("sample-projects/{project}/kernels/{kernel}.cu"));
    file.display().to_string()
}

/// The launch as a document; it must be clean.
fn clean(bench: &Bench, line: &str) -> Value {
    let said = launch(bench, &format!("{line} --json"));
    assert_eq!(said.status, 0, "{line}\n{}", said.everything());
    said.json()
}

fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (found - expected).abs();
        assert!(error <= tolerance * expected.abs().max(1e-6), "{index}: {found} {expected}");
    }
}

#[test]
fn vector_addition_adds() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let file = sample("vector-add", "naive");
    let document = clean(
        &bench,
        &format!(
            "{file} --kernel vector_add<256> --grid 4 --block 256 --arg in:f32[1000]=iota --arg in:f32[1000]=constant(0.5) --arg buf:f32[1000] --arg i64:1000 --print 2"
        ),
    );
    let expected: Vec<f64> = (0..1000).map(|i| f64::from(i) + 0.5).collect();
    assert_eq!(numbers(&document), expected);
}

/// A kernel that reads a constant and a table of the module.
const VARIABLES: &str = "__constant__ float scale = 1;\n__device__ int table[4] = {1, 1, 1, 1};\n\
    extern \"C\" __global__ void k(float* out) {\n    out[threadIdx.x] = scale * table[threadIdx.x];\n}\n";

#[test]
fn variables_of_the_module_hold_what_is_asked_for() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    fs::write(bench.path().join("variables.cu"), VARIABLES).unwrap();
    let line = "variables.cu --grid 1 --block 4 --arg buf:f32[4] --print 0";
    assert_eq!(numbers(&clean(&bench, line)), [1.0, 1.0, 1.0, 1.0]);
    let filled = format!("{line} --var scale=f32:0.5 --var table=buf:i32[4]=2,4,6,8");
    assert_eq!(numbers(&clean(&bench, &filled)), [1.0, 2.0, 3.0, 4.0]);
    // What is not given stays as the module says.
    let part = format!("{line} --var table=buf:i32[2]=iota");
    assert_eq!(numbers(&clean(&bench, &part)), [0.0, 1.0, 1.0, 1.0]);
    let refused = |variable: &str, message: &str| {
        launch(&bench, &format!("{line} --var {variable}")).expect(2, &[message]);
    };
    refused("nothing=i32:1", "no global or constant variable `nothing`");
    refused("table=buf:i32[5]=ones", "`table` has 16 bytes; 20 bytes were given");
    refused("table=buf:i32[4]", "has no initial values");
    refused("table", "expected NAME=SPEC");
    refused("table=same:0", "cannot hold the address of a buffer");
}

#[test]
fn softmax_is_what_its_definition_says_and_coalescing_is_counted() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let (rows, cols) = (64_usize, 96_usize);
    let arguments = format!(
        "--arg in:f32[{0}]=normal --arg buf:f32[{0}] --arg i64:{rows} --arg i64:{cols} --seed 3 --counters",
        rows * cols
    );
    let naive = format!(
        "{} --kernel softmax<64> --grid 1 --block 64 {arguments}",
        sample("softmax", "naive")
    );
    let input = numbers(&clean(&bench, &format!("{naive} --print 0")));
    let output = clean(&bench, &format!("{naive} --print 1"));
    let expected: Vec<f64> = input
        .chunks(cols)
        .flat_map(|row| {
            let sum: f64 = row.iter().map(|x| x.exp()).sum();
            row.iter().map(move |x| x.exp() / sum).collect::<Vec<_>>()
        })
        .collect();
    close(&numbers(&output), &expected, 1e-5);
    // Neighbouring threads stand in neighbouring rows: every lane touches a sector of its own.
    let total = &output["counters"]["total"];
    assert_eq!(total["load_sectors_per_request"].as_f64(), Some(32.0));
    assert_eq!(total["load_efficiency"].as_f64(), Some(0.125));
    let lines = output["counters"]["lines"].as_array().unwrap();
    assert!(lines.iter().any(|line| line["line"].as_u64() == Some(24)), "{lines:?}");
    launch(&bench, &naive)
        .expect(0, &["32.0 sectors", "12 %", "row_max = fmaxf(row_max, x_row[col]);"]);
}

#[test]
fn rmsnorm_divides_by_the_root_of_the_mean_square() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let project =
        fs::read_to_string(repository().join("sample-projects/rmsnorm/project.ron")).unwrap();
    assert!(project.contains("arguments"), "the project states the order of arguments");
    let file = sample("rmsnorm", "naive");
    let (rows, cols) = (64_usize, 40_usize);
    let line = format!(
        "{file} --kernel rmsnorm<64> --grid 1 --block 64 --arg in:bf16[{0}]=normal --arg in:bf16[{cols}]=ones --arg buf:bf16[{0}] --arg i64:{rows} --arg i64:{cols} --arg f32:1e-5",
        rows * cols
    );
    let input = numbers(&clean(&bench, &format!("{line} --print 0")));
    let output = numbers(&clean(&bench, &format!("{line} --print 2")));
    let expected: Vec<f64> = input
        .chunks(cols)
        .flat_map(|row| {
            let mean = row.iter().map(|x| x * x).sum::<f64>() / cols as f64;
            row.iter().map(move |x| x / (mean + 1e-5).sqrt()).collect::<Vec<_>>()
        })
        .collect();
    // Half a unit of bf16's eight bits, and a little for the f32 arithmetic.
    close(&output, &expected, 0.0042);
}

#[test]
fn numbers_that_json_lacks_have_their_bits() {
    let bench = bench();
    let line =
        "copy.ptx --grid 1 --block 3 --arg in:f32[3]=nan,-inf,-0.0 --arg buf:f32[4] --print 1";
    let values = clean(&bench, line)["buffers"][0]["values"].clone();
    assert_eq!(values[0], serde_json::json!({ "value": "nan", "bits": "0x7fc00000" }));
    assert_eq!(values[1], serde_json::json!({ "value": "-inf", "bits": "0xff800000" }));
    assert_eq!(values[2].to_string(), "-0.0");
    assert!(values[3].is_null(), "what nothing wrote has no value");
    launch(&bench, line).expect(0, &["nan", "-inf", "-0.0", "unwritten"]);
}
