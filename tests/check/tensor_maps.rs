//! Tensor maps of a launch block and the parameter that a kernel declares for them.

use super::*;

const KERNEL: &str = r#"#include <cuda.h>
/*@ lightbench(
    title: "Copies of the Tensor Memory Accelerator",
    arch: specific,
    tensor_maps: [(name: "map", tensor: "x", shape: ["rows * cols"], box: [64])],
    steps: [launch(kernel: "scale", args: ["map", "y"], grid: [1], block: [128])],
) @*/
__global__ void scale(const __grid_constant__ CUtensorMap map, float* y) {
  __shared__ alignas(128) float tile[64];
  __shared__ alignas(8) unsigned long long barrier;
  const unsigned to = (unsigned)__cvta_generic_to_shared(tile);
  const unsigned done = (unsigned)__cvta_generic_to_shared(&barrier);
  asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];"
               ::"r"(to), "l"(&map), "r"(0), "r"(done) : "memory");
  asm volatile("wgmma.fence.sync.aligned;");
  y[threadIdx.x] = tile[threadIdx.x % 64];
}
"#;

/// What is written instead, and a part of the message; none for a kernel that is accepted.
const CHANGES: &[(&str, &str, Option<&str>)] = &[
    ("128", "128", None),
    ("__grid_constant__ ", "", Some("const __grid_constant__ CUtensorMap map`")),
    (
        "const __grid_constant__ CUtensorMap map",
        "const CUtensorMap* map",
        Some("but a value is given: declare `const __grid_constant__ CUtensorMap map`"),
    ),
    ("    arch: specific,\n", "", Some("need `arch: specific` in the launch block")),
    ("#include <cuda.h>\n", "", Some("write `#include <cuda.h>`")),
    ("box: [64]", "box: [2]", Some("`box[0]` of the tensor map `map`")),
];

#[test]
fn a_parameter_for_a_tensor_map_is_declared_by_value_and_used_in_place() {
    if compiler::required().is_none() {
        return;
    }
    for (old, new, expected) in CHANGES {
        let bench = Bench::new();
        bench.write("kernels/tma.cu", KERNEL.replace(old, new));
        let said = check_scale(&bench, &["--kernel", "tma", "--device", "virtual:h200"]);
        let everything = said.everything();
        match expected {
            None => said.expect(0, &[]),
            Some(words) => assert!(everything.contains(words), "{new}: {words}\n{everything}"),
        }
        let is_refused = everything.contains("__grid_constant__ CUtensorMap map`");
        assert!(expected.is_some() || !is_refused, "{everything}");
    }
}
