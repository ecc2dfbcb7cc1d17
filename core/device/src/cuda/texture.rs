//! Texture and surface objects of the driver, and arrays, which hold texels in an order of their own.
//!
//! An array is a copy of its buffer. A launch that takes an object of the array brings the array up to date first; an
//! access to the buffer by its address brings the buffer up to date.
#![expect(unsafe_code, reason = "calls into the CUDA driver, which is loaded at run time")]

use std::ptr;

use cudarc::driver::sys::{
    self, CU_TRSF_NORMALIZED_COORDINATES, CU_TRSF_READ_AS_INTEGER, CUDA_ARRAY3D_DESCRIPTOR,
    CUDA_ARRAY3D_SURFACE_LDST, CUDA_ARRAY3D_TEXTURE_GATHER, CUDA_MEMCPY3D, CUDA_RESOURCE_DESC,
    CUDA_RESOURCE_DESC_st__bindgen_ty_1 as Resource,
    CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_1 as ArrayResource,
    CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_3 as LinearResource,
    CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_4 as PitchedResource, CUDA_TEXTURE_DESC,
    CUaddress_mode, CUarray, CUarray_format, CUfilter_mode, CUmemorytype, CUresourcetype, CUstream,
};
use lightbench_primitives::texture::{
    Sampling, TexelAccess, TexelFormat, TexelMemory, Texels, TextureAddress, TextureCoordinates,
    TextureFilter, TextureObject, TextureRead,
};

use super::driver::checked;
use super::stream::BorrowedMemory;
use crate::error::DriverError;

/// The objects of a buffer, and its array. Fields are dropped in this order.
#[derive(Debug, Default)]
pub(super) struct Textures {
    objects: Vec<(TextureObject, Handle)>,
    array: Option<Array>,
    newest: Newest,
}

/// Which copy of the texels changed last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Newest {
    #[default]
    Memory,
    Both,
    Array,
}

/// The content of a buffer and its array, of which one is copied to the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArrayCopy {
    array: CUarray,
    memory: BorrowedMemory,
    /// Bytes of a row, rows, layers.
    extents: [usize; 3],
}

impl Textures {
    /// Makes an object ready for a launch. The array holds the content of the buffer then.
    pub(super) fn bind(
        &mut self,
        object: &TextureObject,
        memory: BorrowedMemory,
    ) -> Result<(), DriverError> {
        let is_array = object.texels.memory != TexelMemory::Linear;
        if is_array && self.array.as_ref().is_none_or(|array| array.texels != object.texels) {
            self.read_memory(memory)?;
            self.objects.clear();
            self.array = Some(Array::new(&object.texels)?);
            self.newest = Newest::Memory;
        }
        if is_array && self.newest == Newest::Memory {
            self.each_copy(memory, ArrayCopy::to_array)?;
            self.newest = Newest::Both;
        }
        if object.access == TexelAccess::Surface {
            self.newest = Newest::Array;
        }
        if self.handle(object).is_none() {
            let array = self.array.as_ref().filter(|_| is_array);
            let handle = Handle::new(object, resource(&object.texels, array, memory))?;
            self.objects.push((object.clone(), handle));
        }
        Ok(())
    }

    /// The value of the argument for an object that is ready.
    pub(super) fn handle(&self, object: &TextureObject) -> Option<u64> {
        let known = self.objects.iter().find(|(known, _)| known == object);
        known.map(|(_, handle)| handle.value())
    }

    /// Makes the memory of the buffer ready for reads by its address.
    pub(super) fn read_memory(&mut self, memory: BorrowedMemory) -> Result<(), DriverError> {
        if self.newest == Newest::Array {
            self.each_copy(memory, ArrayCopy::to_memory)?;
            self.newest = Newest::Both;
        }
        Ok(())
    }

    /// Makes the memory of the buffer ready for reads and writes by its address.
    pub(super) fn use_memory(&mut self, memory: BorrowedMemory) -> Result<(), DriverError> {
        self.read_memory(memory)?;
        self.newest = Newest::Memory;
        Ok(())
    }

    /// The copy of the buffer to the array that surfaces write.
    pub(super) fn refill(&self, memory: BorrowedMemory) -> Option<ArrayCopy> {
        let is_writable = |array: &&Array| array.texels.memory == TexelMemory::WritableArray;
        self.array.as_ref().filter(is_writable).map(|array| array.copy(memory))
    }

    fn each_copy(
        &self,
        memory: BorrowedMemory,
        copy: impl Fn(ArrayCopy, CUstream) -> Result<(), DriverError>,
    ) -> Result<(), DriverError> {
        self.array.as_ref().map_or(Ok(()), |array| copy(array.copy(memory), ptr::null_mut()))
    }
}

#[derive(Debug)]
struct Array {
    array: CUarray,
    texels: Texels,
}

