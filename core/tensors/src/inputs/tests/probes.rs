//! The precision probe: what it holds, and where it applies.

use super::*;
use crate::compare::Expected;
use crate::fixture::{elementwise, input, output};

const PROBE: fn(u64) -> InputSpec = |seed| InputSpec { seed, draw: InputMode::PrecisionProbe };

fn normal(name: &str, dtype: Dtype, dims: &[u64]) -> TensorCase {
    input(name, dtype, dims, Fill::Normal { mean: 0.0, std: 1.0 })
}

fn made(case: &Case, seed: u64) -> Vec<Vec<f64>> {
    let all = generate(case, PROBE(seed)).unwrap();
    case.tensors
        .iter()
        .zip(all)
        .filter_map(|(tensor, bytes)| Some((tensor, bytes?)))
        .map(|(tensor, bytes)| {
            elements(tensor, &bytes).into_iter().map(|bits| real(tensor.dtype, bits)).collect()
        })
        .collect()
}

#[test]
fn odd_integers_need_every_bit() {
    let dtypes = [
        (Dtype::F32, 13),
        (Dtype::F64, 13),
        (Dtype::F16, 11),
        (Dtype::Bf16, 8),
        (Dtype::F8E4M3, 4),
        (Dtype::F8E5M2, 3),
    ];
    for (dtype, bits) in dtypes {
        let tensors = vec![normal("a", dtype, &[100, 40]), normal("b", dtype, &[40])];
        let case = case(Accuracy::F32, tensors);
        for seed in 0..4 {
            let all = made(&case, seed);
            let probed = probed_tensor(&case, seed).unwrap();
            let (odd, sparse) = (&all[probed], &all[1 - probed]);
            let needs_all = |value: &f64| {
                value % 2.0 == 1.0 && (2_f64.powi(bits - 1)..2_f64.powi(bits)).contains(value)
            };
            assert!(odd.iter().all(needs_all), "{}", dtype.name());
            let ones: f64 = sparse.iter().map(|value| value.abs()).sum();
            assert!(sparse.iter().all(|value| [-1.0, 0.0, 1.0].contains(value)) && ones > 0.0);
        }
    }
}

#[test]
fn either_factor_has_its_turn() {
    let tensors = vec![
        normal("a", Dtype::F32, &[64, 64]),
        normal("bias", Dtype::F32, &[64]),
        normal("b", Dtype::F32, &[64, 64]),
    ];
    let case = case(Accuracy::F32, tensors);
    let mut probed: Vec<_> = (0..20).filter_map(|seed| probed_tensor(&case, seed)).collect();
    probed.sort_unstable();
    probed.dedup();
    assert_eq!(probed, [0, 2]);
}

#[test]
fn tasks_in_low_precision_have_no_probe() {
    for accuracy in [Accuracy::Tf32, Accuracy::F16, Accuracy::Bf16, Accuracy::F8, Accuracy::Exact] {
        let case = case(accuracy, vec![normal("a", Dtype::F32, &[100])]);
        assert_eq!(probed_tensor(&case, 0), None);
        let declared = generate(&case, declared(3)).unwrap();
        assert_eq!(generate(&case, PROBE(3)).unwrap(), declared);
    }
}

/// Two vectors and their dot product.
fn dot(length: u64, seed: u64) -> (Case, f64, f64) {
    let pair = [normal("a", Dtype::F32, &[length]), normal("b", Dtype::F32, &[length])];
    let mut tensors = pair.to_vec();
    tensors.push(output(Dtype::F32, &[], elementwise(length)));
    let case = case(Accuracy::F32, tensors);
    let all = made(&case, seed);
    let terms = || all[0].iter().zip(&all[1]).map(|(a, b)| a * b);
    let (sum, magnitude) = (terms().sum(), terms().map(f64::abs).sum());
    (case, sum, magnitude)
}

fn applies(case: &Case, value: f64, magnitude: f64) -> bool {
    let (value, magnitude) = (value.to_le_bytes(), magnitude.to_le_bytes());
    let expected = Expected { values: &value, magnitudes: Some(&magnitude) };
    let mut references = vec![None; case.tensors.len()];
    if let Some(last) = references.last_mut() {
        *last = Some(expected);
    }
    probe_applies(case, &references)
}

#[test]
fn dot_products_are_odd_and_large_for_every_seed_and_length() {
    for length in [9, 10, 64, 1000, 4096, 65536] {
        for seed in 0..20 {
            let (case, sum, magnitude) = dot(length, seed);
            assert!(sum.abs() % 2.0 == 1.0 && sum.abs() > 4096.0, "{length}: {sum}");
            assert!(applies(&case, sum, magnitude), "{length}: {sum} {magnitude}");
        }
    }
}

#[test]
fn a_sum_without_partner_is_odd_and_exact() {
    for length in [1, 5, 1024, 100_000] {
        let mut tensors = vec![normal("x", Dtype::F32, &[length])];
        tensors.push(output(Dtype::F32, &[], elementwise(length)));
        let case = case(Accuracy::F32, tensors);
        let sum: f64 = made(&case, 3)[0].iter().sum();
        assert!(applies(&case, sum, sum), "{length}: {sum}");
    }
}

#[test]
fn it_applies_to_exact_results_only() {
    let (case, sum, magnitude) = dot(4096, 1);
    assert!(applies(&case, sum, magnitude));
    assert!(!applies(&case, sum + 0.5, magnitude + 1.0), "no integer");
    assert!(!applies(&case, sum, 2.0_f64.powi(24)), "a partial sum may round");
    assert!(!applies(&case, sum, f64::NAN));
    assert!(!applies(&case, f64::NAN, magnitude));
    assert!(!applies(&case, f64::INFINITY, f64::INFINITY));
    assert!(!applies(&case, 0.0, magnitude), "nothing to lose");
    assert!(!applies(&case, 8192.0, magnitude), "nothing that half precision would lose");
    assert!(!probe_applies(&case, &[None, None, None]));
}
