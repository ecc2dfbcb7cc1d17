//! Triton files: what host functions become, and what is refused at which line.

use std::fs;

use lightbench_primitives::dtype::Dtype;
use lightbench_project::Project;

use super::example;
use crate::{Format, Need, Options, Written, import, import_with, write};

/// The kernel of the files below: one result for each element of a vector.
const KERNEL: &str = "import math\nimport torch\nimport triton\nimport triton.language as tl\n\n\n\
    @triton.jit\ndef k(x, y, n, BLOCK: tl.constexpr):\n    at = tl.arange(0, BLOCK)\n\
    \x20   tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)\n\n\n";

fn imported(text: &str, options: &Options) -> (tempfile::TempDir, Written) {
    let base = tempfile::tempdir().unwrap();
    let file = base.path().join("own.py");
    fs::write(&file, text).unwrap();
    let imported = import_with(&file, options).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let written = write(&base.path().join("new"), imported).unwrap();
    Project::load(&written.folder).unwrap();
    (base, written)
}

/// The launch block of a file contains these texts.
fn check(text: &str, expected: &[&str]) {
    let (_base, written) = imported(text, &Options::default());
    assert_eq!(written.report.format, Format::Triton);
    let kernel = fs::read_to_string(written.folder.join("kernels/own.py")).unwrap();
    let project = fs::read_to_string(written.folder.join("project.ron")).unwrap();
    for part in expected {
        assert!(kernel.contains(part) || project.contains(part), "no {part}:\n{kernel}\n{project}");
    }
}

/// As [`check`], for a host function with these lines before its `return`.
fn check_host(lines: &[&str], expected: &[&str]) {
    let body: String = lines.iter().map(|line| format!("    {line}\n")).collect();
    check(&format!("{KERNEL}def f(x):\n{body}    return y\n"), expected);
}

/// A host function with these lines is refused at the last one of them.
fn check_refused(lines: &[&str], reason: &str) {
    let body: String = lines.iter().map(|line| format!("    {line}\n")).collect();
    let text =
        format!("{KERNEL}def f(x):\n{body}    k[(1,)](x, x, x.numel(), BLOCK=16)\n    return x\n");
    let base = tempfile::tempdir().unwrap();
    let file = base.path().join("own.py");
    fs::write(&file, text).unwrap();
    let error = import(&file).unwrap_err().to_string();
    let line = KERNEL.lines().count() + 1 + lines.len();
    let place = format!("line {line}: in `f`: ");
    assert!(error.contains(&place) && error.contains(reason), "{place}{reason}\n{error}");
}

#[test]
fn the_examples_become_launch_blocks() {
    let check = |name: &str, expected: &[&str]| {
        let reference = Some(example(&format!("triton/{name}_reference.py")));
        let options = Options { reference, ..Options::default() };
        let base = tempfile::tempdir().unwrap();
        let imported = import_with(&example(&format!("triton/{name}.py")), &options).unwrap();
        let written = write(&base.path().join("new"), imported).unwrap();
        Project::load(&written.folder).unwrap();
        let kernel = fs::read_to_string(written.folder.join(format!("kernels/{name}.py"))).unwrap();
        for part in expected {
            assert!(kernel.contains(part), "no {part}:\n{kernel}");
        }
        assert!(written.questions.iter().all(|placed| placed.question.need == Need::Confirm));
    };
    check(
        "add",
        &["args: [\"x\", \"y\", \"out\", \"count\"]", "grid: [\"ceil_div(count, 1024)\"]"],
    );
    check(
        "softmax",
        &[
            "grid: [\"min(max_active_blocks('softmax_kernel'), rows)\"]",
            "\"BLOCK\": \"2 ** log2_floor(2 * cols - 1)\", \"STAGES\": 4}, num_warps: 8",
        ],
    );
    check(
        "matmul",
        &[
            "params: {\"TILE_M\": [64, 32]}",
            "args: [\"a\", \"b\", \"c\", \"M\", \"N\", \"K\", \"K\", \"1\", \"N\", \"1\", \"N\", \"1\"]",
            "\"ACTIVATION\": \"''\"",
        ],
    );
    check("layernorm", &["(name: \"mean\", dtype: f32, shape: [\"rows\"]", "num_ctas: 1"]);
}

