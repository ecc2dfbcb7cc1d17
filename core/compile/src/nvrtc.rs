//! Bindings of NVRTC, NVIDIA's run-time compiler, loaded from a configured path.
//!
//! The only file outside `device/cuda` that may be unsafe. Everything it offers is safe: texts are
//! checked for interior zero bytes, sizes that the library states are bounded before they are
//! allocated, and every symbol is resolved when the library is loaded, so that a library that
//! lacks one gives an error with the name of the symbol and not a crash during a compilation.
#![expect(unsafe_code, reason = "calls into a C library that is loaded at run time")]

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};
use std::ptr;
use std::time::{Duration, Instant};

use libloading::Library;
use serde::{Deserialize, Serialize};

/// The most that the compiler may return of one kind (PTX, cubin): 120 MiB, so that both fit a frame.
const OUTPUT_LIMIT: usize = 120 << 20;
/// What is kept of a log; a template error can repeat itself for gigabytes.
const LOG_LIMIT: usize = 8 << 20;
/// The largest log that is copied out of the library at all.
const LOG_COPY_LIMIT: usize = 256 << 20;

/// The files of the compiler library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NvrtcPaths {
    /// `libnvrtc.so.13` or its like.
    pub library: PathBuf,
    /// `libnvrtc-builtins.so.13.5` or its like: loaded first, because the compiler asks the loader
    /// for it by bare name.
    pub builtins: Option<PathBuf>,
}

/// The version that the library states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NvrtcVersion {
    /// The CUDA major version.
    pub major: u32,
    /// The CUDA minor version.
    pub minor: u32,
}

/// One program to compile. Options come from trusted code: some of the compiler's own read or
/// write any file.
#[derive(Debug, Clone, Copy)]
pub struct NvrtcProgram<'text> {
    /// The name that diagnostics show.
    pub name: &'text str,
    /// The text of the main file.
    pub source: &'text str,
    /// Headers in memory: the name as it is written in `#include`, and the text.
    pub headers: &'text [(String, String)],
    /// Expressions whose lowered names are wanted: `rmsnorm<256>`.
    pub name_expressions: &'text [String],
    /// The compiler's options.
    pub options: &'text [String],
}

/// What a compile produced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NvrtcOutput {
    /// Whether it compiled, and to what.
    pub outcome: NvrtcOutcome,
    /// The compiler's messages, unchecked: they repeat parts of the source. At most 8 MiB.
    #[serde(with = "serde_bytes")]
    pub log: Vec<u8>,
    /// Time spent inside the compiler's own compile call.
    pub elapsed: Duration,
}

/// Whether a program compiled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum NvrtcOutcome {
    /// It did.
    Compiled {
        /// The PTX, without the terminating zero.
        #[serde(with = "serde_bytes")]
        ptx: Vec<u8>,
        /// Machine code, where the options name a real architecture.
        #[serde(with = "serde_bytes")]
        cubin: Option<Vec<u8>>,
        /// The lowered name of each name expression, in order.
        lowered_names: Vec<String>,
    },
    /// It did not; the log has the reason.
    Rejected {
        /// The library's result code.
        code: i32,
        /// The code's name, such as `NVRTC_ERROR_COMPILATION`.
        name: String,
    },
}

/// Why the library could not be loaded or a call failed for a reason that is not the program's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum NvrtcError {
    /// The loader refused the file.
    #[error("cannot load the compiler library `{}`: {reason}", path.display())]
    Load {
        /// The file.
        path: PathBuf,
        /// The loader's message.
        reason: String,
    },
    /// The library lacks a function.
    #[error("`{}` has no function `{symbol}`: expected the NVRTC of CUDA 12.0 or newer", path.display())]
    Symbol {
        /// The file.
        path: PathBuf,
        /// The missing function.
        symbol: String,
    },
    /// A text holds a zero byte, which C ends texts with.
    #[error("{what} contains a zero byte: remove it")]
    InteriorNul {
        /// Which text.
        what: String,
    },
    /// There are more texts than the library can count.
    #[error("{count} headers, expressions or options are more than the compiler can count")]
    TooMany {
        /// How many there are.
        count: usize,
    },
    /// A call failed.
    #[error("{function} failed: {name} ({code})")]
    Call {
        /// The function.
        function: String,
        /// The library's result code.
        code: i32,
        /// The code's name, and the detail where the library gives one.
        name: String,
    },
    /// The library states a size beyond every real program.
    #[error("the compiler states {size} bytes of {what}, more than the {limit} allowed")]
    TooLarge {
        /// What is so large.
        what: String,
        /// The size stated.
        size: usize,
        /// The bound.
        limit: usize,
    },
    /// The library carries no headers: it is older than CUDA 13.3.
    #[error(
        "this compiler carries no headers: expected CUDA 13.3 or newer, or a folder with headers"
    )]
    NoBundledHeaders,
}

