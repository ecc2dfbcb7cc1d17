//! Inputs made by a device are those made by the host.

use lightbench_core::device::Device as _;
use lightbench_core::scalar_value::ScalarValue;
use lightbench_core::tensors::encoding::input::InputEncoding;
use lightbench_core::tensors::inputs;
use lightbench_core::tensors::inputs::{FloatStorage, GeneratedInput, InputMode, InputSpec};
use lightbench_core::verify::harness_kernels::launches;

use super::*;

const ELEMENTS: [Dtype; 15] = [
    Dtype::F64,
    Dtype::F32,
    Dtype::F16,
    Dtype::Bf16,
    Dtype::F8E4M3,
    Dtype::F8E5M2,
    Dtype::I64,
    Dtype::I32,
    Dtype::I16,
    Dtype::I8,
    Dtype::U64,
    Dtype::U32,
    Dtype::U16,
    Dtype::U8,
    Dtype::Bool,
];

const SEED: u64 = 0x9876_5432_1234_5678;

fn fills() -> Vec<Fill<u64>> {
    vec![
        Fill::Normal { mean: -3.5, std: 2.25 },
        Fill::Uniform { low: -1.0, high: 7.5 },
        Fill::Uniform { low: -1.7e308, high: 1.7e308 },
        Fill::Integers { low: -100, high: 27 },
        Fill::Integers { low: i64::MIN, high: i64::MAX },
        Fill::Ones,
        Fill::Zeros,
        Fill::Constant(ScalarValue::Real(-0.1)),
        Fill::Constant(ScalarValue::Real(f64::NEG_INFINITY)),
        Fill::Constant(ScalarValue::Integer(-7)),
        Fill::Mask { density: 0.3 },
        Fill::CausalMask,
        Fill::HeavyTail { scale: 0.75 },
        Fill::Labels { below: 1000 },
    ]
}

fn draws() -> impl Iterator<Item = InputMode> {
    DISTRIBUTIONS.into_iter().map(InputMode::Distribution).chain([InputMode::PrecisionProbe])
}

/// Whether a device makes the bytes that the host makes, and sees every change of them. Says whether it makes any.
fn check(machine: &mut Machine, case: &Case, recipe: InputSpec, wanted: FloatStorage) -> bool {
    let expected = inputs::make_on_host(case, 0, recipe, wanted);
    let made = inputs::make(case, 0, recipe, wanted);
    let described = || format!("{:?} {recipe:?} {wanted:?}", case.tensors[0]);
    let (expected, made) = match (expected, made) {
        (Ok(Some(expected)), Ok(Some(made))) => (expected, made),
        (expected, made) => {
            assert_eq!(expected.err(), made.err(), "{}", described());
            return false;
        }
    };
    let making = match made {
        GeneratedInput::OnHost(bytes) => {
            assert!(bytes == expected, "{}", described());
            return false;
        }
        GeneratedInput::OnDevice(making) => making,
    };
    let buffer = machine.buffer(&vec![0xaa; expected.len()]);
    let table = table(machine, &making);
    machine.run(&launches::make(machine.module, buffer, &making, table));
    let found = machine.device.read(buffer).unwrap().bytes;
    let differs = found.iter().zip(&expected).position(|(found, expected)| found != expected);
    assert_eq!(differs, None, "{}", described());
    assert_eq!(found.len(), expected.len(), "{}", described());
    sees_changes(machine, buffer, (&making, table), &expected);
    machine.device.free(buffer).unwrap();
    table.into_iter().for_each(|table| machine.device.free(table).unwrap());
    true
}

/// What is looked up while it is made.
fn table(machine: &mut Machine, making: &InputEncoding) -> Option<BufferId> {
    let bytes: Vec<u8> = making.table()?.iter().flat_map(|number| number.to_le_bytes()).collect();
    Some(machine.buffer(&bytes))
}

