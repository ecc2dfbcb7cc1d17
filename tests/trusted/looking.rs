//! What is in memory: one byte throughout, or a digest of it.

use lightbench_core::device::{Argument, Device as _, memory_check};
use lightbench_core::verify::harness_kernels::launches;

use super::*;

/// The digest of some bytes.
fn digest(machine: &mut Machine, bytes: &[u8]) -> Vec<u8> {
    let (buffer, answer) = (machine.buffer(bytes), machine.buffer(&[0; 16]));
    machine.run(&launches::digest(machine.module, buffer, bytes.len() as u64, answer));
    machine.device.free(buffer).unwrap();
    machine.take(answer)
}

#[test]
fn every_byte_and_every_place_changes_the_digest() {
    let Some(mut machine) = Machine::new() else { return };
    for length in [1, 7, 8, 9, 300] {
        let bytes: Vec<u8> = (0..length).map(|at| (at * 37 % 251) as u8).collect();
        let plain = digest(&mut machine, &bytes);
        assert_eq!(plain, digest(&mut machine, &bytes));
        for at in [0, length / 2, length - 1] {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert_ne!(plain, digest(&mut machine, &changed), "byte {at} of {length}");
        }
        if length > 9 {
            let mut turned = bytes.clone();
            turned.rotate_left(8);
            assert_ne!(plain, digest(&mut machine, &turned), "other places of {length}");
        }
    }
}

#[test]
fn a_byte_that_changed_is_seen_in_its_own_stretch() {
    let Some(mut machine) = Machine::new() else { return };
    // Addresses are those of buffers, which a launch can only name by buffer: so each stretch is its own launch.
    for (length, changed) in [(1, None), (700, None), (700, Some(0..1)), (700, Some(311..700))] {
        let mut bytes = vec![0xb5; length];
        for at in changed.clone().into_iter().flatten() {
            bytes[at] = 7;
        }
        let found = stretch(&mut machine, &bytes);
        let expected =
            changed.map_or([u64::MAX, 0], |range| [range.start as u64, range.end as u64]);
        assert_eq!(found, expected, "{length} bytes");
    }
}

/// What is said of a stretch of memory that should hold 0xb5 throughout.
fn stretch(machine: &mut Machine, bytes: &[u8]) -> [u64; 2] {
    let buffer = machine.buffer(bytes);
    let before: Vec<u8> = [u64::MAX, 0].into_iter().flat_map(u64::to_le_bytes).collect();
    let answer = machine.buffer(&before);
    let address = address(machine, buffer);
    let extents = [(address, bytes.len() as u64)];
    machine.run(&memory_check::launch(machine.module, &extents, 0xb5, Argument::Buffer(answer)));
    machine.device.free(buffer).unwrap();
    let answer = machine.take(answer);
    [0, 8].map(|at| u64::from_le_bytes(*answer[at..].first_chunk().unwrap()))
}

/// Where a buffer lies: a kernel that writes its own argument tells.
fn address(machine: &mut Machine, buffer: BufferId) -> u64 {
    const TELL: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry tell(.param .u64 what, .param .u64 to) {
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [what];
    ld.param.u64 %rd2, [to];
    st.global.u64 [%rd2], %rd1;
    ret;
}
";
    let module = machine.device.load(Image { ptx: TELL, cubin: None }).unwrap();
    let told = machine.buffer(&[0; 8]);
    let arguments = vec![Argument::Buffer(buffer), Argument::Buffer(told)];
    machine.run(&Launch {
        module,
        kernel: "tell".to_owned(),
        grid: [1; 3],
        block: [1; 3],
        dynamic_shared: 0,
        cooperative: false,
        cluster: None,
        arguments,
    });
    u64::from_le_bytes(*machine.take(told).first_chunk().unwrap())
}
