//! Settings as users write them: what is accepted, what is refused, and in which words.

use std::ffi::OsString;

use super::{KEY, roster_of, server_settings, variables};
use crate::{
    KeyError, KeyState, Keyring, Ledger, ModelRegistry, ModelSettings, NoKeyring, OpenError, Secret,
};

/// What is wrong with these settings, in one text.
fn problems(text: &str) -> String {
    let settings: ModelSettings = match ron::from_str(text) {
        Ok(settings) => settings,
        Err(error) => return format!("unreadable: {error}"),
    };
    let problems = ModelRegistry::new(&settings).map_or_else(|problems| problems, |_| Vec::new());
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn check_server(fields: &str, expected: &str) {
    let text = format!("(servers: {{\"m\": (model: \"tiny\", {fields})}})");
    let found = problems(&text);
    assert_eq!(found.is_empty(), expected.is_empty(), "{fields}: {found}");
    assert!(found.contains(expected), "{fields}: {found}");
}

fn check_agent(fields: &str, expected: &str) {
    let found = problems(&format!("(agents: {{\"a\": ({fields})}})"));
    assert_eq!(found.is_empty(), expected.is_empty(), "{fields}: {found}");
    assert!(found.contains(expected), "{fields}: {found}");
}

#[test]
fn endpoints() {
    let check =
        |endpoint: &str, expected: &str| check_server(&format!("endpoint: {endpoint:?}"), expected);
    check("https://api.example.com/v1", "");
    check("https://api.example.com:8443", "");
    check("http://localhost:8080/v1", "");
    check("http://LOCALHOST:8080/v1", "");
    check("http://127.0.0.1:8080/v1", "");
    check("http://127.9.9.9/v1", "");
    check("http://[::1]:8080/v1", "");
    check("http://api.example.com/v1", "unencrypted");
    check("http://10.0.0.1/v1", "unencrypted");
    check("http://127.0.0.1.example.com/v1", "unencrypted");
    check("http://localhost.example.com/v1", "unencrypted");
    check("http://[::ffff:10.0.0.1]/v1", "unencrypted");
    check("http://127.0.0.1@example.com/v1", "name or password");
    check("https://me:pass@example.com/v1", "name or password");
    check("https://example.com/v1?key=abc", "query");
    check("https://example.com/v1#abc", "fragment");
    check("ftp://example.com/", "is not supported");
    check("file:///etc/passwd", "not an address");
    check("example.com", "not an address");
    check("", "not an address");
    check_server("endpoint: \"http://10.0.0.1/v1\", insecure: true", "");
}

#[test]
fn fields_of_servers() {
    let check = |fields: &str, expected: &str| {
        check_server(&format!("endpoint: \"https://x.example/v1\", {fields}"), expected);
    };
    check("protocol: messages, key: environment(\"KEY\"), temperature: Some(0.7)", "");
    check("key: keyring(\"hosted\"), prices: Some((input: 3, output: 15.5))", "");
    check("limit_name: max_completion_tokens, requests_per_minute: Some(30)", "");
    check("time: (piece_secs: 5)", "");
    check("max_tokens: 0", "`max_tokens` must be between 1 and 1000000");
    check("attempts: 0", "`attempts`");
    check("requests_per_minute: Some(0)", "`requests_per_minute`");
    check("temperature: Some(3.0)", "`temperature`");
    check("temperature: Some(NaN)", "`temperature`");
    check("prices: Some((input: -1, output: 0))", "`prices.input`");
    check("prices: Some((input: inf, output: 0))", "`prices.input`");
    check("time: (whole_secs: 0)", "`whole_secs`");
    check("key: environment(\"sk-live-1234\")", "is not the name of a variable");
    check("key: keyring(\" \")", "`key` is empty");
    check("insecur: true", "unreadable");
    check("key: \"sk-live-1234\"", "unreadable");
}

#[test]
fn fields_of_agents() {
    check_agent("argv: [\"/usr/bin/agent\", \"--print\"], environment: [\"HOME\"]", "");
    check_agent("argv: []", "`argv` is empty");
    check_agent("argv: [\"agent\"]", "whole path");
    check_agent("argv: [\"./agent\"]", "whole path");
    check_agent("argv: [\"/a\"], environment: [\"A=B\"]", "not the name of a variable");
    check_agent("argv: [\"/a\"], whole_secs: 0", "`whole_secs`");
    check_agent("argv: [\"/a\"], shell: true", "unreadable");
}

#[test]
fn names_and_proxies() {
    let server = "(endpoint: \"https://x.example/v1\", model: \"t\")";
    let check = |text: &str, expected: &str| {
        let found = problems(text);
        assert_eq!(found.is_empty(), expected.is_empty(), "{text}: {found}");
        assert!(found.contains(expected), "{text}: {found}");
    };
    check("()", "");
    check(&format!("(servers: {{\"\": {server}}})"), "a name is letters");
    check(&format!("(servers: {{\"a b\": {server}}})"), "a name is letters");
    check(
        &format!("(servers: {{\"a\": {server}}}, agents: {{\"a\": (argv: [\"/a\"])}})"),
        "a: a server and an agent",
    );
    check("(proxy: Some((address: \"http://proxy:3128\", except: [\".local\"])))", "");
    check("(proxy: Some((address: \"http://me:pass@proxy:3128\")))", "must not store");
    check("(proxy: Some((address: \"socks5://proxy:1080\")))", "`socks5://`");
    check("(proxy: Some((address: \"\")))", "not an address");
}

#[test]
fn what_is_written_is_read_again() {
    let text = "(servers: {\"m\": (endpoint: \"https://x.example/v1\", model: \"t\", key: environment(\"K\"),
        prices: Some((input: 3, output: 15)))}, agents: {\"a\": (argv: [\"/a\"])})";
    let settings: ModelSettings = ron::from_str(text).unwrap();
    let written = ron::ser::to_string_pretty(&settings, ron::ser::PrettyConfig::default()).unwrap();
    assert_eq!(ron::from_str::<ModelSettings>(&written).unwrap(), settings);
}

