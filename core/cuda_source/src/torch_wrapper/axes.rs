//! Axes of a project from a wrapper: names for sizes, which sizes are equal, and the limits that checks give them.

use std::collections::{BTreeMap, BTreeSet};

use super::condition::{Comparison, Condition};
use super::description::{
    AllocatedShape, ArgumentValue, ConstexprValue, Step, TensorOrigin, TritonLaunch, Wrapper,
};
use super::integer::{Fact, Integer, Operator};

/// The sizes of all tensors of a wrapper as expressions of axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Axes {
    /// In the order of the parameters and their dimensions.
    pub axes: Vec<Axis>,
    /// The shape of each tensor of the wrapper, as formulas of sizes that [`text`](Self::text) writes.
    pub shapes: Vec<Vec<Integer>>,
    /// Shapes that nothing in the wrapper decides.
    pub guesses: Vec<ShapeGuess>,
    /// Checks that are not limits of one axis.
    pub conditions: Vec<Condition>,
    sizes: BTreeMap<(usize, i64), Size>,
    ranks: Vec<usize>,
    parameters: Vec<String>,
}

/// A size that workloads choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    pub name: String,
    pub min: i128,
    pub max: Option<i128>,
    pub multiple_of: i128,
}

/// A received tensor whose shape the wrapper never asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShapeGuess {
    pub tensor: usize,
    /// The tensor whose shape, or last dimension, it is assumed to have.
    pub like: Option<usize>,
}

/// What stands for a size.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Size {
    Axis(usize),
    Given(String),
    Literal(i128),
}

impl Axes {
    /// A formula in the expression language of projects.
    #[must_use]
    pub fn text(&self, integer: &Integer) -> Option<String> {
        self.simplified(integer)?.text(&|fact| self.name(fact))
    }

    /// A condition in the expression language of projects; `None` if it always holds or is none of integers.
    #[must_use]
    pub fn condition_text(&self, condition: &Condition) -> Option<String> {
        condition.replaced(&|fact| self.canonical(fact))?.text(&|fact| self.name(fact))
    }

    /// The value of a formula for a value of each axis and integer parameter, by their names.
    #[must_use]
    pub fn value(&self, integer: &Integer, of: &dyn Fn(&str) -> Option<i128>) -> Option<i128> {
        self.simplified(integer)?.value(&|fact| self.fact_value(fact, of))
    }

    /// The value of one fact, as [`value`](Self::value).
    #[must_use]
    pub fn fact_value(&self, fact: Fact, of: &dyn Fn(&str) -> Option<i128>) -> Option<i128> {
        match self.canonical(fact)? {
            Integer::Fact(fact) => {
                let name = self.name(fact)?;
                of(&name)
            }
            other @ (Integer::Literal(_) | Integer::Binary(..) | Integer::NextPowerOfTwo(_)) => {
                other.value(&|fact| self.fact_value(fact, of))
            }
        }
    }

    fn simplified(&self, integer: &Integer) -> Option<Integer> {
        integer.replaced(&|fact| self.canonical(fact))
    }

    /// A fact as a formula of sizes with one name each.
    fn canonical(&self, fact: Fact) -> Option<Integer> {
        match fact {
            Fact::Size { tensor, dimension } => {
                let dimension = self.dimension(tensor, dimension)?;
                match self.sizes.get(&(tensor, dimension))? {
                    Size::Literal(literal) => Some(Integer::Literal(*literal)),
                    size @ (Size::Axis(_) | Size::Given(_)) => {
                        let first = self.sizes.iter().find(|(_, other)| *other == size)?;
                        let ((tensor, dimension), _) = first;
                        let fact = Fact::Size { tensor: *tensor, dimension: *dimension };
                        Some(Integer::Fact(fact))
                    }
                }
            }
            Fact::Stride { tensor, dimension } => {
                let inner = self.dimension(tensor, dimension)? + 1;
                self.product(tensor, inner)
            }
            Fact::Elements(tensor) => self.product(tensor, 0),
            Fact::Rank(tensor) => {
                Some(Integer::Literal(i128::try_from(*self.ranks.get(tensor)?).ok()?))
            }
            Fact::Parameter(_) => Some(Integer::Fact(fact)),
        }
    }

