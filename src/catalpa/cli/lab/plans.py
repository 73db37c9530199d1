"""What ``catalpa lab`` is to run, given what is on this computer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from catalpa.cli.options import listed
from catalpa.cli.terminal import Terminal
from catalpa.errors import ParameterError

if TYPE_CHECKING:
    from catalpa.lab.protocol import Protocol


def planned(
    terminal: Terminal,
    path: Path | None,
    quick: bool,
    methods: list[str] | None,
    datasets: list[str] | None,
    seeds: int | None,
) -> Protocol:
    """The protocol as asked for, on the data sets that are on this computer; says what is left out."""
    from catalpa.lab.estimators import is_by_chance, method_name
    from catalpa.lab.protocol import read_protocol
    from catalpa.lab.run import available

    plan = read_protocol(path)
    names = None if methods is None else [method_name(name) for name in listed(methods) or []]
    for name in names or []:
        # A method that the protocol lacks, of this or another package, joins with its defaults.
        if name not in {entry.method for entry in plan.entries}:
            plan = plan.with_method(name, chance=is_by_chance(name))
    plan = plan.quick() if quick else plan
    plan = plan.restricted(methods=names, datasets=listed(datasets), repeats=seeds)
    plan, missing = available(plan)
    if missing:
        terminal.say(
            f"left out, not on this computer: {', '.join(missing)}. Name a folder that holds them with "
            "CATALPA_DATA, or fetch them with: catalpa datasets NAME"
        )
    if not plan.categorical:
        raise ParameterError("None of the data sets is on this computer, so there is nothing to run.")
    return plan


def figures_planned(terminal: Terminal, protocol: Protocol, number: int, quick: bool) -> Protocol:
    """The protocol with a figure on the data sets that are on this computer; says what is left out."""
    from catalpa.datasets import list_datasets
    from catalpa.lab.figures.experiments import quick_settings

    known = list_datasets()
    # Quick means without a folder of data sets, and so the same everywhere.
    here = list(known.loc[known["bundled" if quick else "available"], "alias"])
    settings = quick_settings(protocol.figures) if quick else dict(protocol.figures)
    # Figures 3 and 4 are made from planted clusters and from one bundled table.
    name = {1: "relations", 2: "convergence"}.get(number)
    if name is not None:
        wanted = settings[name]["data"]
        missing = [one for one in wanted if one not in here]
        settings[name] = {**settings[name], "data": [one for one in wanted if one in here]}
        if missing and not quick:
            terminal.say(f"left out, not on this computer: {', '.join(missing)}")
    return replace(protocol, figures=settings)
