//! Parallel compilation: cached results first, all others on a pool of workers.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lightbench_primitives::cancellation::Cancellation;
use lightbench_project::candidate::LibraryVersion;
use lightbench_project::prelude;
use lightbench_worker::pool::{FollowingWork, WorkerPool};
use lightbench_worker::protocol::Configuration;
use lightbench_worker::sandbox::SandboxReport;

use super::{Compiled, Compiler, Origin, compiler_reply, header_libraries, identity};
use crate::artifact;
use crate::cache::Key;
use crate::error::CompileError;
use crate::job::{CompileJob, CudaSource, Source};
use crate::nvrtc::{NvrtcOutcome, NvrtcOutput, NvrtcPaths};
use crate::protocol::{CompileProtocol, CompileWorker, Tools};
use crate::source_names::SourceNames;

/// One compilation of a batch.
#[derive(Clone, Copy, Debug)]
pub struct BatchJob<'a> {
    /// The job.
    pub job: &'a CompileJob,
    /// Time limit, from the moment a worker begins the job.
    pub limit: Duration,
    /// Effect of a failure on the later jobs of the batch.
    pub on_failure: FollowingWork,
}

/// Results of a batch in its order. A job has no result if an earlier failure cancelled it, or if a cancellation came
/// before the job began.
pub type Batch = Vec<Option<Result<Compiled, CompileError>>>;

/// A job without a cached result.
struct Miss<'a> {
    index: usize,
    order: BatchJob<'a>,
    cuda: &'a CudaSource,
    key: Key,
    libraries: Vec<LibraryVersion>,
    /// The folders of the libraries.
    folders: Vec<PathBuf>,
}

/// The output of the compiler in a worker, and the restrictions in force there.
type Answer = Result<(NvrtcOutput, SandboxReport), CompileError>;

impl Compiler {
    /// Compiles several jobs in parallel and returns their results in the same order.
    ///
    /// Every job before the first failure with [`FollowingWork::Cancel`] is compiled, even if that failure is found first.
    pub fn compile_all(&mut self, orders: &[BatchJob<'_>], cancellation: &Cancellation) -> Batch {
        let mut batch: Batch = orders.iter().map(|_| None).collect();
        let mut misses = Vec::new();
        for (index, order) in orders.iter().enumerate() {
            let known = match &order.job.source {
                Source::Cuda(cuda) => match self.prepare(index, order, cuda) {
                    Ok(miss) => match self.cached(miss.key) {
                        Some(answer) => Some(read(answer, &miss, Origin::Cache)),
                        None => {
                            misses.push(miss);
                            None
                        }
                    },
                    Err(missing) => Some(Err(missing)),
                },
                Source::Ptx { name, text } => {
                    Some(self.assemble(order.job, name, text, cancellation))
                }
                Source::Triton(source) => Some(self.compile_triton(order, source, cancellation)),
            };
            let ends = matches!(known, Some(Err(_))) && order.on_failure == FollowingWork::Cancel;
            put(&mut batch, index, known);
            if ends {
                break;
            }
        }
        self.compile_misses(&misses, cancellation, &mut batch);
        batch
    }

    fn prepare<'a>(
        &mut self,
        index: usize,
        order: &BatchJob<'a>,
        cuda: &'a CudaSource,
    ) -> Result<Miss<'a>, CompileError> {
        let (libraries, folders): (Vec<_>, Vec<_>) =
            self.libraries(&cuda.libraries)?.into_iter().unzip();
        let compiler = identity(&self.toolchain.nvrtc.library, &self.name());
        let key = order.job.key(&(compiler + &header_libraries::identity(&libraries)));
        Ok(Miss { index, order: *order, cuda, key, libraries, folders })
    }

    fn compile_misses(
        &mut self,
        misses: &[Miss<'_>],
        cancellation: &Cancellation,
        batch: &mut Batch,
    ) {
        let Some(first) = misses.first() else { return };
        let folders = match self.include_folders(cancellation) {
            Ok(folders) => folders,
            // The error concerns all jobs; the first one reports it.
            Err(error) => return put(batch, first.index, Some(Err(error))),
        };
        let library = self.toolchain.nvrtc.library.clone();
        let context =
            CompileContext { library: &library, compiler: &self.name(), folders: &folders };
        // Kernels without libraries are compiled by workers that read no library.
        let mut readable = folders.clone();
        for folder in misses.iter().flat_map(|miss| &miss.folders) {
            if !readable.contains(folder) {
                readable.push(folder.clone());
            }
        }
        let pool = self.pool(&readable);
        let answers = pool.each(
            misses,
            cancellation,
            |worker, miss, token| context.compile(worker, miss, token),
            |miss, answer| match answer {
                Ok((NvrtcOutput { outcome: NvrtcOutcome::Compiled { .. }, .. }, _)) => {
                    FollowingWork::Continue
                }
                Ok(_) | Err(_) => miss.order.on_failure,
            },
        );
        for (miss, answer) in misses.iter().zip(answers) {
            let compiled = answer.map(|answer| self.keep_answer(miss, answer));
            let ends =
                matches!(compiled, Some(Err(_))) && miss.order.on_failure == FollowingWork::Cancel;
            put(batch, miss.index, compiled);
            if ends {
                // Cached results of later jobs are dropped too.
                batch.iter_mut().skip(miss.index + 1).for_each(|unwanted| *unwanted = None);
                return;
            }
        }
    }

    fn keep_answer(&mut self, miss: &Miss<'_>, answer: Answer) -> Result<Compiled, CompileError> {
        let (answer, sandbox) = answer?;
        self.report_sandbox_gaps(&sandbox);
        // Failures are not cached: the machine may have caused them.
        if let NvrtcOutcome::Compiled { .. } = answer.outcome {
            self.keep(miss.key, &answer);
        }
        let elapsed = answer.elapsed;
        read(answer, miss, Origin::Compiler { elapsed })
    }

    /// The workers that read these folders and no others.
    fn pool(&mut self, readable: &[PathBuf]) -> &mut WorkerPool<CompileProtocol> {
        let known = self.pools.iter().position(|(folders, _)| folders == readable);
        let index = known.unwrap_or_else(|| {
            let nvrtc = &self.toolchain.nvrtc;
            let paths = NvrtcPaths {
                library: nvrtc.library.clone(),
                builtins: Some(nvrtc.builtins.clone()),
            };
            let tools = Tools { nvrtc: Some(paths), ..Tools::default() };
            let policy = tools.policy(readable);
            let configuration =
                Configuration { options: tools, policy, ..Configuration::default() };
            let pool = WorkerPool::new(self.command.clone(), configuration, self.workers);
            self.pools.push((readable.to_owned(), pool));
            self.pools.len() - 1
        });
        &mut self.pools[index].1
    }
}

