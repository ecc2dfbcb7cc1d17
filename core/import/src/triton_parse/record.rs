//! The lines of a log: compilations with their PTX, and launches with the shapes of their arguments.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lightbench_primitives::dtype::Dtype;

use crate::error::ImportError;
use crate::input::InputFile;
use crate::json::Json;
use crate::python::torch_dtype;

/// One compilation of a kernel, and its launches.
#[derive(Debug)]
pub(super) struct Compilation {
    /// The line of the log, from 1.
    pub(super) line: usize,
    /// The name of the kernel.
    pub(super) name: String,
    /// Triton's hash of source, target and options.
    pub(super) hash: String,
    pub(super) ptx: String,
    /// The text of the function with its decorators.
    pub(super) python: String,
    pub(super) num_warps: i128,
    /// Dynamic shared memory of a block, in bytes.
    pub(super) shared: i128,
    /// Global scratch memory of a block, in bytes.
    pub(super) scratch: i128,
    /// Arguments that are constants of the code, by their positions.
    pub(super) constants: BTreeSet<usize>,
    /// Arguments that the code takes to be divisible by 16.
    pub(super) divisible: BTreeSet<usize>,
    /// What a launch block cannot express, if the launch needs it.
    pub(super) obstacle: Option<String>,
    pub(super) launches: Vec<Launch>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Launch {
    pub(super) grid: [i128; 3],
    /// In the order of the kernel's parameters.
    pub(super) arguments: Vec<(String, Argument)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Argument {
    Tensor {
        dtype: Dtype,
        shape: Vec<i128>,
        strides: Vec<i128>,
    },
    Integer(i128),
    Real(f64),
    Boolean(bool),
    None,
    Text(String),
    /// By the name of its Python type.
    Other(String),
}

/// Whether a line is an event of TritonParse.
pub(crate) fn is_event(line: &Json) -> bool {
    ["event_type", "pid"].iter().all(|key| line.get(key).is_some())
}

/// The compilations of a log in the order of their first lines, with their launches.
pub(super) fn compilations(file: &InputFile) -> Result<Vec<Compilation>, ImportError> {
    let mut found: BTreeMap<String, Compilation> = BTreeMap::new();
    let mut launches: BTreeMap<String, Vec<Launch>> = BTreeMap::new();
    let lines = file.text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    for (index, text) in lines {
        let event = Json::read_line(&file.path, index, text)?;
        let at = Line { file: &file.path, number: index + 1 };
        match event.get("event_type").and_then(Json::text) {
            Some("compilation") => {
                let one = at.compilation(&event)?;
                found.entry(one.hash.clone()).or_insert(one);
            }
            Some("launch") => {
                let (hash, launch) = at.launch(&event)?;
                if let Some(launch) = launch {
                    launches.entry(hash).or_default().push(launch);
                }
            }
            // Summaries of launches and of the intermediate code.
            Some(_) | None => {}
        }
    }
    for (hash, own) in launches {
        if let Some(compilation) = found.get_mut(&hash) {
            compilation.launches = own;
        }
    }
    let mut all: Vec<Compilation> = found.into_values().collect();
    all.sort_by_key(|compilation| compilation.line);
    Ok(all)
}

/// A line of the log, for errors.
struct Line<'a> {
    file: &'a Path,
    number: usize,
}

impl Line<'_> {
    fn error(&self, place: &str, found: impl Into<String>, expected: &str) -> ImportError {
        ImportError::new(self.file, format!("line {}, {place}", self.number), found, expected)
    }

    fn wrong(&self, place: &str, found: Option<&Json>, expected: &str) -> ImportError {
        let found = found.map_or_else(|| "nothing".to_owned(), Json::described);
        self.error(place, found, expected)
    }

    fn text(&self, value: Option<&Json>, place: &str) -> Result<String, ImportError> {
        let text = value.and_then(Json::text);
        text.map(str::to_owned).ok_or_else(|| self.wrong(place, value, "a text"))
    }

    /// A number of the metadata; older versions of Triton lack some.
    fn count(&self, metadata: &Json, key: &str, absent: i128) -> Result<i128, ImportError> {
        match metadata.get(key) {
            None | Some(Json::Null) => Ok(absent),
            value => value
                .and_then(Json::integer)
                .filter(|count| (0..=1 << 31).contains(count))
                .ok_or_else(|| {
                    self.wrong(&format!("metadata.{key}"), value, "a number of at least 0")
                }),
        }
    }

    fn compilation(&self, event: &Json) -> Result<Compilation, ImportError> {
        let nothing = Json::Null;
        let payload = event.get("payload").unwrap_or(&nothing);
        let metadata = payload.get("metadata").unwrap_or(&nothing);
        let name = self.text(metadata.get("name"), "payload.metadata.name")?;
        let files = payload.get("file_content").map(Json::entries).unwrap_or_default();
        let ptx = files.iter().find(|(file, _)| file.ends_with(".ptx")).map(|(_, text)| text);
        let ptx = self.text(ptx, &format!("payload.file_content[\"{name}.ptx\"]"))?;
        let python = payload.get("python_source").and_then(|source| source.get("code"));
        Ok(Compilation {
            line: self.number,
            hash: self.text(metadata.get("hash"), "payload.metadata.hash")?,
            ptx,
            python: self.text(python, "payload.python_source.code")?,
            num_warps: self.count(metadata, "num_warps", 4)?,
            shared: self.count(metadata, "shared", 0)?,
            scratch: self.count(metadata, "global_scratch_size", 0)?,
            constants: self.positions(metadata, "src_constants", |_| true)?,
            divisible: self.positions(metadata, "src_attrs", |attributes| {
                let all = attributes.list().unwrap_or_default().iter();
                all.filter_map(Json::list).any(|pair| {
                    pair.first().and_then(Json::text) == Some("tt.divisibility")
                        && pair.get(1).and_then(Json::integer) == Some(16)
                })
            })?,
            obstacle: obstacle(metadata),
            launches: Vec::new(),
            name,
        })
    }

