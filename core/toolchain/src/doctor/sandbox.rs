//! Doctor: the kernel features that confine the compile worker.

use super::{Finding, HostEnvironment, State, Topic};

#[cfg(target_os = "linux")]
pub(super) fn findings(surroundings: &HostEnvironment) -> Vec<Finding> {
    vec![landlock(), seccomp(surroundings)]
}

#[cfg(not(target_os = "linux"))]
pub(super) fn findings(_surroundings: &HostEnvironment) -> Vec<Finding> {
    [Topic::FileSandbox, Topic::CallFilter]
        .map(|topic| {
            Finding::new(
                topic,
                State::Info,
                "Linux only: the compile worker has limits, no sandbox",
            )
        })
        .into()
}

/// The newest landlock interface that the kernel supports; querying it restricts nothing.
#[cfg(target_os = "linux")]
fn landlock() -> Finding {
    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset,
        RulesetAttr as _, RulesetError, Scope,
    };
    let strict = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let accepts = |abi: ABI| -> Result<(), RulesetError> {
        let mut rules = strict().handle_access(AccessFs::from_all(abi))?;
        if abi >= ABI::V4 {
            rules = rules.handle_access(AccessNet::from_all(abi))?;
        }
        if abi >= ABI::V6 {
            rules = rules.scope(Scope::from_all(abi))?;
        }
        rules.create().map(drop)
    };
    let newest_first =
        [(6, ABI::V6), (5, ABI::V5), (4, ABI::V4), (3, ABI::V3), (2, ABI::V2), (1, ABI::V1)];
    match newest_first.into_iter().find(|(_, abi)| accepts(*abi).is_ok()) {
        Some((number, _)) => Finding::new(
            Topic::FileSandbox,
            State::Ok,
            format!(
                "landlock, interface {number} or newer: confines the compile worker to its folders"
            ),
        ),
        None => Finding::new(
            Topic::FileSandbox,
            State::Problem,
            "no landlock: kernel sources are compiled without confinement to their folders",
        )
        .advice("a Linux kernel 5.13 or newer, started with `landlock` in its `lsm=` list"),
    }
}

/// The kernel lists the actions of a filter in `/proc` (`seccomp(2)`).
#[cfg(target_os = "linux")]
fn seccomp(surroundings: &HostEnvironment) -> Finding {
    let actions = surroundings.system.join("proc/sys/kernel/seccomp/actions_avail");
    match std::fs::read_to_string(&actions) {
        Ok(text) if text.split_whitespace().any(|action| action == "errno") => Finding::new(
            Topic::CallFilter,
            State::Ok,
            "seccomp: denies sockets to the compile worker",
        ),
        Ok(_) | Err(_) => Finding::new(
            Topic::CallFilter,
            State::Problem,
            "no seccomp: the compile worker could open sockets",
        )
        .advice("a Linux kernel built with CONFIG_SECCOMP_FILTER"),
    }
}
