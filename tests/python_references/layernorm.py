import torch


def reference(x, gamma, beta, eps, cols):
    return torch.nn.functional.layer_norm(x, (cols,), gamma, beta, eps)
