//! Layouts of panels by name, which the user can change, undo and reset.

use std::collections::{BTreeMap, HashMap};

use egui::Id;
use egui_tiles::{Container, Linear, LinearDir, Tile, TileId, Tiles, Tree};
use serde::{Deserialize, Serialize};

use crate::workbench::Workbench;
use crate::workbench::lesson::PanelSet;
use crate::workbench::panel::{LayoutName, Panel};

/// The schema version that is written.
const SCHEMA: u32 = 1;
/// Maximum number of undo steps.
const MOST_UNDONE: usize = 50;

/// A panel by its stored name; unknown names are skipped when the file is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pane(String);

impl Pane {
    fn new(panel: Panel) -> Self {
        Self(name(panel))
    }

    /// The panel, if the name is known.
    pub(crate) fn panel(&self) -> Option<Panel> {
        Panel::ALL.into_iter().find(|panel| name(*panel) == self.0)
    }
}

fn name(panel: Panel) -> String {
    panel.title().to_lowercase().replace(' ', "_")
}

/// All layouts, and the current one.
#[derive(Debug)]
pub(crate) struct Layouts {
    current: LayoutName,
    trees: BTreeMap<LayoutName, Tree<Pane>>,
    earlier: Vec<(LayoutName, Tree<Pane>)>,
    /// The current layout when a lesson began.
    before_lesson: Option<LayoutName>,
}

/// The stored form.
#[derive(Serialize, Deserialize)]
struct Written {
    schema: u32,
    current: LayoutName,
    #[serde(default)]
    before_lesson: Option<LayoutName>,
    trees: BTreeMap<LayoutName, Tree<Pane>>,
}

impl Default for Layouts {
    fn default() -> Self {
        let trees = LayoutName::ALL.into_iter().map(|name| (name, original(name))).collect();
        let current = LayoutName::default();
        Self { current, trees, earlier: Vec::new(), before_lesson: None }
    }
}

impl Layouts {
    /// Reads stored layouts; missing ones take their defaults.
    ///
    /// # Errors
    /// The problem, in a sentence.
    pub(crate) fn from_ron(text: &str) -> Result<Self, String> {
        let written: Written = ron::from_str(text).map_err(|error| error.to_string())?;
        if written.schema != SCHEMA {
            return Err(format!("schema {} is not {SCHEMA}", written.schema));
        }
        let Written { current, before_lesson, .. } = written;
        let mut layouts = Self { current, before_lesson, ..Self::default() };
        for (name, mut tree) in written.trees {
            let unknown: Vec<TileId> = tree
                .tiles
                .iter()
                .filter(|(_, tile)| matches!(tile, Tile::Pane(pane) if pane.panel().is_none()))
                .map(|(id, _)| *id)
                .collect();
            for id in unknown {
                tree.remove_recursively(id);
            }
            if tree.root().is_some_and(|root| tree.tiles.get(root).is_some()) {
                layouts.trees.insert(name, tree);
            }
        }
        Ok(layouts)
    }

    /// The stored form as text.
    pub(crate) fn to_ron(&self) -> Result<String, ron::Error> {
        let (current, before_lesson) = (self.current, self.before_lesson);
        let written = Written { schema: SCHEMA, current, before_lesson, trees: self.trees.clone() };
        ron::ser::to_string_pretty(&written, ron::ser::PrettyConfig::default())
    }

    /// The current layout.
    pub(crate) const fn current(&self) -> LayoutName {
        self.current
    }

    /// Selects a layout.
    pub(crate) const fn choose(&mut self, name: LayoutName) {
        self.current = name;
    }

    /// Selects the layout of a lesson.
    pub(crate) fn enter_lesson(&mut self) {
        if self.current != LayoutName::Teach {
            self.before_lesson = Some(self.current);
            self.current = LayoutName::Teach;
        }
    }

    /// Restores the layout from before the lesson, unless the user selected another one meanwhile.
    pub(crate) fn leave_lesson(&mut self) -> Change {
        match self.before_lesson.take() {
            Some(before) if self.current == LayoutName::Teach => {
                self.current = before;
                Change::Made
            }
            Some(_) | None => Change::None,
        }
    }

