//! Where buffers lie, and what is noticed around them.

use lightbench_virtual_gpu::FaultKind;

use super::*;

const PTX: &str = "
.version 8.0
.target sm_70
.address_size 64
.visible .entry poke(.param .u64 buffer, .param .u64 offset) {
    .reg .b64 %rd<4>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [buffer];
    ld.param.u64 %rd2, [offset];
    add.s64 %rd3, %rd1, %rd2;
    mov.u32 %r1, 7;
    st.global.u8 [%rd3], %r1;
    ret;
}
.visible .entry tell(.param .u64 out, .param .u64 buffer) {
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [buffer];
    st.global.u64 [%rd1], %rd2;
    ret;
}
";

const FAR: i64 = 512 << 20;

fn one_thread(device: &mut dyn Device, kernel: &str, arguments: Vec<Argument>) -> Launch {
    let module = device.load(Image { ptx: PTX, cubin: None }).unwrap();
    Launch { block: [1; 3], dynamic_shared: 0, ..plain(module, kernel, arguments) }
}

fn request(bytes: u64, align: u64, placement: Placement) -> BufferRequest {
    let initial = InitialContent::Bytes(vec![3; usize::try_from(bytes).unwrap()]);
    let request = BufferRequest::new("target", bytes, Access::ReadWrite, initial);
    BufferRequest { align, placement, ..request }
}

/// Writes one byte at an offset of a buffer of 20 bytes that starts on 4, and once more inside it.
fn poke(device: &mut dyn Device, placement: Placement, offset: i64) -> Outcome {
    let target = device.allocate(request(20, 4, placement)).unwrap();
    let at = |offset: i64| {
        vec![Argument::Buffer(target), Argument::Bytes(offset.to_le_bytes().to_vec())]
    };
    let outside = one_thread(device, "poke", at(offset));
    let outcome = device.launch(&outside).unwrap();
    if outcome.faults.iter().all(|fault| fault.kind() != FaultKind::OutOfBounds) {
        return outcome;
    }
    // Seen by comparing, or by the virtual GPU: the device still runs, and tells of it once.
    let stopped =
        matches!(outcome.faults.first(), Some(LaunchFault::Reported { buffer: None, .. }));
    if !stopped {
        let inside = one_thread(device, "poke", at(5));
        assert_eq!(device.launch(&inside).unwrap().faults, []);
        let mut expected = vec![3; 20];
        expected[5] = 7;
        assert_eq!(device.read(target).unwrap().bytes, expected);
        device.free(target).unwrap();
    }
    outcome
}

fn is_out_of_bounds(device: &mut dyn Device, placement: Placement, offset: i64) {
    let outcome = poke(device, placement, offset);
    assert_eq!(kinds(&outcome), ["out_of_bounds"], "{placement:?} {offset}");
}

/// On a GPU these bytes are mapped: nothing faults, and the bytes are looked at afterwards.
#[test]
fn a_write_beside_a_buffer_in_its_granule_is_out_of_bounds() {
    check(|device| {
        for (placement, offset, side, distance) in [
            (Placement::Left, 20, "behind", 0),
            (Placement::Left, 20 + 70_000, "behind", 70_000),
            (Placement::Right, -1, "before", 0),
            (Placement::Right, -70_000, "before", 69_999),
        ] {
            let outcome = poke(device, placement, offset);
            assert_eq!(kinds(&outcome), ["out_of_bounds"], "{placement:?} {offset}");
            if let Some(LaunchFault::Reported { buffer, details, .. }) = outcome.faults.first() {
                assert_eq!(buffer.as_deref(), Some("target"));
                let words =
                    format!("write {side} `target`, found in the guard region {distance} bytes");
                assert!(details.contains(&words), "{details}");
            }
        }
    });
}

#[test]
fn a_write_before_the_left_edge_faults() {
    check_fault(|device| is_out_of_bounds(device, Placement::Left, -1));
}

#[test]
fn a_write_behind_the_right_edge_faults() {
    check_fault(|device| is_out_of_bounds(device, Placement::Right, 20));
}

#[test]
fn a_write_far_before_a_buffer_faults() {
    check_fault(|device| is_out_of_bounds(device, Placement::Right, -FAR));
}

#[test]
fn a_write_far_behind_a_buffer_faults() {
    check_fault(|device| is_out_of_bounds(device, Placement::Left, FAR));
}

