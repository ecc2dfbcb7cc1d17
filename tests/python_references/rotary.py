import torch


def reference(x, cosines, sines, position, half):
    cosine = cosines[position.long()].unsqueeze(1)
    sine = sines[position.long()].unsqueeze(1)
    left, right = x[..., :half].float(), x[..., half:].float()
    x.copy_(torch.cat((left * cosine - right * sine, right * cosine + left * sine), dim=-1))
