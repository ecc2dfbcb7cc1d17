//! A declaration beyond each limit, and those that fit.

use super::*;

/// A matrix of 1000 rows of 512 bf16 elements in boxes of 64 × 128.
fn matrix() -> TensorMap {
    TensorMap {
        element: MapElement::Bf16,
        dims: vec![512, 1000],
        strides: vec![1024],
        offset: 0,
        region: MapRegion::Tiled(vec![64, 128]),
        element_strides: vec![1, 1],
        swizzle: Swizzle::B128,
        interleave: Interleave::None,
        l2_promotion: L2Promotion::B128,
        fill: OutOfBoundsFill::Zeros,
    }
}

const BYTES: u64 = 1000 * 1024;

fn check(change: impl FnOnce(&mut TensorMap), expected: &str) {
    let mut map = matrix();
    change(&mut map);
    let found = map.check(BYTES).map_or_else(|error| error.to_string(), |()| "fits".to_owned());
    assert!(found.contains(expected), "{found}\nexpected: {expected}");
}

fn columns(map: &mut TensorMap) {
    map.dims = vec![64, 10, 10, 2];
    map.strides = vec![128, 1280, 12_800];
    map.element_strides = vec![1; 4];
    map.region = MapRegion::Im2col {
        lower_corner: vec![-1, -1],
        upper_corner: vec![1, 1],
        channels: 64,
        pixels: 32,
    };
}

#[test]
fn limits_of_the_driver() {
    check(|_| (), "fits");
    check(|map| map.dims.clear(), "shape: found 0 dimensions, expected 1 to 5");
    check(|map| map.interleave = Interleave::B32, "2 dimensions, expected 3 to 5 for an inter");
    check(|map| map.dims[1] = 0, "shape of dimension 1 (0 is the innermost): found 0");
    check(|map| map.dims[0] = (1 << 32) + 1, "found 4294967297, expected 1 to 2^32");
    check(|map| map.offset = 8, "offset: found 8, expected a multiple of 16 bytes");
    check(|map| map.strides[0] = 1032, "strides of dimension 1 (0 is the innermost): found 1032");
    check(|map| map.strides[0] = 1 << 40, "below 2^40");
    check(|map| map.strides.push(16), "found 2 strides, expected 1");
    check(|map| map.element_strides[1] = 9, "expected 1 to 8");
    check(|map| map.element_strides[1] = 0, "expected 1 to 8");
    check(|map| map.region = MapRegion::Tiled(vec![64, 257]), "expected 1 to 256");
    check(|map| map.region = MapRegion::Tiled(vec![64]), "box: found 1, expected 2");
    check(|map| map.region = MapRegion::Tiled(vec![4, 8]), "8 bytes, expected a multiple of 16");
    check(|map| map.region = MapRegion::Tiled(vec![128, 8]), "at most 128 bytes");
    check(
        |map| {
            map.element = MapElement::U16;
            map.fill = OutOfBoundsFill::Nan;
        },
        "fill: found nan for u16",
    );
    check(|map| map.fill = OutOfBoundsFill::Nan, "fits");
    check(|map| map.dims[1] = 1001, "ends at byte 1025024, expected a tensor inside");
    check(|map| map.offset = 16, "ends at byte 1024016");
    check(columns, "fits");
}

#[test]
fn limits_of_columns_and_interleaved_tensors() {
    let region = |lower: &[i32], channels, pixels| MapRegion::Im2col {
        lower_corner: lower.to_vec(),
        upper_corner: vec![0, 0],
        channels,
        pixels,
    };
    let column = |region, expected: &str| {
        check(
            |map| {
                columns(map);
                map.region = region;
            },
            expected,
        );
    };
    column(region(&[0], 64, 1), "lower_corner: found 1, expected 2");
    column(region(&[-129, 0], 64, 1), "expected -128 to 127 for 4 dimensions");
    column(region(&[0, 0], 257, 1), "channels: found 257");
    column(region(&[0, 0], 65, 1), "a multiple of 16 bytes");
    column(region(&[0, 0], 64, 1025), "pixels: found 1025");
    let interleaved = |swizzle, expected: &str| {
        check(
            |map| {
                map.dims = vec![16, 10, 20];
                map.strides = vec![32, 320];
                map.region = MapRegion::Tiled(vec![1, 4, 4]);
                map.element_strides = vec![1; 3];
                map.interleave = Interleave::B32;
                map.swizzle = swizzle;
            },
            expected,
        );
    };
    interleaved(Swizzle::B32, "fits");
    interleaved(Swizzle::B64, "swizzle: found b64, expected b32 with an interleave of b32");
}
