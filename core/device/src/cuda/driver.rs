//! Calls of the CUDA driver: each is one unsafe block, and each return code becomes an error with the driver's name for
//! it.
//!
//! The driver must not return codes newer than the bindings: the bindings cover the newest CUDA version that they know,
//! and the calls used here are as old as the interface.
#![expect(unsafe_code, reason = "calls into the CUDA driver, which is loaded at run time")]

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr;

use cudarc::driver::sys::{
    self, CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUfunction, CUfunction_attribute,
    CUjit_option, CUlaunchAttribute, CUlaunchAttributeID, CUlaunchAttributeValue,
    CUlaunchAttributeValue_union__bindgen_ty_1 as ClusterDimension, CUlaunchConfig, CUmodule,
    CUresult, CUstream, CUuuid,
};

use super::older_driver;
use crate::error::{DriverError, OpenError};
use crate::execution::Launch;

/// Name of the library on this platform.
const LIBRARY: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };

/// The oldest driver that accepts the output of NVRTC 12.9.
const OLDEST: (u32, u32) = (12, 0);

/// Limit on the driver's messages about PTX.
const LOG_BYTES: usize = 16 << 10;

/// The initialised driver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Driver {
    pub(super) version: (u32, u32),
}

impl Driver {
    /// Loads and initialises the driver. Call it before any other function: the bindings panic without it.
    pub(super) fn load() -> Result<Self, OpenError> {
        // SAFETY: opens the library and closes it again; its initialisers are the vendor's.
        if !unsafe { sys::is_culib_present() } {
            return Err(OpenError::NoDriver(LIBRARY));
        }
        let mut version: c_int = 0;
        // SAFETY: writes one integer through a valid pointer; may be called before `cuInit`.
        checked("cuDriverGetVersion", unsafe { sys::cuDriverGetVersion(&raw mut version) })?;
        let version = unsigned(version);
        let version = (version / 1000, version % 1000 / 10);
        // SAFETY: takes no pointer; 0 is the only valid flag.
        checked("cuInit", unsafe { sys::cuInit(0) })?;
        if version < OLDEST {
            return Err(OpenError::OldDriver { found: version, oldest: OLDEST });
        }
        Ok(Self { version })
    }

    pub(super) fn count(self) -> Result<u32, DriverError> {
        let mut count: c_int = 0;
        // SAFETY: writes one integer through a valid pointer.
        checked("cuDeviceGetCount", unsafe { sys::cuDeviceGetCount(&raw mut count) })?;
        Ok(unsigned(count))
    }

    pub(super) fn gpu(self, ordinal: u32) -> Result<Gpu, OpenError> {
        let count = self.count()?;
        let number = c_int::try_from(ordinal).ok().filter(|_| ordinal < count);
        let Some(number) = number else { return Err(OpenError::NoSuchGpu { ordinal, count }) };
        let mut device: CUdevice = 0;
        // SAFETY: writes one integer through a valid pointer.
        checked("cuDeviceGet", unsafe { sys::cuDeviceGet(&raw mut device, number) })?;
        Ok(Gpu(device))
    }
}

/// The driver's handle of a GPU.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gpu(pub(super) CUdevice);

impl Gpu {
    pub(super) fn name(self) -> Result<String, DriverError> {
        let mut name = [0_u8; 256];
        let place = name.as_mut_ptr().cast::<c_char>();
        // SAFETY: the buffer has the 256 bytes that are stated.
        checked("cuDeviceGetName", unsafe { sys::cuDeviceGetName(place, 256, self.0) })?;
        Ok(until_zero(&name))
    }

    pub(super) fn uuid(self) -> Result<String, DriverError> {
        let mut uuid = CUuuid { bytes: [0; 16] };
        // SAFETY: writes 16 bytes through a valid pointer to as many.
        let code = unsafe { sys::cuDeviceGetUuid_v2(&raw mut uuid, self.0) };
        checked("cuDeviceGetUuid", code)?;
        Ok(uuid.bytes.iter().map(|byte| format!("{:02x}", *byte as u8)).collect())
    }