/// A loaded compiler.
#[derive(Debug)]
pub struct Nvrtc {
    functions: Functions,
    // The functions above point into these: kept loaded for as long as they can be called.
    _library: Library,
    _builtins: Option<Library>,
}

impl Nvrtc {
    /// Loads the library and asks for every function that is used.
    ///
    /// # Errors
    ///
    /// [`NvrtcError::Load`] or [`NvrtcError::Symbol`].
    pub fn load(paths: &NvrtcPaths) -> Result<Self, NvrtcError> {
        let builtins = paths.builtins.as_deref().map(open_globally).transpose()?;
        // SAFETY: the path names the vendor's compiler, chosen by trusted code; its initialisers
        // only set up its own state.
        let library = unsafe { Library::new(&paths.library) }
            .map_err(|error| load_error(&paths.library, &error))?;
        let functions = Functions::load(&library, &paths.library)?;
        Ok(Self { functions, _library: library, _builtins: builtins })
    }

    /// The version that the library states.
    ///
    /// # Errors
    ///
    /// [`NvrtcError::Call`].
    pub fn version(&self) -> Result<NvrtcVersion, NvrtcError> {
        let (mut major, mut minor): (c_int, c_int) = (0, 0);
        // SAFETY: both pointers are valid for writing an int.
        let code = unsafe { (self.functions.version)(&raw mut major, &raw mut minor) };
        self.check("nvrtcVersion", code)?;
        Ok(NvrtcVersion { major: major.unsigned_abs(), minor: minor.unsigned_abs() })
    }

    /// The compute capabilities that it can compile for, ten times over (`90` is 9.0), ascending.
    ///
    /// # Errors
    ///
    /// [`NvrtcError::Call`] or [`NvrtcError::TooLarge`].
    pub fn supported_architectures(&self) -> Result<Vec<u32>, NvrtcError> {
        let mut count: c_int = 0;
        // SAFETY: the pointer is valid for writing an int.
        let code = unsafe { (self.functions.count_architectures)(&raw mut count) };
        self.check("nvrtcGetNumSupportedArchs", code)?;
        let count = bounded("architectures", count.unsigned_abs() as usize, 1024)?;
        let mut values: Vec<c_int> = vec![0; count];
        // SAFETY: the library writes as many ints as it has just counted, and `values` holds them.
        let code = unsafe { (self.functions.architectures)(values.as_mut_ptr()) };
        self.check("nvrtcGetSupportedArchs", code)?;
        Ok(values.into_iter().map(c_int::unsigned_abs).collect())
    }

    /// Whether this library can extract headers of its own.
    #[must_use]
    pub fn carries_headers(&self) -> bool {
        self.functions.install_headers.is_some()
    }

    /// Extracts the headers that the library carries into `folder`, unless they are there already.
    /// Safe against other processes that do the same.
    ///
    /// # Errors
    ///
    /// [`NvrtcError::NoBundledHeaders`], or [`NvrtcError::Call`] with the library's reason.
    pub fn install_bundled_headers(&self, folder: &Path) -> Result<(), NvrtcError> {
        let install = self.functions.install_headers.ok_or(NvrtcError::NoBundledHeaders)?;
        let path = text("the folder's path", &folder.to_string_lossy())?;
        let mut reason: *const c_char = ptr::null();
        // SAFETY: `path` ends with a zero byte and `reason` is valid for writing a pointer.
        let code = unsafe { install(path.as_ptr(), 0, &raw mut reason) };
        if code == SUCCESS {
            return Ok(());
        }
        let mut name = self.code_name(code);
        if !reason.is_null() {
            // SAFETY: after a failure, the library points `reason` to a text that ends with a zero
            // byte and lives until its next call for this thread that sets a reason.
            let detail = unsafe { CStr::from_ptr(reason) }.to_string_lossy();
            name = format!("{name}: {detail}");
        }
        Err(NvrtcError::Call { function: "nvrtcInstallBundledHeaders".to_owned(), code, name })
    }

