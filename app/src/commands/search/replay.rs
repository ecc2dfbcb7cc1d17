//! `--replay`: replays every tuner or strategy on a recorded search, without a device.

use std::sync::Arc;

use lightbench_core::project::{DeviceFacts, Project};
use lightbench_core::search::rules::Rules;
use lightbench_core::search::{Budget, Journal, SearchSetup, SearchState, replay};
use lightbench_core::strategies::replay::{Goal, Replay, Spread, candidates};
use lightbench_core::strategies::{StrategyKind, TunerKind};
use serde_json::{Value, json};

use super::{SearchArguments, journals};
use crate::args;
use crate::commands::check::target;
use crate::outcome::{Outcome, document};
use crate::report;
use crate::session::Session;

/// A result within this fraction of the recorded best counts as found.
const WITHIN: f64 = 0.05;

/// One tuner or strategy, and the evaluations it needed.
struct Row {
    name: String,
    spread: Spread,
}

pub(super) fn replayed(
    session: &Session,
    arguments: &args::Searching,
    name: &str,
    wanted: &SearchArguments<'_>,
) -> Result<Outcome, Outcome> {
    let as_json = arguments.json;
    let refuse = |error: &dyn std::fmt::Display| report::request(&error, as_json);
    let lacks = "no searches";
    let (project, _) = target::project(&arguments.project, lacks, as_json)?;
    let project: Arc<Project> = Arc::from(project);
    let folder = journals::folder(session, &project.root)
        .map_err(|error| report::environment(&error, as_json))?;
    let path = journals::any_journal(&folder, name).map_err(|error| refuse(&error))?;
    let machine =
        journals::machine(session).map_err(|error| report::environment(&error, as_json))?;
    let read = Journal::read(&path, &machine).map_err(|error| refuse(&error))?;
    let story = read.story;
    let heading = format!("{}: {}", story.header.id, story.spent.evaluation_count());
    let (rows, what) = match wanted {
        SearchArguments::Sweep(_) => (tuners(&project, &story, arguments.repeat), "evaluations"),
        SearchArguments::Search(_) => {
            (strategies(session, &project, story, arguments.repeat), "attempts")
        }
    };
    let rows = rows.map_err(|error| refuse(&error))?;
    let output = if as_json { json(&rows, what) } else { text(&heading, &rows, what) };
    Ok(Outcome::passed(output))
}

fn tuners(project: &Project, story: &SearchState, seeds: u64) -> Result<Vec<Row>, String> {
    let first = story.variants.first().ok_or("the search has no variant")?;
    let kernel = project
        .draft(&story.header.kernel, first.proposal.source.clone())
        .map_err(|_problems| "the kernel it started with is no longer in the project".to_owned())?;
    let record = replay::space(story, &kernel.launch.parameters);
    let replay = Replay::new(&record).map_err(|error| error.to_string())?;
    let goal = Goal { within: WITHIN, most: replay.space().len() };
    let rows = TunerKind::ALL
        .iter()
        .map(|kind| Row { name: kind.to_string(), spread: replay.spread(*kind, seeds, goal) });
    Ok(rows.collect())
}

fn strategies(
    session: &Session,
    project: &Arc<Project>,
    story: SearchState,
    seeds: u64,
) -> Result<Vec<Row>, String> {
    let first = story.variants.first().ok_or("the search has no variant")?;
    let kernel = project
        .draft(&story.header.kernel, first.proposal.source.clone())
        .map_err(|_problems| "the kernel it started with is no longer in the project".to_owned())?;
    let order = SearchSetup {
        id: story.header.id.clone(),
        project: Arc::clone(project),
        kernel: Arc::new(kernel),
        workload: None,
        device_names: (story.header.device.clone(), story.header.device_title.clone()),
        device: DeviceFacts::default(),
        strategy: Some(StrategyKind::Greedy),
        tuner: TunerKind::Random,
        tunes: true,
        operators: vec![Box::new(Rules)],
        roles: story.header.roles,
        contrast: story.header.contrast,
        budget: Budget::default(),
        seed: story.header.seed,
        knowledge: journals::knowledge(session),
    };
    let archive = replay::archive(order, story);
    let goal = Goal { within: WITHIN, most: archive.attempts() };
    let rows = StrategyKind::ALL.iter().map(|kind| Row {
        name: kind.to_string(),
        spread: candidates::spread(&archive, *kind, seeds, goal),
    });
    Ok(rows.collect())
}

fn text(heading: &str, rows: &[Row], what: &str) -> String {
    let mut text = format!(
        "{heading}\n{what} until within {:.0} % of its best, over seeds\n\n{:<12}  {:>6}  {:>9}  {:>7}\n",
        100.0 * WITHIN,
        "",
        "median",
        "quartiles",
        "reached"
    );
    let number = |count: Option<usize>| count.map_or_else(|| "–".to_owned(), |n| n.to_string());
    for Row { name, spread } in rows {
        let (reached, of) = spread.reached();
        let quartiles =
            format!("{}–{}", number(spread.lower_quartile()), number(spread.upper_quartile()));
        text += &format!(
            "{name:<12}  {:>6}  {quartiles:>9}  {:>7}\n",
            number(spread.median()),
            format!("{reached}/{of}")
        );
    }
    text
}

fn json(rows: &[Row], what: &str) -> String {
    let rows = rows.iter().map(|Row { name, spread }| {
        json!({
            "name": name,
            "median": spread.median(),
            "lower_quartile": spread.lower_quartile(),
            "upper_quartile": spread.upper_quartile(),
            "reached": spread.reached().0,
            "runs": spread.reached().1,
        })
    });
    document(&json!({
        "schema": "lightbench.replay/1",
        "counted": what,
        "within": WITHIN,
        "rows": rows.collect::<Vec<Value>>(),
    }))
}
