//! The messages of compile workers: requests, replies and failures.

use std::path::{Path, PathBuf};

use lightbench_worker::handle::WorkerHandle;
use lightbench_worker::protocol::{Call, Protocol};
use lightbench_worker::sandbox::{SYSTEM_LIBRARIES, SandboxPolicy};
use serde::{Deserialize, Serialize};

use super::nvrtc::{NvrtcError, NvrtcOutput, NvrtcPaths, NvrtcVersion};

/// The service that compiles, assembles and disassembles.
#[derive(Debug)]
pub struct CompileProtocol;

impl Protocol for CompileProtocol {
    const SERVICE: &'static str = "compile";
    const BUILD: &'static str = env!("LIGHTBENCH_SOURCE_HASH");
    type Options = Tools;
    type Facts = Option<CompilerFacts>;
    type Request = Request;
}

/// Handle that starts compile workers on demand.
pub type CompileWorker = WorkerHandle<CompileProtocol>;

/// The programs and libraries that a worker uses; requests that need an absent one fail.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tools {
    /// The compiler library, loaded before the worker confines itself.
    pub nvrtc: Option<NvrtcPaths>,
    /// The disassembler.
    pub nvdisasm: Option<PathBuf>,
    /// The assembler.
    pub ptxas: Option<PathBuf>,
}

impl Tools {
    /// The sandbox in which these tools work: the compiler's own folder, folders with headers, the programs, and the
    /// system's libraries where programs are linked to them.
    #[must_use]
    pub fn policy(&self, include_folders: &[PathBuf]) -> SandboxPolicy {
        let libraries = self.nvrtc.iter().filter_map(|nvrtc| nvrtc.library.parent());
        let read = libraries.map(Path::to_owned).chain(include_folders.iter().cloned()).collect();
        let mut execute: Vec<PathBuf> = self.nvdisasm.iter().chain(&self.ptxas).cloned().collect();
        if !execute.is_empty() {
            execute.extend(SYSTEM_LIBRARIES.iter().map(PathBuf::from));
        }
        SandboxPolicy { read, execute, ..SandboxPolicy::default() }
    }
}

/// Properties of the loaded compiler; a worker without [`Tools::nvrtc`] reports none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompilerFacts {
    /// Its version.
    pub version: NvrtcVersion,
    /// Supported compute capabilities times ten, ascending.
    pub architectures: Vec<u32>,
    /// Whether the library contains its headers and can extract them.
    pub carries_headers: bool,
}

/// Requests of a compile worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// Compile CUDA C++.
    Compile(CompileRequest),
    /// Assemble PTX to machine code.
    Assemble(AssembleRequest),
    /// Disassemble machine code.
    Disassemble(DisassembleRequest),
    /// Extract the compiler's headers.
    ExtractHeaders(ExtractHeaders),
}

/// CUDA C++ to compile, with every input of the compilation besides the compiler itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompileRequest {
    /// The name of the main file, as diagnostics show it.
    pub name: String,
    /// The text of the main file.
    pub source: String,
    /// Headers in memory: the name as it is written in `#include`, and the text.
    pub headers: Vec<(String, String)>,
    /// Expressions whose lowered names the reply lists, in the same order.
    pub name_expressions: Vec<String>,
    /// Compiler options. They must come from trusted code: some options read or write files.
    pub options: Vec<String>,
    /// Folders searched for headers, in order; the sandbox policy must permit reading them.
    pub include_folders: Vec<PathBuf>,
}

/// PTX to assemble.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssembleRequest {
    /// The PTX.
    #[serde(with = "serde_bytes")]
    pub ptx: Vec<u8>,
    /// The real architecture, such as `sm_90a`.
    pub architecture: String,
    /// Options besides `-arch`, `-v`, `-lineinfo` and `-o`. They must come from trusted code.
    pub options: Vec<String>,
}

/// Machine code to disassemble.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DisassembleRequest {
    /// The cubin.
    #[serde(with = "serde_bytes")]
    pub cubin: Vec<u8>,
    /// Symbol indices of the functions to list; all functions if empty.
    pub functions: Vec<u32>,
}

/// Extraction of the headers that the compiler library contains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtractHeaders {
    /// An existing folder that the sandbox policy permits writing.
    pub into: PathBuf,
}

/// The outcome of assembling.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssembleReply {
    /// The machine code; `None` if the assembler rejected the PTX, with the reason in the log.
    #[serde(with = "serde_bytes")]
    pub cubin: Option<Vec<u8>>,
    /// The assembler's messages, unchecked: they repeat parts of the PTX. At most 8 MiB.
    #[serde(with = "serde_bytes")]
    pub log: Vec<u8>,
}

/// The listings that the disassembler printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disassembly {
    /// Instructions with their encodings and source lines.
    #[serde(with = "serde_bytes")]
    pub code: Vec<u8>,
    /// The number of live registers at each instruction; `None` if the disassembler cannot determine it.
    #[serde(with = "serde_bytes")]
    pub live: Option<Vec<u8>>,
}

