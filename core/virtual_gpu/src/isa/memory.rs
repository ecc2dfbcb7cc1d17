//! Loads, stores and hints. PTX ISA, section "Data Movement and Conversion Instructions": `ld`, `ld.global.nc`,
//! `ldu`, `st`, `prefetch`, `prefetchu`, `applypriority`, `discard`, `createpolicy`; section "Memory Consistency Model".

use super::keyword::{keywords, scalar_subset};
use super::scalar::{Fit, ScalarType};
use super::signature::{Role, Signature};
use super::{Decoded, Modifiers, Operation, Refusal, Row};

/// A state space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Generic addresses.
    Generic,
    /// Constant memory.
    Const,
    /// Global memory.
    Global,
    /// Local memory of a thread.
    Local,
    /// Parameters of the kernel, or of a call.
    Param,
    /// Shared memory of a block.
    Shared,
    /// Shared memory of the blocks of a cluster.
    SharedCluster,
}

impl Space {
    /// Whether it is shared memory, of the block or of the blocks of its cluster.
    #[must_use]
    pub const fn is_shared(self) -> bool {
        matches!(self, Self::Shared | Self::SharedCluster)
    }
}

keywords! {
    /// State spaces as loads and stores name them.
    SpaceWord: "a state space" {
        Const = "const", Global = "global", Local = "local", Param = "param",
        ParamEntry = "param::entry", ParamFunction = "param::func", Shared = "shared",
        SharedCta = "shared::cta", SharedCluster = "shared::cluster",
    }
}
keywords! {
    /// Scopes of the memory consistency model.
    Scope: "a scope (.cta, .cluster, .gpu, .sys)" {
        Cta = "cta", Cluster = "cluster", Gpu = "gpu", System = "sys",
    }
}
keywords! {
    CacheOperator: "a cache operator" {
        CacheAll = "ca", CacheGlobal = "cg", Streaming = "cs", LastUse = "lu",
        DoNotCache = "cv", WriteBack = "wb", WriteThrough = "wt",
    }
}
keywords! {
    /// Cache eviction priorities.
    Eviction: "an eviction priority" {
        L1Normal = "L1::evict_normal", L1Unchanged = "L1::evict_unchanged",
        L1First = "L1::evict_first", L1Last = "L1::evict_last",
        L1NoAllocate = "L1::no_allocate", L2Normal = "L2::evict_normal",
        L2First = "L2::evict_first", L2Last = "L2::evict_last",
    }
}
keywords! {
    /// Prefetch sizes of the L2 cache.
    PrefetchSize: "a prefetch size" {
        Bytes64 = "L2::64B", Bytes128 = "L2::128B", Bytes256 = "L2::256B",
    }
}
keywords! {
    /// Vector widths.
    VectorWord: "a vector width" { Two = "v2", Four = "v4", Eight = "v8" }
}
keywords! {
    CacheLevel: "a level of cache" { L1 = "L1", L2 = "L2" }
}
keywords! {
    /// The eviction priority of a cache policy.
    PolicyPriority: "an eviction priority of the second level" {
        Last = "L2::evict_last", Normal = "L2::evict_normal", First = "L2::evict_first",
        Unchanged = "L2::evict_unchanged",
    }
}
keywords! {
    /// The eviction priority of the remaining accesses of a cache policy.
    OtherPriority: "a second eviction priority" {
        First = "L2::evict_first", Unchanged = "L2::evict_unchanged",
    }
}
keywords! {
    /// The kind of a cache policy.
    PolicySource: "`.fractional`, `.range` or `.cvt`" {
        Fraction = "fractional", Range = "range", Property = "cvt",
    }
}
scalar_subset! {
    /// The types of loads and stores.
    ElementType: "a type of 8 to 128 bits" {
        B8, B16, B32, B64, B128, U8, U16, U32, U64, S8, S16, S32, S64, F32, F64
    }
}

/// The memory ordering of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ordering {
    Weak,
    /// `.volatile`: relaxed among all threads of the system.
    Volatile,
    /// Strong, without ordering of other accesses.
    Relaxed(Scope),
    /// Later accesses are ordered after it.
    Acquire(Scope),
    /// Earlier accesses are ordered before it.
    Release(Scope),
}

