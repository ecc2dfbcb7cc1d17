//! What a parent and its worker say to each other.
//!
//! Order: the worker says [`Hello`]; the parent answers with [`Setup`]; the worker loads the
//! compiler, confines itself and says [`Readiness`]; from then on each [`Request`] gets one
//! [`Reply`]. Texts and binaries travel as blobs, so that nothing large is escaped as JSON; the
//! heads that name those blobs are in `wire.rs`.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::sandbox::{SandboxPolicy, SandboxReport};
use crate::compile::nvrtc::{NvrtcError, NvrtcPaths, NvrtcVersion};
use crate::device::Description;
use crate::verify::station::{
    JudgeOrder, JudgeReport, MeasureOrder, MeasureReport, Opening, RunOrder, RunReport,
    StationFailure,
};

/// The version of this protocol.
pub const PROTOCOL: u32 = 3;

/// The worker's first words, before it is told anything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The protocol that the worker speaks.
    pub protocol: u32,
    /// Which build the worker is.
    pub build: String,
}

impl Hello {
    /// The hello of this very build.
    #[must_use]
    pub fn ours() -> Self {
        Self { protocol: PROTOCOL, build: build() }
    }
}

/// The package version and a hash of the sources that both sides must agree on.
fn build() -> String {
    const SOURCES: [&[u8]; 10] = [
        include_bytes!("frame.rs"),
        include_bytes!("protocol.rs"),
        include_bytes!("wire.rs"),
        include_bytes!("server.rs"),
        include_bytes!("../compile/nvrtc.rs"),
        include_bytes!("../verify/station/mod.rs"),
        include_bytes!("../verify/station/measure.rs"),
        include_bytes!("../verify/program.rs"),
        include_bytes!("../../tensors/src/case.rs"),
        include_bytes!("../../tensors/src/compare/mod.rs"),
    ];
    const HASH: u64 = hash(&SOURCES);
    format!("{}+{HASH:016x}", env!("CARGO_PKG_VERSION"))
}

/// FNV-1a with 64 bits (<http://www.isthe.com/chongo/tech/comp/fnv/>), at compile time.
const fn hash(sources: &[&[u8]]) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut source = 0;
    while source < sources.len() {
        let mut byte = 0;
        while byte < sources[source].len() {
            hash = (hash ^ sources[source][byte] as u64).wrapping_mul(0x0100_0000_01b3);
            byte += 1;
        }
        source += 1;
    }
    hash
}

/// What a worker may use, and how much of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Configuration {
    /// The compiler and its tools.
    pub tools: Tools,
    /// What of the file system the worker may see.
    pub policy: SandboxPolicy,
    /// How much it may use.
    pub limits: Limits,
}

/// The programs and libraries that the worker drives; what is absent cannot be asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tools {
    /// The compiler library, loaded before the worker confines itself.
    pub nvrtc: Option<NvrtcPaths>,
    /// The disassembler.
    pub nvdisasm: Option<PathBuf>,
    /// The assembler.
    pub ptxas: Option<PathBuf>,
}

/// Limits of the worker process, kept by the operating system where it can.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// How long a worker may take until it is ready.
    pub start: Duration,
    /// Address space in bytes, never more than the memory of the machine; none for a GPU's driver, which maps the
    /// memory of all devices.
    pub address_space_bytes: Option<u64>,
    /// The largest file that it may write, in bytes.
    pub file_bytes: u64,
    /// Processor time for the worker's whole life, in seconds: a last line behind the parent's own
    /// limit for each request. A worker that has used it up dies, and the next call starts another.
    pub cpu_secs: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(30),
            address_space_bytes: Some(8 << 30),
            file_bytes: 1 << 30,
            cpu_secs: 6 * 3600,
        }
    }
}

/// The parent's first message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// What the caller asked for.
    pub configuration: Configuration,
    /// The worker's own folder: its working directory, and the only one that it writes by default.
    /// The parent removes it; the worker does, if the parent is gone.
    pub scratch: PathBuf,
}

/// The worker's answer to [`Setup`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Readiness {
    /// It takes requests.
    Ready(Ready),
    /// It cannot.
    Failed(SetupFailure),
}

/// What a worker that is ready has to say about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// The compiler, if one was asked for.
    pub compiler: Option<CompilerFacts>,
    /// What of the sandbox is in force.
    pub sandbox: SandboxReport,
}

/// What the loaded compiler states about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompilerFacts {
    /// Its version.
    pub version: NvrtcVersion,
    /// Compute capabilities times ten, ascending.
    pub architectures: Vec<u32>,
    /// Whether it can extract headers of its own.
    pub carries_headers: bool,
}

