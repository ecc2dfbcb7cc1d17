//! Tests of the `models` command with settings as users write them.

use std::fs;
use std::path::Path;

use lightbench_core::toolchain::HostEnvironment;

use super::*;
use crate::workbench::settings::Settings;

/// Runs the command with these settings.
fn said(settings: Option<&str>, check: Option<&str>, json: bool) -> (Status, String) {
    let state = tempfile::tempdir().unwrap();
    if let Some(text) = settings {
        fs::write(state.path().join(SETTINGS), text).unwrap();
    }
    let state = Some(state.path().to_owned());
    let session = Session { state, ..Session::new(HostEnvironment::default()) };
    let outcome = run(&session, &Models { action: None, check: check.map(str::to_owned), json });
    let text = outcome.output + &outcome.errors;
    (outcome.status, anstream::adapter::strip_str(&text).to_string())
}

const SERVER: &str = "(models: (servers: {\"local\": (endpoint: \"http://127.0.0.1:9/v1\", \
    model: \"tiny\", key: environment(\"LIGHTBENCH_NO_SUCH_KEY\"))}))";

#[test]
fn what_is_set_up_is_listed() {
    let check = |settings: Option<&str>, json: bool, status: Status, parts: &[&str]| {
        let (found, text) = said(settings, None, json);
        assert_eq!(found, status, "{text}");
        for part in parts {
            assert!(text.contains(part), "{part} in {text}");
        }
    };
    check(None, false, Status::Passed, &["No models", "settings.ron"]);
    check(Some("()"), true, Status::Passed, &["\"models\": []"]);
    let parts =
        ["local", "server", "http://127.0.0.1:9/v1 (tiny)", "LIGHTBENCH_NO_SUCH_KEY: missing"];
    check(Some(SERVER), false, Status::Passed, &parts);
    check(Some(SERVER), true, Status::Passed, &["\"key\": \"missing\""]);
    let wrong = SERVER.replace("http://127.0.0.1:9", "http://example.com");
    check(Some(&wrong), false, Status::BadRequest, &["local: ", "unencrypted"]);
    check(Some("(models: (server: 1))"), false, Status::BadRequest, &["cannot be parsed"]);
}

#[test]
fn a_key_that_is_there_is_not_shown() {
    // `PATH` is set in every environment.
    let settings = SERVER.replace("LIGHTBENCH_NO_SUCH_KEY", "PATH");
    let path = std::env::var("PATH").unwrap();
    for json in [false, true] {
        let (status, text) = said(Some(&settings), None, json);
        assert!(status == Status::Passed && text.contains("PATH"), "{text}");
        assert!(!text.contains(&path), "{text}");
    }
}

/// An agent that takes the kernel's name from the prompt and answers with that kernel.
const HONEST: &str = "while read -r line; do case $line in *check_*) name=${line#*check_}; name=${name%%[!0-9a-f]*};; esac; done; \
    printf '```cuda\\nextern \\042C\\042 __global__ void check_%s(float* out) { out[0] = 1.0f; }\\n```\\n' $name";

fn script(text: &str) -> String {
    format!("(models: (agents: {{\"sh\": (argv: [\"/bin/sh\", \"-c\", {text:?}])}}))")
}

#[test]
fn one_is_asked() {
    let check = |settings: &str, name: &str, status: Status, part: &str| {
        let (found, text) = said(Some(settings), Some(name), false);
        assert!(found == status && text.contains(part), "{found:?}: {text}");
    };
    check(SERVER, "locl", Status::BadRequest, "did you mean `local`?");
    check(SERVER, "local", Status::Environment, "needs a key");
    let agent = "(models: (agents: {\"cat\": (argv: [\"/bin/cat\"])}))";
    if cfg!(unix) {
        // An agent that echoes the prompt or answers with other text is unusable.
        check(agent, "cat", Status::Environment, "not in the form that searches need");
        check(&script("echo ready"), "sh", Status::Environment, "it said: ready");
        check(&script(HONEST), "sh", Status::Passed, "answers in the form that searches need");
    }
    let absent = agent.replace("/bin/cat", "/no/such/program");
    check(&absent, "cat", Status::Environment, "cannot be started");
}

