from typing import Any

from numpy.typing import NDArray

class Table:
    def __init__(
        self,
        places: NDArray[Any],
        starts: NDArray[Any],
        ticks: NDArray[Any],
        seen: NDArray[Any],
        weights: NDArray[Any],
    ) -> None: ...
    def join(
        self,
        column_weights: NDArray[Any],
        by_category: NDArray[Any],
        sums: NDArray[Any],
        heard: NDArray[Any],
        tie: float,
        labels: NDArray[Any],
    ) -> None: ...
    def visit(self, column_weights: NDArray[Any], tie: float, labels: NDArray[Any]) -> int: ...
    def compete(
        self,
        column_weights: NDArray[Any],
        tie: float,
        rate: float,
        unit: float,
        total: float,
        wins: NDArray[Any],
        strength: NDArray[Any],
        labels: NDArray[Any],
    ) -> int: ...
    def alike(
        self, by_category: NDArray[Any], by_column: NDArray[Any], labels: NDArray[Any], sums: NDArray[Any]
    ) -> None: ...
