//! Frames of workers and of the cache: a frame that is read is what would be written, and no other bytes are read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lightbench_core::compile::nvrtc::NvrtcOutput;
use lightbench_core::compile::protocol::RequestFailure;
use lightbench_core::worker::frame::Frame;
use lightbench_core::worker::protocol::{Hello, Readiness, Setup};

fuzz_target!(|bytes: &[u8]| {
    let mut rest = bytes;
    let Ok(frame) = Frame::read_from(&mut rest) else { return };
    let mut written = Vec::new();
    frame.write_to(&mut written).unwrap();
    assert_eq!(written, bytes[..bytes.len() - rest.len()]);
    // The messages before the first request.
    drop((frame.parse::<Hello>(), frame.parse::<Setup>(), frame.parse::<Readiness<()>>()));
    if let Ok(reply) = frame.parse::<Result<NvrtcOutput, RequestFailure>>() {
        let again = Frame::new(&reply).unwrap().parse::<Result<NvrtcOutput, RequestFailure>>();
        assert_eq!(again.unwrap(), reply);
    }
});
