//! Validates settings as written and converts them.

use std::path::Path;

use crate::endpoint::{Encryption, Endpoint};
use crate::keys::KeySource;
use crate::settings::{AgentSettings, ServerSettings, SettingsProblemKind, TimeLimits};

/// The longest name of a model.
const MOST_NAME: usize = 64;
/// Upper limits on tokens of an answer, attempts, and requests per minute.
const MOST_TOKENS: u64 = 1_000_000;
const MOST_ATTEMPTS: u32 = 20;
/// The highest temperature that servers accept.
const MOST_TEMPERATURE: f64 = 2.0;

/// A model's name, which can be typed.
pub(crate) fn name(name: &str) -> Result<(), SettingsProblemKind> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let is_good = (1..=MOST_NAME).contains(&name.len()) && name.bytes().all(fits);
    if is_good { Ok(()) } else { Err(SettingsProblemKind::Name { most: MOST_NAME }) }
}

/// Validates the settings of a server.
pub(crate) fn server(
    settings: &ServerSettings,
) -> Result<(Endpoint, TimeLimits), SettingsProblemKind> {
    let encryption = match settings.insecure {
        true => Encryption::Optional,
        false => Encryption::Required,
    };
    let endpoint = Endpoint::parse(&settings.endpoint, encryption)?;
    let time = TimeLimits::from_written(settings.time)?;
    if settings.model.trim().is_empty() {
        return Err(SettingsProblemKind::Empty { field: "model" });
    }
    check_key(&settings.key)?;
    check_count("max_tokens", settings.max_tokens, MOST_TOKENS)?;
    check_count("attempts", settings.attempts.into(), MOST_ATTEMPTS.into())?;
    check_pace(settings.requests_per_minute)?;
    if let Some(prices) = settings.prices {
        check_number("prices.input", prices.input, f64::MAX)?;
        check_number("prices.output", prices.output, f64::MAX)?;
    }
    if let Some(temperature) = settings.temperature {
        check_number("temperature", temperature, MOST_TEMPERATURE)?;
    }
    Ok((endpoint, time))
}

/// A program's settings.
pub(crate) fn agent(settings: &AgentSettings) -> Result<(), SettingsProblemKind> {
    let program = settings.argv.first().ok_or(SettingsProblemKind::Empty { field: "argv" })?;
    if !Path::new(program).is_absolute() {
        return Err(SettingsProblemKind::RelativeProgram);
    }
    if !settings.environment.iter().all(|name| is_variable(name)) {
        return Err(SettingsProblemKind::NoVariable { field: "environment" });
    }
    check_count("whole_secs", settings.whole_secs.into(), 86_400)?;
    check_count("max_tokens", settings.max_tokens, MOST_TOKENS)?;
    check_pace(settings.requests_per_minute)
}

fn check_key(key: &KeySource) -> Result<(), SettingsProblemKind> {
    match key {
        KeySource::None => Ok(()),
        KeySource::Environment(name) if is_variable(name) => Ok(()),
        KeySource::Environment(_) => Err(SettingsProblemKind::NoVariable { field: "key" }),
        KeySource::Keyring(entry) if !entry.trim().is_empty() => Ok(()),
        KeySource::Keyring(_) => Err(SettingsProblemKind::Empty { field: "key" }),
    }
}

fn check_pace(per_minute: Option<u32>) -> Result<(), SettingsProblemKind> {
    per_minute.map_or(Ok(()), |most| check_count("requests_per_minute", most.into(), MOST_TOKENS))
}

fn check_count(field: &'static str, value: u64, most: u64) -> Result<(), SettingsProblemKind> {
    let fits = (1..=most).contains(&value);
    let problem = || SettingsProblemKind::OutOfRange { field, least: 1.0, most: most as f64 };
    if fits { Ok(()) } else { Err(problem()) }
}

/// Checks a number from 0 to `most`; NaN is rejected.
fn check_number(field: &'static str, value: f64, most: f64) -> Result<(), SettingsProblemKind> {
    let fits = (0.0..=most).contains(&value);
    let problem = SettingsProblemKind::OutOfRange { field, least: 0.0, most };
    if fits { Ok(()) } else { Err(problem) }
}

/// Whether this is the name of a variable. Keys hardly ever are: they have small letters and dashes.
fn is_variable(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let begins = name.bytes().next().is_some_and(|first| !first.is_ascii_digit());
    begins && name.len() <= MOST_NAME && name.bytes().all(fits)
}
