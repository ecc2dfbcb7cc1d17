//! Draws what egui lays out, on the processor: pictures of the window without a display, a GPU or OpenGL.
//!
//! egui gives textured triangles with premultiplied colours, which are blended in gamma space. This is all that is needed
//! to see them; callbacks that paint by themselves are left out, because nothing here uses them. A crate of its own, so
//! that it is optimised also where the program around it is not.

mod textures;
mod triangle;

use egui::epaint::Primitive;
use egui::{Color32, Context, FullOutput, TexturesDelta};
use image::RgbaImage;

use textures::Textures;
use triangle::{Canvas, Clip};

/// Keeps the textures that egui hands out, and draws frames with them.
#[derive(Debug, Default)]
pub struct Painter {
    textures: Textures,
}

impl Painter {
    /// Takes over new, changed and freed textures; what is taken over is removed from the delta.
    pub fn update(&mut self, delta: &mut TexturesDelta) {
        self.textures.update(delta);
    }

    /// One frame over a background, in physical pixels.
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
