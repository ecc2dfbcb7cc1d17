//! Settings as people write them, and what the command says about them.

use lightbench_core::toolchain::Surroundings;

use super::*;

/// What the command says with these settings.
fn said(settings: Option<&str>, check: Option<&str>, json: bool) -> (Status, String) {
    let state = tempfile::tempdir().unwrap();
    if let Some(text) = settings {
        fs::write(state.path().join(SETTINGS), text).unwrap();
    }
    let state = Some(state.path().to_owned());
    let session = Session { state, ..Session::new(Surroundings::default()) };
    let outcome = run(&session, &Models { check: check.map(str::to_owned), json });
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
    check(Some("(models: (server: 1))"), false, Status::BadRequest, &["cannot be understood"]);
}

#[test]
fn a_key_that_is_there_is_not_shown() {
    // Every environment has this one.
    let settings = SERVER.replace("LIGHTBENCH_NO_SUCH_KEY", "PATH");
    let path = std::env::var("PATH").unwrap();
    for json in [false, true] {
        let (status, text) = said(Some(&settings), None, json);
        assert!(status == Status::Passed && text.contains("PATH"), "{text}");
        assert!(!text.contains(&path), "{text}");
    }
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
        check(agent, "cat", Status::Passed, "Say the one word: ready");
    }
    let absent = agent.replace("/bin/cat", "/no/such/program");
    check(&absent, "cat", Status::Environment, "cannot be started");
}
