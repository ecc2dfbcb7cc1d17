import torch
import torch.nn as nn


class Model(nn.Module):
    """
    A dense layer whose results are gated by a learned scale.
    """

    def __init__(self, features, units, scale_shape):
        super(Model, self).__init__()
        self.dense = nn.Linear(features, units)
        self.scale = nn.Parameter(torch.randn(scale_shape) * 0.5)

    def forward(self, x):
        x = self.dense(x)
        return torch.sigmoid(x) * self.scale


rows = 2048
features = 1024
units = 512 * 2
scale_shape = (units,)


def get_inputs():
    return [torch.rand(rows, features) * 2 - 1]


def get_init_inputs():
    return [features, units, scale_shape]
