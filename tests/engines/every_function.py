"""Every public function that takes a table, and every kind of table: what comes of each pair.

``python -m tests.engines.every_function`` writes the table of ``docs/guides/scale.md``; a test compares them.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import catalpa
from catalpa.engines.sources import PartitionedSource
from catalpa.errors import CatalpaError
from catalpa.estimator import labelled

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "scale.md"
BEGIN, END = "<!-- every function, every table -->", "<!-- end of every function -->"
ROWS, SAMPLE = 900, 300
KINDS = ("frame or array", "scan", "LazyFrame", "DuckDB", "Dask")
SAMPLED_IN = ("estimator.labelled", "plot.view", "cluster.choose_k.where", "report.explore_page")
MODEL = catalpa.Grove(3, random_state=0, n_init=1)

# What is done with a model fitted in memory, another one, and a table.
FUNCTIONS: Mapping[str, Callable[[Any, Any, Any], Any]] = {
    "fit, labels_, profiles_, reasons": lambda _m, _o, X: values(_of_fit(X)),
    "verdict_": lambda _m, _o, X: catalpa.Grove(3, random_state=0, n_init=1).fit(X).verdict_,
    "check": lambda m, _o, X: m.check(X),
    "predict": lambda m, _o, X: values(m.predict(X)),
    "predict_proba": lambda m, _o, X: values(m.predict_proba(X)),
    "transform": lambda m, _o, X: values(m.transform(X)),
    "outlier_scores": lambda m, _o, X: values(m.outlier_scores(X)),
    "score": lambda m, _o, X: m.score(X),
    "report": lambda m, _o, X: counted(m.report(X).summary),
    "category_map": lambda m, _o, X: m.category_map(X)[["column", "category", "count"]].values.tolist(),
    "plot.row_map": lambda m, _o, X: bool(catalpa.plot.row_map(m, X)),
    "plot.category_map": lambda m, _o, X: bool(catalpa.plot.category_map(m, X)),
    "plot.number_boxes": lambda m, _o, X: bool(catalpa.plot.number_boxes(m, X)),
    "plot.silhouettes": lambda m, _o, X: bool(catalpa.plot.silhouettes(m, X)),
    "drift": lambda m, _o, X: catalpa.drift(m, X).summary,
    "compare": lambda m, o, X: catalpa.compare(m, o, X).crosstab.counts.tolist(),
    "choose_k": lambda _m, _o, X: catalpa.choose_k(X, [2, 3], repeats=0, method=MODEL, random_state=0).k,
    "explore": lambda m, _o, X: sorted(catalpa.explore(m, X).summary),
    "partial_fit": lambda _m, _o, X: (
        catalpa.KModes(3, random_state=0, categorical_features=["price"]).partial_fit(X).cost_
    ),
    "fit of WOCIL": lambda _m, _o, X: values(catalpa.WOCIL(3, random_state=0).fit(X).labels_),
}


def _of_fit(X: Any) -> Any:
    return catalpa.Grove(3, random_state=0, n_init=1).fit(X).profiles_["count"]


def values(result: Any) -> list[Any]:
    """Numbers of every row, wherever they are."""
    if hasattr(result, "select") and hasattr(result, "collect"):  # Spark: the appended column
        return [row[-1] for row in result.collect()]
    if hasattr(result, "compute"):
        result = result.compute()
    return np.asarray(result).tolist()


def counted(summary: Mapping[str, Any]) -> Any:
    """What a report says of all rows."""
    clusters = [(one["size"], one["sets_apart"]) for one in summary["clusters"]]
    return clusters, summary["columns"], summary["profile"], summary["table"]["missing"]


def rows() -> pd.DataFrame:
    """Three groups of rows in four columns of categories and one of numbers; some cells are missing."""
    rng = np.random.default_rng(5)
    group, words = rng.integers(3, size=ROWS), np.array(list("abcd"), dtype=object)
    columns: dict[str, Any] = {
        f"q{at}": words[np.where(rng.random(ROWS) < 0.8, group, rng.integers(4, size=ROWS))]
        for at in range(4)
    }
    columns["q1"][::50] = None
    return pd.DataFrame(columns | {"price": np.round(group + rng.normal(size=ROWS), 3)})


@contextmanager
def sampling(found: list[int]) -> Iterator[None]:
    """Tables elsewhere with more than a few rows are sampled; the rows that are fetched are noted."""
    modules = [__import__(f"catalpa.{name}", fromlist=["SAMPLE_ROWS"]) for name in SAMPLED_IN]
    fetch, most = PartitionedSource.rows_at, labelled.SAMPLE_ROWS

    def noted(source: Any, positions: Any) -> Any:
        found.append(len(positions))
        return fetch(source, positions)

    try:
        for module in modules:
            module.SAMPLE_ROWS = SAMPLE
        PartitionedSource.rows_at = noted  # type: ignore[method-assign]
        yield
    finally:
        PartitionedSource.rows_at = fetch  # type: ignore[method-assign]
        for module in modules:
            module.SAMPLE_ROWS = most


def outcome(name: str, X: Any, models: tuple[Any, Any]) -> tuple[str, Any]:
    """What comes of a function and a table: a word, and the result."""
    fetched: list[int] = []
    with sampling(fetched), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = FUNCTIONS[name](*models, X)
        except CatalpaError as error:
            return f"error: {type(error).__name__}", str(error)
    return ("all rows; a sample of rows" if fetched else "all rows"), result


def section(outcomes: Mapping[str, Mapping[str, str]]) -> str:
    """The table of the page."""
    lines = [f"| | {' | '.join(KINDS)} |", f"|---|{'---|' * len(KINDS)}"]
    lines += [f"| `{name}` | {' | '.join(of[kind] for kind in KINDS)} |" for name, of in outcomes.items()]
    return "\n".join(lines)


def written() -> dict[str, dict[str, str]]:
    """The table as the page has it."""
    text = PAGE.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0]
    cells = [re.split(r" \| ", line.strip("| ")) for line in text.strip().splitlines()[2:]]
    return {name.strip("`"): dict(zip(KINDS, of, strict=True)) for name, *of in cells}


class Fixtures:
    """What the makers of tables ask a test for, outside of one."""

    def __init__(self, folder: str) -> None:
        self._of: dict[str, Any] = {"tmp_path": Path(folder), "monkeypatch": self}

    def getfixturevalue(self, name: str) -> Any:
        return self._of[name]

    def setitem(self, mapping: dict[str, Any], name: str, value: Any) -> None:
        mapping[name] = value


def main() -> None:
    """Write the table of the page from what comes of every pair."""
    import tempfile

    from tests.engines.test_weight_column import KINDS as MADE

    frame, outcomes = rows(), dict[str, dict[str, str]]()
    models = MODEL.fit(frame), catalpa.KPrototypes(3, random_state=0, n_init=1).fit(frame)
    with tempfile.TemporaryDirectory() as folder:
        request: Any = Fixtures(folder)
        made = ("pandas", "streamed", "lazy", "duckdb", "dask")
        tables = {title: MADE[kind](frame, request) for title, kind in zip(KINDS, made, strict=True)}
        for name in FUNCTIONS:
            outcomes[name] = {title: outcome(name, X, models)[0] for title, X in tables.items()}
    page = PAGE.read_text(encoding="utf-8")
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{section(outcomes)}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
