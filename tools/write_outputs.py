"""Run the code on the pages and write below it what it prints, where the page shows that.

Python stands in blocks called ``python``, and what it prints in a block called ``text`` below. Commands of a
shell stand in blocks called ``console`` behind a dollar sign, with what a terminal shows below each. All of a
page run in one empty folder. Run from the root of the repository::

    python tools/write_outputs.py docs/methods/grove.md docs/guides/choosing-k.md
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

EXAMPLE = re.compile(
    r"^(?P<open>```python\n)(?P<code>.*?)^```$(?:(?P<between>\n+```text\n)(?P<said>.*?)^```$)?"
    r"|^```console\n(?P<session>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
# No colours, no line that is drawn over, and as wide as a page of the site.
TERMINAL = {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "72", "LINES": "50"}


def renewed(page: Path) -> str:
    """The page with what its code prints today."""
    names: dict[str, Any] = {"__name__": str(page)}

    def example(found: re.Match[str]) -> str:
        if found["session"] is not None:
            return f"```console\n{_played(found['session'])}```"
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(found["code"], str(page), "exec"), names)
        if found["said"] is None:
            return found[0]
        return f"{found['open']}{found['code']}```{found['between']}{_lines(printed.getvalue())}```"

    return EXAMPLE.sub(example, page.read_text(encoding="utf-8"))


def _played(session: str) -> str:
    """Every command of a session, and what it prints."""
    commands = [line[2:] for line in session.splitlines() if line.startswith("$ ")]
    return "".join(f"$ {command}\n{_lines(_shown(command))}" for command in commands)


def _shown(command: str) -> str:
    """What a terminal shows of a command, once it is done."""
    # The commands of this environment, whether it was activated or not.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    master, slave = os.openpty()  # tables are drawn for people, and separated by tabs for programs
    env = os.environ | TERMINAL | {"PATH": path}
    done = subprocess.Popen(command, shell=True, stdout=slave, stderr=slave, env=env)
    os.close(slave)
    shown = b""
    with contextlib.suppress(OSError):  # how a terminal says that nobody writes to it any more
        while part := os.read(master, 4096):
            shown += part
    os.close(master)
    assert done.wait() == 0, f"{command}\n{shown.decode()}"
    return shown.decode().replace("\r\n", "\n")


def _lines(text: str) -> str:
    return "".join(line.rstrip() + "\n" for line in text.strip("\n").splitlines())


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
