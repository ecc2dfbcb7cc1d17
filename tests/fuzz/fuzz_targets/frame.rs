//! Frames of workers and of the cache: what is read is what would be written, and nothing else is read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lightbench_core::worker::frame::Frame;
use lightbench_core::worker::protocol::{Hello, Readiness, Reply, Setup};

fuzz_target!(|bytes: &[u8]| {
    let mut rest = bytes;
    if let Ok(frame) = Frame::read_from(&mut rest) {
        let mut written = Vec::new();
        frame.write_to(&mut written).unwrap();
        assert_eq!(written, bytes[..bytes.len() - rest.len()]);
        // What the two sides say to each other before the first request.
        drop((frame.parse::<Hello>(), frame.parse::<Setup>(), frame.parse::<Readiness>()));
    }
    if let Ok(reply) = Reply::decode(bytes) {
        let again = Reply::decode(&reply.clone().encode().unwrap()).unwrap();
        assert_eq!(again, reply);
    }
});
