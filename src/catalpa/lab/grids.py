r"""Tables of text for a terminal, Markdown and LaTeX, with the best and second best marked."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

# What LaTeX would take for a command.
_SPELLED = {"±": r"$\pm$", "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_LATEX = str.maketrans({letter: f"\\{letter}" for letter in "&%#_${}"} | _SPELLED)


@dataclass(frozen=True)
class Cell:
    """A text and its place: 1 best, 2 second best, 0 any other."""

    text: str
    place: int = 0


@dataclass(frozen=True)
class Grid:
    """A table to be read; the first column names the rows."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]


def known(value: float, how: str) -> str:
    """A number in this format, or a dash where there is none."""
    return "-" if math.isnan(value) else format(value, how)


def to_markdown(grid: Grid) -> str:
    """The grid in Markdown: best bold, second best underlined.

    Examples
    --------
    >>> print(to_markdown(Grid("scores", ["method", "ZO"], [[Cell("KMD"), Cell("0.69", 1)]])))
    | method | ZO |
    |---|--:|
    | KMD | **0.69** |
    """
    marks = {0: "{}", 1: "**{}**", 2: "<u>{}</u>"}
    return markdown(grid.head, [[marks[cell.place].format(cell.text) for cell in row] for row in grid.rows])


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]], align: str = "--:") -> str:
    """A table of texts in Markdown; the first column names the rows, ``align`` is that of the others."""
    # Numbers to the right, so that their digits stand below each other.
    rule = "|---|" + f"{align}|" * (len(head) - 1)
    return "\n".join([_joined(head), rule, *map(_joined, rows)])


def folded(summary: str, text: str) -> str:
    """Markdown behind a line that opens it."""
    return f"<details>\n<summary>{summary}</summary>\n\n{text}\n\n</details>"


def to_latex(grid: Grid) -> str:
    r"""The grid as a LaTeX tabular with booktabs rules.

    Examples
    --------
    >>> print(to_latex(Grid("scores", ["method", "ZO"], [[Cell("KMD"), Cell("0.69±0.1", 2)]])))
    % scores
    \begin{tabular}{lr}
    \toprule
    method & ZO \\
    \midrule
    KMD & \underline{0.69$\pm$0.1} \\
    \bottomrule
    \end{tabular}
    """
    marks = {0: "{}", 1: r"\textbf{{{}}}", 2: r"\underline{{{}}}"}
    rows = [[marks[cell.place].format(cell.text.translate(_LATEX)) for cell in row] for row in grid.rows]
    return "\n".join(
        [
            f"% {grid.title}",
            rf"\begin{{tabular}}{{l{'r' * (len(grid.head) - 1)}}}",
            r"\toprule",
            " & ".join(text.translate(_LATEX) for text in grid.head) + r" \\",
            r"\midrule",
            *(" & ".join(row) + r" \\" for row in rows),
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def to_plain(grid: Grid) -> str:
    """The grid in aligned columns for a terminal: best marked ``*``, second best ``'``.

    Examples
    --------
    >>> print(to_plain(Grid("scores", ["method", "ZO"], [[Cell("KMD"), Cell("0.69", 1)]])))
    scores
    method     ZO
    KMD     0.69*
    """
    marks = {0: "", 1: "*", 2: "'"}
    lines = [list(grid.head), *([cell.text + marks[cell.place] for cell in row] for row in grid.rows)]
    first, *others = (max(map(len, column)) for column in zip(*lines, strict=True))
    aligned = ["  ".join([name.ljust(first), *map(str.rjust, texts, others)]) for name, *texts in lines]
    return "\n".join([grid.title, *(line.rstrip() for line in aligned)])


FORMATS: dict[str, Callable[[Grid], str]] = {
    "plain": to_plain,
    "markdown": lambda grid: f"**{grid.title}**\n\n{to_markdown(grid)}",
    "latex": to_latex,
}


def _joined(texts: Sequence[str]) -> str:
    return "| " + " | ".join(text.replace("|", r"\|") for text in texts) + " |"
