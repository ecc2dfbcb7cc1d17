//! Tensor maps of a launch block: descriptors of the Tensor Memory Accelerator, as declared and with numbers.
//!
//! A launch block lists dimensions as tensors do, outermost first, and counts strides and offsets in elements. The
//! driver, and [`tensor_map::TensorMap`], list dimensions innermost first and count in bytes.

use std::fmt;

use lightbench_primitives::dtype::Dtype;
use lightbench_primitives::tensor_map::{
    self, Interleave, L2Promotion, MapElement, MapError, MapField, MapRegion, OutOfBoundsFill,
    Swizzle,
};

use super::arguments::Names;
use super::plan::{PlanError, within};
use super::written::{Im2colWritten, TensorMapWritten};
use super::{Buffer, KernelRole, Scratch};
use crate::environment::Environment;
use crate::expression::{Expression, Kind, Scope};
use crate::extent::nested_strides;
use crate::locate::Located;
use crate::problem::Findings;
use crate::tensor::{Layout, formulas};
use crate::written::ExpressionWritten;

/// A tensor map as declared. Lists are in the order of the tensor's dimensions, outermost first.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorMap {
    /// The name of the argument.
    pub name: String,
    pub buffer: Buffer,
    /// The sizes of the buffer.
    pub memory: BufferLayout,
    /// The type of an element; as wide as that of the buffer.
    pub element: MapElement,
    /// Elements along each dimension.
    pub shape: Vec<Expression>,
    /// The strides, in elements.
    pub layout: Layout,
    /// Elements of the buffer before the map's first one.
    pub offset: Expression,
    /// The elements that one copy transfers.
    pub region: Region,
    /// Every n-th element is copied; 1 for each dimension where they are not declared.
    pub element_strides: Option<Vec<Expression>>,
    /// The permutation of chunks in shared memory.
    pub swizzle: Swizzle,
    /// The layout of channels in global memory.
    pub interleave: Interleave,
    /// The granularity of fetches to the L2 cache.
    pub l2_promotion: L2Promotion,
    /// The value of elements outside the tensor.
    pub fill: OutOfBoundsFill,
}

/// The memory of a buffer: its sizes as declared.
#[derive(Clone, Debug, PartialEq)]
pub struct BufferLayout {
    /// The type of its elements.
    pub dtype: Dtype,
    /// Its dimensions.
    pub shape: Vec<Expression>,
    pub layout: Layout,
}

/// The elements that one copy transfers.
#[derive(Clone, Debug, PartialEq)]
pub enum Region {
    /// A box with this many elements along each dimension.
    Tiled(Vec<Expression>),
    /// Columns of pixels for convolutions; the last dimension holds channels, the first one images.
    Im2col {
        /// The first pixel of the bounding box, for each dimension but the first and the last.
        lower_corner: Vec<Expression>,
        /// The last pixel of the bounding box relative to the tensor's last, likewise.
        upper_corner: Vec<Expression>,
        /// Channels of each pixel.
        channels: Expression,
        /// Pixels of a column.
        pixels: Expression,
    },
}

/// A limit of tensor maps that a declaration violates for one workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViolatedLimit {
    /// The name of the map.
    pub map: String,
    /// The field of the declaration.
    pub field: &'static str,
    /// The position in the field's list, in the order of the declaration.
    pub item: Option<usize>,
    /// The expression.
    pub text: Option<String>,
    /// Its value.
    pub found: String,
    /// The permitted values.
    pub expected: String,
}

impl ViolatedLimit {
    /// The field and its value.
    pub(super) fn subject(&self) -> String {
        let Self { map, field, item, text, found, .. } = self;
        let item = item.map_or_else(String::new, |item| format!("[{item}]"));
        let text = text.as_ref().map_or_else(String::new, |text| format!(" (`{text}`)"));
        format!("`{field}{item}` of the tensor map `{map}`: {found}{text}")
    }
}

impl fmt::Display for ViolatedLimit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}; expected {}", self.subject(), self.expected)
    }
}

