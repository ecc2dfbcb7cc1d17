//! Questions and answers over real connections: what is sent, what is heard, what goes wrong.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use serde_json::json;

use super::server::{Answer, Framing, Received, Step, TestServer, events};
use super::{
    KEY, PROMPT, ask, ask_until, model_at, question, server_settings, stop_after, variables,
};
use crate::{
    Count, Ledger, Limits, ModelErrorKind, ModelRegistry, ModelSettings, NoKeyring, Protocol,
    Request, Stop, StopSignal, Tool, WaitPhase,
};

const BOTH: [(Protocol, &str); 2] = [
    (Protocol::ChatCompletions, "protocol: chat_completions"),
    (Protocol::Messages, "protocol: messages"),
];

/// Plays a script to a model; gives what the model says and what the server heard.
fn play(script: Vec<Answer>, settings: &str) -> (super::Asked, Vec<Received>) {
    let server = TestServer::start(script);
    let mut model = model_at(&server.endpoint(), settings);
    let asked = ask(model.as_mut(), &StopSignal::never());
    assert!(!format!("{asked:?}").contains(KEY), "the key shows: {asked:?}");
    (asked, server.received())
}

/// The answer must be this text, after so many attempts that failed.
fn check_text(script: Vec<Answer>, settings: &str, text: &str, failed: usize) {
    let (asked, received) = play(script, settings);
    let reply = asked.result.unwrap_or_else(|error| panic!("{settings}: {error:?}"));
    assert_eq!(reply.text, text, "{settings}");
    assert_eq!(asked.pieces.concat(), text, "{settings}");
    assert_eq!(reply.attempts.len(), failed, "{settings}: {:?}", asked.troubles);
    assert_eq!(received.len(), failed + 1, "{settings}");
}

/// It must fail in this way, with one attempt.
fn check_trouble(answer: Answer, settings: &str, is_it: fn(&ModelErrorKind) -> bool) {
    let (asked, received) = play(vec![answer], &format!("attempts: 1, {settings}"));
    let error = asked.result.expect_err(settings);
    assert!(is_it(&error.trouble), "{settings}: {error:?}");
    assert_eq!(received.len(), 1, "{settings}");
}

#[test]
fn both_protocols_stream() {
    for (protocol, settings) in BOTH {
        let (asked, received) =
            play(vec![Answer::streaming(protocol, &["Hel", "lo ", "wörld"])], settings);
        let reply = asked.result.unwrap();
        assert_eq!(asked.pieces, ["Hel", "lo ", "wörld"]);
        assert_eq!((reply.text.as_str(), &reply.stop), ("Hello wörld", &Stop::Finished));
        assert_eq!(reply.usage.input, Count::Reported(11));
        assert_eq!(reply.usage.output, Count::Reported(5));
        assert_eq!(reply.model.as_deref(), Some("tiny-1"));
        let [sent] = received.as_slice() else { panic!("{received:?}") };
        assert_eq!(sent.body["model"], "tiny");
        assert_eq!(sent.body["stream"], true);
        assert_eq!(sent.body["max_tokens"], 16_384);
    }
}