impl From<CompileRequest> for Request {
    fn from(request: CompileRequest) -> Self {
        Self::Compile(request)
    }
}

impl From<AssembleRequest> for Request {
    fn from(request: AssembleRequest) -> Self {
        Self::Assemble(request)
    }
}

impl From<DisassembleRequest> for Request {
    fn from(request: DisassembleRequest) -> Self {
        Self::Disassemble(request)
    }
}

impl From<ExtractHeaders> for Request {
    fn from(request: ExtractHeaders) -> Self {
        Self::ExtractHeaders(request)
    }
}

impl Call<CompileProtocol> for CompileRequest {
    type Reply = Result<NvrtcOutput, RequestFailure>;
}

impl Call<CompileProtocol> for AssembleRequest {
    type Reply = Result<AssembleReply, RequestFailure>;
}

impl Call<CompileProtocol> for DisassembleRequest {
    type Reply = Result<Disassembly, RequestFailure>;
}

impl Call<CompileProtocol> for ExtractHeaders {
    type Reply = Result<(), RequestFailure>;
}

/// Why a request failed for a reason other than the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum RequestFailure {
    /// The worker was configured without this tool.
    #[error("this worker has no {tool}: configure its path")]
    NotConfigured {
        /// The tool's name.
        tool: String,
    },
    /// The compiler library failed, or a text of the request contains a zero byte.
    #[error(transparent)]
    Compiler(NvrtcError),
    /// A tool could not be run.
    #[error("cannot run {tool}: {reason}")]
    Run {
        /// The tool's name.
        tool: String,
        /// The system's message.
        reason: String,
    },
    /// A tool ran and failed.
    #[error("{tool} failed ({status}): {message}")]
    Tool {
        /// The tool's name.
        tool: String,
        /// Its exit status or signal.
        status: String,
        /// The first line that it printed, with control characters replaced.
        message: String,
    },
    /// The output exceeds the size limit.
    #[error("the output of {tool} is larger than the {limit} bytes allowed")]
    TooLarge {
        /// The tool's name.
        tool: String,
        /// The limit in bytes.
        limit: u64,
    },
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lightbench_worker::frame::Frame;

    use super::super::nvrtc::NvrtcOutcome;
    use super::*;

    fn check_request(request: &Request) {
        assert_eq!(Frame::new(request).unwrap().parse::<Request>().unwrap(), *request);
    }

    fn check_reply<C: Call<CompileProtocol>>(reply: &C::Reply)
    where
        C::Reply: PartialEq + std::fmt::Debug,
    {
        assert_eq!(C::encode(reply).unwrap().parse::<C::Reply>().unwrap(), *reply);
    }

    #[test]
    fn requests_survive_the_round_trip() {
        check_request(&Request::Compile(CompileRequest {
            name: "a.cu".to_owned(),
            source: "é\n\"quoted\"".to_owned(),
            headers: vec![("b.cuh".to_owned(), "text".to_owned()), ("c".to_owned(), String::new())],
            name_expressions: vec!["f<1>".to_owned()],
            options: vec!["-lineinfo".to_owned()],
            include_folders: vec!["include".into()],
        }));
        let (cubin, functions) = (vec![0, 255], vec![7]);
        check_request(&DisassembleRequest { cubin, functions }.into());
        check_request(&Request::Assemble(AssembleRequest {
            ptx: b".version 9.0".to_vec(),
            architecture: "sm_90".to_owned(),
            options: Vec::new(),
        }));
        check_request(&ExtractHeaders { into: "headers".into() }.into());
    }

    #[test]
    fn replies_survive_the_round_trip() {
        let elapsed = Duration::from_nanos(123_456_789);
        let check_compiled = |outcome, log: &[u8]| {
            check_reply::<CompileRequest>(&Ok(NvrtcOutput { outcome, log: log.to_vec(), elapsed }));
        };
        for cubin in [None, Some(vec![1, 2])] {
            let (ptx, lowered_names) = (b"ptx".to_vec(), vec!["_Z1fv".to_owned()]);
            check_compiled(
                NvrtcOutcome::Compiled { ptx, cubin: cubin.clone(), lowered_names },
                b"",
            );
            check_reply::<AssembleRequest>(&Ok(AssembleReply { cubin, log: vec![0xff, 0] }));
        }
        let name = "NVRTC_ERROR_COMPILATION".to_owned();
        check_compiled(NvrtcOutcome::Rejected { code: 6, name }, b"\xff");
        let (code, live) = (b"{}".to_vec(), None);
        check_reply::<DisassembleRequest>(&Ok(Disassembly { code, live }));
        check_reply::<ExtractHeaders>(&Ok(()));
        let failure = RequestFailure::NotConfigured { tool: "ptxas".to_owned() };
        check_reply::<ExtractHeaders>(&Err(failure));
        let failure = RequestFailure::Compiler(NvrtcError::NoBundledHeaders);
        check_reply::<CompileRequest>(&Err(failure));
    }
}
