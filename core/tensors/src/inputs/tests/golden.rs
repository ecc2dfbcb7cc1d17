//! Hashes of inputs: what was recorded with a seed must be made again from it, for ever.

use lightbench_primitives::scalar_value::ScalarValue;

use super::*;
use crate::fixture::input;

/// Every fill that every dtype can have.
fn fills(dtype: Dtype) -> Vec<(&'static str, Fill<u64>)> {
    let packed = dtype.is_packed();
    let mut fills = vec![("zeros", Fill::Zeros)];
    if packed {
        fills.push(("packed_weights", Fill::PackedWeights));
        return fills;
    }
    fills.extend([
        ("ones", Fill::Ones),
        ("constant", Fill::Constant(ScalarValue::Integer(1))),
        ("mask", Fill::Mask { density: 0.3 }),
        ("causal_mask", Fill::CausalMask),
    ]);
    let family = dtype.family();
    if family != Family::Boolean {
        let low = if family == Family::Unsigned { 0 } else { -7 };
        fills.push(("integers", Fill::Integers { low, high: 100 }));
    }
    if family == Family::Float {
        fills.extend([
            ("normal", Fill::Normal { mean: 0.5, std: 2.0 }),
            ("uniform", Fill::Uniform { low: -1.0, high: 3.0 }),
            ("heavy_tail", Fill::HeavyTail { scale: 2.0 }),
        ]);
    } else if family != Family::Boolean {
        fills.extend([("labels", Fill::Labels { below: 100 })]);
    }
    fills
}

/// One line for each fill and dtype, as in the file next to this one.
fn lines() -> String {
    let mut lines = String::new();
    let mut add = |tensors: Vec<TensorCase>, name: &str, recipe: InputSpec| {
        let made = generate(&case(Accuracy::F32, tensors.clone()), recipe).unwrap();
        let (tensor, bytes) = (tensors.last().unwrap(), made.last().unwrap().as_ref().unwrap());
        let hash = blake3::hash(bytes).to_hex();
        lines.push_str(&format!("{name} {} {}\n", tensor.dtype.name(), &hash[..16]));
    };
    for dtype in DTYPES {
        for (name, fill) in fills(dtype) {
            add(vec![input("x", dtype, &[3, 70, 10], fill)], name, declared(0x1234_5678_9abc_def0));
        }
        if dtype.is_integer() && !dtype.is_packed() {
            let offsets = input("o", dtype, &[41], Fill::SortedOffsets { total: 120 });
            let indices = Fill::SortedIndices { offsets: 0, below: 9 };
            let indices = input("i", dtype, &[120], indices);
            add(vec![input("p", dtype, &[100], Fill::Permutation)], "permutation", declared(5));
            add(vec![offsets.clone()], "sorted_offsets", declared(5));
            add(vec![offsets, indices], "sorted_indices", declared(5));
        }
    }
    let normal = || Fill::Normal { mean: 0.5, std: 2.0 };
    for dtype in [Dtype::F32, Dtype::F16, Dtype::Bf16, Dtype::F8E4M3] {
        for distribution in crate::fixture::ALL_DISTRIBUTIONS {
            let name = format!("{distribution:?}");
            add(vec![input("x", dtype, &[50, 50], normal())], &name, drawn(77, distribution));
        }
        let probe = InputSpec { seed: 4, draw: InputMode::PrecisionProbe };
        let pair =
            || vec![input("a", dtype, &[50, 50], normal()), input("b", dtype, &[50, 50], normal())];
        add(pair(), "probe", probe);
        add(pair(), "probe", InputSpec { seed: 5, ..probe });
        let probability = TensorCase {
            domain: Domain::Probability,
            ..input("p", dtype, &[20, 70], Fill::Uniform { low: 0.0, high: 1.0 })
        };
        add(vec![probability], "probability", declared(9));
    }
    lines
}

#[test]
fn inputs_are_the_recorded_ones() {
    let lines = lines();
    if let Some(path) = std::env::var_os("LIGHTBENCH_WRITE_GOLDEN") {
        std::fs::write(path, &lines).unwrap();
    }
    assert_eq!(lines, include_str!("golden.txt"));
}
