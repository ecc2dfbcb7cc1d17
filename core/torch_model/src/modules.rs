//! Modules of `torch.nn`: their weights, and the shapes of their results.

use std::collections::BTreeMap;

use crate::arguments::{Arguments, Flag, dimension_of};
use crate::dimension::Dimension;
use crate::operations;
use crate::operations::convolution::{Convolution, Direction, HasBias, Padding};
use crate::operations::pooling::{self, AdaptivePool, Pool};
use crate::operations::products::linear;
use crate::operations::reductions::softmax;
use crate::operations::shapes::flattened;
use crate::trace::{Step, Trace, Work};
use crate::value::{Callable, Distribution, Origin, Tensor, Value};

/// A module.
#[derive(Clone, Debug)]
pub(crate) enum Module {
    Linear {
        from: Dimension,
        to: Dimension,
        bias: HasBias,
    },
    Convolution(Convolution),
    Norm {
        kind: Norm,
        affine: HasBias,
        bias: HasBias,
    },
    Embedding {
        count: Dimension,
        width: Dimension,
    },
    Pool(Pool),
    AdaptivePool(AdaptivePool),
    /// A function of one tensor with the arguments of the constructor.
    Function {
        name: &'static str,
    },
    Softmax {
        name: &'static str,
        dim: i128,
    },
    Flatten {
        first: i128,
        last: i128,
    },
    /// A loss, with the keywords of the constructor.
    Loss {
        name: &'static str,
        settings: Arguments,
    },
    /// Modules in order, with their names.
    Sequential(Vec<(String, Value)>),
    /// Modules that the model calls itself.
    List(Vec<(String, Value)>),
    Identity,
}

/// A normalisation.
#[derive(Clone, Debug)]
pub(crate) enum Norm {
    /// Over everything but the channels.
    Batch { channels: Dimension },
    /// Over the last dimensions.
    Layer { shape: Vec<Dimension> },
    /// Over groups of channels.
    Group { groups: i128, channels: Dimension },
    /// Over each channel.
    Instance { channels: Dimension },
}

/// Modules that apply a function to each element.
const FUNCTIONS: &[(&str, &str)] = &[
    ("ReLU", "relu"),
    ("ReLU6", "relu6"),
    ("LeakyReLU", "leaky_relu"),
    ("GELU", "gelu"),
    ("SiLU", "silu"),
    ("Mish", "mish"),
    ("ELU", "elu"),
    ("SELU", "selu"),
    ("CELU", "celu"),
    ("Tanh", "tanh"),
    ("Sigmoid", "sigmoid"),
    ("Softplus", "softplus"),
    ("Softsign", "softsign"),
    ("Hardtanh", "hardtanh"),
    ("Hardswish", "hardswish"),
    ("Hardsigmoid", "hardsigmoid"),
    ("LogSigmoid", "logsigmoid"),
    ("Threshold", "threshold"),
    ("Tanhshrink", "tanhshrink"),
];

/// Losses and the functions that they call.
const LOSSES: &[(&str, &str)] = &[
    ("MSELoss", "mse_loss"),
    ("L1Loss", "l1_loss"),
    ("SmoothL1Loss", "smooth_l1_loss"),
    ("HuberLoss", "huber_loss"),
    ("KLDivLoss", "kl_div"),
    ("CrossEntropyLoss", "cross_entropy"),
    ("BCELoss", "binary_cross_entropy"),
    ("BCEWithLogitsLoss", "binary_cross_entropy_with_logits"),
    ("TripletMarginLoss", "triplet_margin_loss"),
    ("CosineSimilarity", "cosine_similarity"),
];