/// Cache hints, which do not change values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheHints {
    /// `.ca`, `.cs` …
    pub operator: Option<CacheOperator>,
    /// The eviction priority in L1.
    pub eviction: Option<Eviction>,
    /// The eviction priority in L2.
    pub second_eviction: Option<Eviction>,
    /// `.L2::128B`.
    pub prefetch: Option<PrefetchSize>,
}

/// The properties of a load or store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub space: Space,
    /// The element type.
    pub element: ElementType,
    /// The number of elements: 1, 2, 4 or 8.
    pub lanes: u8,
    pub ordering: Ordering,
    pub hints: CacheHints,
}

/// Loads, stores and hints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// `d = [a]`.
    Load(Access),
    /// `d = [a]` from memory that is read-only during the kernel (`.nc`).
    LoadReadOnly(Access),
    /// `d = [a]` with the same address in all lanes (`ldu`).
    LoadUniform(Access),
    /// `[a] = b`.
    Store(Access),
    /// Prefetches a cache line.
    Prefetch(Space, CacheLevel),
    /// Sets the eviction priority of a cache line.
    Prioritise(Space),
    /// Discards the content of a cache line.
    Discard(Space),
    /// Creates a cache policy for `.L2::cache_hint`. Its 64 bits are opaque.
    CreatePolicy(PolicySource),
}

pub(crate) const TABLE: &[Row] = &[
    Row::any("ld", load),
    Row::any("ldu", |m| {
        let access = access(m, Ordering::Weak)?;
        done(Memory::LoadUniform(access), loads(access, false))
    }),
    Row::any("st", store),
    Row::any("prefetch", |m| {
        let space = space(m);
        // `.L2::evict_last` and `.L2::evict_normal` are prefetches to L2 with an eviction priority.
        let level = match m.optional::<Eviction>() {
            Some(_) => CacheLevel::L2,
            None => m.required()?,
        };
        done(Memory::Prefetch(space, level), Signature::new(&[Role::Address(space)]))
    }),
    Row::any("prefetchu", |m| {
        let level = m.required()?;
        let address = Role::Address(Space::Generic);
        done(Memory::Prefetch(Space::Generic, level), Signature::new(&[address]))
    }),
    Row::any("applypriority", |m| {
        m.require_flag("L2::evict_normal", "`.L2::evict_normal`")?;
        line_hint(m, Memory::Prioritise)
    }),
    Row::any("discard", |m| {
        m.require_flag("L2", "`.L2`")?;
        line_hint(m, Memory::Discard)
    }),
    Row::any("createpolicy", create_policy),
];

fn done(operation: Memory, signature: Signature) -> Decoded {
    Ok((Operation::Memory(operation), signature))
}

fn create_policy(m: &mut Modifiers<'_>) -> Decoded {
    let policy = Role::Write(ScalarType::B64, Fit::Exact);
    let read = |ty| Role::Read(ty, Fit::Exact);
    let source: PolicySource = m.required()?;
    let signature = match source {
        PolicySource::Property => {
            m.require_flag("L2", "`.L2`")?;
            Signature::new(&[policy, read(ScalarType::B64)])
        }
        PolicySource::Fraction => {
            priorities(m)?;
            Signature::new(&[policy, read(ScalarType::F32)]).optional(1)
        }
        PolicySource::Range => {
            let space = space(m);
            if !matches!(space, Space::Generic | Space::Global) {
                return Err(m.combination("a cache policy requires .global or generic addresses"));
            }
            priorities(m)?;
            let size = read(ScalarType::B32);
            Signature::new(&[policy, Role::Address(space), size, size])
        }
    };
    m.require_flag("b64", ".b64")?;
    done(Memory::CreatePolicy(source), signature)
}

fn priorities(m: &mut Modifiers<'_>) -> Result<(), Refusal> {
    let _: PolicyPriority = m.required()?;
    let _: Option<OtherPriority> = m.optional();
    Ok(())
}

fn line_hint(m: &mut Modifiers<'_>, operation: fn(Space) -> Memory) -> Decoded {
    let space = space(m);
    let roles = [Role::Address(space), Role::Constant { largest: 128 }];
    done(operation(space), Signature::new(&roles))
}