    /// Takes the current layout out while it is drawn.
    pub(crate) fn take(&mut self) -> Tree<Pane> {
        let current = self.current;
        self.trees.remove(&current).unwrap_or_else(|| original(current))
    }

    /// Puts the layout back; `before` is its state before a change, for undo.
    pub(crate) fn put_back(&mut self, tree: Tree<Pane>, before: Option<Tree<Pane>>) {
        self.trees.insert(self.current, tree);
        if let Some(before) = before {
            self.remember(before);
        }
    }

    fn remember(&mut self, before: Tree<Pane>) {
        if self.earlier.len() == MOST_UNDONE {
            self.earlier.remove(0);
        }
        self.earlier.push((self.current, before));
    }

    /// Undoes the latest change. Returns whether there was one.
    pub(crate) fn undo(&mut self) -> Change {
        let Some((name, tree)) = self.earlier.pop() else { return Change::None };
        self.trees.insert(name, tree);
        self.current = name;
        Change::Made
    }

    /// Reset the current layout to its default.
    pub(crate) fn reset(&mut self) {
        let before = self.take();
        self.remember(before);
        self.trees.insert(self.current, original(self.current));
    }

    /// Brings a panel to the front; adds it if it is missing.
    pub(crate) fn show(&mut self, panel: Panel) {
        let mut tree = self.take();
        let is_there =
            |tile: &Tile<Pane>| matches!(tile, Tile::Pane(pane) if pane.panel() == Some(panel));
        let found = tree.tiles.iter().find(|(_, tile)| is_there(tile)).map(|(id, _)| *id);
        match found {
            Some(id) => {
                tree.set_visible(id, true);
                tree.make_active(|candidate, _| candidate == id);
            }
            None => {
                let before = tree.clone();
                add(&mut tree, panel);
                self.remember(before);
            }
        }
        self.trees.insert(self.current, tree);
    }
}

/// The panels that the open lesson names; `None` without a lesson, or if all are shown.
pub(crate) fn panels_of_lesson(bench: &Workbench) -> Option<Vec<Panel>> {
    let taught = bench.open_lesson().filter(|taught| taught.panels == PanelSet::OfLesson)?;
    let named = &taught.lesson.panels;
    let own = named.iter().map(|panel| Panel::from(*panel)).chain([Panel::Lesson]);
    (!named.is_empty()).then(|| own.collect())
}

/// Shows only these panels of a layout; `None` shows all.
pub(crate) fn reveal(tree: &mut Tree<Pane>, shown: Option<&[Panel]>) {
    let has = |tree: &Tree<Pane>, panel: Panel| {
        tree.tiles
            .tiles()
            .any(|tile| matches!(tile, Tile::Pane(pane) if pane.panel() == Some(panel)))
    };
    for panel in shown.unwrap_or_default() {
        if !has(tree, *panel) {
            add(tree, *panel);
        }
    }
    let mut seen: HashMap<TileId, TabVisibility> = HashMap::new();
    let ids: Vec<TileId> = tree.tiles.tile_ids().collect();
    for id in &ids {
        let sight = sight(tree, *id, shown, &mut seen);
        tree.set_visible(*id, sight == TabVisibility::Seen);
    }
}

/// Whether a part of a layout is visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TabVisibility {
    Seen,
    Hidden,
}

/// Updates visibility; a group is visible if any of its children is.
fn sight(
    tree: &Tree<Pane>,
    id: TileId,
    shown: Option<&[Panel]>,
    known: &mut HashMap<TileId, TabVisibility>,
) -> TabVisibility {
    if let Some(sight) = known.get(&id) {
        return *sight;
    }
    let is_seen = match tree.tiles.get(id) {
        Some(Tile::Pane(pane)) => {
            shown.is_none_or(|shown| pane.panel().is_some_and(|panel| shown.contains(&panel)))
        }
        Some(Tile::Container(container)) => {
            let children: Vec<TileId> = container.children().copied().collect();
            // Collected, so that every child is updated.
            let seen = children.into_iter().map(|child| sight(tree, child, shown, known));
            seen.filter(|sight| *sight == TabVisibility::Seen).count() > 0
        }
        None => false,
    };
    let sight = if is_seen { TabVisibility::Seen } else { TabVisibility::Hidden };
    known.insert(id, sight);
    sight
}

