//! Textures: the fonts and images that egui supplies.

use std::collections::BTreeMap;

use egui::{Color32, ImageData, TextureId, TexturesDelta};

/// An image that fills triangles.
#[derive(Clone, Debug)]
pub(crate) struct Texture {
    width: usize,
    height: usize,
    pixels: Vec<Color32>,
}

/// All current textures.
#[derive(Debug, Default)]
pub(crate) struct Textures {
    by_id: BTreeMap<TextureId, Texture>,
}

impl Textures {
    pub(crate) fn get(&self, id: TextureId) -> Option<&Texture> {
        self.by_id.get(&id)
    }

    pub(crate) fn update(&mut self, delta: &mut TexturesDelta) {
        // Texture by texture: only the order of patches within one texture matters.
        let set = std::mem::take(&mut delta.set);
        set.into_iter().for_each(|(id, patches)| {
            for patch in patches {
                let ImageData::Color(image) = &patch.image;
                let [width, height] = image.size;
                match patch.pos {
                    None => {
                        let pixels = image.pixels.clone();
                        self.by_id.insert(id, Texture { width, height, pixels });
                    }
                    Some(at) => {
                        if let Some(texture) = self.by_id.get_mut(&id) {
                            texture.patch(at, [width, height], &image.pixels);
                        }
                    }
                }
            }
        });
        let freed = std::mem::take(&mut delta.free);
        freed.into_iter().for_each(|id| drop(self.by_id.remove(&id)));
    }
}

impl Texture {
    fn patch(&mut self, [left, top]: [usize; 2], [width, height]: [usize; 2], pixels: &[Color32]) {
        for (row, line) in pixels.chunks_exact(width.max(1)).take(height).enumerate() {
            let from = (top + row) * self.width + left;
            if let Some(place) = self.pixels.get_mut(from..from + width) {
                place.copy_from_slice(line);
            }
        }
    }

    /// The bilinearly interpolated colour at a position from 0 to 1 in both directions; premultiplied, 0 to 255.
    #[inline]
    pub(crate) fn sample(&self, u: f32, v: f32) -> [f32; 4] {
        let (last_x, last_y) = (self.width - 1, self.height - 1);
        let x = (u * self.width as f32 - 0.5).clamp(0.0, last_x as f32);
        let y = (v * self.height as f32 - 0.5).clamp(0.0, last_y as f32);
        let (left, top) = (x as usize, y as usize);
        let (right, bottom) = ((left + 1).min(last_x), (top + 1).min(last_y));
        let (along, down) = (x - left as f32, y - top as f32);
        let at = |x: usize, y: usize| self.pixels[y * self.width + x].to_array().map(f32::from);
        if along == 0.0 && down == 0.0 {
            return at(left, top);
        }
        let (a, b, c, d) = (at(left, top), at(right, top), at(left, bottom), at(right, bottom));
        std::array::from_fn(|channel| {
            let upper = a[channel] + (b[channel] - a[channel]) * along;
            let lower = c[channel] + (d[channel] - c[channel]) * along;
            upper + (lower - upper) * down
        })
    }
}