#[test]
fn a_buffer_is_aligned_as_asked_and_no_further_from_its_edge() {
    check(|device| {
        let out = BufferRequest::new("out", 8, Access::ReadWrite, InitialContent::Uninitialised);
        let out = device.allocate(out).unwrap();
        for (bytes, align) in [(1, 1), (20, 4), (22, 2), (100, 16), (300, 256)] {
            for placement in [Placement::Left, Placement::Right, Placement::OddMultiple] {
                let target = device.allocate(request(bytes, align, placement)).unwrap();
                let arguments = vec![Argument::Buffer(out), Argument::Buffer(target)];
                let launch = one_thread(device, "tell", arguments);
                assert_eq!(device.launch(&launch).unwrap().faults, []);
                let told = device.read(out).unwrap().bytes;
                let address = u64::from_le_bytes(told.try_into().unwrap());
                assert_eq!(address % align, 0, "{bytes} bytes on {align}, {placement:?}");
                if placement == Placement::OddMultiple {
                    assert_eq!(address / align % 2, 1, "{bytes} bytes on {align}: {address:#x}");
                }
                if let DeviceKind::Cuda { .. } = device.description().kind {
                    let beyond = match placement {
                        Placement::Left => address % 4096,
                        Placement::Right => (address + bytes).wrapping_neg() % 4096,
                        Placement::OddMultiple => 0,
                    };
                    assert!(beyond < align, "{bytes} bytes on {align}, {placement:?}: {beyond}");
                }
                device.free(target).unwrap();
            }
        }
    });
}

#[test]
fn memory_that_was_given_back_is_used_again() {
    check_with(&[], |device| {
        for round in 0..50_u8 {
            let placement = if round % 2 == 0 { Placement::Left } else { Placement::Right };
            let buffer = device.allocate(request(3 << 20, 16, placement)).unwrap();
            assert!(device.read(buffer).unwrap().bytes.iter().all(|byte| *byte == 3));
            device.set(buffer, InitialContent::Bytes(vec![round; 5])).unwrap();
            let content = device.read(buffer).unwrap();
            assert_eq!(content.bytes[..5], [round; 5]);
            match device.description().kind {
                DeviceKind::Virtual => assert_eq!(content.unwritten.first(), Some(&(5..3 << 20))),
                DeviceKind::Cuda { .. } => {
                    assert!(content.bytes[5..].iter().all(|byte| *byte == POISON));
                }
            }
            device.free(buffer).unwrap();
        }
    });
}

#[test]
fn many_buffers_live_side_by_side() {
    check_with(&[], |device| {
        let named = |index: u8| {
            let bytes = vec![index; 1 + usize::from(index)];
            let request = request(bytes.len() as u64, 1, Placement::Right);
            BufferRequest { initial: InitialContent::Bytes(bytes), ..request }
        };
        let made: Vec<_> = (0..200).map(|index| device.allocate(named(index)).unwrap()).collect();
        for (index, buffer) in (0_u8..).zip(&made) {
            let content = device.read(*buffer).unwrap().bytes;
            assert_eq!(content, vec![index; 1 + usize::from(index)]);
        }
        for buffer in made {
            device.free(buffer).unwrap();
        }
    });
}

#[test]
fn an_empty_buffer_has_an_address() {
    check_with(&[], |device| {
        for placement in [Placement::Left, Placement::Right] {
            let empty = request(0, 256, placement);
            let empty = device.allocate(empty).unwrap();
            assert_eq!(device.read(empty).unwrap().bytes, [0_u8; 0]);
            device.free(empty).unwrap();
        }
    });
}

#[test]
fn contents_pass_to_a_file_and_back() {
    // More than two pieces of page-locked memory, and not a whole number of them.
    const BYTES: usize = (9 << 20) + 5;
    check(|device| {
        let pattern =
            |step: usize| (0..BYTES).map(|at| (at / step % 251) as u8).collect::<Vec<_>>();
        let (first, second) = (pattern(1), pattern(3));
        for placement in [Placement::Left, Placement::Right] {
            let initial = InitialContent::Bytes(first.clone());
            let request = BufferRequest::new("passed", BYTES as u64, Access::ReadWrite, initial);
            let buffer = device.allocate(BufferRequest { placement, ..request }).unwrap();
            let mut passed = Vec::new();
            assert!(device.read_to(buffer, &mut passed).unwrap().is_empty());
            assert!(passed == first);
            device.set_from(buffer, &mut second.as_slice()).unwrap();
            assert!(device.read(buffer).unwrap().bytes == second);
            let short = device.set_from(buffer, &mut &second[..BYTES - 1]);
            assert!(matches!(short, Err(DeviceError::Passing(_))), "{short:?}");
            device.free(buffer).unwrap();
        }
    });
}

#[test]
fn a_buffer_at_an_odd_multiple_has_its_bytes_and_its_bounds() {
    check(|device| {
        let target = device.allocate(request(20, 4, Placement::OddMultiple)).unwrap();
        assert_eq!(device.read(target).unwrap().bytes, [3; 20]);
        device.set(target, InitialContent::Bytes(vec![5; 7])).unwrap();
        let content = device.read(target).unwrap();
        assert_eq!(content.bytes[..7], [5; 7]);
        if device.description().kind == DeviceKind::Virtual {
            assert_eq!(content.unwritten.first(), Some(&(7..20)));
        }
        device.free(target).unwrap();
        for (offset, side) in [(-1, "before"), (20, "behind"), (-4, "before")] {
            let outcome = poke(device, Placement::OddMultiple, offset);
            assert_eq!(kinds(&outcome), ["out_of_bounds"], "{offset}, {side}");
        }
    });
}