#[test]
fn each_protocol_has_its_own_head() {
    let (_, received) = play(vec![Answer::streaming(Protocol::ChatCompletions, &["x"])], BOTH[0].1);
    assert_eq!(received[0].line, "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(received[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(received[0].body["messages"][0]["role"], "system");
    assert_eq!(received[0].body["messages"][1]["content"], "Make it faster.");

    let (_, received) = play(vec![Answer::streaming(Protocol::Messages, &["x"])], BOTH[1].1);
    assert_eq!(received[0].line, "POST /v1/messages HTTP/1.1");
    assert_eq!(received[0].header("x-api-key"), Some(KEY));
    assert_eq!(received[0].header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(received[0].body["system"], "You write kernels.");
    assert_eq!(received[0].body["messages"][0]["role"], "user");
}

#[test]
fn chunks_may_end_anywhere() {
    for (protocol, settings) in BOTH {
        for bytes in [1, 2, 3, 7, 64, 1000] {
            let answer = Answer::cut(protocol, &["Grüße ", "🚀", " ∑\n"], bytes);
            check_text(vec![answer], settings, "Grüße 🚀 ∑\n", 0);
        }
    }
}

#[test]
fn servers_that_do_not_stream_are_understood() {
    let chat = json!({ "choices": [{ "message": { "content": "whole" }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 3, "completion_tokens": 1 } });
    check_text(vec![Answer::refusal(200, &chat)], BOTH[0].1, "whole", 0);
    let message = json!({ "content": [{ "type": "thinking", "thinking": "hm" },
        { "type": "text", "text": "whole" }], "stop_reason": "end_turn" });
    check_text(vec![Answer::refusal(200, &message)], BOTH[1].1, "whole", 0);
}

#[test]
fn calls_are_a_reply_if_tools_were_offered() {
    let call = json!({ "id": "1", "type": "function",
        "function": { "name": "look", "arguments": format!("{{\"key\":\"{KEY}\"}}") } });
    let answer = || {
        let message = json!({ "content": null, "tool_calls": [call] });
        let choice = json!({ "index": 0, "message": message, "finish_reason": "tool_calls" });
        Answer::refusal(200, &json!({ "choices": [choice] }))
    };
    let tools = [Tool { name: "look", description: "Looks.", parameters: json!({}) }];
    let check = |settings: &str, offered: &[Tool], calls: Option<usize>, sent: bool| {
        let server = TestServer::start(vec![answer()]);
        let mut model = model_at(&server.endpoint(), settings);
        let (conversation, stop) = (question(), StopSignal::never());
        let limits = Limits::default();
        let request = Request { conversation: &conversation, tools: offered, limits, stop: &stop };
        let reply = model.ask(&request, &mut |_| ControlFlow::Continue(()));
        assert_eq!(reply.as_ref().ok().map(|reply| reply.calls.len()), calls, "{reply:?}");
        // A secret that comes back is taken out of arguments, too.
        assert!(!format!("{reply:?}").contains(KEY));
        assert_eq!(server.received()[0].body["tools"].is_array(), sent);
    };
    check("", &tools, Some(1), true);
    check("", &[], None, false);
    check("tools: false", &tools, None, false);
}

#[test]
fn what_passes_is_tried_again() {
    let busy = || Answer::refusal(429, &json!({ "error": { "message": "slow down" } }));
    let broken = || Answer::refusal(500, &json!({ "error": "oops" }));
    for (protocol, settings) in BOTH {
        let good = || Answer::streaming(protocol, &["good"]);
        check_text(vec![busy().with("retry-after", "0"), good()], settings, "good", 1);
        check_text(vec![busy().with("retry-after-ms", "20"), good()], settings, "good", 1);
        let past = "Sun, 06 Nov 1994 08:49:37 GMT";
        check_text(vec![busy().with("retry-after", past), good()], settings, "good", 1);
        check_text(vec![broken(), good()], settings, "good", 1);
        let truncated = Answer::unfinished(protocol, &["half"], Step::Break);
        check_text(vec![truncated, good()], settings, "good", 1);
        let overloaded = json!({ "type": "error",
            "error": { "type": "overloaded_error", "message": "Overloaded" } });
        let event = format!("event: error\ndata: {overloaded}\n\n").into_bytes();
        check_text(vec![Answer::stream([event]), good()], settings, "good", 1);
        check_text(
            vec![
                Answer { framing: Framing::Nothing, steps: vec![Step::Break], ..broken() },
                good(),
            ],
            settings,
            "good",
            1,
        );
    }
}

#[test]
fn a_server_that_asks_for_much_patience_is_not_asked_again() {
    let busy = Answer::refusal(429, &json!({ "error": { "message": "come back tomorrow" } }));
    let (asked, received) = play(vec![busy.with("retry-after", "86400")], "attempts: 4");
    let trouble = asked.result.unwrap_err().trouble;
    assert_eq!(trouble.retry_after(), Some(Duration::from_secs(86_400)));
    assert!(trouble.to_string().contains("come back tomorrow"), "{trouble}");
    assert_eq!(received.len(), 1);
}

#[test]
fn what_does_not_pass_is_not_tried_again() {
    for status in [400, 401, 403, 404, 413, 422] {
        let answer = Answer::refusal(status, &json!({ "error": { "message": "no", "type": "t" } }));
        let (asked, received) = play(vec![answer], "attempts: 4");
        let expected = ModelErrorKind::Status { status, says: "no".to_owned() };
        assert_eq!(asked.result.unwrap_err().trouble, expected);
        assert_eq!(received.len(), 1);
    }
}

#[test]
fn answers_that_are_none() {
    for (protocol, settings) in BOTH {
        let truncated = Answer::unfinished(protocol, &["half"], Step::Break);
        check_trouble(truncated, settings, |trouble| {
            matches!(trouble, ModelErrorKind::CutShort { received: 4 })
        });
        let ended = Answer::unfinished(protocol, &["half"], Step::Wait(Duration::ZERO));
        check_trouble(ended, settings, |trouble| {
            matches!(trouble, ModelErrorKind::CutShort { .. })
        });
        let json = Answer::stream([b"data: {\"choices\": [}\n\n".to_vec()]);
        check_trouble(json, settings, |trouble| matches!(trouble, ModelErrorKind::Garbled { .. }));
        let page = Answer::stream([b"<html><p>Welcome to our portal</html>".to_vec()]);
        check_trouble(
            page,
            settings,
            |trouble| matches!(trouble, ModelErrorKind::Garbled { excerpt, .. } if excerpt.contains("portal")),
        );
        let other = Answer::refusal(200, &json!({ "hello": 1 }));
        check_trouble(other, settings, |trouble| matches!(trouble, ModelErrorKind::Garbled { .. }));
        let bytes = Answer::stream([b"data: \xff\xfe\n\n".to_vec()]);
        check_trouble(bytes, settings, |trouble| matches!(trouble, ModelErrorKind::Garbled { .. }));
    }
}

#[test]
fn answers_without_end_are_left() {
    let piece = "x".repeat(1 << 20);
    let pieces = [piece.as_str(); 5];
    for (protocol, settings) in BOTH {
        let answer = Answer::streaming(protocol, &pieces);
        check_trouble(answer, settings, |trouble| {
            matches!(trouble, ModelErrorKind::TooLong { .. })
        });
    }
    let line = Answer::stream(std::iter::repeat_n(vec![b'x'; 1 << 20], 5));
    check_trouble(
        line,
        "",
        |trouble| matches!(trouble, ModelErrorKind::Garbled { why, .. } if why.contains("bytes")),
    );
}

#[test]
fn a_redirect_is_not_followed() {
    let elsewhere =
        TestServer::start(vec![Answer::streaming(Protocol::ChatCompletions, &["stolen"])]);
    for status in [301, 302, 307, 308] {
        let to = format!("{}/chat/completions", elsewhere.endpoint());
        let answer = Answer::refusal(status, &json!({})).with("location", to);
        check_trouble(answer, "", |trouble| matches!(trouble, ModelErrorKind::Redirected { .. }));
    }
    assert_eq!(elsewhere.received().len(), 0, "the key went elsewhere");
}

#[test]
fn a_key_that_comes_back_is_taken_out() {
    let said = format!("your key is {KEY}, keep it");
    let clean = "your key is [redacted], keep it";
    for (protocol, settings) in BOTH {
        check_text(vec![Answer::streaming(protocol, &[&said])], settings, clean, 0);
        let letters: Vec<String> = said.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        check_text(vec![Answer::streaming(protocol, &letters)], settings, clean, 0);
        for status in [401, 429, 500] {
            let answer = Answer::refusal(status, &json!({ "error": { "message": said } }));
            check_trouble(answer, settings, |trouble| trouble.to_string().contains("[redacted]"));
        }
        let reported = json!({ "type": "error", "error": { "type": KEY, "message": said } });
        let answer = Answer::stream([format!("data: {reported}\n\n").into_bytes()]);
        check_trouble(answer, settings, |trouble| trouble.to_string().contains("[redacted]"));
        let garbled = Answer::stream([format!("data: \"{said}\"\n\n").into_bytes()]);
        check_trouble(garbled, settings, |trouble| trouble.to_string().contains("[redacted]"));
        let long = format!("{}{KEY}", "x".repeat(290));
        let answer = Answer::refusal(400, &json!({ "error": { "message": long } }));
        check_trouble(answer, settings, |trouble| !trouble.to_string().contains("sk-"));
        let answer =
            Answer::refusal(302, &json!({})).with("location", format!("https://x/?key={KEY}"));
        check_trouble(answer, settings, |trouble| trouble.to_string().contains("[redacted]"));
    }
}

#[test]
fn silence_has_an_end() {
    let check = |answer: Answer, limit: &str, expected: WaitPhase| {
        let settings = format!("attempts: 1, time: ({limit}: 0.15)");
        let began = Instant::now();
        let (asked, _) = play(vec![answer], &settings);
        let trouble = asked.result.unwrap_err().trouble;
        let ModelErrorKind::TimedOut { waited_for, .. } = trouble else {
            panic!("{limit}: {trouble:?}")
        };
        assert_eq!(waited_for, expected, "{limit}");
        assert!(began.elapsed() < PROMPT, "{limit}: {:?}", began.elapsed());
    };
    let silent = Answer { framing: Framing::Nothing, ..Answer::stream([]) };
    check(Answer { steps: vec![Step::Hang], ..silent }, "beginning_secs", WaitPhase::Beginning);
    for (protocol, _) in BOTH {
        let hanging = Answer::unfinished(protocol, &["a"], Step::Hang);
        check(hanging, "piece_secs", WaitPhase::NextPiece);
    }
    let mut slow = Answer::stream([]);
    slow.steps = (0..200)
        .flat_map(|_| [Step::Send(b":\n".to_vec()), Step::Wait(Duration::from_millis(10))])
        .collect();
    check(slow, "whole_secs", WaitPhase::Whole);
}

#[test]
fn slow_answers_are_heard_to_their_end() {
    let mut answer = Answer::streaming(Protocol::ChatCompletions, &["slow", " but", " steady"]);
    answer.steps = answer
        .steps
        .into_iter()
        .flat_map(|step| [step, Step::Wait(Duration::from_millis(60))])
        .collect();
    check_text(vec![answer], "attempts: 1, time: (piece_secs: 5)", "slow but steady", 0);
}

#[test]
fn a_cancelled_question_ends_at_once() {
    let check = |answer: Answer| {
        let server = TestServer::start(vec![answer]);
        let mut model = model_at(&server.endpoint(), "");
        let began = Instant::now();
        let asked = ask(model.as_mut(), &stop_after(Duration::from_millis(80)));
        let took = began.elapsed();
        assert_eq!(asked.result.unwrap_err().trouble, ModelErrorKind::Cancelled);
        assert!(took < PROMPT, "{took:?}");
    };
    let silent = Answer { framing: Framing::Nothing, ..Answer::stream([]) };
    check(Answer { steps: vec![Step::Hang], ..silent });
    check(Answer::unfinished(Protocol::ChatCompletions, &["a"], Step::Hang));
    check(Answer::refusal(429, &json!({ "error": "wait" })).with("retry-after", "30"));
    let mut refusing = Answer::refusal(400, &json!({}));
    refusing.steps.push(Step::Hang);
    check(refusing);
}

#[test]
fn a_listener_that_has_heard_enough_ends_it() {
    for (protocol, settings) in BOTH {
        let answer = Answer::first(protocol, &["one", "two", "three"], 5, Step::Hang);
        let server = TestServer::start(vec![answer]);
        let mut model = model_at(&server.endpoint(), settings);
        let reply = ask_until(model.as_mut(), &StopSignal::never(), 2).result.unwrap();
        assert_eq!((reply.text.as_str(), &reply.stop), ("onetwo", &Stop::Listener));
        assert_eq!(
            reply.usage.output,
            Count::Estimated(2),
            "what was heard, not what was reported at first"
        );
    }
}

#[test]
fn a_server_lists_its_models() {
    let list = json!({ "object": "list", "data": [{ "id": "small-coder", "object": "model" },
        { "id": "large-coder" }], "has_more": false });
    for (protocol, header) in [("chat_completions", "authorization"), ("messages", "x-api-key")] {
        let server = TestServer::start(vec![Answer::refusal(200, &list)]);
        let settings = server_settings(&server.endpoint(), &format!("protocol: {protocol}"));
        let (roster, access) = super::roster_of(settings);
        let served = roster.served("m", &access, &StopSignal::never()).unwrap();
        assert_eq!(served, ["small-coder", "large-coder"]);
        let [received] = server.received().try_into().unwrap();
        assert_eq!(received.line, "GET /v1/models HTTP/1.1");
        assert!(received.header(header).is_some());
    }
    let server = TestServer::start(vec![Answer::refusal(401, &json!({ "error": KEY }))]);
    let (roster, access) = super::roster_of(server_settings(&server.endpoint(), ""));
    let error = roster.served("m", &access, &StopSignal::never()).unwrap_err().to_string();
    assert!(error.contains("401") && error.contains("[redacted]"), "{error}");
}

#[test]
fn nobody_there() {
    let address = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let mut model = model_at(&format!("http://{address}/v1"), "attempts: 1");
    let error = ask(model.as_mut(), &StopSignal::never()).result.unwrap_err();
    assert!(matches!(error.trouble, ModelErrorKind::Connection { .. }), "{error:?}");
}

#[test]
fn names_are_looked_up() {
    let server = TestServer::start(vec![Answer::streaming(Protocol::ChatCompletions, &["here"])]);
    let endpoint = server.endpoint().replace("127.0.0.1", "localhost");
    let mut model = model_at(&endpoint, "attempts: 1");
    assert_eq!(ask(model.as_mut(), &StopSignal::never()).result.unwrap().text, "here");
}

#[test]
fn encryption_is_not_waited_for_without_end() {
    let silent = Answer { framing: Framing::Nothing, ..Answer::stream([]) };
    let silent = Answer { steps: vec![Step::Hang], ..silent };
    let check = |settings: &str, stop: &StopSignal, is_it: fn(&ModelErrorKind) -> bool| {
        let server = TestServer::start(vec![silent.clone()]);
        let endpoint = server.endpoint().replace("http:", "https:");
        let mut model = model_at(&endpoint, settings);
        let began = Instant::now();
        let trouble = ask(model.as_mut(), stop).result.unwrap_err().trouble;
        // A machine without any certificates does not get as far as waiting.
        assert!(
            is_it(&trouble) || matches!(trouble, ModelErrorKind::Connection { .. }),
            "{trouble:?}"
        );
        assert!(began.elapsed() < PROMPT, "{:?}", began.elapsed());
    };
    check("attempts: 1, time: (beginning_secs: 0.2)", &StopSignal::never(), |trouble| {
        matches!(trouble, ModelErrorKind::TimedOut { waited_for: WaitPhase::Beginning, .. })
    });
    let stop = stop_after(Duration::from_millis(100));
    check("attempts: 1", &stop, |trouble| *trouble == ModelErrorKind::Cancelled);
}

#[test]
fn a_server_that_does_not_encrypt_is_left() {
    let plain = Answer {
        framing: Framing::Nothing,
        ..Answer::stream([b"HTTP/1.1 200 OK\r\n\r\n".to_vec()])
    };
    let server = TestServer::start(vec![plain.clone(), plain]);
    let mut model = model_at(&server.endpoint().replace("http:", "https:"), "");
    let error = ask(model.as_mut(), &StopSignal::never()).result.unwrap_err();
    assert!(matches!(error.trouble, ModelErrorKind::Encryption { .. }), "{error:?}");
    assert_eq!(error.attempts.len(), 0);
}

#[test]
fn a_farewell_may_be_missing() {
    for (protocol, settings) in BOTH {
        let all = events(protocol, &["whole"]);
        let answer = Answer::first(protocol, &["whole"], all.len() - 1, Step::Break);
        check_text(vec![answer], settings, "whole", 0);
    }
}

#[test]
fn a_proxy_is_spoken_to() {
    let proxy = TestServer::start(vec![Answer::streaming(Protocol::ChatCompletions, &["through"])]);
    let address =
        proxy.endpoint().replace("/v1", "").replace("http://", "http://me:secret-password@");
    let settings = server_settings("http://models.invalid/v1", "insecure: true, attempts: 1");
    let servers = [("m".to_owned(), settings)].into();
    let roster =
        ModelRegistry::new(&ModelSettings { servers, ..ModelSettings::default() }).unwrap();
    let variable = |name: &str| match name {
        "HTTPS_PROXY" => Some(address.clone().into()),
        _ => variables(name),
    };
    let access = roster.access(&variable, &NoKeyring);
    let mut model = roster.open("m", &access, &Ledger::default(), 0).unwrap();
    assert_eq!(ask(model.as_mut(), &StopSignal::never()).result.unwrap().text, "through");
    let received = proxy.received();
    assert_eq!(received[0].line, "CONNECT models.invalid:80 HTTP/1.1");
    assert!(received[0].header("proxy-authorization").is_some());
    assert_eq!(received[0].header("authorization"), None, "the key is not for the proxy");
    assert_eq!(received[1].line, "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(access.redactor().redact("a secret-password b"), "a [redacted] b");
}
