//! The limit that sets a bound, and the assumptions of the bound.

use lightbench_primitives::dtype::Dtype;

use super::*;
use crate::bound::{Assumption, Bound, Limit, MethodBound, NoBound, Residency};

const MIB: u64 = 1 << 20;

#[track_caller]
fn check(bound: &Bound, limit: Limit, time: f64) {
    assert_eq!(bound.limit, limit, "{bound:#?}");
    assert!((bound.time.0 / time - 1.0).abs() < 1e-9, "{} for {time}", bound.time.0);
}

#[test]
fn bytes_set_the_bound_of_a_sum() {
    let work = work(1024 * MIB, 0, &[(OperationKind::Arithmetic, 268e6)]);
    check(bound(&work).bound(), Limit::Dram, 1024.0 * MIB as f64 / 4.814e12);
}

#[test]
fn outputs_may_stay_in_l2() {
    let written = |bytes| work(512 * MIB, bytes, &[]);
    // Not calibrated: as much as L2 holds, 60 MiB.
    check(bound(&written(256 * MIB)).bound(), Limit::Dram, 708.0 * MIB as f64 / 4.814e12);
    check(bound(&written(10 * MIB)).bound(), Limit::Dram, 512.0 * MIB as f64 / 4.814e12);
    // Calibrated: the most that was ever kept.
    let own = calibration();
    let ceilings = Ceilings::new(h200(), Some(&own), Basis::Sheet);
    let physical = PhysicalBound::new(&written(256 * MIB), &ceilings, CacheState::Cold).unwrap();
    check(physical.bound(), Limit::Dram, 736.0 * MIB as f64 / 4.814e12);
    assert!(physical.bound().assumptions.contains(&Assumption::Retained(Bytes(32 * MIB))));
}

#[test]
fn a_warm_cache_spares_what_it_holds() {
    let warm = |work: &MinimalWork| PhysicalBound::new(work, &sheet_ceilings(), CacheState::Warm);
    let large = warm(&work(1024 * MIB, 0, &[])).unwrap();
    check(large.bound(), Limit::Dram, 964.0 * MIB as f64 / 4.814e12);
    assert_eq!(large.bound().residency, Residency::Beyond);
    // Nothing else is known of a copy that fits.
    assert_eq!(warm(&work(20 * MIB, 20 * MIB, &[])), Err(NoBound::NothingKnown));
    let own = calibration();
    let ceilings = Ceilings::new(h200(), Some(&own), Basis::Measured);
    let small = PhysicalBound::new(&work(20 * MIB, 20 * MIB, &[]), &ceilings, CacheState::Warm);
    let small = small.unwrap();
    check(small.bound(), Limit::L2, 40.0 * MIB as f64 / 9e12);
    assert_eq!(small.bound().residency, Residency::Fits);
}

#[test]
fn the_launch_floor_bounds_small_work() {
    let own = calibration();
    let ceilings = Ceilings::new(h200(), Some(&own), Basis::Sheet);
    let tiny = PhysicalBound::new(&work(4096, 4096, &[]), &ceilings, CacheState::Cold).unwrap();
    // The lowest sample, so that it holds for every one.
    check(tiny.bound(), Limit::Launch, 1.4e-6);
}

