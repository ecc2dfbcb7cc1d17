//! What inputs hold: the same bytes for ever, values inside their domains, structure as the format's page says.

mod domain;
mod echoes;
mod golden;
mod probes;
mod structure;
mod values;

use lightbench_primitives::dtype::Dtype;
use lightbench_project::manifest::Accuracy;

use super::super::element::{element_at, real};
use super::super::layout::Layout;
use super::*;
use crate::fixture::case;

fn declared(seed: u64) -> InputSpec {
    drawn(seed, Distribution::AsDeclared)
}

fn drawn(seed: u64, distribution: Distribution) -> InputSpec {
    InputSpec { seed, draw: InputMode::Distribution(distribution) }
}

/// The bytes of a tensor alone in a case.
fn bytes(tensor: &TensorCase, recipe: InputSpec) -> Vec<u8> {
    let case = case(Accuracy::F32, vec![tensor.clone()]);
    generate(&case, recipe).unwrap().remove(0).unwrap()
}

/// The bits of each element, in the order of indices.
fn elements(tensor: &TensorCase, bytes: &[u8]) -> Vec<u64> {
    let layout = Layout::new(tensor).unwrap();
    let places = layout
        .runs()
        .flat_map(|run| (0..run.length).map(move |index| run.offset + index * run.step));
    places.map(|place| element_at(tensor.dtype, bytes, place).unwrap()).collect()
}

fn reals(tensor: &TensorCase, recipe: InputSpec) -> Vec<f64> {
    let bytes = bytes(tensor, recipe);
    elements(tensor, &bytes).into_iter().map(|bits| real(tensor.dtype, bits)).collect()
}

const DTYPES: [Dtype; 18] = [
    Dtype::F64,
    Dtype::F32,
    Dtype::F16,
    Dtype::Bf16,
    Dtype::F8E4M3,
    Dtype::F8E5M2,
    Dtype::I64,
    Dtype::I32,
    Dtype::I16,
    Dtype::I8,
    Dtype::U64,
    Dtype::U32,
    Dtype::U16,
    Dtype::U8,
    Dtype::Bool,
    Dtype::I4,
    Dtype::U4,
    Dtype::E2M1,
];
