//! The compiler: a cache of results, and worker processes that compile on a cache miss.
//!
//! Workers start and headers are extracted on demand: a cache hit starts no process and extracts no headers.

mod batch;
mod header_libraries;
mod python;

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lightbench_primitives::cancellation::Cancellation;
use lightbench_project::candidate::LibraryVersion;
use lightbench_toolchain::doctor::FETCH_COMMAND;
use lightbench_toolchain::{
    HeaderError, HeaderExtraction, HeaderFolder, HeaderState, Headers, Toolchain,
};
use lightbench_worker::command::WorkerCommand;
use lightbench_worker::error::{Death, WorkerError};
use lightbench_worker::frame::Frame;
use lightbench_worker::pool::{FollowingWork, WorkerPool};
use lightbench_worker::protocol::Configuration;
use lightbench_worker::sandbox::SandboxReport;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tempfile::TempDir;

use super::artifact::{self, Artifact};
use super::cache::{Cache, CacheError, DEFAULT_LIMIT, Key};
use super::error::CompileError;
use super::job::CompileJob;
use super::nvrtc::NvrtcPaths;
use super::protocol::{
    AssembleReply, CompileProtocol, CompileWorker, DisassembleRequest, Disassembly, ExtractHeaders,
    RequestFailure, Tools,
};
use super::sass::{self, SassFunction};
use super::source_names::SourceNames;

use header_libraries::ReadLibraries;
use python::Python;

pub use batch::{Batch, BatchJob};

/// Time limit of the assembler, the disassembler and the extraction of headers. The latter two take well under a second.
const TOOL_LIMIT: Duration = Duration::from_secs(60);

/// Maximum number of parallel compilations on any machine: each worker loads the compiler library.
const MOST_WORKERS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(15);

/// Command that fetches the assembler.
const FETCH_ASSEMBLER: &str = "lightbench doctor --fetch assembler";

/// Compiles in worker processes within limits, and caches the results.
#[derive(Debug)]
pub struct Compiler {
    toolchain: Toolchain,
    command: WorkerCommand,
    /// The user's cache folder, if any.
    folder: Option<PathBuf>,
    cache: Option<Cache>,
    headers: Option<IncludeFolders>,
    libraries: ReadLibraries,
    /// Maximum number of parallel compilations.
    workers: NonZeroUsize,
    /// The workers, by the folders that they may read.
    pools: Vec<(Vec<PathBuf>, WorkerPool<CompileProtocol>)>,
    tool_worker: Option<CompileWorker>,
    /// Generates PTX from Triton kernels.
    python: Python,
    notices: Vec<Notice>,
}

/// A condition that does not stop the work and is reported once.
#[derive(Debug, thiserror::Error)]
pub enum Notice {
    /// Results are not cached.
    #[error("{0}; compiled kernels are not cached")]
    NotCached(CacheError),
    /// The compiler's headers cannot be stored in the cache and are extracted for this process only.
    #[error("{0}; the headers are extracted again in each process")]
    HeadersNotKept(HeaderError),
    /// PTX was read but not assembled.
    #[error(
        "the PTX was not assembled because ptxas was not found; `{FETCH_ASSEMBLER}` fetches it"
    )]
    NotAssembled,
    /// Part of the worker's sandbox is not in force.
    #[error("the sandbox of the compile worker is incomplete: {0}")]
    NotConfined(String),
}

/// Result of a compilation.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The compiled module.
    pub artifact: Artifact,
    /// Source of the result.
    pub origin: Origin,
    /// The libraries that the kernel names, as they were compiled.
    pub libraries: Vec<LibraryVersion>,
}

/// Source of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The cache, from an earlier compilation of the same job.
    Cache,
    /// The compiler.
    Compiler {
        /// Time inside the compiler library.
        elapsed: Duration,
    },
    /// The assembler, or the PTX alone if there is no assembler.
    Assembler,
}

/// The folders of the compiler's headers.
#[derive(Debug)]
struct IncludeFolders {
    folders: Vec<PathBuf>,
    /// The folder, removed with this value, if the headers could not be stored in the cache.
    _temporary: Option<TempDir>,
}

