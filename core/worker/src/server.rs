//! The worker's side of the protocol, from the first message to the end of standard input.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::thread::Builder;

use crossbeam_channel::{Sender, bounded};

use crate::confine::{self, Streams};
use crate::frame::{Frame, FrameError};
use crate::protocol::{Hello, Protocol, Readiness, Ready, Reply, Setup, SetupFailure, VERSION};
use crate::sandbox::{self, SandboxReport};

/// Why a worker ended before its parent closed its standard input.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The standard streams could not be moved, core dumps could not be disabled, or no thread could be started.
    #[error("cannot set up the worker process: {0}")]
    Process(#[source] std::io::Error),
    /// The program of a service could not be executed.
    #[error("cannot execute `{}`: {reason}", program.display())]
    Execute {
        /// The program.
        program: std::path::PathBuf,
        /// The system's message.
        #[source]
        reason: std::io::Error,
    },
    /// The parent sent a message that is not part of the protocol, the parent has ended, or a reply cannot be encoded.
    #[error("the exchange with the parent failed: {0}")]
    Parent(#[source] FrameError),
}

/// Carries out the requests of a protocol.
pub trait Service<P: Protocol> {
    /// Carries out one request. The frame must be encoded by [`crate::protocol::Call::encode`] of that request: the types
    /// do not enforce it, and the parent would fail to decode another reply.
    ///
    /// # Errors
    ///
    /// The reply cannot be encoded, or is too large.
    fn answer(&mut self, request: P::Request) -> Result<Frame, FrameError>;
}

/// A service that this program offers as a worker.
pub struct Offer {
    name: &'static str,
    build: &'static str,
    serve: Box<ServeOffer>,
}

/// Prepares the service with the options in the frame, and serves.
type ServeOffer = dyn FnOnce(&Setup, &Frame, Conversation) -> Result<(), ServeError>;

impl std::fmt::Debug for Offer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Offer({} {})", self.name, self.build)
    }
}

impl Offer {
    /// Offers a service. `prepare` receives the options and the scratch folder, and runs before the sandbox is in force; an
    /// error of `prepare` is a sentence for the user.
    pub fn new<P: Protocol, S: Service<P>>(
        prepare: impl FnOnce(P::Options, &Path) -> Result<(S, P::Facts), String> + 'static,
    ) -> Self {
        let serve = |setup: &Setup, options: &Frame, mut conversation: Conversation| {
            let options = options.parse().map_err(ServeError::Parent)?;
            let prepared = confine::limit(&setup.limits)
                .and_then(|()| prepare(options, &setup.scratch).map_err(SetupFailure::Service));
            let (mut service, facts) = match prepared {
                Ok(prepared) => prepared,
                Err(failure) => return conversation.fail(failure),
            };
            let sandbox = conversation.confine(setup);
            conversation.send(&Readiness::Ready(Ready { facts, sandbox }))?;
            conversation.answer(&setup.scratch, |frame| service.answer(frame.parse()?))
        };
        Self { name: P::SERVICE, build: P::BUILD, serve: Box::new(serve) }
    }

    /// Offers a service that another program carries out: after the sandbox is in force, this process executes the
    /// program, which keeps the limits and the sandbox and takes requests in an encoding of its own
    /// ([`crate::client::Worker::converse`]).
    ///
    /// `prepare` receives the options and the scratch folder, and runs before the sandbox is in force. If the sandbox is
    /// not fully in force, the program starts only with [`WithoutSandbox::Permitted`].
    pub fn for_program<P: Protocol<Facts = ()>>(
        prepare: impl FnOnce(P::Options, &Path) -> Result<ForeignProgram, String> + 'static,
    ) -> Self {
        let serve = |setup: &Setup, options: &Frame, mut conversation: Conversation| {
            let options = options.parse().map_err(ServeError::Parent)?;
            let prepared = confine::limit(&setup.limits)
                .and_then(|()| prepare(options, &setup.scratch).map_err(SetupFailure::Service));
            let program = match prepared {
                Ok(program) => program,
                Err(failure) => return conversation.fail(failure),
            };
            let sandbox = conversation.confine(setup);
            let gaps = sandbox.gaps_for_foreign_code();
            if program.without_sandbox == WithoutSandbox::Refused && !gaps.is_empty() {
                return conversation.fail(SetupFailure::NotConfined { gaps });
            }
            conversation.send(&Readiness::Ready(Ready { facts: (), sandbox }))?;
            conversation.execute(program)
        };
        Self { name: P::SERVICE, build: P::BUILD, serve: Box::new(serve) }
    }
}

/// A program that interprets untrusted code, executed by a worker in its place.
#[derive(Debug)]
pub struct ForeignProgram {
    /// The program, its arguments and its whole environment. The numbers of the descriptors for requests and for replies
    /// follow as the last two arguments.
    pub command: std::process::Command,
    /// Whether it may run without the sandbox.
    pub without_sandbox: WithoutSandbox,
}

/// Whether a program that interprets untrusted code may run where the sandbox is not fully in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WithoutSandbox {
    /// It does not start.
    #[default]
    Refused,
    /// It starts: the user permits it for this machine.
    Permitted,
}

