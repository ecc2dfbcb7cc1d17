//! One kernel file made of two: the first for sizes that meet a condition on the axes, the second for all others.

use std::collections::BTreeSet;

use lightbench_project::launch::{LaunchStep, MAX_COMBINATIONS, Step};
use lightbench_project::{Kernel, Launch, Project};

use super::edit::Edit;
use super::kernel_source::KernelSource;
use super::launch_block::{parameter_entry, quoted};
use super::refusal::{Missing, NotApplicable};
use super::syntax::squeezed;

/// The text of a kernel that is `first` where `condition` holds and `second` otherwise. A parameter selects the code, and
/// each workload permits one of its values only.
///
/// # Errors
/// What the launch blocks do not have in common, or a kernel that is not CUDA C++.
pub fn by_shape(
    project: &Project,
    first: &Kernel,
    second: &Kernel,
    condition: &str,
) -> Result<String, NotApplicable> {
    let (first, second) =
        (KernelSource::parse(project, first)?, KernelSource::parse(project, second)?);
    let joined = Joined { shape: shape(&first, &second), first, second };
    joined
        .text(condition)
        .map_err(|missing| NotApplicable::Places(vec![super::Refusal { line: 1, missing }]))
}

/// A name that neither file has.
fn shape(first: &KernelSource<'_>, second: &KernelSource<'_>) -> String {
    let mut name = first.fresh("SHAPE");
    while second.fresh(&name) != name {
        name = second.fresh(&name);
        name = first.fresh(&name);
    }
    name
}

/// Fields of the launch block that both files must have in common.
const SHARED_FIELDS: [&str; 8] = [
    "scratch",
    "libraries",
    "arch",
    "tensor_maps",
    "structs",
    "textures",
    "surfaces",
    "constant_memory",
];

/// Parameters of the joined launch block.
struct Parameters {
    lists: Vec<(String, Vec<i64>)>,
    conditions: Vec<String>,
}

struct Joined<'a> {
    first: KernelSource<'a>,
    second: KernelSource<'a>,
    /// The parameter that selects the code: 0 for the first file.
    shape: String,
}

