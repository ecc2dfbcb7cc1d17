//! Static evidence: what the code reachable from launched kernels does that a policy may refuse.
//!
//! ```text
//!  PTX ──► reach: functions, by any mention of their names ──► per function: uses (one instruction at a time)
//!                                                                  globals (where addresses go)
//!           source_locations: lines through inlining ──►    Found ◄── provenance: whose code it is
//! ```
//!
//! Everything is read from the PTX that is assembled, so that macros, templates and inline assembly hide nothing: an
//! assembly text that closes its function and opens another is read as the assembler reads it. PTX that cannot be read
//! is an error, never an empty list.

mod cache_hints;
mod flow;
mod globals;
mod index;
mod provenance;
mod reach;
mod scopes;
mod source_locations;
mod summary;
mod uses;

#[cfg(test)]
mod tests;

pub use provenance::{Disbelief, Provenance};
pub use summary::summarize;

use lightbench_project::manifest::Evidence;
use lightbench_project::policy::Policy;
use lightbench_ptx::tree::{Body, Declaration, Function, FunctionKind, InitialValue, Statement};
use lightbench_ptx::{PtxLocation, SourceLine, SyntaxError, parse};

use cache_hints::CacheHints;
use globals::Variables;
use index::Index;
use reach::Reached;
use scopes::Scopes;
use source_locations::{Assembly, SourceLocations, Text};

/// One use of something that a policy may refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// What kind of thing.
    pub evidence: Evidence,
    /// What exactly: "reads `%clock64`", "stores to `counter`".
    pub what: String,
    /// The instruction as the PTX has it, blanks shortened; empty for an empty assembly statement.
    pub instruction: String,
    /// Its line in the PTX, from 1.
    pub ptx_line: u32,
    /// The source: the innermost line first, then each line into which it was inlined, files as the compiler spells
    /// them. Empty where the compiler gives none.
    pub source: Vec<SourceLine>,
    /// The first of the launched entries that reaches it.
    pub entry: String,
    /// Whose code it is.
    pub origin: Origin,
}

/// Whose code a finding is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The kernel's own, or asked for by it.
    Candidate,
    /// A header of the toolkit's brought it along; its file, where line tables name one.
    Toolkit(Option<String>),
}

/// Why a PTX text cannot be searched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// The text is not PTX.
    #[error("the PTX cannot be read: {0}")]
    Syntax(SyntaxError),
    /// A launched kernel is not in it.
    #[error("the PTX has no kernel `{0}`")]
    NoEntry(String),
    /// Braces are nested too deep.
    #[error("braces are nested more than {limit} deep at {place} of the PTX", limit = Scopes::DEEPEST)]
    TooDeep {
        /// The brace.
        place: PtxLocation,
    },
}

/// Everything that a policy may refuse, in the code reachable from `entries`, in the order of the PTX.
///
/// # Errors
/// The text is not PTX, or lacks an entry: a caller must treat this as a refusal.
pub fn find(
    ptx: &str,
    entries: &[&str],
    provenance: &Provenance,
) -> Result<Vec<Found>, Unreadable> {
    let (tree, errors) = parse(ptx);
    let unsupported = tree.unsupported().map(|statement| statement.error.clone());
    if let Some(error) = errors.into_iter().chain(unsupported).min_by_key(|error| error.place) {
        return Err(Unreadable::Syntax(error));
    }
    let module = Module {
        text: Text::new(ptx),
        index: Index::from_tree(&tree),
        variables: Variables::from_tree(&tree),
    };
    let mut found = Vec::new();
    for (reached, entry) in reach::from(&tree, entries)? {
        let entry = entries.get(entry).copied().unwrap_or_default();
        let search = Search { module: &module, entry, provenance };
        match reached {
            Reached::Function(function, body) => search.function(function, body, &mut found)?,
            Reached::Table(variable) => search.table(variable, &mut found),
        }
    }
    found.retain(|found| !provenance.is_of_the_compiler(found));
    found.sort_by_key(|found| found.ptx_line);
    Ok(found)
}

