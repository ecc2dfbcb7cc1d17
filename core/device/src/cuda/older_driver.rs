//! What drivers of CUDA 12 lack: two functions, of which they have the earlier form, and the list of a kernel's parameters.
#![expect(unsafe_code, reason = "calls into the CUDA driver, which is loaded at run time")]

use std::collections::BTreeMap;
use std::ffi::c_uint;
use std::sync::OnceLock;

use cudarc::driver::sys::{self, CUcontext, CUdevice, CUevent, CUresult};
use lightbench_ptx::PtxEntry;

/// The first driver that lists a kernel's parameters (`cuFuncGetParamInfo`).
const FIRST_WITH_PARAMETERS: (u32, u32) = (12, 4);

/// Offset and size of each parameter of a kernel.
pub(super) type Layout = Vec<(usize, usize)>;

/// Where the parameter lists of a module's kernels come from.
#[derive(Debug)]
pub(super) enum Layouts {
    Driver,
    /// The declarations in the PTX of the same compilation, by symbol.
    Ptx(BTreeMap<String, Layout>),
}

impl Layouts {
    pub(super) fn new(driver: (u32, u32), ptx: &str) -> Self {
        if driver >= FIRST_WITH_PARAMETERS {
            return Self::Driver;
        }
        let entries = lightbench_ptx::read(ptx).entries;
        Self::Ptx(entries.into_iter().map(|entry| (entry.name.clone(), layout(&entry))).collect())
    }
}

/// Parameters follow each other, each at the next multiple of its alignment (PTX ISA, "Kernel Function Parameters").
fn layout(entry: &PtxEntry) -> Layout {
    let mut end = 0;
    let place = |parameter: &lightbench_ptx::PtxParameter| {
        let alignment = usize::try_from(parameter.alignment).unwrap_or(1).max(1);
        let size = usize::try_from(parameter.size).unwrap_or(usize::MAX);
        let start = usize::next_multiple_of(end, alignment);
        end = start.saturating_add(size);
        (start, size)
    };
    entry.parameters.iter().map(place).collect()
}

type CreateContext = unsafe extern "C" fn(*mut CUcontext, c_uint, CUdevice) -> CUresult;
type ElapsedTime = unsafe extern "C" fn(*mut f32, CUevent, CUevent) -> CUresult;

/// `cuCtxCreate_v2`, where the driver lacks `cuCtxCreate_v4` (CUDA 12.5).
pub(super) fn create_context() -> Option<CreateContext> {
    static FOUND: OnceLock<Option<CreateContext>> = OnceLock::new();
    *FOUND.get_or_init(|| earlier(b"cuCtxCreate_v4\0", b"cuCtxCreate_v2\0"))
}

/// `cuEventElapsedTime`, where the driver lacks `cuEventElapsedTime_v2` (CUDA 12.8).
pub(super) fn elapsed_time() -> Option<ElapsedTime> {
    static FOUND: OnceLock<Option<ElapsedTime>> = OnceLock::new();
    *FOUND.get_or_init(|| earlier(b"cuEventElapsedTime_v2\0", b"cuEventElapsedTime\0"))
}

/// The earlier function, if the driver lacks the present one. Only for functions whose type is `F`.
fn earlier<F: Copy>(present: &[u8], earlier: &[u8]) -> Option<F> {
    // SAFETY: `Driver::load` has found the library before any context exists.
    let library = unsafe { sys::culib() };
    // SAFETY: the symbol is only looked for, and not called.
    let has = unsafe { library.get::<unsafe extern "C" fn()>(present) }.is_ok();
    if has {
        return None;
    }
    // SAFETY: the caller states the type that `cuda.h` declared for the earlier function.
    unsafe { library.get::<F>(earlier) }.ok().map(|function| *function)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_lie_where_the_driver_expects_them() {
        let ptx = ".version 8.8\n.target sm_90\n.address_size 64\n\
                   .visible .entry k(\n.param .u64 a,\n.param .u32 b,\n.param .align 2 .b8 c[2],\n\
                   .param .f64 d,\n.param .align 64 .b8 e[128]\n)\n{\nret;\n}\n";
        let Layouts::Ptx(layouts) = Layouts::new((12, 2), ptx) else { panic!("a list is needed") };
        assert_eq!(layouts["k"], [(0, 8), (8, 4), (12, 2), (16, 8), (64, 128)]);
        assert!(matches!(Layouts::new((12, 4), ptx), Layouts::Driver));
        assert!(matches!(Layouts::new((13, 0), ptx), Layouts::Driver));
    }
}