    fn dimension(&self, tensor: usize, dimension: i64) -> Option<i64> {
        let rank = i64::try_from(*self.ranks.get(tensor)?).ok()?;
        let dimension = if dimension < 0 { dimension + rank } else { dimension };
        (0..rank).contains(&dimension).then_some(dimension)
    }

    fn product(&self, tensor: usize, from: i64) -> Option<Integer> {
        let rank = i64::try_from(*self.ranks.get(tensor)?).ok()?;
        let sizes: Option<Vec<Integer>> = (from..rank)
            .map(|dimension| self.canonical(Fact::Size { tensor, dimension }))
            .collect();
        Integer::product(sizes?)
    }

    fn name(&self, fact: Fact) -> Option<String> {
        match fact {
            Fact::Size { tensor, dimension } => match self.sizes.get(&(tensor, dimension))? {
                Size::Axis(axis) => Some(self.axes.get(*axis)?.name.clone()),
                // An operand of a larger formula.
                Size::Given(text) if text.contains([' ', '+', '-', '*', '/', '%']) => {
                    Some(format!("({text})"))
                }
                Size::Given(text) => Some(text.clone()),
                Size::Literal(literal) => Some(literal.to_string()),
            },
            Fact::Parameter(position) => self.parameters.get(position).cloned(),
            Fact::Stride { .. } | Fact::Elements(_) | Fact::Rank(_) => None,
        }
    }
}

/// Names the sizes of a wrapper's tensors. `given` has the shapes of received tensors that a task states, as texts;
/// `is_taken` states names that cannot be used.
#[must_use]
pub fn axes(
    wrapper: &Wrapper,
    given: &BTreeMap<usize, Vec<String>>,
    is_taken: &dyn Fn(&str) -> bool,
) -> Axes {
    let mut guesses = Vec::new();
    let ranks = ranks(wrapper, given, &mut guesses);
    let classes = classes(wrapper, given, &ranks, &guesses);
    let mut axes = Axes {
        axes: Vec::new(),
        shapes: Vec::new(),
        guesses,
        conditions: Vec::new(),
        sizes: BTreeMap::new(),
        ranks,
        parameters: wrapper.parameters.iter().map(|each| each.name.clone()).collect(),
    };
    axes.name_sizes(wrapper, given, &classes, is_taken);
    axes.shapes = (0..wrapper.tensors.len()).map(|tensor| axes.shape_of(wrapper, tensor)).collect();
    axes.limits(wrapper);
    axes
}

impl Axes {
    fn shape_of(&self, wrapper: &Wrapper, tensor: usize) -> Vec<Integer> {
        let own = |tensor: usize| -> Vec<Integer> {
            let rank = self.ranks.get(tensor).copied().unwrap_or_default();
            let rank = i64::try_from(rank).unwrap_or_default();
            (0..rank).map(|dimension| Integer::Fact(Fact::Size { tensor, dimension })).collect()
        };
        match wrapper.tensors.get(tensor).map(|tensor| &tensor.origin) {
            Some(TensorOrigin::Allocated(AllocatedShape::Sizes(sizes))) => sizes.clone(),
            Some(TensorOrigin::Allocated(AllocatedShape::Like(like))) => own(*like),
            Some(TensorOrigin::Parameter(_)) | None => own(tensor),
        }
    }