impl Joined<'_> {
    fn text(&self, condition: &str) -> Result<String, Missing> {
        let Self { first, second, shape } = self;
        let parameters = self.parameters()?;
        let mut require = vec![
            format!("{shape} == 1 or {condition}"),
            format!("{shape} == 0 or not ({condition})"),
        ];
        for (launch, other) in [(first.launch, 1), (second.launch, 0)] {
            let conditions = launch.require.iter();
            require
                .extend(conditions.map(|each| format!("{shape} == {other} or ({})", each.text())));
        }
        require.extend(parameters.conditions);
        let lists = parameters.lists.iter().map(|(name, values)| parameter_entry(name, values));
        let mut fields = vec![
            format!("title: {}", self.written("title").unwrap_or("\"\"")),
            format!("params: {{ {} }}", lists.collect::<Vec<_>>().join(", ")),
            format!("require: [{}]", all_quoted(require.iter().map(String::as_str))),
        ];
        let constants: BTreeSet<&str> = first
            .launch
            .constants
            .iter()
            .chain(&second.launch.constants)
            .map(String::as_str)
            .collect();
        if !constants.is_empty() {
            fields.push(format!("constants: [{}]", all_quoted(constants.into_iter())));
        }
        for field in SHARED_FIELDS {
            fields.extend(self.written(field).map(|text| format!("{field}: {text}")));
        }
        fields.push(format!("steps: {}", self.steps()?));
        let flags = self.flags()?;
        if !flags.is_empty() {
            fields.push(format!("flags: [{}]", flags.join(", ")));
        }
        let fields: String = fields.iter().map(|field| format!("    {field},\n")).collect();
        let codes = [code(first), code(second)];
        let code = match &codes {
            [one, two] if one == two => one.clone(),
            [one, two] => format!("#if PARAM_{shape} == 0\n\n{one}\n\n#else\n\n{two}\n\n#endif"),
        };
        Ok(format!("/*@ lightbench(\n{fields}) @*/\n\n{code}\n"))
    }

    /// The text of a field in the first file.
    fn written(&self, field: &str) -> Option<&str> {
        written(&self.first, field)
    }

    /// All parameters, the selecting one first, and the conditions by which each file has its own values of them.
    fn parameters(&self) -> Result<Parameters, Missing> {
        let Self { first, second, shape } = self;
        let mut all = vec![(shape.clone(), vec![0, 1])];
        let mut conditions = Vec::new();
        let sides = [(first.launch, second.launch, 0), (second.launch, first.launch, 1)];
        for (own, other, number) in sides {
            for parameter in &own.parameters {
                let name = &parameter.name;
                let Some(same) = other.parameters.iter().find(|each| each.name == *name) else {
                    // The other file does not use it.
                    let value = parameter.values.first().copied().unwrap_or_default();
                    conditions.push(format!("{shape} == {number} or {name} == {value}"));
                    all.push((name.clone(), parameter.values.clone()));
                    continue;
                };
                if number == 0 {
                    let lists = [parameter.values.as_slice(), &same.values];
                    let (values, more) = self.merged(name, lists)?;
                    all.push((name.clone(), values));
                    conditions.extend(more);
                }
            }
        }
        let count = all.iter().map(|(_, values)| values.len()).try_fold(1, usize::checked_mul);
        if count.is_none_or(|count| count > MAX_COMBINATIONS) {
            return Err(Missing::Contains {
                what: format!("{} parameters", all.len()),
                why: "the launch block would have too many combinations of parameters",
            });
        }
        Ok(Parameters { lists: all, conditions })
    }

    /// One list of values for a parameter of both files. The order of values is that of preference: where the lists
    /// disagree, a file whose conditions do not mention the parameter keeps its first value only.
    fn merged(&self, name: &str, lists: [&[i64]; 2]) -> Result<(Vec<i64>, Vec<String>), Missing> {
        let Self { first, second, shape } = self;
        let kept = |list: &[i64], all: &[i64]| {
            all.iter().copied().filter(|value| list.contains(value)).collect::<Vec<_>>() == list
        };
        let together = |one: &[i64], two: &[i64]| {
            let more = two.iter().copied().filter(|value| !one.contains(value));
            one.iter().copied().chain(more).collect::<Vec<i64>>()
        };
        let is_free = |launch: &Launch| {
            !launch.require.iter().any(|condition| condition.names().contains(name))
        };
        let pinned = |list: &'_ [i64], is_free: bool| {
            if is_free { list.get(..1).unwrap_or_default().to_vec() } else { list.to_vec() }
        };
        let free = [is_free(first.launch), is_free(second.launch)];
        let [one, two] = lists;
        // Both lists in full, or one of them shortened to its first value.
        let choices = [
            (one.to_vec(), two.to_vec()),
            (pinned(one, free[0]), two.to_vec()),
            (one.to_vec(), pinned(two, free[1])),
        ];
        for (one, two) in choices {
            let orders = [together(&one, &two), together(&two, &one)];
            let Some(all) = orders.into_iter().find(|all| kept(&one, all) && kept(&two, all))
            else {
                continue;
            };
            let excluded = |list: &[i64], other: u8| {
                let others = all.iter().filter(|value| !list.contains(value));
                let each = others.map(|value| format!("{shape} == {other} or {name} != {value}"));
                each.collect::<Vec<_>>()
            };
            let conditions = [excluded(&one, 1), excluded(&two, 0)].concat();
            return Ok((all, conditions));
        }
        Err(Missing::Form {
            found: name.to_owned(),
            expected: "values of a parameter in the same order in both kernels",
        })
    }

    /// The steps of the first file, with sizes that depend on the selecting parameter where the files differ.
    fn steps(&self) -> Result<String, Missing> {
        let Self { first, second, .. } = self;
        for field in SHARED_FIELDS {
            let texts = [first, second].map(|source| written(source, field).map(squeezed));
            if texts[0] != texts[1] {
                let found = field.to_owned();
                return Err(Missing::Form { found, expected: "the same field in both kernels" });
            }
        }
        if !are_alike(&first.launch.steps, &second.launch.steps) {
            let found = "steps".to_owned();
            return Err(Missing::Form { found, expected: "the same steps in both kernels" });
        }
        let mut edits = Vec::new();
        for (one, two) in first.sites().iter().zip(second.sites()) {
            for (field, sizes) in [
                ("grid", [&one.step.grid, &two.step.grid]),
                ("block", [&one.step.block, &two.step.block]),
            ] {
                let [own, other] =
                    sizes.map(|sizes| sizes.iter().map(|size| size.text()).collect::<Vec<_>>());
                let count = own.len().max(other.len());
                let at = |sizes: &[&str], index: usize| {
                    sizes.get(index).copied().unwrap_or("1").to_owned()
                };
                let each = (0..count).map(|index| self.size(&at(&own, index), &at(&other, index)));
                let list = each.collect::<Vec<_>>();
                let list = format!("[{}]", all_quoted(list.iter().map(String::as_str)));
                edits.push(Edit::replace(one.at.field(field).span.clone(), list));
            }
            let shared = self.size(one.step.shared.text(), two.step.shared.text());
            if one.at.has_field("shared") {
                edits.push(first.new_size(one.at.field("shared"), &shared));
            } else if shared != one.step.shared.text() {
                let end = one.at.field("block").span.end;
                edits.push(Edit::insert(end, format!(", shared: {}", quoted(&shared))));
            }
        }
        let span = first.block.field("steps").span.clone();
        Ok(first.with_range(span, edits))
    }

    /// A size of the launch for the selected file.
    fn size(&self, first: &str, second: &str) -> String {
        let shape = &self.shape;
        if squeezed(first) == squeezed(second) {
            return first.to_owned();
        }
        format!("(1 - {shape}) * ({first}) + {shape} * ({second})")
    }

    /// The flags of both files.
    fn flags(&self) -> Result<Vec<&str>, Missing> {
        let mut all: Vec<&str> = Vec::new();
        for source in [&self.first, &self.second] {
            let list = source.block.field("flags");
            let items =
                (0..).map(|index| list.item(index)).take_while(|item| item.span != list.span);
            for item in items.filter(|_| source.block.has_field("flags")) {
                let text = source.source.get(item.span.clone()).unwrap_or_default();
                let kind = |flag: &str| flag.split('(').next().map(squeezed);
                match all.iter().find(|known| kind(known) == kind(text)) {
                    None => all.push(text),
                    Some(known) if squeezed(known) == squeezed(text) => {}
                    Some(_) => {
                        let found = text.to_owned();
                        return Err(Missing::Form {
                            found,
                            expected: "the same flag in both kernels",
                        });
                    }
                }
            }
        }
        Ok(all)
    }
}

