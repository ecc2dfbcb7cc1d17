//! What events mean, one by one, in forms that real servers send.

use crate::events::Event;
use crate::model::Stop;
use crate::protocol::{EventError, Progress, Protocol, words_of_refusal};

/// The text of an event, and what is known afterwards.
fn check(protocol: Protocol, data: &str, text: &str, stop: Option<&Stop>) {
    let mut progress = Progress::default();
    let event = Event { kind: String::new(), data: data.to_owned() };
    assert_eq!(protocol.read(&event, &mut progress).as_deref(), Ok(text), "{data}");
    assert_eq!(progress.stop.as_ref(), stop, "{data}");
}

#[test]
fn chat_events_mean() {
    let check = |data, text, stop| check(Protocol::ChatCompletions, data, text, stop);
    check("[DONE]", "", Some(&Stop::Finished));
    check(r#"{"choices":[{"delta":{"content":"a"}}]}"#, "a", None);
    check(r#"{"choices":[{"delta":{"role":"assistant","content":null}}]}"#, "", None);
    check(r#"{"choices":[{"delta":{"reasoning_content":"hm"},"index":0}]}"#, "", None);
    check(r#"{"choices":[{"delta":{},"finish_reason":"length"}]}"#, "", Some(&Stop::Length));
    check(
        r#"{"choices":[{"delta":{},"finish_reason":"content_filter"}]}"#,
        "",
        Some(&Stop::Declined),
    );
    let other = Stop::Other("tool_calls".to_owned());
    check(r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#, "", Some(&other));
    check(r#"{"choices":[],"prompt_filter_results":[]}"#, "", None);
}

#[test]
fn message_events_mean() {
    let check = |data, text, stop| check(Protocol::Messages, data, text, stop);
    check(r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}"#, "a", None);
    check(
        r#"{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"a"}}"#,
        "",
        None,
    );
    check(
        r#"{"type":"content_block_start","content_block":{"type":"text","text":"b"}}"#,
        "b",
        None,
    );
    check(r#"{"type":"ping"}"#, "", None);
    check(r#"{"type":"something_new","x":[1]}"#, "", None);
    check(r#"{"type":"message_stop"}"#, "", Some(&Stop::Finished));
    check(
        r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}"#,
        "",
        Some(&Stop::Length),
    );
    check(
        r#"{"type":"message_delta","delta":{"stop_reason":"refusal"}}"#,
        "",
        Some(&Stop::Declined),
    );
}

#[test]
fn what_was_cached_was_said_all_the_same() {
    let mut progress = Progress::default();
    let data = r#"{"type":"message_start","message":{"usage":{"input_tokens":2,
        "cache_read_input_tokens":100,"cache_creation_input_tokens":30,"output_tokens":1}}}"#;
    let event = Event { kind: String::new(), data: data.to_owned() };
    Protocol::Messages.read(&event, &mut progress).unwrap();
    assert_eq!((progress.input, progress.output), (Some(132), Some(1)));
}

#[test]
fn errors_inside_answers_are_errors() {
    let check = |protocol: Protocol, data: &str, expected: (&str, &str)| {
        let event = Event { kind: String::new(), data: data.to_owned() };
        let read = protocol.read(&event, &mut Progress::default());
        let (kind, says) = (expected.0.to_owned(), expected.1.to_owned());
        assert_eq!(read, Err(EventError::Reported { kind, says }), "{data}");
    };
    check(Protocol::ChatCompletions, r#"{"error":{"message":"m","type":"t"}}"#, ("t", "m"));
    check(Protocol::ChatCompletions, r#"{"error":"m"}"#, ("error", "m"));
    check(Protocol::Messages, r#"{"type":"error","error":{"type":"t","message":"m"}}"#, ("t", "m"));
}

#[test]
fn refusals_in_their_own_words() {
    let check = |body: &str, says: &str| assert_eq!(words_of_refusal(body), says, "{body}");
    check(r#"{"error":{"message":"no such model","type":"x"}}"#, "no such model");
    check(r#"{"error":"model not found"}"#, "model not found");
    check("Bad Gateway", "Bad Gateway");
    check("", "");
}
