//! Which of the driver's errors are the kernel's doing, and what they mean.

use cudarc::driver::sys::CUresult;

use crate::virtual_gpu::FaultKind;

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

/// The rule that a kernel broke, if the code says that it broke one.
pub(super) fn kind(code: CUresult) -> Option<FaultKind> {
    FAULTS.iter().find(|(known, _)| *known == code).map(|(_, kind)| *kind)
}
