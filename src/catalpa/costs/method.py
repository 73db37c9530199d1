"""Protocols that a method implements for the loop."""

from __future__ import annotations

from typing import Protocol, TypeVar, runtime_checkable

from catalpa.steps.counts import Counts
from catalpa.steps.scores import Scores
from catalpa.table.blocks import IntArray

State = TypeVar("State")


class Method(Protocol[State]):
    """Pure functions from counts to a state and from a state to a cost table."""

    def start(self, counts: Counts) -> State:
        """Initial state of clusters with these counts."""

    def scores(self, state: State) -> Scores:
        """The cost table of a state."""

    def update(self, state: State, counts: Counts) -> State:
        """State after a pass that gave these counts."""


class RelearningMethod(Method[State], Protocol[State]):
    """A method that also relearns something, such as distances or weights, after each convergence."""

    def relearn(self, state: State, counts: Counts) -> State:
        """State after relearning from these counts."""


@runtime_checkable
class ReseedingMethod(Protocol[State]):
    """A method whose relearned part must be reset for a cluster that was re-seeded with one row."""

    def reseed(self, state: State, counts: Counts, clusters: IntArray) -> State:
        """State after re-seeding ``clusters``, each now holding one row."""