/// Serves the parent at the other end of the standard streams until the parent closes them. Then this process kills itself
/// and its process group.
///
/// # Errors
///
/// [`ServeError`] for a failure before the worker is ready. A later failure is written to standard error, which the parent
/// quotes, and does not return: the process ends as soon as the parent closes its end.
pub fn serve(offers: Vec<Offer>) -> Result<(), ServeError> {
    let inherited_descriptors = confine::inherited_descriptors();
    let streams = confine::take_standard_streams().map_err(ServeError::Process)?;
    confine::forbid_core_dumps().map_err(ServeError::Process)?;
    let mut conversation = Conversation { streams, inherited_descriptors };
    conversation.send(&Hello { version: VERSION })?;
    let setup: Setup = match conversation.next() {
        Ok(frame) => frame.parse().map_err(ServeError::Parent)?,
        Err(ServeError::Parent(FrameError::Closed)) => return Ok(()),
        Err(error) => return Err(error),
    };
    let options = conversation.next()?;
    let Some(offer) = offers.into_iter().find(|offer| offer.name == setup.service) else {
        return conversation.fail(SetupFailure::NoSuchService(setup.service));
    };
    if offer.build != setup.build {
        return conversation.send(&Readiness::<()>::OtherBuild { build: offer.build.to_owned() });
    }
    (offer.serve)(&setup, &options, conversation)
}

/// The exchange with the parent.
struct Conversation {
    streams: Streams,
    inherited_descriptors: Vec<String>,
}

impl Conversation {
    fn next(&mut self) -> Result<Frame, ServeError> {
        Frame::read_from(&mut self.streams.from_parent).map_err(ServeError::Parent)
    }

    fn send<Message: serde::Serialize>(&mut self, message: &Message) -> Result<(), ServeError> {
        send(&mut self.streams.to_parent, message).map_err(ServeError::Parent)
    }

    fn fail(mut self, failure: SetupFailure) -> Result<(), ServeError> {
        self.send(&Readiness::<()>::Failed(failure))
    }

    /// Applies the sandbox, and reports the restrictions in force.
    fn confine(&mut self, setup: &Setup) -> SandboxReport {
        let (filesystem, network) = sandbox::restrict(&setup.policy, &setup.scratch);
        let inherited_descriptors = std::mem::take(&mut self.inherited_descriptors);
        SandboxReport { filesystem, network, inherited_descriptors }
    }

    /// Executes the program in this process, with the streams to and from the parent open. Standard input is empty, and
    /// standard output is standard error.
    #[cfg(unix)]
    fn execute(self, program: ForeignProgram) -> Result<(), ServeError> {
        use std::os::fd::AsRawFd as _;
        use std::os::unix::process::CommandExt as _;

        let Streams { from_parent, to_parent } = self.streams;
        let mut command = program.command;
        for stream in [&from_parent, &to_parent] {
            rustix::io::fcntl_setfd(stream, rustix::io::FdFlags::empty())
                .map_err(|error| ServeError::Process(error.into()))?;
            command.arg(stream.as_raw_fd().to_string());
        }
        // Returns only if the program cannot be executed.
        Err(ServeError::Execute {
            program: command.get_program().to_owned().into(),
            reason: command.exec(),
        })
    }

    /// A process cannot become another program here.
    #[cfg(not(unix))]
    fn execute(self, program: ForeignProgram) -> Result<(), ServeError> {
        let program = program.command.get_program().to_owned().into();
        Err(ServeError::Execute { program, reason: std::io::ErrorKind::Unsupported.into() })
    }

    /// Answers requests one after another. A separate thread reads them, so that the worker notices the end of the parent
    /// during a request.
    fn answer(
        self,
        scratch: &Path,
        mut answer: impl FnMut(Frame) -> Result<Frame, FrameError>,
    ) -> Result<(), ServeError> {
        let Streams { from_parent, to_parent } = self.streams;
        let (sender, receiver) = bounded(1);
        // The closure owns the stream to the parent. When the closure returns, the stream is closed; then the parent closes
        // the other stream, and the thread removes the scratch folder and ends the process.
        std::thread::scope(move |scope| {
            let mut to_parent = to_parent;
            Builder::new()
                .name("worker-requests".to_owned())
                .spawn_scoped(scope, move || {
                    read_requests(from_parent, &sender);
                    confine::end_with_parent(scratch)
                })
                .map_err(ServeError::Process)?;
            let answered =
                receiver.into_iter().try_for_each(|frame| reply(&mut to_parent, answer(frame)));
            answered.map_err(ServeError::Parent).inspect_err(|error| {
                // The thread ends the process before the caller receives the error. If standard error is closed, nothing
                // else can take the message.
                let _closed = writeln!(std::io::stderr(), "{error}");
            })
        })
    }
}

/// Forwards frames until the parent closes its stream or sends something else.
fn read_requests(mut from_parent: impl Read, sender: &Sender<Frame>) {
    while let Ok(frame) = Frame::read_from(&mut from_parent) {
        if sender.send(frame).is_err() {
            return;
        }
    }
}

fn reply(to_parent: &mut File, answer: Result<Frame, FrameError>) -> Result<(), FrameError> {
    match answer {
        Ok(frame) => {
            send(to_parent, &Reply::Done)?;
            frame.write_to(to_parent)
        }
        Err(FrameError::TooLarge { size }) => send(to_parent, &Reply::TooLarge { size }),
        Err(error) => Err(error),
    }
}

fn send<Message: serde::Serialize>(
    stream: &mut impl Write,
    message: &Message,
) -> Result<(), FrameError> {
    Frame::new(message)?.write_to(stream)
}
