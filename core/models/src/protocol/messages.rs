//! Messages: <https://docs.anthropic.com/en/docs/build-with-claude/streaming>.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{EventError, Progress, RequestContent, WrittenError, reported};
use crate::conversation::Turn;
use crate::events::Event;
use crate::model::Stop;
use crate::tools::{Tool, ToolCall};

pub(super) fn body(asked: &RequestContent<'_>) -> Value {
    let turns = asked.conversation.turns.iter();
    let turns = turns.map(|turn| json!({ "role": turn.speaker.role(), "content": content(turn) }));
    let mut turns: Vec<Value> = turns.collect();
    if !asked.tools.is_empty() {
        turns.last_mut().into_iter().for_each(cached);
    }
    let mut body = json!({
        "model": asked.model,
        "max_tokens": asked.most_tokens,
        "messages": turns,
        "stream": true,
    });
    if let Some(object) = body.as_object_mut() {
        let system = &asked.conversation.system;
        if !system.is_empty() {
            object.insert("system".to_owned(), system.as_str().into());
        }
        object.extend(asked.temperature.map(|value| ("temperature".to_owned(), value.into())));
        object.extend(asked.tools_field(offered));
    }
    body
}

fn offered(tool: &Tool) -> Value {
    let Tool { name, description, parameters } = tool;
    json!({ "name": name, "description": description, "input_schema": parameters })
}

/// Has the server keep the conversation up to this message: the results of tools follow it in the next request.
fn cached(message: &mut Value) {
    let Some(content) = message.get_mut("content") else { return };
    if let Some(text) = content.as_str() {
        *content = json!([{ "type": "text", "text": text }]);
    }
    let last = content.as_array_mut().and_then(|blocks| blocks.last_mut());
    if let Some(block) = last.and_then(Value::as_object_mut) {
        block.insert("cache_control".to_owned(), json!({ "type": "ephemeral" }));
    }
}

/// The content of a turn: its text, or blocks if it has calls or results.
fn content(turn: &Turn) -> Value {
    if turn.calls.is_empty() && turn.results.is_empty() {
        return turn.text.as_str().into();
    }
    // Empty blocks of text are rejected.
    let text = (!turn.text.is_empty()).then(|| json!({ "type": "text", "text": turn.text }));
    let calls = turn.calls.iter().map(|call| {
        json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": call.object() })
    });
    let results = turn.results.iter().map(
        |result| json!({ "type": "tool_result", "tool_use_id": result.id, "content": result.text }),
    );
    text.into_iter().chain(calls).chain(results).collect()
}

/// The relevant events; `ping` and future kinds are ignored.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum StreamEvent {
    MessageStart {
        message: Message,
    },
    ContentBlockStart {
        content_block: Block,
    },
    ContentBlockDelta {
        delta: Block,
    },
    MessageDelta {
        delta: End,
        usage: Option<WrittenUsage>,
    },
    MessageStop,
    Error {
        error: WrittenError,
    },
    #[serde(other)]
    Nothing,
}

#[derive(Deserialize)]
struct Message {
    model: Option<String>,
    usage: Option<WrittenUsage>,
    #[serde(default)]
    content: Vec<Block>,
    stop_reason: Option<String>,
}

/// A part of an answer: text, or something else, such as thoughts.
#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    /// In `thinking` and `thinking_delta`.
    thinking: Option<String>,
    /// In `input_json_delta`.
    partial_json: Option<String>,
    /// In `tool_use`.
    id: Option<String>,
    name: Option<String>,
    input: Option<Value>,
}

impl Block {
    fn into_text(self, progress: &mut Progress) -> String {
        let beside = [&self.thinking, &self.partial_json];
        progress.beside_bytes += beside.into_iter().flatten().map(String::len).sum::<usize>();
        match self.kind.as_str() {
            "tool_use" => progress.begin_call(self.id, self.name, self.input),
            // Blocks arrive one after the other: it belongs to the last call.
            "input_json_delta" => {
                if let Some(call) = progress.calls.last_mut() {
                    call.arguments.push_str(self.partial_json.as_deref().unwrap_or_default());
                }
            }
            _ => {}
        }
        let is_text = matches!(self.kind.as_str(), "text" | "text_delta");
        self.text.filter(|_| is_text).unwrap_or_default()
    }
}