/// Runs `models add` with these settings and arguments; returns the settings afterwards.
fn added(settings: Option<&str>, arguments: &[&str]) -> (Status, String, Option<String>) {
    let state = tempfile::tempdir().unwrap();
    let path = state.path().join(SETTINGS);
    if let Some(text) = settings {
        fs::write(&path, text).unwrap();
    }
    let (status, text) = added_to(state.path(), arguments);
    let before = fs::read_to_string(path.with_extension("ron.before")).ok();
    assert_eq!(before.is_some(), settings.is_some() && text.contains("is written to"), "{text}");
    assert!(before.is_none_or(|before| settings == Some(&before)), "the text before is kept");
    (status, text, fs::read_to_string(path).ok())
}

#[cfg(unix)]
#[test]
fn a_linked_file_of_settings_stays_linked() {
    let (state, dotfiles) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (link, file) = (state.path().join(SETTINGS), dotfiles.path().join(SETTINGS));
    fs::write(&file, "()").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let (status, said) = added_to(state.path(), &["vllm", "--model", "coder", "--no-check"]);
    assert_eq!(status, Status::Passed, "{said}");
    assert!(link.is_symlink());
    assert!(fs::read_to_string(&file).unwrap().contains("coder"));
}

/// Runs `models add` in a state folder.
fn added_to(state: &Path, arguments: &[&str]) -> (Status, String) {
    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        models: Models,
    }
    let session =
        Session { state: Some(state.to_owned()), ..Session::new(HostEnvironment::default()) };
    let line = [&["models", "add"], arguments].concat();
    let Line { models } = clap::Parser::try_parse_from(line).unwrap();
    let outcome = run(&session, &models);
    let text = anstream::adapter::strip_str(&(outcome.output + &outcome.errors)).to_string();
    (outcome.status, text)
}

#[test]
fn an_entry_is_added_beside_what_is_there() {
    let check = |settings: Option<&str>, arguments: &[&str], parts: &[&str]| {
        let arguments = [arguments, &["--no-check"]].concat();
        let (status, said, after) = added(settings, &arguments);
        assert_eq!(status, Status::Passed, "{said}");
        let after = after.unwrap();
        let read = Settings::from_ron(&after).unwrap();
        assert!(ModelRegistry::new(&read.models).is_ok(), "{after}");
        for part in parts {
            assert!(after.contains(part), "{part} in {after}");
        }
    };
    let vllm = ["vllm", "--model", "coder"];
    check(None, &vllm, &["\"vllm\"", "http://localhost:8000/v1", "\"coder\"", "input: 0.0"]);
    check(Some(SERVER), &vllm, &["\"vllm\"", "\"local\"", "LIGHTBENCH_NO_SUCH_KEY"]);
    check(
        Some("(zoom: 1.25) // as I like it"),
        &["ollama", "--model", "coder", "--name", "mine"],
        &["zoom: 1.25", "\"mine\"", "http://localhost:11434/v1"],
    );
    check(
        None,
        &["openai", "--model", "coder", "--prices", "3", "15"],
        &["https://api.openai.com/v1", "OPENAI_API_KEY", "max_completion_tokens", "15.0"],
    );
    check(
        None,
        &["anthropic", "--model", "coder", "--keyring", "work"],
        &["https://api.anthropic.com/v1", "messages", "keyring(\"work\")"],
    );
}

#[test]
fn an_entry_that_cannot_be_added_changes_nothing() {
    let check = |settings: Option<&str>, arguments: &[&str], expected: Status, part: &str| {
        let (status, said, after) = added(settings, arguments);
        assert!(status == expected && said.contains(part), "{status:?}: {said}");
        assert_eq!(after.as_deref(), settings, "{said}");
    };
    let local = ["vllm", "--name", "local", "--model", "coder"];
    check(Some(SERVER), &local, Status::BadRequest, "already");
    check(Some("(zoom: "), &local, Status::BadRequest, "nothing was written");
    let key = ["openai", "--model", "coder", "--key-variable", "sk-0123-abc"];
    check(None, &key, Status::BadRequest, "never the key itself");
    let elsewhere = ["vllm", "--model", "coder", "--endpoint", "http://example.com/v1"];
    check(None, &elsewhere, Status::BadRequest, "unencrypted");
    let nobody = ["vllm", "--endpoint", "http://127.0.0.1:9/v1"];
    check(None, &nobody, Status::Environment, "does not list its models");
    check(None, &["codex", "--endpoint", "https://x/v1"], Status::BadRequest, "is for servers");
}
