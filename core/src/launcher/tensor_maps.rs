//! Tensor maps of a launch: calls of the driver's encoders, with the address that the buffer has at the launch.

use lightbench_primitives::tensor_map::{
    Interleave, L2Promotion, MapElement, OutOfBoundsFill, Swizzle,
};

use super::NoLauncher;
use super::function::factor;
use super::steps::Statements;
use crate::project::expression::Expression;
use crate::project::launch::TensorMap;
use crate::project::launch::tensor_maps::Region;
use crate::project::tensor::Layout;

impl Statements<'_> {
    /// Declares a tensor map. The driver lists dimensions innermost first.
    pub(super) fn tensor_map(&mut self, local: &str, place: usize) -> Result<(), NoLauncher> {
        let Some(map) = self.names.launch.tensor_maps.get(place) else {
            return Err(NoLauncher::Outside(format!("tensor map {place}")));
        };
        let modes = [
            element(map.element),
            interleave(map.interleave),
            swizzle(map.swizzle),
            l2_promotion(map.l2_promotion),
            fill(map.fill),
        ]
        .join(", ");
        let (address, offset) = (self.names.address(map.buffer), self.formula(&map.offset)?);
        let start = format!("(char *){address} + {} * {}", factor(offset), map.element.bytes());
        let (dims, strides) = (self.reversed(&map.shape)?, self.strides(map)?);
        let steps = match &map.element_strides {
            Some(steps) => self.reversed(steps)?,
            None => format!("{{{}}}", vec!["1"; map.shape.len()].join(", ")),
        };
        let (function, region) = match &map.region {
            Region::Tiled(sides) => ("tiled", self.reversed(sides)?),
            Region::Im2col { lower_corner, upper_corner, channels, pixels } => {
                let corners = [self.reversed(lower_corner)?, self.reversed(upper_corner)?];
                let [lower, upper] = corners;
                let (channels, pixels) = (self.formula(channels)?, self.formula(pixels)?);
                ("columns", format!("{lower}, {upper}, {channels}, {pixels}"))
            }
        };
        self.line(&format!("// {}", map.name));
        self.line(&format!("const lightbench::MapModes {local}_modes = {{{modes}}};"));
        self.line(&format!(
            "CUtensorMap {local} = lightbench::{function}({local}_modes, {start}, {dims}, {strides}, {region}, {steps}, \
             sound);"
        ));
        Ok(())
    }

    fn reversed(&self, sizes: &[Expression]) -> Result<String, NoLauncher> {
        let all: Result<Vec<String>, NoLauncher> =
            sizes.iter().rev().map(|size| self.formula(size)).collect();
        Ok(format!("{{{}}}", all?.join(", ")))
    }

    /// The bytes between neighbours along each dimension but the innermost one.
    fn strides(&self, map: &TensorMap) -> Result<String, NoLauncher> {
        let bytes = map.element.bytes();
        let outer = 0..map.shape.len().saturating_sub(1);
        let in_bytes = |elements: Vec<String>| format!("{} * {bytes}", elements.join(" * "));
        let mut all = Vec::new();
        for dimension in outer.rev() {
            let inner = &map.shape[dimension + 1..];
            let factors = |sizes: &[Expression]| -> Result<Vec<String>, NoLauncher> {
                sizes.iter().map(|size| self.formula(size).map(factor)).collect()
            };
            all.push(in_bytes(match (&map.layout, inner) {
                (Layout::Strides(strides), _) => {
                    factors(strides.get(dimension..=dimension).unwrap_or_default())?
                }
                (Layout::LeadingDimension(leading), [rows @ .., _]) => {
                    let mut elements = factors(rows)?;
                    elements.push(factor(self.formula(leading)?));
                    elements
                }
                (Layout::RowMajor | Layout::LeadingDimension(_), inner) => factors(inner)?,
            }));
        }
        Ok(format!("{{{}}}", all.join(", ")))
    }
}

fn element(element: MapElement) -> &'static str {
    match element {
        MapElement::U8 => "CU_TENSOR_MAP_DATA_TYPE_UINT8",
        MapElement::U16 => "CU_TENSOR_MAP_DATA_TYPE_UINT16",
        MapElement::U32 => "CU_TENSOR_MAP_DATA_TYPE_UINT32",
        MapElement::I32 => "CU_TENSOR_MAP_DATA_TYPE_INT32",
        MapElement::U64 => "CU_TENSOR_MAP_DATA_TYPE_UINT64",
        MapElement::I64 => "CU_TENSOR_MAP_DATA_TYPE_INT64",
        MapElement::F16 => "CU_TENSOR_MAP_DATA_TYPE_FLOAT16",
        MapElement::F32 => "CU_TENSOR_MAP_DATA_TYPE_FLOAT32",
        MapElement::F64 => "CU_TENSOR_MAP_DATA_TYPE_FLOAT64",
        MapElement::Bf16 => "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16",
        MapElement::F32Ftz => "CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ",
        MapElement::Tf32 => "CU_TENSOR_MAP_DATA_TYPE_TFLOAT32",
        MapElement::Tf32Ftz => "CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ",
    }
}

fn interleave(interleave: Interleave) -> &'static str {
    match interleave {
        Interleave::None => "CU_TENSOR_MAP_INTERLEAVE_NONE",
        Interleave::B16 => "CU_TENSOR_MAP_INTERLEAVE_16B",
        Interleave::B32 => "CU_TENSOR_MAP_INTERLEAVE_32B",
    }
}

fn swizzle(swizzle: Swizzle) -> &'static str {
    match swizzle {
        Swizzle::None => "CU_TENSOR_MAP_SWIZZLE_NONE",
        Swizzle::B32 => "CU_TENSOR_MAP_SWIZZLE_32B",
        Swizzle::B64 => "CU_TENSOR_MAP_SWIZZLE_64B",
        Swizzle::B128 => "CU_TENSOR_MAP_SWIZZLE_128B",
    }
}

fn l2_promotion(promotion: L2Promotion) -> &'static str {
    match promotion {
        L2Promotion::None => "CU_TENSOR_MAP_L2_PROMOTION_NONE",
        L2Promotion::B64 => "CU_TENSOR_MAP_L2_PROMOTION_L2_64B",
        L2Promotion::B128 => "CU_TENSOR_MAP_L2_PROMOTION_L2_128B",
        L2Promotion::B256 => "CU_TENSOR_MAP_L2_PROMOTION_L2_256B",
    }
}

fn fill(fill: OutOfBoundsFill) -> &'static str {
    match fill {
        OutOfBoundsFill::Zeros => "CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE",
        OutOfBoundsFill::Nan => "CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA",
    }
}
