//! Colour scales for amounts and lines, interpolated between tokens.

use egui::Color32;

use crate::theme::{Color, Tokens};

/// The colour of an amount from 0 to 1.
#[must_use]
pub fn heat(tokens: &Tokens, value: f32) -> Color32 {
    let steps = tokens.heat.len().saturating_sub(1);
    // NaN means not counted: no heat.
    let value = if value > 0.0 { value.min(1.0) } else { 0.0 };
    let place = value * steps as f32;
    let below = (place.floor() as usize).min(steps);
    let color = |step: usize| tokens.heat.get(step).map_or(tokens.accent.0, |color| color.0);
    color(below).lerp_to_gamma(color((below + 1).min(steps)), place - below as f32)
}

/// The colour of a source line: constant, and distinct from its neighbours.
#[must_use]
pub fn line_color(tokens: &Tokens, line: usize) -> Color32 {
    let count = tokens.series.len().max(1);
    let color = |index: usize| {
        tokens.series.get(index % count).map_or(tokens.accent, |color: &Color| *color).0
    };
    // Adjacent lines are far apart in the series; every other round uses intermediate colours.
    let first = line * 3 % count;
    if (line / count).is_multiple_of(2) {
        color(first)
    } else {
        color(first).lerp_to_gamma(color(first + 3), 0.5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::ThemeName;

    #[test]
    fn amounts_and_lines_have_their_colours() {
        for theme in ThemeName::ALL {
            let tokens = theme.tokens();
            let ends = [tokens.heat.first(), tokens.heat.last()].map(|color| color.unwrap().0);
            assert_eq!([heat(&tokens, 0.0), heat(&tokens, 1.0)], ends);
            assert_eq!(heat(&tokens, f32::NAN), ends[0], "no number is no heat");
            let lines: Vec<Color32> = (0..16).map(|line| line_color(&tokens, line)).collect();
            for pair in lines.windows(2) {
                assert_ne!(pair[0], pair[1]);
            }
        }
    }
}
