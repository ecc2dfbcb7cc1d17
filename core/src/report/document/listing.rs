//! Listings of a compiled kernel: added texts, machine code and PTX.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::checks::ReportedLine;
use crate::compile::sass::{SassFunction, SassInstruction};

/// The requested listings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedListings {
    /// Texts that are added before the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prelude: Option<Vec<ReportedText>>,
    /// Machine code by function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sass: Option<Vec<ReportedSassFunction>>,
    /// PTX by line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ptx: Option<Vec<ReportedPtxLine>>,
}

/// A text with its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedText {
    /// The name under which the compiler knows it.
    pub name: String,
    /// The text.
    pub text: String,
}

/// The machine code of a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedSassFunction {
    /// The symbol, mangled.
    pub function: String,
    /// Its instructions, in order of address.
    pub instructions: Vec<ReportedSassInstruction>,
}

/// One machine instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedSassInstruction {
    /// Bytes from the beginning of the kernel.
    pub address: u64,
    /// The predicate under which it executes.
    pub predicate: Option<String>,
    /// The opcode with its modifiers.
    pub opcode: String,
    /// The operands.
    pub operands: Vec<String>,
    /// Addresses of its labels.
    pub targets: Vec<u64>,
    /// The source: the innermost line first, then each line into which it was inlined.
    pub source: Vec<ReportedLine>,
    /// The scheduling bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<ReportedControl>,
    /// The number of general registers that hold a value, as the disassembler counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live_registers: Option<u32>,
}

/// The scheduling bits of an instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedControl {
    /// Cycles until the warp may issue its next instruction.
    pub stall: u8,
    /// Whether the scheduler prefers another warp afterwards.
    pub yields: bool,
    /// The scoreboard that is released when the result is written.
    pub write_scoreboard: Option<u8>,
    /// The scoreboard that is released when the operands are read.
    pub read_scoreboard: Option<u8>,
    /// The scoreboards that the instruction waits for.
    pub waits: Vec<u8>,
}

/// A line of PTX with its source line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedPtxLine {
    /// The line of PTX.
    pub text: String,
    /// The source file, if known.
    pub file: Option<String>,
    /// The line of the source, from 1.
    pub line: Option<u32>,
}

impl From<&SassFunction> for ReportedSassFunction {
    fn from(function: &SassFunction) -> Self {
        Self {
            function: function.name.clone(),
            instructions: function.instructions.iter().map(Into::into).collect(),
        }
    }
}

impl From<&SassInstruction> for ReportedSassInstruction {
    fn from(instruction: &SassInstruction) -> Self {
        let SassInstruction {
            address,
            predicate,
            opcode,
            operands,
            targets,
            source,
            control,
            live_registers,
        } = instruction.clone();
        let source = source
            .iter()
            .map(|line| ReportedLine { file: line.file.as_ref().into(), line: line.line })
            .collect();
        let control = control.map(|control| ReportedControl {
            stall: control.stall,
            yields: control.yields,
            write_scoreboard: control.write_scoreboard,
            read_scoreboard: control.read_scoreboard,
            waits: control.waited().collect(),
        });
        Self { address, predicate, opcode, operands, targets, source, control, live_registers }
    }
}