    /// PCI domain, bus and device, by which NVML identifies the GPU too.
    pub(super) fn pci_bus(self) -> Result<String, DriverError> {
        let mut name = [0_u8; 32];
        let place = name.as_mut_ptr().cast::<c_char>();
        // SAFETY: the buffer has the 32 bytes that are stated.
        let code = unsafe { sys::cuDeviceGetPCIBusId(place, 32, self.0) };
        checked("cuDeviceGetPCIBusId", code)?;
        Ok(until_zero(&name))
    }

    pub(super) fn attribute(self, which: CUdevice_attribute) -> Result<u32, DriverError> {
        let mut value: c_int = 0;
        // SAFETY: writes one integer through a valid pointer.
        let code = unsafe { sys::cuDeviceGetAttribute(&raw mut value, which, self.0) };
        checked("cuDeviceGetAttribute", code)?;
        Ok(unsigned(value))
    }

    pub(super) fn memory_bytes(self) -> Result<u64, DriverError> {
        let mut bytes: usize = 0;
        // SAFETY: writes one size through a valid pointer.
        checked("cuDeviceTotalMem", unsafe { sys::cuDeviceTotalMem_v2(&raw mut bytes, self.0) })?;
        Ok(bytes as u64)
    }
}

/// A private context: a fault in one context does not affect other contexts.
#[derive(Debug)]
pub(super) struct Context(CUcontext);

impl Context {
    pub(super) fn new(gpu: Gpu) -> Result<Self, DriverError> {
        let mut context: CUcontext = ptr::null_mut();
        let handle = &raw mut context;
        let code = match older_driver::create_context() {
            // SAFETY: writes one handle through a valid pointer; no parameters is allowed.
            None => unsafe { sys::cuCtxCreate_v4(handle, ptr::null_mut(), 0, gpu.0) },
            // SAFETY: as above.
            Some(create) => unsafe { create(handle, 0, gpu.0) },
        };
        checked("cuCtxCreate", code)?;
        Ok(Self(context))
    }

    /// Makes this the current context of the calling thread.
    pub(super) fn enter(&self) -> Result<(), DriverError> {
        // SAFETY: the context lives as long as this value.
        checked("cuCtxSetCurrent", unsafe { sys::cuCtxSetCurrent(self.0) })
    }

    /// Waits for everything that was launched.
    pub(super) fn synchronise(&self) -> Result<(), CUresult> {
        // SAFETY: takes no pointer.
        let code = unsafe { sys::cuCtxSynchronize() };
        if code == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(code) }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the handle came from `cuCtxCreate` and is destroyed once.
        checked("cuCtxDestroy", unsafe { sys::cuCtxDestroy_v2(self.0) }).ok();
    }
}

/// Free device memory, in the current context.
pub(super) fn free_bytes() -> Result<u64, DriverError> {
    let (mut free, mut total) = (0_usize, 0_usize);
    // SAFETY: writes two sizes through valid pointers.
    let code = unsafe { sys::cuMemGetInfo_v2(&raw mut free, &raw mut total) };
    checked("cuMemGetInfo", code)?;
    Ok(free as u64)
}

/// The stream that every context has, which all others wait for.
pub(super) const DEFAULT_STREAM: CUstream = ptr::null_mut();

/// A loaded module, unloaded on drop.
#[derive(Debug)]
pub(super) struct LoadedModule(CUmodule);

impl LoadedModule {
    /// Loads a cubin; its size is in its header.
    pub(super) fn from_cubin(cubin: &[u8]) -> Result<Self, DriverError> {
        Self::load(cubin)
    }

    /// Has the driver assemble PTX.
    pub(super) fn from_ptx(ptx: &str) -> Result<Self, DriverError> {
        let mut text = Vec::with_capacity(ptx.len() + 1);
        // A zero would end the text early.
        text.extend(ptx.bytes().filter(|byte| *byte != 0));
        text.push(0);
        Self::load(&text)
    }