impl Compiler {
    /// A compiler without running workers; `folder` is the user's cache folder.
    #[must_use]
    pub fn new(toolchain: Toolchain, command: WorkerCommand, folder: Option<PathBuf>) -> Self {
        let cache = folder.as_ref().map(|folder| Cache::new(folder.join("kernels"), DEFAULT_LIMIT));
        Self {
            toolchain,
            command,
            folder,
            cache,
            headers: None,
            libraries: ReadLibraries::default(),
            workers: processors().min(MOST_WORKERS),
            pools: Vec::new(),
            tool_worker: None,
            python: Python::default(),
            notices: Vec::new(),
        }
    }

    /// Sets the maximum number of parallel compilations, instead of one for each processor.
    #[must_use]
    pub fn with_workers(mut self, most: NonZeroUsize) -> Self {
        (self.workers, self.pools) = (most, Vec::new());
        self
    }

    /// Maximum number of parallel compilations.
    #[must_use]
    pub const fn workers(&self) -> NonZeroUsize {
        self.workers
    }

    /// The toolchain.
    #[must_use]
    pub fn toolchain(&self) -> &Toolchain {
        &self.toolchain
    }

    /// The compiler's name and version for the user, such as `NVRTC 13.0`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("NVRTC {}", self.toolchain.nvrtc.version)
    }

    /// Takes the notices since the previous call.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    /// Takes the record of how replaced workers ended since the previous call.
    pub fn take_replaced(&mut self) -> Vec<Death> {
        let pools = self.pools.iter_mut();
        let mut replaced: Vec<Death> = pools.flat_map(|(_, pool)| pool.take_replaced()).collect();
        replaced.extend(self.tool_worker.iter_mut().flat_map(CompileWorker::take_replaced));
        replaced
    }

    /// Compiles a job, or returns its cached result.
    ///
    /// # Errors
    /// The compiler rejects the kernel, the compilation exceeds the limit, or this machine cannot compile.
    pub fn compile(
        &mut self,
        job: &CompileJob,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<Compiled, CompileError> {
        let order = BatchJob { job, limit, on_failure: FollowingWork::Cancel };
        // A single job has no result only after a cancellation.
        self.compile_all(&[order], cancellation)
            .pop()
            .flatten()
            .unwrap_or(Err(CompileError::Cancelled))
    }

    fn report_sandbox_gaps(&mut self, sandbox: &SandboxReport) {
        for gap in sandbox.gaps() {
            self.add_notice(Notice::NotConfined(gap));
        }
    }

    /// Adds a notice unless an equal notice is pending.
    fn add_notice(&mut self, notice: Notice) {
        let text = notice.to_string();
        if self.notices.iter().all(|earlier| earlier.to_string() != text) {
            self.notices.push(notice);
        }
    }

    fn assemble(
        &mut self,
        job: &CompileJob,
        name: &str,
        text: &str,
        cancellation: &Cancellation,
    ) -> Result<Compiled, CompileError> {
        artifact::check_header(text, job.target.capability).map_err(CompileError::Rejected)?;
        let names = SourceNames::new(name, []);
        let Some(ptxas) = self.toolchain.ptxas.clone() else {
            self.add_notice(Notice::NotAssembled);
            let artifact = artifact::from_assembler(text.to_owned(), None, names)
                .map_err(CompileError::Rejected)?;
            return Ok(Compiled { artifact, origin: Origin::Assembler, libraries: Vec::new() });
        };
        let key = job.key(&identity(&ptxas.program, "ptxas"));
        let (answer, origin) = match self.cached(key) {
            Some(answer) => (answer, Origin::Cache),
            None => {
                let request = job.assemble_request(text);
                let reply = self.tool_worker().call_with_retry(request, TOOL_LIMIT, cancellation);
                let answer = compiler_reply(&ptxas.program, reply)?;
                if let AssembleReply { cubin: Some(_), .. } = answer {
                    self.keep(key, &answer);
                }
                (answer, Origin::Assembler)
            }
        };
        let artifact = artifact::from_assembler(text.to_owned(), Some(answer), names)
            .map_err(CompileError::Rejected)?;
        Ok(Compiled { artifact, origin, libraries: Vec::new() })
    }

    /// The machine instructions of an artifact, with the source line of each.
    ///
    /// # Errors
    /// The artifact has no machine code, there is no disassembler, or the disassembler fails.
    pub fn disassemble(
        &mut self,
        artifact: &Artifact,
        cancellation: &Cancellation,
    ) -> Result<Vec<SassFunction>, CompileError> {
        let Some(nvdisasm) = self.toolchain.nvdisasm.clone() else {
            return Err(CompileError::ToolMissing { tool: "nvdisasm", fix: FETCH_COMMAND });
        };
        let Some(cubin) = &artifact.cubin else {
            return Err(CompileError::ToolMissing { tool: "ptxas", fix: FETCH_ASSEMBLER });
        };
        let identity = identity(&nvdisasm.program, "nvdisasm");
        let key = Key::new([b"lightbench.sass/4", identity.as_bytes(), cubin.as_slice()]);
        let listing: Disassembly = match self.cached(key) {
            Some(listing) => listing,
            None => {
                let request = DisassembleRequest { cubin: cubin.clone(), functions: Vec::new() };
                let reply = self.tool_worker().call_with_retry(request, TOOL_LIMIT, cancellation);
                let listing = tool_reply(&nvdisasm.program, reply)?;
                self.keep(key, &listing);
                listing
            }
        };
        let live = listing.live.unwrap_or_default();
        let [code, live] = [&listing.code, &live].map(|bytes| String::from_utf8_lossy(bytes));
        Ok(sass::read(&code, &live))
    }

    /// The cached answer; `None` if there is no entry or the entry has another version.
    fn cached<Answer: DeserializeOwned>(&self, key: Key) -> Option<Answer> {
        let body = self.cache.as_ref()?.get(key)?;
        Frame::read_from(&mut body.as_slice()).ok()?.parse().ok()
    }

    /// Writes an entry of the cache. After the first failure, which is reported, no further entry is written.
    fn keep<Answer: Serialize>(&mut self, key: Key, answer: &Answer) {
        let Some(cache) = &self.cache else { return };
        let mut body = Vec::new();
        // An answer that exceeds a frame could not have come from a worker.
        let Ok(()) = Frame::new(answer).and_then(|frame| frame.write_to(&mut body)) else { return };
        if let Err(error) = cache.put(key, &body) {
            self.notices.push(Notice::NotCached(error));
            self.cache = None;
        }
    }

    fn tool_worker(&mut self) -> &mut CompileWorker {
        let (command, toolchain) = (&self.command, &self.toolchain);
        self.tool_worker.get_or_insert_with(|| {
            let program = |tool: &Option<lightbench_toolchain::Tool>| {
                tool.as_ref().map(|tool| tool.program.clone())
            };
            let tools = Tools {
                nvrtc: None,
                nvdisasm: program(&toolchain.nvdisasm),
                ptxas: program(&toolchain.ptxas),
            };
            let policy = tools.policy(&[]);
            let configuration =
                Configuration { options: tools, policy, ..Configuration::default() };
            CompileWorker::new(command.clone(), configuration)
        })
    }

    /// The folders with the compiler's headers. Headers inside the compiler library are extracted at the first use.
    fn include_folders(
        &mut self,
        cancellation: &Cancellation,
    ) -> Result<Vec<PathBuf>, CompileError> {
        if let Some(headers) = &self.headers {
            return Ok(headers.folders.clone());
        }
        let headers = match &self.toolchain.headers {
            Headers::Folders(folders) => {
                IncludeFolders { folders: folders.clone(), _temporary: None }
            }
            Headers::Bundled => match self.kept_headers(cancellation) {
                Ok(Some(headers)) => headers,
                Ok(None) => self.temporary_headers(cancellation)?,
                Err(CompileError::Headers(error)) => {
                    self.notices.push(Notice::HeadersNotKept(error));
                    self.temporary_headers(cancellation)?
                }
                Err(error) => return Err(error),
            },
        };
        let folders = headers.folders.clone();
        self.headers = Some(headers);
        Ok(folders)
    }

    /// The headers in the user's cache; `None` without a cache folder.
    fn kept_headers(
        &self,
        cancellation: &Cancellation,
    ) -> Result<Option<IncludeFolders>, CompileError> {
        let Some(cache) = &self.folder else { return Ok(None) };
        let nvrtc = &self.toolchain.nvrtc;
        let mut folder = HeaderFolder::locate(cache, nvrtc);
        if folder.state == HeaderState::Absent {
            let cancelled = || cancellation.is_cancelled();
            folder = match folder.begin(TOOL_LIMIT, &cancelled)? {
                HeaderExtraction::Ready(folder) => folder,
                HeaderExtraction::Extract(staging) => {
                    let into = staging.include();
                    self.extract(into, cancellation).map_err(|error| not_kept(into, error))?;
                    staging.finish(nvrtc)?
                }
            };
        }
        let folders = folder.include_folders().to_vec();
        Ok(Some(IncludeFolders { folders, _temporary: None }))
    }

    fn temporary_headers(
        &self,
        cancellation: &Cancellation,
    ) -> Result<IncludeFolders, CompileError> {
        let storage = |source| {
            let path = PathBuf::from("the temporary folder");
            CompileError::Headers(HeaderError::Storage { path, source })
        };
        let temporary = tempfile::tempdir().map_err(storage)?;
        self.extract(temporary.path(), cancellation)?;
        let folders = vec![temporary.path().to_owned(), temporary.path().join("cccl")];
        Ok(IncludeFolders { folders, _temporary: Some(temporary) })
    }

    /// Extracts headers in a separate worker, because the sandbox of compile workers permits no writing.
    fn extract(&self, into: &Path, cancellation: &Cancellation) -> Result<(), CompileError> {
        let nvrtc = &self.toolchain.nvrtc;
        let paths =
            NvrtcPaths { library: nvrtc.library.clone(), builtins: Some(nvrtc.builtins.clone()) };
        let tools = Tools { nvrtc: Some(paths), ..Tools::default() };
        let mut policy = tools.policy(&[]);
        policy.write.push(into.to_owned());
        let configuration = Configuration { options: tools, policy, ..Configuration::default() };
        let request = ExtractHeaders { into: into.to_owned() };
        let reply = CompileWorker::new(self.command.clone(), configuration).call_with_retry(
            request,
            TOOL_LIMIT,
            cancellation,
        );
        tool_reply(&nvrtc.library, reply)
    }
}

