//! A real server on the loopback address that plays a script: one answer for each connection.

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle, sleep};
use std::time::Duration;

use serde_json::{Value, json};

use crate::Protocol;

/// What the server does with one connection.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) steps: Vec<Step>,
    pub(super) framing: Framing,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Send(Vec<u8>),
    Wait(Duration),
    /// Says nothing more, until the client goes away.
    Hang,
    /// Sends this again and again until the client goes away, 1 GiB at most.
    Endless(Vec<u8>),
    /// Sends this byte by byte with this pause between them.
    Trickle(Vec<u8>, Duration),
    /// Closes without ending the body.
    Break,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    Chunked,
    UntilClosed,
    /// Not even a head.
    Nothing,
}

/// What a client sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Received {
    pub(super) line: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Value,
}

impl Received {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let header = self.headers.iter().find(|(known, _)| known == name);
        header.map(|(_, value)| value.as_str())
    }
}

pub(super) struct TestServer {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    ending: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl TestServer {
    pub(super) fn start(script: Vec<Answer>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let (received, ending) = (Arc::default(), Arc::new(AtomicBool::new(false)));
        let (log, over) = (Arc::clone(&received), Arc::clone(&ending));
        let play = move || {
            let mut script = script.into_iter();
            for connection in listener.incoming() {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                // A client that goes away in the middle is part of many scripts.
                let _gone = serve(&connection.unwrap(), script.next(), &log);
            }
        };
        let thread = Builder::new().name("test-server".to_owned()).spawn(play).unwrap();
        Self { address, received, ending, thread: Some(thread) }
    }

    pub(super) fn endpoint(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub(super) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.ending.store(true, Ordering::Relaxed);
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

fn serve(
    mut stream: &TcpStream,
    answer: Option<Answer>,
    log: &Mutex<Vec<Received>>,
) -> std::io::Result<()> {
    let received = match receive(stream) {
        // The beginning of an encrypted connection.
        Err(error) if error.kind() == ErrorKind::InvalidData => Received::default(),
        received => received?,
    };
    let is_tunnel = received.line.starts_with("CONNECT ");
    log.lock().unwrap().push(received);
    if is_tunnel {
        stream.write_all(b"HTTP/1.1 200 Connected\r\n\r\n")?;
        return serve(stream, answer, log);
    }
    let Some(answer) = answer else { return Ok(()) };
    let is_chunked = answer.framing == Framing::Chunked;
    if answer.framing != Framing::Nothing {
        let mut head = format!("HTTP/1.1 {} As scripted\r\n", answer.status);
        for (name, value) in &answer.headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += if is_chunked {
            "transfer-encoding: chunked\r\n\r\n"
        } else {
            "connection: close\r\n\r\n"
        };
        stream.write_all(head.as_bytes())?;
    }
    for step in answer.steps {
        match step {
            Step::Send(bytes) if is_chunked => {
                stream.write_all(format!("{:x}\r\n", bytes.len()).as_bytes())?;
                stream.write_all(&bytes)?;
                stream.write_all(b"\r\n")?;
            }
            Step::Send(bytes) => stream.write_all(&bytes)?,
            Step::Wait(duration) => sleep(duration),
            Step::Hang => return stream.read(&mut [0]).map(drop),
            Step::Endless(bytes) => {
                for _ in 0..(1 << 30) / bytes.len() {
                    stream.write_all(&bytes)?;
                }
            }
            Step::Trickle(bytes, pause) => {
                for byte in bytes {
                    stream.write_all(&[byte])?;
                    sleep(pause);
                }
            }
            Step::Break => return Ok(()),
        }
    }
    if is_chunked { stream.write_all(b"0\r\n\r\n") } else { Ok(()) }
}

fn receive(stream: &TcpStream) -> std::io::Result<Received> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Ok(Received { line: line.trim().to_owned(), headers, body })
}

impl Answer {
    /// These bytes as they are, and then this.
    pub(super) fn raw(bytes: impl Into<Vec<u8>>, then: Step) -> Self {
        let steps = vec![Step::Send(bytes.into()), then];
        Self { status: 200, headers: Vec::new(), steps, framing: Framing::Nothing }
    }

