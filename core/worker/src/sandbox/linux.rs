//! Landlock for files, seccomp for sockets.
//!
//! Both are best effort: an older kernel enforces less, and the report lists what is missing. Both apply to the calling
//! thread and to the threads and processes that it starts later, so the worker calls this before it starts a thread.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible as _, LandlockStatus,
    PathBeneath, PathFd, RestrictionStatus, Ruleset, RulesetAttr as _, RulesetCreated,
    RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

use super::foreign_code::X32_BIT;
use super::{Enforcement, SandboxPolicy, Sockets, SystemCalls, foreign_code};

/// The newest landlock ABI that was tested with the compiler; older kernels enforce less.
const NEWEST: ABI = ABI::V7;
/// The bits of a socket's type that are no flags. Source: Linux, `include/linux/net.h`, `SOCK_TYPE_MASK`.
const SOCKET_TYPES: u64 = 0xf;
/// The first landlock that also refuses truncating files (Linux 6.2).
const COMPLETE: ABI = ABI::V3;

/// Refuses every use of files that the policy does not name.
pub(super) fn restrict_files(policy: &SandboxPolicy, scratch: &Path) -> Enforcement {
    match landlock(policy, scratch) {
        Ok(status) => report(&status),
        Err(error) => Enforcement::Unavailable { reason: format!("landlock: {error}") },
    }
}

fn landlock(policy: &SandboxPolicy, scratch: &Path) -> Result<RestrictionStatus, RulesetError> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let all = AccessFs::from_all(NEWEST);
    // Nothing that a worker writes is ever executed.
    let write = all & !BitFlags::from(AccessFs::Execute);
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)?
        .scope(Scope::from_all(NEWEST))?
        .create()?;
    let ruleset = allow(ruleset, &policy.read, read)?;
    let ruleset = allow(ruleset, &policy.execute, read | AccessFs::Execute)?;
    let ruleset = allow(ruleset, &policy.write, write)?;
    let ruleset = allow(ruleset, &[scratch.to_owned()], write)?;
    let ruleset = allow(ruleset, &["/dev/null".into()], AccessFs::ReadFile | AccessFs::WriteFile)?;
    match policy.calls {
        SystemCalls::Ordinary => allow_removing(ruleset, scratch)?.restrict_self(),
        SystemCalls::ForeignCode => ruleset.restrict_self(),
    }
}

fn allow(
    ruleset: RulesetCreated,
    paths: &[PathBuf],
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    ruleset.add_rules(path_beneath_rules(paths, access))
}

/// Lets the worker remove its own scratch folder when the parent is gone. The right belongs to the
/// folder above, and covers empty folders only.
fn allow_removing(ruleset: RulesetCreated, scratch: &Path) -> Result<RulesetCreated, RulesetError> {
    match scratch.parent().map(PathFd::new) {
        Some(Ok(parent)) => ruleset.add_rule(PathBeneath::new(parent, AccessFs::RemoveDir)),
        Some(Err(_)) | None => Ok(ruleset),
    }
}

fn report(status: &RestrictionStatus) -> Enforcement {
    let abi = match status.landlock {
        LandlockStatus::Available { effective_abi, .. } => effective_abi,
        LandlockStatus::NotEnabled => return unavailable("landlock is not enabled in this kernel"),
        LandlockStatus::NotImplemented => return unavailable("this kernel has no landlock"),
    };
    let mechanism = format!("landlock ABI {}", abi as u32);
    match status.ruleset {
        RulesetStatus::NotEnforced => unavailable("landlock accepted no rule"),
        RulesetStatus::FullyEnforced => Enforcement::Enforced { mechanism },
        // Later versions add device controls and scopes; files are fully covered before that.
        RulesetStatus::PartiallyEnforced if abi >= COMPLETE => Enforcement::Enforced { mechanism },
        RulesetStatus::PartiallyEnforced => {
            let missing = "truncating files, and moving them between folders".to_owned();
            Enforcement::Partial { mechanism, missing }
        }
    }
}

fn unavailable(reason: &str) -> Enforcement {
    Enforcement::Unavailable { reason: reason.to_owned() }
}

/// Refuses sockets, access to the memory of other processes, calls that change the process group, which the parent
/// kills, and the calls that [`SystemCalls::ForeignCode`] excludes.
pub(super) fn restrict_system_calls(policy: &SandboxPolicy) -> Enforcement {
    match apply_filters(policy) {
        Ok(()) => Enforcement::Enforced { mechanism: "seccomp".to_owned() },
        Err(error) => Enforcement::Unavailable { reason: format!("seccomp: {error}") },
    }
}

fn apply_filters(policy: &SandboxPolicy) -> Result<(), Box<dyn std::error::Error>> {
    let mut programs = vec![filter(policy.sockets)?];
    match policy.calls {
        SystemCalls::Ordinary => {}
        SystemCalls::ForeignCode => programs.extend(foreign_code::filters()?),
    }
    for program in &programs {
        seccompiler::apply_filter(program)?;
    }
    Ok(())
}

