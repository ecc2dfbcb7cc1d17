//! A software rasteriser for egui's output: pictures of the window without a display, a GPU or OpenGL.
//!
//! egui outputs textured triangles with premultiplied colours, blended in gamma space. Paint callbacks are skipped,
//! because the window uses none. This is a crate of its own so that it can be optimised when the program is not.

#![allow(
    missing_docs,
    reason = "internal items of the program, which no other crate documents against"
)]

mod textures;
mod triangle;

use egui::epaint::Primitive;
use egui::{Color32, Context, FullOutput, TexturesDelta};
use image::RgbaImage;

use textures::Textures;
use triangle::{Canvas, Clip};

/// Stores egui's textures and draws frames with them.
#[derive(Debug, Default)]
pub struct Painter {
    textures: Textures,
}

impl Painter {
    /// Applies new, changed and freed textures, and removes them from the delta.
    pub fn update(&mut self, delta: &mut TexturesDelta) {
        self.textures.update(delta);
    }

    /// Draws one frame over a background, in physical pixels.
    #[must_use]
    pub fn frame(&self, context: &Context, output: &FullOutput, background: Color32) -> RgbaImage {
        let scale = output.pixels_per_point;
        let size = context.content_rect().size() * scale;
        let mut canvas = Canvas::new(size.x.round() as u32, size.y.round() as u32, background);
        for clipped in context.tessellate(output.shapes.clone(), scale) {
            let Primitive::Mesh(mesh) = &clipped.primitive else { continue };
            let clip = Clip::new(clipped.clip_rect, scale, &canvas);
            let texture = self.textures.get(mesh.texture_id);
            for corners in mesh.indices.chunks_exact(3) {
                let corner = |index: u32| mesh.vertices.get(index as usize).copied();
                let found = [corner(corners[0]), corner(corners[1]), corner(corners[2])];
                let [Some(a), Some(b), Some(c)] = found else { continue };
                canvas.triangle([a, b, c], scale, clip, texture);
            }
        }
        canvas.into_image()
    }
}
