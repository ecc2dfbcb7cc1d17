//! `lightbench models add`: writes and checks a settings entry for a known server or program.
//!
//! Addresses and variables are those of each product's documentation: Ollama,
//! <https://docs.ollama.com/api/openai-compatibility>; vLLM,
//! <https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html>; OpenAI,
//! <https://platform.openai.com/docs/api-reference>; Anthropic, <https://docs.anthropic.com/en/api/models-list>; Claude
//! Code, <https://docs.anthropic.com/en/docs/claude-code/sdk/sdk-headless>; Codex,
//! <https://developers.openai.com/codex/noninteractive>. Model names become obsolete, so none is stored here: a server
//! lists its own.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use lightbench_core::display_text::visible;
use lightbench_core::models::{
    AgentSettings, KeySource, LimitName, ListError, ModelRegistry, ModelSettings, OpenError,
    Prices, Protocol, ServerSettings,
};

use super::{answered, check, settings_file};
use crate::args::{AddModel, ModelKind};
use crate::background_worker::files::write_whole;
use crate::outcome::{Outcome, Status};
use crate::session::Session;
use crate::workbench::settings::Settings;

/// Default settings of a server.
struct Server {
    endpoint: &'static str,
    protocol: Protocol,
    key: Option<&'static str>,
    limit_name: LimitName,
    prices: Option<Prices>,
}

/// Default settings of a program.
struct Program {
    name: &'static str,
    arguments: &'static [&'static str],
    environment: &'static [&'static str],
}

enum DefaultSetup {
    Server(Server),
    Program(Program),
}

const FREE: Option<Prices> = Some(Prices { input: 0.0, output: 0.0 });

const fn local(endpoint: &'static str) -> DefaultSetup {
    DefaultSetup::Server(Server {
        endpoint,
        protocol: Protocol::ChatCompletions,
        key: None,
        limit_name: LimitName::MaxTokens,
        prices: FREE,
    })
}

const fn usual(kind: ModelKind) -> DefaultSetup {
    match kind {
        ModelKind::Ollama => local("http://localhost:11434/v1"),
        ModelKind::Vllm => local("http://localhost:8000/v1"),
        ModelKind::Openai => DefaultSetup::Server(Server {
            endpoint: "https://api.openai.com/v1",
            protocol: Protocol::ChatCompletions,
            key: Some("OPENAI_API_KEY"),
            limit_name: LimitName::MaxCompletionTokens,
            prices: None,
        }),
        ModelKind::Anthropic => DefaultSetup::Server(Server {
            endpoint: "https://api.anthropic.com/v1",
            protocol: Protocol::Messages,
            key: Some("ANTHROPIC_API_KEY"),
            limit_name: LimitName::MaxTokens,
            prices: None,
        }),
        ModelKind::ClaudeCode => DefaultSetup::Program(Program {
            name: "claude",
            arguments: &["--print", "--output-format", "text"],
            environment: &["HOME", "PATH"],
        }),
        ModelKind::Codex => DefaultSetup::Program(Program {
            name: "codex",
            arguments: &["exec", "--skip-git-repo-check", "--sandbox", "read-only", "-"],
            environment: &["HOME", "PATH"],
        }),
    }
}

const fn word(kind: ModelKind) -> &'static str {
    match kind {
        ModelKind::Ollama => "ollama",
        ModelKind::Vllm => "vllm",
        ModelKind::Openai => "openai",
        ModelKind::Anthropic => "anthropic",
        ModelKind::ClaudeCode => "claude-code",
        ModelKind::Codex => "codex",
    }
}

/// Writes the entry, then checks the model.
pub(super) fn run(session: &Session, wanted: &AddModel) -> Result<Outcome, Outcome> {
    let path = settings_file(session)
        .ok_or_else(|| refused("there is no state folder for settings: name one with `--state`"))?;
    let name = wanted.name.clone().unwrap_or_else(|| word(wanted.kind).to_owned());
    let (mut settings, before) = read(&path)?;
    if settings.models.servers.contains_key(&name) || settings.models.agents.contains_key(&name) {
        return Err(refused(&format!(
            "the settings already have a model `{}`, which is unchanged: choose another `--name`",
            visible(&name)
        )));
    }
    match usual(wanted.kind) {
        DefaultSetup::Server(server) => {
            let entry = served(session, (&name, wanted), &server)?;
            settings.models.servers.insert(name.clone(), entry);
        }
        DefaultSetup::Program(program) => {
            settings.models.agents.insert(name.clone(), agent(session, wanted, &program)?);
        }
    }
    let roster = checked(&settings.models)?;
    write(&path, &settings, before.as_deref())?;
    let written =
        format!("`{}` is written to {}\n", visible(&name), visible(&path.to_string_lossy()));
    if wanted.no_check {
        return Ok(Outcome::passed(written));
    }
    let access = session.model_access(&roster);
    match check::run(session, &roster, &access, &name) {
        Ok(reply) => Ok(Outcome::passed(written + &answered(&reply))),
        Err(outcome) => Ok(Outcome { output: written + &outcome.output, ..outcome }),
    }
}

fn refused(message: &str) -> Outcome {
    Outcome::failed(Status::BadRequest, message)
}

/// Reads the settings, and their text if the file exists.
fn read(path: &Path) -> Result<(Settings, Option<String>), Outcome> {
    let shown = visible(&path.to_string_lossy()).into_owned();
    match fs::read_to_string(path) {
        Ok(text) => match Settings::from_ron(&text) {
            Ok(settings) => Ok((settings, Some(text))),
            Err(error) => {
                let what = format!("{shown} cannot be parsed, so nothing was written: ");
                Err(refused(&(what + &visible(&error))))
            }
        },
        Err(error) if error.kind() == ErrorKind::NotFound => Ok((Settings::default(), None)),
        Err(error) => {
            Err(Outcome::failed(Status::Environment, format!("{shown} cannot be read: {error}")))
        }
    }
}

