//! No text panics, and no text runs long.

use proptest::prelude::*;

use super::{task, text};

#[test]
fn endless_recursion_and_huge_numbers_are_refused() {
    let init = "    def __init__(self):\n        super().__init__()\n";
    let loops = "    def forward(self, x):\n        return self.forward(x)\n";
    assert!(task(&text("n = 4", init, loops, "[torch.rand(n)]", "[]")).is_err());
    let big = "9".repeat(30);
    for expression in [
        format!("nn.Conv1d(n, n, {big})(x)"),
        format!("nn.Conv1d(n, n, 3, dilation={big})(x)"),
        format!("x.view({big}, {big}, {big}, {big}, {big})"),
        format!("x[{big}:{big}]"),
        format!("x.sum(dim=-{big})"),
        format!("x.unsqueeze({big})"),
        "x.chunk(0)".to_owned(),
        "x.view(0, -1)".to_owned(),
        "nn.MaxPool1d(0)(x)".to_owned(),
        "x.repeat(2, 2).permute(0, 0)".to_owned(),
        "x[::0]".to_owned(),
    ] {
        let forward = format!("    def forward(self, x):\n        return {expression}\n");
        assert!(
            task(&text("n = 4", init, &forward, "[torch.rand(n, n)]", "[]")).is_err(),
            "{expression}"
        );
    }
}

proptest! {
    #[test]
    fn no_sequence_of_tokens_panics(
        tokens in prop::collection::vec(
            prop::sample::select(vec![
                "x", "self", ".w", ".shape", "[0]", "[-1]", "[1:]", "(", ")", "torch.", "nn.Conv2d", "view", "sum", "dim=",
                ",", "1", "-1", "0", "n", "*", "+", "//", "%", "@", "[", "]", ":", "None", "1e9", ".T", ".max", "chunk",
                "F.", "cat", "F.pad", "not ", " if ", " else ", "nn.Linear", "split", "range", "len", "...", "**",
            ]),
            0..24,
        )
    ) {
        let body = tokens.concat();
        let forward = format!("    def forward(self, x):\n        return {body}\n");
        let init = "    def __init__(self):\n        self.w = nn.Parameter(torch.rand(n))\n";
        drop(task(&text("n = 4", init, &forward, "[torch.rand(n, n)]", "[]")));
    }
}