fn sees_changes(
    machine: &mut Machine,
    buffer: BufferId,
    making: (&InputEncoding, Option<BufferId>),
    bytes: &[u8],
) {
    let last = bytes.len() - 1;
    for changed in [None, Some(last / 2), Some(last)] {
        let mut content = bytes.to_vec();
        for at in changed.into_iter().flat_map(|first| first..=last) {
            content[at] ^= 0x10;
        }
        machine.device.set(buffer, InitialContent::Bytes(content)).unwrap();
        let answer = machine.buffer(&[0xff; 16]);
        machine.run(&launches::still(machine.module, buffer, making, answer));
        let answer = machine.take(answer);
        let first = u64::from_le_bytes(*answer.first_chunk().unwrap());
        assert_eq!(first, changed.map_or(u64::MAX, |at| at as u64), "{making:?}");
    }
}

fn recipe(draw: InputMode) -> InputSpec {
    InputSpec { seed: SEED, draw }
}

#[test]
fn every_fill_and_distribution_of_every_dtype_is_the_hosts() {
    let Some(mut machine) = Machine::new() else { return };
    let mut made = 0;
    for dtype in ELEMENTS {
        for fill in fills() {
            for draw in draws() {
                let case = case(Accuracy::F32, vec![input(dtype, &[7, 31], fill.clone())]);
                made +=
                    usize::from(check(&mut machine, &case, recipe(draw), FloatStorage::AsElements));
            }
        }
    }
    // Not far below 15 × 14 × 6: what has no value is refused, and the rest is made by the device.
    assert!(made > 700, "{made} made by the device");
}

#[test]
fn every_domain_of_every_dtype_is_the_hosts() {
    let Some(mut machine) = Machine::new() else { return };
    let domains = [
        Domain::Finite,
        Domain::NonZero,
        Domain::Positive,
        Domain::NonNegative,
        Domain::UnitInterval,
        Domain::Probability,
        Domain::Between { low: -0.75, high: 0.5 },
    ];
    let fills = [
        Fill::Normal { mean: 0.0, std: 1.0 },
        Fill::Integers { low: -2, high: 2 },
        Fill::Uniform { low: 0.1, high: 0.7 },
    ];
    let mut made = 0;
    for dtype in ELEMENTS.into_iter().filter(|dtype| dtype.is_float()) {
        for domain in &domains {
            for (fill, draw) in fills.iter().flat_map(|fill| draws().map(move |draw| (fill, draw)))
            {
                let plain = input(dtype, &[5, 13], fill.clone());
                let tensor = TensorCase { domain: domain.clone(), ..plain };
                let case = case(Accuracy::F32, vec![tensor]);
                made +=
                    usize::from(check(&mut machine, &case, recipe(draw), FloatStorage::AsElements));
            }
        }
    }
    assert!(made > 400, "{made} made by the device");
}

#[test]
fn every_accuracy_has_its_own_range() {
    let Some(mut machine) = Machine::new() else { return };
    for accuracy in [Accuracy::F64, Accuracy::Tf32, Accuracy::F16, Accuracy::Bf16, Accuracy::F8] {
        for dtype in [Dtype::F64, Dtype::F16] {
            for draw in draws() {
                let normal = Fill::Normal { mean: 0.0, std: 1.0 };
                let case = case(accuracy, vec![input(dtype, &[97], normal)]);
                assert!(check(&mut machine, &case, recipe(draw), FloatStorage::AsElements));
            }
        }
    }
}

