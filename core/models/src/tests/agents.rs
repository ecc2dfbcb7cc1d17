//! Programs as models: what they get, what they give, and how they are ended.
#![cfg(unix)]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::{KEY, PROMPT, ask, ask_until, stop_after};
use crate::{
    Agent, AgentLimits, Ending, Ledger, ModelAccess, ModelErrorKind, ModelRegistry, ModelSettings,
    NoKeyring, Redactor, Secret, Stop, StopSignal, WaitPhase,
};

/// A shell that runs this script.
fn agent(script: &str) -> Agent {
    Agent {
        name: "a".to_owned(),
        program: PathBuf::from("/bin/sh"),
        arguments: vec!["-c".to_owned(), script.to_owned()],
        environment: vec![("ALLOWED".to_owned(), "yes".into())],
        limits: AgentLimits { time: Duration::from_secs(5), reply_bytes: 10_000, most_tokens: 100 },
        redactor: Redactor::new([Secret::new(KEY.to_owned())]),
    }
}

fn said(script: &str) -> String {
    let asked = ask(&mut agent(script), &StopSignal::never());
    assert_eq!(asked.pieces.concat(), asked.result.as_ref().unwrap().text);
    asked.result.unwrap().text
}

fn trouble(agent: &mut Agent) -> ModelErrorKind {
    ask(agent, &StopSignal::never()).result.unwrap_err().trouble
}

#[test]
fn the_prompt_goes_in_and_the_reply_comes_out() {
    assert_eq!(said("/bin/cat"), "You write kernels.\n\nMake it faster.\n");
    assert_eq!(said("printf 'not read'"), "not read");
    assert_eq!(said("printf 'Gr\\303'; sleep 0.1; printf '\\274\\303\\237e'"), "Grüße");
    assert_eq!(said(":"), "");
}

#[test]
fn it_gets_an_empty_folder_and_nothing_else() {
    assert_eq!(said("ls -A | wc -l").trim(), "0");
    let names = said("/usr/bin/env | sed 's/=.*//' | sort");
    let own = ["PWD", "SHLVL", "_", "OLDPWD"];
    let given: Vec<&str> = names.lines().filter(|name| !own.contains(name)).collect();
    assert_eq!(given, ["ALLOWED"], "a shell adds {own:?} by itself");
    let folder = said("touch left; pwd");
    assert!(!PathBuf::from(folder.trim()).exists(), "{folder} is left");
}

#[test]
fn what_it_says_is_without_keys() {
    assert_eq!(
        said(&format!("printf '{}'; sleep 0.1; printf '{}'", &KEY[..10], &KEY[10..])),
        "[redacted]"
    );
    let failed = trouble(&mut agent(&format!("echo {KEY} >&2; exit 3")));
    let expected =
        ModelErrorKind::Command { ending: Ending::Status(3), says: "[redacted]".to_owned() };
    assert_eq!(failed, expected);
}

#[test]
fn it_may_fail() {
    let killed = trouble(&mut agent("kill -9 $$"));
    assert!(
        matches!(killed, ModelErrorKind::Command { ending: Ending::Signal(9), .. }),
        "{killed:?}"
    );
    let absent = trouble(&mut Agent { program: "/no/such/program".into(), ..agent("") });
    assert!(matches!(absent, ModelErrorKind::Start { .. }), "{absent:?}");
    let endless = trouble(&mut agent("while :; do echo more and more; done"));
    assert_eq!(endless, ModelErrorKind::TooLong { limit: 10_000 });
}

#[test]
fn it_is_ended_with_all_that_it_started() {
    let mark = tempfile::NamedTempFile::new().unwrap();
    let path = mark.path().display().to_string();
    let script =
        format!("(while :; do echo x >> {path}; sleep 0.05; done) & echo started; sleep 60");
    let mut slow = agent(&script);
    // Long enough for a child to start on a busy machine.
    let limit = Duration::from_millis(1500);
    slow.limits.time = limit;
    let began = Instant::now();
    assert_eq!(
        trouble(&mut slow),
        ModelErrorKind::TimedOut { waited_for: WaitPhase::Whole, limit }
    );
    assert!(began.elapsed() < PROMPT, "{:?}", began.elapsed());
    let size = || std::fs::metadata(mark.path()).unwrap().len();
    std::thread::sleep(Duration::from_millis(100));
    let then = size();
    assert!(then > 0, "the child has run");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(size(), then, "a child still runs");
}

#[test]
fn it_can_be_cancelled() {
    let began = Instant::now();
    let asked = ask(&mut agent("sleep 60"), &stop_after(Duration::from_millis(50)));
    assert_eq!(asked.result.unwrap_err().trouble, ModelErrorKind::Cancelled);
    assert!(began.elapsed() < PROMPT, "{:?}", began.elapsed());
    let mut talking = agent("while :; do echo more; sleep 0.05; done");
    let reply = ask_until(&mut talking, &StopSignal::never(), 2).result.unwrap();
    assert_eq!((reply.text.as_str(), reply.stop), ("more\nmore\n", Stop::Listener));
}

#[test]
fn settings_open_it() {
    let text = "(agents: {\"a\": (argv: [\"/bin/sh\", \"-c\", \"echo $MY_TOKEN; echo $OTHER\"],
        environment: [\"MY_TOKEN\", \"ABSENT\"])})";
    let settings: ModelSettings = ron::from_str(text).unwrap();
    let roster = ModelRegistry::new(&settings).unwrap();
    let variable = |name: &str| match name {
        "MY_TOKEN" | "OTHER" => Some(KEY.into()),
        _ => None,
    };
    let access: ModelAccess = roster.access(&variable, &NoKeyring);
    let mut model = roster.open("a", &access, &Ledger::default(), 0).unwrap();
    let reply = ask(model.as_mut(), &StopSignal::never()).result.unwrap();
    assert_eq!(reply.text, "[redacted]\n\n", "what is named a token is a secret");
}