/// Makes a module of `torch.nn`; none for an unknown name.
pub(crate) fn construct(
    trace: &mut Trace,
    name: &str,
    arguments: &Arguments,
) -> Step<Option<Module>> {
    let named = |table: &'static [(&str, &'static str)]| {
        table.iter().find(|(module, _)| *module == name).map(|(_, function)| *function)
    };
    if let Some(name) = named(FUNCTIONS) {
        return Ok(Some(Module::Function { name }));
    }
    if let Some(name) = named(LOSSES) {
        return Ok(Some(Module::Loss { name, settings: arguments.clone() }));
    }
    if let Some((kind, rank)) = pooling::named(name) {
        return Ok(Some(match name.starts_with("Adaptive") {
            true => Module::AdaptivePool(pooling::adaptive_pool(trace, kind, rank, arguments)?),
            false => Module::Pool(pooling::pool(trace, kind, rank, arguments)?),
        }));
    }
    if let Some((direction, rank)) = convolution_named(name) {
        return Ok(Some(Module::Convolution(convolution(trace, direction, rank, arguments)?)));
    }
    Ok(Some(match name {
        "Linear" => Module::Linear {
            from: arguments.required(trace, 0, "in_features")?,
            to: arguments.required(trace, 1, "out_features")?,
            bias: has(arguments.flag(trace, (2, "bias"), Flag::Set)?),
        },
        "Embedding" => Module::Embedding {
            count: arguments.required(trace, 0, "num_embeddings")?,
            width: arguments.required(trace, 1, "embedding_dim")?,
        },
        "BatchNorm1d" | "BatchNorm2d" | "BatchNorm3d" => batch_norm(trace, arguments)?,
        "InstanceNorm1d" | "InstanceNorm2d" | "InstanceNorm3d" => instance_norm(trace, arguments)?,
        "GroupNorm" => group_norm(trace, arguments)?,
        "LayerNorm" => layer_norm(trace, arguments)?,
        "Softmax" | "LogSoftmax" => {
            let name = if name == "Softmax" { "softmax" } else { "log_softmax" };
            match arguments.fixed(trace, 0, "dim")? {
                Some(dim) => Module::Softmax { name, dim },
                None => return trace.refuse(format!("`{name}` without a dimension")),
            }
        }
        "Flatten" => Module::Flatten {
            first: arguments.fixed(trace, 0, "start_dim")?.unwrap_or(1),
            last: arguments.fixed(trace, 1, "end_dim")?.unwrap_or(-1),
        },
        "Dropout" | "Dropout1d" | "Dropout2d" | "Dropout3d" | "AlphaDropout" => {
            return trace.refuse(format!(
                "`nn.{name}` draws random numbers in training mode, in which the task runs; expected a function of the \
                 inputs"
            ));
        }
        "Identity" => Module::Identity,
        "Sequential" => Module::Sequential(numbered(&arguments.positional)),
        "ModuleList" => match arguments.get(0, "modules") {
            Some(Value::Sequence(all)) => Module::List(numbered(all)),
            Some(_) | None => Module::List(Vec::new()),
        },
        _ => return Ok(None),
    }))
}

fn numbered(modules: &[Value]) -> Vec<(String, Value)> {
    modules.iter().enumerate().map(|(index, each)| (index.to_string(), each.clone())).collect()
}

const fn has(flag: Flag) -> HasBias {
    match flag {
        Flag::Set => HasBias::Yes,
        Flag::Clear => HasBias::No,
    }
}

fn convolution_named(name: &str) -> Option<(Direction, usize)> {
    Some(match name {
        "Conv1d" => (Direction::Forward, 1),
        "Conv2d" => (Direction::Forward, 2),
        "Conv3d" => (Direction::Forward, 3),
        "ConvTranspose1d" => (Direction::Transposed, 1),
        "ConvTranspose2d" => (Direction::Transposed, 2),
        "ConvTranspose3d" => (Direction::Transposed, 3),
        _ => return None,
    })
}

