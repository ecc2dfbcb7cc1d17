//! Parameters that a kernel copies instead of using them in place.
//!
//! Copies of the Tensor Memory Accelerator read their descriptor from global or constant memory, or from parameters. For
//! a parameter without `__grid_constant__` the compiler copies the bytes to local memory as soon as the code takes its
//! address (CUDA C++ Programming Guide, "__grid_constant__ Parameters").

use lightbench_ptx::PtxEntry;

/// Whether the code of an entry loads a parameter, never takes its address, and copies tensors. An entry that changes
/// descriptors (`tensormap.replace`) loads them to write them elsewhere.
pub(super) fn copies_descriptor(ptx: &str, entry: &PtxEntry, parameter: &str) -> bool {
    let (first, last) = entry.lines;
    let skipped = usize::try_from(first).unwrap_or(usize::MAX).saturating_sub(1);
    let count = usize::try_from(last.saturating_sub(first)).unwrap_or(usize::MAX).saturating_add(1);
    let text = ptx.lines().skip(skipped).take(count);
    let body = || text.clone().skip_while(|line| !line.trim_start().starts_with('{'));
    let mut loads = false;
    for line in body() {
        match first_use(line, parameter) {
            Some(ParameterUse::Load) => loads = true,
            Some(ParameterUse::Address) => return false,
            None => {}
        }
    }
    let has = |part: &str| body().any(|line| line.trim_start().starts_with(part));
    loads && has("cp.async.bulk.tensor.") && !has("tensormap.")
}

enum ParameterUse {
    /// `[name+8]`.
    Load,
    /// `name` as an operand.
    Address,
}

fn first_use(line: &str, parameter: &str) -> Option<ParameterUse> {
    let at = line.find(parameter)?;
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$');
    let (before, after) = (&line[..at], &line[at + parameter.len()..]);
    if before.ends_with(is_name) || after.starts_with(is_name) {
        return None;
    }
    Some(if before.trim_end().ends_with('[') { ParameterUse::Load } else { ParameterUse::Address })
}

#[cfg(test)]
mod tests {
    use super::*;

    const COPY: &str = "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2}], [%r3];";

    /// A kernel with a tensor map and a pointer, as NVRTC 13.5 writes it.
    fn check(body: &[&str], expected: bool) {
        let body: String = body.iter().map(|line| format!("\t{line}\n")).collect();
        let ptx = format!(
            ".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry k(\n\t.param .align 64 .b8 k_param_0[128],\n\
             \t.param .u64 k_param_01\n)\n{{\n{body}\tret;\n}}\n"
        );
        let module = lightbench_ptx::read(&ptx);
        let found = copies_descriptor(&ptx, &module.entries[0], "k_param_0");
        assert_eq!(found, expected, "{ptx}");
    }

    #[test]
    fn a_descriptor_is_copied_where_only_its_bytes_are_loaded() {
        let load = "ld.param.u64 %rd3, [k_param_0+8];";
        let in_place = "mov.b64 %rd2, k_param_0;";
        check(&[load, COPY], true);
        check(&[in_place, "cvta.param.u64 %rd1, %rd2;", COPY], false);
        check(&[load, in_place, COPY], false);
        // Another parameter; a kernel without tensor copies; one that changes descriptors.
        check(&["ld.param.u64 %rd3, [k_param_01];", COPY], false);
        check(&[load], false);
        check(
            &[
                load,
                "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%rd4], %rd5;",
                COPY,
            ],
            false,
        );
    }
}
