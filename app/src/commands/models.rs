//! `lightbench models`: lists the models of the settings and their keys, and checks whether one answers.

mod add;
mod check;

use std::fmt::Write as _;

use lightbench_core::display_text::visible;
use lightbench_core::models::{Count, KeyState, Kind, ListedModel, ModelRegistry, Reply};
use serde_json::json;

use super::user_settings::{settings, settings_file};
use crate::args::{Models, ModelsAction};
use crate::background_worker::files::SETTINGS;
use crate::outcome::{Outcome, Status, document};
use crate::session::Session;
use crate::table::Table;

/// Lists the models, or checks one.
pub fn run(session: &Session, arguments: &Models) -> Outcome {
    if let Some(ModelsAction::Add(wanted)) = &arguments.action {
        return add::run(session, wanted).unwrap_or_else(|outcome| outcome);
    }
    let roster = match roster(session) {
        Ok(roster) => roster,
        Err(message) => return Outcome::failed(Status::BadRequest, message),
    };
    let access = session.model_access(&roster);
    let listed = roster.list(&access);
    let answer = match &arguments.check {
        None => None,
        Some(name) => match check::run(session, &roster, &access, name) {
            Ok(reply) => Some(reply),
            Err(outcome) => return outcome,
        },
    };
    let output = match (arguments.json, &answer) {
        (true, _) => as_json(&listed, answer.as_ref()),
        (false, Some(reply)) => answered(reply),
        (false, None) => table(session, &listed),
    };
    Outcome::passed(output)
}

/// The models of the settings; empty if there are no settings.
pub(super) fn roster(session: &Session) -> Result<ModelRegistry, String> {
    let settings = settings(session)?;
    ModelRegistry::new(&settings.models).map_err(|problems| {
        let place = settings_file(session).unwrap_or_else(|| SETTINGS.into());
        let mut message = format!("{} has invalid models", visible(&place.to_string_lossy()));
        for problem in problems {
            // Writing to a String cannot fail.
            write!(message, "\n  {}", visible(&problem.to_string())).ok();
        }
        message
    })
}

fn table(session: &Session, listed: &[ListedModel]) -> String {
    let place = settings_file(session);
    let place =
        place.map_or_else(|| SETTINGS.to_owned(), |path| path.to_string_lossy().into_owned());
    if listed.is_empty() {
        return format!(
            "No models; docs/models.md describes how to add one to {}\n",
            visible(&place)
        );
    }
    let mut table = Table::new(&["model", "kind", "where", "key"]);
    for model in listed {
        let (kind, place) = match &model.kind {
            Kind::Server { endpoint, model, .. } => ("server", format!("{endpoint} ({model})")),
            Kind::Agent { program, .. } => ("agent", program.clone()),
        };
        table.row([
            visible(&model.name).into_owned(),
            kind.to_owned(),
            visible(&place).into_owned(),
            visible(&key_in_words(model)).into_owned(),
        ]);
    }
    table.to_string()
}

fn key_in_words(model: &ListedModel) -> String {
    let source = match &model.kind {
        Kind::Server { key, .. } => key.to_string(),
        Kind::Agent { environment, .. } if environment.is_empty() => {
            "has no environment variable".to_owned()
        }
        Kind::Agent { environment, .. } => format!("gets {}", environment.join(", ")),
    };
    match &model.key {
        KeyState::NotNeeded => source,
        KeyState::Present(key) if key.is_redactable() => format!("{source}: present"),
        KeyState::Present(_) => format!("{source}: present, too short to be redacted"),
        KeyState::Missing => format!("{source}: missing"),
        KeyState::Unreadable(reason) => format!("{source}: cannot be read ({reason})"),
    }
}

fn answered(reply: &Reply) -> String {
    let count = |count: Count| match count {
        Count::Reported(tokens) => tokens.to_string(),
        Count::Estimated(tokens) => format!("about {tokens}"),
    };
    format!(
        "answers in the form that searches need\n{:.1} s, {} tokens in, {} out{}\n",
        reply.took.as_secs_f64(),
        count(reply.usage.input),
        count(reply.usage.output),
        reply.model.as_ref().map_or_else(String::new, |model| format!(", {}", visible(model))),
    )
}

fn as_json(listed: &[ListedModel], reply: Option<&Reply>) -> String {
    let one = |model: &ListedModel| {
        let state = match &model.key {
            KeyState::NotNeeded => "not needed",
            KeyState::Present(_) => "present",
            KeyState::Missing => "missing",
            KeyState::Unreadable(_) => "unreadable",
        };
        match &model.kind {
            Kind::Server { endpoint, model: served, key } => json!({
                "name": model.name, "kind": "server", "endpoint": endpoint, "model": served,
                "key_source": key, "key": state,
            }),
            Kind::Agent { program, environment } => json!({
                "name": model.name, "kind": "agent", "program": program, "environment": environment,
            }),
        }
    };
    let models: Vec<serde_json::Value> = listed.iter().map(one).collect();
    let answer = reply.map(|reply| {
        json!({
            "text": reply.text, "usage": reply.usage, "stop": reply.stop, "model": reply.model,
            "seconds": reply.took.as_secs_f64(),
        })
    });
    document(&json!({ "schema": "lightbench.models/1", "models": models, "answer": answer }))
}

#[cfg(test)]
mod tests;
