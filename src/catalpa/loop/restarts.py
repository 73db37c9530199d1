"""Several starts, and the choice of the best one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np

from catalpa.loop.progress import in_parts


class HasCost(Protocol):
    """Anything with a final cost."""

    @property
    def cost(self) -> float: ...


Rest = TypeVar("Rest", bound=HasCost)


def generators(random_state: np.random.RandomState, n_init: int) -> list[np.random.Generator]:
    """One independent generator per start, so that start i does not depend on the number of starts."""
    seed = int(random_state.randint(np.iinfo(np.int32).max))
    return [np.random.default_rng([seed, start]) for start in range(n_init)]


def best_of(
    n_init: int, random_state: np.random.RandomState, run: Callable[[np.random.Generator], Rest]
) -> Rest:
    """The result with the lowest cost; the first one on ties."""
    best: Rest | None = None
    with in_parts(n_init) as begin:
        for rng in generators(random_state, n_init):
            begin()
            result = run(rng)
            if best is None or result.cost < best.cost:
                best = result
    assert best is not None
    return best
