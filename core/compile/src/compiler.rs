//! The compiler as the rest of the program sees it: a cache, and behind it worker processes.
//!
//! Nothing is started before it is needed: a hit in the cache starts no process and extracts no headers.

mod batch;

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lightbench_primitives::cancellation::Cancellation;
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
    AssembleReply, CompileProtocol, CompileWorker, DisassembleRequest, ExtractHeaders, Listing,
    RequestFailure, Tools,
};
use super::sass::{self, SassFunction};
use super::source_names::SourceNames;

pub use batch::{Batch, BatchJob};

/// Disassembling and extracting headers take well under a second.
const TOOL_LIMIT: Duration = Duration::from_secs(60);

/// Compiles at a time, however many processors there are: each worker holds the compiler library.
const MOST_WORKERS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(15);

/// What fetches the assembler.
const FETCH_ASSEMBLER: &str = "lightbench doctor --fetch assembler";

/// Compiles within limits, and remembers what it compiled.
#[derive(Debug)]
pub struct Compiler {
    toolchain: Toolchain,
    command: WorkerCommand,
    /// The user's cache folder, if there is one.
    folder: Option<PathBuf>,
    cache: Option<Cache>,
    headers: Option<IncludeFolders>,
    /// How many compiles may run at a time.
    workers: NonZeroUsize,
    pool: Option<WorkerPool<CompileProtocol>>,
    tool_worker: Option<CompileWorker>,
    notices: Vec<Notice>,
}

/// Something that does not stop the work and should be said once.
#[derive(Debug, thiserror::Error)]
pub enum Notice {
    /// Results are not kept.
    #[error("{0}; kernels are compiled anew each time")]
    NotCached(CacheError),
    /// The compiler's headers are extracted for this process only.
    #[error("{0}; they are extracted anew each time")]
    HeadersNotKept(HeaderError),
    /// PTX was read but not assembled.
    #[error("PTX has no machine code without an assembler; `{FETCH_ASSEMBLER}` fetches one")]
    NotAssembled,
    /// Part of the worker's sandbox is not in force.
    #[error("the compile worker is not confined: {0}")]
    NotConfined(String),
}

/// A compile's result.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// What was produced.
    pub artifact: Artifact,
    /// Where it came from.
    pub origin: Origin,
}

/// Where a result came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An earlier compile of the same job.
    Cache,
    /// The compiler, and the time that its own call took.
    Compiler {
        /// Inside the compiler library.
        elapsed: Duration,
    },
    /// The assembler, or nothing but the PTX itself.
    Assembler,
}

/// Where the compiler's headers lie, and what keeps them there.
#[derive(Debug)]
struct IncludeFolders {
    folders: Vec<PathBuf>,
    /// Removed with this value, where the headers could not be kept.
    _temporary: Option<TempDir>,
}

impl Compiler {
    /// A compiler that has started nothing yet; `folder` is the user's cache.
    #[must_use]
    pub fn new(toolchain: Toolchain, command: WorkerCommand, folder: Option<PathBuf>) -> Self {
        let cache = folder.as_ref().map(|folder| Cache::new(folder.join("kernels"), DEFAULT_LIMIT));
        Self {
            toolchain,
            command,
            folder,
            cache,
            headers: None,
            workers: processors().min(MOST_WORKERS),
            pool: None,
            tool_worker: None,
            notices: Vec::new(),
        }
    }

    /// The same with at most this many compiles at a time, instead of one for each processor.
    #[must_use]
    pub fn with_workers(mut self, most: NonZeroUsize) -> Self {
        (self.workers, self.pool) = (most, None);
        self
    }

    /// How many compiles may run at a time.
    #[must_use]
    pub const fn workers(&self) -> NonZeroUsize {
        self.workers
    }

    /// The toolchain that compiles.
    #[must_use]
    pub fn toolchain(&self) -> &Toolchain {
        &self.toolchain
    }

    /// The compiler's name and version, as people know them.
    #[must_use]
    pub fn name(&self) -> String {
        format!("NVRTC {}", self.toolchain.nvrtc.version)
    }

    /// What did not stop the work since the last time this was asked.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    /// How workers ended that were found dead when they were needed, since the last time this was asked.
    pub fn take_replaced(&mut self) -> Vec<Death> {
        let mut replaced = self.pool.as_mut().map(WorkerPool::take_replaced).unwrap_or_default();
        replaced.extend(self.tool_worker.iter_mut().flat_map(CompileWorker::take_replaced));
        replaced
    }

    /// Compiles, or finds an earlier result.
    ///
    /// # Errors
    /// When the kernel is rejected or takes too long, and when the machine cannot compile.
    pub fn compile(
        &mut self,
        job: &CompileJob,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<Compiled, CompileError> {
        let order = BatchJob { job, limit, on_failure: FollowingWork::Cancel };
        // Nothing comes before it that could have ended it, but a cancellation.
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

    /// Once, not for every kernel.
    fn add_notice(&mut self, notice: Notice) {
        let text = notice.to_string();
        if self.notices.iter().all(|said| said.to_string() != text) {
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
            return Ok(Compiled { artifact, origin: Origin::Assembler });
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
        Ok(Compiled { artifact, origin })
    }

    /// The machine instructions of an artifact, with the source line of each.
    ///
    /// # Errors
    /// When there is no machine code or no disassembler, and when the machine cannot run it.
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
        let key = Key::new([b"lightbench.sass/2", identity.as_bytes(), cubin.as_slice()]);
        let listing: Listing = match self.cached(key) {
            Some(listing) => listing,
            None => {
                let request = DisassembleRequest { cubin: cubin.clone(), functions: Vec::new() };
                let reply = self.tool_worker().call_with_retry(request, TOOL_LIMIT, cancellation);
                let listing = tool_reply(&nvdisasm.program, reply)?;
                self.keep(key, &listing);
                listing
            }
        };
        Ok(sass::read(&String::from_utf8_lossy(&listing.0)))
    }

    /// The entry of the cache; an entry of another version is as good as none.
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

    /// The folders with the compiler's headers; extracted when the compiler carries them and nobody did it before.
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

    /// The headers in the user's cache; none where there is no cache.
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

    /// A worker of its own, because the one that compiles may write nowhere.
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

/// An extraction that fails where headers are kept may succeed elsewhere: the disk may be full.
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
        | CompileError::Worker { .. }
        | CompileError::Headers(_)) => other,
    }
}

/// How many compiles this machine has room for.
fn processors() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// A compiler is its name and its file: a file of another size or date is another compiler.
fn identity(program: &Path, name: &str) -> String {
    let file =
        fs::metadata(program).ok().map(|metadata| (metadata.len(), metadata.modified().ok()));
    format!("{name} {} {file:?}", program.display())
}

/// The answer of a tool that does not process the kernel's text: exceeding its limit is not the kernel's fault.
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

/// The answer of the compiler or assembler, which the kernel's text may keep busy without end.
fn compiler_reply<Answer>(
    program: &Path,
    reply: Result<Result<Answer, RequestFailure>, WorkerError>,
) -> Result<Answer, CompileError> {
    match reply {
        Err(WorkerError::TimedOut { limit, .. }) => Err(CompileError::TimedOut { limit }),
        reply => tool_reply(program, reply),
    }
}
