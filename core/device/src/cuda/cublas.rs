//! cuBLAS, loaded when a baseline needs it: from the paths that the program found, else by its name.
//!
//! The bindings of the driver's crate accept no path and use any toolkit on the loader's path, so the few functions
//! needed are declared here, as in `cublas_api.h`. Workspace, math mode and stream are set explicitly: no choice is
//! left to the library.
#![expect(unsafe_code, reason = "calls into cuBLAS, which is loaded at run time")]

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr;

use cudarc::driver::sys::{CUdeviceptr, CUstream};
use libloading::Library;
use lightbench_primitives::dtype::Dtype;

use super::block::Allocation;
use crate::error::DeviceError;
use crate::library::{Compute, LibraryError, LibraryUsed, Product, Reading};

/// NVIDIA's recommendation for Hopper, larger than for other architectures (cuBLAS, `cublasSetWorkspace`).
const WORKSPACE_BYTES: usize = 32 << 20;

/// `CUBLAS_STATUS_SUCCESS`.
const SUCCESS: c_int = 0;

/// `CUBLAS_DEFAULT_MATH`: the highest precision of each compute type; TF32 only if the compute type names it.
const DEFAULT_MATH: c_int = 0;

/// `CUBLAS_GEMM_DEFAULT`: the library chooses.
const DEFAULT_ALGORITHM: c_int = -1;

type Handle = *mut c_void;

/// Declares the table of functions and how it is filled: a field, its symbol, its type.
macro_rules! functions {
    ($($field:ident = $symbol:literal: $signature:ty,)*) => {
        #[derive(Debug)]
        struct Functions {
            $($field: $signature,)*
        }

        impl Functions {
            fn load(library: &Library, path: &Path) -> Result<Self, LibraryError> {
                Ok(Self {
                    $($field: {
                        // SAFETY: the signature is the one that `cublas_api.h` declares for the symbol.
                        let found = unsafe { library.get::<$signature>($symbol) };
                        *found.map_err(|_error| LibraryError::Symbol {
                            file: path.display().to_string(),
                            symbol: $symbol,
                        })?
                    },)*
                })
            }
        }
    };
}

functions! {
    create = "cublasCreate_v2": unsafe extern "C" fn(*mut Handle) -> c_int,
    destroy = "cublasDestroy_v2": unsafe extern "C" fn(Handle) -> c_int,
    property = "cublasGetProperty": unsafe extern "C" fn(c_int, *mut c_int) -> c_int,
    status_text = "cublasGetStatusString": unsafe extern "C" fn(c_int) -> *const c_char,
    set_stream = "cublasSetStream_v2": unsafe extern "C" fn(Handle, CUstream) -> c_int,
    set_workspace = "cublasSetWorkspace_v2":
        unsafe extern "C" fn(Handle, *mut c_void, usize) -> c_int,
    set_math = "cublasSetMathMode": unsafe extern "C" fn(Handle, c_int) -> c_int,
    gemm = "cublasGemmEx": unsafe extern "C" fn(
        Handle, c_int, c_int, c_int, c_int, c_int, *const c_void,
        *const c_void, c_int, c_int, *const c_void, c_int, c_int,
        *const c_void, *mut c_void, c_int, c_int, c_int, c_int,
    ) -> c_int,
}

/// cuBLAS in one context. Fields are dropped in this order, the handle before them by [`Drop`].
#[derive(Debug)]
pub(super) struct Cublas {
    handle: Handle,
    workspace: Allocation,
    /// The stream of the handle; `None` before the first use.
    stream: Cell<Option<CUstream>>,
    version: String,
    file: PathBuf,
    functions: Functions,
    // The functions point into these.
    _library: Library,
    _part: Option<Library>,
}

impl Cublas {
    /// Loads the first of these files that the loader accepts. Needs a current context.
    pub(super) fn load(files: &[PathBuf]) -> Result<Self, DeviceError> {
        let mut reason = "no path was given".to_owned();
        for file in files {
            match open(file) {
                Ok(opened) => return Self::from_library(file, opened),
                Err(error) => reason = format!("{}: {error}", file.display()),
            }
        }
        Err(LibraryError::Missing { reason }.into())
    }