    /// A status with a JSON body.
    pub(super) fn refusal(status: u16, body: &Value) -> Self {
        let steps = vec![Step::Send(body.to_string().into_bytes())];
        let headers = vec![("content-type", "application/json".to_owned())];
        Self { status, headers, steps, framing: Framing::UntilClosed }
    }

    pub(super) fn with(mut self, header: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((header, value.into()));
        self
    }

    /// A stream of these bytes, a chunk each.
    pub(super) fn stream(pieces: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let headers = vec![("content-type", "text/event-stream; charset=utf-8".to_owned())];
        let steps = pieces.into_iter().map(Step::Send).collect();
        Self { status: 200, headers, steps, framing: Framing::Chunked }
    }

    /// A whole answer in a protocol's events, one chunk for each event.
    pub(super) fn streaming(protocol: Protocol, pieces: &[&str]) -> Self {
        Self::stream(events(protocol, pieces).into_iter().map(String::into_bytes))
    }

    /// The same, cut into chunks of so many bytes wherever that cuts.
    pub(super) fn cut(protocol: Protocol, pieces: &[&str], bytes: usize) -> Self {
        let all = events(protocol, pieces).concat().into_bytes();
        Self::stream(all.chunks(bytes).map(<[u8]>::to_vec))
    }

    /// The events until the last piece of text, and then this.
    pub(super) fn unfinished(protocol: Protocol, pieces: &[&str], then: Step) -> Self {
        let before = match protocol {
            Protocol::ChatCompletions => 1,
            Protocol::Messages => 3,
        };
        Self::first(protocol, pieces, before + pieces.len(), then)
    }

    /// The first events only, and then this.
    pub(super) fn first(protocol: Protocol, pieces: &[&str], count: usize, then: Step) -> Self {
        let some = events(protocol, pieces).into_iter().take(count).map(String::into_bytes);
        let mut answer = Self::stream(some);
        answer.steps.push(then);
        answer
    }
}

/// The events of a whole answer, as real servers send them.
pub(super) fn events(protocol: Protocol, pieces: &[&str]) -> Vec<String> {
    match protocol {
        Protocol::ChatCompletions => chat_events(pieces),
        Protocol::Messages => message_events(pieces),
    }
}

fn chat_events(pieces: &[&str]) -> Vec<String> {
    let chunk = |delta: Value, reason: Value| {
        json!({ "id": "c1", "object": "chat.completion.chunk", "model": "tiny-1", "usage": null,
            "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }] })
    };
    let mut all = vec![chunk(json!({ "role": "assistant", "content": "" }), Value::Null)];
    all.extend(pieces.iter().map(|piece| chunk(json!({ "content": piece }), Value::Null)));
    all.push(chunk(json!({}), json!("stop")));
    all.push(json!({ "id": "c1", "model": "tiny-1", "choices": [],
        "usage": { "prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16 } }));
    let mut events: Vec<String> = all.iter().map(|value| format!("data: {value}\n\n")).collect();
    events.push("data: [DONE]\n\n".to_owned());
    events
}

fn message_events(pieces: &[&str]) -> Vec<String> {
    let text = |piece: &&str| {
        json!({ "type": "content_block_delta", "index": 0,
            "delta": { "type": "text_delta", "text": piece } })
    };
    let mut all = vec![
        json!({ "type": "message_start", "message": { "id": "m1", "type": "message",
            "role": "assistant", "model": "tiny-1", "content": [], "stop_reason": null,
            "usage": { "input_tokens": 11, "output_tokens": 1 } } }),
        json!({ "type": "content_block_start", "index": 0,
            "content_block": { "type": "text", "text": "" } }),
        json!({ "type": "ping" }),
    ];
    all.extend(pieces.iter().map(text));
    all.push(json!({ "type": "content_block_stop", "index": 0 }));
    all.push(json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn",
        "stop_sequence": null }, "usage": { "output_tokens": 5 } }));
    all.push(json!({ "type": "message_stop" }));
    let written = |value: &Value| {
        format!("event: {}\r\ndata: {value}\r\n\r\n", value["type"].as_str().unwrap_or_default())
    };
    all.iter().map(written).collect()
}