#[derive(Deserialize)]
struct End {
    stop_reason: Option<String>,
}

#[derive(Deserialize)]
struct WrittenUsage {
    input_tokens: Option<Value>,
    output_tokens: Option<Value>,
    cache_creation_input_tokens: Option<Value>,
    cache_read_input_tokens: Option<Value>,
}

impl Progress {
    /// A stream begins a call with an empty object, and the arguments follow in pieces.
    fn begin_call(&mut self, id: Option<String>, name: Option<String>, input: Option<Value>) {
        let whole =
            input.filter(|input| input.as_object().is_some_and(|object| !object.is_empty()));
        let arguments = whole.map(|input| input.to_string()).unwrap_or_default();
        let [id, name] = [id, name].map(Option::unwrap_or_default);
        self.beside_bytes += id.len() + name.len() + arguments.len();
        if let Some(call) = self.call(self.calls.len()) {
            *call = ToolCall { id, name, arguments };
        }
    }

    fn take_usage(&mut self, usage: Option<WrittenUsage>) {
        let Some(usage) = usage else { return };
        let cached = [usage.cache_creation_input_tokens, usage.cache_read_input_tokens];
        let cached = cached.iter().filter_map(|count| reported(count.as_ref()));
        let cached = cached.fold(0, u64::saturating_add);
        let fresh = reported(usage.input_tokens.as_ref());
        self.input = fresh.map(|fresh| fresh.saturating_add(cached)).or(self.input);
        self.output = reported(usage.output_tokens.as_ref()).or(self.output);
    }

    fn take_stop(&mut self, reason: Option<String>) {
        let stop = reason.map(|reason| match reason.as_str() {
            "end_turn" | "stop_sequence" => Stop::Finished,
            "max_tokens" | "model_context_window_exceeded" => Stop::Length,
            "refusal" => Stop::Declined,
            _ => Stop::Other(reason),
        });
        self.stop = stop.or_else(|| self.stop.take());
    }
}

pub(super) fn read(event: &Event, progress: &mut Progress) -> Result<String, EventError> {
    match serde_json::from_str(&event.data)? {
        StreamEvent::MessageStart { message } => {
            progress.model = message.model;
            progress.take_usage(message.usage);
        }
        StreamEvent::ContentBlockStart { content_block: block }
        | StreamEvent::ContentBlockDelta { delta: block } => return Ok(block.into_text(progress)),
        StreamEvent::MessageDelta { delta, usage } => {
            progress.take_usage(usage);
            progress.take_stop(delta.stop_reason);
        }
        StreamEvent::MessageStop => {
            progress.is_over = true;
            progress.stop.get_or_insert(Stop::Finished);
        }
        StreamEvent::Error { error } => return Err(error.into()),
        StreamEvent::Nothing => {}
    }
    Ok(String::new())
}

#[derive(Deserialize)]
#[serde(untagged)]
enum CompleteAnswer {
    Error { error: WrittenError },
    Message(Message),
}

pub(super) fn read_whole(body: &str, progress: &mut Progress) -> Result<String, EventError> {
    match serde_json::from_str(body)? {
        CompleteAnswer::Error { error } => Err(error.into()),
        CompleteAnswer::Message(Message { content, .. }) if content.is_empty() => {
            Err(EventError::Garbled("it has no content".to_owned()))
        }
        CompleteAnswer::Message(message) => {
            progress.model = message.model;
            progress.take_usage(message.usage);
            progress.take_stop(message.stop_reason);
            progress.is_over = true;
            progress.stop.get_or_insert(Stop::Finished);
            Ok(message.content.into_iter().map(|block| block.into_text(progress)).collect())
        }
    }
}
