//! What workers compile, and what confinement keeps from them.

use super::*;

const REAL_KERNEL: &str = r"
#include <cuda_bf16.h>
#include <mma.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace groups = cooperative_groups;
template <int Block> __global__ void row_sums(const __nv_bfloat16 *x, float *y, int cols) {
    auto warp = groups::tiled_partition<32>(groups::this_thread_block());
    float sum = 0;
    for (int col = threadIdx.x; col < cols; col += Block)
        sum += __bfloat162float(x[blockIdx.x * cols + col]);
    sum = groups::reduce(warp, sum, groups::plus<float>());
    if (warp.thread_rank() == 0) atomicAdd(y + blockIdx.x, sum);
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> unused;
    nvcuda::wmma::fill_fragment(unused, 0.0f);
}
";

#[test]
fn real_headers_compile_under_the_sandbox() {
    let Some(toolchain) = Toolchain::find() else { return };
    let mut handle = toolchain.handle();
    let mut request = toolchain.request(REAL_KERNEL);
    request.name_expressions = vec!["row_sums<256>".to_owned()];
    let reply = compile(&mut handle, request, LIMIT, &never()).unwrap();
    let (ptx, cubin, names) = compiled(&reply);
    assert_eq!(names, ["_Z8row_sumsILi256EEvPK13__nv_bfloat16Pfi"]);
    assert!(ptx.ends_with(b"}\n") || ptx.ends_with(b"\n"));
    assert!(cubin.starts_with(b"\x7fELF"));
    assert!(reply.elapsed > Duration::ZERO);
    let facts = handle.worker(&never()).unwrap().ready().facts.clone().unwrap();
    assert!(facts.version.major >= 12 && facts.architectures.contains(&90));
}

#[test]
fn headers_in_memory_are_found() {
    let Some(toolchain) = Toolchain::find() else { return };
    let mut request =
        toolchain.request("#include \"scale.cuh\"\n__global__ void f(float *x) { *x *= SCALE; }");
    request.headers = vec![("scale.cuh".to_owned(), "#define SCALE 3".to_owned())];
    let reply = compile(&mut toolchain.handle(), request, LIMIT, &never()).unwrap();
    compiled(&reply);
}

#[test]
fn a_kernel_that_does_not_compile_is_a_result() {
    let Some(toolchain) = Toolchain::find() else { return };
    let request = toolchain.request("__global__ void f(int *x) { *x = missing; }");
    let reply = compile(&mut toolchain.handle(), request, LIMIT, &never()).unwrap();
    assert!(matches!(&reply.outcome, NvrtcOutcome::Rejected { code: 6, .. }));
    let log = String::from_utf8(reply.log).unwrap();
    assert!(log.contains("kernel.cu(1): error: identifier \"missing\" is undefined"), "{log}");
}

#[test]
fn a_zero_byte_is_named() {
    let Some(toolchain) = Toolchain::find() else { return };
    let mut handle = toolchain.handle();
    let request = toolchain.request("a\0b");
    let error = handle.call_with_retry(request, LIMIT, &never()).unwrap().unwrap_err();
    assert_eq!(error.to_string(), "the source contains a zero byte: remove it");
    compiled(&compile(&mut handle, toolchain.request(SMALL_KERNEL), LIMIT, &never()).unwrap());
}

/// The kernel must be rejected, and nothing of the file that it wants may show.
fn check_kept_from(source: &str, secret: &str) {
    let Some(toolchain) = Toolchain::find() else { return };
    let mut handle = toolchain.handle();
    match &handle.worker(&never()).unwrap().ready().sandbox.filesystem {
        Enforcement::Enforced { .. } => {}
        weaker @ (Enforcement::Partial { .. } | Enforcement::Unavailable { .. }) => {
            println!("skipped: {weaker:?}");
            return;
        }
    }
    let reply = compile(&mut handle, toolchain.request(source), LIMIT, &never()).unwrap();
    assert!(matches!(&reply.outcome, NvrtcOutcome::Rejected { .. }));
    let log = String::from_utf8_lossy(&reply.log);
    assert!(!log.contains(secret), "{log}");
}

#[test]
fn system_files_cannot_be_included() {
    check_kept_from("#include \"/etc/passwd\"\n__global__ void f() {}", "root:");
}

#[test]
fn system_files_cannot_be_included_through_a_macro() {
    let source = "#define PATH </etc/passwd>\n%:include PATH\n__global__ void f() {}";
    check_kept_from(source, "root:");
}

