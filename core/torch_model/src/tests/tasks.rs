//! Whole tasks: axes, inputs, weights, outputs, and what was refused.

use super::{shapes, task, text};
use crate::{Distribution, ElementType, Work};

const NO_INIT: &str = "    def __init__(self):\n        super().__init__()\n";

fn check(text: &str, axes: &str, expected: &str) {
    let found = task(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let names: Vec<_> = found.axes.iter().map(|(name, size)| format!("{name}={size}")).collect();
    assert_eq!(names.join(" "), axes, "{text}");
    assert_eq!(shapes(&found), expected, "{text}");
}

fn check_refused(text: &str, expected: &str) {
    assert_eq!(task(text).unwrap_err(), expected, "{text}");
}

#[test]
fn sizes_of_inputs_become_axes() {
    let forward = "    def forward(self, A, B):\n        return torch.matmul(A, B)\n";
    let constants = "M = 1024 * 2\nN = 512\nK = 64\nunused = 3";
    let inputs = "[torch.rand(M, K), torch.randn(K, N)]";
    check(
        &text(constants, NO_INIT, forward, inputs, "[]"),
        "K=64 M=2048 N=512",
        "A[M, K] B[K, N] ->[M, N]",
    );
}

#[test]
fn settings_of_a_layer_keep_their_values() {
    let init = "    def __init__(self, a, b, kernel, bias_shape):\n        super().__init__()\n        \
                self.conv = nn.Conv2d(a, b, kernel, stride=2, padding=1)\n        \
                self.bias = nn.Parameter(torch.randn(bias_shape) * 0.02)\n";
    let forward = "    def forward(self, x):\n        return F.relu(self.conv(x) + self.bias)\n";
    let constants = "batch = 16\nchannels = 8\nout = 32\nheight = width = 64\nkernel = 3\nbias_shape = (out, 1, 1)";
    check(
        &text(
            constants,
            init,
            forward,
            "[torch.rand(batch, channels, height, width)]",
            "[channels, out, kernel, bias_shape]",
        ),
        "batch=16 channels=8 height=64 out=32 width=64",
        "x[batch, channels, height, width] conv_weight[out, channels, 3, 3] conv_bias[out] bias[out, 1, 1] \
         ->[batch, out, ((height + 1) // 2), ((width + 1) // 2)]",
    );
}

#[test]
fn numbers_in_a_tuple_are_axes_where_only_inputs_use_them() {
    let init = "    def __init__(self, dim):\n        super().__init__()\n        self.dim = dim\n";
    let forward =
        "    def forward(self, x, mask):\n        return torch.cumsum(x * mask, dim=self.dim)\n";
    let constants = "batch = 32\nshape = (128,)\ndim = 1";
    let task_text = text(
        constants,
        init,
        forward,
        "[torch.rand(batch, *shape), torch.randint(0, 2, (batch, *shape)).bool()]",
        "[dim]",
    );
    check(
        &task_text,
        "batch=32 shape_0=128",
        "x[batch, shape_0] mask[batch, shape_0] ->[batch, shape_0]",
    );
    let found = task(&task_text).unwrap();
    assert_eq!(found.tensors[1].dtype, ElementType::Boolean);
    let sums: Vec<_> = found.sums.iter().map(ToString::to_string).collect();
    assert_eq!(sums, ["shape_0"]);
    // A layer would be constructed with the number.
    let init = "    def __init__(self, shape):\n        super().__init__()\n        self.n = nn.LayerNorm(shape)\n";
    let forward = "    def forward(self, x):\n        return self.n(x)\n";
    check(
        &text(constants, init, forward, "[torch.rand(batch, *shape)]", "[shape]"),
        "batch=32",
        "x[batch, 128] n_weight[128] n_bias[128] ->[batch, 128]",
    );
}

#[test]
fn equal_sizes_vary_together_where_the_model_reads_only_one() {
    let forward = "    def forward(self, x, y):\n        return torch.mean(x * y)\n";
    let inputs = "[torch.rand(batch, *shape), torch.rand(batch)]";
    let constants = "batch = 512\nshape = (512,)";
    check(
        &text(constants, NO_INIT, forward, inputs, "[]"),
        "batch=512",
        "x[batch, batch] y[batch] ->[]",
    );
    check(
        &text(constants, NO_INIT, forward, inputs, "[shape]").replace("(self):", "(self, shape):"),
        "",
        "x[512, 512] y[512] ->[]",
    );
}

#[test]
fn inputs_have_distributions() {
    let forward = "    def forward(self, a, b, c, d, e):\n        return a + b + c + d\n";
    let inputs = "[torch.rand(n) * 2 - 1, torch.randn(n) / 2, torch.ones(n), torch.rand(n).softmax(dim=-1), 0.5]";
    let found = task(&text("n = 64", NO_INIT, forward, inputs, "[]")).unwrap();
    let distributions: Vec<_> =
        found.tensors.iter().map(|each| each.distribution.clone()).collect();
    assert_eq!(
        distributions,
        [
            Distribution::Uniform(-1.0, 1.0),
            Distribution::Normal(0.0, 0.5),
            Distribution::Constant(1.0),
            Distribution::Probability,
        ]
    );
    assert_eq!(found.scalars.len(), 1);
}

#[test]
fn work_is_counted_in_forward_only() {
    let init =
        "    def __init__(self):\n        super().__init__()\n        self.l = nn.Linear(n, m)\n";
    let forward = "    def forward(self, x):\n        return torch.sigmoid(self.l(x))\n";
    let found = task(&text("b = 4\nn = 64\nm = 32", init, forward, "[torch.rand(b, n) * 2]", "[]"))
        .unwrap();
    let work = |kind| found.work.get(&kind).map(ToString::to_string).unwrap_or_default();
    assert_eq!(work(Work::Contraction), "2 * b * m * n");
    assert_eq!(work(Work::Special), "b * m");
    assert_eq!(work(Work::Arithmetic), "b * m");
}

#[test]
fn indices_name_their_input() {
    let forward = "    def forward(self, x):\n        return torch.argmax(x, dim=1)\n";
    let found = task(&text("a = 8\nb = 9\nc = 7", NO_INIT, forward, "[torch.rand(a, b, c)]", "[]"))
        .unwrap();
    assert_eq!(found.outputs[0].index_of, Some(("x".to_owned(), 1)));
    assert_eq!(shapes(&found), "x[a, b, c] ->[a, c]");
}

#[test]
fn what_is_no_function_is_named() {
    let init =
        "    def __init__(self):\n        super().__init__()\n        self.d = nn.Dropout(0.5)\n";
    let forward = "    def forward(self, x):\n        return self.d(x)\n";
    check_refused(
        &text("n = 64", init, forward, "[torch.rand(n)]", "[]"),
        "line 9: `nn.Dropout` draws random numbers in training mode, in which the task runs; expected a function of the \
         inputs",
    );
    let forward = "    def forward(self, x):\n        return torch.fft.rfft(x)\n";
    check_refused(
        &text("n = 64", NO_INIT, forward, "[torch.rand(n)]", "[]"),
        "line 11: the operation `rfft` is not in the table of operations",
    );
    let init =
        "    def __init__(self):\n        super().__init__()\n        self.w = torch.randn(n)\n";
    let forward = "    def forward(self, x):\n        return x * self.w\n";
    check_refused(
        &text("n = 64", init, forward, "[torch.rand(n)]", "[]"),
        "line 12: `self.w` is drawn at random and is no parameter; expected `nn.Parameter`",
    );
    check_refused("x = 1", "line 1: the file has no class `Model`");
}

#[test]
fn batch_normalisation_is_noted() {
    let init =
        "    def __init__(self):\n        super().__init__()\n        self.n = nn.BatchNorm2d(c)\n";
    let forward = "    def forward(self, x):\n        return self.n(x)\n";
    let found =
        task(&text("b = 4\nc = 8", init, forward, "[torch.rand(b, c, 5, 6)]", "[]")).unwrap();
    assert!(found.notes[0].1.contains("training mode"), "{:?}", found.notes);
    assert_eq!(shapes(&found), "x[b, c, 5, 6] n_weight[c] n_bias[c] ->[b, c, 5, 6]");
}
