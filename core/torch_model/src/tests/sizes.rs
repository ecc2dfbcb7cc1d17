//! Small sizes of tasks.

use super::{task, text};
use crate::sizes;

#[test]
fn small_sizes_fulfil_the_conditions() {
    let init = "    def __init__(self):\n        super().__init__()\n        self.c = nn.Conv2d(channels, out, 7)\n        \
                self.n = nn.GroupNorm(8, out)\n        self.p = nn.MaxPool2d(3)\n";
    let forward = "    def forward(self, x):\n        return self.p(self.n(self.c(x)))\n";
    let constants = "batch = 16\nchannels = 64\nout = 128\nh = w = 256";
    let inputs = "[torch.rand(batch, channels, h, w)]";
    let task = task(&text(constants, init, forward, inputs, "[]")).unwrap();
    let limits = sizes::limits(&task);
    assert_eq!((limits["out"].multiple_of, limits["out"].min), (8, 8));
    assert_eq!((limits["h"].multiple_of, limits["h"].min), (1, 9));
    let small = sizes::near(&task, |index, _| [3, 5, 2, 7, 6][index % 5]).unwrap();
    assert!(task.conditions.iter().all(|condition| condition.holds(&small)), "{small:?}");
    assert!(sizes::elements(&task.tensors[0].shape, &small).unwrap() < 2000, "{small:?}");
}