/// The state space modifier; generic where the instruction has no modifier.
pub(crate) fn space(m: &mut Modifiers<'_>) -> Space {
    match m.optional::<SpaceWord>() {
        None => Space::Generic,
        Some(SpaceWord::Const) => Space::Const,
        Some(SpaceWord::Global) => Space::Global,
        Some(SpaceWord::Local) => Space::Local,
        Some(SpaceWord::Param | SpaceWord::ParamEntry | SpaceWord::ParamFunction) => Space::Param,
        Some(SpaceWord::Shared | SpaceWord::SharedCta) => Space::Shared,
        Some(SpaceWord::SharedCluster) => Space::SharedCluster,
    }
}

fn ordering(m: &mut Modifiers<'_>) -> Result<Ordering, Refusal> {
    if m.flag("volatile") {
        return Ok(Ordering::Volatile);
    }
    if m.flag("relaxed") {
        // `.mmio` forbids merging accesses; the virtual GPU never merges them.
        m.flag("mmio");
        return Ok(Ordering::Relaxed(m.required()?));
    }
    if m.flag("acquire") {
        return Ok(Ordering::Acquire(m.required()?));
    }
    if m.flag("release") {
        return Ok(Ordering::Release(m.required()?));
    }
    m.flag("weak");
    Ok(Ordering::Weak)
}

/// The number of elements: one without a vector width.
pub(crate) fn lanes(m: &mut Modifiers<'_>) -> u8 {
    match m.optional() {
        None => 1,
        Some(VectorWord::Two) => 2,
        Some(VectorWord::Four) => 4,
        Some(VectorWord::Eight) => 8,
    }
}

fn access(m: &mut Modifiers<'_>, ordering: Ordering) -> Result<Access, Refusal> {
    let space = space(m);
    let hints = CacheHints {
        operator: m.optional(),
        eviction: m.optional(),
        second_eviction: m.optional(),
        prefetch: m.optional(),
    };
    let lanes = lanes(m);
    let element = m.required()?;
    let bits = ScalarType::from(element).bits() * u32::from(lanes);
    if bits > 256 || (bits == 256 && !matches!(space, Space::Global | Space::Generic)) {
        return Err(m.combination("an access has at most 128 bits, of global memory 256"));
    }
    Ok(Access { space, element, lanes, ordering, hints })
}

fn load(m: &mut Modifiers<'_>) -> Decoded {
    let ordering = ordering(m)?;
    if matches!(ordering, Ordering::Release(_)) {
        return Err(m.combination("a load does not support `.release`"));
    }
    let read_only = m.flag("nc");
    m.flag("unified");
    let policy = m.flag("L2::cache_hint");
    let access = access(m, ordering)?;
    if read_only && (access.space != Space::Global || ordering != Ordering::Weak) {
        return Err(m.combination("`.nc` requires a weak load of .global"));
    }
    let operation = if read_only { Memory::LoadReadOnly(access) } else { Memory::Load(access) };
    done(operation, loads(access, policy))
}

fn loads(access: Access, policy: bool) -> Signature {
    let (count, ty) = (access.lanes, access.element.into());
    let value = Role::WriteVector { count, ty, fit: Fit::Wider };
    let policy_value = Role::Read(ScalarType::B64, Fit::Exact);
    let roles = [value, Role::Address(access.space), policy_value];
    Signature::new(if policy { &roles } else { &roles[..2] })
}

fn store(m: &mut Modifiers<'_>) -> Decoded {
    let ordering = ordering(m)?;
    if matches!(ordering, Ordering::Acquire(_)) {
        return Err(m.combination("a store does not support `.acquire`"));
    }
    let policy = m.flag("L2::cache_hint");
    let access = access(m, ordering)?;
    if access.space == Space::Const {
        return Err(m.combination("a store to .const is not possible"));
    }
    let (count, ty) = (access.lanes, access.element.into());
    let value = Role::ReadVector { count, ty, fit: Fit::Wider };
    let policy_value = Role::Read(ScalarType::B64, Fit::Exact);
    let roles = [Role::Address(access.space), value, policy_value];
    done(Memory::Store(access), Signature::new(if policy { &roles } else { &roles[..2] }))
}
