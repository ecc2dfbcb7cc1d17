//! The service `reference`: expected outputs and magnitudes from the text of a `reference.py`.
//!
//! Without NumPy or PyTorch a test prints that it is skipped and passes; with `LIGHTBENCH_REQUIRE_TORCH` it fails.

use super::*;

/// A request to the service.
struct Task<'a> {
    source: &'a str,
    precision: &'a str,
    dtype: &'a str,
    /// Names, shapes and values of the inputs.
    inputs: &'a [(&'a str, &'a [usize], &'a [f32])],
    /// Names and shapes of the outputs.
    outputs: &'a [(&'a str, &'a [usize])],
}

const X: (&str, &[usize], &[f32]) = ("x", &[2, 3], &[1.0, -2.0, 3.0, 0.1, 0.2, -0.3]);
const Y: (&str, &[usize]) = ("y", &[2, 3]);

/// One input and one output of two rows and three columns, in f32, computed exactly.
fn task(source: &str) -> Task<'_> {
    Task { source, precision: "exact", dtype: "f32", inputs: &[X], outputs: &[Y] }
}

/// The reply of a new worker, or none where the package is missing.
fn compute(task: &Task<'_>) -> Option<Result<Reply, PythonError>> {
    let package = if task.source.contains("torch") { "torch" } else { "numpy" };
    let interpreter = interpreter_with(package)?;
    let named = |(name, shape, _): &(&str, &[usize], &[f32])| json!({ "name": name, "dtype": task.dtype, "shape": shape });
    let wanted = |(name, shape): &(&str, &[usize])| json!({ "name": name, "dtype": task.dtype, "shape": shape, "magnitude": true });
    let request = json!({
        "file": "reference.py",
        "source": task.source,
        "precision": task.precision,
        "values": { "rows": 2, "cols": 3, "scale": 0.1 },
        "inputs": task.inputs.iter().map(named).collect::<Vec<_>>(),
        "outputs": task.outputs.iter().map(wanted).collect::<Vec<_>>(),
    });
    let blobs: Vec<Vec<u8>> = task
        .inputs
        .iter()
        .map(|(_, _, values)| values.iter().flat_map(|value| value.to_le_bytes()).collect())
        .collect();
    let blobs: Vec<&[u8]> = blobs.iter().map(Vec::as_slice).collect();
    let limits = Limits { memory_bytes: 8 << 30, ..Limits::default() };
    let configuration = WorkerConfiguration { limits, ..configuration() };
    let mut worker = Worker::new(interpreter.clone(), configuration);
    Some(worker.call("reference", &request, &blobs, LIMIT, &never()))
}

fn reals(blob: &[u8]) -> Vec<f64> {
    blob.chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap())).collect()
}

/// Checks the values of the output to the last bits of f64, and the magnitudes to a tenth of them.
fn check(task: &Task<'_>, values: &[f64], magnitudes: &[f64]) {
    let Some(reply) = compute(task) else { return };
    let reply = reply.unwrap_or_else(|error| panic!("{}\n{error}", task.source));
    let close = |found: &[f64], expected: &[f64], limit: f64| {
        found.len() == expected.len()
            && found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= limit * b.abs().max(1e-300))
    };
    let (found, errors) = (reals(&reply.blobs[0]), reals(&reply.blobs[1]));
    assert!(close(&found, values, 1e-14), "{}\n{found:?}", task.source);
    assert!(close(&errors, magnitudes, 0.1), "{}\n{errors:?}", task.source);
    assert!(errors.iter().zip(&found).all(|(error, value)| *error >= value.abs()));
}

fn x() -> Vec<f64> {
    X.2.iter().map(|value| f64::from(*value)).collect()
}

fn rows(of: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    x().chunks(3).map(of).collect()
}

const HEAD: &str = "import torch\ndef reference(x):\n    ";

fn torch(body: &str) -> String {
    format!("{HEAD}{body}\n")
}

