//! Worker processes: what they do, what they refuse, and how they end.
//!
//! Tests that need a compiler take it from the folder named in `LIGHTBENCH_TOOLCHAIN` (with `lib`
//! and `bin` below it) and print a line where there is none.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use lightbench_core::cancellation::Cancellation;
use lightbench_core::compile::nvrtc::{NvrtcError, NvrtcOutcome, NvrtcPaths};
use lightbench_core::worker::client::Worker;
use lightbench_core::worker::command::WorkerCommand;
use lightbench_core::worker::error::{Death, Stage, WorkerError};
use lightbench_core::worker::frame::Frame;
use lightbench_core::worker::handle::WorkerHandle;
use lightbench_core::worker::protocol::{
    AssembleRequest, CompileReply, CompileRequest, Configuration, DisassembleRequest, Hello,
    SetupFailure, Tools,
};
use lightbench_core::worker::sandbox::{Enforcement, SandboxPolicy};

const LIMIT: Duration = Duration::from_secs(60);

fn command() -> WorkerCommand {
    WorkerCommand::new(env!("CARGO_BIN_EXE_lightbench"), ["worker"])
}

fn never() -> Cancellation {
    Cancellation::new()
}

/// The compiler to test with, and its extracted headers.
struct Toolchain {
    root: PathBuf,
    nvrtc: NvrtcPaths,
    headers: tempfile::TempDir,
}

impl Toolchain {
    fn find() -> Option<&'static Self> {
        static FOUND: OnceLock<Option<Toolchain>> = OnceLock::new();
        let found = FOUND.get_or_init(Self::extract).as_ref();
        if found.is_none() {
            println!("skipped: LIGHTBENCH_TOOLCHAIN names no folder with a compiler");
        }
        found
    }

    /// Extracts the headers once, through a worker that may write only where they go.
    fn extract() -> Option<Self> {
        let root = PathBuf::from(std::env::var_os("LIGHTBENCH_TOOLCHAIN")?);
        let library = first_file(&root.join("lib"), "libnvrtc.so.")?;
        let builtins = first_file(&root.join("lib"), "libnvrtc-builtins.so.");
        let headers = tempfile::tempdir().unwrap();
        let toolchain = Self { root, nvrtc: NvrtcPaths { library, builtins }, headers };
        let mut configuration = toolchain.configuration();
        configuration.policy.write.push(toolchain.headers.path().to_owned());
        let mut handle = WorkerHandle::new(command(), configuration);
        handle.extract_headers(toolchain.headers.path().to_owned(), LIMIT, &never()).unwrap();
        Some(toolchain)
    }

    fn configuration(&self) -> Configuration {
        let tools = Tools {
            nvrtc: Some(self.nvrtc.clone()),
            nvdisasm: Some(self.root.join("bin/nvdisasm")),
            ptxas: Some(self.root.join("bin/ptxas")).filter(|program| program.exists()),
        };
        let policy = SandboxPolicy::for_tools(&tools, &[self.headers.path().to_owned()]);
        Configuration { tools, policy, ..Configuration::default() }
    }

    fn handle(&self) -> WorkerHandle {
        WorkerHandle::new(command(), self.configuration())
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

fn first_file(folder: &Path, prefix: &str) -> Option<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .ok()?
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found.into_iter().next()
}

/// Instantiates about 2^30 templates.
const TEMPLATE_BOMB: &str = "
template <int Depth, int Index> struct Bomb {
    static constexpr int value = Bomb<Depth - 1, 2 * Index>::value + Bomb<Depth - 1, 2 * Index + 1>::value;
};
template <int Index> struct Bomb<0, Index> { static constexpr int value = Index & 1; };
__global__ void bomb(int *out) { out[0] = Bomb<30, 0>::value; }
";

const SMALL_KERNEL: &str = "extern \"C\" __global__ void small(float *x) { x[threadIdx.x] *= 2; }";

fn compiled(reply: &CompileReply) -> (&[u8], &[u8], &[String]) {
    match &reply.outcome {
        NvrtcOutcome::Compiled { ptx, cubin, lowered_names } => {
            (ptx, cubin.as_deref().unwrap_or_default(), lowered_names)
        }
        NvrtcOutcome::Rejected { name, .. } => {
            panic!("{name}: {}", String::from_utf8_lossy(&reply.log))
        }
    }
}

/// Neither running nor waiting to be reaped.
fn is_gone(process: u32) -> bool {
    !Path::new(&format!("/proc/{process}")).exists()
}

fn wait_until(what: &str, limit: Duration, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + limit;
    while !condition() {
        assert!(Instant::now() < deadline, "{what} within {limit:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

mod compiling;
mod ending;
mod misbehaving;
mod starting;
