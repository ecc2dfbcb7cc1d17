//! Classifies the driver's errors: faults of the kernel and refused launches.

use cudarc::driver::sys::CUresult;
use lightbench_virtual_gpu::FaultKind;

use super::driver::error;
use crate::error::DeviceError;

/// Errors that a running kernel causes (CUDA driver API, "CUresult"); all others are about the request or the machine.
const FAULTS: [(CUresult, FaultKind); 9] = [
    (CUresult::CUDA_ERROR_ILLEGAL_ADDRESS, FaultKind::OutOfBounds),
    (CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE, FaultKind::OutOfBounds),
    (CUresult::CUDA_ERROR_MISALIGNED_ADDRESS, FaultKind::Misaligned),
    (CUresult::CUDA_ERROR_ASSERT, FaultKind::Assertion),
    (CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION, FaultKind::Trap),
    (CUresult::CUDA_ERROR_LAUNCH_FAILED, FaultKind::Trap),
    (CUresult::CUDA_ERROR_LAUNCH_TIMEOUT, FaultKind::StepLimit),
    (CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR, FaultKind::Call),
    (CUresult::CUDA_ERROR_INVALID_PC, FaultKind::Call),
];

/// Errors by which the driver refuses a launch because of its resource requirements: local memory for all resident
/// threads, registers, a cluster.
const DEMANDS: [CUresult; 4] = [
    CUresult::CUDA_ERROR_OUT_OF_MEMORY,
    CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
    CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
    CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE,
];

/// The error for a launch that did not start.
pub(super) fn refusal(code: CUresult) -> DeviceError {
    let said = error("cuLaunchKernelEx", code);
    if DEMANDS.contains(&code) { DeviceError::Demand(said) } else { DeviceError::Driver(said) }
}

/// The fault that an error code reports, if it reports one.
pub(super) fn kind(code: CUresult) -> Option<FaultKind> {
    FAULTS.iter().find(|(known, _)| *known == code).map(|(_, kind)| *kind)
}
