//! Keys leave nowhere: not in texts, not in pieces, not in what is printed for debugging.

use proptest::prelude::*;

use super::{KEY, model_at, roster_of, server_settings};
use crate::{Conversation, Redactor, Secret};

fn redactor(secrets: &[&str]) -> Redactor {
    Redactor::new(secrets.iter().map(|secret| Secret::new((*secret).to_owned())))
}

#[test]
fn secrets_are_masked() {
    let check = |secrets: &[&str], text: &str, expected: &str| {
        assert_eq!(redactor(secrets).redact(text), expected, "{secrets:?} in {text:?}");
    };
    check(&["abcdefgh"], "xabcdefghx", "x[redacted]x");
    check(&["abcdefgh"], "abcdefghabcdefgh", "[redacted][redacted]");
    check(&["abcdefgh"], "abcdefg", "abcdefg");
    check(&["aaaaaaab"], "aaaaaaaaaab", "aaa[redacted]");
    check(&["abcdefgh", "abcdefghijkl"], "abcdefghijkl abcdefghijk", "[redacted] [redacted]");
    check(&["abcdefgh-0123"], "it ends in abcdefgh-01", "it ends in [redacted]");
    check(&["short"], "short", "short");
    check(&["schlüssel"], "der schlüssel!", "der [redacted]!");
    check(&[], "text", "text");
}

#[test]
fn nothing_prints_a_key() {
    let secret = Secret::new(format!(" {KEY}\n"));
    assert_eq!(secret.expose(), KEY, "space around a key is no part of it");
    let redactor = Redactor::new([secret.clone()]);
    let (roster, access) = roster_of(server_settings("https://example.com/v1", ""));
    let listed = roster.list(&access);
    let mut stream = redactor.stream();
    drop(stream.push("nothing"));
    for printed in [
        format!("{secret:?}"),
        format!("{redactor:?}"),
        format!("{roster:?}"),
        format!("{access:?}"),
        format!("{listed:?}"),
        format!("{stream:?}"),
    ] {
        assert!(!printed.contains("0123456789"), "{printed}");
    }
}

#[test]
fn prompts_are_sent_without_keys() {
    let server = super::server::TestServer::start(vec![]);
    let mut model = model_at(&server.endpoint(), "attempts: 1");
    let conversation = Conversation::new(format!("s {KEY}"), format!("q {KEY}"));
    let stop = crate::StopSignal::never();
    let limits = crate::Limits::default();
    let request = crate::Request { conversation: &conversation, tools: &[], limits, stop: &stop };
    let mut hear = |_: crate::AnswerEvent<'_>| std::ops::ControlFlow::Continue(());
    drop(model.ask(&request, &mut hear));
    let received = server.received();
    let sent = received[0].body.to_string();
    assert!(sent.contains("s [redacted]") && sent.contains("q [redacted]"), "{sent}");
    assert!(!sent.contains(KEY), "{sent}");
}

proptest! {
    #[test]
    fn pieces_make_no_difference(
        parts in prop::collection::vec(prop_oneof![Just(KEY.to_owned()), "[sk0-9te-]{0,12}", ".{0,8}"], 0..6),
        size in 1_usize..9,
    ) {
        let text = parts.concat();
        let redactor = redactor(&[KEY, "sk-test-01"]);
        let mut stream = redactor.stream();
        let characters: Vec<char> = text.chars().collect();
        let mut clean: String =
            characters.chunks(size).map(|piece| stream.push(&String::from_iter(piece))).collect();
        clean += &stream.finish();
        prop_assert!(!clean.contains(KEY));
        prop_assert_eq!(clean, redactor.redact(&text));
    }
}
