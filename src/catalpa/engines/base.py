"""Where a pass runs: the one protocol that every engine follows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from numpy.typing import NDArray

from catalpa.table.blocks import Axis, Rows

Result = TypeVar("Result")

Step = Callable[..., Result]  # step(block, *args) -> something that adds
Sweep = Callable[..., tuple[Result, Any]]  # step(block, memory, *args) -> (something that adds, memory)


class Engine(Protocol):
    """Runs a pure step on every block of a table and adds the results.

    Only the arguments of the step go out and only what it returns comes back; the rows stay where
    they are. Results must add exactly (integers), so that they do not depend on blocks or engines.
    """

    @property
    def axis(self) -> Axis:
        """The axis of the blocks' codes."""

    @property
    def n_rows(self) -> int:
        """Number of rows of the whole table."""

    def rows_in_memory(self) -> Rows | None:
        """All rows if they are in the memory of this process, otherwise None."""

    def total(self, step: Step[Result], *args: Any) -> Result:
        """Sum of ``step(block, *args)`` over the blocks."""

    def sweep(self, step: Sweep[Result], *args: Any) -> Result:
        """Sum of ``step(block, memory, *args)[0]``; each block's memory is kept for its next sweep.

        What a step remembers depends on the block and the arguments of that sweep alone, so an engine
        that lost or never kept a memory makes it again from the arguments of the sweep before.
        """

    def each(self, step: Step[NDArray[Any]], *args: Any) -> NDArray[Any]:
        """Results of ``step(block, *args)`` joined in the order of the rows."""

    def map_rows(self, step: Step[NDArray[Any]], *args: Any) -> Any:
        """Like ``each``, in the form of the user's own table: an array here, something lazy elsewhere."""
