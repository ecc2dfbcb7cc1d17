//! Triton kernels: the launch block in Python, the call that it describes, and a declaration beyond each rule.

use std::collections::BTreeMap;

use super::fixture::{KERNEL, files, load, problems};
use crate::launch::triton::{Assumption, ConstexprValue, TritonCall};
use crate::{DeviceFacts, PlannedStep};

const STEP: &str = r#"triton(kernel: "norm", args: ["x", "w", "y", "rows: i32", "cols: i32", "rows - 6: i32", "null", "eps"],
               constexprs: {"BLOCK": "2 ** log2_floor(2 * cols - 1)", "EVEN": true, "KIND": "'it''s'", "T": "tl.float16", "N": None},
               grid: ["rows"], num_warps: "WARPS")"#;

fn kernel(step: &str, more: &str) -> String {
    format!(
        "import triton\n# \"\"\"@ not a block\nTEXT = \"\"\"\n\"\"\"\n\"\"\"@ lightbench(\n    title: \"t\",\n    params: {{\"WARPS\": [8, 4]}},\n    {more}\n    steps: [{step}],\n) @\"\"\"\n\n@triton.jit\ndef norm(): pass\n"
    )
}

fn with_kernel(name: &str, text: &str) -> Vec<(String, String)> {
    let mut files = files();
    files.push((format!("kernels/{name}"), text.to_owned()));
    files
}

fn call(text: &str) -> (TritonCall, [u32; 3]) {
    let project = load(&with_kernel("fast.py", text)).unwrap_or_else(|error| panic!("{error}"));
    let kernel = project.kernel("fast").unwrap_or_else(|_| panic!("{:?}", project.broken));
    let environment = project.environment(project.workload("odd-rows").unwrap());
    let device = DeviceFacts::default();
    let selection = kernel.launch.select(&environment, &BTreeMap::new(), &device).unwrap();
    let plan = kernel.launch.plan(&environment, &selection, &device, &BTreeMap::new()).unwrap();
    let PlannedStep::Launch(launch) = &plan.steps[0] else { panic!("{plan:?}") };
    let [specialisation] = &*selection.triton else { panic!("{selection:?}") };
    (specialisation.call.clone(), launch.block)
}

#[test]
fn a_launch_describes_the_call_that_triton_specialises() {
    let (call, block) = call(&kernel(STEP, "flags: [fmad(false), maxrregcount(64)],"));
    let arguments: Vec<(&str, Assumption)> =
        call.arguments.iter().map(|each| (each.type_name.as_str(), each.assumption)).collect();
    use Assumption::{MultipleOf16, None, Null, One};
    let bf16 = ("*bf16", MultipleOf16);
    let numbers = [("i32", None), ("i32", None), ("i32", One), ("constexpr", Null), ("fp32", None)];
    assert_eq!(arguments, [&[bf16; 3][..], &numbers[..]].concat());
    let constexpr = |name: &str| {
        let found = call.constexprs.iter().find(|(known, _)| known == name);
        found.unwrap_or_else(|| panic!("{name}")).1.clone()
    };
    assert_eq!(constexpr("BLOCK"), ConstexprValue::Integer(512));
    assert_eq!(constexpr("EVEN"), ConstexprValue::Boolean(true));
    assert_eq!(constexpr("KIND"), ConstexprValue::Text("it''s".to_owned()));
    assert_eq!(constexpr("T"), ConstexprValue::Type("float16".to_owned()));
    assert_eq!(constexpr("N"), ConstexprValue::None);
    assert_eq!((call.num_warps, call.num_stages, call.num_ctas), (8, 3, 1));
    assert_eq!((call.fuse, call.max_registers, block), (false, Some(64), [256, 1, 1]));
}

#[test]
fn an_integer_without_a_type_has_the_type_that_the_jit_gives() {
    let check = |argument: &str, expected: (&str, Assumption)| {
        let step = STEP.replace("\"rows - 6: i32\"", &format!("\"{argument}\""));
        let (call, _) = call(&kernel(&step, ""));
        let found = &call.arguments[5];
        assert_eq!((found.type_name.as_str(), found.assumption), expected, "{argument}");
    };
    use Assumption::{MultipleOf16, None, One};
    check("rows", ("i32", None));
    check("cols + 8", ("i32", MultipleOf16));
    check("rows - 6", ("i32", One));
    check("2 ** 31 - 1", ("i32", None));
    check("2 ** 31", ("i64", MultipleOf16));
    check("-(2 ** 31)", ("i32", MultipleOf16));
    check("-(2 ** 31) - 1", ("i64", None));
    check("2 ** 63 - 1", ("i64", None));
    check("2 ** 63 + 1", ("u64", None));
    check("WARPS", ("i32", None));
    check("rows: i64", ("i64", None));
    check("eps", ("fp32", None));
    let (call, _) = call(&kernel(&STEP.replace("args: [\"x\", \"w\", \"y\", \"rows: i32\", \"cols: i32\", \"rows - 6: i32\", \"null\", \"eps\"],", ""), ""));
    let names: Vec<&str> = call.arguments.iter().map(|each| each.type_name.as_str()).collect();
    assert_eq!(names, ["*bf16", "*bf16", "*bf16", "i32", "i32", "fp32"]);
}