fn convolution(
    trace: &mut Trace,
    transposed: Direction,
    rank: usize,
    arguments: &Arguments,
) -> Step<Convolution> {
    let from = arguments.required(trace, 0, "in_channels")?;
    let to = arguments.required(trace, 1, "out_channels")?;
    let Some(kernel) = arguments.fixed_each(trace, (2, "kernel_size"), rank)? else {
        return trace.refuse("a convolution without `kernel_size`");
    };
    // The transposed one has `output_padding` before `groups`.
    let (output_padding, groups, bias, dilation) = match transposed {
        Direction::Forward => (None, 6, 7, 5),
        Direction::Transposed => {
            (arguments.fixed_each(trace, (5, "output_padding"), rank)?, 6, 7, 8)
        }
    };
    let padding = match arguments.text(4, "padding") {
        Some("same") => Padding::Same,
        Some("valid") => Padding::Each(vec![0; rank]),
        Some(other) => return trace.refuse(format!("the padding `{other}`")),
        None => {
            let each = arguments.fixed_each(trace, (4, "padding"), rank)?;
            Padding::Each(each.unwrap_or_else(|| vec![0; rank]))
        }
    };
    if arguments.text(8, "padding_mode").is_some_and(|mode| mode != "zeros") {
        return trace.refuse("a convolution with a `padding_mode`");
    }
    let groups = arguments.size(trace, groups, "groups")?.unwrap_or_else(|| Dimension::from(1));
    let layer = Convolution {
        transposed,
        from_per_group: per_group(trace, &from, &groups)?,
        to_per_group: per_group(trace, &to, &groups)?,
        from,
        to,
        stride: arguments.fixed_each(trace, (3, "stride"), rank)?.unwrap_or_else(|| vec![1; rank]),
        dilation: arguments
            .fixed_each(trace, (dilation, "dilation"), rank)?
            .unwrap_or_else(|| vec![1; rank]),
        output_padding: output_padding.unwrap_or_else(|| vec![0; rank]),
        padding,
        bias: has(arguments.flag(trace, (bias, "bias"), Flag::Set)?),
        kernel,
    };
    let settings = layer.kernel.iter().chain(&layer.stride).chain(&layer.dilation);
    match settings.clone().all(|value| (1..=1 << 16).contains(value)) {
        true => Ok(layer),
        false => trace
            .refuse("a convolution whose window, stride or dilation is less than 1 or very large"),
    }
}

/// Channels of one group. Depthwise convolutions have as many groups as channels, whatever those are.
fn per_group(trace: &mut Trace, channels: &Dimension, groups: &Dimension) -> Step<Dimension> {
    match channels.divide_exactly(groups) {
        Some(quotient) => Ok(quotient),
        None => {
            let groups = trace.fixed(groups)?;
            trace.divided(channels, groups, "the groups of a convolution")
        }
    }
}

fn batch_norm(trace: &mut Trace, arguments: &Arguments) -> Step<Module> {
    let channels = arguments.required(trace, 0, "num_features")?;
    let affine = has(arguments.flag(trace, (3, "affine"), Flag::Set)?);
    trace.note(
        "batch normalisation runs in training mode, as the task does: it uses the mean and variance of the batch, and \
         the running statistics are no results",
    );
    Ok(Module::Norm { kind: Norm::Batch { channels }, affine, bias: affine })
}

fn instance_norm(trace: &mut Trace, arguments: &Arguments) -> Step<Module> {
    let channels = arguments.required(trace, 0, "num_features")?;
    let affine = has(arguments.flag(trace, (3, "affine"), Flag::Clear)?);
    Ok(Module::Norm { kind: Norm::Instance { channels }, affine, bias: affine })
}

fn group_norm(trace: &mut Trace, arguments: &Arguments) -> Step<Module> {
    let Some(groups) = arguments.fixed(trace, 0, "num_groups")? else {
        return trace.refuse("`GroupNorm` without `num_groups`");
    };
    let channels = arguments.required(trace, 1, "num_channels")?;
    trace.divided(&channels, groups, "the groups of `GroupNorm`")?;
    let affine = has(arguments.flag(trace, (3, "affine"), Flag::Set)?);
    Ok(Module::Norm { kind: Norm::Group { groups, channels }, affine, bias: affine })
}

