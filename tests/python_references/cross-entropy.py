import torch


def reference(logits, labels):
    return torch.nn.functional.cross_entropy(logits.float(), labels.long(), reduction="none")