/// Converts a failed extraction into the cache to an error of the folder, after which a temporary folder is tried: the disk
/// of the cache may be full.
fn not_kept(folder: &Path, error: CompileError) -> CompileError {
    match error {
        CompileError::Tool { source: failure, .. } => {
            let source = std::io::Error::other(failure.to_string());
            CompileError::Headers(HeaderError::Storage { path: folder.to_owned(), source })
        }
        other @ (CompileError::Rejected(_)
        | CompileError::TimedOut { .. }
        | CompileError::Cancelled
        | CompileError::UnknownTarget { .. }
        | CompileError::ToolMissing { .. }
        | CompileError::Triton(_)
        | CompileError::Worker { .. }
        | CompileError::LibraryMissing { .. }
        | CompileError::Headers(_)) => other,
    }
}

/// The number of processors.
fn processors() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// Identity of a compiler in cache keys: its name, path, file size and modification time.
fn identity(program: &Path, name: &str) -> String {
    let file =
        fs::metadata(program).ok().map(|metadata| (metadata.len(), metadata.modified().ok()));
    format!("{name} {} {file:?}", program.display())
}

/// The reply of a tool whose running time does not depend on the kernel's text: a time-out is not attributed to the kernel.
fn tool_reply<Answer>(
    program: &Path,
    reply: Result<Result<Answer, RequestFailure>, WorkerError>,
) -> Result<Answer, CompileError> {
    let compiler = || program.to_owned();
    match reply {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(source)) => Err(CompileError::Tool { compiler: compiler(), source }),
        Err(WorkerError::Cancelled) => Err(CompileError::Cancelled),
        Err(source) => Err(CompileError::Worker { compiler: compiler(), source }),
    }
}

/// The reply of the compiler or assembler. A time-out is attributed to the kernel, whose text may cause it.
fn compiler_reply<Answer>(
    program: &Path,
    reply: Result<Result<Answer, RequestFailure>, WorkerError>,
) -> Result<Answer, CompileError> {
    match reply {
        Err(WorkerError::TimedOut { limit, .. }) => Err(CompileError::TimedOut { limit }),
        reply => tool_reply(program, reply),
    }
}
