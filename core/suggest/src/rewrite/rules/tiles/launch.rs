//! Launch of a tiled product: square blocks of a parametric size, and a grid of whole tiles.

use std::ops::Range;

use super::super::super::edit::Edit;
use super::super::super::function::Function;
use super::super::super::kernel_source::Site;
use super::super::super::refusal::Missing;
use super::super::super::syntax::{all, part};
use super::super::block_parameter::replaced;
use super::Share;
use super::operand::zero;
use super::product::Product;

/// Static shared memory of a block.
const STATIC_BYTES: i128 = 48 * 1024;

/// Parameters, by the names that the launch block has for them.
pub(super) struct Sizes {
    /// Threads along each side of a block.
    pub(super) tile: String,
    /// Results of a thread along y and along x; none for one.
    pub(super) rows: Option<String>,
    pub(super) cols: Option<String>,
    /// Turns of the loop that a tile holds.
    pub(super) depth: String,
}

/// The parameters and the edits that make the launch, the template and the launch bounds agree with them.
pub(super) fn sized(
    function: &Function<'_>,
    product: &Product<'_>,
    share: Share,
) -> Result<(Sizes, Vec<Edit>), Missing> {
    let subject = function.subject;
    let tile = subject.fresh("TILE");
    let sizes = match share {
        Share::One => Sizes { depth: tile.clone(), tile, rows: None, cols: None },
        Share::Several => Sizes {
            tile,
            rows: Some(subject.fresh("ROWS")),
            cols: Some(subject.fresh("COLS")),
            depth: subject.fresh("DEPTH"),
        },
    };
    let places: Vec<_> =
        product.axes.iter().map(|axis| axis.place.declaration.byte_range()).collect();
    let old = old_parameters(function, product.site, &places);
    let values = tiles(share);
    // One edit for all of them: the launch block may have no parameters yet.
    let mut new: Vec<(&str, &[i64])> = Vec::new();
    let mut edits = Vec::new();
    if old.is_empty() {
        new.push((&sizes.tile, &values));
    } else {
        edits = renamed(function, product.site, &old, (&sizes.tile, &values));
    }
    if let (Some(rows), Some(cols)) = (&sizes.rows, &sizes.cols) {
        new.extend([(rows.as_str(), &[4, 8, 2, 1][..]), (cols, &[4, 8, 2, 1])]);
        new.push((&sizes.depth, &[16, 8, 32]));
        edits.push(subject.new_condition(&fits(product, &sizes)));
    }
    if !new.is_empty() {
        edits.insert(0, subject.new_parameters(&new)?);
    }
    let site = product.site;
    for axis in &product.axes {
        let by = match sizes.results(axis.dimension) {
            Some(several) => format!("{} * {several}", sizes.tile),
            None => sizes.tile.clone(),
        };
        let grid = format!("ceil_div({}, {by})", axis.size);
        edits.push(subject.new_size(site.size("grid", axis.dimension), &grid));
        edits.push(subject.new_size(site.size("block", axis.dimension), &sizes.tile));
    }
    if let Some(threads) = function.bounded_threads() {
        let square = format!("PARAM_{0} * PARAM_{0}", sizes.tile);
        edits.push(Edit::replace(threads.byte_range(), square));
    }
    Ok((sizes, edits))
}

impl Sizes {
    /// The parameter for the results of a thread along a dimension.
    pub(super) fn results(&self, dimension: usize) -> Option<&str> {
        if dimension == 0 { self.cols.as_deref() } else { self.rows.as_deref() }
    }
}

fn tiles(share: Share) -> [i64; 3] {
    match share {
        Share::One => [32, 16, 8],
        Share::Several => [16, 8, 32],
    }
}

/// Both tiles fit into shared memory.
fn fits(product: &Product<'_>, sizes: &Sizes) -> String {
    let bytes = product.operands.map(|operand| zero(operand.element).map_or(8, |(_, bytes)| bytes));
    let [left, right] = bytes;
    let (rows, cols) = (sizes.rows.as_deref().unwrap_or("1"), sizes.cols.as_deref().unwrap_or("1"));
    let Sizes { tile, depth, .. } = sizes;
    format!(
        "{tile} * ({rows} * ({depth} + 1) * {left} + {cols} * {depth} * {right}) <= {STATIC_BYTES}"
    )
}

