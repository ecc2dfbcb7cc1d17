//! Devices: the sheets that describe GPUs.
