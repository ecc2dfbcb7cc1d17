//! Reads CUDA C++ of one file and its local headers with the CUDA grammar, without a compiler.
//!
//! ```text
//!  text ──► masking (macros that only decorate) ──► tree-sitter ──► Source ──► kernels, structs, host launches, usage,
//!                                                                             device part (the text without host code)
//! ```
//!
//! The text is foreign: nothing here panics, and the time is at most proportional to the length of the text. What the
//! grammar cannot read is reported with its place or left out. Which files a kernel includes is not decided here: that
//! needs a lexer that refuses what it does not know (`includes` in `lightbench-project`).

mod conditionals;
mod device_part;
mod error;
mod host_headers;
pub mod host_launch;
mod host_names;
pub mod index_sizes;
mod integer;
mod items;
mod kernel;
pub mod lexer;
mod masking;
mod source;
pub mod structs;
pub mod syntax;
pub mod torch_wrapper;
pub mod usage;

#[cfg(test)]
mod tests;

pub use device_part::{
    DevicePart, HeaderText, Omission, OmittedItem, Reason, device_part, included_names, items_of,
    omissions,
};
pub use error::{FoundKernel, SourceError, SourceLocation};
pub use host_headers::is_host_header;
pub use items::{Item, items};
pub use kernel::{
    KernelDefinition, Parameter, ParameterNode, Passing, Signature, TemplateKind,
    TemplateParameter, is_kernel, kernels, read, signature_of, template_name,
};
pub use source::{Source, brief, normalised};
// The nodes of the tree, for readers that need more than the facts above.
pub use tree_sitter::Node;

/// All kernels with a body that a text defines, in order.
///
/// # Errors
///
/// If the text is no source at all: too large, with NUL characters, or hopeless for the parser.
pub fn list(text: &str) -> Result<Vec<FoundKernel>, SourceError> {
    let source = Source::parse(text)?;
    Ok(kernels(&source).iter().map(|kernel| kernel.found(&source)).collect())
}
