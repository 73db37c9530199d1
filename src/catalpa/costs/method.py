"""What a method must say for the loop to run it."""

from __future__ import annotations

from typing import Protocol, TypeVar, runtime_checkable

from catalpa.steps.counts import Counts
from catalpa.steps.scores import Scores
from catalpa.table.blocks import IntArray

State = TypeVar("State")


class Method(Protocol[State]):
    """Counts in, cost table out; pure."""

    def start(self, counts: Counts) -> State:
        """State of clusters that hold these counts, before any pass of this method."""

    def scores(self, state: State) -> Scores:
        """The cost table of a state."""

    def update(self, state: State, counts: Counts) -> State:
        """State after a pass that gave these counts."""


class Learner(Method[State], Protocol[State]):
    """A method that also relearns something slower than its centres, between settled clusters."""

    def relearn(self, state: State, counts: Counts) -> State:
        """State with what was learned made anew from these counts."""


@runtime_checkable
class Reseeds(Protocol[State]):
    """A method whose slower part must begin anew in a cluster that was empty and was given a row."""

    def reseed(self, state: State, counts: Counts, clusters: IntArray) -> State:
        """State in which these clusters have learned from their one row."""