/// The findings for which a policy refuses a candidate.
pub fn refusals<'a>(found: &'a [Found], policy: &'a Policy) -> impl Iterator<Item = &'a Found> {
    found
        .iter()
        .filter(|each| each.origin == Origin::Candidate && policy.refuse.contains(&each.evidence))
}

/// What is known of a whole PTX text.
struct Module<'a, 't> {
    text: Text<'t>,
    index: Index<'a, 't>,
    variables: Variables<'t>,
}

/// The search of what one entry reaches.
struct Search<'a, 't> {
    module: &'a Module<'a, 't>,
    entry: &'a str,
    provenance: &'a Provenance,
}

impl<'t> Search<'_, 't> {
    fn function(
        &self,
        function: &Function<'t>,
        body: &Body<'t>,
        found: &mut Vec<Found>,
    ) -> Result<(), Unreadable> {
        let Module { text, index, .. } = self.module;
        let mut globals = globals::uses(function, body, self.module)?.into_iter().peekable();
        let mut assembly = text.assembly_between(function.place.line, index.end(function));
        let mut places = SourceLocations::new(index, function.name);
        let mut scopes = Scopes::from_function(function);
        let hints = CacheHints::of(function, body);
        if self.provenance.is_ptx() && function.kind == FunctionKind::Entry {
            let what = "is written in PTX".to_owned();
            found.push(self.found(Evidence::InlineAssembly, what, function.place, &places));
        }
        for (at, statement) in body.statements.iter().enumerate() {
            let Statement::Instruction(instruction) = statement else {
                scopes.enter(statement)?;
                if let Statement::Location(location, _) = statement {
                    places.enter(location);
                } else if let Statement::Declaration(declaration) = statement {
                    self.table(declaration, found);
                }
                continue;
            };
            let place = instruction.place;
            while let Some(block) = assembly.next_if(|block| block.begin < place.line) {
                found.push(self.assembly(block, Some(place), &places));
            }
            let is_foreign = |name| !index.defines(name) && scopes.find(name).is_none();
            let modifiers = body.modifiers_in(instruction.modifiers);
            for (evidence, what) in uses::evidence_of(instruction, modifiers, &hints, is_foreign) {
                found.push(self.found(evidence, what, place, &places));
            }
            while let Some(used) = globals.next_if(|used| used.statement == at) {
                let evidence = Evidence::DeviceGlobals;
                found.push(self.found(evidence, used.to_string(), place, &places));
            }
        }
        found.extend(assembly.map(|block| self.assembly(block, None, &places)));
        Ok(())
    }

    /// A table of functions may name those of the driver.
    fn table(&self, variable: &Declaration<'t>, found: &mut Vec<Found>) {
        let places = SourceLocations::new(&self.module.index, variable.name);
        for initial in &variable.initial {
            let InitialValue::Symbol { name, .. } = initial.value else { continue };
            let foreign = uses::by_function(name).filter(|_| !self.module.index.defines(name));
            if let Some(evidence) = foreign {
                let what = format!("takes the address of `{name}`");
                found.push(self.found(evidence, what, initial.place, &places));
            }
        }
    }

    fn found(
        &self,
        evidence: Evidence,
        what: String,
        place: PtxLocation,
        places: &SourceLocations<'_, 't>,
    ) -> Found {
        let source = places.source();
        Found {
            evidence,
            what,
            instruction: self.module.text.statement(place),
            ptx_line: place.line,
            origin: self.provenance.origin(evidence, &source),
            source,
            entry: self.entry.to_owned(),
        }
    }

    /// An assembly statement, with the instruction that follows its beginning.
    fn assembly(
        &self,
        block: Assembly,
        next: Option<PtxLocation>,
        places: &SourceLocations<'_, 't>,
    ) -> Found {
        let what = "has inline assembly".to_owned();
        match next.filter(|next| next.line < block.end) {
            Some(place) => self.found(Evidence::InlineAssembly, what, place, places),
            None => {
                let place = PtxLocation { line: block.begin, column: 1 };
                let found = self.found(Evidence::InlineAssembly, what, place, places);
                Found { instruction: String::new(), ..found }
            }
        }
    }
}
