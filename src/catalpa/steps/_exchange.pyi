from typing import Any

from numpy.typing import NDArray

class Prices:
    def __init__(
        self,
        codes: NDArray[Any],
        weights: NDArray[Any],
        ticks: NDArray[Any],
        seen: NDArray[Any],
        k: int,
        prices: NDArray[Any],
        category_start: NDArray[Any],
        category_prior: NDArray[Any],
        column_start: NDArray[Any],
        column_prior: NDArray[Any],
        size_start: int,
        size_weight: float,
        quanta: float,
        weight_of_unit: float,
        number_weight: float,
        bells: NDArray[Any],
    ) -> None: ...
    def exchange(
        self, labels: NDArray[Any], order: NDArray[Any], tie: int, max_passes: int
    ) -> tuple[int, int, int]: ...
    def improve(
        self, labels: NDArray[Any], tries: int, seed: int, tie: int, max_passes: int
    ) -> list[int]: ...
