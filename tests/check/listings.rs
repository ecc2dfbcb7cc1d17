//! SASS, PTX and the prelude, with the source lines that they came from.

use super::*;

#[test]
fn machine_code_names_the_source_lines() {
    let Some(found) = compiler::required() else { return };
    if found.toolchain.nvdisasm.is_none() {
        println!("skipped: no nvdisasm");
        return;
    }
    let bench = Bench::new();
    let said = check_scale(&bench, &["--kernel", "naive", "--sass"]);
    said.expect(
        0,
        &["naive: SASS of", "kernels/naive.cu:10", "y[i] = alpha * x[i];", "index.cuh:4", "STG"],
    );
    let document = check_scale(&bench, &["--kernel", "naive", "--sass", "--json"]).json();
    let function = &kernel(&document, "naive")["sass"][0];
    assert_eq!(function["function"], "_Z5scalePKfPfxf");
    let instructions = function["instructions"].as_array().unwrap();
    let store = |instruction: &&Value| instruction["opcode"].as_str().unwrap().starts_with("STG");
    let store = instructions.iter().find(store).unwrap();
    assert_eq!(store["source"][0]["file"], "kernels/naive.cu");
    assert_eq!(store["source"][0]["line"], 10);
    let addresses: Vec<_> =
        instructions.iter().map(|each| each["address"].as_u64().unwrap()).collect();
    assert!(addresses.is_sorted() && addresses.len() > 10, "{addresses:?}");
}

#[test]
fn ptx_names_the_source_lines() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let said = check_scale(&bench, &["--kernel", "naive", "--ptx"]);
    said.expect(0, &["naive: PTX", "kernels/naive.cu:10", "st.global.f32", "index.cuh:4"]);
    let document = check_scale(&bench, &["--kernel", "naive", "--ptx", "--json"]).json();
    let lines = kernel(&document, "naive")["ptx"].as_array().unwrap();
    let store = |line: &&Value| line["text"].as_str().unwrap().contains("st.global.f32");
    let store = lines.iter().find(store).unwrap();
    assert_eq!((&store["file"], &store["line"]), (&"kernels/naive.cu".into(), &10.into()));
}

#[test]
fn everything_that_was_added_is_shown() {
    if compiler::required().is_none() {
        return;
    }
    let bench = Bench::new();
    let said = check_scale(&bench, &["--kernel", "tuned", "--show-prelude"]);
    said.expect(0, &["PARAM_BLOCK", "PARAM_UNROLL", "AXIS_cols", "4096"]);
}

#[test]
fn listings_that_were_not_asked_for_are_left_out() {
    if compiler::required().is_none() {
        return;
    }
    let document = check_scale(&Bench::new(), &["--json"]).json();
    for name in ["naive", "tuned", "reference"] {
        let kernel = kernel(&document, name).as_object().unwrap();
        for field in ["sass", "ptx", "prelude"] {
            assert!(!kernel.contains_key(field), "{field} of {name}");
        }
    }
}
