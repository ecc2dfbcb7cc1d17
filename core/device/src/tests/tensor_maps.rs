//! Tensor maps as arguments: encoded with the address of their buffer at each launch, and checked before.

use lightbench_primitives::tensor_map::{
    Interleave, L2Promotion, MapElement, MapRegion, OutOfBoundsFill, Swizzle, TensorMap,
};

use super::*;

/// Copies the 16 words of a descriptor.
const SHOWS: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry shows(.param .align 64 .b8 map[128], .param .u64 out) {
    .reg .b64 %rd<8>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [out];
    mov.b64 %rd2, map;
    cvta.param.u64 %rd3, %rd2;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd4, %r1, 8;
    add.s64 %rd5, %rd3, %rd4;
    ld.u64 %rd7, [%rd5];
    add.s64 %rd6, %rd1, %rd4;
    st.global.u64 [%rd6], %rd7;
    ret;
}
";

/// 8 rows of 64 elements.
fn map() -> TensorMap {
    TensorMap {
        element: MapElement::Bf16,
        dims: vec![64, 8],
        strides: vec![128],
        offset: 0,
        region: MapRegion::Tiled(vec![64, 4]),
        element_strides: vec![1, 1],
        swizzle: Swizzle::B128,
        interleave: Interleave::None,
        l2_promotion: L2Promotion::B128,
        fill: OutOfBoundsFill::Zeros,
    }
}

const BYTES: u64 = 8 * 128;

fn buffer(device: &mut dyn Device, request: BufferRequest) -> BufferId {
    device.allocate(request).unwrap()
}

fn shown(
    device: &mut dyn Device,
    map: TensorMap,
    request: BufferRequest,
) -> Result<Vec<u8>, DeviceError> {
    let module = device.load(Image { ptx: SHOWS, cubin: None })?;
    let mapped = buffer(device, request);
    let out = BufferRequest::new("out", 128, Access::ReadWrite, InitialContent::Uninitialised);
    let out = buffer(device, out);
    let arguments = vec![Argument::TensorMap { buffer: mapped, map }, Argument::Buffer(out)];
    let launch = Launch { block: [16, 1, 1], ..plain(module, "shows", arguments) };
    let outcome = device.launch(&launch)?;
    assert_eq!(outcome.faults, []);
    Ok(device.read(out)?.bytes)
}

fn tensor() -> BufferRequest {
    BufferRequest::new("x", BYTES, Access::ReadOnly, InitialContent::Bytes(vec![0; BYTES as usize]))
}

#[test]
fn a_descriptor_has_the_address_of_its_buffer_at_the_launch() {
    let script = vec![
        ScriptedLaunch::Write(vec![(1, vec![1; 128])]),
        ScriptedLaunch::Write(vec![(1, vec![2; 128])]),
    ];
    check_with(&script, |device| {
        if device.description().capability.0 < 9 {
            println!("skipped on {}: older than sm_90", device.description().title);
            return;
        }
        let first = shown(device, map(), tensor()).unwrap();
        let second = shown(device, map(), tensor()).unwrap();
        assert_eq!((first.len(), second.len()), (128, 128));
        assert_ne!(first, second, "two buffers have two addresses");
    });
}

fn refused(device: &mut dyn Device, map: TensorMap, request: BufferRequest, words: &str) {
    let error = shown(device, map, request).unwrap_err();
    assert!(error.to_string().contains(words), "{error}\nexpected: {words}");
}

#[test]
fn a_map_beyond_its_buffer_is_refused() {
    check_with(&[], |device| {
        if device.description().capability.0 < 9 {
            return;
        }
        let words = "argument 1 is a tensor map: shape: found a tensor that ends at byte 1152";
        refused(device, TensorMap { dims: vec![64, 9], ..map() }, tensor(), words);
        let words = "fill: found nan for u16";
        let bits = TensorMap { element: MapElement::U16, fill: OutOfBoundsFill::Nan, ..map() };
        refused(device, bits, tensor(), words);
    });
}

#[test]
fn an_address_that_is_not_aligned_is_refused() {
    check(|device| {
        if device.description().capability.0 < 9 {
            return;
        }
        let odd = BufferRequest { align: 8, placement: Placement::OddMultiple, ..tensor() };
        refused(device, map(), odd, "expected a multiple of 16 bytes");
    });
}

#[test]
fn a_device_before_compute_capability_9_has_no_tensor_maps() {
    let sheet = DeviceSheet::all()
        .unwrap()
        .into_iter()
        .find(|sheet| sheet.capability.compute_capability < ComputeCapability(9, 0));
    let mut device = VirtualDevice::new(sheet.unwrap(), Watch::ALL).unwrap();
    let error = shown(&mut device, map(), tensor()).unwrap_err();
    assert!(error.is_unsupported(), "{error}");
    assert!(error.to_string().contains("has no tensor maps"), "{error}");
}