fn written<'s>(source: &KernelSource<'s>, field: &str) -> Option<&'s str> {
    let span = source.block.field(field).span.clone();
    source.source.get(span).filter(|_| source.block.has_field(field))
}

fn all_quoted<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    texts.map(quoted).collect::<Vec<_>>().join(", ")
}

/// The file without its launch block.
fn code(source: &KernelSource<'_>) -> String {
    let span = &source.block.span;
    let (before, after) = (source.source.get(..span.start), source.source.get(span.end..));
    let before = before.and_then(|text| text.rsplit_once("/*")).map_or("", |(before, _)| before);
    let after = after.and_then(|text| text.split_once("*/")).map_or("", |(_, after)| after);
    format!("{before}{}", after.trim()).trim().to_owned()
}

/// Whether two lists have the same steps, except for the sizes of launches.
fn are_alike(first: &[Step], second: &[Step]) -> bool {
    first.len() == second.len()
        && first.iter().zip(second).all(|pair| match pair {
            (Step::Launch(one), Step::Launch(two)) => is_alike(one, two),
            (
                Step::Repeat { count, swap, steps },
                Step::Repeat { count: other, swap: other_swap, steps: other_steps },
            ) => count == other && swap == other_swap && are_alike(steps, other_steps),
            (fill @ Step::Fill { .. }, other @ Step::Fill { .. }) => fill == other,
            (Step::Launch(_) | Step::Repeat { .. } | Step::Fill { .. }, _) => false,
        })
}

fn is_alike(first: &LaunchStep, second: &LaunchStep) -> bool {
    let sizes = |step: &LaunchStep| {
        let all = step.grid.iter().chain(&step.block).chain([&step.shared]);
        all.map(|size| size.occupancy_of().len()).sum::<usize>()
    };
    first.kernel == second.kernel
        && first.arguments == second.arguments
        && first.cluster == second.cluster
        && first.cooperative == second.cooperative
        && first.carveout == second.carveout
        && first.programmatic == second.programmatic
        && first.triton == second.triton
        && sizes(first) + sizes(second) == 0
}
