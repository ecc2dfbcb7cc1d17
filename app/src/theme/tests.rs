//! Tests of the themes: contrast per WCAG 2.2, and distinct colours of origins.

use super::{Color, ThemeName, Tokens};

/// Pairs of colours and their minimum contrast.
fn pairs(tokens: &Tokens) -> Vec<(&'static str, Color, Color, f64)> {
    let (surface, text) = (tokens.surface, tokens.text);
    let mut pairs = vec![("on the accent", text.on_accent, tokens.accent, 4.5)];
    for ground in [surface.panel, surface.raised, surface.hovered, surface.sunken, surface.selected]
    {
        pairs.push(("strong text", text.strong, ground, 7.0));
        pairs.push(("text", text.normal, ground, 7.0));
        pairs.push(("weak text", text.weak, ground, 3.9));
    }
    for ground in [surface.panel, surface.sunken] {
        let (status, origin, syntax) = (tokens.status, tokens.origin, tokens.syntax);
        for (name, color) in [
            ("weak text on panels", text.weak),
            ("accent", tokens.accent),
            ("good", status.good),
            ("warning", status.warning),
            ("bad", status.bad),
            ("running", status.running),
            ("measured", origin.measured),
            ("modelled", origin.modelled),
            ("predicted", origin.predicted),
            ("recorded", origin.recorded),
            ("plain", syntax.plain),
            ("keyword", syntax.keyword),
            ("kind", syntax.kind),
            ("function", syntax.function),
            ("number", syntax.number),
            ("string", syntax.string),
            ("comment", syntax.comment),
            ("directive", syntax.directive),
            ("builtin", syntax.builtin),
            ("register", syntax.register),
            ("punctuation", syntax.punctuation),
        ] {
            pairs.push((name, color, ground, 4.5));
        }
        pairs.extend(tokens.series.iter().map(|color| ("series", *color, ground, 3.0)));
    }
    pairs
}

#[test]
fn everything_can_be_read_in_every_theme() {
    for theme in ThemeName::ALL {
        for (what, front, ground, least) in pairs(&theme.tokens()) {
            let contrast = front.contrast(ground);
            assert!(
                contrast >= least,
                "{theme}: {what} has {contrast:.2}, needs {least}: {front:?} on {ground:?}"
            );
        }
    }
}

#[test]
fn origins_do_not_look_alike() {
    for theme in ThemeName::ALL {
        let origin = theme.tokens().origin;
        let all = [origin.measured, origin.modelled, origin.predicted, origin.recorded];
        for (index, one) in all.iter().enumerate() {
            for other in &all[index + 1..] {
                let difference = |channel: usize| {
                    f64::from(one.0.to_array()[channel]) - f64::from(other.0.to_array()[channel])
                };
                let distance =
                    (0..3).map(|channel| difference(channel).powi(2)).sum::<f64>().sqrt();
                assert!(distance > 60.0, "{theme}: {one:?} and {other:?} are {distance:.0} apart");
            }
        }
    }
}

fn color(text: &str) -> Color {
    ron::from_str(&format!("\"{text}\"")).unwrap()
}

#[test]
fn contrast_is_what_the_guideline_says() {
    let check = |one: &str, other: &str, expected: f64| {
        let contrast = color(one).contrast(color(other));
        assert!((contrast - expected).abs() < 0.01, "{one} on {other}: {contrast}");
    };
    check("#000000", "#ffffff", 21.0);
    check("#777777", "#ffffff", 4.478);
    check("#ffffff", "#ffffff", 1.0);
}
