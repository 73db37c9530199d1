"""The protocol of engines, which run passes over a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from numpy.typing import NDArray

from catalpa.table.blocks import Axis, Rows

Result = TypeVar("Result")

Step = Callable[..., Result]  # step(block, *args) -> something summable
Sweep = Callable[..., tuple[Result, Any]]  # step(block, memory, *args) -> (summable, memory)


class Engine(Protocol):
    """Runs a pure step on every block of a table and sums the results.

    Only the arguments of the step and its results travel; the rows stay where they are. Results are integers,
    so sums are exact and do not depend on blocks or engines.
    """

    @property
    def axis(self) -> Axis:
        """The axis of the blocks' codes."""

    @property
    def n_rows(self) -> int:
        """Number of rows of the whole table."""

    def rows_in_memory(self) -> Rows | None:
        """All rows if they are in the memory of this process, otherwise None."""

    def placed(self) -> Engine:
        """The same rows in blocks that have the position of their first row in the table."""

    def total(self, step: Step[Result], *args: Any) -> Result:
        """Sum of ``step(block, *args)`` over the blocks."""

    def sweep(self, step: Sweep[Result], *args: Any) -> Result:
        """Sum of ``step(block, memory, *args)[0]``; each block's memory is stored for its next sweep.

        A memory depends only on the block and the arguments of that sweep, so an engine that lost it, or
        stores none, can compute it again from the arguments of the previous sweep.
        """

    def each(self, step: Step[NDArray[Any]], *args: Any) -> NDArray[Any]:
        """Results of ``step(block, *args)``, concatenated in the order of the rows."""

    def map_rows(self, step: Step[NDArray[Any]], *args: Any) -> Any:
        """Like ``each``, in the user's own library: an array, or something lazy."""
