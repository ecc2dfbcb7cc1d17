//! Recognition of kernels in which each thread of a two-dimensional launch stores one element, computed from loads.

use lightbench_cuda_source::Node;

use super::super::super::canonical::{Canonical, block_extent, canonical, global_thread_along};
use super::super::super::condition::terms;
use super::super::super::function::Function;
use super::super::super::kernel_source::Site;
use super::super::super::loops::{CountedLoop, Step, counted_loop, is_invariant};
use super::super::super::pointers::{Access, Element, elements};
use super::super::super::refusal::Missing;
use super::super::super::scalar_type::ScalarType;
use super::super::super::syntax::{all, contains, is_return, named, part, statements};
use super::super::super::thread_index::{coordinate, divided, is_launch_size};
use super::super::tiles::{check_threads, depends, form, is_free};

/// A kernel that stores `to[index] = value` for each row and column.
pub(super) struct Transposed<'s> {
    pub(super) site: Site<'s>,
    pub(super) row: Place<'s>,
    pub(super) col: Place<'s>,
    /// Constants that depend on neither place, in order, and those that do.
    pub(super) fixed: Vec<Node<'s>>,
    pub(super) dependent: Vec<Node<'s>>,
    pub(super) to: Node<'s>,
    pub(super) type_name: &'s str,
    pub(super) value: Node<'s>,
    /// Whether neighbouring threads load neighbouring elements; otherwise they store them.
    pub(super) loads_rows: bool,
}

/// A variable that holds the place of a thread along y, which is a row, or along x, which is a column.
#[derive(Clone, Copy)]
pub(super) struct Place<'s> {
    pub(super) name: &'s str,
    pub(super) type_name: &'s str,
    pub(super) end: Node<'s>,
    /// Name of the end in the launch block.
    pub(super) size: &'s str,
}

/// A place while the statements are read.
struct Found<'s> {
    name: &'s str,
    type_name: &'s str,
    end: Option<Node<'s>>,
    /// Where the threads are asked for their place.
    asked: Vec<Node<'s>>,
    is_loop: bool,
}

#[derive(Default)]
struct Statements<'s> {
    /// Along x, then along y.
    places: [Option<Found<'s>>; 2],
    constants: Vec<Node<'s>>,
    store: Option<Node<'s>>,
}

const EXPECTED: &str = "guards and loops of the place along x and along y, and one store";

pub(super) fn read<'s>(function: &Function<'s>) -> Result<Transposed<'s>, Missing> {
    let missing = || Missing::Form { found: function.name.to_owned(), expected: EXPECTED };
    let mut found = Statements::default();
    for (dimension, slot) in found.places.iter_mut().enumerate() {
        *slot = coordinate(function, dimension).map(|local| Found {
            name: local.name,
            type_name: local.type_name,
            end: None,
            asked: vec![local.declaration],
            is_loop: false,
        });
    }
    found.list(function, &statements(function.body))?;
    let Statements { places: [Some(col), Some(row)], constants, store: Some(store) } = found else {
        return Err(missing());
    };
    let asked: Vec<Node<'s>> = col.asked.iter().chain(&row.asked).copied().collect();
    check_threads(function, &|node| asked.iter().any(|place| contains(*place, node)))?;
    let site = *function.sites.first().ok_or_else(missing)?;
    let (col, row) = (col.finished(function, site, 0)?, row.finished(function, site, 1)?);
    let assignment = named(store).first().copied().ok_or_else(missing)?;
    let to = part(assignment, "left").ok_or_else(missing)?;
    let value = part(assignment, "right").ok_or_else(missing)?;
    let (type_name, loads_rows) = axes_of_accesses(function, [row.name, col.name], to, value)?;
    let on_place =
        |node: &Node<'s>| [row.name, col.name].iter().any(|name| depends(function, *node, name, 0));
    let (dependent, fixed) = constants.into_iter().partition(on_place);
    Ok(Transposed { site, row, col, fixed, dependent, to, type_name, value, loads_rows })
}