/// Parameters of the block's size, which the code uses in `places` only, by their positions. The first becomes that of
/// the tile.
pub(in super::super) fn old_parameters(
    function: &Function<'_>,
    site: Site<'_>,
    places: &[Range<usize>],
) -> Vec<usize> {
    let names: Vec<&str> = site.step.block.iter().flat_map(|size| size.names()).collect();
    let parameters = function.subject.launch.parameters.iter().enumerate();
    parameters
        .filter(|(index, each)| {
            names.contains(&each.name.as_str()) && !is_elsewhere(function, site, places, *index)
        })
        .map(|(index, _)| index)
        .collect()
}

/// Whether a parameter is named where the size of a block does not matter, or may not.
fn is_elsewhere(
    function: &Function<'_>,
    site: Site<'_>,
    places: &[Range<usize>],
    index: usize,
) -> bool {
    let subject = function.subject;
    let name = subject.launch.parameters.get(index).map_or("", |each| each.name.as_str());
    let at = site.at;
    let mut spans = vec![
        subject.block.field("params").key(index).span.clone(),
        at.field("grid").span.clone(),
        at.field("block").span.clone(),
        at.field("kernel").span.clone(),
    ];
    spans.extend(places.iter().cloned());
    let bounds = function.launch_bounds();
    spans.extend(bounds.map(|bounds| bounds.byte_range()));
    let is_word = |letter: char| letter == '_' || letter.is_ascii_alphanumeric();
    subject.source.match_indices(name).any(|(start, _)| {
        let end = start + name.len();
        let before = subject.source.get(..start).unwrap_or_default();
        let after = subject.source.get(end..).and_then(|text| text.chars().next());
        let prefixed = before.ends_with("PARAM_");
        let whole = (prefixed || !before.chars().next_back().is_some_and(is_word))
            && !after.is_some_and(is_word);
        // A template parameter of the same name is another name.
        let is_template = function.templates.contains(&name)
            && !prefixed
            && function.outer.byte_range().contains(&start);
        whole && !is_template && !spans.iter().any(|span| span.contains(&start))
    })
}

/// The first parameter and its template parameter have the tile's name; the others go.
pub(in super::super) fn renamed(
    function: &Function<'_>,
    site: Site<'_>,
    old: &[usize],
    (tile, values): (&str, &[i64]),
) -> Vec<Edit> {
    let subject = function.subject;
    let params = subject.block.field("params");
    let values: Vec<String> = values.iter().map(i64::to_string).collect();
    let name = |index: &usize| {
        let parameter = subject.launch.parameters.get(*index);
        format!("PARAM_{}", parameter.map_or("", |each| each.name.as_str()))
    };
    let mut edits = Vec::new();
    let mut kernel = site.step.kernel.text().to_owned();
    for (at, index) in old.iter().enumerate() {
        let (key, value) = (params.key(*index).span.clone(), params.value(*index).span.clone());
        if at == 0 {
            edits.push(Edit::replace(key, format!("\"{tile}\"")));
            edits.push(Edit::replace(value, format!("[{}]", values.join(", "))));
        } else {
            // Behind the first, so that another entry stands before it.
            let before = params.value(index.saturating_sub(1)).span.end;
            edits.push(Edit::replace(before..value.end, ""));
        }
        let tiled = replaced(&kernel, &name(index), &format!("PARAM_{tile}"));
        kernel = tiled.unwrap_or(kernel);
    }
    if kernel != site.step.kernel.text() {
        edits.push(subject.new_size(site.at.field("kernel"), &kernel));
    }
    let argument = old.first().map(name);
    let list =
        part(function.outer, "parameters").filter(|_| function.outer.id() != function.node.id());
    for node in list.map_or_else(Vec::new, |list| all(list, &["identifier"])) {
        let text = subject.of_node(node);
        let at = function.templates.iter().position(|each| *each == text);
        let is_size = at.is_some_and(|at| {
            function.template_arguments(at).iter().all(|written| Some(written) == argument.as_ref())
        });
        if is_size {
            edits.push(Edit::replace(node.byte_range(), tile));
        }
    }
    edits
}
