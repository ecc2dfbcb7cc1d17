//! What events mean, one by one, in forms that real servers send.

use serde_json::{Value, json};

use crate::conversation::Conversation;
use crate::events::Event;
use crate::model::Stop;
use crate::protocol::{
    EventError, LimitName, Progress, Protocol, RequestContent, words_of_refusal,
};
use crate::tools::{Tool, ToolCall, ToolResult};

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

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_owned() }
}

/// The calls of a stream of events.
fn check_calls(protocol: Protocol, events: &[&str], expected: &[ToolCall]) {
    let mut progress = Progress::default();
    for data in events {
        let event = Event { kind: String::new(), data: (*data).to_owned() };
        protocol.read(&event, &mut progress).unwrap_or_else(|error| panic!("{data}: {error:?}"));
    }
    assert_eq!(progress.calls, expected, "{events:?}");
}

#[test]
fn calls_come_in_pieces() {
    let chat = |calls: &str| format!(r#"{{"choices":[{{"delta":{{"tool_calls":{calls}}}}}]}}"#);
    let pieces = [
        chat(
            r#"[{"index":0,"id":"a","type":"function","function":{"name":"look","arguments":""}}]"#,
        ),
        chat(r#"[{"index":0,"function":{"arguments":"{\"n\":"}}]"#),
        chat(r#"[{"index":1,"id":"b","function":{"name":"list","arguments":"{}"}}]"#),
        chat(r#"[{"index":0,"function":{"arguments":"3}"}}]"#),
        // An index far beyond the others is ignored.
        chat(r#"[{"index":9,"function":{"name":"no"}}]"#),
    ];
    let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
    let both = [call("a", "look", r#"{"n":3}"#), call("b", "list", "{}")];
    check_calls(Protocol::ChatCompletions, &pieces, &both);
    check_calls(
        Protocol::Messages,
        &[
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"look","input":{}}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"n\""}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":":3}"}}"#,
            r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"b","name":"list","input":{}}}"#,
        ],
        &[call("a", "look", r#"{"n":3}"#), call("b", "list", "")],
    );
}

#[test]
fn calls_of_an_answer_in_one_piece() {
    let check = |protocol: Protocol, body: Value| {
        let mut progress = Progress::default();
        protocol.read_whole(&body.to_string(), &mut progress).unwrap();
        assert_eq!(progress.calls, [call("a", "look", r#"{"n":3}"#)], "{body}");
    };
    let function = json!({ "name": "look", "arguments": "{\"n\":3}" });
    let calls = json!([{ "id": "a", "type": "function", "function": function }]);
    check(
        Protocol::ChatCompletions,
        json!({ "choices": [{ "message": { "content": null, "tool_calls": calls } }] }),
    );
    let block = json!({ "type": "tool_use", "id": "a", "name": "look", "input": { "n": 3 } });
    check(Protocol::Messages, json!({ "content": [block], "stop_reason": "tool_use" }));
}

#[test]
fn tools_calls_and_results_are_sent_in_the_form_of_the_protocol() {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    let tools = [Tool { name: "look", description: "Looks.", parameters: schema.clone() }];
    let result = ToolResult { id: "a".to_owned(), text: "seen".to_owned() };
    // Arguments that are no object would make the server reject the conversation.
    let calls = vec![call("a", "look", r#"{"n":3}"#), call("b", "look", "3")];
    let conversation = Conversation::new("s", "q").called("", calls, vec![result]);
    let body = |protocol: Protocol| {
        protocol.body(&RequestContent {
            model: "m",
            conversation: &conversation,
            tools: &tools,
            most_tokens: 10,
            temperature: None,
            limit_name: LimitName::default(),
        })
    };
    let chat = body(Protocol::ChatCompletions);
    assert_eq!(chat["tools"][0]["function"]["parameters"], schema);
    let turns = chat["messages"].as_array().unwrap();
    assert_eq!(turns[2]["tool_calls"][0]["function"]["arguments"], r#"{"n":3}"#);
    assert_eq!(turns[2]["tool_calls"][1]["function"]["arguments"], "{}");
    assert_eq!(turns[3], json!({ "role": "tool", "tool_call_id": "a", "content": "seen" }));
    let messages = body(Protocol::Messages);
    assert_eq!(messages["tools"][0]["input_schema"], schema);
    let turns = messages["messages"].as_array().unwrap();
    let used = json!({ "type": "tool_use", "id": "a", "name": "look", "input": { "n": 3 } });
    assert_eq!(turns[1]["content"][0], used);
    let kept = json!({ "type": "ephemeral" });
    let seen = json!({ "type": "tool_result", "tool_use_id": "a", "content": "seen", "cache_control": kept });
    assert_eq!(turns[2]["content"], json!([seen]));
    assert_eq!(turns[0]["content"], "q");
}
