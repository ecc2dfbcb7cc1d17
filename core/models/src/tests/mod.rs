//! Models asked for real: servers on the loopback address, programs of this machine.

mod agents;
mod asking;
mod budgets;
mod events;
mod misbehaving;
mod protocols;
mod replies;
mod secrets;
mod server;
mod settings;
mod waiting;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::{
    AnswerEvent, Conversation, Ledger, Limits, Model, ModelAccess, ModelError, ModelRegistry,
    ModelSettings, NoKeyring, Reply, Request, RetryPolicy, ServerSettings, StopSignal,
};

/// The key of every test; it must turn up nowhere.
pub(super) const KEY: &str = "sk-test-0123456789abcdef";

/// What came of a question.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) result: Result<Reply, ModelError>,
    /// Pieces of the last attempt.
    pub(super) pieces: Vec<String>,
    /// What was said about attempts that failed.
    pub(super) troubles: Vec<String>,
}

pub(super) fn question() -> Conversation {
    Conversation::new("You write kernels.", "Make it faster.")
}

pub(super) fn ask(model: &mut dyn Model, stop: &StopSignal) -> Asked {
    ask_until(model, stop, usize::MAX)
}

/// Hears at most so many pieces.
pub(super) fn ask_until(model: &mut dyn Model, stop: &StopSignal, most: usize) -> Asked {
    let conversation = question();
    let request =
        Request { conversation: &conversation, tools: &[], limits: Limits::default(), stop };
    let (mut pieces, mut troubles) = (Vec::new(), Vec::new());
    let result = model.ask(&request, &mut |heard| {
        match heard {
            AnswerEvent::Text(text) => pieces.push(text.to_owned()),
            AnswerEvent::Again { trouble, .. } => {
                pieces.clear();
                troubles.push(trouble.to_string());
            }
        }
        if pieces.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    Asked { result, pieces, troubles }
}

/// A variable lookup in which the test's key stands.
pub(super) fn variables(name: &str) -> Option<OsString> {
    (name == "TEST_KEY").then(|| KEY.into())
}

/// Settings of one server, written as a user writes them.
pub(super) fn server_settings(endpoint: &str, more: &str) -> ServerSettings {
    let text = format!(
        "(endpoint: {endpoint:?}, model: \"tiny\", key: environment(\"TEST_KEY\"), {more})"
    );
    ron::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub(super) fn roster_of(settings: ServerSettings) -> (ModelRegistry, ModelAccess) {
    let servers = BTreeMap::from([("m".to_owned(), settings)]);
    let roster =
        ModelRegistry::new(&ModelSettings { servers, ..ModelSettings::default() }).unwrap();
    let access = roster.access(&variables, &NoKeyring);
    (roster, access)
}

/// A model at an endpoint, as the settings open it, except that it does not wait long.
pub(super) fn model_at(endpoint: &str, more: &str) -> Box<dyn Model> {
    let (roster, access) = roster_of(server_settings(endpoint, more));
    let patience = RetryPolicy { first_wait: Duration::from_millis(10), ..RetryPolicy::default() };
    roster.open_with("m", &access, &Ledger::default(), patience).unwrap()
}

/// What ends at once does so within this, also on a machine on which much else is built meanwhile; what does not end goes on
/// for longer.
pub(super) const PROMPT: Duration = Duration::from_secs(10);

/// A stop sign that goes up after a while.
pub(super) fn stop_after(duration: Duration) -> StopSignal {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    let wait = move || {
        std::thread::sleep(duration);
        raised.store(true, Ordering::Relaxed);
    };
    std::thread::Builder::new().name("stop".to_owned()).spawn(wait).unwrap();
    StopSignal::from_fn(move || flag.load(Ordering::Relaxed))
}