    /// Compiles one program. A program that does not compile is a result, not an error.
    ///
    /// # Errors
    ///
    /// [`NvrtcError`] for a malformed request or a failure of the library.
    pub fn compile(&self, program: &NvrtcProgram<'_>) -> Result<NvrtcOutput, NvrtcError> {
        let options = program
            .options
            .iter()
            .map(|option| text("a compiler option", option))
            .collect::<Result<Vec<_>, _>>()?;
        let compiled = Program::create(self, program)?;
        let expressions = compiled.add_name_expressions(program.name_expressions)?;
        let pointers = pointers(&options);
        let count = count(pointers.len())?;
        let start = Instant::now();
        // SAFETY: `pointers` holds `count` texts that live in `options` until after the call.
        let code =
            unsafe { (self.functions.compile_program)(compiled.handle, count, pointers.as_ptr()) };
        let elapsed = start.elapsed();
        let log = compiled.log()?;
        let outcome = if code == SUCCESS {
            NvrtcOutcome::Compiled {
                ptx: compiled.ptx()?,
                cubin: compiled.cubin()?,
                lowered_names: compiled.lowered_names(&expressions)?,
            }
        } else {
            NvrtcOutcome::Rejected { code, name: self.code_name(code) }
        };
        Ok(NvrtcOutput { outcome, log, elapsed })
    }

    fn check(&self, function: &str, code: c_int) -> Result<(), NvrtcError> {
        if code == SUCCESS {
            return Ok(());
        }
        Err(NvrtcError::Call { function: function.to_owned(), code, name: self.code_name(code) })
    }

    fn code_name(&self, code: c_int) -> String {
        // SAFETY: the function takes any int.
        let name = unsafe { (self.functions.error_string)(code) };
        if name.is_null() {
            return "unknown".to_owned();
        }
        // SAFETY: a result that is not null is a constant text that ends with a zero byte.
        unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
    }
}

const SUCCESS: c_int = 0;

type Handle = *mut c_void;
type SizeFunction = unsafe extern "C" fn(Handle, *mut usize) -> c_int;
type CopyFunction = unsafe extern "C" fn(Handle, *mut c_char) -> c_int;

/// Declares the table of functions and how it is filled: a field, its symbol, its type.
macro_rules! functions {
    ($($field:ident = $symbol:literal: $signature:ty,)*) => {
        #[derive(Debug)]
        struct Functions {
            $($field: $signature,)*
            install_headers: Option<InstallHeaders>,
        }

        impl Functions {
            fn load(library: &Library, path: &Path) -> Result<Self, NvrtcError> {
                Ok(Self {
                    $($field: {
                        // SAFETY: the signature is the one that `nvrtc.h` declares for the symbol.
                        let found = unsafe { library.get::<$signature>($symbol) };
                        *found.map_err(|_error| NvrtcError::Symbol {
                            path: path.to_owned(),
                            symbol: $symbol.to_owned(),
                        })?
                    },)*
                    install_headers: {
                        // SAFETY: as above; the function exists since CUDA 13.3.
                        let found = unsafe { library.get("nvrtcInstallBundledHeaders") };
                        found.ok().map(|function| *function)
                    },
                })
            }
        }
    };
}

type InstallHeaders = unsafe extern "C" fn(*const c_char, c_uint, *mut *const c_char) -> c_int;

