//! The panels' tiles: our implementation of egui_tiles' behaviour.

use std::time::Duration;

use egui::{Color32, Frame, Margin, Response, Stroke, Ui, Visuals, WidgetText};
use egui_tiles::{
    EditAction, ResizeState, SimplificationOptions, TabState, TileId, Tiles, UiResponse,
};

use super::layout::Pane;
use crate::panels::{self, Views};
use crate::theme;
use crate::workbench::Workbench;
use crate::workbench::command::Command;

/// Draws panels and observes changes of the layout.
pub(super) struct Behavior<'a> {
    bench: &'a mut Workbench,
    views: &'a mut Views,
    commands: &'a mut Vec<Command>,
    now: Duration,
    edit: Edit,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Edit {
    None,
    Made,
}

impl<'a> Behavior<'a> {
    pub(super) const fn new(
        bench: &'a mut Workbench,
        views: &'a mut Views,
        commands: &'a mut Vec<Command>,
        now: Duration,
    ) -> Self {
        Self { bench, views, commands, now, edit: Edit::None }
    }

    /// Whether the layout was changed.
    pub(super) fn is_edited(&self) -> bool {
        self.edit == Edit::Made
    }
}

impl egui_tiles::Behavior<Pane> for Behavior<'_> {
    fn pane_ui(&mut self, ui: &mut Ui, _: TileId, pane: &mut Pane) -> UiResponse {
        let tokens = theme::tokens(ui);
        let Some(panel) = pane.panel() else { return UiResponse::None };
        let inset = panels::inset(panel);
        Frame::new().fill(tokens.surface.panel.0).inner_margin(Margin::same(inset)).show(
            ui,
            |ui| {
                ui.set_min_size(ui.available_size());
                panels::show(panel, ui, self.bench, self.views, self.now, self.commands);
            },
        );
        UiResponse::None
    }

    fn tab_title_for_pane(&mut self, pane: &Pane) -> WidgetText {
        let Some(panel) = pane.panel() else { return "?".into() };
        panels::title(panel, self.bench).into()
    }

    fn on_tab_button(
        &mut self,
        tiles: &mut Tiles<Pane>,
        tile: TileId,
        button: Response,
    ) -> Response {
        button.context_menu(|ui| {
            if ui.button("Close panel").clicked() {
                tiles.remove(tile);
                self.edit = Edit::Made;
                ui.close();
            }
        });
        button
    }

    fn is_tab_closable(&self, _: &Tiles<Pane>, _: TileId) -> bool {
        false
    }

    fn tab_bar_height(&self, _: &egui::Style) -> f32 {
        26.0
    }

    fn gap_width(&self, _: &egui::Style) -> f32 {
        4.0
    }

    fn min_size(&self) -> f32 {
        120.0
    }

    fn tab_title_spacing(&self, _: &Visuals) -> f32 {
        10.0
    }

    fn tab_bar_color(&self, visuals: &Visuals) -> Color32 {
        visuals.widgets.inactive.bg_fill
    }

    fn tab_bg_color(
        &self,
        visuals: &Visuals,
        _: &Tiles<Pane>,
        _: TileId,
        state: &TabState,
    ) -> Color32 {
        if state.active { visuals.panel_fill } else { Color32::TRANSPARENT }
    }

    fn tab_outline_stroke(&self, _: &Visuals, _: &Tiles<Pane>, _: TileId, _: &TabState) -> Stroke {
        Stroke::NONE
    }

    fn tab_text_color(
        &self,
        visuals: &Visuals,
        _: &Tiles<Pane>,
        _: TileId,
        state: &TabState,
    ) -> Color32 {
        if state.active { visuals.strong_text_color() } else { visuals.weak_text_color() }
    }

    fn resize_stroke(&self, style: &egui::Style, state: ResizeState) -> Stroke {
        match state {
            ResizeState::Idle => Stroke::NONE,
            ResizeState::Hovering => style.visuals.widgets.hovered.bg_stroke,
            ResizeState::Dragging => style.visuals.widgets.active.bg_stroke,
        }
    }

    fn simplification_options(&self) -> SimplificationOptions {
        SimplificationOptions { all_panes_must_have_tabs: true, ..SimplificationOptions::default() }
    }

    fn on_edit(&mut self, action: EditAction) {
        match action {
            EditAction::TileResized | EditAction::TileDropped | EditAction::TabSelected => {
                self.edit = Edit::Made;
            }
            EditAction::TileDragged => {}
        }
    }
}