    fn name_sizes(
        &mut self,
        wrapper: &Wrapper,
        given: &BTreeMap<usize, Vec<String>>,
        classes: &BTreeMap<(usize, i64), (usize, i64)>,
        is_taken: &dyn Fn(&str) -> bool,
    ) {
        let mut by_class: BTreeMap<(usize, i64), Size> = BTreeMap::new();
        for (size, class) in classes {
            let index = usize::try_from(size.1).unwrap_or_default();
            if let Some(text) = given.get(&size.0).and_then(|shape| shape.get(index)) {
                let known = text.parse().map_or_else(|_| Size::Given(text.clone()), Size::Literal);
                by_class.entry(*class).or_insert(known);
            }
        }
        for (size, class) in classes {
            if !by_class.contains_key(class) {
                self.axes.push(Axis { name: String::new(), min: 1, max: None, multiple_of: 1 });
                by_class.insert(*class, Size::Axis(self.axes.len() - 1));
            }
            if let Some(known) = by_class.get(class) {
                self.sizes.insert(*size, known.clone());
            }
        }
        let mut used: BTreeSet<String> = wrapper
            .tensors
            .iter()
            .map(|tensor| tensor.name.to_ascii_lowercase())
            .chain(wrapper.parameters.iter().map(|each| each.name.to_ascii_lowercase()))
            .collect();
        let sizes = self.sizes.clone();
        for ((tensor, dimension), size) in &sizes {
            let Size::Axis(axis) = size else { continue };
            if self.axes.get(*axis).is_some_and(|axis| !axis.name.is_empty()) {
                continue;
            }
            let fact = Fact::Size { tensor: *tensor, dimension: *dimension };
            let owner = wrapper.tensors.get(*tensor).map_or("x", |tensor| tensor.name.as_str());
            let name = self.local_name(wrapper, fact);
            let name = name.unwrap_or_else(|| format!("{owner}_{dimension}"));
            let name = free_name(&name, &used, is_taken);
            used.insert(name.to_ascii_lowercase());
            if let Some(axis) = self.axes.get_mut(*axis) {
                axis.name = name;
            }
        }
    }

    /// The name of a local that holds a size.
    fn local_name(&self, wrapper: &Wrapper, fact: Fact) -> Option<String> {
        let wanted = self.canonical(fact)?;
        let found = wrapper.local_names.iter().find(|(formula, name)| {
            name.len() <= 40 && self.simplified(formula).as_ref() == Some(&wanted)
        });
        found.map(|(_, name)| name.clone())
    }

    /// Moves conditions on one axis into its limits.
    fn limits(&mut self, wrapper: &Wrapper) {
        for condition in &wrapper.requirements {
            let Some(condition) = condition.replaced(&|fact| self.canonical(fact)) else {
                continue;
            };
            match &condition {
                Condition::Always(_) => continue,
                Condition::Compare(comparison, left, Integer::Literal(limit)) => {
                    if self.limit(*comparison, left, *limit) {
                        continue;
                    }
                }
                Condition::Compare(Comparison::Equal, left, right) if left == right => continue,
                Condition::Compare(..)
                | Condition::And(..)
                | Condition::Or(..)
                | Condition::Not(_)
                | Condition::SameShape(..)
                | Condition::HasDtype(..)
                | Condition::SameDtype(..)
                | Condition::Given
                | Condition::Unknown => {}
            }
            self.conditions.push(condition);
        }
    }

    fn limit(&mut self, comparison: Comparison, left: &Integer, limit: i128) -> bool {
        let (fact, unit) = match left {
            Integer::Fact(fact) => (*fact, None),
            Integer::Binary(Operator::Remainder, inner, unit) => match (&**inner, &**unit) {
                (Integer::Fact(fact), Integer::Literal(unit)) => (*fact, Some(*unit)),
                _ => return false,
            },
            Integer::Literal(_) | Integer::Binary(..) | Integer::NextPowerOfTwo(_) => return false,
        };
        let Fact::Size { tensor, dimension } = fact else { return false };
        let Some(Size::Axis(axis)) = self.sizes.get(&(tensor, dimension)) else { return false };
        let Some(axis) = self.axes.get_mut(*axis) else { return false };
        match (comparison, unit) {
            (Comparison::Equal, Some(unit)) if limit == 0 && unit > 0 => {
                axis.multiple_of = axis.multiple_of.max(unit);
                axis.min = axis.min.max(unit);
            }
            (_, Some(_)) => return false,
            (Comparison::Equal, None) => {
                axis.min = limit;
                axis.max = Some(limit);
            }
            (Comparison::NotEqual, None) => return limit <= 0,
            (Comparison::Less, None) => {
                axis.max = Some(axis.max.map_or(limit - 1, |max| max.min(limit - 1)));
            }
            (Comparison::LessOrEqual, None) => {
                axis.max = Some(axis.max.map_or(limit, |max| max.min(limit)));
            }
            (Comparison::Greater, None) => axis.min = axis.min.max(limit.saturating_add(1)),
            (Comparison::GreaterOrEqual, None) => axis.min = axis.min.max(limit),
        }
        true
    }
}

