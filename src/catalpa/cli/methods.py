"""``catalpa methods``: what can be asked for with --method."""

from __future__ import annotations

from catalpa.cli.options import AsJson
from catalpa.cli.terminal import Terminal

__all__ = ["methods"]


def methods(json: AsJson = False) -> None:
    """List the methods.

    For example:

        catalpa methods

        catalpa methods --json
    """
    from catalpa.cluster.registry import METHODS

    terminal = Terminal()
    if json:
        terminal.show_json(
            [
                {
                    "name": entry.name,
                    "aliases": list(entry.aliases),
                    "estimator": entry.estimator.__name__,
                    "summary": entry.summary,
                    "numbers": entry.mixed,
                    "order": entry.ordinal,
                    "finds_k": entry.learns_k,
                }
                for entry in METHODS.values()
            ]
        )
        return
    terminal.table(
        ("method", "what it does", "numbers", "order", "finds k"),
        [
            (
                entry.name,
                entry.summary,
                *(_yes(fact) for fact in (entry.mixed, entry.ordinal, entry.learns_k)),
            )
            for entry in METHODS.values()
        ],
    )


def _yes(fact: bool) -> str:
    return "yes" if fact else "no"