    /// The positions of arguments, which the metadata writes as `"(7,)"`.
    fn positions(
        &self,
        metadata: &Json,
        key: &str,
        is_wanted: impl Fn(&Json) -> bool,
    ) -> Result<BTreeSet<usize>, ImportError> {
        let entries = metadata.get(key).map(Json::entries).unwrap_or_default();
        let wanted = entries.iter().filter(|(_, value)| is_wanted(value));
        wanted
            .map(|(position, _)| {
                let digits = position.trim_start_matches('(').trim_end_matches([')', ',']);
                digits.parse().map_err(|_not_one_number| {
                    let place = format!("payload.metadata.{key}");
                    self.error(&place, format!("the key `{position}`"), "one position: `(7,)`")
                })
            })
            .collect()
    }

    /// The hash of the compilation, and the launch, unless its arguments were not recorded.
    fn launch(&self, event: &Json) -> Result<(String, Option<Launch>), ImportError> {
        let metadata = event.get("compilation_metadata");
        let hash = metadata.and_then(|metadata| metadata.get("hash"));
        let hash = self.text(hash, "compilation_metadata.hash")?;
        let arguments = event.get("extracted_args").map(Json::entries).unwrap_or_default();
        if arguments.is_empty() {
            return Ok((hash, None));
        }
        let written = event.get("grid");
        let extents = written.and_then(Json::list).unwrap_or_default().iter();
        let extents: Option<Vec<i128>> =
            extents.map(|extent| extent.integer().filter(|extent| *extent >= 1)).collect();
        let grid = match extents.as_deref() {
            Some([x]) => [*x, 1, 1],
            Some([x, y]) => [*x, *y, 1],
            Some([x, y, z]) => [*x, *y, *z],
            Some(_) | None => return Err(self.wrong("grid", written, "one to three extents")),
        };
        let arguments =
            arguments.iter().map(|(name, value)| Ok((name.clone(), self.argument(name, value)?)));
        Ok((hash, Some(Launch { grid, arguments: arguments.collect::<Result<_, ImportError>>()? })))
    }

    fn argument(&self, name: &str, value: &Json) -> Result<Argument, ImportError> {
        let place = |key: &str| format!("extracted_args.{name}.{key}");
        let kind = self.text(value.get("type"), &place("type"))?;
        let own = value.get("value");
        Ok(match (kind.as_str(), own) {
            ("tensor", _) => {
                let sizes = |key: &str| -> Result<Vec<i128>, ImportError> {
                    let list = value.get(key);
                    let all = list.and_then(Json::list).map(|list| {
                        list.iter().map(|size| size.integer().filter(|size| *size >= 0)).collect()
                    });
                    all.flatten().ok_or_else(|| self.wrong(&place(key), list, "a list of sizes"))
                };
                let written = self.text(value.get("dtype"), &place("dtype"))?;
                let dtype = written.strip_prefix("torch.").and_then(torch_dtype);
                let dtype = dtype.ok_or_else(|| {
                    self.error(&place("dtype"), format!("`{written}`"), "a dtype of projects")
                })?;
                let (shape, strides) = (sizes("shape")?, sizes("stride")?);
                if shape.len() != strides.len() {
                    return Err(self.wrong(
                        &place("stride"),
                        value.get("stride"),
                        "one stride for each size",
                    ));
                }
                Argument::Tensor { dtype, shape, strides }
            }
            ("int", Some(Json::Integer(value))) => Argument::Integer(*value),
            ("float", Some(Json::Real(value))) => Argument::Real(*value),
            #[expect(clippy::cast_precision_loss, reason = "a float that is written as an integer")]
            ("float", Some(Json::Integer(value))) => Argument::Real(*value as f64),
            ("bool", Some(Json::Boolean(value))) => Argument::Boolean(*value),
            ("str", Some(Json::Text(value))) => Argument::Text(value.clone()),
            ("NoneType", _) => Argument::None,
            (other, _) => Argument::Other(other.to_owned()),
        })
    }
}

/// What the metadata asks of a launch beyond blocks and shared memory.
fn obstacle(metadata: &Json) -> Option<String> {
    let is_set = |key: &str| metadata.get(key) == Some(&Json::Boolean(true));
    let clusters = metadata.get("cluster_dims").and_then(Json::list).unwrap_or_default();
    let has_clusters = clusters.iter().any(|extent| extent.integer() != Some(1))
        || metadata.get("num_ctas").and_then(Json::integer).is_some_and(|count| count > 1);
    let descriptors = metadata.get("tensordesc_meta").and_then(Json::list).unwrap_or_default();
    if is_set("launch_cooperative_grid") {
        Some("it needs a cooperative launch".to_owned())
    } else if has_clusters {
        Some("its blocks form clusters".to_owned())
    } else if !descriptors.is_empty() {
        Some("the host passes it tensor descriptors".to_owned())
    } else {
        None
    }
}
