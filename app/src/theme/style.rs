//! Sizes, spacing and egui's visuals, derived from tokens.

use egui::style::{Selection, WidgetVisuals, Widgets};
use egui::{
    Context, CornerRadius, FontFamily, FontId, Margin, Shadow, Stroke, Style, TextStyle, Theme,
    Visuals, vec2,
};

use super::ThemeName;
use super::tokens::{Base, Color, Tokens};

/// The base distance, in points.
pub const GAP: f32 = 4.0;
/// Corner radius of buttons and frames, in points.
pub const RADIUS: u8 = 4;
/// Height of a row of a table or list, in points.
pub const ROW: f32 = 22.0;

pub(super) fn apply(context: &Context, tokens: &Tokens, theme: ThemeName) {
    let (side, zoom) = match tokens.base {
        Base::Dark => (Theme::Dark, 1.0),
        Base::Light if theme == ThemeName::Projector => (Theme::Light, 1.15),
        Base::Light => (Theme::Light, 1.0),
    };
    let mut style = Style { visuals: visuals(tokens), ..Style::default() };
    text(&mut style, zoom);
    spacing(&mut style);
    // Short fades only, so that an idle window does not repaint.
    style.animation_time = 0.08;
    // The user's theme overrides the system's preference.
    context.set_theme(side);
    context.set_style_of(Theme::Dark, style.clone());
    context.set_style_of(Theme::Light, style);
}

fn text(style: &mut Style, zoom: f32) {
    let sizes = [
        (TextStyle::Small, 11.5, FontFamily::Proportional),
        (TextStyle::Body, 13.0, FontFamily::Proportional),
        (TextStyle::Button, 13.0, FontFamily::Proportional),
        (TextStyle::Monospace, 13.0, FontFamily::Monospace),
        (TextStyle::Heading, 17.0, FontFamily::Name(super::STRONG.into())),
    ];
    for (name, size, family) in sizes {
        style.text_styles.insert(name, FontId::new(size * zoom, family));
    }
}

fn spacing(style: &mut Style) {
    let spacing = &mut style.spacing;
    spacing.item_spacing = vec2(2.0 * GAP, GAP);
    spacing.button_padding = vec2(2.0 * GAP, 0.75 * GAP);
    spacing.interact_size = vec2(24.0, 22.0);
    spacing.menu_margin = Margin::same(6);
    spacing.window_margin = Margin::same(12);
    spacing.indent = 16.0;
    spacing.scroll.bar_width = 8.0;
    spacing.tooltip_width = 420.0;
}

fn visuals(tokens: &Tokens) -> Visuals {
    let mut visuals = match tokens.base {
        Base::Dark => Visuals::dark(),
        Base::Light => Visuals::light(),
    };
    let (surface, line, text) = (tokens.surface, tokens.line, tokens.text);
    visuals.widgets = widgets(tokens);
    visuals.selection =
        Selection { bg_fill: surface.selected.0, stroke: Stroke::new(1.0, text.strong.0) };
    visuals.weak_text_color = Some(text.weak.0);
    visuals.hyperlink_color = tokens.accent.0;
    visuals.faint_bg_color = surface.raised.faded(0.5);
    visuals.extreme_bg_color = surface.sunken.0;
    visuals.text_edit_bg_color = Some(surface.sunken.0);
    visuals.code_bg_color = surface.raised.0;
    visuals.warn_fg_color = tokens.status.warning.0;
    visuals.error_fg_color = tokens.status.bad.0;
    visuals.window_fill = surface.panel.0;
    visuals.panel_fill = surface.panel.0;
    visuals.window_stroke = Stroke::new(1.0, line.strong.0);
    visuals.window_corner_radius = CornerRadius::same(8);
    visuals.menu_corner_radius = CornerRadius::same(6);
    visuals.window_shadow = shadow(24);
    visuals.popup_shadow = shadow(12);
    visuals.slider_trailing_fill = true;
    visuals.image_loading_spinners = false;
    visuals.indent_has_left_vline = false;
    visuals
}

const fn shadow(blur: u8) -> Shadow {
    Shadow { offset: [0, 4], blur, spread: 0, color: egui::Color32::from_black_alpha(72) }
}

fn widgets(tokens: &Tokens) -> Widgets {
    let (surface, line, text) = (tokens.surface, tokens.line, tokens.text);
    let state = |fill: Color, edge: Color, front: Color| WidgetVisuals {
        bg_fill: fill.0,
        weak_bg_fill: fill.0,
        bg_stroke: Stroke::new(1.0, edge.0),
        corner_radius: CornerRadius::same(RADIUS),
        fg_stroke: Stroke::new(1.0, front.0),
        expansion: 0.0,
    };
    Widgets {
        noninteractive: state(surface.panel, line.normal, text.normal),
        inactive: state(surface.raised, line.normal, text.normal),
        hovered: state(surface.hovered, line.strong, text.strong),
        active: state(surface.pressed, tokens.accent, text.strong),
        open: state(surface.hovered, line.strong, text.strong),
    }
}
