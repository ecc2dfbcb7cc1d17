import torch


def reference(a, b):
    return torch.nn.functional.linear(a, b)