functions! {
    error_string = "nvrtcGetErrorString": unsafe extern "C" fn(c_int) -> *const c_char,
    version = "nvrtcVersion": unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int,
    count_architectures = "nvrtcGetNumSupportedArchs": unsafe extern "C" fn(*mut c_int) -> c_int,
    architectures = "nvrtcGetSupportedArchs": unsafe extern "C" fn(*mut c_int) -> c_int,
    create_program = "nvrtcCreateProgram": unsafe extern "C" fn(
        *mut Handle, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char,
    ) -> c_int,
    destroy_program = "nvrtcDestroyProgram": unsafe extern "C" fn(*mut Handle) -> c_int,
    compile_program = "nvrtcCompileProgram":
        unsafe extern "C" fn(Handle, c_int, *const *const c_char) -> c_int,
    add_name_expression = "nvrtcAddNameExpression":
        unsafe extern "C" fn(Handle, *const c_char) -> c_int,
    lowered_name = "nvrtcGetLoweredName":
        unsafe extern "C" fn(Handle, *const c_char, *mut *const c_char) -> c_int,
    log_size = "nvrtcGetProgramLogSize": SizeFunction,
    log = "nvrtcGetProgramLog": CopyFunction,
    ptx_size = "nvrtcGetPTXSize": SizeFunction,
    ptx = "nvrtcGetPTX": CopyFunction,
    cubin_size = "nvrtcGetCUBINSize": SizeFunction,
    cubin = "nvrtcGetCUBIN": CopyFunction,
}

/// A program inside the library, destroyed when dropped.
struct Program<'nvrtc> {
    nvrtc: &'nvrtc Nvrtc,
    handle: Handle,
}

impl<'nvrtc> Program<'nvrtc> {
    fn create(nvrtc: &'nvrtc Nvrtc, program: &NvrtcProgram<'_>) -> Result<Self, NvrtcError> {
        let name = text("the name of the main file", program.name)?;
        let source = text("the source", program.source)?;
        let mut names = Vec::with_capacity(program.headers.len());
        let mut texts = Vec::with_capacity(program.headers.len());
        for (header, content) in program.headers {
            names.push(text("a header's name", header)?);
            texts.push(text(&format!("the header `{header}`"), content)?);
        }
        let (name_pointers, text_pointers) = (pointers(&names), pointers(&texts));
        let count = count(names.len())?;
        let mut handle: Handle = ptr::null_mut();
        // SAFETY: all texts end with a zero byte and outlive the call, which copies them; both
        // arrays hold `count` pointers.
        let code = unsafe {
            (nvrtc.functions.create_program)(
                &raw mut handle,
                source.as_ptr(),
                name.as_ptr(),
                count,
                text_pointers.as_ptr(),
                name_pointers.as_ptr(),
            )
        };
        nvrtc.check("nvrtcCreateProgram", code)?;
        Ok(Self { nvrtc, handle })
    }

    fn add_name_expressions(&self, expressions: &[String]) -> Result<Vec<CString>, NvrtcError> {
        let expressions = expressions
            .iter()
            .map(|expression| text("a name expression", expression))
            .collect::<Result<Vec<_>, _>>()?;
        for expression in &expressions {
            let add = self.nvrtc.functions.add_name_expression;
            // SAFETY: the handle is alive, and the text ends with a zero byte and is copied.
            let code = unsafe { add(self.handle, expression.as_ptr()) };
            self.nvrtc.check("nvrtcAddNameExpression", code)?;
        }
        Ok(expressions)
    }

    fn lowered_names(&self, expressions: &[CString]) -> Result<Vec<String>, NvrtcError> {
        expressions.iter().map(|expression| self.lowered_name(expression)).collect()
    }

