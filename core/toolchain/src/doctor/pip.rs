//! Doctor: pip, which only a fetch needs.

use std::time::{Duration, Instant};

use super::super::fetch::{FetchError, Pip};
use super::super::program::Limits;
use super::{Finding, HostEnvironment, State, Topic};

const LIMIT: Duration = Duration::from_secs(20);

pub(super) fn finding(surroundings: &HostEnvironment, can_compile: bool) -> Finding {
    let limits = Limits { begin: Instant::now(), limit: LIMIT, cancelled: &|| false };
    let scratch = match tempfile::tempdir() {
        Ok(scratch) => scratch,
        Err(error) => {
            let summary = format!("the folder for temporary files cannot be written: {error}");
            let finding = Finding::new(Topic::Pip, State::Problem, summary);
            return finding.command("export TMPDIR=/a/folder/that/you/can/write");
        }
    };
    match Pip::find(surroundings, scratch.path(), &limits) {
        Ok(pip) => {
            let version = pip.version.split(" from ").next().unwrap_or_default();
            let finding = Finding::new(Topic::Pip, State::Ok, version);
            finding.note(format!("started as `{}`", pip.name()))
        }
        Err(FetchError::NoPip { tried, advice }) if can_compile => {
            let finding = Finding::new(Topic::Pip, State::Info, tried);
            finding.note(format!("only a fetch needs it; {advice}"))
        }
        Err(FetchError::NoPip { tried, advice }) => {
            let finding = Finding::new(Topic::Pip, State::Missing, tried);
            finding.advice(format!("install it: {advice}"))
        }
        Err(error) => Finding::new(Topic::Pip, State::Problem, error.to_string()),
    }
}
