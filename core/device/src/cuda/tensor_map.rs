//! Tensor maps in the driver's form.
//!
//! The functions exist since CUDA 12.0, and [`Driver::load`](super::driver::Driver::load) refuses drivers before it.
#![expect(unsafe_code, reason = "calls into the CUDA driver, which is loaded at run time")]

use std::ffi::c_void;
use std::ptr;

use cudarc::driver::sys::{
    self, CUdeviceptr, CUtensorMap, CUtensorMapDataType, CUtensorMapFloatOOBfill,
    CUtensorMapInterleave, CUtensorMapL2promotion, CUtensorMapSwizzle,
};
use lightbench_primitives::tensor_map::{
    Interleave, L2Promotion, MapElement, MapRegion, OutOfBoundsFill, Swizzle, TensorMap,
};

use super::driver::checked;
use crate::error::DriverError;

/// The descriptor of a tensor in the buffer at this address, in the bytes of a kernel parameter. The map has passed
/// [`TensorMap::check`], so that its lists have one entry for each dimension.
pub(super) fn encode(map: &TensorMap, address: CUdeviceptr) -> Result<Vec<u8>, DriverError> {
    let mut encoded = CUtensorMap { opaque: [0; 16] };
    let to = &raw mut encoded;
    let element = element(map.element);
    // At most five.
    let rank = map.rank() as u32;
    let start = ptr::without_provenance_mut::<c_void>((address + map.offset) as usize);
    let (dims, steps) = (map.dims.as_ptr(), map.element_strides.as_ptr());
    // The driver refuses a null pointer, even of a tensor with one dimension, which has no strides.
    let mut strides = map.strides.clone();
    strides.push(0);
    let (interleave, swizzle) = (interleave(map.interleave), swizzle(map.swizzle));
    let (promotion, fill) = (l2_promotion(map.l2_promotion), fill(map.fill));
    match &map.region {
        MapRegion::Tiled(sides) => {
            let sides = sides.as_ptr();
            // SAFETY: writes one descriptor through a valid, aligned pointer; the lists have `rank` entries, that of
            // the strides at least `rank` - 1; the address is not read.
            let code = unsafe {
                sys::cuTensorMapEncodeTiled(
                    to,
                    element,
                    rank,
                    start,
                    dims,
                    strides.as_ptr(),
                    sides,
                    steps,
                    interleave,
                    swizzle,
                    promotion,
                    fill,
                )
            };
            checked("cuTensorMapEncodeTiled", code)?;
        }
        MapRegion::Im2col { lower_corner, upper_corner, channels, pixels } => {
            let (lower, upper) = (lower_corner.as_ptr(), upper_corner.as_ptr());
            // SAFETY: as above; the corners have `rank` - 2 entries.
            let code = unsafe {
                sys::cuTensorMapEncodeIm2col(
                    to,
                    element,
                    rank,
                    start,
                    dims,
                    strides.as_ptr(),
                    lower,
                    upper,
                    *channels,
                    *pixels,
                    steps,
                    interleave,
                    swizzle,
                    promotion,
                    fill,
                )
            };
            checked("cuTensorMapEncodeIm2col", code)?;
        }
    }
    Ok(encoded.opaque.iter().flat_map(|word| word.to_le_bytes()).collect())
}

fn element(element: MapElement) -> CUtensorMapDataType {
    match element {
        MapElement::U8 => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_UINT8,
        MapElement::U16 => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_UINT16,
        MapElement::U32 => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_UINT32,
        MapElement::I32 => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_INT32,
        MapElement::U64 => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_UINT64,
        MapElement::I64 => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_INT64,
        MapElement::F16 => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
        MapElement::F32 => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
        MapElement::F64 => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
        MapElement::Bf16 => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
        MapElement::F32Ftz => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
        MapElement::Tf32 => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
        MapElement::Tf32Ftz => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ,
    }
}

fn interleave(interleave: Interleave) -> CUtensorMapInterleave {
    match interleave {
        Interleave::None => CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
        Interleave::B16 => CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_16B,
        Interleave::B32 => CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_32B,
    }
}

fn swizzle(swizzle: Swizzle) -> CUtensorMapSwizzle {
    match swizzle {
        Swizzle::None => CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
        Swizzle::B32 => CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_32B,
        Swizzle::B64 => CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_64B,
        Swizzle::B128 => CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B,
    }
}

fn l2_promotion(promotion: L2Promotion) -> CUtensorMapL2promotion {
    match promotion {
        L2Promotion::None => CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_NONE,
        L2Promotion::B64 => CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
        L2Promotion::B128 => CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        L2Promotion::B256 => CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
    }
}

fn fill(fill: OutOfBoundsFill) -> CUtensorMapFloatOOBfill {
    match fill {
        OutOfBoundsFill::Zeros => CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        OutOfBoundsFill::Nan => {
            CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
        }
    }
}
