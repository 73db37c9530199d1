"""Findings in words: one line for equal judgements on several columns, with the option that changes it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Sequence

from catalpa.inspection.columns import number_text
from catalpa.inspection.empties import NOT_TICKED
from catalpa.inspection.findings import CONSEQUENCE, Judgement, Kind, TableFinding
from catalpa.inspection.pairs import Pair
from catalpa.inspection.together import ColumnBlock

NAMED = 3  # columns that a line names
LONGEST_NAME = 60
LONGEST_LEVEL, LEVELS_SHOWN = 28, 12
WORDS_SHOWN = 3


def finding_of(judgements: Sequence[Judgement]) -> TableFinding:
    """One line for judgements of one kind with the same key."""
    kind, safe = judgements[0].kind, judgements[0].safe
    columns = tuple(judgement.column for judgement in judgements)
    message, change = _WORDS[kind](judgements)
    return TableFinding(kind, columns, safe, message, change, CONSEQUENCE[kind] * len(columns))


def named(columns: Sequence[str], most: int = NAMED) -> str:
    """Names of columns in a sentence.

    Examples
    --------
    >>> named(["a", "b"]), named(["a", "b", "c", "d", "e"])
    ("'a' and 'b'", "'a', 'b', 'c' and 2 more columns")
    """
    shown = [_quoted(name) for name in columns[:most]]
    if len(columns) > most:
        left = len(columns) - most
        return f"{', '.join(shown)} and {left} more column{'s' if left > 1 else ''}"
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]


def _quoted(name: str) -> str:
    """A quoted name, shortened in the middle because long names often differ at their end.

    Examples
    --------
    >>> _quoted("Please rate how much you like the traditional cuisine of Bosnia and Herzegovina")
    "'Please rate how much you like…sine of Bosnia and Herzegovina'"
    """
    text = " ".join(name.split())
    return repr(text if len(text) <= LONGEST_NAME else f"{text[:29]}…{text[30 - LONGEST_NAME :]}")


def _many(columns: Sequence[str], one: str, several: str) -> str:
    """The start of a sentence about columns, with their names or, if there are many, their number.

    Examples
    --------
    >>> _many(["a"], "holds", "hold"), _many(["a", "b", "c", "d"], "holds", "hold")
    ("'a' holds", "4 columns ('a', 'b', 'c', ...) hold")
    """
    if len(columns) == 1:
        return f"{_quoted(columns[0])} {one}"
    if len(columns) <= NAMED:
        return f"{named(columns)} {several}"
    shown = ", ".join(_quoted(name) for name in columns[:NAMED])
    return f"{len(columns)} columns ({shown}, ...) {several}"


def _keep(judgements: Sequence[Judgement]) -> str:
    return f"--keep {shlex.quote(_listed([judgement.column for judgement in judgements]))}"


def _listed(columns: Sequence[str]) -> str:
    """Names as the value of an option; a name with a comma is quoted."""
    return ",".join(f'"{name}"' if "," in name else name for name in columns)


def _constant(judgements: Sequence[Judgement]) -> tuple[str, str]:
    columns = [judgement.column for judgement in judgements]
    what = "is empty" if judgements[0].key == "empty" else "is the same in every row"
    whats = "are empty" if judgements[0].key == "empty" else "are the same in every row"
    return f"{_many(columns, what, whats)}: left out.", _keep(judgements)


def _tick(judgements: Sequence[Judgement]) -> tuple[str, str]:
    columns = [judgement.column for judgement in judgements]
    text = _many(columns, "is a tick box", "are tick boxes")
    return f'{text}: empty means "{NOT_TICKED}", not "missing".', _keep(judgements)


def _weight(judgements: Sequence[Judgement]) -> tuple[str, str]:
    columns = [judgement.column for judgement in judgements]
    mean = f" (mean {judgements[0].facts['mean']:.3g})" if len(columns) == 1 else ""
    text = _many(columns, f"looks like a survey weight{mean}", "look like survey weights")
    ending = "is not clustered on" if len(columns) == 1 else "are not clustered on"
    return f"{text} and {ending}. To weight the rows, name it.", f"--weight {shlex.quote(columns[0])}"


def _date(judgements: Sequence[Judgement]) -> tuple[str, str]:
    columns, form = [judgement.column for judgement in judgements], judgements[0].facts["format"]
    words = [word for judgement in judgements for word in judgement.facts["words"]]
    also = _become_missing(words)
    if not judgements[0].safe:
        return (
            f"{_many(columns, 'holds', 'hold')} dates, but the order of day and month is ambiguous. "
            f"Accepting reads {form}.{also}",
            "--accept date",
        )
    parts = "year and month" if "%d" not in form else "year, month and weekday"
    text = f"{_many(columns, 'holds', 'hold')} dates ({form}): split into {parts}.{also}"
    return text, _keep(judgements)


def _time(judgements: Sequence[Judgement]) -> tuple[str, str]:
    columns = [judgement.column for judgement in judgements]
    return f"{_many(columns, 'holds', 'hold')} times of day: read as hours.", _keep(judgements)


def _number(judgements: Sequence[Judgement]) -> tuple[str, str]:
    columns = [judgement.column for judgement in judgements]
    words = [word for judgement in judgements for word in judgement.facts["words"]]
    also = _become_missing(words)
    example = max((judgement.facts["example"] for judgement in judgements), key=len)
    return f"{_many(columns, 'holds', 'hold')} numbers written like {example}: read as numbers.{also}", _keep(
        judgements
    )


def _list(judgements: Sequence[Judgement]) -> tuple[str, str]:
    columns, mark = [judgement.column for judgement in judgements], judgements[0].facts["mark"]
    items = f" ({judgements[0].facts['items']} different ones)" if len(columns) == 1 else ""
    shown = {"\n": "line end"}.get(mark, mark)
    text = _many(columns, "holds", "hold")
    return (
        f'{text} several answers per cell, separated by "{shown}"{items}: one yes/no column for each answer.',
        _keep(judgements),
    )


def _identifier(judgements: Sequence[Judgement]) -> tuple[str, str]:
    columns = [judgement.column for judgement in judgements]
    text = _many(columns, "is (almost) unique per row: it looks like an identifier", "look like identifiers")
    return f"{text}{', left out' if len(columns) == 1 else ': left out'}.", _keep(judgements)


def _text(judgements: Sequence[Judgement]) -> tuple[str, str]:
    columns = [judgement.column for judgement in judgements]
    if not judgements[0].safe:
        text = _many(columns, "may be names or codes", "may be names or codes")
        return f"{text}: most of their values are different. Accepting leaves them out.", "--accept text"
    if len(columns) == 1:
        different = judgements[0].facts["different"]
        return (
            f"{_quoted(columns[0])} is free text or names ({different:,} different values): left out.",
            _keep(judgements),
        )
    shown = named(columns, 6)
    return f"{len(columns)} columns are free text or names: left out ({shown}).", _keep(judgements)


def _order(judgements: Sequence[Judgement]) -> tuple[str, str]:
    columns, facts = [judgement.column for judgement in judgements], judgements[0].facts
    levels = [
        level if len(level) <= LONGEST_LEVEL else f"{level[: LONGEST_LEVEL - 1]}…"
        for level in facts["levels"]
    ]
    shown = levels if len(levels) <= LEVELS_SHOWN else [*levels[:2], "...", *levels[-2:]]
    also = _become_missing(facts["aside"])
    order = shlex.quote("<".join(facts["levels"]))
    if judgements[0].safe:
        text = _many(columns, "is an ordered scale", "are ordered scales")
        return f"{text}: {' < '.join(shown)}.{also}", f"--order {shlex.quote(columns[0])}={order}"
    ranges = list(dict.fromkeys((one.facts["levels"][0], one.facts["levels"][-1]) for one in judgements))
    if len(ranges) > 1:
        text = " or ".join(f"{low} to {high}" for low, high in ranges[:3]) + (
            " ..." if len(ranges) > 3 else ""
        )
        return (
            f"{_many(columns, 'holds', 'hold')} whole numbers that may be ordered answers ({text}).",
            "--accept order",
        )
    text = _many(columns, "may be ordered", "may be ordered")
    if judgements[0].facts.get("by_data"):
        return (
            f"{text}, judging by the other columns: {' < '.join(shown)}?",
            f"--order {shlex.quote(columns[0])}=...",
        )
    return f"{text}: {' < '.join(shown)}?{also}", "--accept order"


def _sentinel(judgements: Sequence[Judgement]) -> tuple[str, str]:
    columns, facts = [judgement.column for judgement in judgements], judgements[0].facts
    ranges = Counter((one.facts["low"], one.facts["high"]) for one in judgements)
    low, high = (number_text(float(end)) for end in ranges.most_common(1)[0][0])
    others = f"{low} to {high}" + (" and other ranges" if len(ranges) > 1 else "")
    codes = " and ".join(filter(None, (", ".join(facts["codes"][:-1]), facts["codes"][-1])))
    text = f"{_many(columns, 'holds', 'hold')} {codes} in addition to {others}"
    return f'{text}: probably "no answer".', "--accept sentinel"


def _unknown(judgements: Sequence[Judgement]) -> tuple[str, str]:
    columns = [judgement.column for judgement in judgements]
    words = list(dict.fromkeys(word for judgement in judgements for word in judgement.facts["words"]))
    if judgements[0].safe:
        stand = "stands for a missing value" if len(words) == 1 else "stand for missing values"
        return f"{_words(words)} {stand} in {named(columns)}.", "--as-is"
    count = sum(judgement.facts["count"] for judgement in judgements)
    cells = f"{count:,} cell{'s' if count != 1 else ''}"
    stand = "a missing value" if len(words) == 1 else "missing values"
    text = f"{_words(words)} may stand for {stand} in {named(columns)} ({cells})."
    return text, "--accept unknown"


def _become_missing(words: Sequence[str]) -> str:
    """The sentence about texts that become missing values.

    Examples
    --------
    >>> _become_missing(["x"]), _become_missing(["NO BAIL", "n/k"]), _become_missing([])
    (' "x" becomes a missing value.', ' "NO BAIL", "n/k" become missing values.', '')
    """
    words = list(dict.fromkeys(words))
    if not words:
        return ""
    return f" {_words(words)} {'becomes a missing value' if len(words) == 1 else 'become missing values'}."


def _words(words: Sequence[str]) -> str:
    shown = ", ".join(f'"{word}"' for word in words[:WORDS_SHOWN])
    return shown + (f" and {len(words) - WORDS_SHOWN} more" if len(words) > WORDS_SHOWN else "")


def _categories(judgements: Sequence[Judgement]) -> tuple[str, str]:
    columns = [judgement.column for judgement in judgements]
    if len(columns) == 1:
        text = f"{_quoted(columns[0])} has {judgements[0].facts['different']:,} categories."
    else:
        text = f"{_many(columns, '', 'have more than 40 categories each')}."
    return f'{text} Accepting groups those below 1 % of the rows as "other".', "--accept many"


_WORDS: dict[Kind, Callable[[Sequence[Judgement]], tuple[str, str]]] = {
    Kind.CONSTANT: _constant,
    Kind.TICK: _tick,
    Kind.WEIGHT: _weight,
    Kind.DATE: _date,
    Kind.TIME: _time,
    Kind.NUMBER: _number,
    Kind.LIST: _list,
    Kind.IDENTIFIER: _identifier,
    Kind.TEXT: _text,
    Kind.ORDER: _order,
    Kind.SENTINEL: _sentinel,
    Kind.UNKNOWN: _unknown,
    Kind.MANY: _categories,
}


def gap_block_finding(block: ColumnBlock) -> TableFinding:
    """Finding about columns that were skipped together."""
    n, steps = len(block.columns), len(block.steps)
    if steps > 1:
        begins = named([step[0] for step in block.steps])
        message = (
            f"{n} columns stop being answered at one of {steps} steps ({begins}), and "
            f"{_percent(block.share)} of the rows stop before the last: the step that a row reached counts "
            f"once, not {n} times."
        )
    else:
        message = (
            f"{n} columns ({named(block.columns)}) are missing in the same {_percent(block.share)} of the "
            f"rows: this counts once, not {n} times."
        )
    return TableFinding(
        Kind.BLOCK,
        block.columns,
        True,
        message,
        f"--keep {shlex.quote(_listed(block.columns[:1]))}",
        CONSEQUENCE[Kind.BLOCK] * n * block.share,
    )


def same_word_finding(block: ColumnBlock) -> TableFinding:
    """Finding about a word that occurs in the same rows of several columns."""
    n = len(block.columns)
    message = (
        f'"{block.word}" is in the same rows of {n} columns ({named(block.columns)}): it counts {n} times.'
    )
    return TableFinding(Kind.WORD, block.columns, False, message, "--accept word", CONSEQUENCE[Kind.WORD] * n)


def pair_findings(pairs: Sequence[Pair]) -> list[TableFinding]:
    """One line per kind of redundancy: the redundant columns, and the columns that they repeat."""
    findings = []
    for kind, verb, verbs in _REPEATS:
        group = [pair for pair in pairs if pair.kind is kind]
        sources: dict[str, list[str]] = {}
        for pair in group:
            sources.setdefault(pair.other, []).append(pair.column)
        if not sources:
            continue
        if len(sources) <= REPEATS_NAMED:
            parts = [f"{_quoted(other)} {verb} {named(originals)}" for other, originals in sources.items()]
            message = f"{'; '.join(parts)}: {_COUNTED[len(sources) > 1]}."
        else:
            shown = ", ".join(
                f"{_quoted(other)} {_SHORT[kind]} {_quoted(originals[0])}"
                for other, originals in list(sources.items())[:REPEATS_NAMED]
            )
            message = f"{len(sources)} columns {verbs} ({shown}, ...): {_COUNTED[True]}."
        columns = tuple(dict.fromkeys([*sources, *(pair.column for pair in group)]))
        change = f"--drop {shlex.quote(_listed(list(sources)))}"
        findings.append(TableFinding(kind, columns, False, message, change, CONSEQUENCE[kind] * len(sources)))
    return findings


REPEATS_NAMED = 2  # pairs that a line names in full
_COUNTED = ("together they count twice", "they count several times")
_REPEATS = (
    (Kind.COPY, "carries the same information as", "carry the same information as another column"),
    (Kind.FOLLOWS, "follows from", "follow from another column"),
    (Kind.RISE, "rises or falls with", "rise or fall with another column"),
)
_SHORT = {Kind.COPY: "as", Kind.FOLLOWS: "from", Kind.RISE: "with"}


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 else "< 1 %"
