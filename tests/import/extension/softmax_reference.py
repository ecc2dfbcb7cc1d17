import torch


def reference(x):
    return torch.softmax(x.float(), dim=-1).to(x.dtype)