    fn from_library(
        file: &Path,
        (library, part): (Library, Option<Library>),
    ) -> Result<Self, DeviceError> {
        let functions = Functions::load(&library, file)?;
        let mut handle: Handle = ptr::null_mut();
        // SAFETY: writes one handle through a valid pointer; a context is current.
        let code = unsafe { (functions.create)(&raw mut handle) };
        functions.checked("cublasCreate", code)?;
        let mut cublas = Self {
            handle,
            workspace: Allocation::new(WORKSPACE_BYTES)?,
            stream: Cell::new(None),
            version: String::new(),
            file: file.to_owned(),
            functions,
            _library: library,
            _part: part,
        };
        cublas.version = cublas.stated_version()?;
        // SAFETY: the handle is valid.
        let code = unsafe { (cublas.functions.set_math)(handle, DEFAULT_MATH) };
        cublas.functions.checked("cublasSetMathMode", code)?;
        Ok(cublas)
    }

    /// Which library this is, and how it computes a product.
    pub(super) fn used(&self, product: &Product) -> LibraryUsed {
        let workspace = WORKSPACE_BYTES >> 20;
        LibraryUsed {
            name: "cuBLAS".to_owned(),
            version: self.version.clone(),
            file: self.file.display().to_string(),
            call: format!("{}, default math mode, {workspace} MiB of workspace", product.words()),
        }
    }

    /// Sets the stream of subsequent calls. Changing the stream resets the workspace, so it is set again.
    pub(super) fn bind(&self, stream: CUstream) -> Result<(), LibraryError> {
        if self.stream.get() == Some(stream) {
            return Ok(());
        }
        // SAFETY: handle and stream live.
        let code = unsafe { (self.functions.set_stream)(self.handle, stream) };
        self.functions.checked("cublasSetStream", code)?;
        let room = self.workspace.room();
        let start = ptr::without_provenance_mut(room.start as usize);
        // SAFETY: the workspace has that many bytes of device memory and lives as long as the handle.
        let code = unsafe { (self.functions.set_workspace)(self.handle, start, room.bytes) };
        self.functions.checked("cublasSetWorkspace", code)?;
        self.stream.set(Some(stream));
        Ok(())
    }

    /// Enqueues a product. The addresses are those of `a`, `b` and `c`, with the sizes that the product states.
    pub(super) fn start(
        &self,
        product: &Product,
        addresses: [CUdeviceptr; 3],
    ) -> Result<(), LibraryError> {
        let columns = product.in_columns();
        let (left, right) = (columns.left.0.index(), columns.right.0.index());
        let at = |index: usize| ptr::without_provenance_mut::<c_void>(addresses[index] as usize);
        let of = |index: usize| {
            let matrix = &product.matrices[index];
            Ok::<_, LibraryError>((element(matrix.dtype)?, int(matrix.leading)))
        };
        let ((left_type, left_leading), (right_type, right_leading)) = (of(left)?, of(right)?);
        let (result_type, result_leading) = of(2)?;
        let (single, double, nothing) = (1.0_f32, 1.0_f64, 0.0_f64);
        let one: *const c_void = match product.compute {
            Compute::F64 => (&raw const double).cast(),
            Compute::F32 | Compute::Tf32 | Compute::Bf16 | Compute::F16 => {
                (&raw const single).cast()
            }
        };
        // Zero has the same bits in both.
        let zero: *const c_void = (&raw const nothing).cast();
        // SAFETY: the three ranges are device memory of the sizes that leading dimensions and counts require; both
        // factors have the compute type and are read before the call returns.
        let code = unsafe {
            (self.functions.gemm)(
                self.handle,
                operation(columns.left.1),
                operation(columns.right.1),
                int(columns.rows),
                int(columns.columns),
                int(columns.terms),
                one,
                at(left),
                left_type,
                left_leading,
                at(right),
                right_type,
                right_leading,
                zero,
                at(2),
                result_type,
                result_leading,
                compute_type(product.compute),
                DEFAULT_ALGORITHM,
            )
        };
        self.functions.checked("cublasGemmEx", code)
    }

    fn stated_version(&self) -> Result<String, LibraryError> {
        let mut numbers = Vec::new();
        for part in 0..3 {
            let mut number: c_int = 0;
            // SAFETY: writes one integer through a valid pointer; 0, 1 and 2 are major, minor and patch.
            let code = unsafe { (self.functions.property)(part, &raw mut number) };
            self.functions.checked("cublasGetProperty", code)?;
            numbers.push(number.to_string());
        }
        Ok(numbers.join("."))
    }
}

impl Drop for Cublas {
    fn drop(&mut self) {
        // SAFETY: the handle came from `cublasCreate` and is destroyed once. A failure would leave memory behind in a
        // context that is about to end.
        let _code = unsafe { (self.functions.destroy)(self.handle) };
    }
}