fn filter(sockets: Sockets) -> Result<BpfProgram, Box<dyn std::error::Error>> {
    // io_uring makes and connects sockets without the calls above it.
    let mut refused = vec![
        libc::SYS_socket,
        libc::SYS_socketpair,
        libc::SYS_io_uring_setup,
        libc::SYS_setsid,
        libc::SYS_setpgid,
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
    ];
    if cfg!(target_arch = "x86_64") {
        // The same calls by their x32 numbers, where the kernel still has those.
        refused.extend(refused.clone().iter().map(|call| call | X32_BIT));
    }
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        refused.into_iter().map(|call| (call, Vec::new())).collect();
    // A matching call is refused: every address family except Unix-domain sockets.
    let family = || condition(0, SeccompCmpOp::Ne, libc::AF_UNIX as u64);
    match sockets {
        Sockets::None => {}
        Sockets::Local => {
            for call in [libc::SYS_socket, libc::SYS_socketpair] {
                rules.insert(call, vec![SeccompRule::new(vec![family()?])?]);
            }
        }
        Sockets::Unconnected => {
            // Sockets of other types could send without a connection.
            let others = (0..=SOCKET_TYPES).filter(|kind| *kind != libc::SOCK_SEQPACKET as u64);
            let others = others.map(|kind| {
                let same = SeccompCmpOp::MaskedEq(SOCKET_TYPES);
                SeccompRule::new(vec![condition(1, same, kind)?])
            });
            let mut refused = others.collect::<Result<Vec<_>, _>>()?;
            refused.push(SeccompRule::new(vec![family()?])?);
            rules.insert(libc::SYS_socket, refused);
            rules.insert(libc::SYS_connect, Vec::new());
            rules.insert(libc::SYS_connect | X32_BIT, Vec::new());
        }
    }
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EPERM as u32),
        std::env::consts::ARCH.try_into()?,
    )?;
    Ok(filter.try_into()?)
}

fn condition(
    argument: u8,
    compare: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, compare, value)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::ErrorKind;

    use super::*;

    /// Runs `check` on a thread that is confined to a fresh scratch folder, which it gets; both
    /// restrictions bind that thread only.
    fn confined(policy: SandboxPolicy, check: impl FnOnce(&Path) + Send + 'static) {
        let folder = tempfile::tempdir().unwrap();
        let scratch = folder.path().join("scratch");
        fs::create_dir(&scratch).unwrap();
        let thread = std::thread::Builder::new().spawn(move || {
            let files = restrict_files(&policy, &scratch);
            let calls = restrict_system_calls(&policy);
            let unavailable =
                |report: &Enforcement| matches!(report, Enforcement::Unavailable { .. });
            if unavailable(&files) || unavailable(&calls) {
                println!("skipped: {files:?}, {calls:?}");
                return;
            }
            check(&scratch);
        });
        thread.unwrap().join().unwrap();
    }

    #[test]
    fn files_outside_the_policy_cannot_be_read() {
        confined(SandboxPolicy::default(), |_scratch| {
            let refused = fs::read("/etc/passwd").unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::PermissionDenied);
        });
    }

    #[test]
    fn files_of_the_policy_can_be_read_but_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("header.h");
        fs::write(&file, "text").unwrap();
        let policy =
            SandboxPolicy { read: vec![folder.path().to_owned()], ..SandboxPolicy::default() };
        confined(policy, move |_scratch| {
            assert_eq!(fs::read(&file).unwrap(), b"text");
            assert_eq!(fs::write(&file, "").unwrap_err().kind(), ErrorKind::PermissionDenied);
            assert_eq!(fs::remove_file(&file).unwrap_err().kind(), ErrorKind::PermissionDenied);
        });
    }

    #[test]
    fn the_scratch_folder_can_be_used_and_removed() {
        confined(SandboxPolicy::default(), |scratch| {
            fs::write(scratch.join("file"), "text").unwrap();
            assert_eq!(fs::read(scratch.join("file")).unwrap(), b"text");
            fs::remove_dir_all(scratch).unwrap();
            assert!(!scratch.exists());
        });
    }

    #[test]
    fn nothing_written_can_be_executed() {
        confined(SandboxPolicy::default(), |scratch| {
            use std::os::unix::fs::PermissionsExt as _;
            let program = scratch.join("program");
            fs::write(&program, "#!/bin/sh\n").unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
            let refused = std::process::Command::new(&program).status().unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::PermissionDenied);
        });
    }

    #[test]
    fn sockets_cannot_be_made() {
        confined(SandboxPolicy::default(), |_scratch| {
            let refused = std::net::UdpSocket::bind("127.0.0.1:0").unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::PermissionDenied);
            let refused = std::os::unix::net::UnixStream::pair().unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::PermissionDenied);
        });
    }

    #[test]
    fn local_sockets_are_no_network() {
        let policy = SandboxPolicy { sockets: Sockets::Local, ..SandboxPolicy::default() };
        confined(policy, |_scratch| {
            let refused = std::net::UdpSocket::bind("127.0.0.1:0").unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::PermissionDenied);
            assert!(std::os::unix::net::UnixStream::pair().is_ok());
        });
    }

    #[test]
    fn unconnected_sockets_reach_no_server() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent");
        let _server = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let policy = SandboxPolicy {
            write: vec![folder.path().to_owned()],
            sockets: Sockets::Unconnected,
            ..SandboxPolicy::default()
        };
        confined(policy, move |_scratch| {
            use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect, socket};
            let made = socket(AddressFamily::UNIX, SocketType::SEQPACKET, None).unwrap();
            let address = SocketAddrUnix::new(&path).unwrap();
            assert_eq!(connect(&made, &address), Err(rustix::io::Errno::PERM));
            for kind in [SocketType::STREAM, SocketType::DGRAM] {
                let refused = socket(AddressFamily::UNIX, kind, None).unwrap_err();
                assert_eq!(refused, rustix::io::Errno::PERM);
            }
            let refused = socket(AddressFamily::INET, SocketType::SEQPACKET, None).unwrap_err();
            assert_eq!(refused, rustix::io::Errno::PERM);
            let refused = std::os::unix::net::UnixStream::pair().unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::PermissionDenied);
        });
    }

    #[test]
    fn the_process_group_cannot_be_left() {
        confined(SandboxPolicy::default(), |_scratch| {
            assert_eq!(rustix::process::setsid(), Err(rustix::io::Errno::PERM));
        });
    }
}