impl<'s> Statements<'s> {
    fn list(&mut self, function: &Function<'s>, list: &[Node<'s>]) -> Result<(), Missing> {
        for (at, node) in list.iter().enumerate() {
            let is_last = at + 1 == list.len();
            match node.kind() {
                "declaration" => self.declaration(function, *node)?,
                "if_statement" => self.guard(function, *node, is_last)?,
                "for_statement" if is_last => self.turns(function, *node)?,
                "expression_statement" if is_last => self.store = Some(*node),
                "preproc_call" => {}
                _ => return Err(form(function, *node, EXPECTED)),
            }
        }
        Ok(())
    }

    fn declaration(&mut self, function: &Function<'s>, node: Node<'s>) -> Result<(), Missing> {
        let mut places = self.places.iter().flatten().flat_map(|place| &place.asked);
        let is_place = places.any(|place| place.id() == node.id());
        let mut locals = function.declared_by(node).peekable();
        let is_single = function.declared_by(node).count() == 1;
        let is_constant = locals.peek().is_some()
            && locals.all(|local| {
                !local.is_array
                    && !function.is_changed(local.name, function.body)
                    && local.value.is_some_and(|value| is_free(function, value))
            });
        if is_place && is_single {
            return Ok(());
        }
        if is_place || !is_constant || function.subject.of_node(node).contains("static ") {
            return Err(form(function, node, "constants, each computed without a load"));
        }
        self.constants.push(node);
        Ok(())
    }

    fn guard(
        &mut self,
        function: &Function<'s>,
        node: Node<'s>,
        is_last: bool,
    ) -> Result<(), Missing> {
        let refused = || form(function, node, EXPECTED);
        let condition = part(node, "condition").ok_or_else(refused)?;
        let consequence = part(node, "consequence").ok_or_else(refused)?;
        let returns = is_return(consequence);
        if part(node, "alternative").is_some() || (!returns && !is_last) {
            return Err(refused());
        }
        let (joined, wanted) = if returns { ("||", ">=") } else { ("&&", "<") };
        for term in terms(function, condition, joined) {
            let text = |field| part(term, field).map(|node| function.subject.of_node(node));
            let name = text("left").filter(|_| text("operator") == Some(wanted));
            let place = self.places.iter_mut().flatten().find(|place| Some(place.name) == name);
            match place.zip(part(term, "right")) {
                Some((place, end)) if place.end.is_none() => place.end = Some(end),
                _ => return Err(form(function, term, EXPECTED)),
            }
        }
        if returns { Ok(()) } else { self.list(function, &statements(consequence)) }
    }

    /// A loop from the place of a thread by the whole grid, for what the grid does not reach.
    fn turns(&mut self, function: &Function<'s>, node: Node<'s>) -> Result<(), Missing> {
        let refused = || form(function, node, EXPECTED);
        let counted = counted_loop(function, node).ok_or_else(refused)?;
        let CountedLoop { name, type_name, start, end, update, .. } = counted;
        let Step::By(by) = counted.step else { return Err(refused()) };
        let (start_at, by) = (canonical(function, start), canonical(function, by));
        let over_grid = |dimension: usize, letter: &str| {
            let blocks = Canonical::name(&format!("gridDim.{letter}"));
            let whole = block_extent(function, dimension).map(|block| blocks.times(&block));
            Some(&start_at) == global_thread_along(function, dimension).as_ref()
                && Some(&by) == whole.as_ref()
        };
        let slot = match (over_grid(0, "x"), over_grid(1, "y"), &mut self.places) {
            (true, false, [slot, _]) | (false, true, [_, slot]) if slot.is_none() => slot,
            _ => return Err(refused()),
        };
        let (end, asked, is_loop) = (Some(end), vec![start, update], true);
        *slot = Some(Found { name, type_name, end, asked, is_loop });
        self.list(function, &statements(counted.body))
    }
}

impl<'s> Found<'s> {
    fn finished(
        self,
        function: &Function<'s>,
        site: Site<'s>,
        dimension: usize,
    ) -> Result<Place<'s>, Missing> {
        let Self { name, type_name, end, is_loop, .. } = self;
        let missing = || Missing::Form { found: name.to_owned(), expected: "a place with an end" };
        let end = end.ok_or_else(missing)?;
        if !ScalarType::named(type_name).is_some_and(ScalarType::is_integer)
            || !is_invariant(function, end, function.body)
        {
            return Err(form(function, end, "an integer place, and an end that does not change"));
        }
        let sizes = function.subject.definition.axes.iter().map(|axis| axis.name.as_str());
        let size = divided(&site, dimension).filter(|_| !is_loop);
        let mut sizes = size.into_iter().chain(sizes.filter(|_| is_loop));
        let size = sizes.find(|size| is_launch_size(function, &site, end, size));
        let size = size.ok_or_else(|| {
            form(function, end, "a grid of `ceil_div(end, block)`, or a loop up to an axis")
        })?;
        Ok(Place { name, type_name, end, size })
    }
}

/// The type of the stored elements, and whether threads along x load neighbours and store apart. Refused where
/// they do not do one of both.
fn axes_of_accesses<'s>(
    function: &Function<'s>,
    [row, col]: [&str; 2],
    to: Node<'s>,
    value: Node<'s>,
) -> Result<(&'s str, bool), Missing> {
    let everywhere = elements(function, function.body);
    let store = everywhere.iter().find(|each| each.node.id() == to.id());
    let store = store.filter(|store| {
        let own = store.pointer.parameter.name;
        let alone =
            everywhere.iter().filter(|each| each.pointer.parameter.name == own).count() == 1;
        alone && store.access == Access::Store && store.pointer.parameter.twin(function).is_none()
    });
    let store = store.ok_or_else(|| form(function, to, "the only access to an output"))?;
    let loads: Vec<&Element<'_, 's>> =
        everywhere.iter().filter(|each| contains(value, each.node)).collect();
    let inputs = loads
        .iter()
        .all(|load| load.access == Access::Load && load.pointer.parameter.is_input(function));
    let nested = all(value, &["subscript_expression"]).len() != loads.len();
    let calls =
        function.meeting(value).is_some() || !all(value, &["assignment_expression"]).is_empty();
    if !inputs || nested || calls {
        return Err(form(function, value, "loads of inputs, and arithmetic"));
    }
    // A constant place is its value, which has the index of the thread.
    let along = |element: &Element<'_, 's>, names: [&str; 2], others: [&str; 2]| {
        let index = canonical(function, element.index);
        let grows = |names: [&str; 2]| names.iter().any(|name| index.follows(name));
        grows(names) && !grows(others) && others.iter().any(|name| index.has(name))
    };
    let (rows, cols) = ([row, "threadIdx.y"], [col, "threadIdx.x"]);
    let is_row = |element: &Element<'_, 's>| along(element, cols, rows);
    let is_col = |element: &Element<'_, 's>| along(element, rows, cols);
    let has_row = loads.iter().any(|load| is_row(load));
    let has_col = loads.iter().any(|load| is_col(load));
    match (has_row, has_col, is_row(store), is_col(store)) {
        (true, false, false, true) => Ok((store.pointer.element, true)),
        (false, true, true, false) => Ok((store.pointer.element, false)),
        _ => Err(form(function, to, "loads along one dimension and a store along the other")),
    }
}
