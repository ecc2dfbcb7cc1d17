//! Chat completions: <https://platform.openai.com/docs/api-reference/chat/streaming>.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{EventError, LimitName, Progress, RequestContent, WrittenError, reported};
use crate::conversation::Turn;
use crate::events::Event;
use crate::model::Stop;
use crate::tools::Tool;

pub(super) fn body(asked: &RequestContent<'_>) -> Value {
    let system = &asked.conversation.system;
    let system = (!system.is_empty()).then(|| json!({ "role": "system", "content": system }));
    let turns = asked.conversation.turns.iter().flat_map(messages);
    let messages: Vec<Value> = system.into_iter().chain(turns).collect();
    let mut body = json!({
        "model": asked.model,
        "messages": messages,
        "stream": true,
        "stream_options": { "include_usage": true },
    });
    let limit = match asked.limit_name {
        LimitName::MaxTokens => "max_tokens",
        LimitName::MaxCompletionTokens => "max_completion_tokens",
    };
    if let Some(object) = body.as_object_mut() {
        object.insert(limit.to_owned(), asked.most_tokens.into());
        object.extend(asked.temperature.map(|value| ("temperature".to_owned(), value.into())));
        object.extend(asked.tools_field(offered));
    }
    body
}

fn offered(tool: &Tool) -> Value {
    let Tool { name, description, parameters } = tool;
    let function = json!({ "name": name, "description": description, "parameters": parameters });
    json!({ "type": "function", "function": function })
}

/// A turn: one message, or one for each result.
fn messages(turn: &Turn) -> Vec<Value> {
    if !turn.results.is_empty() {
        let each = turn.results.iter().map(
            |result| json!({ "role": "tool", "tool_call_id": result.id, "content": result.text }),
        );
        return each.collect();
    }
    let mut message = json!({ "role": turn.speaker.role(), "content": turn.text });
    let calls: Vec<Value> = turn
        .calls
        .iter()
        .map(|call| {
            let function = json!({ "name": call.name, "arguments": call.object().to_string() });
            json!({ "id": call.id, "type": "function", "function": function })
        })
        .collect();
    if let (Some(object), false) = (message.as_object_mut(), calls.is_empty()) {
        object.insert("tool_calls".to_owned(), calls.into());
    }
    vec![message]
}

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<WrittenUsage>,
    model: Option<String>,
    error: Option<WrittenError>,
}

#[derive(Deserialize)]
struct Choice {
    /// Index among several answers; one is requested.
    #[serde(default)]
    index: u64,
    /// A piece, while it streams.
    delta: Option<Said>,
    /// The whole, otherwise.
    message: Option<Said>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Said {
    content: Option<String>,
    /// Why the model declines.
    refusal: Option<String>,
    /// Reasoning, in the field of DeepSeek and vLLM.
    reasoning_content: Option<Value>,
    /// Reasoning, in the field of OpenRouter, Ollama and newer vLLM.
    reasoning: Option<Value>,
    tool_calls: Option<Vec<WrittenCall>>,
}

/// A call, or in a stream the next piece of it.
#[derive(Deserialize)]
struct WrittenCall {
    index: Option<usize>,
    id: Option<String>,
    #[serde(default)]
    function: WrittenFunction,
}

#[derive(Default, Deserialize)]
struct WrittenFunction {
    name: Option<String>,
    arguments: Option<String>,
}

#[derive(Deserialize)]
struct WrittenUsage {
    prompt_tokens: Option<Value>,
    completion_tokens: Option<Value>,
}

pub(super) fn read(event: &Event, progress: &mut Progress) -> Result<String, EventError> {
    if event.data.trim() == "[DONE]" {
        progress.is_over = true;
        progress.stop.get_or_insert(Stop::Finished);
        return Ok(String::new());
    }
    take(serde_json::from_str(&event.data)?, progress)
}

pub(super) fn read_whole(body: &str, progress: &mut Progress) -> Result<String, EventError> {
    let chunk: Chunk = serde_json::from_str(body)?;
    if chunk.choices.is_empty() && chunk.error.is_none() {
        return Err(EventError::Garbled("it contains no choices".to_owned()));
    }
    let text = take(chunk, progress)?;
    progress.is_over = true;
    progress.stop.get_or_insert(Stop::Finished);
    Ok(text)
}

fn take(chunk: Chunk, progress: &mut Progress) -> Result<String, EventError> {
    if let Some(error) = chunk.error {
        return Err(error.into());
    }
    if let Some(usage) = chunk.usage {
        progress.input = reported(usage.prompt_tokens.as_ref()).or(progress.input);
        progress.output = reported(usage.completion_tokens.as_ref()).or(progress.output);
    }
    progress.model = chunk.model.or_else(|| progress.model.take());
    let first = chunk.choices.into_iter().find(|choice| choice.index == 0);
    let Some(choice) = first else { return Ok(String::new()) };
    if let Some(reason) = choice.finish_reason {
        progress.stop = Some(match reason.as_str() {
            "stop" => Stop::Finished,
            "length" => Stop::Length,
            "content_filter" => Stop::Declined,
            _ => Stop::Other(reason),
        });
    }
    let Some(said) = choice.delta.or(choice.message) else { return Ok(String::new()) };
    for beside in [&said.reasoning_content, &said.reasoning] {
        progress.beside_bytes += beside.as_ref().map_or(0, length);
    }
    for (place, written) in said.tool_calls.into_iter().flatten().enumerate() {
        let WrittenFunction { name, arguments } = written.function;
        let [id, name, arguments] = [written.id, name, arguments].map(Option::unwrap_or_default);
        progress.beside_bytes += id.len() + name.len() + arguments.len();
        // Servers that send a call in one piece may leave out its index.
        if let Some(call) = progress.call(written.index.unwrap_or(place)) {
            // Some servers repeat identifier and name in each piece.
            if call.id.is_empty() {
                call.id = id;
            }
            if call.name.is_empty() {
                call.name = name;
            }
            call.arguments.push_str(&arguments);
        }
    }
    let refusal = said.refusal.unwrap_or_default();
    progress.beside_bytes += refusal.len();
    progress.refusal.push_str(&refusal);
    Ok(said.content.unwrap_or_default())
}

/// Bytes of text in a reasoning field.
fn length(said: &Value) -> usize {
    match said {
        Value::Null => 0,
        Value::String(text) => text.len(),
        Value::Array(parts) if parts.is_empty() => 0,
        Value::Array(_) | Value::Object(_) | Value::Bool(_) | Value::Number(_) => {
            said.to_string().len()
        }
    }
}
