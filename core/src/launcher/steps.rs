//! The steps of a launch block as C++ statements.

use lightbench_primitives::element::pattern;

use super::NoLauncher;
use super::names::{Names, value_type};
use crate::project::argument::{ValueArgument, ValueSource};
use crate::project::expression::Expression;
use crate::project::launch::{Argument, Buffer, LaunchStep, Step, StructArgument};

/// Statements, each at its depth.
pub(super) struct Statements<'a> {
    pub(super) names: &'a Names<'a>,
    pub(super) text: String,
    depth: usize,
}

impl<'a> Statements<'a> {
    pub(super) const fn new(names: &'a Names<'a>, depth: usize) -> Self {
        Self { names, text: String::new(), depth }
    }

    pub(super) fn line(&mut self, line: &str) {
        self.text.push_str(&"    ".repeat(self.depth));
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Ends the function where something failed.
    fn attempt(&mut self, call: &str) {
        self.line(&format!("status = {call};"));
        self.line("if (status != cudaSuccess) return status;");
    }

    pub(super) fn steps(&mut self, steps: &[Step]) -> Result<(), NoLauncher> {
        for step in steps {
            match step {
                Step::Launch(launch) => self.launch(launch)?,
                Step::Fill { buffer, value } => {
                    let dtype = self.names.dtype(*buffer);
                    let bytes = dtype.map_or_else(Vec::new, |dtype| pattern(dtype, *value));
                    self.fill(*buffer, &bytes);
                }
                Step::Repeat { count, swap, steps } => self.repeat(count, swap, steps)?,
            }
        }
        Ok(())
    }

    /// Sets a buffer to the same bytes again and again.
    pub(super) fn fill(&mut self, buffer: Buffer, bytes: &[u8]) {
        let word = bytes.iter().rev().fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
        let (address, place) = (self.names.address(buffer), self.names.place(buffer));
        let word_type = match bytes.len() {
            1 => "unsigned char",
            2 => "unsigned short",
            4 => "unsigned int",
            _ => "unsigned long long",
        };
        let size = format!("bytes[{place}]");
        self.attempt(&format!("lightbench::fill<{word_type}>({address}, {word}u, {size}, stream)"));
    }

    fn repeat(
        &mut self,
        count: &Expression,
        swap: &[(Buffer, Buffer)],
        steps: &[Step],
    ) -> Result<(), NoLauncher> {
        let count = self.formula(count)?;
        let turn = format!("turn_{}", self.depth);
        self.line(&format!("for (long long {turn} = {count}; {turn} > 0; --{turn}) {{"));
        self.depth += 1;
        self.steps(steps)?;
        for (left, right) in swap {
            let (left, right) = (self.names.address(*left), self.names.address(*right));
            self.line(&format!("std::swap({left}, {right});"));
        }
        self.depth -= 1;
        self.line("}");
        Ok(())
    }

    fn launch(&mut self, step: &LaunchStep) -> Result<(), NoLauncher> {
        self.line("{");
        self.depth += 1;
        let mut arguments = Vec::new();
        for (index, argument) in step.arguments.iter().enumerate() {
            arguments.push(self.argument(index, argument)?);
        }
        let kernel = self.names.kernel(step);
        self.line(&format!("const void *kernel = {kernel};"));
        self.line(&format!("void *arguments[] = {{{}}};", arguments.join(", ")));
        self.line("cudaLaunchConfig_t config = {};");
        for (field, sizes) in [("gridDim", &step.grid), ("blockDim", &step.block)] {
            let dimensions = self.dimensions(sizes)?;
            self.line(&format!("config.{field} = lightbench::dimensions({dimensions}, sound);"));
        }
        let shared = self.formula(&step.shared)?;
        self.line(&format!("config.dynamicSmemBytes = static_cast<size_t>({shared});"));
        self.line("config.stream = stream;");
        self.attributes(step)?;
        self.line("if (!sound) return cudaErrorInvalidValue;");
        if step.shared.as_integer() != Some(0) {
            self.attempt("lightbench::permit(kernel, (long long)config.dynamicSmemBytes)");
        }
        self.attempt("cudaLaunchKernelExC(&config, kernel, arguments)");
        self.depth -= 1;
        self.line("}");
        Ok(())
    }

    fn attributes(&mut self, step: &LaunchStep) -> Result<(), NoLauncher> {
        if let Some(carveout) = &step.carveout {
            let percent = self.formula(carveout)?;
            let which = "cudaFuncAttributePreferredSharedMemoryCarveout";
            self.attempt(&format!(
                "cudaFuncSetAttribute(kernel, {which}, static_cast<int>({percent}))"
            ));
        }
        let mut attributes = Vec::new();
        if let Some(cluster) = &step.cluster {
            let dimensions = self.dimensions(cluster)?;
            self.line(&format!(
                "const dim3 cluster = lightbench::dimensions({dimensions}, sound);"
            ));
            attributes.push((
                "cudaLaunchAttributeClusterDimension",
                "clusterDim = {cluster.x, cluster.y, cluster.z}",
            ));
            let which = "cudaFuncAttributeNonPortableClusterSizeAllowed";
            self.line("if (cluster.x * cluster.y * cluster.z > 8) {");
            self.depth += 1;
            self.attempt(&format!("cudaFuncSetAttribute(kernel, {which}, 1)"));
            self.depth -= 1;
            self.line("}");
        }
        if step.cooperative {
            attributes.push(("cudaLaunchAttributeCooperative", "cooperative = 1"));
        }
        if step.programmatic {
            attributes.push((
                "cudaLaunchAttributeProgrammaticStreamSerialization",
                "programmaticStreamSerializationAllowed = 1",
            ));
        }
        if attributes.is_empty() {
            return Ok(());
        }
        self.line(&format!("cudaLaunchAttribute attributes[{}] = {{}};", attributes.len()));
        for (index, (id, value)) in attributes.iter().enumerate() {
            self.line(&format!("attributes[{index}].id = {id};"));
            self.line(&format!("attributes[{index}].val.{value};"));
        }
        self.line("config.attrs = attributes;");
        self.line(&format!("config.numAttrs = {};", attributes.len()));
        Ok(())
    }

    /// Declares an argument where it needs a place, and gives its address.
    fn argument(&mut self, index: usize, argument: &Argument) -> Result<String, NoLauncher> {
        let local = format!("value_{index}");
        match argument {
            Argument::Buffer(buffer) => return Ok(format!("&{}", self.names.address(*buffer))),
            Argument::Value(value) => {
                let value_type = value_type(value.c_type);
                let value = self.value(value)?;
                self.line(&format!("{value_type} {local} = {value};"));
            }
            Argument::Struct(place) => {
                let Some(StructArgument { name, fields }) = self.names.launch.structs.get(*place)
                else {
                    return Err(NoLauncher::Outside(format!("struct {place}")));
                };
                // Fields may be formulas.
                let declared: String = fields
                    .iter()
                    .enumerate()
                    .map(|(at, field)| format!(" {} field_{at};", value_type(field.c_type)))
                    .collect();
                let values: Result<Vec<String>, NoLauncher> =
                    fields.iter().map(|field| self.value(field)).collect();
                let values = values?.join(", ");
                self.line(&format!("struct {{{declared} }} {local} = {{{values}}}; // {name}"));
            }
            // Only Triton kernels have such arguments.
            Argument::Integer(_) => return Err(NoLauncher::Triton),
            Argument::Null => self.line(&format!("void* {local} = nullptr;")),
            Argument::TensorMap(place) => self.tensor_map(&local, *place)?,
            Argument::Texture(place) => return Err(NoLauncher::Texture(place.to_string())),
            Argument::Outside(name) => return Err(NoLauncher::Outside(name.clone())),
        }
        Ok(format!("&{local}"))
    }

    fn value(&self, value: &ValueArgument) -> Result<String, NoLauncher> {
        let text = match &value.source {
            ValueSource::Scalar(name) => self.names.spelled(name),
            ValueSource::Formula(formula) => self.formula(formula)?,
        };
        Ok(format!("static_cast<{}>({text})", value_type(value.c_type)))
    }

    fn dimensions(&self, sizes: &[Expression]) -> Result<String, NoLauncher> {
        let mut texts = Vec::new();
        for size in sizes {
            texts.push(self.formula(size)?);
        }
        texts.resize(3, "1".to_owned());
        Ok(texts.join(", "))
    }

    pub(super) fn formula(&self, formula: &Expression) -> Result<String, NoLauncher> {
        formula.cpp(self.names).ok_or_else(|| NoLauncher::Formula(formula.text().to_owned()))
    }
}

/// Every launch of a block, nested ones too.
pub(super) fn launches(steps: &[Step]) -> Vec<&LaunchStep> {
    let mut all = Vec::new();
    for step in steps {
        match step {
            Step::Launch(launch) => all.push(launch),
            Step::Repeat { steps, .. } => all.extend(launches(steps)),
            Step::Fill { .. } => {}
        }
    }
    all
}
