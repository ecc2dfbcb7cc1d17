//! Chat completions: <https://platform.openai.com/docs/api-reference/chat/streaming>.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Asked, Odd, Progress, WrittenError};
use crate::events::Event;
use crate::model::Stop;
use crate::settings::LimitName;

pub(super) fn body(asked: &Asked<'_>) -> Value {
    let system = &asked.conversation.system;
    let system = (!system.is_empty()).then(|| json!({ "role": "system", "content": system }));
    let turns = asked.conversation.turns.iter();
    let turns = turns.map(|turn| json!({ "role": turn.speaker.role(), "content": turn.text }));
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
    }
    body
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
    /// A piece, while it streams.
    delta: Option<Said>,
    /// The whole, otherwise.
    message: Option<Said>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Said {
    content: Option<String>,
}

#[derive(Deserialize)]
struct WrittenUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
}

pub(super) fn read(event: &Event, progress: &mut Progress) -> Result<String, Odd> {
    if event.data.trim() == "[DONE]" {
        progress.is_over = true;
        progress.stop.get_or_insert(Stop::Finished);
        return Ok(String::new());
    }
    take(serde_json::from_str(&event.data)?, progress)
}

pub(super) fn read_whole(body: &str, progress: &mut Progress) -> Result<String, Odd> {
    let chunk: Chunk = serde_json::from_str(body)?;
    if chunk.choices.is_empty() && chunk.error.is_none() {
        return Err(Odd::Garbled("there are no choices in it".to_owned()));
    }
    let text = take(chunk, progress)?;
    progress.is_over = true;
    progress.stop.get_or_insert(Stop::Finished);
    Ok(text)
}

fn take(chunk: Chunk, progress: &mut Progress) -> Result<String, Odd> {
    if let Some(error) = chunk.error {
        return Err(error.into());
    }
    if let Some(usage) = chunk.usage {
        progress.input = usage.prompt_tokens.or(progress.input);
        progress.output = usage.completion_tokens.or(progress.output);
    }
    progress.model = chunk.model.or_else(|| progress.model.take());
    let Some(choice) = chunk.choices.into_iter().next() else { return Ok(String::new()) };
    if let Some(reason) = choice.finish_reason {
        progress.stop = Some(match reason.as_str() {
            "stop" => Stop::Finished,
            "length" => Stop::Length,
            "content_filter" => Stop::Declined,
            _ => Stop::Other(reason),
        });
    }
    let said = choice.delta.or(choice.message);
    Ok(said.and_then(|said| said.content).unwrap_or_default())
}