/// Writes the settings; the previous text, which may contain comments, is kept in a backup file.
fn write(path: &Path, settings: &Settings, before: Option<&str>) -> Result<(), Outcome> {
    let failed = |error: &dyn std::fmt::Display| {
        let shown = path.to_string_lossy();
        let what = format!("{} cannot be written: {error}", visible(&shown));
        Outcome::failed(Status::Environment, what)
    };
    let text = settings.to_ron().map_err(|error| failed(&error))?;
    if let Some(before) = before {
        let kept = path.with_extension("ron.before");
        write_whole(&kept, before.as_bytes()).map_err(|error| failed(&error))?;
    }
    write_whole(path, text.as_bytes()).map_err(|error| failed(&error))
}

fn checked(models: &ModelSettings) -> Result<ModelRegistry, Outcome> {
    ModelRegistry::new(models).map_err(|problems| {
        let all: Vec<String> =
            problems.iter().map(|each| visible(&each.to_string()).into_owned()).collect();
        refused(&format!("the entry cannot be written: {}", all.join("; ")))
    })
}

/// The entry of a server, with its only model if none is named.
fn served(
    session: &Session,
    (name, wanted): (&str, &AddModel),
    usual: &Server,
) -> Result<ServerSettings, Outcome> {
    let key = match (&wanted.key_variable, &wanted.keyring, usual.key) {
        (Some(variable), ..) => KeySource::Environment(variable.clone()),
        (None, Some(entry), _) => KeySource::Keyring(entry.clone()),
        (None, None, Some(variable)) => KeySource::Environment(variable.to_owned()),
        (None, None, None) => KeySource::None,
    };
    let prices = match wanted.prices.as_deref() {
        Some([input, output]) => Some(Prices { input: *input, output: *output }),
        Some(_) | None => usual.prices,
    };
    let endpoint = wanted.endpoint.clone().unwrap_or_else(|| usual.endpoint.to_owned());
    let model = wanted.model.clone().unwrap_or_else(|| UNKNOWN.to_owned());
    let (protocol, limit_name) = (usual.protocol, usual.limit_name);
    let entry = ServerSettings {
        protocol,
        key,
        limit_name,
        prices,
        ..ServerSettings::new(endpoint, model)
    };
    if wanted.model.is_some() {
        return Ok(entry);
    }
    let model = only_model(session, name, &entry)?;
    Ok(ServerSettings { model, ..entry })
}

/// Placeholder until the server has listed its models.
const UNKNOWN: &str = "unknown";

/// The only model of a server.
fn only_model(session: &Session, name: &str, entry: &ServerSettings) -> Result<String, Outcome> {
    let servers = [(name.to_owned(), entry.clone())].into();
    let roster = checked(&ModelSettings { servers, ..ModelSettings::default() })?;
    let access = session.model_access(&roster);
    let listed = roster.served(name, &access, &session.stop_sign()).map_err(|error| {
        let status = match &error {
            ListError::Open(OpenError::Unknown { .. } | OpenError::Proxy(_)) => Status::BadRequest,
            ListError::Open(OpenError::NoKey { .. } | OpenError::UnreadableKey { .. })
            | ListError::Trouble(_) => Status::Environment,
        };
        let why = error.to_string();
        let what = format!(
            "{} does not list its models: {}; start the server, or name the model with `--model`",
            visible(&entry.endpoint),
            visible(&why)
        );
        Outcome::failed(status, what)
    })?;
    match listed.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(refused("the server has no model: load one, or name it with `--model`")),
        several => {
            let names = visible(&several.join(", ")).into_owned();
            Err(refused(&format!(
                "the server has several models; select one with `--model`: {names}"
            )))
        }
    }
}

/// The entry of a program, with its absolute path.
fn agent(session: &Session, wanted: &AddModel, usual: &Program) -> Result<AgentSettings, Outcome> {
    let of_servers = [
        ("--endpoint", wanted.endpoint.is_some()),
        ("--key-variable", wanted.key_variable.is_some()),
        ("--keyring", wanted.keyring.is_some()),
        ("--prices", wanted.prices.is_some()),
    ];
    if let Some((option, _)) = of_servers.iter().find(|(_, given)| *given) {
        let what = format!("`{option}` is for servers, and {} is a program", usual.name);
        return Err(refused(&what));
    }
    let program = found(usual.name, &session.host.path).ok_or_else(|| {
        let what = format!("there is no program `{}` in the folders of PATH", usual.name);
        Outcome::failed(Status::Environment, what)
    })?;
    let mut argv = vec![program.to_string_lossy().into_owned()];
    let mut arguments: Vec<String> = usual.arguments.iter().map(|&each| each.to_owned()).collect();
    if let Some(model) = &wanted.model {
        // Before the last argument, which may denote standard input.
        let place = arguments.len() - usize::from(arguments.last().is_some_and(|last| last == "-"));
        arguments.splice(place..place, ["--model".to_owned(), model.clone()]);
    }
    argv.extend(arguments);
    let environment = usual.environment.iter().map(|&name| name.to_owned()).collect();
    Ok(AgentSettings { environment, ..AgentSettings::new(argv) })
}

/// The absolute path of a program in the first folder that contains it.
fn found(name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let mut paths = folders.iter().map(|folder| folder.join(name));
    paths.find(|path| path.is_absolute() && path.is_file())
}