#[test]
fn requests_for_a_float_type_are_computed_in_f64() {
    let scale = 1.0 / 3.0;
    let scaled: Vec<f64> = x().iter().map(|value| value * scale).collect();
    let magnitudes: Vec<f64> = scaled.iter().map(|value| value.abs()).collect();
    for body in [
        "return x.float() * (1 / 3)",
        "return (x.to(torch.bfloat16) * (1 / 3)).to(x.dtype)",
        "return x.half() * torch.full((3,), 1 / 3, dtype=torch.float32)",
        "return x * torch.tensor(1 / 3)",
        "y = torch.empty_like(x); y[:] = x; y *= 1 / 3; return y",
        "return (x.T.contiguous().double() * (1 / 3)).T",
    ] {
        check(&task(&torch(body)), &scaled, &magnitudes);
    }
    for body in ["x.astype(np.float32) * np.float16(0.5)", "x.astype('float32') * 0.5"] {
        let source = format!("import numpy as np\ndef run(x):\n    return {body}\n");
        let halves: Vec<f64> = x().iter().map(|value| value * 0.5).collect();
        let magnitudes: Vec<f64> = halves.iter().map(|value| 2.0 * value.abs()).collect();
        check(&task(&source), &halves, &magnitudes);
    }
}

#[test]
fn the_magnitude_of_a_sum_is_the_sum_of_magnitudes() {
    let sums = rows(|row| row.iter().sum());
    let magnitudes = rows(|row| row.iter().map(|value| value.abs()).sum());
    let squares = rows(|row| row.iter().map(|value| value * value).sum());
    for (body, values, magnitudes) in [
        ("return x.sum(-1)", &sums, &magnitudes),
        ("return (x @ torch.ones(3, 1)).squeeze(-1)", &sums, &magnitudes),
        // PyTorch 1.13 removes a dimension of this product in place.
        ("return torch.matmul(torch.ones(3), x.T)", &sums, &magnitudes),
        ("y = x @ torch.ones(3, 1); y.t_(); y.squeeze_(0); return y", &sums, &magnitudes),
        ("return torch.einsum('ij,j->i', x, torch.ones(3))", &sums, &magnitudes),
        ("return torch.einsum('ij,ij->i', x, x)", &squares, &squares),
    ] {
        check(&Task { outputs: &[("y", &[2])], ..task(&torch(body)) }, values, magnitudes);
    }
}

/// Element by element within a factor of two of what the sample projects state in `reference.cu`.
#[test]
fn magnitudes_agree_with_those_of_hand_written_references() {
    let largest = rows(|row| row.iter().copied().fold(f64::MIN, f64::max));
    let softmax: Vec<(f64, f64)> = x()
        .chunks(3)
        .zip(&largest)
        .flat_map(|(row, most)| {
            let total: f64 = row.iter().map(|value| (value - most).exp()).sum();
            let each = row.iter().map(move |value| {
                let result = (value - most).exp() / total;
                (result, result * (1.0 + (value - most).abs()))
            });
            each.collect::<Vec<_>>()
        })
        .collect();
    for body in ["return torch.softmax(x, -1)", "return torch.log_softmax(x, -1).exp()"] {
        let Some(reply) = compute(&task(&torch(body))) else { return };
        let reply = reply.unwrap();
        let found = reals(&reply.blobs[0]).into_iter().zip(reals(&reply.blobs[1]));
        for ((value, magnitude), (expected, written)) in found.zip(&softmax) {
            assert!((value - expected).abs() < 1e-14, "{value} {expected}");
            assert!(
                magnitude > written / 2.0 && magnitude < written * 4.0,
                "{magnitude} {written}"
            );
        }
    }
}

#[test]
fn outputs_are_returned_or_written_in_place() {
    let doubled: Vec<f64> = x().iter().map(|value| value * 2.0).collect();
    let magnitudes: Vec<f64> = doubled.iter().map(|value| value.abs()).collect();
    for source in [
        "import torch\ndef reference(x, y):\n    y.copy_(x * 2)\n",
        "import torch\ndef reference(x):\n    return {'y': x * 2}\n",
        "import torch\ndef reference(x, rows, cols, unused=3):\n    return (x.view(rows, cols) * 2,)\n",
        "import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return x * 2\n",
    ] {
        check(&task(source), &doubled, &magnitudes);
    }
    let both: [(&str, &[usize]); 2] = [("x", X.1), ("y", X.1)];
    let source = "import torch\ndef reference(x):\n    x.mul_(2)\n    return x + 0\n";
    check(&Task { outputs: &both, ..task(source) }, &doubled, &magnitudes);
}

