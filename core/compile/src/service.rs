//! The compile service: carries out the requests of a compile worker.

use std::path::{Path, PathBuf};

use lightbench_worker::frame::{Frame, FrameError};
use lightbench_worker::protocol::Call as _;
use lightbench_worker::server::{Offer, Service};

use super::nvrtc::{Nvrtc, NvrtcError, NvrtcOutput, NvrtcProgram};
use super::protocol::{
    AssembleRequest, CompileProtocol, CompileRequest, CompilerFacts, DisassembleRequest,
    ExtractHeaders, Request, RequestFailure, Tools,
};
use super::tools;

/// The loaded compiler and the paths of the tools.
struct CompileService {
    nvrtc: Option<Nvrtc>,
    tools: Tools,
    scratch: PathBuf,
}

/// Offers the service to a parent.
#[must_use]
pub fn offer() -> Offer {
    Offer::new::<CompileProtocol, _>(|tools, scratch| {
        prepare(tools, scratch).map_err(|error| error.to_string())
    })
}

fn prepare(
    tools: Tools,
    scratch: &Path,
) -> Result<(CompileService, Option<CompilerFacts>), NvrtcError> {
    let nvrtc = tools.nvrtc.as_ref().map(Nvrtc::load).transpose()?;
    let facts = nvrtc.as_ref().map(facts).transpose()?;
    Ok((CompileService { nvrtc, tools, scratch: scratch.to_owned() }, facts))
}

fn facts(nvrtc: &Nvrtc) -> Result<CompilerFacts, NvrtcError> {
    Ok(CompilerFacts {
        version: nvrtc.version()?,
        architectures: nvrtc.supported_architectures()?,
        carries_headers: nvrtc.carries_headers(),
    })
}

impl Service<CompileProtocol> for CompileService {
    fn answer(&mut self, request: Request) -> Result<Frame, FrameError> {
        match request {
            Request::Compile(request) => CompileRequest::encode(&self.compile(request)),
            Request::Assemble(request) => {
                let program = configured(self.tools.ptxas.as_ref(), "ptxas");
                AssembleRequest::encode(
                    &program.and_then(|ptxas| tools::assemble(ptxas, &request, &self.scratch)),
                )
            }
            Request::Disassemble(request) => {
                let program = configured(self.tools.nvdisasm.as_ref(), "nvdisasm");
                let listing = program
                    .and_then(|nvdisasm| tools::disassemble(nvdisasm, &request, &self.scratch));
                DisassembleRequest::encode(&listing)
            }
            Request::ExtractHeaders(ExtractHeaders { into }) => {
                let extracted = configured(self.nvrtc.as_ref(), "nvrtc").and_then(|nvrtc| {
                    nvrtc.install_bundled_headers(&into).map_err(RequestFailure::Compiler)
                });
                ExtractHeaders::encode(&extracted)
            }
        }
    }
}

impl CompileService {
    fn compile(&self, request: CompileRequest) -> Result<NvrtcOutput, RequestFailure> {
        let nvrtc = configured(self.nvrtc.as_ref(), "nvrtc")?;
        let mut options = request.options;
        let includes = request.include_folders.iter();
        options.extend(includes.map(|folder| format!("--include-path={}", folder.display())));
        let program = NvrtcProgram {
            name: &request.name,
            source: &request.source,
            headers: &request.headers,
            name_expressions: &request.name_expressions,
            options: &options,
        };
        nvrtc.compile(&program).map_err(RequestFailure::Compiler)
    }
}

fn configured<'tool, Tool>(
    tool: Option<&'tool Tool>,
    name: &str,
) -> Result<&'tool Tool, RequestFailure> {
    tool.ok_or_else(|| RequestFailure::NotConfigured { tool: name.to_owned() })
}