/// Whether something changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Made,
    None,
}

/// Adds a panel to the first group of tabs without an editor, else beside everything.
fn add(tree: &mut Tree<Pane>, panel: Panel) {
    let id = tree.tiles.insert_pane(Pane::new(panel));
    let holds_editor = |children: &[TileId]| {
        children.iter().any(|child| {
            let pane = tree.tiles.get_pane(child).and_then(Pane::panel);
            matches!(pane, Some(Panel::Editor | Panel::Project | Panel::History))
        })
    };
    let mut groups: Vec<TileId> = tree
        .tiles
        .iter()
        .filter(|(_, tile)| match tile {
            Tile::Container(Container::Tabs(tabs)) => !holds_editor(&tabs.children),
            Tile::Container(_) | Tile::Pane(_) => false,
        })
        .map(|(id, _)| *id)
        .collect();
    groups.sort_unstable_by_key(|id| id.0);
    match (groups.last(), tree.root()) {
        (Some(group), _) => {
            tree.move_tile_to_container(id, *group, usize::MAX, true);
            tree.make_active(|candidate, _| candidate == id);
        }
        (None, Some(root)) => {
            let both = tree.tiles.insert_horizontal_tile(vec![root, id]);
            tree.root = Some(both);
        }
        (None, None) => tree.root = Some(id),
    }
}

/// A group of panels as tabs; a single panel has a tab too, with its title.
fn tabs(tiles: &mut Tiles<Pane>, panels: &[Panel]) -> TileId {
    let children = panels.iter().map(|panel| tiles.insert_pane(Pane::new(*panel))).collect();
    tiles.insert_tab_tile(children)
}

/// Parts side by side or above each other, with their shares.
fn split(tiles: &mut Tiles<Pane>, direction: LinearDir, parts: &[(TileId, f32)]) -> TileId {
    let mut linear = Linear::new(direction, parts.iter().map(|(id, _)| *id).collect());
    for (id, share) in parts {
        linear.shares.set_share(*id, *share);
    }
    tiles.insert_new(Tile::Container(Container::Linear(linear)))
}

