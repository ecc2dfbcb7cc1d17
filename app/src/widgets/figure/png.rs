//! Renders a figure to pixels on the processor, in a theme's colours.

use egui::{Context, RawInput, Rect, pos2, vec2};
use image::RgbaImage;
use lightbench_core::figure::{Figure, lay_out};
use lightbench_picture::Painter;

use super::paint;
use crate::theme::{self, ThemeName};

/// Margin of the picture, in points.
const EDGE: f32 = 16.0;

/// Renders a whole figure in this size in points and scale. It needs no window; it is too slow for the window's thread.
#[must_use]
pub fn png(
    figure: &Figure,
    theme: ThemeName,
    (width, height): (f32, f32),
    scale: f32,
) -> RgbaImage {
    let context = Context::default();
    theme::install(&context);
    theme::apply(&context, theme);
    context.set_pixels_per_point(scale);
    let mut painter = Painter::default();
    let mut size = vec2(width, height);
    let mut image = RgbaImage::default();
    // The first pass measures row heights and loads fonts.
    for _ in 0..2 {
        let screen_rect = Some(Rect::from_min_size(pos2(0.0, 0.0), size));
        let input = RawInput { screen_rect, ..RawInput::default() };
        let mut needed = size;
        let mut output = context.run_ui(input, |ui| {
            let inside = (f64::from(width - 2.0 * EDGE), f64::from(height - 2.0 * EDGE));
            let scene = lay_out(figure, figure.fit(), inside, &paint::Fonts::new(ui));
            needed.y = scene.height as f32 + 2.0 * EDGE;
            ui.painter().extend(paint::shapes(ui, &scene.shapes, pos2(EDGE, EDGE)));
        });
        painter.update(&mut output.textures_delta);
        image = painter.frame(&context, &output, theme.tokens().surface.panel.0);
        size = needed;
    }
    image
}