fn layer_norm(trace: &mut Trace, arguments: &Arguments) -> Step<Module> {
    let shape = match arguments.get(0, "normalized_shape") {
        Some(Value::Sequence(_)) => {
            let shape = arguments.sizes_from(trace, 0, "normalized_shape")?;
            if shape.is_empty() {
                return trace.refuse("`LayerNorm` over no dimensions");
            }
            shape
        }
        _ => vec![arguments.required(trace, 0, "normalized_shape")?],
    };
    let affine = has(arguments.flag(trace, (2, "elementwise_affine"), Flag::Set)?);
    let bias = has(arguments.flag(trace, (3, "bias"), Flag::Set)?);
    Ok(Module::Norm { kind: Norm::Layer { shape }, affine, bias })
}

impl Callable for Module {
    fn parameters(&self, trace: &Trace) -> Step<Vec<(String, Tensor)>> {
        let weight = |shape: Vec<Dimension>, distribution| Tensor {
            distribution,
            origin: Origin::Parameter,
            ..Tensor::float(shape)
        };
        let mut found = Vec::new();
        let mut add = |name: &str, tensor: Tensor| found.push((name.to_owned(), tensor));
        match self {
            Self::Linear { from, to, bias } => {
                let fan = || Distribution::Weight(from.clone());
                add("weight", weight(vec![to.clone(), from.clone()], fan()));
                if *bias == HasBias::Yes {
                    add("bias", weight(vec![to.clone()], fan()));
                }
            }
            Self::Convolution(layer) => {
                let fan = layer.products(trace)?;
                add("weight", weight(layer.weight(), Distribution::Weight(fan.clone())));
                if layer.bias == HasBias::Yes {
                    add("bias", weight(vec![layer.to.clone()], Distribution::Weight(fan)));
                }
            }
            Self::Norm { kind, affine, bias } => {
                let shape = match kind {
                    Norm::Batch { channels }
                    | Norm::Group { channels, .. }
                    | Norm::Instance { channels } => vec![channels.clone()],
                    Norm::Layer { shape } => shape.clone(),
                };
                if *affine == HasBias::Yes {
                    add("weight", weight(shape.clone(), Distribution::Uniform(0.5, 1.5)));
                    if *bias == HasBias::Yes {
                        add("bias", weight(shape, Distribution::Uniform(-0.5, 0.5)));
                    }
                }
            }
            Self::Embedding { count, width } => {
                let shape = vec![count.clone(), width.clone()];
                add("weight", weight(shape, Distribution::Normal(0.0, 1.0)));
            }
            Self::Sequential(modules) | Self::List(modules) => {
                for (name, value) in modules {
                    if let Value::Module(module) = value {
                        for (inner, tensor) in module.parameters(trace)? {
                            add(&format!("{name}.{inner}"), tensor);
                        }
                    }
                }
            }
            Self::Pool(_)
            | Self::AdaptivePool(_)
            | Self::Function { .. }
            | Self::Softmax { .. }
            | Self::Flatten { .. }
            | Self::Loss { .. }
            | Self::Identity => {}
        }
        Ok(found)
    }

    fn call(
        &self,
        trace: &mut Trace,
        positional: Vec<Value>,
        named: BTreeMap<String, Value>,
    ) -> Step<Value> {
        self.apply(trace, &Arguments { positional, named })
    }

    fn elements(&self) -> Option<Vec<Value>> {
        let (Self::List(all) | Self::Sequential(all)) = self else { return None };
        Some(all.iter().map(|(_, module)| module.clone()).collect())
    }
}

