//! The sizes of tensors in one workload, as numbers.

use super::{
    environment::Environment,
    expression::Expression,
    locate::Located,
    manifest::LARGEST_AXIS,
    problem::Findings,
    tensor::{Layout, Tensor},
};

/// Maximum bytes of a tensor: 2 TiB.
pub const MAX_TENSOR_BYTES: u64 = 1 << 41;

/// A tensor's sizes in one workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Its dimensions, each at least 1.
    pub dims: Vec<u64>,
    /// Elements between neighbours, for each dimension.
    pub strides: Vec<u64>,
    /// The product of the dimensions.
    pub elements: u64,
    /// Elements from the first to the last in memory, gaps included.
    pub span_elements: u64,
    /// Bytes in memory, gaps included.
    pub bytes: u64,
}

/// The sizes in one workload; reports problems and returns `None` if they are invalid.
pub(super) fn extent(
    findings: &mut Findings<'_>,
    at: &Located,
    tensor: &Tensor,
    environment: &Environment<'_>,
    workload: &str,
) -> Option<Extent> {
    let mut dims = Vec::new();
    for (index, expression) in tensor.shape.iter().enumerate() {
        let place = at.field("shape").item(index);
        dims.push(size(findings, place, expression, environment, (1, workload))?);
    }
    let elements = dims.iter().try_fold(1_u64, |product, dim| product.checked_mul(*dim));
    let elements = elements.filter(|elements| *elements <= LARGEST_AXIS.unsigned_abs());
    let Some(elements) = elements else {
        let found = format!("too many elements in workload `{workload}`");
        findings.add(at.field("shape"), found, "at most 2^40 elements");
        return None;
    };
    if tensor.dtype.is_packed() && dims.last().is_none_or(|last| last % 2 != 0) {
        let found = format!("the last dimension is odd in workload `{workload}`");
        findings.add(
            at.field("shape"),
            found,
            "an even last dimension: two packed elements share a byte",
        );
    }
    let strides = strides(findings, at.field("layout"), tensor, &dims, (environment, workload))?;
    let last = dims.iter().zip(&strides).try_fold(0_u64, |sum, (dim, stride)| {
        (dim - 1).checked_mul(*stride).and_then(|reach| sum.checked_add(reach))
    });
    let bytes = last
        .and_then(|last| last.checked_add(1))
        .and_then(|span| span.checked_mul(tensor.dtype.bits()))
        .map(|bits| bits.div_ceil(8))
        .filter(|bytes| *bytes <= MAX_TENSOR_BYTES);
    let (Some(last), Some(bytes)) = (last, bytes) else {
        findings.add(
            at.field("shape"),
            format!("too many bytes in workload `{workload}`"),
            "at most 2^41 bytes",
        );
        return None;
    };
    Some(Extent { dims, strides, elements, span_elements: last + 1, bytes })
}

/// A size from `least` to 2^40 in one workload.
fn size(
    findings: &mut Findings<'_>,
    at: &Located,
    expression: &Expression,
    environment: &Environment<'_>,
    (least, workload): (i128, &str),
) -> Option<u64> {
    match expression.integer(environment) {
        Ok(value) if (least..=i128::from(LARGEST_AXIS)).contains(&value) => {
            u64::try_from(value).ok()
        }
        Ok(value) => {
            let found = format!("{} is {value} in workload `{workload}`", expression.text());
            findings.add(at, found, format!("a size from {least} to 2^40"));
            None
        }
        Err(error) => {
            findings.expression(at, 0, &error);
            None
        }
    }
}

fn strides(
    findings: &mut Findings<'_>,
    at: &Located,
    tensor: &Tensor,
    dims: &[u64],
    (environment, workload): (&Environment<'_>, &str),
) -> Option<Vec<u64>> {
    let mut strides = vec![1_u64; dims.len()];
    match &tensor.layout {
        Layout::RowMajor => strides = nested_strides(dims, dims.last().copied().unwrap_or(1)),
        Layout::LeadingDimension(leading) => {
            let place = at.item(0);
            let leading = size(findings, place, leading, environment, (1, workload))?;
            let last = dims.len().checked_sub(2)?;
            if leading < dims[last + 1] {
                let found = format!("a leading dimension of {leading} in workload `{workload}`");
                findings.add(
                    place,
                    found,
                    format!("at least the last dimension, {}", dims[last + 1]),
                );
                return None;
            }
            strides = nested_strides(dims, leading);
        }
        Layout::Strides(written) => {
            for (index, expression) in written.iter().enumerate().take(dims.len()) {
                let place = at.item(0).item(index);
                strides[index] = size(findings, place, expression, environment, (0, workload))?;
            }
            if tensor.role.compare().is_some() && overlaps(dims, &strides) {
                let found = format!("elements share an address in workload `{workload}`");
                findings.add(at, found, "strides that keep the elements of an output apart");
                return None;
            }
        }
    }
    Some(strides)
}

/// Elements between neighbours where each dimension encloses the following ones without gaps, and rows of the last one
/// are `row` elements apart; saturating.
pub(super) fn nested_strides(dims: &[u64], row: u64) -> Vec<u64> {
    let mut strides = vec![1; dims.len()];
    let mut stride = row;
    for index in (0..dims.len().saturating_sub(1)).rev() {
        strides[index] = stride;
        stride = stride.saturating_mul(dims[index]);
    }
    strides
}

/// Whether nested strides let two elements meet: each stride must step over everything inside it.
fn overlaps(dims: &[u64], strides: &[u64]) -> bool {
    let mut nested: Vec<(u64, u64)> = dims
        .iter()
        .zip(strides)
        .filter(|(dim, _)| **dim > 1)
        .map(|(dim, stride)| (*stride, *dim))
        .collect();
    nested.sort_unstable();
    let mut reach = 0_u128;
    nested.into_iter().any(|(stride, dim)| {
        let meets = u128::from(stride) <= reach;
        reach += u128::from(dim - 1) * u128::from(stride);
        meets
    })
}
