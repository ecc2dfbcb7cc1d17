import torch


def reference(x, w, eps):
    wide = x.to(torch.float32)
    variance = wide.pow(2).mean(-1, keepdim=True)
    return (wide * torch.rsqrt(variance + eps) * w).to(x.dtype)
