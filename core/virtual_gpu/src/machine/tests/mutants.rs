//! Mutation tests: files of `tests/ptx` are changed on the parser's tree and launched. The machine must report a
//! fault or a result, and never panic.
//!
//! The tree borrows its names from the text, so that each name is a position in it. A replacement is of the same
//! kind, so that most mutants load: a register of the same type, a type of the same width, another label.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use lightbench_ptx::parse;
use lightbench_ptx::tree::{Body, Declaration, Function, FunctionKind, Operand, Statement};

use super::described::{Described, Given, Rights};
use super::files::texts;
use crate::machine::{
    Access, Argument, DeviceShape, InitialContent, LaunchConfig, Machine, Races, Report, Schedule,
};
use crate::module::Module;
use crate::tensor_map;

/// Warp instructions that a mutant may take. A warp that goes round a short loop is looked at every 16,384 of them.
const STEPS: u64 = 1 << 15;

/// A step does not take longer than this on a busy machine, also where it looks for races.
const LONGEST: Duration = Duration::from_secs(20);

/// Modules beyond this take long to load, and there are enough others.
const LONGEST_TEXT: usize = 40_000;

/// Types that take each other's place: of one width.
const TYPES: [&[&str]; 4] = [
    &["b16", "u16", "s16", "f16"],
    &["b32", "u32", "s32", "f32"],
    &["b64", "u64", "s64", "f64"],
    &["b8", "u8", "s8"],
];

/// Comparisons, which `setp` and `set` take.
const COMPARISONS: &[&str] = &["eq", "ne", "lt", "le", "gt", "ge"];

/// State spaces of accesses.
const SPACES: &[&str] = &["global", "shared", "local", "const"];

/// `SplitMix64` (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % count.max(1) as u64) as usize
    }

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.below(all.len()))
    }
}

/// The parts of a kernel or function that can be changed, as ranges of the text.
#[derive(Default)]
struct Sites {
    registers: Vec<Range<usize>>,
    labels: Vec<String>,
    targets: Vec<Range<usize>>,
    modifiers: Vec<Range<usize>>,
    /// Each from its guard's `@` to its predicate's end.
    guards: Vec<Range<usize>>,
    numbers: Vec<Range<usize>>,
    /// Each from its guard or opcode to behind its semicolon.
    instructions: Vec<Range<usize>>,
}

/// Where a part of a text lies in it.
fn range(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr() as usize - text.as_ptr() as usize;
    assert_eq!(text.get(start..start + part.len()), Some(part), "the tree borrows from the text");
    start..start + part.len()
}

