import numpy as np


def reference(a, b):
    return np.add(a, b)