impl TensorMap {
    /// The map with the numbers of one workload, within all limits of the driver.
    pub(super) fn plan(
        &self,
        environment: &Environment<'_>,
    ) -> Result<tensor_map::TensorMap, PlanError> {
        let dims = counts("shape", &self.shape, environment)?;
        let strides = strides(&self.layout, &dims, environment)?;
        self.check_innermost(&strides)?;
        let bytes = u64::from(self.element.bytes());
        let offset = within("offset", &self.offset, environment, (0, LARGEST_COUNT))?;
        let mut element_strides = vec![1; dims.len()];
        if let Some(written) = &self.element_strides {
            element_strides = small("element_strides", written, environment)?;
        }
        let map = tensor_map::TensorMap {
            element: self.element,
            dims: reversed(dims),
            strides: strides.iter().rev().skip(1).map(|each| each.saturating_mul(bytes)).collect(),
            offset: offset.saturating_mul(bytes),
            region: self.region.plan(environment)?,
            element_strides: reversed(element_strides),
            swizzle: self.swizzle,
            interleave: self.interleave,
            l2_promotion: self.l2_promotion,
            fill: self.fill,
        };
        map.check(self.memory.bytes(environment)?).map_err(|error| self.violated(error))?;
        Ok(map)
    }

    /// The driver takes no stride of the innermost dimension.
    fn check_innermost(&self, strides: &[u64]) -> Result<(), PlanError> {
        let Some(stride) = strides.last().filter(|stride| **stride != 1) else { return Ok(()) };
        let item = strides.len() - 1;
        let text = self.expressions(MapField::Strides).get(item);
        Err(PlanError::TensorMap(Box::new(ViolatedLimit {
            map: self.name.clone(),
            field: MapField::Strides.name(),
            item: Some(item),
            text: text.map(|text| text.text().to_owned()),
            found: stride.to_string(),
            expected: "1: the elements of the last dimension are contiguous".to_owned(),
        })))
    }

    /// The limit in the order of the declaration.
    fn violated(&self, error: MapError) -> PlanError {
        let MapError { field, dimension, found, expected } = error;
        let expressions = self.expressions(field);
        let last = self.shape.len().checked_sub(match field {
            MapField::LowerCorner | MapField::UpperCorner => 2,
            MapField::Shape
            | MapField::Strides
            | MapField::Offset
            | MapField::Box
            | MapField::ElementStrides
            | MapField::Swizzle
            | MapField::Interleave
            | MapField::Fill
            | MapField::Channels
            | MapField::Pixels => 1,
        });
        let item = dimension
            .filter(|_| field.is_list())
            .and_then(|dimension| last?.checked_sub(dimension));
        let written = if field.is_list() {
            item.and_then(|item| expressions.get(item))
        } else {
            expressions.first()
        };
        PlanError::TensorMap(Box::new(ViolatedLimit {
            map: self.name.clone(),
            field: field.name(),
            item,
            text: written.map(|written| written.text().to_owned()),
            found,
            expected,
        }))
    }

    /// The expressions of a field; empty for fields without any.
    fn expressions(&self, field: MapField) -> &[Expression] {
        match (field, &self.region) {
            (MapField::Shape, _) => &self.shape,
            (MapField::Strides, _) => match &self.layout {
                Layout::Strides(strides) => strides,
                Layout::RowMajor | Layout::LeadingDimension(_) => &[],
            },
            (MapField::Offset, _) => std::slice::from_ref(&self.offset),
            (MapField::ElementStrides, _) => self.element_strides.as_deref().unwrap_or_default(),
            (MapField::Box, Region::Tiled(sides)) => sides,
            (MapField::LowerCorner, Region::Im2col { lower_corner, .. }) => lower_corner,
            (MapField::UpperCorner, Region::Im2col { upper_corner, .. }) => upper_corner,
            (MapField::Channels, Region::Im2col { channels, .. }) => std::slice::from_ref(channels),
            (MapField::Pixels, Region::Im2col { pixels, .. }) => std::slice::from_ref(pixels),
            (MapField::Box, Region::Im2col { .. })
            | (
                MapField::LowerCorner
                | MapField::UpperCorner
                | MapField::Channels
                | MapField::Pixels,
                Region::Tiled(_),
            )
            | (MapField::Swizzle | MapField::Interleave | MapField::Fill, _) => &[],
        }
    }
}

