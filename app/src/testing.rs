//! The one way in which tests show something: fonts and a theme in place, drawn on the processor.

use std::fs;
use std::path::Path;

use egui::{Context, FullOutput, TexturesDelta, Ui, Vec2};
use egui_kittest::{Harness, TestRenderer};
use image::RgbaImage;
use lightbench_picture::Painter;

use crate::theme::{self, ThemeName};

#[derive(Default)]
struct OnProcessor(Painter);

impl TestRenderer for OnProcessor {
    fn handle_delta(&mut self, delta: &mut TexturesDelta) {
        self.0.update(delta);
    }

    fn render(&mut self, context: &Context, output: &FullOutput) -> Result<RgbaImage, String> {
        let background = context.global_style().visuals.panel_fill;
        Ok(self.0.frame(context, output, background))
    }
}

/// Shows something that has a state.
pub(crate) fn harness<'a, State>(
    theme: ThemeName,
    size: impl Into<Vec2>,
    state: State,
    show: impl FnMut(&mut Ui, &mut State) + 'a,
) -> Harness<'a, State> {
    let mut harness = Harness::builder()
        .with_size(size)
        .renderer(OnProcessor::default())
        .with_context_setup(move |context| {
            theme::install(context);
            theme::apply(context, theme);
        })
        .build_ui_state(show, state);
    harness.run();
    harness
}

/// Draws what is shown, keeps it under `target/pictures` for people to look at, and insists that something is there.
pub(crate) fn picture<State>(harness: &mut Harness<'_, State>, name: &str) -> RgbaImage {
    let image = harness.render().expect("the processor draws everything");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/pictures");
    fs::create_dir_all(&folder).expect("the folder of pictures");
    image.save(folder.join(format!("{name}.png"))).expect("a picture is written");
    let first = image.get_pixel(0, 0);
    let other = image.pixels().filter(|pixel| *pixel != first).count();
    assert!(other * 200 > image.pixels().count(), "{name}: the picture is empty");
    image
}