#[test]
fn a_matrix_product_is_bounded_by_the_fastest_permitted_pipe() {
    let flops = 2.0 * 4096_f64.powi(3);
    let product = |accuracy, operands| MinimalWork {
        accuracy,
        operands,
        ..work(128 * MIB, 64 * MIB, &[(OperationKind::Contraction, flops)])
    };
    let floats = |bits| Operands::Floats { widest: bits, narrowest: bits };
    let physical = |work: &MinimalWork, pipe, rate: f64| {
        check(bound(work).bound(), Limit::Pipe(pipe), flops / rate);
    };
    let method = |work: &MinimalWork, pipe, rate: f64| {
        let bound = MethodBound::new(work, &sheet_ceilings(), CacheState::Cold).unwrap();
        check(bound.bound(), Limit::Pipe(pipe), flops / rate);
    };
    // f32 of three products of halves; its own pipe is four times slower.
    let single = product(Accuracy::F32, floats(24));
    physical(&single, Pipe::TensorFp16AccumulateFp32, 989.5e12 / 3.0);
    method(&single, Pipe::Fp32, 66.9e12);
    // Narrow inputs have exact products.
    let narrow = product(Accuracy::F32, floats(8));
    physical(&narrow, Pipe::TensorFp16AccumulateFp32, 989.5e12);
    method(&narrow, Pipe::TensorBf16, 989.5e12);
    // f64 of 14 products of remainders is faster than f64 tensor cores.
    let double = product(Accuracy::F64, floats(53));
    physical(&double, Pipe::TensorInt8, 1979e12 / 14.0);
    method(&double, Pipe::TensorFp64, 66.9e12);
    method(&product(Accuracy::Tf32, floats(24)), Pipe::TensorTf32, 494.5e12);
    physical(&product(Accuracy::F8, floats(4)), Pipe::TensorFp8AccumulateFp32, 1979e12);
    // Results rounded to bf16 do not slow the products of 8-bit numbers.
    let eight_bits = product(Accuracy::Bf16, floats(4));
    physical(&eight_bits, Pipe::TensorFp8AccumulateFp32, 1979e12);
    method(&eight_bits, Pipe::TensorFp8AccumulateFp32, 1979e12);
    physical(&product(Accuracy::Exact, Operands::Integers { bits: 8 }), Pipe::TensorInt8, 1979e12);
}

#[test]
fn a_named_pipe_that_a_device_lacks_leaves_the_next_one() {
    let check = |accuracy, bits, device, pipe| {
        let work = MinimalWork {
            accuracy,
            operands: Operands::Floats { widest: bits, narrowest: bits },
            ..work(1 << 20, 0, &[(OperationKind::Contraction, 1e12)])
        };
        let ceilings = Ceilings::new(DeviceSheet::named(device).unwrap(), None, Basis::Sheet);
        let method = MethodBound::new(&work, &ceilings, CacheState::Cold).unwrap();
        assert_eq!(method.bound().limit, Limit::Pipe(pipe), "{accuracy:?} on {device}");
    };
    // Turing has no tf32, and Ampere no products of 8-bit floats.
    check(Accuracy::Tf32, 24, "t4", Pipe::Fp32);
    check(Accuracy::Bf16, 4, "a100-80gb", Pipe::TensorBf16);
}

#[test]
fn scales_and_biases_are_no_factors_of_narrower_inputs() {
    let check = |dtypes: &[Dtype], widest, narrowest| {
        let operands = Operands::new(dtypes.iter().copied());
        assert_eq!(operands, Operands::Floats { widest, narrowest }, "{dtypes:?}");
    };
    check(&[Dtype::F8E4M3, Dtype::F32, Dtype::F8E4M3, Dtype::F32], 4, 4);
    check(&[Dtype::Bf16, Dtype::F8E4M3, Dtype::F32], 8, 4);
    check(&[Dtype::F32, Dtype::I32], 24, 24);
}

#[test]
fn functions_bound_the_method_only_where_they_were_measured() {
    let own = calibration();
    let work = work(MIB, MIB, &[(OperationKind::Special, 4e12)]);
    let ceilings = Ceilings::new(h200(), Some(&own), Basis::Measured);
    let method = MethodBound::new(&work, &ceilings, CacheState::Cold).unwrap();
    check(method.bound(), Limit::Special, 1.0);
    let physical = PhysicalBound::new(&work, &ceilings, CacheState::Cold).unwrap();
    assert_ne!(physical.bound().limit, Limit::Special);
    let is_left_out = |assumption: &Assumption| {
        matches!(assumption, Assumption::LeftOut { kind: OperationKind::Special, .. })
    };
    assert!(physical.bound().assumptions.iter().any(is_left_out));
}