    fn load(image: &[u8]) -> Result<Self, DriverError> {
        let mut log = vec![0_u8; LOG_BYTES];
        let mut options = [
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ];
        let mut values =
            [log.as_mut_ptr().cast::<c_void>(), ptr::without_provenance_mut(LOG_BYTES)];
        let mut module: CUmodule = ptr::null_mut();
        let (from, count) = (image.as_ptr().cast::<c_void>(), options.len() as c_uint);
        let (option, value) = (options.as_mut_ptr(), values.as_mut_ptr());
        // SAFETY: the image is a zero-ended text or a whole ELF file; options and values are two each, and the log has
        // the bytes that are stated.
        let code = unsafe { sys::cuModuleLoadDataEx(&raw mut module, from, count, option, value) };
        checked("cuModuleLoadDataEx", code)
            .map_err(|error| DriverError { log: until_zero(&log).trim().to_owned(), ..error })?;
        Ok(Self(module))
    }

    /// A kernel of the module.
    pub(super) fn kernel(&self, name: &str) -> Result<Option<Kernel>, DriverError> {
        let Ok(name) = CString::new(name) else { return Ok(None) };
        let mut function: CUfunction = ptr::null_mut();
        // SAFETY: writes one handle; the name ends in a zero.
        let code = unsafe { sys::cuModuleGetFunction(&raw mut function, self.0, name.as_ptr()) };
        if code == CUresult::CUDA_ERROR_NOT_FOUND {
            return Ok(None);
        }
        checked("cuModuleGetFunction", code)?;
        Ok(Some(Kernel(function)))
    }
}

impl LoadedModule {
    /// A global or constant variable of the module.
    pub(super) fn variable(&self, name: &str) -> Result<Option<Variable<'_>>, DriverError> {
        let Ok(name) = CString::new(name) else { return Ok(None) };
        let (mut start, mut length): (CUdeviceptr, usize) = (0, 0);
        let (place, bytes) = (&raw mut start, &raw mut length);
        // SAFETY: writes one address and one size through valid pointers; the name ends in a zero.
        let code = unsafe { sys::cuModuleGetGlobal_v2(place, bytes, self.0, name.as_ptr()) };
        if code == CUresult::CUDA_ERROR_NOT_FOUND {
            return Ok(None);
        }
        checked("cuModuleGetGlobal", code)?;
        Ok(Some(Variable { start, length, _module: self }))
    }
}

impl Drop for LoadedModule {
    fn drop(&mut self) {
        // SAFETY: the handle came from the driver and is unloaded once.
        checked("cuModuleUnload", unsafe { sys::cuModuleUnload(self.0) }).ok();
    }
}

/// A variable of a module, which stays loaded as long as this value lives.
#[derive(Debug)]
pub(super) struct Variable<'m> {
    start: CUdeviceptr,
    length: usize,
    _module: &'m LoadedModule,
}

impl Variable<'_> {
    /// Its size in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.length
    }

    /// Replaces the first bytes of the variable; bytes beyond its end are ignored.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), DriverError> {
        let length = bytes.len().min(self.length);
        if length == 0 {
            return Ok(());
        }
        let from = bytes.as_ptr().cast::<c_void>();
        // SAFETY: both sides have `length` bytes, and the module that the variable is part of is loaded.
        checked("cuMemcpyHtoD", unsafe { sys::cuMemcpyHtoD_v2(self.start, from, length) })
    }
}

/// A kernel of a module that is still loaded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kernel(CUfunction);

impl Kernel {
    pub(super) fn attribute(self, which: CUfunction_attribute) -> Result<u32, DriverError> {
        let mut value: c_int = 0;
        // SAFETY: writes one integer through a valid pointer.
        let code = unsafe { sys::cuFuncGetAttribute(&raw mut value, which, self.0) };
        checked("cuFuncGetAttribute", code)?;
        Ok(unsigned(value))
    }

    /// Allows more dynamic shared memory than every device has.
    pub(super) fn allow_dynamic_shared(self, bytes: u32) -> Result<(), DriverError> {
        let which = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let bytes = c_int::try_from(bytes).unwrap_or(c_int::MAX);
        // SAFETY: takes no pointer.
        let code = unsafe { sys::cuFuncSetAttribute(self.0, which, bytes) };
        checked("cuFuncSetAttribute", code)
    }

