//! Parser of the assembler's report with `-v`: registers, stack, spills, shared and constant memory.
//!
//! Both wordings are read: 13.0 puts `N bytes stack frame …` on an indented line and always
//! counts `cmem[0]`; 13.5 begins that line with `ptxas         .` and adds barriers,
//! `cumulative stack size` and the time.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

/// Resources of one kernel.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct KernelUsage {
    /// The symbol, mangled.
    pub symbol: String,
    /// The architecture it was assembled for, such as `sm_90`.
    pub architecture: String,
    /// Registers per thread.
    pub registers: Option<u32>,
    /// Named barriers per block.
    pub barriers: Option<u32>,
    /// Bytes of stack of the kernel's own frame, per thread.
    pub stack_bytes: Option<u64>,
    /// Bytes of stack with the functions it calls, per thread.
    pub cumulative_stack_bytes: Option<u64>,
    /// Bytes stored by spills, counted in the code.
    pub spill_store_bytes: Option<u64>,
    /// Bytes loaded by spills, counted in the code.
    pub spill_load_bytes: Option<u64>,
    /// Bytes of static shared memory that the source declares: without the 1 KiB per block that
    /// the system keeps from sm_90 on.
    pub shared_bytes: u64,
    /// Bytes of local memory, where it is reported apart from the stack.
    pub local_bytes: u64,
    /// Bytes of each constant bank; bank 0 holds the parameters and is not reported from sm_90 on.
    pub constant_bytes: BTreeMap<u32, u64>,
    /// The assembler's own time.
    pub assemble_ms: Option<f64>,
}

/// Resources of a function that was not inlined.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FunctionUsage {
    /// The symbol, mangled.
    pub symbol: String,
    /// Bytes of its own frame.
    pub stack_bytes: u64,
    /// Bytes stored by spills.
    pub spill_store_bytes: u64,
    /// Bytes loaded by spills.
    pub spill_load_bytes: u64,
}

/// The assembler's report on one module.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModuleUsage {
    /// In the order of the log.
    pub kernels: Vec<KernelUsage>,
    /// In the order of the log.
    pub functions: Vec<FunctionUsage>,
    /// Bytes of global variables.
    pub global_bytes: u64,
    /// Bytes of the module's constant banks (bank 3 holds `__constant__` data).
    pub constant_bytes: BTreeMap<u32, u64>,
}

/// Reads the `ptxas info` lines of a log; other lines are ignored.
#[must_use]
pub fn read(log: &str) -> ModuleUsage {
    let mut reader = Reader::default();
    for line in log.lines() {
        reader.line(line);
    }
    reader.module
}

#[derive(Default)]
struct Reader {
    module: ModuleUsage,
    /// A kernel has begun: facts belong to the last one.
    in_kernel: bool,
    /// The function whose properties come next, unless it is the kernel itself.
    function: Option<String>,
}

impl Reader {
    fn line(&mut self, line: &str) {
        let text = match line.strip_prefix("ptxas ") {
            Some(rest) => match rest.trim_start().split_once([':', '.']) {
                Some((word, text)) if matches!(word.trim(), "info" | "") => text.trim(),
                Some(_) | None => return,
            },
            None if line.starts_with("    ") => line.trim(),
            None => return,
        };
        if let Some(rest) = text.strip_prefix("Compiling entry function '") {
            self.begin(rest);
        } else if let Some(symbol) = text.strip_prefix("Function properties for ") {
            self.function = Some(symbol.trim().to_owned());
        } else if let Some(time) = text.strip_prefix("Compile time = ") {
            let value = time.split(' ').next().and_then(|number| number.parse().ok());
            self.kernel(|kernel| kernel.assemble_ms = value);
        } else if text.contains(" bytes stack frame") {
            self.frame(text);
        } else {
            self.facts(text.strip_prefix("Used ").unwrap_or(text));
        }
    }

    fn begin(&mut self, rest: &str) {
        let (symbol, after) = rest.split_once('\'').unwrap_or((rest, ""));
        let architecture = after.split('\'').nth(1).unwrap_or_default();
        self.module.kernels.push(KernelUsage {
            symbol: symbol.to_owned(),
            architecture: architecture.to_owned(),
            ..KernelUsage::default()
        });
        self.in_kernel = true;
        self.function = None;
    }

    fn kernel(&mut self, change: impl FnOnce(&mut KernelUsage)) {
        if self.in_kernel
            && let Some(kernel) = self.module.kernels.last_mut()
        {
            change(kernel);
        }
    }

    fn frame(&mut self, text: &str) {
        let mut usage = FunctionUsage::default();
        for (number, what) in counted(text) {
            match what {
                "bytes stack frame" => usage.stack_bytes = number,
                "bytes spill stores" => usage.spill_store_bytes = number,
                "bytes spill loads" => usage.spill_load_bytes = number,
                _ => {}
            }
        }
        let own = self.module.kernels.last().map(|kernel| kernel.symbol.as_str());
        match self.function.take() {
            Some(symbol) if own != Some(&*symbol) => {
                self.module.functions.push(FunctionUsage { symbol, ..usage });
            }
            Some(_) | None => self.kernel(|kernel| {
                kernel.stack_bytes = Some(usage.stack_bytes);
                kernel.spill_store_bytes = Some(usage.spill_store_bytes);
                kernel.spill_load_bytes = Some(usage.spill_load_bytes);
            }),
        }
    }

    fn facts(&mut self, text: &str) {
        for (number, what) in counted(text) {
            let bank = what.strip_prefix("bytes cmem[").and_then(|rest| rest.strip_suffix(']'));
            if let Some(bank) = bank.and_then(|bank| bank.parse().ok()) {
                match self.module.kernels.last_mut() {
                    Some(kernel) => kernel.constant_bytes.insert(bank, number),
                    None => self.module.constant_bytes.insert(bank, number),
                };
                continue;
            }
            let small = u32::try_from(number).ok();
            match what {
                "bytes gmem" => self.module.global_bytes = number,
                "registers" => self.kernel(|kernel| kernel.registers = small),
                "barriers" => self.kernel(|kernel| kernel.barriers = small),
                "bytes cumulative stack size" => {
                    self.kernel(|kernel| kernel.cumulative_stack_bytes = Some(number));
                }
                "bytes smem" => self.kernel(|kernel| kernel.shared_bytes = number),
                "bytes lmem" => self.kernel(|kernel| kernel.local_bytes = number),
                _ => {}
            }
        }
    }
}

/// `24 bytes stack frame, 20 bytes spill stores` as pairs; `used` before a number is skipped.
fn counted(text: &str) -> impl Iterator<Item = (u64, &str)> {
    text.split(", ").filter_map(|part| {
        let part = part.trim();
        let (number, what) = part.strip_prefix("used ").unwrap_or(part).split_once(' ')?;
        // Old assemblers write the two parts of shared memory as a sum.
        let total =
            number.split('+').try_fold(0_u64, |sum, each| sum.checked_add(each.parse().ok()?))?;
        Some((total, what))
    })
}