/// A name that nothing else has.
fn free_name(wanted: &str, used: &BTreeSet<String>, is_taken: &dyn Fn(&str) -> bool) -> String {
    let is_free = |name: &str| !used.contains(&name.to_ascii_lowercase()) && !is_taken(name);
    if is_free(wanted) {
        return wanted.to_owned();
    }
    let numbered = (2..).map(|number| format!("{wanted}_{number}"));
    std::iter::once(format!("{wanted}_size"))
        .chain(numbered)
        .find(|name| is_free(name))
        .unwrap_or_default()
}

/// The number of dimensions of each tensor.
fn ranks(
    wrapper: &Wrapper,
    given: &BTreeMap<usize, Vec<String>>,
    guesses: &mut Vec<ShapeGuess>,
) -> Vec<usize> {
    let mut ranks: Vec<Option<usize>> = (0..wrapper.tensors.len())
        .map(|tensor| {
            let stated = wrapper.tensors.get(tensor).and_then(|tensor| tensor.rank);
            given.get(&tensor).map(Vec::len).or(stated)
        })
        .collect();
    let facts = facts(wrapper);
    for (tensor, rank) in ranks.iter_mut().enumerate() {
        *rank = rank.or_else(|| used_rank(&facts, tensor));
    }
    for _ in 0..wrapper.same_shapes.len() {
        for (left, right) in &wrapper.same_shapes {
            let known =
                ranks.get(*left).copied().flatten().or(ranks.get(*right).copied().flatten());
            for tensor in [left, right] {
                if let Some(rank) = ranks.get_mut(*tensor) {
                    *rank = rank.or(known);
                }
            }
        }
    }
    let inputs = |tensor: &usize| {
        matches!(
            wrapper.tensors.get(*tensor).map(|tensor| &tensor.origin),
            Some(TensorOrigin::Parameter(_))
        )
    };
    let first = (0..ranks.len()).filter(inputs).find(|tensor| ranks[*tensor].is_some());
    for tensor in (0..ranks.len()).filter(inputs) {
        if ranks[tensor].is_none() {
            let like = first.or_else(|| (0..tensor).find(inputs));
            let shape = like.and_then(|like| ranks[like]);
            let is_vector =
                wrapper.tensors.get(tensor).is_some_and(|tensor| is_per_column(&tensor.name));
            ranks[tensor] = Some(if is_vector { 1 } else { shape.unwrap_or(1) });
            guesses.push(ShapeGuess { tensor, like });
        }
    }
    ranks.into_iter().map(Option::unwrap_or_default).collect()
}

/// Names that tensors with one element for each column have.
fn is_per_column(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["weight", "gamma", "beta", "bias", "scale", "w"].contains(&name.as_str())
}

/// The rank that the uses of a tensor imply.
fn used_rank(facts: &[Fact], tensor: usize) -> Option<usize> {
    let (mut forward, mut backward, mut counts) = (0_i64, 0_i64, false);
    for fact in facts {
        match fact {
            Fact::Size { tensor: own, dimension } | Fact::Stride { tensor: own, dimension }
                if *own == tensor =>
            {
                forward = forward.max(dimension + 1);
                backward = backward.max(-dimension);
            }
            Fact::Elements(own) if *own == tensor => counts = true,
            Fact::Size { .. }
            | Fact::Stride { .. }
            | Fact::Elements(_)
            | Fact::Rank(_)
            | Fact::Parameter(_) => {}
        }
    }
    let rank = match (forward, backward, counts) {
        (0, 0, false) => return None,
        (0, 0, true) => 1,
        // `numel() / size(-1)` is the product of the other dimensions.
        (0, backward, true) => backward.max(2),
        (forward, backward, _) => forward.max(backward),
    };
    usize::try_from(rank).ok()
}