/// Context of all compilations of a batch.
struct CompileContext<'a> {
    library: &'a Path,
    compiler: &'a str,
    folders: &'a [PathBuf],
}

impl CompileContext<'_> {
    fn compile(
        &self,
        worker: &mut CompileWorker,
        miss: &Miss<'_>,
        cancellation: &Cancellation,
    ) -> Answer {
        let started = worker.worker(cancellation).map(|worker| Ok(worker.ready().clone()));
        let ready = compiler_reply(self.library, started)?;
        let job = miss.order.job;
        if let Some(facts) = ready.facts
            && !facts.architectures.contains(&job.target.number())
        {
            let (compiler, known) = (self.compiler.to_owned(), facts.architectures);
            return Err(CompileError::UnknownTarget { compiler, target: job.target, known });
        }
        // The compiler's own headers come first.
        let folders = self.folders.iter().chain(&miss.folders).cloned().collect();
        let request = job.compile_request(miss.cuda, folders);
        let reply = worker.call_with_retry(request, miss.order.limit, cancellation);
        Ok((compiler_reply(self.library, reply)?, ready.sandbox))
    }
}

fn read(answer: NvrtcOutput, miss: &Miss<'_>, origin: Origin) -> Result<Compiled, CompileError> {
    let Miss { cuda, libraries, .. } = miss;
    let own = cuda.headers.iter().map(|(name, _)| name.clone());
    // With a library, every standard header has a substitute: an error in one is not in a file of the author.
    let added = |name: &str| {
        [prelude::PRELUDE_NAME, prelude::CUTLASS_NAME].contains(&name)
            || !libraries.is_empty() && prelude::stands_in(name)
    };
    let own = own.filter(|name| !added(name));
    let names = SourceNames::new(&cuda.name, own).with_lines_of(&cuda.text);
    let artifact = artifact::from_compiler(answer, &cuda.name_expressions, names)
        .map_err(CompileError::Rejected)?;
    Ok(Compiled { artifact, origin, libraries: libraries.clone() })
}

fn put(batch: &mut Batch, index: usize, compiled: Option<Result<Compiled, CompileError>>) {
    if let Some(place) = batch.get_mut(index) {
        *place = compiled;
    }
}
