//! Tests against stored pictures of one panel of each family: a list, a table with texts, a plot, bars.
//!
//! Fonts, renderer and numbers are fixed, so these pictures are the same everywhere except for antialiasing. There are
//! few of them, in one theme; after an intended change they are reviewed and copied by hand.

use super::*;

#[test]
fn panels_look_as_they_were_last_looked_at() {
    for (panel, name, size) in [
        (Panel::History, "history", [420.0, 200.0]),
        (Panel::Compare, "compare", [760.0, 420.0]),
        (Panel::Roofline, "roofline", [420.0, 300.0]),
        (Panel::SpeedOfLight, "speed-of-light", [420.0, 160.0]),
    ] {
        let (mut bench, script) = opened();
        bench.settings.theme = ThemeName::Dark;
        let runs = [(1, "naive", 6.2e-4), (2, "warp-shuffle", 1.61e-4), (3, "vector16", 1.31e-4)];
        let runs = runs.map(|(number, kernel, seconds)| stored(number, kernel, 0, Some(seconds)));
        script.find(TaskResult::History(folder(), runs.to_vec(), HistoryPart::Last));
        bench.poll(NOW);
        bench.carry_out(Command::SelectRun(RunNumber(3)), NOW);
        for run in [&runs[2], &runs[1]] {
            bench.carry_out(Command::AddToComparison(Some(run.number)), NOW);
            let source = format!("// {}\nvoid f() {{}}\n", run.record.kernel);
            script.find(read(run, Some(source)));
        }
        bench.poll(NOW);
        let state = State { window: Window::new(bench), now: NOW };
        let mut harness =
            testing::harness(ThemeName::Dark, size, state, move |ui, state: &mut State| {
                state.window.logic(ui.ctx(), state.now);
                state.window.only(panel, ui, state.now);
            });
        testing::as_stored(&mut harness, &format!("stored-{name}"));
    }
}
