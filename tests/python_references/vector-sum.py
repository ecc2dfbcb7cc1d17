import torch


def reference(x):
    return x.sum()
