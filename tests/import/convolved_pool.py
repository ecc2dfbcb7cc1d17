import torch
import torch.nn as nn


class Model(nn.Module):
    """
    A convolution, normalised over groups of channels, and the largest value of each window.
    """

    def __init__(self, channels, filters, kernel, groups):
        super().__init__()
        self.conv = nn.Conv2d(channels, filters, kernel, padding=1)
        self.norm = nn.GroupNorm(groups, filters)
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        return self.pool(torch.relu(self.norm(self.conv(x))))


batch = 64
channels, filters = 16, 64
height = width = 128
kernel = 3
groups = 8


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels, filters, kernel, groups]
