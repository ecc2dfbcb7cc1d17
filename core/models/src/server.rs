//! One attempt of a request to a server, with its streamed answer.

use std::ops::ControlFlow;
use std::time::{Duration, SystemTime};

use serde::Deserialize;

use crate::budget::guessed;
use crate::conversation::{Conversation, text_bytes};
use crate::endpoint::Endpoint;
use crate::error::{ModelError, ModelErrorKind, NonTextAnswer};
use crate::events::EventReader;
use crate::http::{Incoming, Outgoing, Watch, send};
use crate::model::{AnswerEvent, Model, Reply, Request, Stop};
use crate::protocol::{
    EventError, LimitName, Progress, Protocol, RequestContent, words_of_refusal,
};
use crate::retry::wait_from;
use crate::secret::{RedactedStream, Redactor, Secret};
use crate::settings::TimeLimits;
use crate::stop_signal::StopSignal;
use crate::text::excerpt;
use crate::tools::Tool;
use crate::usage::{Count, Usage};

/// A configured server.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) name: String,
    pub(crate) protocol: Protocol,
    pub(crate) endpoint: Endpoint,
    pub(crate) model: String,
    pub(crate) key: Option<Secret>,
    pub(crate) proxy: Option<ureq::Proxy>,
    pub(crate) most_tokens: u64,
    pub(crate) limit_name: LimitName,
    pub(crate) temperature: Option<f64>,
    pub(crate) tools: bool,
    pub(crate) time: TimeLimits,
    pub(crate) reply_bytes: usize,
    pub(crate) redactor: Redactor,
}

/// Maximum bytes of a list of models.
const LIST_BYTES: usize = 4 << 20;
/// Maximum bytes of an error response.
const REFUSAL_BYTES: usize = 64 << 10;
/// Tokens that a provider may add to a request: its own instructions and templates.
const HIDDEN_TOKENS: u64 = 20_000;
/// Maximum bytes per token in a stream: each token may be an event with identifiers and counts.
const EVENT_BYTES: usize = 1 << 10;
/// Maximum bytes of a stream besides its tokens: keep-alive comments, the first and the last event.
const STREAM_ROOM: usize = 1 << 20;

impl Model for Server {
    fn name(&self) -> &str {
        &self.name
    }

    fn most_output(&self) -> u64 {
        self.most_tokens
    }

    fn calls_tools(&self) -> bool {
        self.tools
    }

