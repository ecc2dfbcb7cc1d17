//! The values of inputs, proposed from names: the formats do not state them, and random indices are not indices.

use lightbench_primitives::dtype::Dtype;
use lightbench_project::manifest::{DomainWritten, FillWritten, TensorWritten};
use lightbench_project::written::ExpressionWritten;

use super::definition::{Definition, Value};
use super::sizes::Sizes;
use crate::draft::expression;

/// A proposal, with its reason.
pub(super) struct Proposal {
    fill: Option<FillWritten>,
    domain: DomainWritten,
    /// What was proposed, from what.
    pub(super) why: String,
}

impl Proposal {
    pub(super) fn apply(self, tensor: &mut TensorWritten) {
        tensor.fill = self.fill;
        tensor.domain = self.domain;
    }
}

/// The definition and its sizes.
pub(super) struct Context<'a> {
    pub(super) definition: &'a Definition,
    pub(super) sizes: &'a Sizes,
}

/// Proposes the values of an input; `None` if the format's default is as good as any guess.
pub(super) fn propose(context: &Context<'_>, input: &Value, dtype: Dtype) -> Option<Proposal> {
    let name = input.name.to_ascii_lowercase();
    if dtype.is_integer() { integers(context, input, &name, dtype) } else { floats(&name, dtype) }
}

fn integers(context: &Context<'_>, input: &Value, name: &str, dtype: Dtype) -> Option<Proposal> {
    let shape = input.shape.as_deref().unwrap_or_default();
    let holds_offsets = name.ends_with("indptr") || name.starts_with("cu_seqlens");
    if let Some(total) = context.total_of(name).filter(|_| holds_offsets && shape.len() == 1) {
        let why = format!("offsets from 0 to `{}`, never decreasing, from its name", total.0);
        let fill = Some(FillWritten::SortedOffsets { total });
        return Some(Proposal { fill, domain: DomainWritten::Any, why });
    }
    if let Some(limit) = context.limit_of(name) {
        let why = format!("indices from 0 to below `{}`, from its name", limit.0);
        return Some(Proposal { fill: None, domain: DomainWritten::IndexBelow(limit), why });
    }
    if let Some((low, high)) = range_of(name, dtype) {
        let why = format!("integers from {low} to {high}, from its name");
        let fill = Some(FillWritten::Integers { low, high });
        let (low, high) = (low as f64, high as f64);
        return Some(Proposal { fill, domain: DomainWritten::Between { low, high }, why });
    }
    if dtype == Dtype::U8 || dtype == Dtype::I8 {
        return None;
    }
    let why = "any integers; nothing states what it holds".to_owned();
    Some(Proposal { fill: None, domain: DomainWritten::Any, why })
}

impl Context<'_> {
    /// The first of these sizes that the definition has, as an expression of the project.
    fn first(&self, names: &[&str]) -> Option<ExpressionWritten> {
        let known = names.iter().find(|name| self.definition.axis(name).is_some())?;
        self.sizes.translated(known).map(expression)
    }

    /// The last of the offsets with this name.
    fn total_of(&self, name: &str) -> Option<ExpressionWritten> {
        let stated = self.definition.constraints.iter().find_map(|constraint| {
            let (left, right) = constraint.split_once("==")?;
            let is_total = right.trim() == format!("{name}[-1].item()");
            is_total.then(|| left.trim().to_owned())
        });
        if let Some(total) = stated {
            return self.sizes.translated(&total).map(expression);
        }
        let candidates: &[&str] = if name.contains("kv_indptr") || name.contains("paged") {
            &["num_kv_indices", "num_page_indices", "total_kv", "nnz_kv", "num_indices"]
        } else if name.ends_with("_k") || name.ends_with("_kv") {
            &["total_k", "total_kv"]
        } else if name.contains("block_indptr") {
            &["num_block_indices", "num_kv_indices"]
        } else {
            &[
                "total_q",
                "nnz",
                "total_seq_len",
                "total_tokens",
                "num_tokens",
                "total_rows",
                "num_kv_indices",
                "num_indices",
            ]
        };
        self.first(candidates)
    }

    /// The number of things of which an input holds indices.
    fn limit_of(&self, name: &str) -> Option<ExpressionWritten> {
        let candidates: &[&str] = match name {
            "kv_indices" | "paged_kv_indices" | "block_tables" | "page_table" => &["num_pages"],
            "slot_mapping" => &["num_slots", "num_pages", "pool_size"],
            "state_indices" | "initial_state_indices" | "cache_indices" => {
                &["pool_size", "state_pool_size", "num_pages", "num_states"]
            }
            "batch_indices" => &["batch_size"],
            "pos_ids" | "positions" | "position_ids" => &["max_seq_len"],
            "draft_token_ids" | "token_ids" | "input_ids" => &["vocab_size"],
            "topk_ids" | "expert_ids" => &["num_local_experts", "num_experts"],
            "indices" | "row_indices" => &["batch_size", "num_rows"],
            "labels" | "targets" => &["num_classes", "vocab_size"],
            _ => return None,
        };
        self.first(candidates)
    }
}