#[test]
fn process_files_cannot_be_included() {
    check_kept_from("#include \"/proc/self/environ\"\n__global__ void f() {}", "TMPDIR");
}

#[test]
fn a_file_next_to_the_project_cannot_be_included() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("reference.cu");
    fs::write(&file, "the_secret_text here;").unwrap();
    check_kept_from(&format!("#include \"{}\"", file.display()), "the_secret_text");
}

#[test]
fn machine_code_is_disassembled_with_lines() {
    let Some(toolchain) = Toolchain::find() else { return };
    let mut handle = toolchain.handle();
    let reply = compile(&mut handle, toolchain.request(SMALL_KERNEL), LIMIT, &never()).unwrap();
    let (_, cubin, _) = compiled(&reply);
    let listings = disassemble(&mut handle, cubin.to_owned(), LIMIT).unwrap().unwrap();
    let check = |listing: Vec<u8>, parts: &[&str]| {
        let listing = String::from_utf8(listing).unwrap();
        for part in parts {
            assert!(listing.contains(part), "{part} in\n{listing}");
        }
    };
    check(listings.code, &[".text.small", "kernel.cu", "line 1", "STG", "/* 0x"]);
    check(listings.live.unwrap(), &[".text.small", "STG", "GPR"]);
    let entries = fs::read_dir(handle.worker(&never()).unwrap().scratch()).unwrap();
    assert_eq!(entries.count(), 0, "a warm worker collects no files");
}

#[test]
fn what_is_no_machine_code_is_the_tools_failure() {
    let Some(toolchain) = Toolchain::find() else { return };
    let mut handle = toolchain.handle();
    let error = disassemble(&mut handle, b"no ELF".to_vec(), LIMIT).unwrap().unwrap_err();
    assert!(error.to_string().starts_with("nvdisasm failed"), "{error}");
}

/// Assembles `ptx` where there is an assembler.
fn assemble(ptx: &str) -> Option<(Option<Vec<u8>>, String)> {
    let toolchain = Toolchain::find()?;
    if toolchain.configuration().options.ptxas.is_none() {
        println!("skipped: LIGHTBENCH_TOOLCHAIN has no ptxas");
        return None;
    }
    let request = AssembleRequest {
        ptx: ptx.as_bytes().to_owned(),
        architecture: "sm_90".to_owned(),
        options: Vec::new(),
    };
    let reply = toolchain.handle().call_with_retry(request, LIMIT, &never()).unwrap().unwrap();
    Some((reply.cubin, String::from_utf8(reply.log).unwrap()))
}

#[test]
fn ptx_is_assembled() {
    let ptx = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry empty() { ret; }\n";
    let Some((cubin, log)) = assemble(ptx) else { return };
    assert!(cubin.is_some_and(|cubin| cubin.starts_with(b"\x7fELF")), "{log}");
    assert!(log.contains("registers"), "{log}");
}

#[test]
fn ptx_that_is_refused_is_a_result() {
    let Some((cubin, log)) = assemble(".version 8.0\n.target sm_90\nnonsense\n") else { return };
    assert_eq!(cubin, None);
    assert!(log.contains("input.ptx") && log.contains("error"), "{log}");
}

/// Not a test of anything, but the numbers behind `docs/performance.md`; run with `--ignored`.
#[test]
#[ignore = "prints measurements"]
fn measure_overheads() {
    let Some(toolchain) = Toolchain::find() else { return };
    let mut kernels = String::from(
        "template <int K> __device__ float f(float x) { return f<K - 1>(sinf(x) / K); }\n",
    );
    kernels.push_str("template <> __device__ float f<0>(float x) { return x; }\n");
    for kernel in 1..5 {
        kernels.push_str(&format!(
            "__global__ void k{kernel}(float *x) {{ *x = f<{kernel}>(*x); }}\n"
        ));
    }
    let mut handle = toolchain.handle();
    for _ in 0..6 {
        handle.stop();
        let start = Instant::now();
        handle.worker(&never()).unwrap();
        println!("spawn to ready: {:?}", start.elapsed());
    }
    for source in [SMALL_KERNEL, &kernels] {
        for _ in 0..6 {
            let request = toolchain.request(source);
            let start = Instant::now();
            let reply = compile(&mut handle, request, LIMIT, &never()).unwrap();
            let total = start.elapsed();
            let (ptx, cubin, _) = compiled(&reply);
            let bytes = ptx.len() + cubin.len() + reply.log.len();
            println!(
                "{bytes} bytes: total {total:?}, compiler {:?}, ours {:?}",
                reply.elapsed,
                total - reply.elapsed
            );
        }
    }
}
