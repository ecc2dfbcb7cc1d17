import torch


def reference(q, k, v, length, group, mask):
    q = q.float()
    k = k.float().repeat_interleave(group, dim=0)
    v = v.float().repeat_interleave(group, dim=0)
    scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
    if mask == 2:
        later = torch.ones(length, length, dtype=torch.bool).triu(diagonal=1)
        scores = scores.masked_fill(later, float("-inf"))
    return (torch.softmax(scores, dim=-1) @ v).to(torch.bfloat16)
