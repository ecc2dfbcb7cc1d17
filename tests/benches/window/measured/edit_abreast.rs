//! Every panel of the layout Edit beside the others, also those that are behind a tab at first.

use egui_tiles::{Tiles, Tree};
use lightbench::workbench::panel::{LayoutName, Panel};
use serde::Serialize;
use std::collections::BTreeMap;

/// The panels that Edit has, as it is at first.
const PANELS: [Panel; 14] = [
    Panel::Project,
    Panel::History,
    Panel::Editor,
    Panel::Problems,
    Panel::Result,
    Panel::Assembly,
    Panel::Counters,
    Panel::Log,
    Panel::Roofline,
    Panel::Workloads,
    Panel::SpeedOfLight,
    Panel::Timing,
    Panel::Resources,
    Panel::Device,
];

/// A panel as a file of layouts names it.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Pane(String);

/// A file of layouts.
#[derive(Serialize)]
struct Written {
    schema: u32,
    current: LayoutName,
    trees: BTreeMap<LayoutName, Tree<Pane>>,
}

/// The file of layouts in which they stand in a grid.
pub(crate) fn layouts() -> String {
    let mut tiles = Tiles::default();
    let panes = PANELS.map(|panel| {
        let name = panel.title().to_lowercase().replace(' ', "_");
        let pane = tiles.insert_pane(Pane(name));
        tiles.insert_tab_tile(vec![pane])
    });
    let root = tiles.insert_grid_tile(panes.to_vec());
    let tree = Tree::new(egui::Id::unique("abreast"), root, tiles);
    let trees = BTreeMap::from([(LayoutName::Edit, tree)]);
    ron::to_string(&Written { schema: 1, current: LayoutName::Edit, trees }).unwrap()
}
