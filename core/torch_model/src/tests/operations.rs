//! The shape that each operation of the table gives.

use super::{shapes, task, text};

const INIT: &str = "    def __init__(self):\n        super().__init__()\n";

/// The shape of an expression of `x[a, b, c]` and `y[a, b, c]`.
fn check(expression: &str, expected: &str) {
    let forward = format!("    def forward(self, x, y):\n        return {expression}\n");
    let inputs = "[torch.rand(a, b, c), torch.rand(a, b, c)]";
    let task = task(&text("a = 16\nb = 24\nc = 32", INIT, &forward, inputs, "[]"));
    let task = task.unwrap_or_else(|error| panic!("{expression}: {error}"));
    let shapes = shapes(&task);
    let (_, found) = shapes.split_once("->").unwrap();
    assert_eq!(found, expected, "{expression}");
}

#[test]
fn element_by_element() {
    check("x + y", "[a, b, c]");
    check("2 * x / math.sqrt(x.shape[-1])", "[a, b, c]");
    check("F.gelu(torch.clamp(x, min=0) ** 2)", "[a, b, c]");
    check("x + y[:, :, :1]", "[a, b, c]");
    check("torch.maximum(x, y[0])", "[a, b, c]");
    check("torch.where(x > 0, x, y)", "[a, b, c]");
    check("-x.mul(3.0).exp()", "[a, b, c]");
}

#[test]
fn reductions() {
    check("torch.sum(x, dim=1)", "[a, c]");
    check("x.mean(dim=(1, 2), keepdim=True)", "[a, 1, 1]");
    check("x.sum()", "[]");
    check("torch.max(x, dim=-1)[0]", "[a, b]");
    check("torch.max(x, dim=1, keepdim=True).values", "[a, 1, c]");
    check("torch.logsumexp(x, 2)", "[a, b]");
    check("torch.softmax(x, dim=1)", "[a, b, c]");
    check("x / torch.norm(x, p='fro')", "[a, b, c]");
    check("torch.norm(x, p=2, dim=1, keepdim=True)", "[a, 1, c]");
    check("torch.cumsum(x, dim=2)", "[a, b, c]");
}

#[test]
fn products() {
    check("x @ y.transpose(1, 2)", "[a, b, b]");
    check("torch.bmm(x, y.permute(0, 2, 1))", "[a, b, b]");
    check("torch.matmul(x[0].T, y[0])", "[c, c]");
    check("torch.einsum('abc,abd->acd', x, y)", "[a, c, c]");
    check("F.scaled_dot_product_attention(x, y, y)", "[a, b, c]");
}

#[test]
fn movement() {
    check("x.view(a, -1)", "[a, b * c]");
    check("x.view(-1)", "[a * b * c]");
    check("x.reshape(x.size(0), b * c)", "[a, b * c]");
    check("torch.flatten(x, 1)", "[a, b * c]");
    check("torch.cat([x, y], dim=1)", "[a, 2 * b, c]");
    check("torch.stack([x, y])", "[2, a, b, c]");
    check("x.unsqueeze(1).expand(-1, 5, -1, -1)", "[a, 5, b, c]");
    check("x.unsqueeze(0).squeeze(0)", "[a, b, c]");
    check("x.chunk(2, dim=1)[0]", "[a, (b // 2), c]");
    check("x[:, 1:, None, ...]", "[a, b - 1, 1, c]");
    check("x[:, :-1, ::2]", "[a, b - 1, ((c + 1) // 2)]");
    check("x.narrow(1, 0, 3)", "[a, 3, c]");
    check("torch.cat((torch.zeros_like(x.select(1, 0).unsqueeze(1)), x), dim=1)", "[a, b + 1, c]");
    check("x.flip(1).repeat(1, 2, 1)", "[a, 2 * b, c]");
}

#[test]
fn layers() {
    check("nn.Conv1d(b, 8, 3)(x)", "[a, 8, c - 2]");
    check("nn.ConvTranspose1d(b, 8, 3, stride=2)(x)", "[a, 8, 2 * c + 1]");
    check("nn.Conv1d(b, b, 5, padding=2, groups=b)(x)", "[a, b, c]");
    check(
        "nn.MaxPool1d(kernel_size=4)(x)",
        "[a, b, ((c - 4) // 4) + 1]".replace("((c - 4) // 4) + 1", "(c // 4)").as_str(),
    );
    check("nn.AdaptiveAvgPool1d(1)(x)", "[a, b, 1]");
    check("F.avg_pool1d(x, 3, stride=1)", "[a, b, c - 2]");
    check("nn.GroupNorm(4, b)(x)", "[a, b, c]");
    check("nn.Sequential(nn.Linear(c, 7), nn.ReLU())(x)", "[a, b, 7]");
    check("nn.Embedding(10, 6)(torch.argmax(x, dim=2))", "[a, b, 6]");
}

#[test]
fn losses() {
    check("F.mse_loss(x, y)", "[]");
    check("nn.TripletMarginLoss(margin=1.0)(x, y, y)", "[]");
    check("F.kl_div(torch.log(x), y, reduction='batchmean')", "[]");
    check("F.cross_entropy(x[:, :, 0], torch.argmax(x[:, :, 0], dim=1))", "[]");
}