impl Region {
    fn plan(&self, environment: &Environment<'_>) -> Result<MapRegion, PlanError> {
        Ok(match self {
            Self::Tiled(sides) => MapRegion::Tiled(reversed(small("box", sides, environment)?)),
            Self::Im2col { lower_corner, upper_corner, channels, pixels } => MapRegion::Im2col {
                lower_corner: reversed(corner("lower_corner", lower_corner, environment)?),
                upper_corner: reversed(corner("upper_corner", upper_corner, environment)?),
                channels: small_one("channels", channels, environment)?,
                pixels: small_one("pixels", pixels, environment)?,
            },
        })
    }
}

impl BufferLayout {
    /// The bytes of the buffer, gaps included.
    pub(super) fn bytes(&self, environment: &Environment<'_>) -> Result<u64, PlanError> {
        let dims = counts("shape", &self.shape, environment)?;
        let strides = strides(&self.layout, &dims, environment)?;
        let last = dims.iter().zip(strides).fold(0_u64, |last, (dim, stride)| {
            last.saturating_add(dim.saturating_sub(1).saturating_mul(stride))
        });
        Ok(last.saturating_add(1).saturating_mul(self.dtype.bits()).div_ceil(8))
    }
}

/// Larger than every stride and offset that the limits permit.
const LARGEST_COUNT: u64 = 1 << 42;

fn reversed<T>(mut all: Vec<T>) -> Vec<T> {
    all.reverse();
    all
}

pub(super) fn counts(
    field: &'static str,
    all: &[Expression],
    environment: &Environment<'_>,
) -> Result<Vec<u64>, PlanError> {
    all.iter().map(|each| within(field, each, environment, (0, LARGEST_COUNT))).collect()
}

fn small_one(
    field: &'static str,
    one: &Expression,
    environment: &Environment<'_>,
) -> Result<u32, PlanError> {
    const MOST: u32 = 1 << 20;
    let value = within(field, one, environment, (0, MOST.into()))?;
    Ok(u32::try_from(value).unwrap_or(MOST))
}

fn small(
    field: &'static str,
    all: &[Expression],
    environment: &Environment<'_>,
) -> Result<Vec<u32>, PlanError> {
    all.iter().map(|each| small_one(field, each, environment)).collect()
}

fn corner(
    field: &'static str,
    all: &[Expression],
    environment: &Environment<'_>,
) -> Result<Vec<i32>, PlanError> {
    let one = |expression: &Expression| {
        let text = || expression.text().to_owned();
        let value = expression
            .integer(environment)
            .map_err(|error| PlanError::Expression { text: text(), error })?;
        i32::try_from(value).map_err(|_too_large| PlanError::OutOfRange {
            field,
            text: text(),
            found: value.to_string(),
            expected: "from -32768 to 32767".to_owned(),
        })
    };
    all.iter().map(one).collect()
}

/// Elements between neighbours, for each dimension.
fn strides(
    layout: &Layout,
    dims: &[u64],
    environment: &Environment<'_>,
) -> Result<Vec<u64>, PlanError> {
    match layout {
        Layout::RowMajor => Ok(nested_strides(dims, dims.last().copied().unwrap_or(1))),
        Layout::LeadingDimension(leading) => {
            let row = within("strides", leading, environment, (0, LARGEST_COUNT))?;
            Ok(nested_strides(dims, row))
        }
        Layout::Strides(strides) => counts("strides", strides, environment),
    }
}

/// Validates declarations; reports every problem that does not depend on a workload.
pub(super) fn check(
    findings: &mut Findings<'_>,
    at: &Located,
    (names, scratch): (Names<'_>, &[Scratch]),
    scope: &Scope,
) -> Vec<TensorMap> {
    if names.role == KernelRole::Reference && !names.block.tensor_maps.is_empty() {
        let expected = "pointers: tensor maps need compute capability 9.0";
        findings.add(at, "a reference with tensor maps", expected);
        return Vec::new();
    }
    let each = names.block.tensor_maps.iter().enumerate();
    let around = Around { names, scratch, scope };
    each.filter_map(|(index, written)| check_one(findings, at.item(index), written, around))
        .collect()
}

/// The names that a declaration may use.
#[derive(Clone, Copy)]
struct Around<'a> {
    names: Names<'a>,
    scratch: &'a [Scratch],
    scope: &'a Scope,
}

