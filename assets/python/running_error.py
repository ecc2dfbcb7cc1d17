"""Rounding errors of arrays, estimated along with the values of a computation.

The error array `e` of an array `v` states: where every operation rounds with a relative error of `UNIT`, the result of a
computation differs from `v` by about `e * UNIT`. Inputs are exact. Each rule returns the error of an operation's result,
which is never below the magnitude of the value, because the result is rounded itself. A sum has at least the sum of
the magnitudes of its terms. Rounding errors of different operations are combined as independent random errors, the model
in which the error of a sum grows with the square root of its terms (N. Higham and T. Mary, "A new approach to probabilistic
rounding error analysis", 2019), as the tolerance does (docs/verification.md). Errors of operands are propagated by
differences instead of derivatives, and so stay finite where a derivative is not, as that of a square root at 0.

The rules are the same for NumPy and PyTorch: `library` is the module, `apply` computes the operation for a list of operands,
`errors` maps the position of an operand to its error, and `value` is the result.
"""

# The unit roundoff of f32.
UNIT = 2.0**-24

# Repetitions of an operation whose structure is unknown, each with other random signs.
DRAWS = 8


def elementwise(library, apply, operands, errors, value):
    """Each element of the result depends on the elements of the operands at its own index."""
    return combined(library, library.abs(value), conversion(library, apply, operands, errors, value))


def conversion(library, apply, operands, errors, value):
    """As `elementwise`, for an operation whose own rounding belongs to the computation."""
    error = library.zeros_like(value)
    for position in errors:
        error = combined(library, error, shift(library, apply, operands, position, errors[position], value))
    return error


def shift(library, apply, operands, position, error, value):
    """By how many units the result changes if one operand changes by its error, the larger of both directions."""
    changes = []
    for step in (error * UNIT, error * -UNIT):
        shifted = list(operands)
        shifted[position] = shifted[position] + step
        changes.append(change(library, apply(shifted), value))
    return library.maximum(*changes)


def change(library, shifted, value):
    difference = library.abs(shifted - value) / UNIT
    # A difference of infinities is not a number.
    return library.where(library.isfinite(difference), difference, library.zeros_like(difference))


def product(library, apply, operands, errors):
    """A sum of products that is linear in each operand."""
    error = apply([library.abs(operand) for operand in operands])
    squares = [operand * operand for operand in operands]
    for position, own in errors.items():
        others = squares[:position] + [own * own] + squares[position + 1 :]
        error = combined(library, error, library.sqrt(apply(others)))
    return error


def total(library, apply, operand, error):
    """A sum, mean or cumulative sum of one operand."""
    magnitudes = apply(library.abs(operand))
    if error is not None:
        magnitudes = combined(library, magnitudes, library.sqrt(apply(error * error)))
    return magnitudes


def chosen(library, choose, operand, error, value):
    """Elements chosen by value: the largest error of those that are equal to the result. `value` keeps all dimensions."""
    return choose(library.where(operand == value, error, library.zeros_like(error)))


def sampled(library, apply, operands, errors, value, signs):
    """An operation of unknown structure: the largest change of the result under random errors of its operands.

    `signs` returns an array of random signs of an operand's shape. The operands count as rounded, because the operation
    has intermediate results that are.
    """
    largest = library.zeros_like(value)
    for _ in range(DRAWS):
        shifted = []
        for position, operand in enumerate(operands):
            error = library.abs(operand)
            if position in errors:
                error = library.maximum(error, errors[position])
            shifted.append(operand + signs(operand) * error * UNIT)
        largest = library.maximum(largest, change(library, apply(shifted), value))
    return library.abs(value) + largest


def combined(library, one, other):
    return library.sqrt(one * one + other * other)
