//! Tests of searches: started, followed, inspected, accepted and undone.

use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use lightbench_core::search::Entry;
use lightbench_core::search::entry::End;

use super::{NOW, SIZE, State, press, shown};
use crate::testing;
use crate::theme::ThemeName;
use crate::workbench::background_task::{BackgroundTask, TaskResult};
use crate::workbench::command::Command;
use crate::workbench::panel::{LayoutName, Panel};
use crate::workbench::search::tests::{Played, begun, entries, story};
use crate::workbench::search::{FailureVisibility, JournalOrigin, LoadedSearch, SearchCommand};
use crate::workbench::tests::{Script, folder};

/// The layout Search with a search that has produced these entries.
fn searching(
    theme: ThemeName,
    size: [f32; 2],
    told: Vec<Entry>,
) -> (Harness<'static, State>, Script, Played) {
    let (mut harness, script) = shown(theme, size);
    harness.state_mut().window.carry_out(Command::Layout(LayoutName::Search), NOW);
    let played = begun(&mut harness.state_mut().window.bench, &script);
    played.tell(told);
    harness.run();
    (harness, script, played)
}

fn order(harness: &mut Harness<'static, State>, command: SearchCommand) {
    harness.state_mut().window.carry_out(Command::Search(command), NOW);
    harness.run();
}

fn selected(harness: &Harness<'static, State>) -> Option<usize> {
    harness.state().window.bench.searches.shown().map(|(number, _)| number)
}

#[test]
fn a_search_can_be_seen_in_every_theme() {
    for theme in ThemeName::ALL {
        let (harness, _, _) = searching(theme, [1440.0, 900.0], entries());
        testing::snapshot(&harness, "search-running");
        for panel in [Panel::Search, Panel::Variant, Panel::BestSoFar, Panel::Archive] {
            let (mut bench, script) = crate::workbench::tests::opened();
            bench.settings.theme = theme;
            begun(&mut bench, &script).tell(entries());
            let state = State { window: super::Window::new(bench), now: NOW };
            let size = [640.0, 460.0];
            let harness = testing::harness(theme, size, state, move |ui, state: &mut State| {
                state.window.logic(ui.ctx(), state.now);
                state.window.only(panel, ui, state.now);
            });
            testing::snapshot(&harness, &format!("search-{panel:?}"));
        }
    }
}

#[test]
fn a_variant_is_accepted_and_taken_back() {
    let (mut harness, script) = shown(ThemeName::Dark, [1440.0, 900.0]);
    let before = harness.state().window.bench.documents.front().unwrap().clone();
    press(&mut harness, Modifiers::NONE, Key::F9);
    assert!(script.handed().iter().any(|task| matches!(task, BackgroundTask::Search(_))));
    harness.get_by_label("Starting");
    let bench = &mut harness.state_mut().window.bench;
    bench.searches = crate::workbench::search::Searches::default();
    let played = begun(bench, &script);
    for entry in entries() {
        played.tell([entry]);
        harness.run();
    }
    harness.get_by_label_contains("Variant 5, the tree in shared memory").click();
    harness.run();
    assert_eq!(selected(&harness), Some(5));
    testing::snapshot(&harness, "flow-search-selected");
    harness.get_by_label("Accept").click();
    harness.run();
    harness.run();
    let front = harness.state().window.bench.documents.front().unwrap().clone();
    assert_eq!(front.file.display().to_string(), "kernels/naive-2.cu");
    let source = story().variants[5].proposal.source.clone();
    assert_eq!(front.text, source);
    assert!(front.is_changed(), "nothing is saved before somebody saves");
    testing::snapshot(&harness, "flow-search-accepted");
    let role = egui::accesskit::Role::MultilineTextInput;
    harness.get_by_role_and_label(role, "kernels/naive-2.cu").focus();
    harness.run();
    press(&mut harness, Modifiers::COMMAND, Key::Z);
    let bench = &harness.state().window.bench;
    assert_eq!(bench.documents.front().unwrap().text, "");
    assert_eq!(bench.documents.get(&before.file).unwrap().text, before.text);
}

#[test]
fn arrow_keys_go_from_variant_to_variant() {
    let (mut harness, _, _) = searching(ThemeName::Light, SIZE, entries());
    harness.get_by_label_contains("Variant 0, ").click();
    harness.run();
    for expected in [1, 2, 5] {
        press(&mut harness, Modifiers::NONE, Key::ArrowDown);
        assert_eq!(selected(&harness), Some(expected));
    }
    press(&mut harness, Modifiers::NONE, Key::ArrowUp);
    assert_eq!(selected(&harness), Some(2));
    harness.get_by_label("Show 2 failed").click();
    harness.run();
    assert_eq!(harness.state().window.bench.searches.failures, FailureVisibility::Hidden);
    assert!(harness.query_by_label_contains("Variant 3, ").is_none());
}