impl Module {
    fn apply(&self, trace: &mut Trace, arguments: &Arguments) -> Step<Value> {
        if let Self::Loss { name, settings } = self {
            let mut all = arguments.clone();
            all.named.extend(settings.named.clone());
            return operations::call(trace, name, &all);
        }
        let input = arguments.first_tensor(trace)?.clone();
        match self {
            Self::Linear { from, to, bias } => linear(trace, &input, (from, to), bias.added()),
            Self::Convolution(layer) => layer.apply(trace, &input),
            Self::Norm { kind, affine, .. } => kind.apply(trace, &input, *affine),
            Self::Embedding { width, .. } => {
                let shape = input.shape.iter().chain([width]).cloned().collect();
                Ok(Value::Tensor(Tensor::float(shape)))
            }
            Self::Pool(pool) => pool.apply(trace, &input),
            Self::AdaptivePool(pool) => pool.apply(trace, &input),
            Self::Function { name } => operations::call(trace, name, arguments),
            Self::Softmax { name, dim } => {
                let dim = dimension_of(trace, *dim, input.shape.len())?;
                softmax(trace, name, &input, dim)
            }
            Self::Flatten { first, last } => {
                let shape = flattened(trace, &input.shape, *first, *last)?;
                Ok(Value::Tensor(input.reshaped(shape)))
            }
            Self::Sequential(modules) => {
                let mut value = Value::Tensor(input);
                for (_, module) in modules {
                    let Value::Module(module) = module else {
                        return trace.refuse("`nn.Sequential` of anything but modules");
                    };
                    value = module.call(trace, vec![value], BTreeMap::new())?;
                }
                Ok(value)
            }
            Self::List(_) => trace.refuse("a call of `nn.ModuleList`"),
            Self::Identity => Ok(Value::Tensor(input)),
            Self::Loss { .. } => trace.refuse("a loss without its tensors"),
        }
    }
}

impl Norm {
    fn apply(&self, trace: &mut Trace, input: &Tensor, affine: HasBias) -> Step<Value> {
        let shape = &input.shape;
        let rank = shape.len();
        let over = match self {
            Self::Layer { shape: wanted } => {
                let Some(first) = rank.checked_sub(wanted.len()) else {
                    return trace.refuse("`LayerNorm` over more dimensions than the tensor has");
                };
                for (found, wanted) in shape[first..].iter().zip(wanted) {
                    trace.same(found, wanted, "the shape of `LayerNorm`")?;
                }
                trace.product(wanted)?
            }
            Self::Batch { channels } => {
                let others = self.others(trace, shape, channels)?;
                trace.product(&others)?
            }
            Self::Group { groups, channels } => {
                let others = self.others(trace, shape, channels)?;
                let spatial = trace.product(others.get(1..).unwrap_or_default())?;
                let size = trace.divided(channels, *groups, "the groups of `GroupNorm`")?;
                trace.times(&size, &spatial)?
            }
            Self::Instance { channels } => {
                // PyTorch compares the channels only with those of the weights.
                let found = shape.get(1).unwrap_or(channels).clone();
                let compared = if affine == HasBias::Yes { channels } else { &found };
                let others = self.others(trace, shape, compared)?;
                trace.product(others.get(1..).unwrap_or_default())?
            }
        };
        // Of a single element the variance is 0, and PyTorch refuses it where it would always be so.
        let more = trace.minus(&over, &Dimension::from(1))?;
        trace.positive(&more, "the number of further elements in one normalisation")?;
        trace.sum_of(&over);
        let each = if affine == HasBias::Yes { 7 } else { 5 };
        trace.count_each(Work::Arithmetic, each, shape)?;
        Ok(Value::Tensor(Tensor::float(shape.clone())))
    }

    /// All dimensions but that of the channels.
    fn others(
        &self,
        trace: &Trace,
        shape: &[Dimension],
        channels: &Dimension,
    ) -> Step<Vec<Dimension>> {
        let least = match self {
            Self::Instance { .. } => 3,
            Self::Batch { .. } | Self::Group { .. } | Self::Layer { .. } => 2,
        };
        if shape.len() < least {
            return trace
                .refuse(format!("a normalisation of a tensor with {} dimensions", shape.len()));
        }
        trace.same(&shape[1], channels, "the channels of a normalisation")?;
        let mut others = shape.to_vec();
        others.remove(1);
        Ok(others)
    }
}
