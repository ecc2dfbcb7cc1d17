import torch


def reference(offsets, indices, values, x, rows):
    lengths = (offsets[1:] - offsets[:-1]).long()
    row = torch.repeat_interleave(torch.arange(rows), lengths)
    return torch.zeros(rows).index_add(0, row, values * x[indices.long()])
