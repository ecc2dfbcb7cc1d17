//! PTX instructions that the virtual GPU does not support, each with the reason.

use std::fmt;

/// Why an instruction is not supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Bulk copies of forms that are not modelled.
    BulkForm,
    /// Textures and surfaces of forms that are not modelled.
    Texture,
    /// Tensor memory and tensor cores of Blackwell.
    BlackwellTensor,
    /// Memory of several GPUs.
    MultiGpu,
    /// Allocation on the stack at run time.
    DynamicStack,
    /// Shuffles and votes without `.sync`, which targets since sm_70 do not have.
    RemovedWarpOperation,
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::BulkForm => {
                "byte masks, modes of Blackwell and the atomicity of swizzles are not modelled"
            }
            Self::Texture => {
                "layers, cubes, gradients and reductions of textures and surfaces are not modelled"
            }
            Self::BlackwellTensor => "tensor memory of Blackwell is not modelled",
            Self::MultiGpu => "only one GPU is modelled",
            Self::DynamicStack => "a stack that grows at run time is not modelled",
            Self::RemovedWarpOperation => "targets since sm_70 require `.sync` and a mask of lanes",
        })
    }
}

/// Not supported with any modifiers.
const OPCODES: &[(Reason, &[&str])] = &[
    (Reason::BlackwellTensor, &["tcgen05", "clusterlaunchcontrol"]),
    (Reason::Texture, &["sured", "istypep"]),
    (Reason::MultiGpu, &["multimem"]),
    (Reason::DynamicStack, &["alloca", "stacksave", "stackrestore"]),
];

/// Not supported with one of these modifiers.
const MODIFIERS: &[(Reason, &str, &[&str])] = &[
    (Reason::BulkForm, "cp", &["cp_mask", "im2col::w", "im2col::w::128", "tile::gather4"]),
    (Reason::BulkForm, "tensormap", &["swizzle_atomicity"]),
    (Reason::Texture, "tex", &["a1d", "a2d", "cube", "acube", "2dms", "a2dms", "grad"]),
    (Reason::Texture, "tld4", &["a2d", "cube", "acube"]),
    (Reason::Texture, "suld", &["a1d", "a2d"]),
    (Reason::Texture, "sust", &["a1d", "a2d", "p"]),
    (Reason::BlackwellTensor, "mma", &["block_scale", "kind::f8f6f4"]),
    (Reason::BlackwellTensor, "ldmatrix", &["m16n16", "m8n16"]),
    (Reason::BlackwellTensor, "stmatrix", &["m16n8"]),
];

/// The reason why an instruction is not supported, decided before its modifiers are read; none for known
/// instructions.
pub(crate) fn reason(opcode: &str, modifiers: &[&str]) -> Option<Reason> {
    let by_opcode = OPCODES.iter().find(|(_, names)| names.contains(&opcode));
    if let Some((reason, _)) = by_opcode {
        return Some(*reason);
    }
    if matches!(opcode, "shfl" | "vote") && !modifiers.contains(&"sync") {
        return Some(Reason::RemovedWarpOperation);
    }
    let by_modifier = MODIFIERS.iter().find(|(_, name, words)| {
        *name == opcode && words.iter().any(|word| modifiers.contains(word))
    });
    by_modifier.map(|(reason, _, _)| *reason)
}