/// Small ranges for counts and positions.
fn range_of(name: &str, dtype: Dtype) -> Option<(i64, i64)> {
    let scale_bytes = dtype == Dtype::U8 && (name.contains("scale") || name.ends_with("_sf"));
    match name {
        _ if scale_bytes => Some((120, 130)),
        "pos_ids" | "positions" | "position_ids" => Some((0, 255)),
        "offsets" => Some((0, 127)),
        "top_k" => Some((1, 40)),
        _ if name.contains("last_page_len") => Some((1, 1)),
        _ if name.contains("seq_lens") || name.contains("seqlens") => Some((1, 16)),
        _ => None,
    }
}

fn floats(name: &str, dtype: Dtype) -> Option<Proposal> {
    let proposal = |fill, domain, why: &str| {
        Some(Proposal { fill, domain, why: format!("{why}, from its name") })
    };
    if name.ends_with("probs") || name == "p" || name.ends_with("probabilities") {
        return proposal(None, DomainWritten::Probability, "rows of probabilities");
    }
    if name == "top_p" || name == "min_p" {
        let (low, high) = (0.125, 0.875);
        return proposal(None, DomainWritten::Between { low, high }, "numbers from 0.125 to 0.875");
    }
    if name.contains("scale") || name.contains("temperature") || name.contains("global_sf") {
        let fill = Some(FillWritten::Uniform { low: 0.5, high: 1.5 });
        return proposal(fill, DomainWritten::Positive, "positive numbers");
    }
    if name.contains("cos_sin") {
        let (low, high) = (-1.0, 1.0);
        return proposal(None, DomainWritten::Between { low, high }, "numbers from -1 to 1");
    }
    // Wide 8-bit floats would saturate products of a few terms.
    let narrow = matches!(dtype, Dtype::F8E4M3 | Dtype::F8E5M2);
    narrow.then(|| Proposal {
        fill: Some(FillWritten::Normal { mean: 0.0, std: 1.0 }),
        domain: DomainWritten::Finite,
        why: String::new(),
    })
}

/// The expressions in the values of a tensor.
pub(super) fn expressions(tensor: &TensorWritten) -> Vec<String> {
    let mut found = Vec::new();
    if let DomainWritten::IndexBelow(limit) = &tensor.domain {
        found.push(limit.0.clone());
    }
    match &tensor.fill {
        Some(FillWritten::SortedOffsets { total }) => found.push(total.0.clone()),
        Some(FillWritten::Labels { below } | FillWritten::SortedIndices { below, .. }) => {
            found.push(below.0.clone());
        }
        Some(
            FillWritten::Normal { .. }
            | FillWritten::Uniform { .. }
            | FillWritten::Integers { .. }
            | FillWritten::Ones
            | FillWritten::Zeros
            | FillWritten::Constant(_)
            | FillWritten::Permutation
            | FillWritten::Mask { .. }
            | FillWritten::CausalMask
            | FillWritten::HeavyTail { .. }
            | FillWritten::PackedWeights,
        )
        | None => {}
    }
    found
}
