//! Agent commands as operators of a search that is killed and goes on.

use super::*;
use crate::history::machine::Machine;
use crate::models::{Ledger, ModelAccess, ModelRegistry, ModelSettings, NoKeyring};
use crate::search::Journal;

/// A program that answers with a block size, another one once it is told that something was tried.
const SCRIPT: &str = r#"if grep -q "tried:"; then size=128; else size=512; fi; printf '```json\n{"BLOCK": %s}\n```\n' $size"#;

/// The operator of an agent of the settings, opened as for each start of a search.
fn agent() -> Box<dyn Operator> {
    let agent = serde_json::json!({ "argv": ["/bin/sh", "-c", SCRIPT], "environment": ["PATH"] });
    let settings = serde_json::json!({ "agents": { "editor": agent } });
    let settings: ModelSettings = serde_json::from_value(settings).unwrap();
    let roster = ModelRegistry::new(&settings).unwrap();
    let access: ModelAccess = roster.access(&|name| std::env::var_os(name), &NoKeyring);
    let ledger = Ledger::new(crate::models::Budget::default());
    Box::new(ModelOperator::new(ModelSetup {
        model: roster.open("editor", &access, &ledger, 1).unwrap(),
        prices: None,
        redactor: access.redactor().clone(),
        sheet: DeviceSheet::named("h200").unwrap(),
        roles: Roles::Proposer,
        contrast: 0,
        stop: StopSignal::never(),
    }))
}

fn order() -> SearchSetup {
    SearchSetup {
        operators: vec![agent()],
        ..order_of(operator(recorded(), Roles::Proposer), Some(6))
    }
}

fn audience<'a>() -> SearchListeners<'a> {
    SearchListeners { listener: Box::new(|_, _| {}), keeper: Box::new(|_| {}) }
}

fn laboratory(order: &SearchSetup) -> Scripted {
    Scripted { workloads: order.workloads().iter().map(|each| each.name.clone()).collect() }
}

/// What was proposed by whom, what came of it, and what nothing came of.
fn gist(story: &SearchState) -> Vec<String> {
    let variants = story.variants.iter().map(|variant| {
        let talk = variant.proposal.talk.as_ref().map(|talk| (&talk.prompt, &talk.reply));
        format!("{} {:?} {talk:?}", variant.proposal.origin, variant.decision)
    });
    let attempts = story.attempts.iter().map(|attempt| format!("{attempt:?}"));
    variants.chain(attempts).chain([format!("{:?} {:?}", story.best, story.ended)]).collect()
}

#[test]
#[cfg(unix)]
fn a_search_with_an_agent_goes_on_with_it_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let machine = Machine::open(&folder.path().join("state")).unwrap();
    let path = folder.path().join("journal.jsonl");
    let journal = Journal::create(&path, machine.clone()).unwrap();
    let first = order();
    let laboratory_of_first = laboratory(&first);
    let explorer = Explorer::begin(first, laboratory_of_first, Some(journal), audience()).unwrap();
    let whole = explorer.run().0;
    let is_agents = |variant: &crate::search::Variant| {
        variant.proposal.talk.as_ref().is_some_and(|talk| talk.model == "editor")
    };
    let proposed = whole.variants.iter().filter(|variant| is_agents(variant)).count();
    assert_eq!(proposed, 2, "{:#?}", gist(&whole));
    let text = std::fs::read_to_string(&path).unwrap();
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
    for end in ends.iter().skip(1) {
        std::fs::write(&path, &text[..*end]).unwrap();
        let (journal, read) = Journal::resume(&path, machine.clone()).unwrap();
        let again = order();
        let laboratory = laboratory(&again);
        let explorer = Explorer::resume(again, laboratory, read.story, Some(journal), audience());
        assert_eq!(gist(&explorer.run().0), gist(&whole), "killed after {end} bytes");
    }
}
