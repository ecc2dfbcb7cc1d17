//! Variables that are filled from outside, and clusters.

use super::*;

const PTX: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .const .align 4 .b8 coefficients[16];
.visible .global .align 4 .u32 total = 5;
.visible .entry give(.param .u64 out) {
    .reg .b64 %rd<3>;
    .reg .b32 %r<6>;
    ld.param.u64 %rd1, [out];
    ld.const.u32 %r1, [coefficients];
    ld.const.u32 %r2, [coefficients+12];
    ld.global.u32 %r3, [total];
    st.global.u32 [%rd1], %r1;
    st.global.u32 [%rd1+4], %r2;
    st.global.u32 [%rd1+8], %r3;
    ret;
}
.visible .entry rank(.param .u64 out) {
    .reg .b64 %rd<4>;
    .reg .b32 %r<5>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %cluster_ctarank;
    mov.u32 %r3, %clusterid.x;
    mad.lo.u32 %r4, %r3, 100, %r2;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r4;
    ret;
}
";

fn load_module(device: &mut dyn Device) -> (ModuleId, BufferId) {
    let module = device.load(Image { ptx: PTX, cubin: None }).unwrap();
    let out = BufferRequest::new("out", 24, Access::ReadWrite, InitialContent::Bytes(vec![0; 24]));
    (module, device.allocate(out).unwrap())
}

/// A GPU before compute capability 9.0 does not take this module.
fn takes(device: &dyn Device) -> bool {
    let takes = device.description().capability.0 >= 9;
    if !takes {
        println!("skipped on {}: older than sm_90", device.description().title);
    }
    takes
}

#[test]
fn a_variable_is_filled_before_and_between_launches() {
    check(|device| {
        if !takes(device) {
            return;
        }
        let (module, out) = load_module(device);
        let launch = Launch { block: [1; 3], ..plain(module, "give", vec![Argument::Buffer(out)]) };
        let gives = |device: &mut dyn Device| {
            assert_eq!(device.launch(&launch).unwrap().faults, []);
            device.read(out).unwrap().bytes[..12].to_vec()
        };
        device.fill_variable(module, "coefficients", &words(&[7, 8, 9, 10])).unwrap();
        assert_eq!(gives(device), words(&[7, 10, 5]));
        device.fill_variable(module, "coefficients", &words(&[11])).unwrap();
        device.fill_variable(module, "total", &words(&[6])).unwrap();
        assert_eq!(gives(device), words(&[11, 10, 6]));
        let mut refused = |symbol: &str, bytes: &[u8], message: &str| {
            let error = device.fill_variable(module, symbol, bytes).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        };
        refused("nothing", &[0], "no global or constant variable `nothing`");
        refused("coefficients", &[0; 17], "has 16 bytes; 17 bytes were given");
    });
}

#[test]
fn blocks_know_their_cluster() {
    check(|device| {
        if !takes(device) {
            return;
        }
        let (module, out) = load_module(device);
        let launch = plain(module, "rank", vec![Argument::Buffer(out)]);
        let launch = Launch { grid: [6, 1, 1], block: [1; 3], cluster: Some([2, 1, 1]), ..launch };
        assert_eq!(device.launch(&launch).unwrap().faults, []);
        assert_eq!(device.read(out).unwrap().bytes, words(&[0, 1, 100, 101, 200, 201]));
        let alone = Launch { cluster: None, ..launch };
        assert_eq!(device.launch(&alone).unwrap().faults, []);
        assert_eq!(device.read(out).unwrap().bytes, words(&[0, 100, 200, 300, 400, 500]));
    });
}

#[test]
fn impossible_clusters_are_refused() {
    let sheet = DeviceSheet::named("h200").unwrap();
    let mut device = VirtualDevice::new(sheet, Watch::ALL).unwrap();
    let (module, out) = load_module(&mut device);
    let launch = Launch { grid: [6, 1, 1], ..plain(module, "rank", vec![Argument::Buffer(out)]) };
    for (cluster, message) in [
        ([4, 1, 1], "does not divide the grid"),
        ([0, 1, 1], "1 to 16 blocks"),
        ([6, 4, 1], "1 to 16 blocks"),
    ] {
        let error = device.launch(&Launch { cluster: Some(cluster), ..launch.clone() });
        let error = error.unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}