/// A keyring of one entry, or one that fails.
struct TestKeyring;

impl Keyring for TestKeyring {
    fn key(&self, entry: &str) -> Result<Option<Secret>, KeyError> {
        match entry {
            "hosted" => Ok(Some(Secret::new(KEY.to_owned()))),
            "locked" => Err(KeyError("locked".to_owned())),
            _ => Ok(None),
        }
    }
}

#[test]
fn keys_come_from_where_the_settings_say() {
    let check = |key: &str, expected: &str| {
        let mut settings = server_settings("https://x.example/v1", "");
        settings.key = ron::from_str(key).unwrap();
        let (roster, _) = roster_of(settings);
        let variable = |name: &str| match name {
            "EMPTY" => Some(OsString::new()),
            "TWO_LINES" => Some(format!("{KEY}\r\nx-forged: 1").into()),
            _ => variables(name),
        };
        let access = roster.access(&variable, &TestKeyring);
        let state = match &roster.list(&access)[0].key {
            KeyState::NotNeeded => "not needed",
            KeyState::Present(_) => "present",
            KeyState::Missing => "missing",
            KeyState::Unreadable(_) => "unreadable",
        };
        assert_eq!(state, expected, "{key}");
        let opened = roster.open("m", &access, &Ledger::default(), 0);
        assert_eq!(opened.is_ok(), matches!(state, "present" | "not needed"), "{key}");
        if let Err(error) = opened {
            assert!(!error.to_string().contains(KEY), "{error}");
        }
    };
    check("none", "not needed");
    check("environment(\"TEST_KEY\")", "present");
    check("environment(\"OTHER\")", "missing");
    check("environment(\"EMPTY\")", "missing");
    check("environment(\"TWO_LINES\")", "unreadable");
    check("keyring(\"hosted\")", "present");
    check("keyring(\"other\")", "missing");
    check("keyring(\"locked\")", "unreadable");
}

#[test]
fn names_are_nearly_known() {
    let (roster, access) = roster_of(server_settings("https://x.example/v1", ""));
    let check = |name: &str, expected: Option<&str>| {
        let error = roster.open(name, &access, &Ledger::default(), 0).err();
        let nearest = expected.map(str::to_owned);
        assert_eq!(error, Some(OpenError::Unknown { name: name.to_owned(), nearest }));
    };
    check("mm", Some("m"));
    check("something else", None);
}

#[test]
fn proxies_are_not_asked_for_this_machine() {
    let check = |except: &str, endpoint: &str, expected: bool| {
        let variable = |name: &str| match name {
            "https_proxy" => Some("http://proxy:3128".into()),
            "no_proxy" => Some(except.into()),
            _ => None,
        };
        let proxy = crate::proxy::Proxy::from_variables(&variable).unwrap().unwrap();
        let endpoint =
            crate::Endpoint::parse(endpoint, crate::endpoint::Encryption::Optional).unwrap();
        assert_eq!(proxy.for_host(&endpoint).is_some(), expected, "{except} {endpoint:?}");
    };
    check("", "https://api.example.com", true);
    check("", "http://localhost:1", false);
    check("", "http://127.0.0.1:1", false);
    check("example.com", "https://api.example.com", false);
    check("a, .example.com", "https://api.example.com", false);
    check("ample.com", "https://api.example.com", true);
    check("*", "https://api.example.com", false);
    assert!(crate::proxy::Proxy::from_variables(&|_| None).unwrap().is_none());
    let (roster, _) = roster_of(server_settings("https://x.example/v1", ""));
    let broken = |name: &str| match name {
        "ALL_PROXY" => Some("socks5://x:1".into()),
        _ => variables(name),
    };
    let access = roster.access(&broken, &NoKeyring);
    assert!(matches!(roster.open("m", &access, &Ledger::default(), 0), Err(OpenError::Proxy(_))));
}
