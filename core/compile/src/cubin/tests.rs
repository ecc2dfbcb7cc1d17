//! The cubins under `tests/data/cubins` were compiled with NVRTC 13.5 from the sources beside
//! them, the one with `cuda_12` in its name with NVRTC 12.9; the figures are those of
//! `cuobjdump -res-usage` 13.5 and of the sources' signatures.

use proptest::prelude::*;

use super::*;

macro_rules! cubin {
    ($name:literal) => {
        include_bytes!(concat!("../../../../tests/data/cubins/", $name, ".cubin"))
    };
}

const SCALE: [(u32, &[u8]); 4] = [
    (75, cubin!("scale.sm_75")),
    (80, cubin!("scale.sm_80")),
    (90, cubin!("scale.sm_90")),
    (120, cubin!("scale.sm_120")),
];

const PRESSURE: [(u32, &[u8]); 4] = [
    (75, cubin!("pressure.sm_75")),
    (80, cubin!("pressure.sm_80")),
    (90, cubin!("pressure.sm_90")),
    (120, cubin!("pressure.sm_120")),
];

const OF_CUDA_12: &[u8] = cubin!("scale.cuda_12.sm_90");

/// REG, STACK, SHARED, CONSTANT[0] of `cuobjdump -res-usage`.
fn check(bytes: &[u8], symbol: &str, expected: (u32, u32, u64, u64)) -> CubinKernel {
    let cubin = read(bytes).unwrap();
    let kernel = cubin.kernels.into_iter().find(|each| each.symbol == symbol).unwrap();
    let seen = (
        kernel.registers.unwrap(),
        kernel.stack_bytes.unwrap(),
        kernel.shared_bytes,
        kernel.constant_bytes[&0],
    );
    assert_eq!(seen, expected, "{symbol} of sm_{:?}", cubin.architecture);
    kernel
}

#[test]
fn resources_are_those_that_the_vendors_tool_prints() {
    let copy = "_Z4copyIdEvPT_PKS0_";
    for ((_, bytes), (scale, of_copy)) in SCALE.into_iter().zip([
        ((12, 0, 512, 385), (8, 0, 0, 368)),
        ((12, 0, 512, 385), (8, 0, 0, 368)),
        ((14, 0, 1536, 561), (10, 0, 0, 544)),
        ((12, 0, 1536, 929), (10, 0, 0, 912)),
    ]) {
        check(bytes, "scale", scale);
        check(bytes, copy, of_copy);
        assert_eq!(read(bytes).unwrap().constant_bytes, BTreeMap::from([(3, 96)]));
    }
    for ((_, bytes), expected) in PRESSURE.into_iter().zip([
        (24, 24, 0, 392),
        (24, 24, 0, 392),
        (24, 24, 1024, 568),
        (24, 24, 1024, 936),
    ]) {
        check(bytes, "pressure", expected);
    }
}

#[test]
fn parameters_are_those_of_the_signature() {
    let expected = [(0, 0, 8), (1, 8, 8), (2, 16, 4), (3, 24, 8), (4, 32, 1)];
    for (_, bytes) in SCALE {
        let kernel =
            read(bytes).unwrap().kernels.into_iter().find(|each| each.symbol == "scale").unwrap();
        let seen: Vec<_> =
            kernel.parameters.iter().map(|each| (each.ordinal, each.offset, each.size)).collect();
        assert_eq!(seen, expected);
        assert_eq!(kernel.parameter_bytes, Some(33));
        assert_eq!(kernel.max_threads, Some([128, 1, 1]));
        assert!(kernel.code_bytes > 0);
    }
    for (_, bytes) in PRESSURE {
        let kernel = &read(bytes).unwrap().kernels[0];
        let sizes: Vec<u32> = kernel.parameters.iter().map(|each| each.size).collect();
        assert_eq!((&sizes[..], kernel.max_threads), (&[8, 8, 24][..], None));
        assert_eq!(kernel.frame_bytes, Some(24));
    }
}

#[test]
fn a_cubin_of_cuda_12_has_the_same_facts() {
    let kernel = check(OF_CUDA_12, "scale", (14, 0, 1536, 561));
    let of_13 = check(SCALE[2].1, "scale", (14, 0, 1536, 561));
    assert_eq!(kernel.parameters, of_13.parameters);
    assert_eq!((kernel.barriers, of_13.barriers), (Some(1), Some(1)));
    assert_eq!(kernel.max_threads, Some([128, 1, 1]));
    assert_eq!(check(OF_CUDA_12, "_Z4copyIdEvPT_PKS0_", (10, 0, 0, 544)).barriers, None);
    let cubin = read(OF_CUDA_12).unwrap();
    assert_eq!(cubin.architecture, Some(90));
    assert_eq!(cubin.constant_bytes, BTreeMap::from([(3, 96)]));
}

#[test]
fn the_architecture_is_read() {
    for (architecture, bytes) in SCALE.into_iter().chain(PRESSURE) {
        assert_eq!(read(bytes).unwrap().architecture, Some(architecture));
    }
}

#[test]
fn sizes_of_large_parameters_are_plain_numbers() {
    // From the cubin of a kernel (int*, struct of 8000 bytes, char) for sm_90.
    let record = [4, 0x45, 12, 0, 0, 0, 0, 0, 1, 0, 8, 0, 0x40, 0x1f, 0, 0];
    let expected = CubinParameter { ordinal: 1, offset: 8, size: 8000 };
    assert_eq!(attributes(&record).collect::<Vec<_>>(), [Attribute::Parameter(expected)]);
}

#[test]
fn what_is_no_cubin_is_refused() {
    assert!(matches!(read(b""), Err(CubinError::NotElf { .. })));
    assert!(matches!(read(b"\x7fELF"), Err(CubinError::NotElf { .. })));
    let mut other = SCALE[0].1.to_vec();
    other[18] = 62;
    assert_eq!(read(&other), Err(CubinError::OtherMachine { machine: 62 }));
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        drop(read(&bytes));
        prop_assert!(attributes(&bytes).count() <= bytes.len());
    }

    #[test]
    fn a_damaged_cubin_is_read_without_panic(
        which in 0_usize..4,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
        length in any::<prop::sample::Index>(),
    ) {
        let mut bytes = PRESSURE[which].1.to_vec();
        let size = bytes.len();
        for (at, byte) in damage {
            bytes[at.index(size)] = byte;
        }
        drop(read(&bytes));
        drop(read(&bytes[..length.index(size)]));
    }
}
