//! Worker processes: what they do, what they refuse, and how they end.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use lightbench_core::cancellation::Cancellation;
use lightbench_core::compile::nvrtc::{NvrtcOutcome, NvrtcOutput, NvrtcPaths};
use lightbench_core::compile::protocol::{
    AssembleRequest, CompileProtocol, CompileRequest, CompileWorker, DisassembleRequest,
    Disassembly, ExtractHeaders, RequestFailure, Tools,
};
use lightbench_core::toolchain::Tool;
use lightbench_core::worker::client;
use lightbench_core::worker::command::WorkerCommand;
use lightbench_core::worker::error::{Death, Stage, WorkerError};
use lightbench_core::worker::frame::Frame;
use lightbench_core::worker::protocol::Configuration;
use lightbench_core::worker::sandbox::Enforcement;

use crate::compiler;

const LIMIT: Duration = Duration::from_secs(60);

type Worker = client::Worker<CompileProtocol>;

fn command() -> WorkerCommand {
    WorkerCommand::new(env!("CARGO_BIN_EXE_lightbench"), ["worker"])
}

fn never() -> Cancellation {
    Cancellation::new()
}

/// The compiler to test with, and its extracted headers.
struct Toolchain {
    nvrtc: NvrtcPaths,
    tools: Tools,
    headers: tempfile::TempDir,
}

impl Toolchain {
    fn find() -> Option<&'static Self> {
        static FOUND: OnceLock<Toolchain> = OnceLock::new();
        let found = compiler::required()?;
        Some(FOUND.get_or_init(|| Self::extract(found)))
    }

    /// Extracts the headers once, through a worker that may write only where they go.
    fn extract(found: &compiler::Found) -> Self {
        let found = &found.toolchain;
        let program = |tool: &Option<Tool>| tool.as_ref().map(|tool| tool.program.clone());
        let nvrtc = NvrtcPaths {
            library: found.nvrtc.library.clone(),
            builtins: Some(found.nvrtc.builtins.clone()),
        };
        let tools = Tools {
            nvrtc: Some(nvrtc.clone()),
            nvdisasm: program(&found.nvdisasm),
            ptxas: program(&found.ptxas),
        };
        let headers = tempfile::tempdir().unwrap();
        let toolchain = Self { nvrtc, tools, headers };
        let mut configuration = toolchain.configuration();
        configuration.policy.write.push(toolchain.headers.path().to_owned());
        let mut worker = CompileWorker::new(command(), configuration);
        let request = ExtractHeaders { into: toolchain.headers.path().to_owned() };
        worker.call_with_retry(request, LIMIT, &never()).unwrap().unwrap();
        toolchain
    }

    fn configuration(&self) -> Configuration<Tools> {
        let options = self.tools.clone();
        let policy = options.policy(&[self.headers.path().to_owned()]);
        Configuration { options, policy, ..Configuration::default() }
    }

    fn handle(&self) -> CompileWorker {
        CompileWorker::new(command(), self.configuration())
    }

    fn request(&self, source: &str) -> CompileRequest {
        CompileRequest {
            name: "kernel.cu".to_owned(),
            source: source.to_owned(),
            headers: Vec::new(),
            name_expressions: Vec::new(),
            options: vec!["--gpu-architecture=sm_90".to_owned(), "-lineinfo".to_owned()],
            include_folders: vec![self.headers.path().to_owned(), self.headers.path().join("cccl")],
        }
    }
}

/// Compiles; the tools must be configured.
fn compile(
    worker: &mut CompileWorker,
    request: CompileRequest,
    limit: Duration,
    cancellation: &Cancellation,
) -> Result<NvrtcOutput, WorkerError> {
    worker.call_with_retry(request, limit, cancellation).map(Result::unwrap)
}

/// Disassembles `cubin` as a whole.
fn disassemble(
    worker: &mut CompileWorker,
    cubin: Vec<u8>,
    limit: Duration,
) -> Result<Result<Disassembly, RequestFailure>, WorkerError> {
    let request = DisassembleRequest { cubin, functions: Vec::new() };
    worker.call_with_retry(request, limit, &never())
}

/// Instantiates about 2^30 templates.
pub(crate) const TEMPLATE_BOMB: &str = "
template <int Depth, int Index> struct Bomb {
    static constexpr int value = Bomb<Depth - 1, 2 * Index>::value + Bomb<Depth - 1, 2 * Index + 1>::value;
};
template <int Index> struct Bomb<0, Index> { static constexpr int value = Index & 1; };
__global__ void bomb(int *out) { out[0] = Bomb<30, 0>::value; }
";

const SMALL_KERNEL: &str = "extern \"C\" __global__ void small(float *x) { x[threadIdx.x] *= 2; }";

fn compiled(reply: &NvrtcOutput) -> (&[u8], &[u8], &[String]) {
    match &reply.outcome {
        NvrtcOutcome::Compiled { ptx, cubin, lowered_names } => {
            (ptx, cubin.as_deref().unwrap_or_default(), lowered_names)
        }
        NvrtcOutcome::Rejected { name, .. } => {
            panic!("{name}: {}", String::from_utf8_lossy(&reply.log))
        }
    }
}

/// Whether a process has ended, even if its parent has not reaped it. The first thread is a zombie before the others are
/// gone, and the process ends with the last of them.
pub(crate) fn is_gone_or_zombie(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"));
    let threads = fs::read_dir(format!("/proc/{process}/task")).map_or(0, Iterator::count);
    threads <= 1 && stat.map_or(true, |stat| stat.contains(") Z "))
}

/// Neither running nor waiting to be reaped.
fn is_gone(process: u32) -> bool {
    !Path::new(&format!("/proc/{process}")).exists()
}

pub(crate) fn wait_until(what: &str, limit: Duration, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + limit;
    while !condition() {
        assert!(Instant::now() < deadline, "{what} within {limit:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

mod compiling;
mod ending;
mod misbehaving;
#[cfg(target_os = "linux")]
mod pausing;
mod starting;
