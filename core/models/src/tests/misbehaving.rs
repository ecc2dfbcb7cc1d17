//! Every way in which a server is known to misbehave, and what must come of it: the kind of error, the number of attempts,
//! the time, and the charge. `docs/reliability.md` has the same table.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::server::{Answer, Framing, Step, TestServer};
use super::{KEY, ask, roster_of, server_settings};
use crate::{Budget, Ledger, ModelErrorKind, Money, NonTextAnswer, RetryPolicy, Spent, StopSignal};

/// One misbehaviour.
struct Row {
    name: &'static str,
    server: Server,
    expected: Expected,
    /// Requests that the server gets.
    attempts: u64,
    charged: Charged,
}

/// What the server does with each connection.
enum Server {
    /// Listens, and never accepts.
    Deaf,
    Plays(Answer),
    /// The same behind `https://`.
    Encrypted(Answer),
}

enum Expected {
    /// The text of a reply.
    Text(&'static str),
    Trouble(fn(&ModelErrorKind) -> bool),
}

/// What the budget is charged with, input and output.
enum Charged {
    Nothing,
    /// As the server reported.
    Reported(u64),
    /// An estimate of at most so many tokens for each attempt.
    Estimate(u64),
}

use Charged::{Estimate, Nothing, Reported};

/// Tokens of the longest answer.
const MOST_TOKENS: u64 = 1000;
/// An estimate of the question of all tests.
const INPUT: u64 = 30;
/// An attempt that was heard in part or in full.
const WHOLE: u64 = INPUT + MOST_TOKENS;
/// No row takes longer: three attempts of at most half a second where nothing comes, and a slow machine.
const LONGEST: Duration = Duration::from_secs(20);

const SETTINGS: &str = "max_tokens: 1000, attempts: 3, prices: Some((input: 3, output: 15))";
/// For servers of which nothing is to come.
const IMPATIENT: &str = "connection_secs: 5, beginning_secs: 0.3, piece_secs: 0.3, whole_secs: 0.5, question_secs: Some(60)";
/// For servers that are slow only because the machine is.
const PATIENT: &str = "connection_secs: 5, beginning_secs: 20, piece_secs: 20, whole_secs: 20, question_secs: Some(60)";

fn check(row: Row) {
    check_within(row, PATIENT);
}

fn check_within(row: Row, time: &str) {
    let (deaf, playing);
    let endpoint = match row.server {
        Server::Deaf => {
            deaf = TcpListener::bind(("127.0.0.1", 0)).unwrap();
            format!("http://{}/v1", deaf.local_addr().unwrap())
        }
        Server::Plays(answer) => {
            playing = TestServer::start(vec![answer; 6]);
            playing.endpoint()
        }
        Server::Encrypted(answer) => {
            playing = TestServer::start(vec![answer; 6]);
            playing.endpoint().replace("http:", "https:")
        }
    };
    let (roster, access) =
        roster_of(server_settings(&endpoint, &format!("{SETTINGS}, time: ({time})")));
    let ledger = Ledger::new(Budget { money: Some(Money(1.0)), ..Budget::default() });
    let patience = RetryPolicy { first_wait: Duration::from_millis(10), ..RetryPolicy::default() };
    let mut model = roster.open_with("m", &access, &ledger, patience).unwrap();
    let began = Instant::now();
    let asked = ask(model.as_mut(), &StopSignal::never());
    let (name, took, spent) = (row.name, began.elapsed(), ledger.spent());
    assert!(!format!("{asked:?}").contains(KEY), "{name}: the key shows: {asked:?}");
    match (row.expected, &asked.result) {
        (Expected::Text(text), Ok(reply)) => assert_eq!(reply.text, text, "{name}"),
        (Expected::Trouble(is_it), Err(error)) => {
            assert!(is_it(&error.trouble), "{name}: {error:?}");
        }
        (Expected::Text(_) | Expected::Trouble(_), result) => panic!("{name}: {result:?}"),
    }
    assert_eq!(spent.requests, row.attempts, "{name}: {asked:?}");
    assert!(took < LONGEST, "{name}: {took:?}");
    check_charge(name, &spent, &row.charged);
}

fn check_charge(name: &str, spent: &Spent, charged: &Charged) {
    let fits = match charged {
        Nothing => spent.tokens == 0,
        Reported(tokens) => spent.tokens == *tokens && spent.estimated_tokens == 0,
        Estimate(most) => {
            (1..=most * spent.requests).contains(&spent.tokens) && spent.estimated_tokens > 0
        }
    };
    assert!(fits, "{name}: {spent:?}");
    // What was reserved: 3 for a million tokens of input, 15 for a million of output.
    let most = (INPUT as f64 * 3.0 + MOST_TOKENS as f64 * 15.0) / 1e6 * spent.requests as f64;
    assert!(spent.money.0 <= most, "{name}: {spent:?}");
}

fn row(
    name: &'static str,
    answer: Answer,
    is_it: fn(&ModelErrorKind) -> bool,
    attempts: u64,
    charged: Charged,
) -> Row {
    let (server, expected) = (Server::Plays(answer), Expected::Trouble(is_it));
    Row { name, server, expected, attempts, charged }
}

fn text(name: &'static str, answer: Answer, text: &'static str, charged: Charged) -> Row {
    let (server, expected) = (Server::Plays(answer), Expected::Text(text));
    Row { name, server, expected, attempts: 1, charged }
}

/// A whole answer in one JSON document.
#[expect(clippy::needless_pass_by_value, reason = "a row of the table reads better without `&`")]
fn whole(message: Value, usage: Value) -> Answer {
    let choice = json!({ "index": 0, "message": message, "finish_reason": "stop" });
    Answer::refusal(200, &json!({ "choices": [choice], "usage": usage }))
}

/// An event of a stream.
fn event(delta: &Value) -> Vec<u8> {
    let chunk = json!({ "choices": [{ "index": 0, "delta": delta }] });
    format!("data: {chunk}\n\n").into_bytes()
}

const STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

fn endless(bytes: Vec<u8>) -> Answer {
    Answer::raw(STREAM, Step::Endless(bytes))
}

/// A JSON document with this head and body, to the byte.
fn exact(head: &str, body: impl Into<Vec<u8>>) -> Answer {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n{head}\r\n\r\n");
    Answer::raw([head.into_bytes(), body.into()].concat(), Step::Wait(Duration::ZERO))
}

fn status(status: u16) -> Answer {
    Answer::refusal(status, &json!({ "error": { "message": "no" } }))
}

fn usage() -> Value {
    json!({ "prompt_tokens": 11, "completion_tokens": 5 })
}

const fn cut(trouble: &ModelErrorKind) -> bool {
    matches!(trouble, ModelErrorKind::CutShort { .. })
}

const fn garbled(trouble: &ModelErrorKind) -> bool {
    matches!(trouble, ModelErrorKind::Garbled { .. })
}

const fn too_long(trouble: &ModelErrorKind) -> bool {
    matches!(trouble, ModelErrorKind::TooLong { .. })
}

const fn refused(trouble: &ModelErrorKind) -> bool {
    matches!(trouble, ModelErrorKind::Status { .. })
}

const fn busy(trouble: &ModelErrorKind) -> bool {
    matches!(trouble, ModelErrorKind::Busy { .. })
}

const fn not_http(trouble: &ModelErrorKind) -> bool {
    matches!(trouble, ModelErrorKind::NotHttp { .. })
}

const fn redirected(trouble: &ModelErrorKind) -> bool {
    matches!(trouble, ModelErrorKind::Redirected { .. })
}

const fn timed_out(trouble: &ModelErrorKind) -> bool {
    matches!(trouble, ModelErrorKind::TimedOut { .. })
}

#[test]
fn servers_that_do_not_speak() {
    let silent = Answer { framing: Framing::Nothing, ..Answer::stream([]) };
    let silent = || Answer { steps: vec![Step::Hang], ..silent.clone() };
    let byte_by_byte =
        |bytes: &str| Step::Trickle(bytes.as_bytes().to_vec(), Duration::from_millis(40));
    for each in [
        Row {
            name: "never accepts",
            server: Server::Deaf,
            expected: Expected::Trouble(timed_out),
            attempts: 3,
            charged: Nothing,
        },
        row("accepts and is silent", silent(), timed_out, 3, Nothing),
        row("a head byte by byte", Answer::raw("", byte_by_byte(STREAM)), timed_out, 3, Nothing),
        row(
            "a body byte by byte",
            Answer::raw(STREAM, byte_by_byte(": a comment keeps the connection alive\n")),
            timed_out,
            3,
            Estimate(INPUT),
        ),
        row(
            "closes at once",
            Answer::raw("", Step::Break),
            |trouble| matches!(trouble, ModelErrorKind::Connection { .. }),
            3,
            Nothing,
        ),
        row("an empty reply", Answer::raw(STREAM, Step::Break), cut, 3, Estimate(INPUT)),
        Row {
            name: "closes in the middle of the TLS handshake",
            server: Server::Encrypted(Answer::raw([0x16, 3, 3, 0, 80, 2], Step::Break)),
            expected: Expected::Trouble(|trouble| {
                matches!(trouble, ModelErrorKind::Connection { .. })
            }),
            attempts: 3,
            charged: Nothing,
        },
    ] {
        check_within(each, IMPATIENT);
    }
}

#[test]
fn servers_that_do_not_stop() {
    let header = |bytes: usize| format!("HTTP/1.1 200 OK\r\nx-long: {}\r\n\r\n", "x".repeat(bytes));
    let head = "HTTP/1.1 200 OK\r\n";
    for each in [
        row(
            "an endless stream",
            endless(event(&json!({ "content": "word " }))),
            too_long,
            1,
            Estimate(WHOLE),
        ),
        row(
            "endless reasoning",
            endless(event(&json!({ "reasoning_content": "hm " }))),
            too_long,
            1,
            Estimate(WHOLE),
        ),
        row(
            "endless comments",
            endless(format!(": {}\n\n", "alive ".repeat(1 << 12)).into_bytes()),
            too_long,
            1,
            Estimate(INPUT),
        ),
        row(
            "an endless line",
            endless(b"data: xxxxxxxxxxxxxxxx".to_vec()),
            too_long,
            1,
            Estimate(INPUT),
        ),
        row(
            "endless headers",
            Answer::raw(head, Step::Endless(b"x-more: 1\r\n".to_vec())),
            not_http,
            1,
            Nothing,
        ),
        row(
            "a header over the limit",
            Answer::raw(header(100 << 10), Step::Hang),
            |trouble| matches!(trouble, ModelErrorKind::HeadTooLong { .. }),
            1,
            Nothing,
        ),
        row(
            "a JSON document without end",
            Answer::raw(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{\"choices\": [",
                Step::Endless(vec![b' '; 1 << 12]),
            ),
            too_long,
            1,
            Estimate(INPUT),
        ),
        row(
            "a gzip bomb",
            exact(
                "content-encoding: gzip",
                [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xed, 0xc1, 1, 1, 0, 0, 0, 0x80, 0x90],
            ),
            garbled,
            1,
            Estimate(INPUT),
        ),
    ] {
        check(each);
    }
}

#[test]
fn answers_that_are_broken() {
    let half = "{\"choices\": [{\"message\": {\"content\": \"ha";
    let page = "<!doctype html><title>Sign in</title>";
    let not_text = [b"data: {\"choices\": \"\xff\xfe\"}".as_slice(), b"\n\n"].concat();
    let object = json!({ "error": { "message": "no", "type": "invalid_request_error" } });
    let chunks = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nnothing\r\n";
    for each in [
        row(
            "a content length beyond the body",
            exact("content-length: 4000", half),
            cut,
            3,
            Estimate(INPUT),
        ),
        row(
            "a content length within the body",
            exact("content-length: 9", half),
            garbled,
            1,
            Estimate(INPUT),
        ),
        row(
            "JSON that ends in the middle",
            exact("connection: close", half),
            garbled,
            1,
            Estimate(INPUT),
        ),
        row(
            "an event that ends in the middle",
            Answer::raw(format!("{STREAM}data: {half}"), Step::Break),
            garbled,
            1,
            Estimate(INPUT),
        ),
        row(
            "a stream that ends before its end",
            Answer::raw(
                [STREAM.as_bytes(), &event(&json!({ "content": "half" }))].concat(),
                Step::Break,
            ),
            cut,
            3,
            Estimate(WHOLE),
        ),
        row("bytes that are not UTF-8", Answer::stream([not_text]), garbled, 1, Estimate(INPUT)),
        row(
            "a page instead of JSON",
            Answer::raw(
                format!("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n{page}"),
                Step::Break,
            ),
            garbled,
            1,
            Estimate(INPUT),
        ),
        row(
            "an error under status 200",
            Answer::refusal(200, &object),
            |trouble| matches!(trouble, ModelErrorKind::Reported { .. }),
            1,
            Estimate(INPUT),
        ),
        row("chunks that are none", Answer::raw(chunks, Step::Break), not_http, 1, Estimate(INPUT)),
        row(
            "no HTTP at all",
            Answer::raw("SSH-2.0-OpenSSH_9.6\r\n\r\n", Step::Hang),
            not_http,
            1,
            Nothing,
        ),
    ] {
        check(each);
    }
}

#[test]
fn statuses() {
    let waiting = |value: &str| status(429).with("retry-after", value);
    let elsewhere =
        TestServer::start(vec![Answer::streaming(crate::Protocol::ChatCompletions, &["x"])]);
    let other = format!("{}/chat/completions", elsewhere.endpoint());
    for each in [
        row("400", status(400), refused, 1, Nothing),
        row("401", status(401), refused, 1, Nothing),
        row("403", status(403), refused, 1, Nothing),
        row("404", status(404), refused, 1, Nothing),
        row("408", status(408), refused, 3, Nothing),
        row("413", status(413), refused, 1, Nothing),
        row("429", status(429), busy, 3, Nothing),
        row("429, retry after 0 s", waiting("0"), busy, 3, Nothing),
        row("429, retry after a day", waiting("86400"), busy, 1, Nothing),
        row("429, retry after 1e300 s", waiting("1e300"), busy, 1, Nothing),
        row("429, retry after -5 s", waiting("-5"), busy, 3, Nothing),
        row("429, retry after a word", waiting("soon"), busy, 3, Nothing),
        row("500", status(500), refused, 3, Nothing),
        row("502", status(502), refused, 3, Nothing),
        row("503", status(503), busy, 3, Nothing),
        row("529", status(529), busy, 3, Nothing),
        row(
            "a redirect to itself",
            status(307).with("location", "/v1/chat/completions"),
            redirected,
            1,
            Nothing,
        ),
        row(
            "a redirect to another host",
            status(308).with("location", other),
            redirected,
            1,
            Nothing,
        ),
    ] {
        check(each);
    }
    assert_eq!(elsewhere.received().len(), 0, "the key went elsewhere");
}

#[test]
fn answers_of_another_kind() {
    let negative = json!({ "prompt_tokens": -11, "completion_tokens": -5 });
    let absurd = json!({ "prompt_tokens": 1e17 as u64, "completion_tokens": 1e17 as u64 });
    let said = json!({ "content": "said" });
    let call = json!({ "content": null, "tool_calls": [{ "id": "1", "type": "function",
        "function": { "name": "write_file", "arguments": "{}" } }] });
    let two = json!({ "choices": [
        { "index": 1, "message": { "content": "second" }, "finish_reason": "stop" },
        { "index": 0, "message": { "content": "first" }, "finish_reason": "stop" }],
        "usage": usage() });
    for each in [
        text("no usage", whole(said.clone(), Value::Null), "said", Estimate(INPUT + 2)),
        text("negative usage", whole(said.clone(), negative), "said", Estimate(INPUT + 2)),
        text("absurd usage", whole(said.clone(), absurd), "said", Estimate(INPUT + 2)),
        text("usage as it should be", whole(said, usage()), "said", Reported(16)),
        text("several choices", Answer::refusal(200, &two), "first", Reported(16)),
        row(
            "a call of a tool",
            whole(call, usage()),
            |trouble| *trouble == ModelErrorKind::NoText { instead: NonTextAnswer::ToolCall },
            1,
            Estimate(WHOLE),
        ),
        row(
            "a refusal",
            whole(json!({ "content": null, "refusal": "I will not" }), usage()),
            |trouble| {
                *trouble
                    == ModelErrorKind::NoText {
                        instead: NonTextAnswer::Refusal("I will not".to_owned()),
                    }
            },
            1,
            Estimate(WHOLE),
        ),
        row(
            "only reasoning",
            whole(json!({ "content": "", "reasoning": "hm" }), usage()),
            |trouble| *trouble == ModelErrorKind::NoText { instead: NonTextAnswer::Reasoning },
            1,
            Estimate(WHOLE),
        ),
        row(
            "an empty text",
            whole(json!({ "content": "" }), usage()),
            |trouble| *trouble == ModelErrorKind::NoText { instead: NonTextAnswer::Nothing },
            1,
            Estimate(WHOLE),
        ),
    ] {
        check(each);
    }
}

#[test]
fn a_question_that_may_cost_more_than_is_left_is_not_sent() {
    let server = TestServer::start(vec![endless(event(&json!({ "content": "word " }))); 6]);
    let (roster, access) = roster_of(server_settings(&server.endpoint(), SETTINGS));
    // Each answer is charged with what it may cost at most, 0.015 and its question: two fit.
    let ledger = Ledger::new(Budget { money: Some(Money(0.04)), ..Budget::default() });
    let mut model = roster.open("m", &access, &ledger, 0).unwrap();
    let mut next = || ask(model.as_mut(), &StopSignal::never()).result.unwrap_err().trouble;
    assert!(too_long(&next()) && too_long(&next()));
    let refused = next();
    assert!(matches!(refused, ModelErrorKind::Budget(_)), "{refused:?}");
    assert!(refused.to_string().contains("lower `max_tokens`"), "{refused}");
    assert_eq!(server.received().len(), 2);
    assert!(ledger.spent().money.0 <= 0.04, "{:?}", ledger.spent());
}

#[test]
fn all_attempts_of_a_question_share_its_time() {
    let server = TestServer::start(vec![status(503).with("retry-after", "0.5"); 20]);
    let settings = "attempts: 20, time: (question_secs: Some(2))";
    let (roster, access) = roster_of(server_settings(&server.endpoint(), settings));
    let mut model = roster.open("m", &access, &Ledger::default(), 0).unwrap();
    let began = Instant::now();
    let trouble = ask(model.as_mut(), &StopSignal::never()).result.unwrap_err().trouble;
    let ModelErrorKind::OutOfTime { attempts, last, .. } = &trouble else { panic!("{trouble:?}") };
    assert!((2..=4).contains(attempts) && busy(last), "{trouble:?}");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert!(trouble.to_string().starts_with("no answer within 2 s, after "), "{trouble}");
}