#[test]
fn every_assumption_is_a_sentence() {
    let operations = [
        (OperationKind::Arithmetic, 1e9),
        (OperationKind::Contraction, 1e9),
        (OperationKind::Special, 1e6),
        (OperationKind::Integer, 1e6),
        (OperationKind::Compare, 1e6),
    ];
    let own = calibration();
    let ceilings = Ceilings::new(h200(), Some(&own), Basis::Measured);
    let physical = PhysicalBound::new(&work(MIB, MIB, &operations), &ceilings, CacheState::Cold);
    let said: Vec<String> =
        physical.unwrap().bound().assumptions.iter().map(ToString::to_string).collect();
    let expected = [
        "every input is read once and every output written once",
        "no algorithm needs fewer operations than the project states",
        "no cache holds data of the workload at the start",
        "up to 32 MiB of the outputs stay in L2 after the kernel ends (measured)",
        "sums and products take one operation on FP32: the pipe of the task's own precision",
        "matrix products take 3 operations each on FP16 tensor, FP32 accumulation: an f32 is the sum of two halves (Ootomo and Yokota 2022, arXiv 2203.03341)",
        "FP16 tensor, FP32 accumulation is not calibrated: the value of the device sheet is used",
        "functions are left out: special functions can be polynomials on the FP32 lanes, so their own unit is no physical limit",
        "integer operations are left out: the device sheet states no rate of integer operations",
        "comparisons are left out: the device sheet states no rate of comparisons",
    ];
    assert_eq!(said, expected);
}

#[test]
fn what_is_no_number_is_no_bound() {
    for count in [f64::NAN, f64::INFINITY, -1.0] {
        let work = work(MIB, 0, &[(OperationKind::Arithmetic, count)]);
        let refused = PhysicalBound::new(&work, &sheet_ceilings(), CacheState::Cold);
        assert_eq!(refused, Err(NoBound::NotANumber), "{count}");
        let refused = MethodBound::new(&work, &sheet_ceilings(), CacheState::Cold);
        assert_eq!(refused, Err(NoBound::NotANumber), "{count}");
    }
    let nothing = PhysicalBound::new(&work(0, 0, &[]), &sheet_ceilings(), CacheState::Cold);
    assert_eq!(nothing, Err(NoBound::NothingKnown));
}

#[test]
fn every_measured_workload_of_a_sample_has_bounds() {
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sample-projects");
    let mut seen = 0;
    let entries = std::fs::read_dir(samples).unwrap().map(|entry| entry.unwrap().path());
    for folder in entries.filter(|path| path.join("project.ron").is_file()) {
        let project = lightbench_project::Project::load(&folder).unwrap();
        for workload in &project.workloads {
            let work = MinimalWork::new(&project.definition, workload);
            let (name, ceilings) = (&project.definition.name, sheet_ceilings());
            let physical = PhysicalBound::new(&work, &ceilings, CacheState::Cold).unwrap();
            let method = MethodBound::new(&work, &ceilings, CacheState::Cold).unwrap();
            let (physical, method) = (physical.bound().time, method.bound().time);
            assert!(physical.0 > 0.0 && physical <= method, "{name} {}", workload.name);
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn a_row_that_others_use_again_is_no_second_pass() {
    let broadcast = |project: &str| {
        let folder = format!("{}/../../sample-projects/{project}", env!("CARGO_MANIFEST_DIR"));
        let project = lightbench_project::Project::load(folder.as_ref()).unwrap();
        MinimalWork::new(&project.definition, &project.workloads[0]).broadcast
    };
    assert_eq!(broadcast("rmsnorm"), 1.0);
    assert_eq!(broadcast("layernorm"), 2.0);
    assert_eq!(broadcast("cross-entropy"), 0.0);
    assert_eq!(broadcast("sgemm"), 0.0);
}
