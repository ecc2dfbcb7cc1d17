//! The thread that speaks the protocol.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer, ServiceExt as _};
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::oneshot;

use crate::answer::Answer;
use crate::call::{Call, Reply};
use crate::tool::Tool;

/// Maximum bytes of a message: a kernel of 1 MiB, escaped.
const MAX_MESSAGE_BYTES: usize = 8 << 20;

/// Calls that wait for the program.
const MAX_WAITING: usize = 64;

/// The answer to a call while too many others wait.
const BUSY: &str = "too many calls wait for an answer; repeat the call later";

/// Why the server ended.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The operating system starts no thread, or no runtime.
    #[error("the server cannot start: {0}")]
    Start(#[from] std::io::Error),
    /// The client did not open the protocol.
    #[error("the client did not open the protocol: {0}")]
    Handshake(String),
    /// The thread panicked.
    #[error("a defect of the server's thread")]
    Panicked,
}

/// The thread that speaks the protocol. It ends when the client closes the input, or when this is dropped.
#[derive(Debug)]
pub struct ServerThread {
    thread: Option<JoinHandle<Result<(), ServerError>>>,
    stop: Option<oneshot::Sender<()>>,
    calls: Receiver<Call>,
}

impl ServerThread {
    /// Starts the thread on standard input and output. `instructions` is what the client shows the model first.
    ///
    /// # Errors
    /// The operating system starts no thread.
    pub fn on_standard_streams(
        tools: Vec<Tool>,
        instructions: &'static str,
    ) -> Result<Self, ServerError> {
        Self::start(tools, instructions, || (tokio::io::stdin(), tokio::io::stdout()))
    }

    pub(crate) fn start<In, Out>(
        tools: Vec<Tool>,
        instructions: &'static str,
        streams: impl FnOnce() -> (In, Out) + Send + 'static,
    ) -> Result<Self, ServerError>
    where
        In: AsyncRead + Send + Unpin + 'static,
        Out: AsyncWrite + Send + Unpin + 'static,
    {
        let (inbox, calls) = bounded(MAX_WAITING);
        let (stop, stopped) = oneshot::channel();
        let handler = Handler { tools: Arc::from(tools), instructions, inbox };
        let thread = thread::Builder::new()
            .name("mcp".to_owned())
            .spawn(move || serve(handler, streams, stopped))?;
        Ok(Self { thread: Some(thread), stop: Some(stop), calls })
    }

    /// The calls. The channel disconnects when the client has gone.
    #[must_use]
    pub const fn calls(&self) -> &Receiver<Call> {
        &self.calls
    }

    /// Stops the thread and returns how it ended.
    ///
    /// # Errors
    /// Why the client was never served, or that the thread panicked.
    pub fn finish(mut self) -> Result<(), ServerError> {
        self.stop();
        let ended = self.thread.take().map(JoinHandle::join);
        ended.map_or(Ok(()), |ended| ended.unwrap_or(Err(ServerError::Panicked)))
    }

    fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // Refused only if the thread has ended.
            stop.send(()).ok();
        }
    }
}

impl Drop for ServerThread {
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            // `finish` reports a panic; here nothing can.
            thread.join().ok();
        }
    }
}

/// Serves one client.
fn serve<In, Out>(
    handler: Handler,
    streams: impl FnOnce() -> (In, Out),
    stopped: oneshot::Receiver<()>,
) -> Result<(), ServerError>
where
    In: AsyncRead + Send + Unpin + 'static,
    Out: AsyncWrite + Send + Unpin + 'static,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        let (input, output) = streams();
        let transport =
            AsyncRwTransport::new(input, output).with_max_line_length(MAX_MESSAGE_BYTES);
        let session = async {
            let opened = handler.serve(transport).await;
            let service = opened.map_err(|error| ServerError::Handshake(error.to_string()))?;
            service.waiting().await.map(drop).map_err(|_panic| ServerError::Panicked)
        };
        tokio::select! {
            ended = session => ended,
            _stopped = stopped => Ok(()),
        }
    });
    // A pending read of standard input cannot be cancelled.
    runtime.shutdown_background();
    ended
}

/// Turns requests of the protocol into calls.
struct Handler {
    tools: Arc<[Tool]>,
    instructions: &'static str,
    inbox: Sender<Call>,
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("lightbench", env!("CARGO_PKG_VERSION")))
            .with_instructions(self.instructions)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.tools.iter().map(Tool::announced).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = self.tools.iter().find(|tool| tool.name == request.name);
        let tool =
            tool.ok_or_else(|| ErrorData::invalid_params("there is no tool of this name", None))?;
        let (sender, answer) = oneshot::channel();
        let call = Call {
            tool: tool.name,
            arguments: request.arguments.unwrap_or_default(),
            client: context.client_info().map(|client| client.name),
            reply: Reply(sender),
        };
        match self.inbox.try_send(call) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => return Ok(Answer::refused(BUSY).render().into()),
            Err(TrySendError::Disconnected(_)) => return Err(ending()),
        }
        let answer = answer.await.map_err(|_ended| ending())?;
        Ok(answer.render().into())
    }
}

fn ending() -> ErrorData {
    ErrorData::internal_error("the server is ending", None)
}
