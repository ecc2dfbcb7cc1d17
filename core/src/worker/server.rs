//! The worker's side: from the first hello to the end of its standard input.

use std::fs::File;
use std::path::PathBuf;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::Builder;

use super::confine::{self, Streams};
use super::frame::{BULK_LIMIT, Frame, FrameError};
use super::protocol::{
    CompileRequest, CompilerFacts, Hello, Readiness, Ready, Reply, Request, RequestFailure, Setup,
    SetupFailure, Tools,
};
use super::sandbox::{self, SandboxReport};
use super::tools;
use crate::compile::nvrtc::{Nvrtc, NvrtcError, NvrtcProgram};
use crate::verify::station::{Opening, Station, StationFailure};

/// Why a worker gave up on its parent.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The standard streams could not be moved, or dumps not be forbidden.
    #[error("cannot set up the worker process: {0}")]
    Process(#[source] std::io::Error),
    /// The parent does not speak the protocol, or is gone.
    #[error("the parent broke the protocol: {0}")]
    Parent(#[source] FrameError),
}

/// Serves the parent at the other end of the standard streams until it closes them. From then on
/// this process ends itself and everything that it started.
///
/// # Errors
///
/// [`ServeError`], where the parent is at fault.
pub fn serve() -> Result<(), ServeError> {
    serve_with(Station::open)
}

/// How a station is opened.
pub(crate) type OpenStation = fn(&Opening) -> Result<Station, StationFailure>;

/// The same with stations on devices that no name opens.
pub(crate) fn serve_with(open_station: OpenStation) -> Result<(), ServeError> {
    let inherited_descriptors = confine::inherited_descriptors();
    let mut streams = confine::take_standard_streams().map_err(ServeError::Process)?;
    confine::forbid_core_dumps().map_err(ServeError::Process)?;
    say(&mut streams.to_parent, &Hello::ours())?;
    let setup: Setup = match Frame::read_from(&mut streams.from_parent) {
        Ok(frame) => frame.parse().map_err(ServeError::Parent)?,
        Err(FrameError::Closed) => return Ok(()),
        Err(error) => return Err(ServeError::Parent(error)),
    };
    match Server::prepare(setup, inherited_descriptors, open_station) {
        Ok((mut server, ready)) => {
            say(&mut streams.to_parent, &Readiness::Ready(ready))?;
            server.answer(streams)
        }
        Err(failure) => say(&mut streams.to_parent, &Readiness::Failed(failure)),
    }
}

fn say<Head: serde::Serialize>(stream: &mut File, head: &Head) -> Result<(), ServeError> {
    Frame::new(head, Vec::new())
        .and_then(|frame| frame.write_to(stream))
        .map_err(ServeError::Parent)
}

/// A worker that is confined and has its tools.
struct Server {
    nvrtc: Option<Nvrtc>,
    tools: Tools,
    scratch: PathBuf,
    open_station: OpenStation,
    station: Option<Station>,
}

impl Server {
    /// Loads the compiler, then gives up everything that the policy does not name.
    fn prepare(
        setup: Setup,
        inherited: Vec<String>,
        open_station: OpenStation,
    ) -> Result<(Self, Ready), SetupFailure> {
        let Setup { configuration, scratch } = setup;
        confine::limit(&configuration.limits)?;
        let tools = configuration.tools;
        let nvrtc =
            tools.nvrtc.as_ref().map(Nvrtc::load).transpose().map_err(SetupFailure::Compiler)?;
        let compiler =
            nvrtc.as_ref().map(compiler_facts).transpose().map_err(SetupFailure::Compiler)?;
        let (filesystem, network) = sandbox::restrict(&configuration.policy, &scratch);
        let sandbox = SandboxReport { filesystem, network, inherited_descriptors: inherited };
        let ready = Ready { compiler, sandbox };
        Ok((Self { nvrtc, tools, scratch, open_station, station: None }, ready))
    }

    /// Answers requests one after another. Reading has a thread of its own, so that the end of the
    /// parent is noticed in the middle of a compile.
    fn answer(&mut self, streams: Streams) -> Result<(), ServeError> {
        let Streams { from_parent, to_parent } = streams;
        let (sender, receiver) = sync_channel(1);
        let scratch = self.scratch.clone();
        // The closure owns the stream to the parent: giving up closes it, and the parent notices.
        std::thread::scope(move |scope| {
            let mut to_parent = to_parent;
            Builder::new()
                .name("worker-requests".to_owned())
                .spawn_scoped(scope, move || {
                    listen(from_parent, &sender);
                    confine::end_with_parent(&scratch)
                })
                .map_err(ServeError::Process)?;
            for frame in receiver {
                let reply = match Request::from_frame(frame) {
                    Ok(request) => self.carry_out(request),
                    Err(error) => return Err(ServeError::Parent(error)),
                };
                bounded(reply).write_to(&mut to_parent).map_err(ServeError::Parent)?;
            }
            Ok(())
        })
    }

    fn carry_out(&mut self, request: Request) -> Reply {
        let result = match request {
            Request::Open(opening) => {
                // The device that was open is closed first: a context of its own for everything that is opened.
                self.station = None;
                let opened = (self.open_station)(&opening).map_err(RequestFailure::Station);
                opened.map(|station| {
                    let description = station.description().clone();
                    self.station = Some(station);
                    Reply::Opened(Box::new(description))
                })
            }
            Request::Run(order) => self
                .station()
                .and_then(|station| station.run(&order))
                .map(|report| Reply::Ran(Box::new(report)))
                .map_err(RequestFailure::Station),
            Request::Measure(order) => self
                .station()
                .and_then(|station| station.measure(&order))
                .map(|report| Reply::Measured(Box::new(report)))
                .map_err(RequestFailure::Station),
            Request::Judge(order) => self
                .station()
                .and_then(|station| station.judge(&order))
                .map(|report| Reply::Judged(Box::new(report)))
                .map_err(RequestFailure::Station),
            Request::Compile(request) => self.compile(request),
            Request::Disassemble(request) => configured(self.tools.nvdisasm.as_ref(), "nvdisasm")
                .and_then(|program| tools::disassemble(program, &request, &self.scratch))
                .map(Reply::Disassembled),
            Request::Assemble(request) => configured(self.tools.ptxas.as_ref(), "ptxas")
                .and_then(|program| tools::assemble(program, &request, &self.scratch))
                .map(Reply::Assembled),
            Request::ExtractHeaders { into } => configured(self.nvrtc.as_ref(), "nvrtc")
                .and_then(|nvrtc| {
                    nvrtc.install_bundled_headers(&into).map_err(RequestFailure::Compiler)
                })
                .map(|()| Reply::HeadersExtracted),
        };
        result.unwrap_or_else(Reply::Failed)
    }

    fn station(&mut self) -> Result<&mut Station, StationFailure> {
        let missing = || StationFailure::Order("no device is open".to_owned());
        self.station.as_mut().ok_or_else(missing)
    }

    fn compile(&self, request: CompileRequest) -> Result<Reply, RequestFailure> {
        let nvrtc = configured(self.nvrtc.as_ref(), "nvrtc")?;
        let CompileRequest {
            name,
            source,
            headers,
            name_expressions,
            mut options,
            include_folders,
        } = request;
        for folder in &include_folders {
            options.push(format!("--include-path={}", folder.display()));
        }
        let program = NvrtcProgram {
            name: &name,
            source: &source,
            headers: &headers,
            name_expressions: &name_expressions,
            options: &options,
        };
        nvrtc.compile(&program).map(Reply::Compiled).map_err(RequestFailure::Compiler)
    }
}

/// Hands on what the parent sends until it stops or sends something else than frames.
fn listen(mut from_parent: File, sender: &SyncSender<Frame>) {
    while let Ok(frame) = Frame::read_from(&mut from_parent) {
        if sender.send(frame).is_err() {
            return;
        }
    }
}

fn configured<'tool, Tool>(
    tool: Option<&'tool Tool>,
    name: &str,
) -> Result<&'tool Tool, RequestFailure> {
    tool.ok_or_else(|| RequestFailure::NotConfigured { tool: name.to_owned() })
}

fn compiler_facts(nvrtc: &Nvrtc) -> Result<CompilerFacts, NvrtcError> {
    Ok(CompilerFacts {
        version: nvrtc.version()?,
        architectures: nvrtc.supported_architectures()?,
        carries_headers: nvrtc.carries_headers(),
    })
}

/// The reply as a frame that may be sent: a reply beyond the bounds becomes a failure that says so.
fn bounded(reply: Reply) -> Frame {
    reply.into_frame().and_then(|frame| frame.check().map(|()| frame)).unwrap_or_else(
        |_too_large| {
            let failure =
                RequestFailure::TooLarge { tool: "the compiler".to_owned(), limit: BULK_LIMIT };
            Reply::Failed(failure).into_frame().unwrap_or_default()
        },
    )
}
