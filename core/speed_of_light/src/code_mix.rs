//! The static instruction mix of a kernel's PTX: access widths, and the use of architecture features.
//!
//! The counts are per instruction in the code, not per execution. Source: PTX ISA, chapter "Instructions".

use lightbench_ptx::parse;
use lightbench_ptx::tree::FunctionKind;

/// The instruction counts of a kernel's PTX.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeMix {
    /// Floating-point multiplies and multiply-adds.
    pub products: u64,
    /// Loads of global memory.
    pub global_loads: u64,
    /// Stores to global memory.
    pub global_stores: u64,
    /// Bytes of the widest load of global memory by one thread.
    pub widest_load: u64,
    /// Bytes of the widest store to global memory by one thread.
    pub widest_store: u64,
    /// Loads and stores of local memory.
    pub local: u64,
    /// Atomics on global memory.
    pub global_atomics: u64,
    /// Instructions that read or write shared memory: also copies, and products with operands there.
    pub shared: u64,
    /// Matrix multiply-adds on tensor cores.
    pub tensor: u64,
    /// Matrix multiply-adds of a warp group (four warps).
    pub warp_group: u64,
    /// Copies into shared memory that complete later.
    pub async_copies: u64,
    /// Bulk copies, including tensor copies.
    pub bulk_copies: u64,
    /// Shuffles between the threads of a warp.
    pub shuffles: u64,
    /// Barriers of a block.
    pub barriers: u64,
    /// Loads and stores with a streaming cache hint.
    pub streaming: u64,
    /// Stores to shared memory with multiply-adds between them and the preceding loads from global memory: the next tile is
    /// loaded while the current one is used.
    pub prefetches: u64,
}

/// The kind of instruction seen since the last barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Since {
    Barrier,
    Load,
    Product,
}

impl CodeMix {
    /// The instruction mix of the kernels with these symbols; functions that are not inlined are left out.
    #[must_use]
    pub fn from_ptx(ptx: &str, symbols: &[&str]) -> Self {
        let mut mix = Self::default();
        let (tree, _) = parse(ptx);
        for function in tree.functions.iter().filter(|each| symbols.contains(&each.name)) {
            let Some(body) =
                function.body.as_ref().filter(|_| function.kind == FunctionKind::Entry)
            else {
                continue;
            };
            let mut since = Since::Barrier;
            for statement in &body.statements {
                if let Some((opcode, modifiers)) = body.opcode(statement) {
                    mix.instruction(opcode, modifiers);
                    since = mix.order(opcode, modifiers, since);
                }
            }
        }
        mix
    }

    /// Follows loads, products and stores of tiles in the order of the text.
    fn order(&mut self, name: &str, modifiers: &[&str], since: Since) -> Since {
        let shared = modifiers.iter().any(|own| own.split("::").next() == Some("shared"));
        match (name, since) {
            ("bar" | "barrier", _) => Since::Barrier,
            ("ld", Since::Barrier) if modifiers.contains(&"global") => Since::Load,
            ("fma" | "mma" | "wmma", Since::Load) => Since::Product,
            ("st", Since::Product) if shared => {
                self.prefetches += 1;
                since
            }
            (_, Since::Barrier | Since::Load | Since::Product) => since,
        }
    }

    fn instruction(&mut self, name: &str, modifiers: &[&str]) {
        let has = |word: &str| modifiers.iter().any(|own| own.split("::").next() == Some(word));
        match name {
            "ld" | "st" | "atom" | "red" => self.access(name, modifiers),
            "fma" | "mul" => {
                let floats = ["f16", "f16x2", "bf16", "bf16x2", "f32", "f32x2", "f64"];
                self.products += u64::from(floats.iter().any(|float| modifiers.contains(float)));
            }
            "mma" | "wmma" => self.tensor += u64::from(!has("load") && !has("store")),
            "wgmma" => {
                let products = u64::from(has("mma_async"));
                self.tensor += products;
                self.warp_group += products;
                self.shared += products;
            }
            "ldmatrix" | "stmatrix" => self.shared += 1,
            "tcgen05" => self.tensor += u64::from(has("mma")),
            "cp" if has("bulk") => {
                self.bulk_copies += u64::from(!has("commit_group") && !has("wait_group"));
                self.shared += u64::from(has("shared"));
            }
            "cp" => {
                let copies = u64::from(has("async") && has("shared"));
                self.async_copies += copies;
                self.shared += copies;
            }
            "shfl" | "redux" => self.shuffles += 1,
            "bar" | "barrier" => self.barriers += u64::from(!has("warp") && !has("cluster")),
            // All other PTX instructions and directives.
            _ => {}
        }
    }

    /// An access without a state space is generic, which is mostly global memory.
    fn access(&mut self, name: &str, modifiers: &[&str]) {
        let has = |word: &str| modifiers.iter().any(|own| own.split("::").next() == Some(word));
        if has("shared") {
            self.shared += 1;
        } else if has("local") {
            self.local += 1;
        } else if has("param") || has("const") {
            // Neither of them waits for memory.
        } else if name == "ld" {
            self.global_loads += 1;
            self.widest_load = self.widest_load.max(bytes(modifiers));
            self.streaming += u64::from(is_streaming(modifiers));
        } else if name == "st" {
            self.global_stores += 1;
            self.widest_store = self.widest_store.max(bytes(modifiers));
            self.streaming += u64::from(is_streaming(modifiers));
        } else {
            self.global_atomics += 1;
        }
    }
}