#[test]
fn sizes_and_allocations_become_formulas() {
    let launch = "k[(1,)](x, y, n, BLOCK=64)";
    check_host(
        &["m, n = x.shape", "y = torch.empty((m, n), dtype=torch.float16)", launch],
        &["name: \"y\", dtype: f16, shape: [\"m\", \"n\"]", "name: \"x\", dtype: f16"],
    );
    check_host(
        &["y = x.new_zeros(x.size(0))", "n = y.numel()", launch],
        &["fill(buffer: \"y\", value: 0.0)"],
    );
    check_host(
        &["y = torch.empty_like(x)", "n = x.numel()", "k[((n + 63) // 64,)](x, y, n, BLOCK=64)"],
        &["grid: [\"ceil_div(n, 64)\"]"],
    );
    check_host(
        &[
            "n = x.numel()",
            "y = torch.full_like(x, 2)",
            "warps = 4",
            "if n >= 2048:",
            "    warps = 8",
            "k[(1,)](x, y, n, BLOCK=64, num_warps=warps)",
        ],
        &["value: 2.0", "num_warps: \"4 * min(max(n - 2047, 0), 1) + 4\""],
    );
    check_host(
        &[
            "rows, n = x.reshape(-1, x.shape[-1]).shape",
            "if n > 1024:",
            "    raise ValueError(n)",
            "y = torch.empty_like(x)",
            "k[rows, 1](x, y, n, BLOCK=triton.next_power_of_2(n))",
        ],
        &["max: 1024", "grid: [\"rows\"]"],
    );
    check_host(
        &[
            "n = x.numel()",
            "y = torch.empty_like(x)",
            "def grid(meta):",
            "    return (math.ceil(n / meta['BLOCK']),)",
            "with torch.cuda.device(x.device):",
            "    k[grid](x, y, n, BLOCK=128)",
        ],
        &["grid: [\"ceil_div(n, 128)\"]"],
    );
    check_host(
        &[
            "*batch, n = x.shape",
            "flat = x.view(-1, n)",
            "y = torch.empty_like(flat)",
            "assert y is not x and isinstance(n, int)",
            "k[(flat.shape[0],)](flat, y, n, BLOCK=tl.constexpr(32))",
            "y = y.view(*batch, n)",
        ],
        &["grid: [\"x_0\"]", "\"BLOCK\": 32"],
    );
}

#[test]
fn decorators_give_parameters_and_constants() {
    let tuned = |decorators: &str| {
        let kernel = KERNEL.replace("@triton.jit", &format!("{decorators}\n@triton.jit"));
        format!(
            "{kernel}def f(x):\n    y = torch.empty_like(x)\n    n = x.numel()\n    \
             k[lambda meta: (triton.cdiv(meta['n'], meta['BLOCK']),)](x, y, n)\n    return y\n"
        )
    };
    let list = "@triton.autotune([triton.Config({'BLOCK': b}, num_warps=w) for b in [64, 128] for w in (2, 4)], key=['n'])";
    check(
        &tuned(list),
        &[
            "params: {\"BLOCK\": [64, 128], \"NUM_WARPS\": [2, 4]}",
            "num_warps: \"NUM_WARPS\"",
            "ceil_div(n, BLOCK)",
        ],
    );
    let one = "@triton.autotune(configs=[triton.Config(dict(BLOCK=32), num_stages=1)], key=[])";
    check(&tuned(one), &["constexprs: {\"BLOCK\": 32}, num_stages: 1"]);
    let heuristic = "@triton.heuristics({'BLOCK': lambda args: triton.next_power_of_2(args['n'])})";
    check(&tuned(heuristic), &["constexprs: {\"BLOCK\": \"2 ** log2_floor(2 * n - 1)\"}"]);
    let file = tempfile::tempdir().unwrap();
    let path = file.path().join("own.py");
    fs::write(&path, tuned("@triton.autotune(configs=make(), key=[])")).unwrap();
    let error = import(&path).unwrap_err().to_string();
    assert!(error.contains("line 7: in `f`: the configurations are no list"), "{error}");
}

#[test]
fn what_a_launch_block_cannot_express_is_refused_at_its_line() {
    check_refused(&["z = torch.relu(x)"], "an operator of PyTorch");
    check_refused(&["z = x * 2"], "an operator of PyTorch");
    check_refused(&["z = x.t()"], "an operator of PyTorch");
    check_refused(&["for i in range(3):"], "a loop of the host");
    check_refused(&["z = unknown"], "nothing in the wrapper defines this name");
    check_refused(&["z = compute(x)"], "no counterpart");
    check_refused(&["z = x.shape['a']"], "no counterpart");
    check_refused(&["raise ValueError"], "the check fails for every input");
    check_refused(&["assert 2 < 1"], "the check fails for every input");
    check_refused(&["k[(1,)](x, x)"], "the number of arguments");
    check_refused(&["k[(1, 2, 3, 4)](x, x, 1, BLOCK=16)"], "not a formula");
}

#[test]
fn options_and_hostile_texts() {
    let host = "def f(x):\n    y = torch.empty_like(x)\n    k[(1,)](x, y, x.numel(), BLOCK=64)\n    return y\n";
    let (_base, written) = imported(
        &format!("{KERNEL}{host}"),
        &Options { dtype: Some(Dtype::Bf16), ..Options::default() },
    );
    let project = fs::read_to_string(written.folder.join("project.ron")).unwrap();
    assert_eq!(project.matches("dtype: bf16").count(), 2, "{project}");
    let recursive = format!("{KERNEL}def f(x):\n    f(x)\n    k[(1,)](x, x, 1, BLOCK=1)\n");
    let base = tempfile::tempdir().unwrap();
    let file = base.path().join("own.py");
    for (text, expected) in [
        (recursive.as_str(), "nested too deeply"),
        (KERNEL, "no function that launches a kernel"),
        (
            "\"\"\"@ lightbench() @\"\"\"\nimport triton\n@triton.jit\ndef k(): pass\n",
            "copy it into `kernels/`",
        ),
    ] {
        fs::write(&file, text).unwrap();
        let error = import(&file).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
