//! Formulas for the numbers of recorded launches: which sizes are equal in every launch, and what integers and grids are
//! computed from.

use std::collections::{BTreeMap, BTreeSet};

use lightbench_cuda_source::torch_wrapper::{Fact, Integer, Operator};
use lightbench_primitives::dtype::Dtype;

use super::record::{Argument, Launch};

/// Different sizes, formulas that are kept to explain numbers with, and factors of which pairs are tried.
const MOST_SIZES: usize = 32;
const MOST_CANDIDATES: usize = 256;
const MOST_FACTORS: usize = 256;

/// A number in each launch.
pub(super) type Values = Vec<i128>;

/// A tensor that is contiguous after a permutation of its dimensions.
#[derive(Debug)]
pub(super) struct RecordedTensor {
    pub(super) name: String,
    pub(super) dtype: Dtype,
    /// The dimensions of the argument, from the slowest to the fastest.
    pub(super) order: Vec<usize>,
    /// In each launch, the sizes in this order.
    pub(super) shapes: Vec<Vec<i128>>,
}

/// The order of dimensions in which a tensor is contiguous; `None` if it has gaps or overlaps.
pub(super) fn contiguous_order(shape: &[i128], strides: &[i128]) -> Option<Vec<usize>> {
    let is_contiguous = |order: &[usize]| {
        let mut expected = 1;
        order.iter().rev().all(|dimension| {
            let fits = shape[*dimension] == 1 || strides[*dimension] == expected;
            expected = shape[*dimension].saturating_mul(expected);
            fits
        })
    };
    let written: Vec<usize> = (0..shape.len()).collect();
    let mut sorted = written.clone();
    sorted.sort_by_key(|dimension| std::cmp::Reverse(strides[*dimension]));
    [written, sorted].into_iter().find(|order| is_contiguous(order))
}

/// What launches must have in common to be workloads of one project.
pub(super) fn form(launch: &Launch) -> Vec<String> {
    let parts = launch.arguments.iter().map(|(name, argument)| match argument {
        Argument::Tensor { dtype, shape, strides } => {
            let order = contiguous_order(shape, strides);
            format!("{name}: {} {order:?} {}", dtype.name(), shape.len())
        }
        Argument::Integer(_) => format!("{name}: int"),
        other @ (Argument::Real(_)
        | Argument::Boolean(_)
        | Argument::None
        | Argument::Text(_)
        | Argument::Other(_)) => format!("{name}: {other:?}"),
    });
    parts.collect()
}

/// The recorded sizes, with formulas that give their values in every launch.
pub(super) struct Sizes {
    pub(super) tensors: Vec<RecordedTensor>,
    /// Formulas and their values, the simplest first.
    candidates: Vec<(Integer, Values)>,
    launches: usize,
}

impl Sizes {
    pub(super) fn new(tensors: Vec<RecordedTensor>, launches: usize) -> Self {
        let mut sizes = Self { tensors, candidates: Vec::new(), launches };
        let (mut plain, mut products) = (Vec::new(), Vec::new());
        for (index, tensor) in sizes.tensors.iter().enumerate() {
            for position in 0..tensor.order.len() {
                let dimension = dimension(position);
                plain.push(Integer::Fact(Fact::Size { tensor: index, dimension }));
                products.push(Integer::Fact(Fact::Stride { tensor: index, dimension }));
            }
            products.push(Integer::Fact(Fact::Elements(index)));
        }
        let plain = sizes.different(plain, MOST_SIZES);
        for (position, (left, _)) in plain.iter().enumerate() {
            let rights = plain[position..].iter();
            products.extend(rights.filter_map(|(right, _)| {
                Integer::combined(Operator::Multiply, left.clone(), right.clone())
            }));
        }
        let all = plain.into_iter().map(|(formula, _)| formula).chain(products).collect();
        sizes.candidates = sizes.different(all, MOST_CANDIDATES);
        sizes
    }

    /// The first formulas with different values.
    fn different(&self, formulas: Vec<Integer>, most: usize) -> Vec<(Integer, Values)> {
        let mut known: BTreeSet<Values> = BTreeSet::new();
        let valued = formulas.into_iter().filter_map(|formula| {
            let values = self.values(&formula)?;
            known.insert(values.clone()).then_some((formula, values))
        });
        valued.take(most).collect()
    }

    /// The size of a dimension in each launch, by its position in the order of the tensor.
    pub(super) fn size(&self, tensor: usize, position: usize) -> Values {
        self.tensors[tensor].shapes.iter().map(|shape| shape[position]).collect()
    }

    /// A formula for an integer argument.
    pub(super) fn integer(&self, values: &Values) -> Option<Integer> {
        let first = *values.first()?;
        // Constants such as the stride 1 are no sizes, even if a size is 1.
        let is_constant = values.iter().all(|value| *value == first);
        let found = self.candidates.iter().find(|(_, own)| own == values);
        match found {
            Some((formula, _)) if !is_constant || first > 1 => Some(formula.clone()),
            Some(_) | None => is_constant.then_some(Integer::Literal(first)),
        }
    }

