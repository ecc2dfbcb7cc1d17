//! Logs of NVRTC 13.5 and 13.0 for small kernels.

use super::*;

fn check(log: &str, expected: &[KernelUsage]) -> ModuleUsage {
    let module = read(log);
    assert_eq!(module.kernels, expected, "for {log}");
    module
}

#[test]
fn nvrtc_13_5_wording() {
    let log = "\
ptxas info    : Overriding maximum register limit 256 for 'pressure' with  24 of maxrregcount option
ptxas info    : 12 bytes gmem, 64 bytes cmem[3]
ptxas info    : Compiling entry function '_Z3onePf' for 'sm_90'
ptxas info    : Function properties for _Z3onePf
ptxas         .     96 bytes stack frame, 20 bytes spill stores, 24 bytes spill loads
ptxas info    : Used 31 registers, used 1 barriers, 96 bytes cumulative stack size, 256 bytes smem
ptxas info    : Compile time = 8.557 ms
ptxas info    : Function properties for _Z8far_awayfPf
ptxas         .     8 bytes stack frame, 1 bytes spill stores, 2 bytes spill loads
ptxas info    : Compiling entry function 'nothing' for 'sm_90'
ptxas info    : Function properties for nothing
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 4 registers, used 0 barriers
ptxas info    : Compile time = 0.783 ms
";
    let one = KernelUsage {
        symbol: "_Z3onePf".to_owned(),
        architecture: "sm_90".to_owned(),
        registers: Some(31),
        barriers: Some(1),
        stack_bytes: Some(96),
        cumulative_stack_bytes: Some(96),
        spill_store_bytes: Some(20),
        spill_load_bytes: Some(24),
        shared_bytes: 256,
        assemble_ms: Some(8.557),
        ..KernelUsage::default()
    };
    let nothing = KernelUsage {
        symbol: "nothing".to_owned(),
        architecture: "sm_90".to_owned(),
        registers: Some(4),
        barriers: Some(0),
        stack_bytes: Some(0),
        spill_store_bytes: Some(0),
        spill_load_bytes: Some(0),
        assemble_ms: Some(0.783),
        ..KernelUsage::default()
    };
    let module = check(log, &[one, nothing]);
    assert_eq!(module.global_bytes, 12);
    assert_eq!(module.constant_bytes, BTreeMap::from([(3, 64)]));
    let far_away = FunctionUsage {
        symbol: "_Z8far_awayfPf".to_owned(),
        stack_bytes: 8,
        spill_store_bytes: 1,
        spill_load_bytes: 2,
    };
    assert_eq!(module.functions, [far_away]);
}

#[test]
fn nvrtc_13_0_wording() {
    let log = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'scale' for 'sm_75'
ptxas info    : Function properties for scale
    24 bytes stack frame, 20 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 12 registers, used 1 barriers, 512+16 bytes smem, 4 bytes lmem, 385 bytes cmem[0], 8 bytes cmem[2]
";
    let scale = KernelUsage {
        symbol: "scale".to_owned(),
        architecture: "sm_75".to_owned(),
        registers: Some(12),
        barriers: Some(1),
        stack_bytes: Some(24),
        spill_store_bytes: Some(20),
        spill_load_bytes: Some(16),
        shared_bytes: 528,
        local_bytes: 4,
        constant_bytes: BTreeMap::from([(0, 385), (2, 8)]),
        ..KernelUsage::default()
    };
    check(log, &[scale]);
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in "(ptxas (info    :|        \\.)? ?|    |[0-9]+ bytes (smem|cmem\\[)|Used |, |'|\n|.){0,40}") {
        drop(read(&text));
    }
}
