//! Dtypes of tensors: names in PyTorch and C++, and what the statements of a wrapper state about them.

use lightbench_primitives::dtype::Dtype;
use tree_sitter::Node;

use crate::syntax::one_line;

use super::reader::Reader;
use super::refusal::{Refusal, Why};
use super::text::Text;
use super::value::Element;

/// The dtype of a constant of PyTorch: `torch::kFloat32`, `at::ScalarType::Half`.
pub(super) fn from_constant(name: &str) -> Option<Dtype> {
    Some(match name {
        "kFloat" | "kFloat32" | "Float" => Dtype::F32,
        "kDouble" | "kFloat64" | "Double" => Dtype::F64,
        "kHalf" | "kFloat16" | "Half" => Dtype::F16,
        "kBFloat16" | "BFloat16" => Dtype::Bf16,
        "kInt" | "kInt32" | "Int" => Dtype::I32,
        "kLong" | "kInt64" | "Long" => Dtype::I64,
        "kShort" | "kInt16" | "Short" => Dtype::I16,
        "kChar" | "kInt8" | "Char" => Dtype::I8,
        "kByte" | "kUInt8" | "Byte" => Dtype::U8,
        "kBool" | "Bool" => Dtype::Bool,
        "kFloat8_e4m3fn" | "Float8_e4m3fn" => Dtype::F8E4M3,
        "kFloat8_e5m2" | "Float8_e5m2" => Dtype::F8E5M2,
        _ => return None,
    })
}

/// The type of an element in device code, as a template argument.
pub(super) fn c_name(dtype: Dtype) -> Option<&'static str> {
    Some(match dtype {
        Dtype::F64 => "double",
        Dtype::F32 => "float",
        Dtype::F16 => "__half",
        Dtype::Bf16 => "__nv_bfloat16",
        Dtype::F8E4M3 => "__nv_fp8_e4m3",
        Dtype::F8E5M2 => "__nv_fp8_e5m2",
        Dtype::I64 => "long long",
        Dtype::I32 => "int",
        Dtype::I16 => "short",
        Dtype::I8 => "signed char",
        Dtype::U64 => "unsigned long long",
        Dtype::U32 => "unsigned int",
        Dtype::U16 => "unsigned short",
        Dtype::U8 => "unsigned char",
        Dtype::Bool => "bool",
        Dtype::I4 | Dtype::U4 | Dtype::E2M1 => return None,
    })
}

impl Reader<'_> {
    /// The dtype that a C++ type names: of the file, of a dispatch, or of PyTorch.
    pub(super) fn named_dtype(&self, written: &str) -> Option<Dtype> {
        let name = one_line(written).replace("const ", "");
        let name = name.trim().trim_end_matches('*').trim();
        if let Some(dtype) = self.frame.types.get(name) {
            return Some(*dtype);
        }
        match name {
            "at::Half" | "c10::Half" | "torch::Half" => return Some(Dtype::F16),
            "at::BFloat16" | "c10::BFloat16" | "torch::BFloat16" => return Some(Dtype::Bf16),
            _ => {}
        }
        let resolved = self.main.resolve_type(name);
        match resolved.as_str() {
            "at::Half" | "c10::Half" => Some(Dtype::F16),
            "at::BFloat16" | "c10::BFloat16" => Some(Dtype::Bf16),
            other => Dtype::from_c_name(other),
        }
    }

    /// The dtype of a tensor, as far as it is known.
    pub(super) fn dtype_of(&self, tensor: usize) -> Option<Dtype> {
        self.tensors.get(self.dtype_owner(tensor))?.dtype
    }

    /// The tensor whose dtype decides that of another.
    fn dtype_owner(&self, tensor: usize) -> usize {
        let mut owner = tensor;
        for _ in 0..self.tensors.len() {
            match self.tensors.get(owner) {
                Some(facts) if facts.dtype.is_none() => match facts.like {
                    Some(next) if next != owner => owner = next,
                    Some(_) | None => return owner,
                },
                Some(_) | None => return owner,
            }
        }
        owner
    }

    pub(super) fn element(&self, element: Element) -> Option<Dtype> {
        match element {
            Element::Known(dtype) => Some(dtype),
            Element::Of(tensor) => self.dtype_of(tensor),
        }
    }

    /// Records the dtype as which a tensor is read.
    pub(super) fn set_dtype(
        &mut self,
        text: Text<'_>,
        node: Node<'_>,
        tensor: usize,
        dtype: Dtype,
    ) -> Result<(), Refusal> {
        let owner = self.dtype_owner(tensor);
        let Some(facts) = self.tensors.get_mut(owner) else { return Ok(()) };
        match facts.dtype {
            None => facts.dtype = Some(dtype),
            Some(known) if known == dtype => {}
            Some(known) => {
                let why = Why::TwoDtypes { found: dtype.name(), expected: known.name() };
                return Err(text.refused(node, why));
            }
        }
        Ok(())
    }

    /// The dtype of an element, chosen now if nothing decides it.
    pub(super) fn decided(&mut self, element: Element) -> Dtype {
        let choice = self.known.dtype.unwrap_or(Dtype::F32);
        match element {
            Element::Known(dtype) => dtype,
            Element::Of(tensor) => {
                let owner = self.dtype_owner(tensor);
                match self.tensors.get_mut(owner) {
                    Some(facts) => *facts.dtype.get_or_insert(choice),
                    None => choice,
                }
            }
        }
    }
}