#[test]
fn calls_that_need_other_code_have_entries_of_their_own() {
    let other = STEP.replace("\"EVEN\": true", "\"EVEN\": false");
    let function = STEP.replace("\"norm\"", "\"sum\"");
    let repeated = format!("repeat(count: 2, steps: [{other}])");
    let steps = [STEP, &function, &repeated, STEP].join(", ");
    let project = load(&with_kernel("fast.py", &kernel(&steps, ""))).unwrap();
    let launch = &project.kernel("fast").unwrap_or_else(|_| panic!("{:?}", project.broken)).launch;
    let environment = project.environment(project.workload("odd-rows").unwrap());
    let device = DeviceFacts::default();
    let selection = launch.select(&environment, &BTreeMap::new(), &device).unwrap();
    let symbols: Vec<&str> = selection.triton.iter().map(|each| each.symbol.as_str()).collect();
    assert_eq!(symbols, ["norm", "sum", "norm$2", "norm"]);
    assert_eq!(selection.name_expressions, ["norm", "sum", "norm$2"]);
    let plan = launch.plan(&environment, &selection, &device, &BTreeMap::new()).unwrap();
    let PlannedStep::Repeat { steps, .. } = &plan.steps[2] else { panic!("{plan:?}") };
    let PlannedStep::Launch(inner) = &steps[0] else { panic!("{plan:?}") };
    assert_eq!(inner.name_expression, "norm$2");
}

/// The problem of a kernel and where it begins; it may be repeated for each workload.
fn check(name: &str, text: &str, marked: &str, found: &str) {
    let problems = problems(&with_kernel(name, text));
    assert!(!problems.is_empty(), "{marked}: no problem");
    let at = text.find(marked).unwrap_or_else(|| panic!("{marked}"));
    let line = text[..at].matches('\n').count() + 1;
    for problem in problems {
        let shown = problem.to_string();
        assert!(shown.contains(found), "{marked}: {shown}");
        assert!(shown.contains(&format!("{name}:{line}:")), "line {line}: {shown}");
    }
}

#[test]
fn what_a_triton_launch_cannot_have_is_a_problem() {
    let bent = |old: &str, new: &str| {
        assert!(STEP.contains(old), "{old}");
        kernel(&STEP.replace(old, new), "")
    };
    let py = |text: &str, marked: &str, found: &str| check("fast.py", text, marked, found);
    py(&bent("\"norm\"", "\"norm<4>\""), "triton(kernel", "`norm<4>`");
    py(&bent("\"EVEN\"", "\"BLOCK\""), "constexprs", "`BLOCK` again");
    py(&bent("2 ** log2", "2 ** log3"), "constexprs", "log3_floor");
    py(&bent("\"WARPS\"", "\"WARP\""), "num_warps", "WARP");
    py(&bent("rows - 6: i32", "rowz"), "args", "`rowz`");
    py(&bent("rows - 6: i32", "rows -"), "args", "ends too early");
    py(&bent("rows - 6: i32", "2 ** 64"), "args", "18446744073709551616");
    py(&bent("rows - 6: i32", "max_active_blocks('norm')"), "args", "max_active_blocks");
    py(&bent("\"WARPS\"", "3"), "num_warps", "a power of two");
    let cuda = r#"launch(kernel: "norm", grid: ["rows"], block: [32])"#;
    py(&kernel(cuda, ""), cuda, "`launch(…)` in a Python file");
    py(&kernel(STEP, "constants: [\"cols\"],"), "constants", "`constants` in a Triton file");
    py(&kernel(STEP, "flags: [fast_math],"), "flags", "a flag of CUDA C++");
    let map = r#"tensor_maps: [(name: "m", tensor: "x", box: [1, 64])],"#;
    py(&kernel(STEP, map), "tensor_maps", "`tensor_maps` in a Triton file");
    py("import triton\n", "import", "the file has no launch block");
    py("\"\"\"@ lightbench(\n", "\"\"\"@", "the launch block is not closed");
    py("\"\"\"@ lightbench() \"\"\"\n", "\"\"\"", "the launch block ends with `\"\"\"`");
    let block = format!("/*@ lightbench(title: \"t\", steps: [{STEP}]) @*/\n");
    check("fast.cu", &block, "triton(", "in a file that is not Python");
}

#[test]
fn a_text_in_no_file_has_the_language_that_it_shows() {
    let python = kernel(STEP, "");
    let project = load(&with_kernel("fast.py", &python)).unwrap_or_else(|error| panic!("{error}"));
    let check = |name: &str, text: &str, file: &str| match project.draft(name, text.to_owned()) {
        Ok(kernel) => assert_eq!(kernel.file, std::path::Path::new(file), "{name}"),
        Err(problems) => assert!(problems[0].to_string().contains(file), "{name}: {problems:?}"),
    };
    check("fast", &python, "kernels/fast.py");
    check("fast-2", &python, "kernels/fast-2.py");
    check("fast", "import triton\n", "kernels/fast.py");
    check("naive", KERNEL, "kernels/naive.cu");
    check("other", "int x;\n", "kernels/other.cu");
    check("other", "// PTX\n/* of */ .version 8.0\n", "kernels/other.ptx");
}
