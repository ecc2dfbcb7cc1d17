//! Triangle rasterisation: edge functions, the top-left rule, premultiplied blending in gamma space.

use egui::epaint::Vertex;
use egui::{Color32, Rect};
use image::RgbaImage;

use crate::textures::Texture;

/// The picture being drawn.
#[derive(Debug)]
pub(crate) struct Canvas {
    width: u32,
    height: u32,
    /// Red, green, blue and opacity from 0 to 255.
    pixels: Vec<[f32; 4]>,
}

/// The writable pixel range: lower bound inclusive, upper bound exclusive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clip {
    left: i32,
    top: i32,
    right: i32,
    bottom: i32,
}

impl Clip {
    pub(crate) fn new(rect: Rect, scale: f32, canvas: &Canvas) -> Self {
        let pixel =
            |points: f32, limit: u32| (points * scale).round().clamp(0.0, limit as f32) as i32;
        Self {
            left: pixel(rect.min.x, canvas.width),
            top: pixel(rect.min.y, canvas.height),
            right: pixel(rect.max.x, canvas.width),
            bottom: pixel(rect.max.y, canvas.height),
        }
    }
}

/// A position in pixels.
type Place = (f32, f32);

/// Twice the signed area of a triangle, positive on one side of the line from `from` to `to`.
fn edge(from: Place, to: Place, at: Place) -> f32 {
    (to.0 - from.0) * (at.1 - from.1) - (to.1 - from.1) * (at.0 - from.0)
}

/// Whether a pixel exactly on this edge belongs to the triangle, so that triangles sharing an edge draw it once.
fn owns_its_line(from: Place, to: Place) -> bool {
    let (along, down) = (to.0 - from.0, to.1 - from.1);
    down < 0.0 || (down == 0.0 && along > 0.0)
}

impl Canvas {
    pub(crate) fn new(width: u32, height: u32, background: Color32) -> Self {
        let pixel = background.to_array().map(f32::from);
        Self { width, height, pixels: vec![pixel; width as usize * height as usize] }
    }

    /// Draws a triangle; without a texture it takes the colours of its corners.
    pub(crate) fn triangle(
        &mut self,
        mut corners: [Vertex; 3],
        scale: f32,
        clip: Clip,
        texture: Option<&Texture>,
    ) {
        let place = |corner: &Vertex| (corner.pos.x * scale, corner.pos.y * scale);
        let mut at = corners.each_ref().map(place);
        let mut area = edge(at[0], at[1], at[2]);
        if area < 0.0 {
            corners.swap(1, 2);
            at.swap(1, 2);
            area = -area;
        }
        let is_drawable = area > 0.0 && area.is_finite();
        if !is_drawable {
            return;
        }
        let span = |low: f32, high: f32, from: i32, to: i32| {
            ((low.floor() as i32).max(from), (high.ceil() as i32).min(to))
        };
        let all = |axis: fn(&Place) -> f32| at.each_ref().map(axis);
        let (xs, ys) = (all(|place| place.0), all(|place| place.1));
        let least = |values: [f32; 3]| values[0].min(values[1]).min(values[2]);
        let most = |values: [f32; 3]| values[0].max(values[1]).max(values[2]);
        let (left, right) = span(least(xs), most(xs), clip.left, clip.right);
        let (top, bottom) = span(least(ys), most(ys), clip.top, clip.bottom);
        let sides = [(at[1], at[2]), (at[2], at[0]), (at[0], at[1])];
        let owned = sides.map(|(from, to)| owns_its_line(from, to));
        let shade = Shade::new(&corners, texture);
        for y in top..bottom {
            for x in left..right {
                let center = (x as f32 + 0.5, y as f32 + 0.5);
                let weights = sides.map(|(from, to)| edge(from, to, center));
                let inside =
                    |side: usize| weights[side] > 0.0 || (weights[side] == 0.0 && owned[side]);
                if !(inside(0) && inside(1) && inside(2)) {
                    continue;
                }
                let color = shade.color(weights.map(|weight| weight / area));
                self.blend(y as usize * self.width as usize + x as usize, color);
            }
        }
    }

    fn blend(&mut self, index: usize, color: [f32; 4]) {
        let below = &mut self.pixels[index];
        let through = 1.0 - color[3] / 255.0;
        for (below, above) in below.iter_mut().zip(color) {
            *below = above + *below * through;
        }
    }

    pub(crate) fn into_image(self) -> RgbaImage {
        let mut image = RgbaImage::new(self.width, self.height);
        for (pixel, color) in image.pixels_mut().zip(&self.pixels) {
            pixel.0 = color.map(|channel| channel.clamp(0.0, 255.0).round() as u8);
        }
        image
    }
}

/// The fill of a triangle.
struct Shade<'a> {
    colors: [[f32; 4]; 3],
    places: [(f32, f32); 3],
    texture: Option<&'a Texture>,
    /// The colour of all pixels, if it is constant, as for most of a window.
    flat: Option<[f32; 4]>,
}

impl<'a> Shade<'a> {
    fn new(corners: &[Vertex; 3], texture: Option<&'a Texture>) -> Self {
        let colors = corners.each_ref().map(|corner| corner.color.to_array().map(f32::from));
        let places = corners.each_ref().map(|corner| (corner.uv.x, corner.uv.y));
        let mut shade = Self { colors, places, texture, flat: None };
        let is_flat = colors[0] == colors[1]
            && colors[1] == colors[2]
            && places[0] == places[1]
            && places[1] == places[2];
        if is_flat {
            shade.flat = Some(shade.color([1.0, 0.0, 0.0]));
        }
        shade
    }

    #[inline]
    fn color(&self, weights: [f32; 3]) -> [f32; 4] {
        if let Some(flat) = self.flat {
            return flat;
        }
        let mix = |values: [f32; 3]| {
            values[0] * weights[0] + values[1] * weights[1] + values[2] * weights[2]
        };
        let texel = match self.texture {
            Some(texture) => {
                let along = mix(self.places.map(|place| place.0));
                let down = mix(self.places.map(|place| place.1));
                texture.sample(along, down)
            }
            None => [255.0; 4],
        };
        std::array::from_fn(|channel| {
            mix(self.colors.map(|color| color[channel])) * texel[channel] / 255.0
        })
    }
}
