//! Instructions that PTX has and this machine refuses, each with the reason.

use std::fmt;

/// Why an instruction of PTX is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Hopper's bulk copies, clusters, `wgmma`: the third tier.
    HopperAsynchronous,
    /// Textures and surfaces.
    Texture,
    /// Tensor memory and tensor cores of Blackwell.
    BlackwellTensor,
    /// `mma` on sparse matrices.
    Sparse,
    /// Memory shared by several GPUs.
    MultiGpu,
    /// Stack that grows at run time.
    DynamicStack,
    /// Shuffles and votes without `.sync`, gone from every target since sm_70.
    RemovedWarpOperation,
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::HopperAsynchronous => "asynchronous Hopper instructions are planned",
            Self::Texture => "textures and surfaces are not modelled",
            Self::BlackwellTensor => "tensor memory of Blackwell is not modelled",
            Self::Sparse => "sparse matrices are not modelled",
            Self::MultiGpu => "only one GPU is modelled",
            Self::DynamicStack => "a stack that grows at run time is not modelled",
            Self::RemovedWarpOperation => "without `.sync` it left PTX with sm_70; name the lanes",
        })
    }
}

/// Refused whatever the modifiers are.
const OPCODES: &[(Reason, &[&str])] = &[
    (
        Reason::HopperAsynchronous,
        &["wgmma", "mapa", "elect", "setmaxnreg", "griddepcontrol", "getctarank"],
    ),
    (Reason::BlackwellTensor, &["tcgen05", "clusterlaunchcontrol"]),
    (Reason::Texture, &["tex", "tld4", "txq", "suld", "sust", "sured", "suq", "istypep"]),
    (Reason::MultiGpu, &["multimem"]),
    (Reason::DynamicStack, &["alloca", "stacksave", "stackrestore"]),
];

/// Refused with one of these modifiers.
const MODIFIERS: &[(Reason, &str, &[&str])] = &[
    (Reason::HopperAsynchronous, "cp", &["bulk", "reduce"]),
    (Reason::HopperAsynchronous, "st", &["async", "bulk"]),
    (Reason::HopperAsynchronous, "red", &["async"]),
    (Reason::HopperAsynchronous, "barrier", &["cluster"]),
    (
        Reason::HopperAsynchronous,
        "fence",
        &["proxy", "mbarrier_init", "sync_restrict::shared::cluster", "sync_restrict::shared::cta"],
    ),
    (Reason::HopperAsynchronous, "mbarrier", &["expect_tx", "complete_tx"]),
    (Reason::HopperAsynchronous, "prefetch", &["tensormap"]),
    (Reason::HopperAsynchronous, "tensormap", &["replace", "cp_fenceproxy"]),
    (Reason::Sparse, "mma", &["sp", "sp::ordered_metadata"]),
    (Reason::BlackwellTensor, "mma", &["block_scale", "kind::f8f6f4"]),
    (Reason::BlackwellTensor, "ldmatrix", &["m16n16", "m8n16"]),
    (Reason::BlackwellTensor, "stmatrix", &["m16n8"]),
];

/// The reason why an instruction is refused before its modifiers are read; none for those we know.
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
    if let Some((reason, _, _)) = by_modifier {
        return Some(*reason);
    }
    // `isspacep` only asks, and the answer is known.
    let reaches_cluster = opcode != "isspacep"
        && modifiers
            .iter()
            .any(|word| word.starts_with("shared::cluster") || word.starts_with("multicast::"));
    reaches_cluster.then_some(Reason::HopperAsynchronous)
}
