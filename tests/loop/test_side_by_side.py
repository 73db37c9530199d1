"""Runs that are made at once: results in order, told on one thread, and stopped together."""

from __future__ import annotations

import threading

import pytest

import catalpa.cluster.grove.fit
from catalpa import Grove
from catalpa.datasets import load
from catalpa.loop.history import Pass
from catalpa.loop.progress import Progress, report_pass, side_by_side, watching

PASSES = 200


def passes(number: int, tool: str) -> tuple[int, str]:
    for at in range(PASSES):
        report_pass(Pass("search", float(number), at, False, 1), at + 1, PASSES)
    return number, tool


def runs(n: int) -> list:
    return [lambda tool, number=number: passes(number, tool) for number in range(n)]


def test_results_come_in_the_order_of_the_runs_and_a_tool_is_used_by_one_at_a_time():
    used, both = set(), threading.Barrier(2)

    def run(tool: str) -> str:
        assert tool not in used
        used.add(tool)
        both.wait(10.0)
        used.remove(tool)
        return tool

    begun: list[int] = []
    found = side_by_side([run] * 6, ["a", "b"], lambda: begun.append(1))
    assert set(found) == {"a", "b"}
    assert len(begun) == 6
    assert [number for number, _ in side_by_side(runs(5), ["a", "b", "c"], lambda: None)] == [0, 1, 2, 3, 4]


def test_every_pass_is_told_once_and_on_the_thread_that_asked():
    told: list[tuple[str, float, int]] = []
    with watching(lambda one: told.append((threading.current_thread().name, one.cost, one.number))):
        side_by_side(runs(3), ["a", "b"], lambda: None)
    here = threading.current_thread().name
    assert sorted(told) == [(here, float(run), at + 1) for run in range(3) for at in range(PASSES)]


def test_what_a_callback_raises_stops_all_runs():
    reached = []

    def counted(_: str) -> None:
        for at in range(1_000_000):
            report_pass(Pass("search", 0.0, 0, False, 1), at + 1, None)
            reached.append(at)

    def stop(_: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), watching(stop):
        side_by_side([counted] * 4, ["a", "b"], lambda: None)
    assert len(reached) < 4_000_000
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("ThreadPool")]


def test_an_error_of_a_run_is_raised_and_stops_the_others():
    def fails(_: str) -> None:
        raise MemoryError("no room")

    def endless(_: str) -> None:
        while True:
            report_pass(Pass("search", 0.0, 0, False, 1), 1, None)

    with pytest.raises(MemoryError, match="no room"):
        side_by_side([endless, fails, endless], ["a", "b"], lambda: None)


@pytest.mark.parametrize("sizes", ["auto", "equal", "free"])
def test_a_search_at_once_finds_what_one_after_the_other_does(sizes, monkeypatch):
    frame = load("votes").frame
    one = Grove(4, n_init=3, sizes=sizes, random_state=2).fit(frame)
    monkeypatch.setattr(catalpa.cluster.grove.fit, "LEAST_AT_ONCE", 1)
    starts: list[tuple[int, int]] = []
    told = {"callback": lambda one: starts.append((one.start, one.starts))}
    two = Grove(4, n_init=3, sizes=sizes, random_state=2, n_jobs=2, **told).fit(frame)
    assert two.evidence_ == one.evidence_
    assert two.prior_ == one.prior_
    assert two.labels_.tolist() == one.labels_.tolist()
    assert two.history_.equals(one.history_)
    assert (9, 9) in starts  # three starts under three prior strengths
    # Then free sizes, from the best of them and from every start, and near rivals.
    assert sizes == "equal" or any(start == of >= 4 for start, of in starts if of != 9)