    /// Allows clusters of more blocks than every device has.
    pub(super) fn allow_large_clusters(self) -> Result<(), DriverError> {
        let which = CUfunction_attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED;
        // SAFETY: takes no pointer.
        checked("cuFuncSetAttribute", unsafe { sys::cuFuncSetAttribute(self.0, which, 1) })
    }

    /// Offset and size of a parameter; `None` beyond the last one.
    pub(super) fn parameter(self, index: usize) -> Result<Option<(usize, usize)>, DriverError> {
        let (mut offset, mut size) = (0_usize, 0_usize);
        // SAFETY: writes two sizes through valid pointers.
        let code =
            unsafe { sys::cuFuncGetParamInfo(self.0, index, &raw mut offset, &raw mut size) };
        if code == CUresult::CUDA_ERROR_INVALID_VALUE {
            return Ok(None);
        }
        checked("cuFuncGetParamInfo", code)?;
        Ok(Some((offset, size)))
    }

    /// Starts the kernel in a stream. `parameters` has exactly the length of the kernel's parameter list; the driver
    /// copies it.
    pub(super) fn start(
        self,
        launch: &Launch,
        parameters: &mut [u8],
        stream: CUstream,
    ) -> Result<(), CUresult> {
        let mut size = parameters.len();
        let tag = |value: u32| ptr::without_provenance_mut::<c_void>(value as usize);
        let mut extra = [
            tag(sys::CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT),
            parameters.as_mut_ptr().cast::<c_void>(),
            tag(sys::CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT),
            (&raw mut size).cast::<c_void>(),
            tag(sys::CU_LAUNCH_PARAM_END_AS_INT),
        ];
        let cooperative = c_int::from(launch.cooperative);
        let mut attributes = vec![CUlaunchAttribute {
            id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
            pad: [0; 4],
            value: CUlaunchAttributeValue { cooperative },
        }];
        attributes.extend(launch.cluster.map(|[x, y, z]| CUlaunchAttribute {
            id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
            pad: [0; 4],
            value: CUlaunchAttributeValue { clusterDim: ClusterDimension { x, y, z } },
        }));
        let config = CUlaunchConfig {
            gridDimX: launch.grid[0],
            gridDimY: launch.grid[1],
            gridDimZ: launch.grid[2],
            blockDimX: launch.block[0],
            blockDimY: launch.block[1],
            blockDimZ: launch.block[2],
            sharedMemBytes: launch.dynamic_shared,
            hStream: stream,
            attrs: attributes.as_mut_ptr(),
            numAttrs: attributes.len() as c_uint,
        };
        let (function, none, extra) = (self.0, ptr::null_mut(), extra.as_mut_ptr());
        // SAFETY: the buffer has `size` bytes, as the kernel requires; the buffer and the attributes, as many as
        // stated, are copied before the call returns.
        let code = unsafe { sys::cuLaunchKernelEx(&raw const config, function, none, extra) };
        if code == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(code) }
    }
}

/// An error for every code but success.
pub(super) fn checked(call: &'static str, code: CUresult) -> Result<(), DriverError> {
    if code == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(error(call, code)) }
}

/// The driver's name and description of an error code.
pub(super) fn error(call: &'static str, code: CUresult) -> DriverError {
    let mut text: *const c_char = ptr::null();
    // SAFETY: writes one pointer to a text of the driver's own.
    let known = unsafe { sys::cuGetErrorName(code, &raw mut text) } == CUresult::CUDA_SUCCESS;
    let name = if known { owned(text) } else { format!("{code:?}") };
    // SAFETY: as above.
    let known = unsafe { sys::cuGetErrorString(code, &raw mut text) } == CUresult::CUDA_SUCCESS;
    let description = if known { owned(text) } else { String::new() };
    DriverError { call, name, description, log: String::new() }
}

fn owned(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the driver's texts end in a zero and are never freed.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

fn until_zero(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

fn unsigned(value: c_int) -> u32 {
    u32::try_from(value).unwrap_or(0)
}