/// Why a worker did not become ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum SetupFailure {
    /// The compiler library is at fault.
    #[error(transparent)]
    Compiler(NvrtcError),
    /// A limit could not be set.
    #[error("cannot limit the worker's {resource}: {reason}")]
    Limit {
        /// Which resource.
        resource: String,
        /// What the system said.
        reason: String,
    },
}

/// What a worker can be asked to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Open a device for one side of a verification; what was open before is given up.
    Open(Opening),
    /// Run a candidate.
    Run(Box<RunOrder>),
    /// Time candidates.
    Measure(Box<MeasureOrder>),
    /// Judge what a candidate left.
    Judge(Box<JudgeOrder>),
    /// Compile CUDA C++.
    Compile(CompileRequest),
    /// Disassemble machine code.
    Disassemble(DisassembleRequest),
    /// Assemble PTX to machine code.
    Assemble(AssembleRequest),
    /// Extract the headers that the compiler carries.
    ExtractHeaders {
        /// An existing folder that the sandbox policy lets the worker write.
        into: PathBuf,
    },
}

/// All that one compile depends on besides the compiler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileRequest {
    /// The name of the main file, as diagnostics show it.
    pub name: String,
    /// The text of the main file.
    pub source: String,
    /// Headers in memory: the name as it is written in `#include`, and the text.
    pub headers: Vec<(String, String)>,
    /// Expressions whose lowered names are wanted.
    pub name_expressions: Vec<String>,
    /// Options of the compiler, already translated by trusted code.
    pub options: Vec<String>,
    /// Folders searched for headers, in order; the sandbox policy must let the worker read them.
    pub include_folders: Vec<PathBuf>,
}

/// Machine code to disassemble.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisassembleRequest {
    /// The cubin.
    pub cubin: Vec<u8>,
    /// Symbol indices of the functions wanted; all if empty.
    pub functions: Vec<u32>,
}

/// PTX to assemble.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssembleRequest {
    /// The PTX.
    pub ptx: Vec<u8>,
    /// The real architecture, such as `sm_90a`.
    pub architecture: String,
    /// Further options, already translated by trusted code.
    pub options: Vec<String>,
}

/// What a worker answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// To [`Request::Open`].
    Opened(Box<Description>),
    /// To [`Request::Run`].
    Ran(Box<RunReport>),
    /// To [`Request::Measure`].
    Measured(Box<MeasureReport>),
    /// To [`Request::Judge`].
    Judged(Box<JudgeReport>),
    /// To [`Request::Compile`].
    Compiled(CompileReply),
    /// To [`Request::Disassemble`]: the disassembler's listing.
    Disassembled(Vec<u8>),
    /// To [`Request::Assemble`].
    Assembled(AssembleReply),
    /// To [`Request::ExtractHeaders`].
    HeadersExtracted,
    /// To any request that could not be carried out.
    Failed(RequestFailure),
}

/// What became of a compile; the same shape as the compiler's own output.
pub type CompileReply = crate::compile::nvrtc::NvrtcOutput;

/// What became of assembling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssembleReply {
    /// The machine code, or nothing where the PTX was refused: the log says why.
    pub cubin: Option<Vec<u8>>,
    /// The assembler's messages, unchecked: they repeat what the PTX says. At most 8 MiB.
    pub log: Vec<u8>,
}

/// Why a request could not be carried out, where the kernel is not at fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum RequestFailure {
    /// A station cannot do what it was ordered.
    #[error(transparent)]
    Station(StationFailure),
    /// The worker was configured without this tool.
    #[error("this worker has no {tool}: configure its path")]
    NotConfigured {
        /// The tool's name.
        tool: String,
    },
    /// The compiler library is at fault, or the request's texts.
    #[error(transparent)]
    Compiler(NvrtcError),
    /// A tool could not be run.
    #[error("cannot run {tool}: {reason}")]
    Run {
        /// The tool's name.
        tool: String,
        /// What the system said.
        reason: String,
    },
    /// A tool ran and failed.
    #[error("{tool} failed ({status}): {message}")]
    Tool {
        /// The tool's name.
        tool: String,
        /// How it ended.
        status: String,
        /// The beginning of what it printed, with control characters replaced.
        message: String,
    },
    /// The result is larger than its bound.
    #[error("the output of {tool} is larger than the {limit} bytes allowed")]
    TooLarge {
        /// The tool's name.
        tool: String,
        /// The bound in bytes.
        limit: u64,
    },
}