/// Every fact that a wrapper uses.
fn facts(wrapper: &Wrapper) -> Vec<Fact> {
    let mut found = Vec::new();
    for tensor in &wrapper.tensors {
        if let TensorOrigin::Allocated(AllocatedShape::Sizes(sizes)) = &tensor.origin {
            found.extend(sizes.iter().flat_map(Integer::facts));
        }
    }
    for step in &wrapper.steps {
        let Step::Launch(launch) = step else { continue };
        found.extend(launch.grid.iter().chain(&launch.block).flat_map(Integer::facts));
        found.extend(launch.shared.facts());
        found.extend(launch.triton.iter().flat_map(triton_facts));
        for argument in &launch.arguments {
            match &argument.value {
                ArgumentValue::Integer(integer, _) => found.extend(integer.facts()),
                ArgumentValue::Real(real, _) => found.extend(real.facts()),
                ArgumentValue::Tensor { .. }
                | ArgumentValue::Null
                | ArgumentValue::Boolean(_)
                | ArgumentValue::BooleanParameter(_) => {}
            }
        }
    }
    found.extend(wrapper.local_names.iter().flat_map(|(formula, _)| formula.facts()));
    for condition in &wrapper.requirements {
        condition_facts(condition, &mut found);
    }
    found
}

fn triton_facts(launch: &TritonLaunch) -> Vec<Fact> {
    let constants = launch.constexprs.iter().filter_map(|(_, value)| match value {
        ConstexprValue::Integer(integer) => Some(integer),
        ConstexprValue::Boolean(_)
        | ConstexprValue::Text(_)
        | ConstexprValue::Type(_)
        | ConstexprValue::None => None,
    });
    let options = [&launch.num_warps, &launch.num_stages, &launch.num_ctas];
    constants.chain(options.into_iter().flatten()).flat_map(Integer::facts).collect()
}

fn condition_facts(condition: &Condition, found: &mut Vec<Fact>) {
    match condition {
        Condition::Compare(_, left, right) => {
            found.extend(left.facts());
            found.extend(right.facts());
        }
        Condition::And(left, right) | Condition::Or(left, right) => {
            condition_facts(left, found);
            condition_facts(right, found);
        }
        Condition::Not(inner) => condition_facts(inner, found),
        Condition::Always(_)
        | Condition::SameShape(..)
        | Condition::HasDtype(..)
        | Condition::SameDtype(..)
        | Condition::Given
        | Condition::Unknown => {}
    }
}

/// For each size of a received tensor, the first one that is equal to it.
fn classes(
    wrapper: &Wrapper,
    given: &BTreeMap<usize, Vec<String>>,
    ranks: &[usize],
    guesses: &[ShapeGuess],
) -> BTreeMap<(usize, i64), (usize, i64)> {
    let mut classes: BTreeMap<(usize, i64), (usize, i64)> = BTreeMap::new();
    let rank = |tensor: usize| i64::try_from(ranks.get(tensor).copied().unwrap_or(0)).unwrap_or(0);
    for (tensor, facts) in wrapper.tensors.iter().enumerate() {
        if matches!(facts.origin, TensorOrigin::Parameter(_)) {
            for dimension in 0..rank(tensor) {
                classes.insert((tensor, dimension), (tensor, dimension));
            }
        }
    }
    let mut join = |left: (usize, i64), right: (usize, i64)| {
        if let (Some(left), Some(right)) =
            (classes.get(&left).copied(), classes.get(&right).copied())
        {
            let (first, second) = (left.min(right), left.max(right));
            for class in classes.values_mut().filter(|class| **class == second) {
                *class = first;
            }
        }
    };
    let same = wrapper
        .same_shapes
        .iter()
        .copied()
        .chain(guesses.iter().filter_map(|guess| Some((guess.tensor, guess.like?))));
    for (left, right) in same {
        // Shapes that a task states need no guess; dimensions are joined from the last one.
        if given.contains_key(&left) && given.contains_key(&right) {
            continue;
        }
        for back in 1..=rank(left).min(rank(right)) {
            join((left, rank(left) - back), (right, rank(right) - back));
        }
    }
    for condition in &wrapper.requirements {
        if let Condition::Compare(
            Comparison::Equal,
            Integer::Fact(Fact::Size { tensor: left, dimension: first }),
            Integer::Fact(Fact::Size { tensor: right, dimension: second }),
        ) = condition
        {
            let normal = |tensor: usize, dimension: i64| {
                (tensor, if dimension < 0 { dimension + rank(tensor) } else { dimension })
            };
            join(normal(*left, *first), normal(*right, *second));
        }
    }
    classes
}
