//! Names that only host programs have: the runtime's interface, libraries of the host, and most of `std`.

use tree_sitter::Node;

use super::source::Source;

/// Prefixes of the interfaces of CUDA's libraries, before a capital letter.
const INTERFACES: [&str; 10] =
    ["cuda", "cublas", "curand", "cudnn", "cufft", "cusolver", "cusparse", "nccl", "nvml", "nvtx"];

/// Names from `std` that device code has too, through libcu++.
const DEVICE_STD: [&str; 28] = [
    "array",
    "bool_constant",
    "common_type",
    "conditional",
    "conditional_t",
    "declval",
    "decay_t",
    "enable_if",
    "enable_if_t",
    "false_type",
    "forward",
    "index_sequence",
    "integer_sequence",
    "integral_constant",
    "is_same",
    "is_same_v",
    "make_index_sequence",
    "move",
    "nullptr_t",
    "numeric_limits",
    "pair",
    "ptrdiff_t",
    "remove_const_t",
    "remove_reference_t",
    "size_t",
    "swap",
    "true_type",
    "tuple",
];

/// Whether an identifier of the tree is such a name.
pub(super) fn uses_host_names(source: &Source<'_>, node: Node<'_>) -> bool {
    let name = source.node_text(node);
    match name {
        "std" => !follows_cuda(source, node) && !is_device_std(source, node),
        "FILE" | "thrust" | "chrono" | "cudnn_frontend" => true,
        // Handles that kernels take.
        "cudaTextureObject_t" | "cudaSurfaceObject_t" => false,
        _ => {
            name.starts_with("MPI_")
                || INTERFACES.iter().any(|prefix| {
                    name.strip_prefix(prefix).is_some_and(|rest| {
                        rest.starts_with(|letter: char| letter.is_ascii_uppercase())
                    })
                })
        }
    }
}

/// `cuda::std` is the device's own standard library.
fn follows_cuda(source: &Source<'_>, name: Node<'_>) -> bool {
    let before = source.text().get(..name.start_byte()).unwrap_or_default();
    before.trim_end().strip_suffix("::").is_some_and(|rest| rest.trim_end().ends_with("cuda"))
}

/// Whether the name after `std::` is one that device code has.
fn is_device_std(source: &Source<'_>, name: Node<'_>) -> bool {
    let after = source.text().get(name.end_byte()..).unwrap_or_default();
    let Some(after) = after.trim_start().strip_prefix("::") else { return false };
    let after = after.trim_start();
    let end = after.find(|letter: char| letter != '_' && !letter.is_ascii_alphanumeric());
    let member = after.get(..end.unwrap_or(after.len())).unwrap_or_default();
    DEVICE_STD.contains(&member)
}