#[test]
fn layouts_with_gaps_repetition_and_overlap_are_the_hosts() {
    let Some(mut machine) = Machine::new() else { return };
    let layouts: [(&[u64], &[u64]); 9] = [
        (&[5, 6, 7], &[60, 9, 1]),
        (&[5, 6, 7], &[1, 5, 40]),
        (&[5, 6, 7], &[100, 2, 13]),
        (&[4, 9], &[0, 1]),
        (&[4, 9], &[1, 0]),
        (&[6, 9], &[1, 1]),
        (&[1, 1], &[1, 1]),
        (&[], &[]),
        (&[3, 1, 5], &[10, 7, 2]),
    ];
    for dtype in ELEMENTS {
        for (dims, strides) in layouts {
            for fill in [Fill::Mask { density: 0.5 }, Fill::CausalMask] {
                let tensor = strided(input(dtype, dims, fill), strides);
                let case = case(Accuracy::F32, vec![tensor]);
                for draw in
                    [InputMode::Distribution(Distribution::AsDeclared), InputMode::PrecisionProbe]
                {
                    check(&mut machine, &case, recipe(draw), FloatStorage::AsElements);
                    if dtype.is_float() {
                        check(&mut machine, &case, recipe(draw), FloatStorage::AsReals);
                    }
                }
            }
        }
    }
}

#[test]
fn probes_with_partners_are_the_hosts() {
    let Some(mut machine) = Machine::new() else { return };
    let normal = || Fill::Normal { mean: 0.0, std: 1.0 };
    for seed in 0..4 {
        for dims in [[64, 33], [3, 2050], [1, 1]] {
            for accuracy in [Accuracy::F32, Accuracy::F64] {
                let tensors =
                    vec![input(Dtype::F32, &dims, normal()), input(Dtype::F32, &[65], normal())];
                let recipe = InputSpec { seed, draw: InputMode::PrecisionProbe };
                assert!(check(
                    &mut machine,
                    &case(accuracy, tensors),
                    recipe,
                    FloatStorage::AsElements
                ));
            }
        }
    }
}

#[test]
fn packed_elements_are_the_hosts() {
    let Some(mut machine) = Machine::new() else { return };
    for dtype in [Dtype::I4, Dtype::U4, Dtype::E2M1] {
        for fill in [Fill::PackedWeights, Fill::Zeros] {
            for length in [1, 2, 31, 2049] {
                let case = case(Accuracy::F16, vec![input(dtype, &[length], fill.clone())]);
                let recipe = recipe(InputMode::Distribution(Distribution::AsDeclared));
                assert!(check(&mut machine, &case, recipe, FloatStorage::AsElements));
            }
        }
    }
}

#[test]
fn permutations_are_the_hosts() {
    let Some(mut machine) = Machine::new() else { return };
    for dtype in [Dtype::I64, Dtype::U16, Dtype::I32] {
        for length in [1, 2, 3, 64, 65, 1000] {
            let case = case(Accuracy::F32, vec![input(dtype, &[length], Fill::Permutation)]);
            let recipe = recipe(InputMode::Distribution(Distribution::AsDeclared));
            assert!(
                check(&mut machine, &case, recipe, FloatStorage::AsElements),
                "{dtype:?} {length}"
            );
        }
    }
}

#[test]
fn indices_between_offsets_are_the_hosts() {
    let Some(mut machine) = Machine::new() else { return };
    // Rows, what they hold together, the limit of indices, and elements: some behind the last row, rows that are empty.
    let shapes = [
        (1, 1, 1, 1),
        (40, 120, 9, 120),
        (40, 120, 9, 131),
        (300, 67, 300, 67),
        (5, 1400, 20_000, 1400),
        (7, 50, 1 << 40, 50),
    ];
    for dtype in [Dtype::I32, Dtype::U64] {
        for (rows, total, below, length) in shapes {
            let offsets = input(Dtype::I32, &[rows + 1], Fill::SortedOffsets { total });
            let indices = input(dtype, &[length], Fill::SortedIndices { offsets: 1, below });
            let case = case(Accuracy::F32, vec![indices, offsets]);
            let recipe = recipe(InputMode::Distribution(Distribution::AsDeclared));
            assert!(
                check(&mut machine, &case, recipe, FloatStorage::AsElements),
                "{dtype:?} {rows}"
            );
        }
    }
}
