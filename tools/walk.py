"""Walk through the house: which functions a call enters, in order, and in which rooms.

    python tools/walk.py                 # a line per walk
    python tools/walk.py kmodes.fit      # every function of one walk, in the order of its first call
    python tools/walk.py grove.fit --rooms

Counted are distinct functions of the package, the files they stand in, and how deep their calls are nested;
small functions that NumPy, pandas or scikit-learn call in between do not count. The table is the bundled zoo.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from sklearn.base import clone

import catalpa
from catalpa import DISC, Grove, KModes
from catalpa.datasets import load

HOUSE = Path(catalpa.__file__).parent
SKIPPED = {"<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>", "<lambda>", "<module>"}


@dataclass
class Walk:
    """The functions that were entered, in the order of their first call."""

    entered: dict[CodeType, int] = field(default_factory=dict)
    depth: int = 0

    def watch(self, frame: FrameType, event: str, _arg: object) -> None:
        """Note a call; depth is the number of the package's functions on the stack."""
        code = frame.f_code
        if event != "call" or code in self.entered or not _is_ours(code):
            return
        above = 0
        caller: FrameType | None = frame
        while caller is not None:
            above += _is_ours(caller.f_code)
            caller = caller.f_back
        self.entered[code] = above
        self.depth = max(self.depth, above)

    @property
    def files(self) -> list[str]:
        """Files that were entered, in order."""
        return list(dict.fromkeys(code.co_filename for code in self.entered))

    @property
    def line(self) -> str:
        """Functions, files and depth in columns."""
        return f"{len(self.entered):10}{len(self.files):7}{self.depth:7}"

    def by_room(self) -> Counter[str]:
        """Functions entered per room."""
        return Counter(_room(code) for code in self.entered)


def _is_ours(code: CodeType) -> bool:
    # Python only: Jinja compiles templates to functions that nobody wrote, under the template's name.
    inside = code.co_filename.startswith(str(HOUSE)) and code.co_filename.endswith(".py")
    return inside and code.co_name not in SKIPPED and not code.co_name.startswith("__")


def _room(code: CodeType) -> str:
    parts = Path(code.co_filename).relative_to(HOUSE).parts
    return parts[0].removesuffix(".py")


def walked(call: Callable[[], Any]) -> Walk:
    """The walk of one call."""
    walk = Walk()
    sys.setprofile(walk.watch)
    try:
        call()
    finally:
        sys.setprofile(None)
    return walk


def walks() -> dict[str, Callable[[], Any]]:
    """What can be walked: fits, a scan, predict and report."""
    zoo = load("zoo").frame
    folder = Path(tempfile.mkdtemp())
    zoo.to_csv(folder / "zoo.csv", index=False)
    fitted = {kind.__name__.lower(): kind(4, random_state=0).fit(zoo) for kind in (KModes, DISC, Grove)}
    found: dict[str, Callable[[], Any]] = {}
    for name, model in fitted.items():
        found[f"{name}.fit"] = partial(clone(model).fit, zoo)
        found[f"{name}.fit(scan)"] = partial(clone(model).fit, catalpa.scan(folder / "zoo.csv"))
        found[f"{name}.predict"] = partial(model.predict, zoo)
    found["grove.report"] = lambda: fitted["grove"].report(zoo).save(folder / "report.html")
    return found


def main() -> None:
    """Print walks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("walk", nargs="?", help="One of the walks; all of them, a line each, if not given.")
    parser.add_argument("--rooms", action="store_true", help="Functions per room only.")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    known = walks()
    if asked.walk is None:
        print(f"{'walk':20}{'functions':>10}{'files':>7}{'depth':>7}")
        for name, call in known.items():
            print(f"{name:20}{walked(call).line}")
        return
    if asked.walk not in known:
        parser.error(f"{asked.walk!r} is no walk; the walks are {', '.join(known)}.")
    walk = walked(known[asked.walk])
    print(f"{asked.walk}: {len(walk.entered)} functions, {len(walk.files)} files, depth {walk.depth}")
    for room, functions in walk.by_room().items():
        print(f"  {room:12}{functions:4}")
    if not asked.rooms:
        for code, depth in walk.entered.items():
            place = Path(code.co_filename).relative_to(HOUSE)
            print(f"{'  ' * min(depth, 12)}{code.co_qualname}  ({place}:{code.co_firstlineno})")


if __name__ == "__main__":
    main()