#[test]
fn weights_of_a_model_are_inputs() {
    let source = "import torch\nclass Model(torch.nn.Module):\n    def __init__(self, n):\n        super().__init__()\n        \
                  self.layer = torch.nn.Linear(n, 1)\n    def forward(self, x):\n        return self.layer(x)[:, 0]\n\
                  def get_init_inputs():\n    return [3]\n";
    let inputs =
        [X, ("layer_weight", &[1, 3][..], &[1.0, 1.0, 1.0][..]), ("layer_bias", &[1], &[4.0])];
    let sums = rows(|row| row.iter().sum::<f64>() + 4.0);
    let magnitudes = rows(|row| row.iter().map(|value| value.abs()).sum::<f64>() + 4.0);
    let task = Task { inputs: &inputs, outputs: &[("y", &[2])], ..task(source) };
    check(&task, &sums, &magnitudes);
}

#[test]
fn sizes_of_a_model_are_those_of_the_workload() {
    let source = "import torch\nrows = cols = 7\nshape = (1, cols)\nclass Model(torch.nn.Module):\n    \
                  def __init__(self, shape, n):\n        super().__init__()\n        \
                  self.weight = torch.nn.Parameter(torch.zeros(shape))\n        self.norm = torch.nn.BatchNorm1d(n)\n    \
                  def forward(self, x):\n        return torch.nn.functional.linear(x, self.weight)[:, 0]\n\
                  def get_init_inputs():\n    return [shape, cols]\n";
    let ones: &[f32] = &[1.0, 1.0, 1.0];
    let inputs =
        [X, ("weight", &[1, 3][..], ones), ("norm_weight", &[3], ones), ("norm_bias", &[3], ones)];
    let sums = rows(|row| row.iter().sum::<f64>());
    let magnitudes = rows(|row| row.iter().map(|value| value.abs()).sum::<f64>());
    let task = Task { inputs: &inputs, outputs: &[("y", &[2])], ..task(source) };
    check(&task, &sums, &magnitudes);
}

#[test]
fn conversions_to_narrow_types_are_reported_with_their_lines() {
    let body = "y = x.to(torch.bfloat16)\n    return y.half().float()";
    let Some(reply) = compute(&task(&torch(body))) else { return };
    assert_eq!(reply.unwrap().value, json!({ "roundings": [[3, ["bf16"]], [4, ["f16"]]] }));
    let written = Task { precision: "written", ..task(HEAD) };
    let source = torch("return x.to(torch.bfloat16).float()");
    let reply = compute(&Task { source: &source, ..written }).unwrap().unwrap();
    assert_eq!(reals(&reply.blobs[0])[3], 0.100_097_656_25, "0.1 in bf16");
    assert_eq!(reply.blobs.len(), 1, "magnitudes belong to exact results");
}

#[test]
fn a_reference_that_does_not_fit_its_project_is_named() {
    for (source, parts) in [
        ("import torch\ndef other(x):\n    return x\n", &["no function `reference` or `run`"][..]),
        (
            "import torch\ndef run(z):\n    return z\n",
            &["`z` names no tensor", "cols, rows, scale, y, x"],
        ),
        (
            "import torch\ndef run(x):\n    return x, x\n",
            &["2 values; the project has 1 outputs: y"],
        ),
        ("import torch\ndef run(x):\n    pass\n", &["neither returns the output `y`"]),
        (
            "import torch\ndef run(x):\n    return {'z': x}\n",
            &["`z`, which is no output; outputs: y"],
        ),
        ("import torch\ndef run(x):\n    return x[0]\n", &["shape [3]; expected [2, 3]"]),
        ("import torch\ndef run(x):\n    return 3\n", &["is a int; expected a tensor"]),
        ("import torch\ndef run(x):\n    return 1 / 0\n", &["ZeroDivisionError", "reference.py:3"]),
        (
            "import numpy as np\ndef run(x):\n    return x.astype('f4')\n",
            &["float32 although", "float64"],
        ),
        ("def run(x:\n", &["SyntaxError"]),
    ] {
        let Some(reply) = compute(&task(source)) else { return };
        let message = reply.expect_err(source).to_string();
        for part in parts {
            assert!(message.contains(part), "{source}\n{message}");
        }
    }
}