    /// A formula for an extent of the grid: products of the quotients that the kernel computes, the most of them first,
    /// then quotients of any size and constant, sizes, and products of two of these.
    pub(super) fn extent(
        &self,
        values: &Values,
        computed: &[(Integer, i128)],
        constants: &[i128],
    ) -> Option<Integer> {
        if values.iter().all(|value| *value == 1) {
            return Some(Integer::Literal(1));
        }
        let quotient = |(size, unit): &(Integer, i128)| self.quotient(size, *unit);
        let computed: Vec<(Integer, Values)> =
            computed.iter().filter_map(quotient).take(6).collect();
        let mut subsets: Vec<u32> = (1..1 << computed.len()).collect();
        subsets.sort_by_key(|subset| std::cmp::Reverse(subset.count_ones()));
        for subset in subsets {
            let chosen = computed.iter().enumerate().filter(|(index, _)| subset >> index & 1 == 1);
            if let Some(formula) = self.product_of(chosen.map(|(_, each)| each), values) {
                return Some(formula);
            }
        }
        let sizes: Vec<&(Integer, Values)> = self.candidates.iter().collect();
        let mut factors: Vec<(Integer, Values)> = Vec::new();
        for (formula, _) in &sizes {
            let own = constants.iter().filter(|unit| **unit > 1);
            factors.extend(own.filter_map(|unit| self.quotient(formula, *unit)));
        }
        factors.extend(sizes.into_iter().cloned());
        factors.truncate(MOST_FACTORS);
        let single = factors.iter().find(|(_, own)| own == values);
        if let Some((formula, _)) = single {
            return Some(formula.clone());
        }
        for (index, left) in factors.iter().enumerate() {
            for right in &factors[index..] {
                if let Some(formula) = self.product_of([left, right].into_iter(), values) {
                    return Some(formula);
                }
            }
        }
        let first = *values.first()?;
        values.iter().all(|value| *value == first).then_some(Integer::Literal(first))
    }

    fn quotient(&self, size: &Integer, unit: i128) -> Option<(Integer, Values)> {
        if unit < 1 {
            return None;
        }
        let above = |size: &i128| size.saturating_add(unit - 1) / unit;
        let values = self.values(size)?.iter().map(above).collect();
        let formula =
            Integer::combined(Operator::CeilingDivide, size.clone(), Integer::Literal(unit))?;
        Some((formula, values))
    }

    /// The product of these factors, if it has these values.
    fn product_of<'a>(
        &self,
        factors: impl Iterator<Item = &'a (Integer, Values)>,
        values: &Values,
    ) -> Option<Integer> {
        let mut product: Values = vec![1; self.launches];
        let mut formulas = Vec::new();
        for (formula, own) in factors {
            for (product, own) in product.iter_mut().zip(own) {
                *product = product.saturating_mul(*own);
            }
            formulas.push(formula.clone());
        }
        (product == *values).then(|| Integer::product(formulas)).flatten()
    }

    /// The values of a formula.
    fn values(&self, formula: &Integer) -> Option<Values> {
        (0..self.launches).map(|launch| formula.value(&|fact| self.fact(fact, launch))).collect()
    }

    fn fact(&self, fact: Fact, launch: usize) -> Option<i128> {
        let shape = |tensor: usize| self.tensors.get(tensor)?.shapes.get(launch);
        match fact {
            Fact::Size { tensor, dimension } => {
                shape(tensor)?.get(usize::try_from(dimension).ok()?).copied()
            }
            Fact::Stride { tensor, dimension } => {
                let inner = shape(tensor)?.get(usize::try_from(dimension).ok()? + 1..)?;
                Some(product(inner))
            }
            Fact::Elements(tensor) => Some(product(shape(tensor)?)),
            Fact::Rank(tensor) => i128::try_from(shape(tensor)?.len()).ok(),
            Fact::Parameter(_) => None,
        }
    }

    /// Dimensions with equal sizes in every launch: for each but the first of them, the first.
    pub(super) fn equal(&self) -> Vec<(Fact, Fact)> {
        let mut first: BTreeMap<Values, Fact> = BTreeMap::new();
        let mut pairs = Vec::new();
        for (tensor, recorded) in self.tensors.iter().enumerate() {
            for position in 0..recorded.order.len() {
                let own = Fact::Size { tensor, dimension: dimension(position) };
                match first.get(&self.size(tensor, position)) {
                    Some(known) => pairs.push((*known, own)),
                    None => {
                        first.insert(self.size(tensor, position), own);
                    }
                }
            }
        }
        pairs
    }
}

/// The product of sizes, which a log may state as it likes.
pub(super) fn product(sizes: &[i128]) -> i128 {
    sizes.iter().fold(1, |all, size| all.saturating_mul(*size))
}

pub(super) fn dimension(position: usize) -> i64 {
    i64::try_from(position).unwrap_or(i64::MAX)
}
