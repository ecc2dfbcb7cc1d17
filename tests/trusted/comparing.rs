//! Outputs judged by a device: what it calls right the host calls right, with the same numbers; what the host calls wrong
//! it leaves to the host.

use lightbench_core::device::Device as _;
use lightbench_core::tensors::compare::{
    Comparison, Expected, Found, OnDevice, Strictness, compare,
};
use lightbench_core::tensors::encoding::comparison::{
    ComparisonResult, GroupSquares, SQUARES_BYTES,
};
use lightbench_core::tensors::inputs;
use lightbench_core::verify::harness_kernels::launches::{self, Compared};

use super::*;

/// Numbers that are the same everywhere.
struct Numbers(u64);

impl Numbers {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        self.0 ^ self.0 >> 29
    }

    /// From -1 to 1.
    fn real(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

/// One output: what was found as numbers, what was expected, and the magnitudes, by place in memory.
struct Sheet {
    tensor: TensorCase,
    found: Vec<u8>,
    expected: Vec<f64>,
    magnitudes: Vec<f64>,
}

fn le(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Elements as bytes: f64, f32, and bf16 rounded toward zero.
fn elements(dtype: Dtype, values: &[f64]) -> Vec<u8> {
    let bf16 = |value: f64| ((value as f32).to_bits() >> 16) as u16;
    match dtype {
        Dtype::F64 => le(values),
        Dtype::F32 => values.iter().flat_map(|value| (*value as f32).to_le_bytes()).collect(),
        Dtype::Bf16 => values.iter().flat_map(|value| bf16(*value).to_le_bytes()).collect(),
        Dtype::F16
        | Dtype::F8E4M3
        | Dtype::F8E5M2
        | Dtype::I64
        | Dtype::I32
        | Dtype::I16
        | Dtype::I8
        | Dtype::U64
        | Dtype::U32
        | Dtype::U16
        | Dtype::U8
        | Dtype::Bool
        | Dtype::I4
        | Dtype::U4
        | Dtype::E2M1 => panic!("no elements of {dtype:?}"),
    }
}

fn sheet(tensor: TensorCase, seed: u64, change: impl Fn(usize, f64) -> f64) -> Sheet {
    let mut numbers = Numbers(seed);
    let span = tensor.span as usize;
    let scale = |numbers: &mut Numbers| 2.0_f64.powi((numbers.bits() % 40) as i32 - 20);
    let expected: Vec<f64> = (0..span).map(|_| numbers.real() * scale(&mut numbers)).collect();
    let magnitudes: Vec<f64> =
        expected.iter().map(|value| value.abs() * (1.0 + numbers.real().abs() * 9.0)).collect();
    let values: Vec<f64> =
        expected.iter().enumerate().map(|(place, value)| change(place, *value)).collect();
    let found = elements(tensor.dtype, &values);
    Sheet { tensor, found, expected, magnitudes }
}

fn on_host(sheet: &Sheet, strictness: Strictness) -> Comparison {
    let case = case(Accuracy::F32, vec![sheet.tensor.clone()]);
    let (values, magnitudes) = (le(&sheet.expected), le(&sheet.magnitudes));
    let expected = Expected { values: &values, magnitudes: Some(&magnitudes) };
    let found = Found { bytes: &sheet.found, unwritten: &[] };
    compare(&case, 0, found, expected, &[], strictness).unwrap()
}

fn on_device(machine: &mut Machine, sheet: &Sheet, strictness: Strictness) -> Option<Comparison> {
    let case = case(Accuracy::F32, vec![sheet.tensor.clone()]);
    let plan = OnDevice::new(&case, 0).unwrap();
    let (found, expected) = (machine.buffer(&sheet.found), machine.buffer(&le(&sheet.expected)));
    let magnitudes = machine.buffer(&le(&sheet.magnitudes));
    let judged = machine.buffer(&ComparisonResult::BEGINNING);
    let mut sums = |count: u64| machine.buffer(&vec![0; (count * SQUARES_BYTES) as usize]);
    let (squares, groups) = (sums(plan.comparing.chunks()), sums(plan.comparing.groups()));
    let compared = Compared { found, expected };
    let (module, comparing) = (machine.module, &plan.comparing);
    machine.run(&match strictness {
        Strictness::Tolerance => {
            launches::compare(module, compared, magnitudes, comparing, (squares, judged))
        }
        Strictness::Exact => {
            launches::compare_exactly(module, compared, magnitudes, comparing, judged)
        }
    });
    machine.run(&launches::add_squares(module, comparing, (squares, groups)));
    for buffer in [found, expected, magnitudes, squares] {
        machine.device.free(buffer).unwrap();
    }
    let (judged, groups) = (machine.take(judged), machine.take(groups));
    plan.settle(
        strictness,
        ComparisonResult::read(&judged).unwrap(),
        GroupSquares::read_all(&groups),
    )
}

/// The device says what the host says, or nothing; `plain` is whether it must say something.
fn check(machine: &mut Machine, sheet: &Sheet, strictness: Strictness, plain: bool) {
    let (there, here) = (on_device(machine, sheet, strictness), on_host(sheet, strictness));
    let described = format!("{:?} {strictness:?}", sheet.tensor);
    assert_eq!(there.is_some(), plain, "{described}: {here:?}");
    if let Some(there) = there {
        assert_eq!(there, here, "{described}");
    }
}

/// Whether no single element is wrong.
fn is_plain(comparison: &Comparison) -> bool {
    comparison.wrong.as_ref().is_none_or(|wrong| wrong.count == 0)
}

fn tensors() -> Vec<TensorCase> {
    let elementwise = Comparator::Elementwise { terms: 64, factor: 4.0, rms: true };
    let of = |dtype, dims: &[u64]| output(dtype, dims, elementwise.clone());
    let mut all = Vec::new();
    for dtype in [Dtype::F64, Dtype::F32, Dtype::Bf16] {
        all.push(of(dtype, &[1]));
        all.push(of(dtype, &[255]));
        all.push(of(dtype, &[3, 419]));
        // More chunks than a group has.
        all.push(of(dtype, &[300, 7]));
        all.push(strided(of(dtype, &[3, 300]), &[311, 1]));
        all.push(strided(of(dtype, &[4, 5, 6]), &[1, 50, 7]));
        all.push(strided(of(dtype, &[600]), &[2]));
    }
    all
}

#[test]
fn right_outputs_are_right_with_the_same_numbers() {
    let Some(mut machine) = Machine::new() else { return };
    for (seed, tensor) in tensors().into_iter().enumerate() {
        let exact = sheet(tensor.clone(), seed as u64, |_, value| value);
        // bf16 is cut off here, which costs up to an ulp: more than rounding may cost.
        let is_cut = tensor.dtype == Dtype::Bf16;
        let plain = is_plain(&on_host(&exact, Strictness::Tolerance));
        assert!(plain || is_cut);
        check(&mut machine, &exact, Strictness::Tolerance, plain);
        let near = sheet(tensor, seed as u64, |place, value| {
            value * (1.0 + 2.0_f64.powi(-25 - (place % 3) as i32))
        });
        let plain = is_plain(&on_host(&near, Strictness::Tolerance));
        check(&mut machine, &near, Strictness::Tolerance, plain);
    }
}

#[test]
fn a_wrong_element_is_left_to_the_host() {
    let Some(mut machine) = Machine::new() else { return };
    let wrong: [fn(f64) -> f64; 5] = [
        |value| value * 1.5 + 1.0,
        |_| f64::NAN,
        |_| f64::INFINITY,
        |_| f64::NEG_INFINITY,
        |value| -value - 1.0,
    ];
    for (seed, tensor) in tensors().into_iter().enumerate() {
        let last = tensor.span as usize - 1;
        for change in wrong {
            let wrong = sheet(tensor.clone(), seed as u64, |place, value| {
                if place == last { change(value) } else { value }
            });
            assert!(on_host(&wrong, Strictness::Tolerance).wrong.is_some());
            check(&mut machine, &wrong, Strictness::Tolerance, false);
        }
    }
}

#[test]
fn errors_that_are_too_large_together_are_told_by_both() {
    let Some(mut machine) = Machine::new() else { return };
    let elementwise = Comparator::Elementwise { terms: 4096, factor: 4.0, rms: true };
    let tensor = output(Dtype::F32, &[300, 17], elementwise);
    let mut sheet = sheet(tensor, 5, |_, value| value);
    sheet.expected.iter_mut().for_each(|value| *value *= 2.0_f64.powi(-20));
    sheet.magnitudes.fill(100.0);
    let values: Vec<f64> = sheet.expected.iter().map(|value| value + 6e-4).collect();
    sheet.found = elements(Dtype::F32, &values);
    let here = on_host(&sheet, Strictness::Tolerance);
    assert!(here.wrong.is_some_and(|wrong| wrong.root_mean_square.is_some()));
    check(&mut machine, &sheet, Strictness::Tolerance, true);
}

#[test]
fn a_reference_that_is_not_finite_is_left_to_the_host() {
    let Some(mut machine) = Machine::new() else { return };
    let elementwise = Comparator::Elementwise { terms: 1, factor: 4.0, rms: true };
    for special in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        for found in [3.0, special] {
            let tensor = output(Dtype::F32, &[40], elementwise.clone());
            let mut sheet = sheet(tensor, 9, |place, value| if place == 3 { found } else { value });
            (sheet.expected[3], sheet.magnitudes[3]) = (special, 0.0);
            let is_right = on_host(&sheet, Strictness::Tolerance).wrong.is_none();
            // A number where the reference is infinite is wrong, though any error is within an infinite bound.
            assert_eq!(is_right, found != 3.0, "{found} for {special}");
            check(&mut machine, &sheet, Strictness::Tolerance, false);
        }
    }
}

#[test]
fn exact_results_are_equal_to_the_rounded_reference() {
    let Some(mut machine) = Machine::new() else { return };
    let elementwise = Comparator::Elementwise { terms: 64, factor: 4.0, rms: true };
    for dtype in [Dtype::F64, Dtype::F32] {
        let tensor = output(dtype, &[3, 300], elementwise.clone());
        for wrong in [None, Some(0), Some(899)] {
            let judged = sheet(tensor.clone(), 3, |place, value| {
                if wrong == Some(place) { value * (1.0 + 2.0_f64.powi(-20)) } else { value }
            });
            check(&mut machine, &judged, Strictness::Exact, wrong.is_none());
        }
    }
}

#[test]
fn integers_are_equal_bit_for_bit() {
    let Some(mut machine) = Machine::new() else { return };
    for dtype in [Dtype::I64, Dtype::U32, Dtype::I16, Dtype::Bool, Dtype::I4] {
        let contiguous = output(dtype, &[3, 301], Comparator::IntegerExact);
        let mut tensors = vec![contiguous.clone()];
        if !dtype.is_packed() {
            tensors.push(strided(contiguous, &[2, 7]));
        }
        for tensor in tensors {
            let bytes = tensor.bytes as usize;
            let expected: Vec<u8> = (0..bytes).map(|at| (at % 2) as u8).collect();
            for wrong in [None, Some(0), Some(bytes - 1)] {
                let mut found = expected.clone();
                wrong.into_iter().for_each(|at| found[at] ^= 1);
                let case = case(Accuracy::Exact, vec![tensor.clone()]);
                let plan = OnDevice::new(&case, 0).unwrap();
                let buffers = [machine.buffer(&found), machine.buffer(&expected)];
                let compared = Compared { found: buffers[0], expected: buffers[1] };
                let judged = machine.buffer(&ComparisonResult::BEGINNING);
                let (module, comparing) = (machine.module, &plan.comparing);
                machine.run(&launches::compare_bits(module, compared, comparing, judged));
                let judged = ComparisonResult::read(&machine.take(judged)).unwrap();
                let there = plan.settle(Strictness::Tolerance, judged, []);
                let (found, values) = (Found { bytes: &found, unwritten: &[] }, &expected);
                let expected = Expected { values, magnitudes: None };
                let here = compare(&case, 0, found, expected, &[], Strictness::Tolerance).unwrap();
                assert_eq!(there.is_some(), wrong.is_none(), "{tensor:?}");
                assert_eq!(there, Some(here).filter(|here| here.wrong.is_none()));
            }
        }
    }
}

#[test]
fn the_probe_applies_where_the_host_says_so() {
    let Some(mut machine) = Machine::new() else { return };
    let elementwise = Comparator::Elementwise { terms: 64, factor: 4.0, rms: true };
    let tensor = output(Dtype::F32, &[2, 300], elementwise);
    let case = case(Accuracy::F32, vec![tensor]);
    let limit = inputs::exact_limit(&case).unwrap();
    for (value, magnitude) in
        [(4097.0, 5000.0), (4096.0, 5000.0), (4097.5, 5000.0), (7.0, 3.0), (3.0, limit)]
    {
        let mut values = vec![1.0; 600];
        let mut magnitudes = vec![2.0; 600];
        (values[599], magnitudes[599]) = (value, magnitude);
        let (expected, terms) = (le(&values), le(&magnitudes));
        let reference = Expected { values: &expected, magnitudes: Some(&terms) };
        let here = inputs::probe_applies(&case, &[Some(reference)]);
        let plan = OnDevice::new(&case, 0).unwrap();
        let looked_at = (machine.buffer(&expected), machine.buffer(&terms));
        let survey = machine.buffer(&[0; 16]);
        machine.run(&launches::survey(machine.module, looked_at, &plan.comparing, limit, survey));
        let survey = machine.take(survey);
        let [inexact, telling] =
            lightbench_core::tensors::encoding::comparison::pair(&survey).unwrap();
        assert_eq!(inexact == 0 && telling > 0, here, "{value} of {magnitude}");
    }
}
