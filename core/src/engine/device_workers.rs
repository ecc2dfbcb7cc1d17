//! The processes of a device, on this machine or on the host that its name states.

use lightbench_primitives::cancellation::Cancellation;

use crate::device::DeviceName;
use crate::remote::hosts::Hosts;
use crate::verify::device_workers::DeviceWorkers;
use crate::worker::command::WorkerCommand;

/// Processes that start when they are needed. For a device of another host, the connection to it is opened now, unless it
/// exists.
///
/// # Errors
/// A sentence: the host cannot be reached or used, or a folder between the processes cannot be made.
pub fn device_workers(
    hosts: &Hosts,
    command: &WorkerCommand,
    device: &DeviceName,
    checker: Option<&DeviceName>,
    cancellation: &Cancellation,
) -> Result<DeviceWorkers, String> {
    let workers = match &device.host {
        None => DeviceWorkers::new(command, device, checker),
        Some(host) => {
            let connection =
                hosts.connect(host, cancellation).map_err(|error| error.to_string())?;
            DeviceWorkers::remote(&connection, command, device, checker)
        }
    };
    workers.map_err(|error| error.to_string())
}