#[test]
fn a_variant_is_rejected_with_a_reason() {
    let (mut harness, _, _) = searching(ThemeName::Dark, SIZE, entries());
    order(&mut harness, SearchCommand::Select(6));
    testing::snapshot(&harness, "flow-search-failed");
    harness.get_by_label("Prompt to local").click();
    harness.run();
    harness.get_by_label_contains("It is limited by memory.");
    testing::snapshot(&harness, "flow-search-talk");
    harness.get_by_label("Reject…").click();
    harness.run();
    harness.get_by_label("Reason for the rejection").focus();
    harness.run();
    harness.event(egui::Event::Text("it spills".to_owned()));
    harness.run();
    harness.get_by_label("Reject").click();
    harness.run();
    harness.run();
    let story = harness.state().window.bench.searches.story().unwrap();
    assert_eq!(story.variants[6].turned_down.as_deref(), Some("it spills"));
    harness.get_by_label("You rejected it");
}

#[test]
fn the_plan_has_models() {
    for theme in ThemeName::ALL {
        let (mut harness, script) = shown(theme, SIZE);
        harness.state_mut().window.carry_out(Command::Layout(LayoutName::Search), NOW);
        let settings = "(servers: {}, agents: {\"editor\": (argv: [\"/usr/bin/editor\"])})";
        let models = ron::from_str(settings).unwrap();
        harness.state_mut().window.bench.settings.models = models;
        harness.run();
        let plan = |harness: &Harness<'static, State>| {
            harness.state().window.bench.settings.search.clone()
        };
        assert!(plan(&harness).models.is_empty());
        assert!(harness.query_by_label("Roles: proposer").is_none());
        harness.get_by_label("editor").click();
        harness.run();
        assert!(plan(&harness).models.contains("editor"));
        let is_kept = |task: &BackgroundTask| matches!(task, BackgroundTask::SaveSettings(kept) if kept.search.models.contains("editor"));
        assert!(script.handed().iter().any(is_kept), "it is not there the next time");
        harness.get_by_label("Roles: proposer");
        testing::snapshot(&harness, "search-plan");
    }
}

#[test]
fn a_foreign_search_is_for_looking_only() {
    let (mut harness, script) = shown(ThemeName::Light, SIZE);
    harness.state_mut().window.carry_out(Command::Layout(LayoutName::Search), NOW);
    script.find(TaskResult::SearchesListed(folder(), vec![story().header]));
    harness.run();
    testing::snapshot(&harness, "flow-search-before");
    harness.get_by_label("Earlier searches 1").click();
    harness.run();
    harness.get_by_label_contains("naive  plan on virtual H200").click();
    harness.run();
    let read = LoadedSearch { story: Box::new(story()), writer: JournalOrigin::Foreign };
    script.find(TaskResult::Search(folder(), Ok(read)));
    harness.run();
    harness.get_by_label("Written by another machine; read-only");
    assert!(harness.query_by_label("Resume it").is_none());
    testing::snapshot(&harness, "flow-search-foreign");
}

#[test]
fn a_search_that_ends_impossible_is_a_notice() {
    let (mut harness, _, played) = searching(ThemeName::Dark, SIZE, entries());
    let knowledge = Box::default();
    let why = End::Impossible("the device is gone".to_owned());
    played.say(lightbench_core::engine::SearchThreadEvent::Ended { why, learnt: knowledge });
    harness.run();
    let notices = &harness.state().window.bench.notices;
    assert!(notices.newest().any(|notice| notice.text.contains("the device is gone")));
    harness.get_by_label("It cannot continue: the device is gone");
    harness.get_by_label("Resume it");
    testing::snapshot(&harness, "flow-search-impossible");
}

#[test]
fn one_change_is_suggested_shown_and_accepted_by_keys() {
    for theme in ThemeName::ALL {
        let (mut harness, _) = shown(theme, SIZE);
        harness.state_mut().window.carry_out(Command::Layout(LayoutName::Search), NOW);
        press(&mut harness, Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::G);
        testing::snapshot(&harness, "search-suggestion");
        harness.get_by_label("Next suggestion").click();
        harness.run();
        harness.get_by_label("Accept suggestion").click();
        harness.run();
        harness.run();
        let front = harness.state().window.bench.documents.front().unwrap();
        assert!(front.is_changed() && front.file.ends_with("naive-2.cu"), "{:?}", front.file);
    }
}

#[test]
fn a_paused_search_leaves_the_window_alone() {
    let (mut harness, _, _) = searching(ThemeName::Dark, SIZE, entries());
    harness.get_by_label("Pause").click();
    harness.run();
    harness.get_by_label("Paused");
    harness.get_by_label("Go on").click();
    harness.run();
    harness.get_by_label("Running");
}

#[test]
fn models_of_the_settings_take_part_in_the_plan() {
    let text = r#"(servers: {
        "qwen-coder": (endpoint: "http://localhost:8000/v1", model: "qwen"),
        "hosted": (endpoint: "https://api.example.com/v1", model: "large"),
    })"#;
    for theme in ThemeName::ALL {
        let (mut bench, _script) = crate::workbench::tests::opened();
        bench.settings.theme = theme;
        bench.settings.models = ron::from_str(text).unwrap();
        let state = State { window: super::Window::new(bench), now: NOW };
        let mut harness =
            testing::harness(theme, [640.0, 460.0], state, |ui, state: &mut State| {
                state.window.logic(ui.ctx(), state.now);
                state.window.only(Panel::Search, ui, state.now);
            });
        harness.get_by_label("qwen-coder").focus();
        press(&mut harness, Modifiers::NONE, Key::Enter);
        harness.run();
        assert!(harness.state().window.bench.settings.search.models.contains("qwen-coder"));
        testing::snapshot(&harness, "search-models");
    }
}