/// Bytes of one thread's access: the type by the length of the vector.
fn bytes(modifiers: &[&str]) -> u64 {
    let vector = modifiers.iter().find_map(|word| word.strip_prefix('v')?.parse::<u64>().ok());
    // The type is the last modifier.
    let bits = modifiers.iter().rev().find_map(|word| {
        let digits = word.strip_prefix(['b', 'u', 's', 'f'])?;
        digits.parse::<u64>().ok()
    });
    vector.unwrap_or(1).saturating_mul(bits.unwrap_or(0)) / 8
}

fn is_streaming(modifiers: &[&str]) -> bool {
    let hints = ["cs", "lu", "L1::no_allocate", "L1::evict_first", "L2::evict_first"];
    // `L1::no_allocate` contains no dot, so it is one modifier.
    modifiers.iter().any(|word| hints.contains(word))
}

#[cfg(test)]
mod tests {

    use super::*;

    #[track_caller]
    fn check(statement: &str, expected: CodeMix) {
        let text =
            format!(".visible .entry k()\n{{\n{statement}\n}}\n.func f() {{\nbar.sync 0;\n}}\n");
        assert_eq!(CodeMix::from_ptx(&text, &["k"]), expected, "{statement}");
        assert_eq!(CodeMix::from_ptx(&text, &["other"]), CodeMix::default());
    }

    #[test]
    fn an_instruction_counts_as_what_it_is() {
        let none = CodeMix::default();
        let load = CodeMix { global_loads: 1, ..none };
        check(
            "ld.global.nc.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];",
            CodeMix { widest_load: 16, ..load },
        );
        check("@%p1 ld.global.u16 %rs1, [%rd1];", CodeMix { widest_load: 2, ..load });
        check(
            "\tld.global.L1::no_allocate.f64 %fd1, [%rd1];",
            CodeMix { widest_load: 8, streaming: 1, ..load },
        );
        check("ld.u8 %rs1, [%rd1];", CodeMix { widest_load: 1, ..load });
        check("ld.param.u64 %rd1, [k_param_0];", none);
        check("ld.shared.v2.f32 {%f1, %f2}, [%r1];", CodeMix { shared: 1, ..none });
        check(
            "st.global.cs.v2.f64 [%rd1], {%fd1, %fd2};",
            CodeMix { global_stores: 1, widest_store: 16, streaming: 1, ..none },
        );
        check("st.local.u32 [%rd1], %r1;", CodeMix { local: 1, ..none });
        check("red.global.add.u32 [%rd1], 1;", CodeMix { global_atomics: 1, ..none });
        check("atom.shared.add.u32 %r1, [%r2], 1;", CodeMix { shared: 1, ..none });
        check(
            "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1}, {%r1}, {%r2}, {%f1};",
            CodeMix { tensor: 1, ..none },
        );
        check(
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1}, %rd1, %rd2, 1, 1, 1, 0, 0;",
            CodeMix { tensor: 1, warp_group: 1, shared: 1, ..none },
        );
        check(
            "cp.async.cg.shared.global [%r1], [%rd1], 16;",
            CodeMix { async_copies: 1, shared: 1, ..none },
        );
        check(
            "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r5];",
            CodeMix { shared: 1, ..none },
        );
        check("cp.async.wait_group 0;", none);
        check(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 64, [%r2];",
            CodeMix { bulk_copies: 1, shared: 1, ..none },
        );
        check("shfl.sync.bfly.b32 %r1, %r2, 16, 31, -1;", CodeMix { shuffles: 1, ..none });
        check("bar.sync \t0;", CodeMix { barriers: 1, ..none });
        check("bar.warp.sync -1;", none);
        let tile = "ld.global.f32 %f1, [%rd1];\nfma.rn.f32 %f2, %f3, %f4, %f2;\nst.shared.f32 [%r1], %f1;\nbar.sync 0;";
        let counts = CodeMix { products: 1, widest_load: 4, shared: 1, barriers: 1, ..load };
        check(tile, CodeMix { prefetches: 1, ..counts });
        let tile = "fma.rn.f32 %f2, %f3, %f4, %f2;\nld.global.f32 %f1, [%rd1];\nst.shared.f32 [%r1], %f1;\nbar.sync 0;";
        check(tile, counts);
        check("mul.f32 %f1, %f2, %f3;", CodeMix { products: 1, ..none });
        check("mul.lo.s32 %r1, %r2, %r3;", none);
        check("// ld.global.f32", none);
        check("$L_1:", none);
        check("{ bar.sync 0; bar.sync 1; }", CodeMix { barriers: 2, ..none });
        check("tcgen05.mma.future {{%r1}, %r2}, %r3;", CodeMix { tensor: 1, ..none });
    }
}
