//! Loads, stores and hints. PTX ISA, section "Data Movement and Conversion Instructions": `ld`, `ld.global.nc`,
//! `ldu`, `st`, `prefetch`, `prefetchu`, `applypriority`, `discard`, `createpolicy`; section "Memory Consistency Model".

use super::keyword::{keywords, scalar_subset};
use super::scalar::{Fit, ScalarType};
use super::signature::{Role, Signature};
use super::{Decoded, Modifiers, Operation, Refusal, Row};

/// Where an address lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Anywhere: the address says where.
    Generic,
    /// Constants.
    Const,
    /// Global memory.
    Global,
    /// A thread's own memory.
    Local,
    /// Parameters of the kernel, or of a call.
    Param,
    /// A block's own memory.
    Shared,
}

keywords! {
    /// State spaces as loads and stores name them.
    SpaceWord: "a state space" {
        Const = "const", Global = "global", Local = "local", Param = "param",
        ParamEntry = "param::entry", ParamFunction = "param::func", Shared = "shared",
        SharedCta = "shared::cta",
    }
}
keywords! {
    /// The threads among which an operation is ordered.
    Scope: "a scope (.cta, .cluster, .gpu, .sys)" {
        Cta = "cta", Cluster = "cluster", Gpu = "gpu", System = "sys",
    }
}
keywords! {
    /// What a cache is told about the line.
    CacheOperator: "a cache operator" {
        CacheAll = "ca", CacheGlobal = "cg", Streaming = "cs", LastUse = "lu",
        DoNotCache = "cv", WriteBack = "wb", WriteThrough = "wt",
    }
}
keywords! {
    /// How long a line should stay.
    Eviction: "an eviction priority" {
        L1Normal = "L1::evict_normal", L1Unchanged = "L1::evict_unchanged",
        L1First = "L1::evict_first", L1Last = "L1::evict_last",
        L1NoAllocate = "L1::no_allocate", L2Normal = "L2::evict_normal",
        L2First = "L2::evict_first", L2Last = "L2::evict_last",
    }
}
keywords! {
    /// How much the second-level cache should fetch.
    PrefetchSize: "a prefetch size" {
        Bytes64 = "L2::64B", Bytes128 = "L2::128B", Bytes256 = "L2::256B",
    }
}
keywords! {
    /// How many elements at once.
    VectorWord: "a vector width" { Two = "v2", Four = "v4", Eight = "v8" }
}
keywords! {
    /// A level of cache.
    CacheLevel: "a level of cache" { L1 = "L1", L2 = "L2" }
}
keywords! {
    /// How long lines under a policy should stay.
    PolicyPriority: "an eviction priority of the second level" {
        Last = "L2::evict_last", Normal = "L2::evict_normal", First = "L2::evict_first",
        Unchanged = "L2::evict_unchanged",
    }
}
keywords! {
    /// How long the other lines should stay.
    OtherPriority: "a second eviction priority" {
        First = "L2::evict_first", Unchanged = "L2::evict_unchanged",
    }
}
keywords! {
    /// From what a cache policy is made.
    PolicySource: "`.fractional`, `.range` or `.cvt`" {
        Fraction = "fractional", Range = "range", Property = "cvt",
    }
}
scalar_subset! {
    /// What can be loaded and stored.
    ElementType: "a type of 8 to 128 bits" {
        B8, B16, B32, B64, B128, U8, U16, U32, U64, S8, S16, S32, S64, F32, F64
    }
}

/// How an access is ordered with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ordering {
    /// Not at all.
    Weak,
    /// `.volatile`: relaxed among all threads of the system.
    Volatile,
    /// Morally strong, without order.
    Relaxed(Scope),
    /// What follows stays behind it.
    Acquire(Scope),
    /// What precedes stays before it.
    Release(Scope),
}

/// Advice that changes no value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheHints {
    /// `.ca`, `.cs` …
    pub operator: Option<CacheOperator>,
    /// Of the first level.
    pub eviction: Option<Eviction>,
    /// Of the second level.
    pub second_eviction: Option<Eviction>,
    /// `.L2::128B`.
    pub prefetch: Option<PrefetchSize>,
}

/// What a load or store moves, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Where.
    pub space: Space,
    /// Each element.
    pub element: ElementType,
    /// How many elements: 1, 2, 4 or 8.
    pub lanes: u8,
    /// In which order with others.
    pub ordering: Ordering,
    /// Advice.
    pub hints: CacheHints,
}

/// Loads, stores and hints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// `d = [a]`.
    Load(Access),
    /// The same from memory that nobody writes during the kernel (`.nc`).
    LoadReadOnly(Access),
    /// The same, and all lanes read one address (`ldu`).
    LoadUniform(Access),
    /// `[a] = b`.
    Store(Access),
    /// Fetch a line.
    Prefetch(Space, CacheLevel),
    /// Say how long a line should stay.
    Prioritise(Space),
    /// Say that a line's content does not matter any more.
    Discard(Space),
    /// Make a policy that `.L2::cache_hint` takes. Its 64 bits are opaque.
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
        // `.L2::evict_last` and `.L2::evict_normal` are the second level with advice.
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
                return Err(m.combination("a policy covers .global or generic addresses"));
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

/// The space that is named, or the generic one.
pub(crate) fn space(m: &mut Modifiers<'_>) -> Space {
    match m.optional::<SpaceWord>() {
        None => Space::Generic,
        Some(SpaceWord::Const) => Space::Const,
        Some(SpaceWord::Global) => Space::Global,
        Some(SpaceWord::Local) => Space::Local,
        Some(SpaceWord::Param | SpaceWord::ParamEntry | SpaceWord::ParamFunction) => Space::Param,
        Some(SpaceWord::Shared | SpaceWord::SharedCta) => Space::Shared,
    }
}

fn ordering(m: &mut Modifiers<'_>) -> Result<Ordering, Refusal> {
    if m.flag("volatile") {
        return Ok(Ordering::Volatile);
    }
    if m.flag("relaxed") {
        // `.mmio` forbids merging accesses, which we never do.
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

/// How many elements are named: one where there is no width.
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
        return Err(m.combination("a load does not release"));
    }
    let read_only = m.flag("nc");
    m.flag("unified");
    let policy = m.flag("L2::cache_hint");
    let access = access(m, ordering)?;
    if read_only && (access.space != Space::Global || ordering != Ordering::Weak) {
        return Err(m.combination("`.nc` takes weak loads of .global"));
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
        return Err(m.combination("a store does not acquire"));
    }
    let policy = m.flag("L2::cache_hint");
    let access = access(m, ordering)?;
    if access.space == Space::Const {
        return Err(m.combination("constants are not stored to"));
    }
    let (count, ty) = (access.lanes, access.element.into());
    let value = Role::ReadVector { count, ty, fit: Fit::Wider };
    let policy_value = Role::Read(ScalarType::B64, Fit::Exact);
    let roles = [Role::Address(access.space), value, policy_value];
    done(Memory::Store(access), Signature::new(if policy { &roles } else { &roles[..2] }))
}
