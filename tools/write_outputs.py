"""Run the code on the pages and write below it what it prints, where the page shows that.

Run from the root of the repository::

    python tools/write_outputs.py docs/methods/grove.md docs/guides/choosing-k.md
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

EXAMPLE = re.compile(r"^(```python\n)(.*?)(^```$)(?:(\n+```text\n)(.*?)(^```$))?", re.DOTALL | re.MULTILINE)


def renewed(page: Path) -> str:
    """The page with what its code prints today."""
    names: dict[str, Any] = {"__name__": str(page)}

    def example(found: re.Match[str]) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(found[2], str(page), "exec"), names)
        if found[4] is None:
            return found[0]
        lines = [line.rstrip() + "\n" for line in printed.getvalue().strip().splitlines()]
        return "".join([found[1], found[2], found[3], found[4], *lines, found[6]])

    return EXAMPLE.sub(example, page.read_text(encoding="utf-8"))


def main(pages: list[str]) -> None:
    """Write the pages; files that their code writes go elsewhere."""
    here = Path.cwd()
    for name in pages:
        page = here / name
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            text = renewed(page)
            os.chdir(here)
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