/// The default of a layout.
fn original(name: LayoutName) -> Tree<Pane> {
    use LinearDir::{Horizontal, Vertical};
    let mut tiles = Tiles::default();
    let t = &mut tiles;
    let root = match name {
        LayoutName::Edit => {
            let (project, history) = (tabs(t, &[Panel::Project]), tabs(t, &[Panel::History]));
            let left = split(t, Vertical, &[(project, 0.42), (history, 0.58)]);
            let editor = tabs(t, &[Panel::Editor]);
            let below = tabs(
                t,
                &[Panel::Problems, Panel::Result, Panel::Assembly, Panel::Counters, Panel::Log],
            );
            let middle = split(t, Vertical, &[(editor, 0.68), (below, 0.32)]);
            let roofline = tabs(t, &[Panel::Roofline, Panel::Workloads]);
            let facts =
                tabs(t, &[Panel::SpeedOfLight, Panel::Timing, Panel::Resources, Panel::Device]);
            let right = split(t, Vertical, &[(roofline, 0.55), (facts, 0.45)]);
            split(t, Horizontal, &[(left, 0.21), (middle, 0.45), (right, 0.34)])
        }
        LayoutName::Compare => {
            let history = tabs(t, &[Panel::History]);
            let compare = tabs(t, &[Panel::Compare]);
            let roofline = tabs(t, &[Panel::Roofline]);
            let timing = tabs(t, &[Panel::Timing, Panel::Workloads]);
            let left = split(t, Vertical, &[(history, 0.5), (roofline, 0.5)]);
            let right = split(t, Vertical, &[(compare, 0.7), (timing, 0.3)]);
            split(t, Horizontal, &[(left, 0.3), (right, 0.7)])
        }
        LayoutName::Search => {
            let search = tabs(t, &[Panel::Search]);
            let plots = tabs(t, &[Panel::BestSoFar, Panel::Archive, Panel::History]);
            let variant = tabs(t, &[Panel::Variant]);
            let editor = tabs(t, &[Panel::Editor, Panel::Roofline, Panel::Compare]);
            let left = split(t, Vertical, &[(search, 0.58), (plots, 0.42)]);
            let right = split(t, Vertical, &[(variant, 0.6), (editor, 0.4)]);
            split(t, Horizontal, &[(left, 0.48), (right, 0.52)])
        }
        LayoutName::Code => {
            let editor = tabs(t, &[Panel::Editor]);
            let facts = tabs(t, &[Panel::Counters, Panel::Resources, Panel::Problems]);
            let assembly = tabs(t, &[Panel::Assembly, Panel::Timeline]);
            let left = split(t, Vertical, &[(editor, 0.72), (facts, 0.28)]);
            split(t, Horizontal, &[(left, 0.45), (assembly, 0.55)])
        }
        LayoutName::Teach => {
            let lesson = tabs(t, &[Panel::Lesson]);
            let editor = tabs(t, &[Panel::Editor]);
            let access = tabs(t, &[Panel::Access, Panel::Counters, Panel::Problems]);
            let roofline = tabs(t, &[Panel::Roofline, Panel::SpeedOfLight]);
            // The guess beside the roofline where it appears, the code beside its accesses.
            let left = split(t, Vertical, &[(lesson, 0.66), (roofline, 0.34)]);
            let right = split(t, Vertical, &[(editor, 0.5), (access, 0.5)]);
            split(t, Horizontal, &[(left, 0.4), (right, 0.6)])
        }
    };
    Tree::new(Id::unique(("layout", name)), root, tiles)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panels(tree: &Tree<Pane>) -> Vec<Panel> {
        let mut panels: Vec<Panel> = tree
            .tiles
            .tiles()
            .filter_map(|tile| match tile {
                Tile::Pane(pane) => pane.panel(),
                Tile::Container(_) => None,
            })
            .collect();
        panels.sort_unstable();
        panels
    }

    #[test]
    fn what_is_kept_is_read_again() {
        let mut layouts = Layouts::default();
        layouts.choose(LayoutName::Compare);
        layouts.show(Panel::Doctor);
        layouts.enter_lesson();
        let mut read = Layouts::from_ron(&layouts.to_ron().unwrap()).unwrap();
        for layouts in [&mut read, &mut layouts] {
            assert_eq!(layouts.current(), LayoutName::Teach);
            assert_eq!(layouts.leave_lesson(), Change::Made);
            assert_eq!(layouts.leave_lesson(), Change::None);
        }
        assert_eq!(read.current(), LayoutName::Compare);
        assert_eq!(panels(&read.take()), panels(&layouts.take()));
    }

    #[test]
    fn every_panel_can_be_shown_and_taken_back() {
        for panel in Panel::ALL {
            let mut layouts = Layouts::default();
            let before = panels(&layouts.trees[&LayoutName::Edit]);
            layouts.show(panel);
            assert!(panels(&layouts.trees[&LayoutName::Edit]).contains(&panel), "{panel:?}");
            let expected = if before.contains(&panel) { Change::None } else { Change::Made };
            assert_eq!(layouts.undo(), expected, "{panel:?}");
            assert_eq!(panels(&layouts.trees[&LayoutName::Edit]), before);
        }
    }

    #[test]
    fn a_file_of_another_time_is_read_as_far_as_it_makes_sense() {
        let text = Layouts::default().to_ron().unwrap();
        let check =
            |text: &str, expected: Result<bool, &str>| match (Layouts::from_ron(text), expected) {
                (Ok(mut layouts), Ok(has_roofline)) => {
                    let found = panels(&layouts.take()).contains(&Panel::Roofline);
                    assert_eq!(found, has_roofline, "{text}");
                }
                (Err(error), Err(part)) => assert!(error.contains(part), "{error}"),
                (read, expected) => panic!("{read:?}, expected {expected:?}"),
            };
        check(&text, Ok(true));
        check(&text.replace("roofline", "holodeck"), Ok(false));
        check(&text.replace("schema: 1", "schema: 9"), Err("schema 9"));
        check(&text.replace("current: edit", "current: sideways"), Err("sideways"));
        check("", Err("1:1"));
        check("(schema: 1, current: edit, trees: {})", Ok(true));
    }
}