    fn ask(
        &mut self,
        request: &Request<'_>,
        hear: &mut dyn FnMut(AnswerEvent<'_>) -> ControlFlow<()>,
    ) -> Result<Reply, ModelError> {
        let mut time = self.time;
        time.whole = request.limits.time_within(time.whole);
        let watch = Watch::new(request.stop.clone(), time);
        let mut incoming = send(self.outgoing(request), &watch)
            .map_err(|trouble| self.without_secrets(trouble))?;
        if let Some(refusal) = self.refusal(&mut incoming)? {
            return Err(refusal.into());
        }
        let most_tokens = request.limits.tokens_within(self.most_tokens);
        let mut answer = Answer::new(self, most_tokens, hear);
        answer.may_call = !self.offered(request).is_empty();
        let heard = answer.listen(&mut incoming);
        let Answer { text, progress, may_call, .. } = answer;
        let guess = guessed(request, text.len() + progress.beside_bytes, most_tokens);
        let usage = usage(&progress, guess, most_tokens, &heard);
        match heard {
            Ok(stop) => Ok(Reply {
                text,
                calls: match may_call {
                    true => {
                        progress.calls.iter().map(|call| call.redacted(&self.redactor)).collect()
                    }
                    false => Vec::new(),
                },
                usage,
                stop,
                model: progress.model.map(|model| self.redactor.redact(&model)),
                took: watch.elapsed(),
                attempts: Vec::new(),
            }),
            Err(trouble) => {
                let trouble = self.without_secrets(trouble);
                Err(ModelError { trouble, usage, attempts: Vec::new() })
            }
        }
    }
}

/// The reported usage, where it is plausible. An answer has at most the requested tokens, and a text at most one token
/// per byte; larger reports are ignored, because one wrong number would exhaust a budget. If the answer was stopped
/// early, its final report is missing; then the larger of report and estimate counts.
fn usage(
    progress: &Progress,
    guess: Usage,
    most_tokens: u64,
    heard: &Result<Stop, ModelErrorKind>,
) -> Usage {
    // A guess is a token for three bytes.
    let most_input = guess.input.tokens().saturating_mul(3).saturating_add(HIDDEN_TOKENS);
    let input = progress.input.filter(|reported| *reported <= most_input);
    let input = Count::value_or(input, guess.input.tokens());
    let is_whole = heard.as_ref().is_ok_and(|stop| *stop != Stop::Listener);
    let reported = progress.output.filter(|reported| *reported <= most_tokens);
    let output = match (is_whole, reported) {
        (true, reported) => Count::value_or(reported, guess.output.tokens()),
        (false, reported) => Count::Estimated(guess.output.tokens().max(reported.unwrap_or(0))),
    };
    Usage { input, output }
}

impl Server {
    /// The tools of a request that the server is offered.
    fn offered<'r>(&self, request: &Request<'r>) -> &'r [Tool] {
        if self.tools { request.tools } else { &[] }
    }

    fn outgoing(&self, request: &Request<'_>) -> Outgoing<'_> {
        let conversation: Conversation = request.conversation.redacted(&self.redactor);
        let body = self.protocol.body(&RequestContent {
            model: &self.model,
            conversation: &conversation,
            tools: self.offered(request),
            most_tokens: request.limits.tokens_within(self.most_tokens),
            temperature: self.temperature,
            limit_name: self.limit_name,
        });
        Outgoing {
            endpoint: &self.endpoint,
            path: self.protocol.path(),
            headers: self.protocol.headers(self.key.as_ref()),
            body: Some(body.to_string()),
            proxy: self.proxy.clone(),
        }
    }

    /// The names of the models that the server has: `GET /models`, in the order in which it lists them.
    pub(crate) fn served(&self, stop: &StopSignal) -> Result<Vec<String>, ModelErrorKind> {
        #[derive(Deserialize)]
        struct List {
            data: Vec<Listed>,
        }
        #[derive(Deserialize)]
        struct Listed {
            id: String,
        }
        let outgoing = Outgoing {
            endpoint: &self.endpoint,
            path: "/models",
            headers: self.protocol.headers(self.key.as_ref()),
            body: None,
            proxy: self.proxy.clone(),
        };
        let watch = Watch::new(stop.clone(), self.time);
        let incoming = send(outgoing, &watch);
        let mut incoming = incoming.map_err(|trouble| self.without_secrets(trouble))?;
        if let Some(refusal) = self.refusal(&mut incoming)? {
            return Err(refusal);
        }
        let body = incoming.beginning(LIST_BYTES)?;
        let list: List = serde_json::from_str(&body).map_err(|error| {
            self.without_secrets(ModelErrorKind::Garbled {
                why: error.to_string(),
                excerpt: body.clone(),
            })
        })?;
        let clean = |listed: Listed| self.redactor.redact(&listed.id);
        Ok(list.data.into_iter().map(clean).collect())
    }

    /// The error of a response without an answer.
    fn refusal(&self, incoming: &mut Incoming) -> Result<Option<ModelErrorKind>, ModelErrorKind> {
        let status = incoming.status;
        if (200..300).contains(&status) {
            return Ok(None);
        }
        if (300..400).contains(&status) {
            let to = incoming.header("location").unwrap_or("nowhere").to_owned();
            return Ok(Some(self.without_secrets(ModelErrorKind::Redirected { status, to })));
        }
        let retry_after = retry_after(incoming);
        let body = incoming.beginning(REFUSAL_BYTES)?;
        let says = words_of_refusal(&body);
        let trouble = match status {
            429 | 503 | 529 => ModelErrorKind::Busy { status, retry_after, says },
            _ => ModelErrorKind::Status { status, says },
        };
        Ok(Some(self.without_secrets(trouble)))
    }

    fn clean(&self, text: &str) -> String {
        excerpt(&self.redactor.redact(text))
    }

    /// Redacts and shortens texts of the server.
    fn without_secrets(&self, trouble: ModelErrorKind) -> ModelErrorKind {
        match trouble {
            ModelErrorKind::Address { host, reason } => {
                ModelErrorKind::Address { host, reason: self.clean(&reason) }
            }
            ModelErrorKind::Connection { host, reason } => {
                ModelErrorKind::Connection { host, reason: self.clean(&reason) }
            }
            ModelErrorKind::Encryption { host, reason } => {
                ModelErrorKind::Encryption { host, reason: self.clean(&reason) }
            }
            ModelErrorKind::Busy { status, retry_after, says } => {
                ModelErrorKind::Busy { status, retry_after, says: self.clean(&says) }
            }
            ModelErrorKind::Status { status, says } => {
                ModelErrorKind::Status { status, says: self.clean(&says) }
            }
            ModelErrorKind::Redirected { status, to } => {
                ModelErrorKind::Redirected { status, to: self.clean(&to) }
            }
            ModelErrorKind::Reported { kind, says } => {
                ModelErrorKind::Reported { kind: self.clean(&kind), says: self.clean(&says) }
            }
            ModelErrorKind::Garbled { why, excerpt } => {
                ModelErrorKind::Garbled { why: self.clean(&why), excerpt: self.clean(&excerpt) }
            }
            ModelErrorKind::NotHttp { host, reason } => {
                ModelErrorKind::NotHttp { host, reason: self.clean(&reason) }
            }
            ModelErrorKind::NoText { instead: NonTextAnswer::Refusal(says) } => {
                ModelErrorKind::NoText { instead: NonTextAnswer::Refusal(self.clean(&says)) }
            }
            trouble @ (ModelErrorKind::Cancelled
            | ModelErrorKind::Budget(_)
            | ModelErrorKind::NotLoopback { .. }
            | ModelErrorKind::TimedOut { .. }
            | ModelErrorKind::CutShort { .. }
            | ModelErrorKind::TooLong { .. }
            | ModelErrorKind::HeadTooLong { .. }
            | ModelErrorKind::NoText { .. }
            | ModelErrorKind::OutOfTime { .. }
            | ModelErrorKind::Start { .. }
            | ModelErrorKind::Command { .. }
            | ModelErrorKind::Recording(_)) => trouble,
        }
    }
}

