//! All statements of a sheet as a list of name, value and evidence, for display.

use std::fmt::Display;

use serde::Serialize;

use super::capability::Capability;
use super::described_gpu::hexadecimal;
use super::peaks::Pipe;
use super::sheet::DeviceSheet;
use super::sourced::Sourced;

/// One line of a sheet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// The name, as in [`DeviceSheet`], [`Capability`] or [`super::Pipe::key`].
    pub name: &'static str,
    /// The formatted value; `none` or `unknown` without one.
    pub value: String,
    pub evidence: Evidence,
}

/// The source of a value, or the reason why it is unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// The key of a document in `sources`.
    Document(String),
    /// Why the value is unknown.
    Reason(String),
}

impl DeviceSheet {
    /// The statements of the sheet, peaks last.
    #[must_use]
    pub fn facts(&self) -> Vec<Fact> {
        let mut facts = vec![
            fact("compute_capability", &self.compute_capability),
            fact("sms", &self.sms),
            fact("base_clock", &self.base_clock),
            fact("boost_clock", &self.boost_clock),
            fact("tensor_clock", &self.tensor_clock),
            fact("memory_transfers", &self.memory_transfers),
            fact("memory_bus_bits", &self.memory_bus_bits),
            fact("dram", &self.dram),
            fact("dram_bandwidth", &self.dram_bandwidth),
            fact("l2", &self.l2),
            fact("power_limit", &self.power_limit),
            fact("pci_device_ids", &self.pci_device_ids.clone().map(|ids| hexadecimal(&ids))),
        ];
        facts.extend(self.peaks.iter().map(|(pipe, peak)| fact(pipe.key(), peak)));
        facts
    }

    /// The keys of the documents that its numbers cite.
    pub(super) fn cited(&self) -> Vec<String> {
        let document = |fact: Fact| match fact.evidence {
            Evidence::Document(key) => Some(key),
            Evidence::Reason(_) => None,
        };
        self.facts().into_iter().filter_map(document).collect()
    }
}

impl Capability {
    /// The statements about the compute capability.
    #[must_use]
    pub fn facts(&self) -> Vec<Fact> {
        let carveouts = self
            .shared_carveouts
            .clone()
            .map(|sizes| sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
        let mut facts = vec![
            fact("fp32_lanes_per_sm", &self.fp32_lanes_per_sm),
            fact("special_function_lanes_per_sm", &self.special_function_lanes_per_sm),
            fact("atomics_per_clock", &self.atomics_per_clock),
            fact("float_atomics_per_clock", &self.float_atomics_per_clock),
            fact("warp_size", &self.warp_size),
            fact("max_threads_per_block", &self.max_threads_per_block),
            fact("max_threads_per_sm", &self.max_threads_per_sm),
            fact("max_blocks_per_sm", &self.max_blocks_per_sm),
            fact("sub_partitions_per_sm", &self.sub_partitions_per_sm),
            fact("registers_per_sm", &self.registers_per_sm),
            fact("max_registers_per_block", &self.max_registers_per_block),
            fact("max_registers_per_thread", &self.max_registers_per_thread),
            fact("register_allocation_per_warp", &self.register_allocation_per_warp),
            fact("warp_allocation_granularity", &self.warp_allocation_granularity),
            fact("shared_per_sm", &self.shared_per_sm),
            fact("default_shared_per_block", &self.default_shared_per_block),
            fact("max_shared_per_block", &self.max_shared_per_block),
            fact("reserved_shared_per_block", &self.reserved_shared_per_block),
            fact("shared_allocation_unit", &self.shared_allocation_unit),
            fact("shared_carveouts", &carveouts),
            fact("barriers_per_block", &self.barriers_per_block),
            fact("barriers_per_sm", &self.barriers_per_sm),
            fact("l1", &self.l1),
        ];
        facts.extend(
            self.operations_per_clock.iter().map(|(pipe, rate)| fact(per_clock(pipe), rate)),
        );
        let geforce = self.geforce_operations_per_clock.iter();
        facts.extend(geforce.map(|(pipe, rate)| fact(geforce_per_clock(*pipe), rate)));
        facts
    }
}

fn fact<T: Display>(name: &'static str, stated: &Sourced<T>) -> Fact {
    let evidence = match stated {
        Sourced::Known { source, .. } | Sourced::Absent { source } => {
            Evidence::Document(source.clone())
        }
        Sourced::Unknown { reason } => Evidence::Reason(reason.clone()),
    };
    Fact { name, value: stated.to_string(), evidence }
}

/// The name of the rate of a pipe.
const fn per_clock(pipe: Pipe) -> &'static str {
    match pipe {
        Pipe::Fp64 => "fp64_per_clock",
        Pipe::Fp32 => "fp32_per_clock",
        Pipe::Fp16 => "fp16_per_clock",
        Pipe::Bf16 => "bf16_per_clock",
        Pipe::TensorFp64 => "tensor_fp64_per_clock",
        Pipe::TensorTf32 => "tensor_tf32_per_clock",
        Pipe::TensorFp16 => "tensor_fp16_per_clock",
        Pipe::TensorFp16AccumulateFp32 => "tensor_fp16_accumulate_fp32_per_clock",
        Pipe::TensorBf16 => "tensor_bf16_per_clock",
        Pipe::TensorFp8 => "tensor_fp8_per_clock",
        Pipe::TensorFp8AccumulateFp32 => "tensor_fp8_accumulate_fp32_per_clock",
        Pipe::TensorFp4 => "tensor_fp4_per_clock",
        Pipe::TensorInt8 => "tensor_int8_per_clock",
    }
}

/// The name of the rate of a pipe on GeForce boards.
const fn geforce_per_clock(pipe: Pipe) -> &'static str {
    match pipe {
        Pipe::Fp64 => "geforce_fp64_per_clock",
        Pipe::Fp32 => "geforce_fp32_per_clock",
        Pipe::Fp16 => "geforce_fp16_per_clock",
        Pipe::Bf16 => "geforce_bf16_per_clock",
        Pipe::TensorFp64 => "geforce_tensor_fp64_per_clock",
        Pipe::TensorTf32 => "geforce_tensor_tf32_per_clock",
        Pipe::TensorFp16 => "geforce_tensor_fp16_per_clock",
        Pipe::TensorFp16AccumulateFp32 => "geforce_tensor_fp16_accumulate_fp32_per_clock",
        Pipe::TensorBf16 => "geforce_tensor_bf16_per_clock",
        Pipe::TensorFp8 => "geforce_tensor_fp8_per_clock",
        Pipe::TensorFp8AccumulateFp32 => "geforce_tensor_fp8_accumulate_fp32_per_clock",
        Pipe::TensorFp4 => "geforce_tensor_fp4_per_clock",
        Pipe::TensorInt8 => "geforce_tensor_int8_per_clock",
    }
}