    fn lowered_name(&self, expression: &CStr) -> Result<String, NvrtcError> {
        let mut name: *const c_char = ptr::null();
        let lowered = self.nvrtc.functions.lowered_name;
        // SAFETY: the handle is alive, the text ends with a zero byte, `name` is valid for writing.
        let code = unsafe { lowered(self.handle, expression.as_ptr(), &raw mut name) };
        self.nvrtc.check("nvrtcGetLoweredName", code)?;
        if name.is_null() {
            return Ok(String::new());
        }
        // SAFETY: on success the library points `name` to a text that lives as long as the program.
        Ok(unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
    }

    fn log(&self) -> Result<Vec<u8>, NvrtcError> {
        let functions = &self.nvrtc.functions;
        let mut log = self.read("log", functions.log_size, functions.log, LOG_COPY_LIMIT)?;
        end_at_zero(&mut log);
        log.truncate(LOG_LIMIT);
        Ok(log)
    }

    fn ptx(&self) -> Result<Vec<u8>, NvrtcError> {
        let functions = &self.nvrtc.functions;
        let mut ptx = self.read("PTX", functions.ptx_size, functions.ptx, OUTPUT_LIMIT)?;
        end_at_zero(&mut ptx);
        Ok(ptx)
    }

    fn cubin(&self) -> Result<Option<Vec<u8>>, NvrtcError> {
        let functions = &self.nvrtc.functions;
        let cubin = self.read("cubin", functions.cubin_size, functions.cubin, OUTPUT_LIMIT)?;
        Ok((!cubin.is_empty()).then_some(cubin))
    }

    /// One of the library's results: asks for its size, then for its bytes.
    fn read(
        &self,
        what: &str,
        size: SizeFunction,
        copy: CopyFunction,
        limit: usize,
    ) -> Result<Vec<u8>, NvrtcError> {
        let mut stated: usize = 0;
        // SAFETY: the handle is alive and the pointer is valid for writing a size.
        let code = unsafe { size(self.handle, &raw mut stated) };
        self.nvrtc.check(&format!("asking for the size of the {what}"), code)?;
        let length = bounded(what, stated, limit)?;
        if length == 0 {
            return Ok(Vec::new());
        }
        let mut bytes = vec![0_u8; length];
        // SAFETY: the library writes as many bytes as it has just stated, and `bytes` holds them.
        let code = unsafe { copy(self.handle, bytes.as_mut_ptr().cast()) };
        self.nvrtc.check(&format!("reading the {what}"), code)?;
        Ok(bytes)
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle came from `nvrtcCreateProgram` and is destroyed once. A failure would
        // leave memory behind in a process that is about to end anyway.
        let _code = unsafe { (self.nvrtc.functions.destroy_program)(&raw mut self.handle) };
    }
}

/// Loads a library so that others find its symbols and its name.
#[cfg(unix)]
fn open_globally(path: &Path) -> Result<Library, NvrtcError> {
    use libloading::os::unix::{Library as UnixLibrary, RTLD_GLOBAL, RTLD_NOW};
    // SAFETY: the path names a data library of the vendor's compiler, chosen by trusted code.
    let library = unsafe { UnixLibrary::open(Some(path), RTLD_NOW | RTLD_GLOBAL) };
    library.map(Library::from).map_err(|error| load_error(path, &error))
}

/// Loads a library; on Windows a loaded module is found by its bare name from then on.
#[cfg(not(unix))]
fn open_globally(path: &Path) -> Result<Library, NvrtcError> {
    // SAFETY: the path names a data library of the vendor's compiler, chosen by trusted code.
    unsafe { Library::new(path) }.map_err(|error| load_error(path, &error))
}

fn load_error(path: &Path, error: &libloading::Error) -> NvrtcError {
    // The loader's own words are one level down.
    let reason =
        std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
    NvrtcError::Load { path: path.to_owned(), reason }
}

fn text(what: &str, content: &str) -> Result<CString, NvrtcError> {
    CString::new(content).map_err(|_nul| NvrtcError::InteriorNul { what: what.to_owned() })
}

fn pointers(texts: &[CString]) -> Vec<*const c_char> {
    texts.iter().map(|text| text.as_ptr()).collect()
}

fn count(count: usize) -> Result<c_int, NvrtcError> {
    c_int::try_from(count).map_err(|_error| NvrtcError::TooMany { count })
}

fn bounded(what: &str, size: usize, limit: usize) -> Result<usize, NvrtcError> {
    if size <= limit {
        Ok(size)
    } else {
        Err(NvrtcError::TooLarge { what: what.to_owned(), size, limit })
    }
}

fn end_at_zero(bytes: &mut Vec<u8>) {
    if let Some(end) = bytes.iter().position(|byte| *byte == 0) {
        bytes.truncate(end);
    }
}