/// The requested waiting time: `retry-after-ms`, or `retry-after` in seconds or as a date.
fn retry_after(incoming: &Incoming) -> Option<Duration> {
    let exact = incoming.header("retry-after-ms").and_then(|text| text.trim().parse().ok());
    exact.map(Duration::from_millis).or_else(|| {
        incoming.header("retry-after").and_then(|text| wait_from(text, SystemTime::now()))
    })
}

/// An answer that is coming.
struct Answer<'a> {
    server: &'a Server,
    hear: &'a mut dyn FnMut(AnswerEvent<'_>) -> ControlFlow<()>,
    progress: Progress,
    clean: RedactedStream,
    text: String,
    /// Whether tools were offered.
    may_call: bool,
    /// The requested token limit.
    most_tokens: u64,
    /// Maximum bytes of text, and of reasoning and tool calls.
    most_bytes: usize,
}

impl<'a> Answer<'a> {
    fn new(
        server: &'a Server,
        most_tokens: u64,
        hear: &'a mut dyn FnMut(AnswerEvent<'_>) -> ControlFlow<()>,
    ) -> Self {
        let clean = server.redactor.stream();
        let most_bytes = server.reply_bytes.min(text_bytes(most_tokens));
        let (progress, text) = (Progress::default(), String::new());
        Self { server, hear, progress, clean, text, may_call: false, most_tokens, most_bytes }
    }

    fn listen(&mut self, incoming: &mut Incoming) -> Result<Stop, ModelErrorKind> {
        let kind = incoming.header("content-type").unwrap_or_default();
        let flow = if kind.contains("json") {
            self.listen_whole(incoming)?
        } else {
            self.listen_events(incoming)?
        };
        if flow.is_break() {
            return Ok(Stop::Listener);
        }
        let rest = self.clean.finish();
        if self.say(&rest)?.is_break() {
            return Ok(Stop::Listener);
        }
        let stop = self.progress.stop.take();
        let stop = stop.ok_or(ModelErrorKind::CutShort { received: self.text.len() })?;
        let is_call = self.may_call && !self.progress.calls.is_empty();
        if self.text.trim().is_empty() && !is_call {
            return Err(ModelErrorKind::NoText { instead: self.instead(&stop) });
        }
        Ok(stop)
    }

    /// The content of an answer without text.
    fn instead(&mut self, stop: &Stop) -> NonTextAnswer {
        let refusal = std::mem::take(&mut self.progress.refusal);
        if *stop == Stop::Declined || !refusal.is_empty() {
            return NonTextAnswer::Refusal(refusal);
        }
        match (self.progress.calls.is_empty(), self.progress.beside_bytes) {
            (false, _) => NonTextAnswer::ToolCall,
            (true, 0) => NonTextAnswer::Nothing,
            (true, _) => NonTextAnswer::Reasoning,
        }
    }

    /// Rejects an answer longer than the requested tokens: a server that ignores the limit may charge for all.
    fn check_length(&self, more: usize) -> Result<(), ModelErrorKind> {
        let said = self.text.len() + self.progress.beside_bytes + more;
        let is_over = self.progress.stop.is_none()
            && self.progress.output.is_some_and(|reported| reported > self.most_tokens);
        match said > self.most_bytes || is_over {
            true => Err(ModelErrorKind::TooLong { limit: self.most_bytes }),
            false => Ok(()),
        }
    }

    fn listen_events(
        &mut self,
        incoming: &mut Incoming,
    ) -> Result<ControlFlow<()>, ModelErrorKind> {
        let mut events = EventReader::default();
        let mut buffer = vec![0_u8; 16 << 10];
        let mut beginning = Vec::new();
        let mut received = 0_usize;
        let tokens = usize::try_from(self.most_tokens).unwrap_or(usize::MAX);
        let most = tokens.saturating_mul(EVENT_BYTES).saturating_add(STREAM_ROOM);
        while !self.progress.is_over {
            let count = self.next_bytes(incoming, &mut buffer)?;
            if count == 0 {
                break;
            }
            received += count;
            if received > most {
                return Err(ModelErrorKind::TooLong { limit: most });
            }
            let bytes = buffer.get(..count).unwrap_or_default();
            beginning.extend(bytes.iter().take(GARBLED_BYTES.saturating_sub(beginning.len())));
            let garbled = |why: String| ModelErrorKind::Garbled {
                why,
                excerpt: String::from_utf8_lossy(&beginning).into_owned(),
            };
            for event in events.push(bytes).map_err(|problem| garbled(problem.to_string()))? {
                let piece = self.server.protocol.read(&event, &mut self.progress);
                let piece = piece.map_err(|odd| trouble_of(odd, &event.data))?;
                let clean = self.clean.push(&piece);
                if self.say(&clean)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        if received > 0 && events.has_read_nothing() {
            let excerpt = String::from_utf8_lossy(&beginning).into_owned();
            return Err(ModelErrorKind::Garbled {
                why: "it contains no events".to_owned(),
                excerpt,
            });
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Number of bytes read; 0 at the end.
    fn next_bytes(
        &self,
        incoming: &mut Incoming,
        buffer: &mut [u8],
    ) -> Result<usize, ModelErrorKind> {
        match incoming.read(buffer) {
            // The answer is complete; only the closing event is missing.
            Err(ModelErrorKind::Connection { .. }) if self.progress.stop.is_some() => Ok(0),
            Err(ModelErrorKind::Connection { .. }) => {
                Err(ModelErrorKind::CutShort { received: self.text.len() })
            }
            read => read,
        }
    }

    /// An answer that came in one piece: not every server streams.
    fn listen_whole(&mut self, incoming: &mut Incoming) -> Result<ControlFlow<()>, ModelErrorKind> {
        let mut body = Vec::new();
        let mut buffer = vec![0_u8; 16 << 10];
        loop {
            let count = match incoming.read(&mut buffer) {
                Err(ModelErrorKind::Connection { .. }) => {
                    return Err(ModelErrorKind::CutShort { received: 0 });
                }
                read => read?,
            };
            if count == 0 {
                break;
            }
            body.extend_from_slice(buffer.get(..count).unwrap_or_default());
            // Escapes make six bytes of one.
            if body.len() > self.most_bytes.saturating_mul(6).saturating_add(STREAM_ROOM) {
                return Err(ModelErrorKind::TooLong { limit: self.most_bytes });
            }
        }
        let body = String::from_utf8_lossy(&body);
        let text = self.server.protocol.read_whole(&body, &mut self.progress);
        let text = text.map_err(|odd| trouble_of(odd, &body))?;
        let clean = self.clean.push(&text);
        self.say(&clean)
    }

    fn say(&mut self, piece: &str) -> Result<ControlFlow<()>, ModelErrorKind> {
        self.check_length(piece.len())?;
        if piece.is_empty() {
            return Ok(ControlFlow::Continue(()));
        }
        self.text.push_str(piece);
        Ok((self.hear)(AnswerEvent::Text(piece)))
    }
}

/// Bytes of an invalid answer kept for the message.
const GARBLED_BYTES: usize = 2048;

fn trouble_of(odd: EventError, text: &str) -> ModelErrorKind {
    match odd {
        EventError::Garbled(why) => ModelErrorKind::Garbled { why, excerpt: text.to_owned() },
        EventError::Reported { kind, says } => ModelErrorKind::Reported { kind, says },
    }
}