impl Sites {
    fn new(text: &str, body: &Body<'_>) -> Self {
        let lines: Vec<usize> =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let mut sites = Self::default();
        let mut operands: Vec<(&Operand<'_>, usize)> = Vec::new();
        for statement in &body.statements {
            let instruction = match statement {
                Statement::Label(name, _) => {
                    sites.labels.push((*name).to_owned());
                    continue;
                }
                Statement::Instruction(instruction) => instruction,
                Statement::Open(_)
                | Statement::Close
                | Statement::Declaration(_)
                | Statement::Location(..)
                | Statement::Unsupported(_)
                | Statement::Prototype { .. }
                | Statement::BranchTargets { .. }
                | Statement::CallTargets { .. } => continue,
            };
            let opcode = range(text, instruction.opcode);
            let mut start = opcode.start;
            if let Some(guard) = &instruction.guard {
                let predicate = range(text, guard.predicate);
                start = text[..predicate.start].rfind('@').unwrap();
                sites.guards.push(start..predicate.end);
            }
            let end = opcode.end + text[opcode.end..].find(';').unwrap() + 1;
            sites.instructions.push(start..end);
            let (first, last) = instruction.modifiers;
            let modifiers = &body.modifiers[first as usize..last as usize];
            sites.modifiers.extend(modifiers.iter().map(|modifier| range(text, modifier)));
            let is_branch = instruction.opcode == "bra";
            for (operand, place) in &instruction.operands {
                let at = lines[place.line as usize - 1] + place.column as usize - 1;
                if let (true, Operand::Name { name, .. }) = (is_branch, operand) {
                    sites.targets.push(range(text, name));
                } else {
                    operands.push((operand, at));
                }
            }
        }
        while let Some((operand, at)) = operands.pop() {
            match operand {
                Operand::Name { name, .. }
                | Operand::Negative { name, .. }
                | Operand::Not(name) => {
                    sites.name(text, name);
                }
                Operand::Component { .. } => {}
                Operand::Literal(_) => {
                    let ends = |letter: char| !(letter.is_ascii_alphanumeric() || letter == '-');
                    let end = text[at..].find(ends).map_or(text.len(), |length| at + length);
                    sites.numbers.push(at..end);
                }
                Operand::Address(address) => {
                    if let Some(base) = address.base {
                        sites.name(text, base);
                    }
                }
                // The place is that of the whole; of parts only names have one.
                Operand::Vector(parts) | Operand::Group(parts) => {
                    let names = parts.iter().filter(|part| matches!(part, Operand::Name { .. }));
                    operands.extend(names.map(|part| (part, at)));
                }
                Operand::Pair(first, second) => {
                    sites.name(text, first);
                    sites.name(text, second);
                }
            }
        }
        sites
    }

    fn name(&mut self, text: &str, name: &str) {
        if name.starts_with('%') {
            self.registers.push(range(text, name));
        }
    }

    /// One change, where the kernel has something of the kind drawn.
    fn change(&self, text: &str, random: &mut Random) -> Option<Vec<(Range<usize>, String)>> {
        let replaced = |site: &Range<usize>, by: &str| Some(vec![(site.clone(), by.to_owned())]);
        match random.below(8) {
            0 | 1 => {
                let site = random.one_of(&self.registers)?;
                let family = |name: &str| {
                    name.trim_end_matches(|last: char| last.is_ascii_digit()).to_owned()
                };
                let own = family(&text[site.clone()]);
                let names = self.registers.iter().map(|site| &text[site.clone()]);
                let others: BTreeSet<&str> = names.filter(|name| family(name) == own).collect();
                let others: Vec<&str> = others.into_iter().collect();
                replaced(site, random.one_of(&others)?)
            }
            2 => {
                let site = random.one_of(&self.modifiers)?;
                let own = &text[site.clone()];
                let families = TYPES.into_iter().chain([COMPARISONS, SPACES]);
                let family = families.into_iter().find(|family| family.contains(&own))?;
                replaced(site, random.one_of(family)?)
            }
            3 => {
                let site = random.one_of(&self.guards)?;
                let own = &text[site.clone()];
                match (random.below(3), own.strip_prefix("@!")) {
                    (0, Some(predicate)) => replaced(site, &format!("@{predicate}")),
                    (0, None) => replaced(site, &format!("@!{}", own.trim_start_matches('@'))),
                    (1, _) => replaced(site, ""),
                    _ => {
                        let other = random.one_of(&self.guards)?.clone();
                        replaced(site, &text[other])
                    }
                }
            }
            4 => {
                let site = random.one_of(&self.targets)?;
                replaced(site, random.one_of(&self.labels)?)
            }
            5 => {
                let number = random.one_of(&self.numbers)?;
                let values = ["0", "1", "-1", "4", "31", "32", "255", "2147483647", "-2147483648"];
                replaced(number, random.one_of(&values)?)
            }
            6 => {
                // Two that follow each other.
                let first = random.below(self.instructions.len().checked_sub(1)?);
                let (a, b) =
                    (self.instructions[first].clone(), self.instructions[first + 1].clone());
                Some(vec![(a.clone(), text[b.clone()].to_owned()), (b, text[a].to_owned())])
            }
            _ => {
                let site = random.one_of(&self.instructions)?;
                let again = text[site.clone()].repeat(2 * random.below(2));
                replaced(site, &again)
            }
        }
    }
}

/// One to three changes; none where the draw found nothing to change.
fn mutant(text: &str, sites: &Sites, random: &mut Random) -> Option<String> {
    let mut changes: BTreeMap<usize, (Range<usize>, String)> = BTreeMap::new();
    for _ in 0..=random.below(3) {
        for (site, by) in sites.change(text, random).unwrap_or_default() {
            let overlaps =
                changes.values().any(|(other, _)| other.start < site.end && site.start < other.end);
            if !overlaps {
                changes.insert(site.start, (site, by));
            }
        }
    }
    let mut mutant = text.to_owned();
    for (site, by) in changes.into_values().rev() {
        mutant.replace_range(site, &by);
    }
    (mutant != text).then_some(mutant)
}

/// A kernel to change, and how it is launched.
struct Original {
    name: String,
    text: String,
    described: Described,
}

/// Files with their launch in comments, and modules that the compiler made of `tests/kernels`, with arguments by their size.
fn originals() -> Vec<Original> {
    let written = texts("pass").into_iter().map(|(name, text)| {
        let described = Described::from_text(&text);
        Original { name, text, described }
    });
    let compiled = texts("modules").into_iter().filter(|(_, text)| text.len() < LONGEST_TEXT);
    let compiled = compiled.flat_map(|(name, text)| {
        let entries: Vec<Described> = parse(&text)
            .0
            .functions
            .iter()
            .filter(|function| function.kind == FunctionKind::Entry && function.body.is_some())
            .map(from_entry)
            .collect();
        entries.into_iter().map(move |described| {
            let name = format!("{name} {}", described.kernel);
            Original { name, text: text.clone(), described }
        })
    });
    written.chain(compiled).collect()
}

/// Buffers for parameters with the size of a pointer, small numbers for the others.
fn from_entry(function: &Function<'_>) -> Described {
    let argument = |(index, parameter): (usize, &Declaration<'_>)| {
        let width: u64 =
            parameter.element.trim_start_matches(char::is_alphabetic).parse().unwrap_or(32);
        let count: u64 = parameter.dimensions.iter().product();
        let mut bytes = vec![0; (width / 8 * count) as usize];
        match width == 64 && parameter.dimensions.is_empty() {
            true => {
                let (name, content) = (format!("argument{index}"), Some(vec![1; 4096]));
                Given::Buffer { name, length: 4096, access: Rights::Write, content }
            }
            false => {
                if let Some(first) = bytes.first_mut() {
                    *first = 7;
                }
                Given::Value(bytes)
            }
        }
    };
    Described {
        kernel: function.name.to_owned(),
        grid: [2, 1, 1],
        arguments: function.signature.parameters.iter().enumerate().map(argument).collect(),
        ..Described::from_text("")
    }
}

/// Loads and launches; none where it does not load, the words of its faults where it runs.
fn launched(original: &Original, text: &str, schedule: Schedule) -> Option<Result<Report, String>> {
    let module = Module::load(text).ok()?;
    let described = &original.described;
    let shape = DeviceShape {
        multiprocessors: 2,
        memory_bytes: 16 << 20,
        heap_bytes: 1 << 20,
        ..DeviceShape::default()
    };
    let mut machine = Machine::new(shape);
    let mut config = LaunchConfig::new(described.grid, described.block, Vec::new());
    config.dynamic_shared = described.dynamic_shared;
    config.schedule = schedule;
    config.max_steps = STEPS;
    config.checks.races = Races::CudaIdiom;
    let mut buffers = BTreeMap::new();
    for given in &described.arguments {
        config.arguments.push(match given {
            Given::Value(bytes) => Argument::Bytes(bytes.clone()),
            Given::Buffer { name, length, access, content } => {
                let access = match access {
                    Rights::Read => Access::ReadOnly,
                    Rights::Write => Access::ReadWrite,
                };
                let initial =
                    content.clone().map_or(InitialContent::Uninitialised, InitialContent::Bytes);
                let id = machine.buffer(name, *length, access, initial).unwrap();
                buffers.insert(name.as_str(), id);
                Argument::Buffer(id)
            }
            Given::TensorMap { buffer, map } => {
                let address = machine.address(buffers[buffer.as_str()]);
                Argument::Bytes(tensor_map::encode(map, address).to_vec())
            }
            Given::Texture { buffer, object } => {
                Argument::Texture { buffer: buffers[buffer.as_str()], object: object.clone() }
            }
        });
    }
    let launched = machine.launch(&module, &described.kernel, &config);
    Some(launched.map_err(|error| error.to_string()))
}

/// Words of the implementation that no message to a user has.
const INTERNAL: &[&str] =
    &["Some(", "None", "::", "Slot(", "Register(", "Place {", "unwrap", "panicked", "{:"];

/// The problem of the result of a mutant, if there is one.
fn wrong(original: &Original, text: &str, answer: &Result<Report, String>) -> Option<String> {
    let report = match answer {
        Ok(report) => report,
        Err(message) => return internal(message),
    };
    if report.steps > 2 * STEPS {
        return Some(format!("{} steps", report.steps));
    }
    let lines = text.lines().count();
    let given = original.described.arguments.iter().filter_map(|given| match given {
        Given::Buffer { name, .. } => Some(name.as_str()),
        Given::Value(_) | Given::TensorMap { .. } | Given::Texture { .. } => None,
    });
    let given: BTreeSet<&str> = given.collect();
    report.faults.iter().find_map(|fault| {
        let line = fault.place.line as usize;
        if !(1..=lines).contains(&line) {
            return Some(format!("no such line: {fault:?}"));
        }
        let is_known =
            |name: &str| given.contains(name) || text.contains(name) || name.contains(' ');
        if let Some(name) = fault.buffer.as_ref().filter(|name| !is_known(name)) {
            return Some(format!("`{name}` is nothing of the kernel's: {fault}"));
        }
        internal(&fault.to_string())
    })
}

fn internal(message: &str) -> Option<String> {
    let found = INTERNAL.iter().find(|word| message.contains(**word));
    found.map(|word| format!("{word:?} in {message:?}"))
}

/// The lines that differ.
fn difference(text: &str, mutant: &str) -> String {
    let known: BTreeSet<&str> = text.lines().collect();
    let new = mutant.lines().enumerate().filter(|(_, line)| !known.contains(line));
    new.map(|(number, line)| format!("{}: {line}\n", number + 1)).collect()
}

/// Launches so many mutants, drawn from `seed` on.
fn check(count: usize, seed: u64) {
    let originals = originals();
    assert!(originals.len() > 100, "{}", originals.len());
    let (mut loaded, mut faulty, mut refused, mut problems) = (0, 0, 0, Vec::new());
    let mut random = Random(seed);
    let mut drawn = 0;
    while loaded < count {
        drawn += 1;
        assert!(drawn < 20 * count, "{loaded} of {drawn} mutants load");
        let Some(original) = random.one_of(&originals) else { break };
        let (tree, _) = parse(&original.text);
        let bodies = tree.functions.iter().filter_map(|function| function.body.as_ref());
        let bodies: Vec<&Body<'_>> = bodies.collect();
        let Some(body) = random.one_of(&bodies) else { continue };
        let sites = Sites::new(&original.text, body);
        let Some(text) = mutant(&original.text, &sites, &mut random) else { continue };
        let schedule = match random.below(3) {
            0 => Schedule::Adversarial { seed: drawn as u64 },
            _ => Schedule::Deterministic,
        };
        let began = Instant::now();
        let answer = catch_unwind(AssertUnwindSafe(|| launched(original, &text, schedule)));
        let problem = match &answer {
            Ok(None) => {
                refused += 1;
                None
            }
            Ok(Some(answer)) => {
                loaded += 1;
                faulty +=
                    usize::from(answer.as_ref().is_ok_and(|report| !report.faults.is_empty()));
                wrong(original, &text, answer)
            }
            Err(_) => {
                loaded += 1;
                Some("it panics".to_owned())
            }
        };
        let slow = (began.elapsed() > LONGEST).then(|| format!("{:?}", began.elapsed()));
        if let Some(problem) = problem.or(slow) {
            let lines = difference(&original.text, &text);
            problems.push(format!("{} ({schedule:?}): {problem}\n{lines}", original.name));
        }
    }
    println!("{loaded} mutants ran, {faulty} of them with faults; {refused} did not load");
    assert!(problems.is_empty(), "{} of {loaded}:\n{}", problems.len(), problems.join("\n"));
    assert!(faulty * 10 > loaded, "mutants are wrong: {faulty} of {loaded}");
}

#[test]
fn five_hundred_mutants_are_answered() {
    check(500, 1);
}

/// `cargo test -p lightbench-virtual-gpu --lib -- --ignored --nocapture mutants`; `LIGHTBENCH_TEST_MUTANTS` of them, from
/// `LIGHTBENCH_TEST_SEED` on.
#[test]
#[ignore = "takes minutes"]
fn many_mutants_are_answered() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let count = number("LIGHTBENCH_TEST_MUTANTS").unwrap_or(20_000);
    check(count as usize, number("LIGHTBENCH_TEST_SEED").unwrap_or(2));
}