impl Array {
    fn new(texels: &Texels) -> Result<Self, DriverError> {
        let side = |index: usize| texels.extents.get(index).map_or(0, |side| *side as usize);
        let mut flags = 0;
        if texels.memory == TexelMemory::WritableArray {
            flags |= CUDA_ARRAY3D_SURFACE_LDST;
        }
        if texels.extents.len() == 2 && texels.extents.iter().all(|side| *side <= MOST_GATHERED) {
            flags |= CUDA_ARRAY3D_TEXTURE_GATHER;
        }
        let descriptor = CUDA_ARRAY3D_DESCRIPTOR {
            Width: side(0),
            Height: side(1),
            Depth: side(2),
            Format: format(texels.format),
            NumChannels: texels.channels.into(),
            Flags: flags,
        };
        let mut array: CUarray = ptr::null_mut();
        // SAFETY: reads one descriptor and writes one handle through valid pointers.
        let code = unsafe { sys::cuArray3DCreate_v2(&raw mut array, &raw const descriptor) };
        checked("cuArray3DCreate", code)?;
        Ok(Self { array, texels: texels.clone() })
    }

    fn copy(&self, memory: BorrowedMemory) -> ArrayCopy {
        let side = |index: usize| self.texels.extents.get(index).map_or(1, |side| *side as usize);
        let row = side(0) * self.texels.texel_bytes() as usize;
        ArrayCopy { array: self.array, memory, extents: [row, side(1), side(2)] }
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        // SAFETY: the handle came from the driver and is destroyed once.
        checked("cuArrayDestroy", unsafe { sys::cuArrayDestroy(self.array) }).ok();
    }
}

/// A copy of nothing.
const NOTHING: CUDA_MEMCPY3D = CUDA_MEMCPY3D {
    srcXInBytes: 0,
    srcY: 0,
    srcZ: 0,
    srcLOD: 0,
    srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
    srcHost: ptr::null(),
    srcDevice: 0,
    srcArray: ptr::null_mut(),
    reserved0: ptr::null_mut(),
    srcPitch: 0,
    srcHeight: 0,
    dstXInBytes: 0,
    dstY: 0,
    dstZ: 0,
    dstLOD: 0,
    dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
    dstHost: ptr::null_mut(),
    dstDevice: 0,
    dstArray: ptr::null_mut(),
    reserved1: ptr::null_mut(),
    dstPitch: 0,
    dstHeight: 0,
    WidthInBytes: 0,
    Height: 0,
    Depth: 0,
};

/// The largest extent of arrays with gathers (CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability").
const MOST_GATHERED: u64 = 32_768;

impl ArrayCopy {
    pub(super) fn to_array(self, stream: CUstream) -> Result<(), DriverError> {
        let [row, rows, layers] = self.extents;
        let copy = CUDA_MEMCPY3D {
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            srcDevice: self.memory.start,
            srcPitch: row,
            srcHeight: rows,
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_ARRAY,
            dstArray: self.array,
            WidthInBytes: row,
            Height: rows,
            Depth: layers,
            ..NOTHING
        };
        start(&copy, stream)
    }

    fn to_memory(self, stream: CUstream) -> Result<(), DriverError> {
        let [row, rows, layers] = self.extents;
        let copy = CUDA_MEMCPY3D {
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_ARRAY,
            srcArray: self.array,
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            dstDevice: self.memory.start,
            dstPitch: row,
            dstHeight: rows,
            WidthInBytes: row,
            Height: rows,
            Depth: layers,
            ..NOTHING
        };
        start(&copy, stream)
    }
}

/// Starts a copy between an array and memory, which have the bytes of its extents and live until the stream was waited
/// for.
fn start(copy: &CUDA_MEMCPY3D, stream: CUstream) -> Result<(), DriverError> {
    // SAFETY: by the paragraph above.
    checked("cuMemcpy3DAsync", unsafe { sys::cuMemcpy3DAsync_v2(copy, stream) })
}

/// The driver's handle of an object.
#[derive(Debug)]
enum Handle {
    Texture(u64),
    Surface(u64),
}

impl Handle {
    fn new(object: &TextureObject, resource: CUDA_RESOURCE_DESC) -> Result<Self, DriverError> {
        let mut value = 0;
        match object.access {
            TexelAccess::Surface => {
                // SAFETY: reads one description of an existing array, writes one handle.
                let code = unsafe { sys::cuSurfObjectCreate(&raw mut value, &raw const resource) };
                checked("cuSurfObjectCreate", code)?;
                Ok(Self::Surface(value))
            }
            TexelAccess::Texture(sampling) => {
                let texture = description(&sampling, object.texels.extents.len());
                // SAFETY: reads two descriptions, of existing memory, writes one handle; without a view.
                let code = unsafe {
                    sys::cuTexObjectCreate(
                        &raw mut value,
                        &raw const resource,
                        &raw const texture,
                        ptr::null(),
                    )
                };
                checked("cuTexObjectCreate", code)?;
                Ok(Self::Texture(value))
            }
        }
    }

