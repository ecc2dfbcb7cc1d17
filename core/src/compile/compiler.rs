//! The compiler as the rest of the program sees it: a cache, and behind it a worker process.
//!
//! Nothing is started before it is needed: a hit in the cache starts no process and extracts no headers.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use super::artifact::{self, Artifact};
use super::cache::{Cache, CacheError, DEFAULT_LIMIT, Key};
use super::error::CompileError;
use super::job::{CompileJob, CudaSource, Source};
use super::nvrtc::{NvrtcOutcome, NvrtcOutput, NvrtcPaths};
use super::prelude;
use super::sass::{self, SassFunction};
use super::source_names::SourceNames;
use crate::cancellation::Cancellation;
use crate::toolchain::doctor::FETCH_COMMAND;
use crate::toolchain::{HeaderError, HeaderFolder, HeaderState, HeaderTurn, Headers, Toolchain};
use crate::worker::command::WorkerCommand;
use crate::worker::error::WorkerError;
use crate::worker::handle::WorkerHandle;
use crate::worker::protocol::{AssembleReply, Configuration, DisassembleRequest, Reply, Tools};
use crate::worker::sandbox::{SandboxPolicy, SandboxReport};

/// Disassembling and extracting headers take well under a second.
const TOOL_LIMIT: Duration = Duration::from_secs(60);

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
    compile_worker: Option<WorkerHandle>,
    tool_worker: Option<WorkerHandle>,
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
#[derive(Debug)]
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
            compile_worker: None,
            tool_worker: None,
            notices: Vec::new(),
        }
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
        match &job.source {
            Source::Cuda(cuda) => self.compile_cuda(job, cuda, limit, cancellation),
            Source::Ptx { name, text } => self.assemble(job, name, text, cancellation),
        }
    }

    fn compile_cuda(
        &mut self,
        job: &CompileJob,
        cuda: &CudaSource,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<Compiled, CompileError> {
        let key = job.key(&identity(&self.toolchain.nvrtc.library, &self.name()));
        let (answer, origin) = match self.cached(key) {
            Some(Reply::Compiled(answer)) => (answer, Origin::Cache),
            _ => {
                let answer = self.ask_compiler(job, cuda, limit, cancellation)?;
                // What failed is not kept: it may have been the machine's fault.
                if let NvrtcOutcome::Compiled { .. } = answer.outcome {
                    self.keep(key, Reply::Compiled(answer.clone()));
                }
                let elapsed = answer.elapsed;
                (answer, Origin::Compiler { elapsed })
            }
        };
        let own = cuda.headers.iter().map(|(name, _)| name.clone());
        let own = own.filter(|name| *name != prelude::PRELUDE_NAME);
        let names = SourceNames::new(&cuda.name, own);
        let artifact = artifact::from_compiler(answer, &cuda.name_expressions, names)
            .map_err(CompileError::Rejected)?;
        Ok(Compiled { artifact, origin })
    }

    fn ask_compiler(
        &mut self,
        job: &CompileJob,
        cuda: &CudaSource,
        limit: Duration,
        cancellation: &Cancellation,
    ) -> Result<NvrtcOutput, CompileError> {
        let folders = self.include_folders(cancellation)?;
        let library = self.toolchain.nvrtc.library.clone();
        let worker = self.compile_worker(&folders);
        let ready = worker
            .worker(cancellation)
            .map_err(|source| from_worker(&library, source))?
            .ready()
            .clone();
        if let Some(facts) = ready.compiler
            && !facts.architectures.contains(&job.target.number())
        {
            let (compiler, known) = (self.name(), facts.architectures);
            return Err(CompileError::UnknownTarget { compiler, target: job.target, known });
        }
        let answer = worker
            .compile(job.compile_request(cuda, folders), limit, cancellation)
            .map_err(|source| from_worker(&library, source));
        self.say_what_is_not_in_force(&ready.sandbox);
        answer
    }

    fn say_what_is_not_in_force(&mut self, sandbox: &SandboxReport) {
        for gap in sandbox.gaps() {
            self.say_once(Notice::NotConfined(gap));
        }
    }

    /// Once, not for every kernel.
    fn say_once(&mut self, notice: Notice) {
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
        let names = SourceNames::new(name, []);
        let Some(ptxas) = self.toolchain.ptxas.clone() else {
            self.say_once(Notice::NotAssembled);
            let artifact = artifact::from_assembler(text.to_owned(), None, names)
                .map_err(CompileError::Rejected)?;
            return Ok(Compiled { artifact, origin: Origin::Assembler });
        };
        let key = job.key(&identity(&ptxas.program, "ptxas"));
        let (answer, origin) = match self.cached(key) {
            Some(Reply::Assembled(answer)) => (answer, Origin::Cache),
            _ => {
                let request = job.assemble_request(text);
                let worker = self.tool_worker();
                let answer = worker
                    .assemble(request, TOOL_LIMIT, cancellation)
                    .map_err(|source| from_worker(&ptxas.program, source))?;
                if let AssembleReply { cubin: Some(_), .. } = answer {
                    self.keep(key, Reply::Assembled(answer.clone()));
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
        let key = Key::of([b"lightbench.sass/1", identity.as_bytes(), cubin.as_slice()]);
        let text = match self.cached(key) {
            Some(Reply::Disassembled(text)) => text,
            _ => {
                let request = DisassembleRequest { cubin: cubin.clone(), functions: Vec::new() };
                let text = self
                    .tool_worker()
                    .disassemble(request, TOOL_LIMIT, cancellation)
                    .map_err(|source| from_tool(&nvdisasm.program, source))?;
                self.keep(key, Reply::Disassembled(text.clone()));
                text
            }
        };
        Ok(sass::read(&String::from_utf8_lossy(&text)))
    }

    fn cached(&self, key: Key) -> Option<Reply> {
        self.cache.as_ref()?.get(key).and_then(|body| Reply::decode(&body).ok())
    }

    /// A result that cannot be kept is said once; the next ones are not tried.
    fn keep(&mut self, key: Key, reply: Reply) {
        let Some(cache) = &self.cache else { return };
        // A reply beyond the bounds of a frame could not have come from a worker.
        let Ok(body) = reply.encode() else { return };
        if let Err(error) = cache.put(key, &body) {
            self.notices.push(Notice::NotCached(error));
            self.cache = None;
        }
    }

    fn compile_worker(&mut self, include_folders: &[PathBuf]) -> &mut WorkerHandle {
        let (command, nvrtc) = (&self.command, &self.toolchain.nvrtc);
        self.compile_worker.get_or_insert_with(|| {
            let paths = NvrtcPaths {
                library: nvrtc.library.clone(),
                builtins: Some(nvrtc.builtins.clone()),
            };
            let tools = Tools { nvrtc: Some(paths), ..Tools::default() };
            let policy = SandboxPolicy::for_tools(&tools, include_folders);
            let configuration = Configuration { tools, policy, ..Configuration::default() };
            WorkerHandle::new(command.clone(), configuration)
        })
    }

    fn tool_worker(&mut self) -> &mut WorkerHandle {
        let (command, toolchain) = (&self.command, &self.toolchain);
        self.tool_worker.get_or_insert_with(|| {
            let program = |tool: &Option<crate::toolchain::Tool>| {
                tool.as_ref().map(|tool| tool.program.clone())
            };
            let tools = Tools {
                nvrtc: None,
                nvdisasm: program(&toolchain.nvdisasm),
                ptxas: program(&toolchain.ptxas),
            };
            let policy = SandboxPolicy::for_tools(&tools, &[]);
            let configuration = Configuration { tools, policy, ..Configuration::default() };
            WorkerHandle::new(command.clone(), configuration)
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
                HeaderTurn::Ready(folder) => folder,
                HeaderTurn::Extract(staging) => {
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
        let mut policy = SandboxPolicy::for_tools(&tools, &[]);
        policy.write.push(into.to_owned());
        let configuration = Configuration { tools, policy, ..Configuration::default() };
        WorkerHandle::new(self.command.clone(), configuration)
            .extract_headers(into.to_owned(), TOOL_LIMIT, cancellation)
            .map_err(|source| from_tool(&nvrtc.library, source))
    }
}

/// An extraction that fails where headers are kept may succeed elsewhere: the disk may be full.
fn not_kept(folder: &Path, error: CompileError) -> CompileError {
    match error {
        CompileError::Worker { source: WorkerError::Failed(failure), .. } => {
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

/// A compiler is its name and its file: a file of another size or date is another compiler.
fn identity(program: &Path, name: &str) -> String {
    let file =
        fs::metadata(program).ok().map(|metadata| (metadata.len(), metadata.modified().ok()));
    format!("{name} {} {file:?}", program.display())
}

/// A tool that is too slow is no fault of the kernel.
fn from_tool(program: &Path, source: WorkerError) -> CompileError {
    match source {
        WorkerError::Cancelled => CompileError::Cancelled,
        source @ (WorkerError::TimedOut { .. }
        | WorkerError::Start { .. }
        | WorkerError::Setup(_)
        | WorkerError::VersionMismatch { .. }
        | WorkerError::Died { .. }
        | WorkerError::Protocol(_)
        | WorkerError::UnexpectedReply { .. }
        | WorkerError::Request(_)
        | WorkerError::Failed(_)) => CompileError::Worker { compiler: program.to_owned(), source },
    }
}

fn from_worker(program: &Path, error: WorkerError) -> CompileError {
    match error {
        WorkerError::TimedOut { limit, .. } => CompileError::TimedOut { limit },
        WorkerError::Cancelled => CompileError::Cancelled,
        source @ (WorkerError::Start { .. }
        | WorkerError::Setup(_)
        | WorkerError::VersionMismatch { .. }
        | WorkerError::Died { .. }
        | WorkerError::Protocol(_)
        | WorkerError::UnexpectedReply { .. }
        | WorkerError::Request(_)
        | WorkerError::Failed(_)) => CompileError::Worker { compiler: program.to_owned(), source },
    }
}
