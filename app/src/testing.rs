//! The window in tests: fonts and theme installed, drawn on the processor, compared with stored snapshots and pictures.

mod snapshot;

use std::fs;
use std::path::Path;

use egui::{Context, FullOutput, TexturesDelta, Ui, Vec2};
use egui_kittest::{Harness, TestRenderer};
use image::RgbaImage;
use lightbench_picture::Painter;

use crate::theme::{self, ThemeName};

pub(crate) use snapshot::{elements, snapshot};

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

/// A harness around a user interface with state.
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

/// Renders the interface, and stores the picture under `target/pictures`.
fn picture<State>(harness: &mut Harness<'_, State>, name: &str) -> RgbaImage {
    let image = harness.render().expect("the processor draws everything");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/pictures");
    fs::create_dir_all(&folder).expect("the folder of pictures");
    image.save(folder.join(format!("{name}.png"))).expect("a picture is written");
    image
}

/// Whether two pictures of one size differ where they are drawn, beyond the tolerance of a colour channel.
pub(crate) fn differ(one: &RgbaImage, other: &RgbaImage) -> bool {
    assert_eq!(one.dimensions(), other.dimensions());
    far(one, other) > 0.0
}

/// Tolerance of a colour channel: systems differ in the antialiasing of curves and glyphs.
const NEAR: u8 = 48;
/// Maximum fraction of pixels beyond the tolerance.
const MOST_FAR: f64 = 0.003;

/// Renders the interface and compares it with the stored picture in `tests/data/pictures`. There are few of them: a
/// stored picture shows that something changed, not that it is wrong. Everything that has a name or a value is compared by
/// [`snapshot`].
pub(crate) fn as_stored<State>(harness: &mut Harness<'_, State>, name: &str) {
    let image = picture(harness, name);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/pictures");
    let look = format!(
        "look at target/pictures/{name}.png; where it is right, copy it to tests/data/pictures"
    );
    let stored = image::open(folder.join(format!("{name}.png")));
    let stored = stored.unwrap_or_else(|error| panic!("{name}: {error}; {look}")).into_rgba8();
    assert_eq!(image.dimensions(), stored.dimensions(), "{name}: {look}");
    let share = far(&image, &stored);
    assert!(share <= MOST_FAR, "{name}: {:.2} % of all pixels are others; {look}", share * 100.0);
}

/// The fraction of pixels that differ beyond the tolerance.
fn far(one: &RgbaImage, other: &RgbaImage) -> f64 {
    let is_far = |(one, other): &(&image::Rgba<u8>, &image::Rgba<u8>)| {
        one.0.iter().zip(other.0).any(|(one, other)| one.abs_diff(other) > NEAR)
    };
    one.pixels().zip(other.pixels()).filter(is_far).count() as f64 / one.pixels().len() as f64
}

#[test]
fn a_picture_with_another_word_is_another_picture() {
    let draw = |text: &'static str| {
        let mut harness = harness(ThemeName::Dark, [320.0, 200.0], (), move |ui, (): &mut ()| {
            ui.heading("Times");
            ui.label(text);
            ui.add(egui::Separator::default());
        });
        harness.render().expect("the processor draws everything")
    };
    assert!(far(&draw("131 microseconds"), &draw("131 microseconds")) <= MOST_FAR);
    assert!(far(&draw("131 microseconds"), &draw("620 milliseconds")) > MOST_FAR);
}

#[test]
fn at_most_eight_pictures_are_stored() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/pictures");
    let pictures = fs::read_dir(folder).expect("the folder of stored pictures").count();
    assert!((1..=8).contains(&pictures), "{pictures} stored pictures");
}
