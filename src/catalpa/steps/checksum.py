"""A number that tells tables apart; it adds across blocks and does not depend on how they are cut."""

from __future__ import annotations

import numpy as np

from catalpa.table.blocks import Block, IntArray

SEED = 20_260_101  # of the fixed random factors


def checksum(block: Block) -> IntArray:  # (1,) uint64
    """Sum over rows of the row's own number times its place in the table, modulo 2**64.

    Examples
    --------
    >>> import numpy as np
    >>> block = Block(np.array([[0, 1], [1, 1], [0, 0]], dtype=np.uint8), np.zeros((3, 0)))
    >>> whole, parts = checksum(block), [checksum(part) for part in block.cut(2)]
    >>> bool(whole[0] == sum(parts)[0])
    True
    """
    n_columns, n_numeric = block.codes.shape[1], block.numbers.shape[1]
    # Odd factors keep every bit of what they multiply.
    factors = (
        np.random.default_rng(SEED).integers(2**63, size=n_columns + n_numeric + 2, dtype=np.uint64) * 2 + 1
    )
    rows = np.full(len(block), factors[-1], dtype=np.uint64)
    for column in range(n_columns):
        rows += (block.codes[:, column].astype(np.uint64) + factors[-2]) * factors[column]
        rows ^= rows >> np.uint64(29)
    for column in range(n_numeric):
        number = np.ascontiguousarray(block.numbers[:, column]).view(np.uint64)
        rows += (number ^ (number >> np.uint64(31))) * factors[n_columns + column]
        rows ^= rows >> np.uint64(29)
    if block.weights is not None:
        rows *= block.weights.astype(np.uint64) * np.uint64(2) + np.uint64(1)
    places = np.arange(block.start + 1, block.start + 1 + len(block), dtype=np.uint64)
    return np.asarray((rows * (places * np.uint64(2) + np.uint64(1))).sum(keepdims=True))