fn check_one(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &TensorMapWritten,
    Around { names, scratch, scope }: Around<'_>,
) -> Option<TensorMap> {
    let mut list = |field: &str, written: &Option<Vec<ExpressionWritten>>| {
        let written = written.as_ref()?;
        let texts = written.iter().map(|text| &text.0);
        Some(formulas(findings, at.field(field), texts, scope))
    };
    let shape = list("shape", &written.shape);
    let strides = list("strides", &written.strides);
    let element_strides = list("element_strides", &written.element_strides);
    let sides = list("box", &written.sides);
    let offset = match &written.offset {
        Some(text) => findings.formula(at.field("offset"), &text.0, scope, Kind::Integer),
        None => Expression::from(0),
    };
    let region = check_region(findings, at, (sides, written.im2col.as_ref()), scope);
    let buffer = names.buffer(findings, at.field("tensor"), &written.tensor)?;
    let memory = names.layout(buffer, scratch)?;
    let layout = match (strides, &shape) {
        (Some(strides), _) => Layout::Strides(strides),
        (None, Some(_)) => Layout::RowMajor,
        (None, None) => memory.layout.clone(),
    };
    let shape = shape.unwrap_or_else(|| memory.shape.clone());
    if let Layout::Strides(strides) = &layout
        && strides.len() != shape.len()
    {
        let found = format!("{} strides for {} dimensions", strides.len(), shape.len());
        findings.add(at.field("strides"), found, "one stride for each dimension, the last one 1");
    }
    check_alignment(findings, at, written, names.align(buffer));
    let element = check_element(findings, at, written, memory.dtype);
    Some(TensorMap {
        name: written.name.clone(),
        buffer,
        memory,
        element: element?,
        shape,
        layout,
        offset,
        region: region?,
        element_strides,
        swizzle: written.swizzle,
        interleave: written.interleave,
        l2_promotion: written.l2_promotion,
        fill: written.fill,
    })
}

fn check_region(
    findings: &mut Findings<'_>,
    at: &Located,
    written: (Option<Vec<Expression>>, Option<&Im2colWritten>),
    scope: &Scope,
) -> Option<Region> {
    match written {
        (Some(sides), None) => Some(Region::Tiled(sides)),
        (None, Some(written)) => {
            let at = at.field("im2col");
            let mut corner = |field: &str, corner: &[ExpressionWritten]| {
                formulas(findings, at.field(field), corner.iter().map(|text| &text.0), scope)
            };
            let lower_corner = corner("lower_corner", &written.lower_corner);
            let upper_corner = corner("upper_corner", &written.upper_corner);
            let mut one = |field: &str, text: &ExpressionWritten| {
                findings.formula(at.field(field), &text.0, scope, Kind::Integer)
            };
            let channels = one("channels", &written.channels);
            let pixels = one("pixels", &written.pixels);
            Some(Region::Im2col { lower_corner, upper_corner, channels, pixels })
        }
        (None, None) => {
            let found = "a tensor map without `box` and without `im2col`";
            findings.add(at, found, "one of them: the elements that a copy transfers");
            None
        }
        (Some(_), Some(_)) => {
            let found = "a tensor map with `box` and with `im2col`";
            findings.add(at.field("im2col"), found, "one of them");
            None
        }
    }
}

fn check_alignment(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &TensorMapWritten,
    align: u64,
) {
    let needed = written.interleave.alignment();
    if align >= needed {
        return;
    }
    let tensor = &written.tensor;
    findings.add_with_help(
        at.field("tensor"),
        format!("`{tensor}` is aligned to {align} bytes"),
        format!("at least {needed} bytes for this tensor map"),
        format!("write `align: {needed}` for `{tensor}` in project.ron"),
    );
}

fn check_element(
    findings: &mut Findings<'_>,
    at: &Located,
    written: &TensorMapWritten,
    dtype: Dtype,
) -> Option<MapElement> {
    let Some(own) = MapElement::of(dtype) else {
        let found = format!("`{}` is packed {}", written.tensor, dtype.name());
        findings.add(at.field("tensor"), found, "a dtype of at least 8 bits");
        return None;
    };
    let chosen = written.data_type.unwrap_or(own);
    if !chosen.is_view_of(dtype) {
        let views = MapElement::ALL.into_iter().filter(|element| element.is_view_of(dtype));
        let views: Vec<&str> = views.map(MapElement::name).collect();
        let found = format!("`{}` for `{}` of {}", chosen.name(), written.tensor, dtype.name());
        findings.add(at.field("data_type"), found, format!("one of {}", views.join(", ")));
    }
    Some(chosen)
}
