//! Seccomp filters for a program that interprets untrusted code ([`super::SystemCalls::ForeignCode`]).
//!
//! The program may start threads, and nothing of it reaches beyond its process: neither a new process, nor a signal, nor
//! what landlock does not cover (permissions, owners and times of files; truncation before Linux 6.2). Process limits do
//! not bind root, so the start of processes is refused by the filter and not by `RLIMIT_NPROC`.
//!
//! Source: Linux, `arch/x86/entry/syscalls/syscall_64.tbl`, and the manual pages of the calls for their arguments.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

/// Set in the numbers of x32 system calls on x86-64.
pub(super) const X32_BIT: i64 = 0x4000_0000;

/// Calls that are refused with EPERM whatever their arguments are.
const REFUSED: &[c_long] = &[
    // Programs from memory, and other processes.
    libc::SYS_execveat,
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_send_signal,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_tkill,
    libc::SYS_kcmp,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    libc::SYS_setpriority,
    libc::SYS_ioprio_set,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
    // Memory and messages shared with other processes.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgctl,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_semget,
    libc::SYS_semctl,
    libc::SYS_semop,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    // Attributes of files, which landlock does not cover.
    libc::SYS_truncate,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SETXATTRAT,
    REMOVEXATTRAT,
    // Names of files as they change.
    libc::SYS_inotify_init1,
    libc::SYS_fanotify_init,
    // Keys of the user.
    libc::SYS_add_key,
    libc::SYS_keyctl,
    libc::SYS_request_key,
    // Administration of the machine, which root may do elsewhere.
    libc::SYS_acct,
    libc::SYS_adjtimex,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_fsopen,
    libc::SYS_init_module,
    libc::SYS_kexec_load,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pivot_root,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];

/// Calls that only x86-64 has.
#[cfg(target_arch = "x86_64")]
const REFUSED_X86_64: &[c_long] = &[
    libc::SYS_fork,
    libc::SYS_vfork,
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
    libc::SYS_inotify_init,
    libc::SYS_ioperm,
    libc::SYS_iopl,
    libc::SYS_kexec_file_load,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_X86_64: &[c_long] = &[];

/// Calls without a constant on every target. New calls have the same number on all architectures.
const FCHMODAT2: c_long = 452;
const SETXATTRAT: c_long = 463;
const REMOVEXATTRAT: c_long = 466;
/// Source: Linux, `include/uapi/asm-generic/fcntl.h`.
const F_SETOWN_EX: libc::c_int = 15;

/// Two filters, because a filter has one answer: EPERM for calls that are refused, ENOSYS for those that the C library
/// then replaces by an older call whose arguments a filter can read.
pub(super) fn filters() -> Result<[BpfProgram; 2], Box<dyn std::error::Error>> {
    let whole = |call: &c_long| (*call, Vec::new());
    let mut refused: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED.iter().chain(REFUSED_X86_64).map(whole).collect();
    refused.extend(refused_by_argument()?);
    let replaced = [libc::SYS_clone3, libc::SYS_openat2].iter().map(whole).collect();
    Ok([program(refused, libc::EPERM)?, program(replaced, libc::ENOSYS)?])
}

/// Calls that are refused for some values of their arguments.
fn refused_by_argument() -> Result<BTreeMap<i64, Vec<SeccompRule>>, Box<dyn std::error::Error>> {
    let own = u64::from(std::process::id());
    let other_process = || Ok::<_, seccompiler::BackendError>(vec![rule([differs(0, own)?])?]);
    // `prlimit64` reads and sets limits of any process; 0 is the calling one.
    let foreign_limits = rule([differs(0, own)?, differs(0, 0)?])?;
    // The owner of a descriptor gets the signals that its input sends; `F_SETSIG` chooses which.
    let owner = |command: libc::c_int| rule([equals(1, command as u64)?]);
    let process = rule([masked(0, libc::CLONE_THREAD as u64, 0)?])?;
    let rules = [
        (libc::SYS_kill, other_process()?),
        (libc::SYS_tgkill, other_process()?),
        (libc::SYS_prlimit64, vec![foreign_limits]),
        (libc::SYS_fcntl, vec![owner(libc::F_SETOWN)?, owner(F_SETOWN_EX)?]),
        (libc::SYS_clone, vec![process]),
        (libc::SYS_openat, vec![truncating_read(2)?]),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_open, vec![truncating_read(1)?]),
    ];
    Ok(rules.into())
}

/// `O_RDONLY | O_TRUNC` truncates a file that may only be read; landlock notices that from Linux 6.2 on.
fn truncating_read(argument: u8) -> Result<SeccompRule, seccompiler::BackendError> {
    let flags = (libc::O_ACCMODE | libc::O_TRUNC) as u64;
    rule([masked(argument, flags, libc::O_TRUNC as u64)?])
}

fn rule<const N: usize>(
    conditions: [SeccompCondition; N],
) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(conditions.into())
}

fn differs(argument: u8, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value)
}

fn equals(argument: u8, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
}

fn masked(
    argument: u8,
    mask: u64,
    value: u64,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    let compare = SeccompCmpOp::MaskedEq(mask);
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, compare, value)
}

/// A filter that answers these calls, and on x86-64 the same calls by their x32 numbers, with an error.
fn program(
    mut rules: BTreeMap<i64, Vec<SeccompRule>>,
    error: libc::c_int,
) -> Result<BpfProgram, Box<dyn std::error::Error>> {
    if cfg!(target_arch = "x86_64") {
        let x32: Vec<_> =
            rules.iter().map(|(call, rules)| (call | X32_BIT, rules.clone())).collect();
        rules.extend(x32);
    }
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(error as u32),
        std::env::consts::ARCH.try_into()?,
    )?;
    Ok(filter.try_into()?)
}