    fn value(&self) -> u64 {
        match self {
            Self::Texture(value) | Self::Surface(value) => *value,
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        match self {
            Self::Texture(value) => {
                // SAFETY: the handle came from the driver and is destroyed once.
                let code = unsafe { sys::cuTexObjectDestroy(*value) };
                checked("cuTexObjectDestroy", code).ok();
            }
            Self::Surface(value) => {
                // SAFETY: as above.
                let code = unsafe { sys::cuSurfObjectDestroy(*value) };
                checked("cuSurfObjectDestroy", code).ok();
            }
        }
    }
}

fn resource(texels: &Texels, array: Option<&Array>, memory: BorrowedMemory) -> CUDA_RESOURCE_DESC {
    let (format, channels) = (format(texels.format), u32::from(texels.channels));
    let (kind, res) = match (array, &texels.extents[..]) {
        (Some(array), _) => (
            CUresourcetype::CU_RESOURCE_TYPE_ARRAY,
            Resource { array: ArrayResource { hArray: array.array } },
        ),
        (None, [width, height]) => (
            CUresourcetype::CU_RESOURCE_TYPE_PITCH2D,
            Resource {
                pitch2D: PitchedResource {
                    devPtr: memory.start,
                    format,
                    numChannels: channels,
                    width: *width as usize,
                    height: *height as usize,
                    pitchInBytes: *width as usize * texels.texel_bytes() as usize,
                },
            },
        ),
        (None, _) => (
            CUresourcetype::CU_RESOURCE_TYPE_LINEAR,
            Resource {
                linear: LinearResource {
                    devPtr: memory.start,
                    format,
                    numChannels: channels,
                    sizeInBytes: memory.bytes,
                },
            },
        ),
    };
    CUDA_RESOURCE_DESC { resType: kind, res, flags: 0 }
}

/// The driver's description of a texture of so many dimensions. The other dimensions clamp: the border of an H200 would
/// halve filtered texels of one dimension.
fn description(sampling: &Sampling, rank: usize) -> CUDA_TEXTURE_DESC {
    let mut flags = 0;
    if sampling.coordinates == TextureCoordinates::Normalized {
        flags |= CU_TRSF_NORMALIZED_COORDINATES;
    }
    if sampling.read == TextureRead::Element {
        flags |= CU_TRSF_READ_AS_INTEGER;
    }
    let address = match sampling.address {
        TextureAddress::Clamp => CUaddress_mode::CU_TR_ADDRESS_MODE_CLAMP,
        TextureAddress::Border => CUaddress_mode::CU_TR_ADDRESS_MODE_BORDER,
        TextureAddress::Wrap => CUaddress_mode::CU_TR_ADDRESS_MODE_WRAP,
        TextureAddress::Mirror => CUaddress_mode::CU_TR_ADDRESS_MODE_MIRROR,
    };
    let mut modes = [CUaddress_mode::CU_TR_ADDRESS_MODE_CLAMP; 3];
    modes.iter_mut().take(rank).for_each(|mode| *mode = address);
    CUDA_TEXTURE_DESC {
        addressMode: modes,
        filterMode: match sampling.filter {
            TextureFilter::Point => CUfilter_mode::CU_TR_FILTER_MODE_POINT,
            TextureFilter::Linear => CUfilter_mode::CU_TR_FILTER_MODE_LINEAR,
        },
        flags,
        maxAnisotropy: 0,
        mipmapFilterMode: CUfilter_mode::CU_TR_FILTER_MODE_POINT,
        mipmapLevelBias: 0.0,
        minMipmapLevelClamp: 0.0,
        maxMipmapLevelClamp: 0.0,
        borderColor: [0.0; 4],
        reserved: [0; 12],
    }
}

fn format(format: TexelFormat) -> CUarray_format {
    match format {
        TexelFormat::F32 => CUarray_format::CU_AD_FORMAT_FLOAT,
        TexelFormat::F16 => CUarray_format::CU_AD_FORMAT_HALF,
        TexelFormat::I32 => CUarray_format::CU_AD_FORMAT_SIGNED_INT32,
        TexelFormat::I16 => CUarray_format::CU_AD_FORMAT_SIGNED_INT16,
        TexelFormat::I8 => CUarray_format::CU_AD_FORMAT_SIGNED_INT8,
        TexelFormat::U32 => CUarray_format::CU_AD_FORMAT_UNSIGNED_INT32,
        TexelFormat::U16 => CUarray_format::CU_AD_FORMAT_UNSIGNED_INT16,
        TexelFormat::U8 => CUarray_format::CU_AD_FORMAT_UNSIGNED_INT8,
    }
}