impl Functions {
    fn checked(&self, call: &'static str, code: c_int) -> Result<(), LibraryError> {
        if code == SUCCESS {
            return Ok(());
        }
        // SAFETY: accepts any code and returns a static text of the library, or null.
        let text = unsafe { (self.status_text)(code) };
        let status = if text.is_null() {
            format!("status {code}")
        } else {
            // SAFETY: the library's texts end in a zero and are never freed.
            unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
        };
        Err(LibraryError::Call { call, status })
    }
}

/// Opens the library, after the library that it depends on from the same folder, because not every installation
/// registers that folder with the loader.
fn open(file: &Path) -> Result<(Library, Option<Library>), libloading::Error> {
    let part = beside(file).filter(|part| part.is_file());
    let part = part.map(|part| open_globally(&part)).transpose()?;
    Ok((open_globally(file)?, part))
}

/// The file of cuBLASLt next to one of cuBLAS: `libcublas.so.13` and `libcublasLt.so.13`.
fn beside(file: &Path) -> Option<PathBuf> {
    // The loader searches its own folders for a bare name, never the current folder.
    let name = file.file_name().filter(|_| file.parent() != Some(Path::new("")))?.to_str()?;
    let part = ["libcublas.", "cublas64"].iter().find_map(|stem| {
        let rest = name.strip_prefix(stem)?;
        Some(format!("{}{rest}", stem.replacen("cublas", "cublasLt", 1)))
    })?;
    Some(file.with_file_name(part))
}

/// Loads a library so that others find its symbols and its name.
#[cfg(unix)]
fn open_globally(path: &Path) -> Result<Library, libloading::Error> {
    use libloading::os::unix::{Library as UnixLibrary, RTLD_GLOBAL, RTLD_LAZY};
    // SAFETY: the path names the vendor's library, chosen by trusted code; its initialisers only set up its own state.
    unsafe { UnixLibrary::open(Some(path), RTLD_LAZY | RTLD_GLOBAL) }.map(Library::from)
}

/// Loads a library; on Windows a loaded module is found by its bare name from then on.
#[cfg(not(unix))]
fn open_globally(path: &Path) -> Result<Library, libloading::Error> {
    // SAFETY: the path names the vendor's library, chosen by trusted code; its initialisers only set up its own state.
    unsafe { Library::new(path) }
}

/// `cublasOperation_t`.
const fn operation(reading: Reading) -> c_int {
    match reading {
        Reading::AsItLies => 0,
        Reading::Transposed => 1,
    }
}

/// `cublasComputeType_t`.
const fn compute_type(compute: Compute) -> c_int {
    match compute {
        Compute::F32 => 68,
        Compute::F64 => 70,
        Compute::F16 => 74,
        Compute::Bf16 => 75,
        Compute::Tf32 => 77,
    }
}

/// `cudaDataType_t`.
fn element(dtype: Dtype) -> Result<c_int, LibraryError> {
    let known = [(Dtype::F32, 0), (Dtype::F64, 1), (Dtype::F16, 2), (Dtype::Bf16, 14)];
    let found = known.iter().find(|(known, _)| *known == dtype).map(|(_, number)| *number);
    found.ok_or_else(|| LibraryError::Call {
        call: "cublasGemmEx",
        status: format!("matrices of {} are not supported", dtype.name()),
    })
}

fn int(value: u32) -> c_int {
    c_int::try_from(value).unwrap_or(c_int::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_that_it_needs_lies_beside_it() {
        let check = |file: &str, expected: Option<&str>| {
            assert_eq!(beside(Path::new(file)), expected.map(PathBuf::from), "{file}");
        };
        check(
            "/usr/local/cuda/lib64/libcublas.so.13",
            Some("/usr/local/cuda/lib64/libcublasLt.so.13"),
        );
        check("libcublas.so.13", None);
        check("C:/cuda/bin/cublas64_13.dll", Some("C:/cuda/bin/cublasLt64_13.dll"));
        check("/lib/libnvblas.so.13", None);
    }

    #[test]
    fn who_has_no_such_library_is_told_where_it_comes_from() {
        let files = [PathBuf::from("/nowhere/libcublas.so.13")];
        let error = Cublas::load(&files).unwrap_err().to_string();
        assert!(error.contains("cuBLAS is missing (/nowhere/libcublas.so.13"), "{error}");
        assert!(error.contains("pip install nvidia-cublas"), "{error}");
    }
}
