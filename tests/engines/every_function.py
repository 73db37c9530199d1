"""Every public function that takes a table, and every kind of table: what comes of each pair.

``python -m tests.engines.every_function`` writes the table of ``docs/guides/scale.md``; a test compares them.
With names of functions it tries only these again.
"""

from __future__ import annotations

import copy
import importlib
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import catalpa
from catalpa.cluster.registry import METHODS
from catalpa.engines.sources import PartitionedSource
from catalpa.errors import CatalpaError

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "scale.md"
BEGIN, END = "<!-- every function, every table -->", "<!-- end of every function -->"
ROWS, SAMPLE = 900, 300
# Titles of the page, and the makers of tests/engines/test_weight_column.py.
KINDS = {
    "pandas": "pandas",
    "polars": "polars",
    "Arrow": "arrow",
    "scan": "streamed",
    "LazyFrame": "lazy",
    "DuckDB": "duckdb",
    "Dask": "dask",
    "Spark": "spark",
}
SAMPLED_IN = {
    "estimator.labelled": "SAMPLE_ROWS",
    "plot.view": "SAMPLE_ROWS",
    "cluster.choose_k.where": "SAMPLE_ROWS",
    "report.explore_page": "SAMPLE_ROWS",
    "inspection.look": "MOST_ROWS",
}
REFUSED = "refused: "
WEIGHED = {"sample_weight": "weight"}
MODEL = catalpa.Grove(3, random_state=0, n_init=1)


def _fit(X: Any, **options: Any) -> Any:
    return catalpa.Grove(3, random_state=0, n_init=1).fit(X, **options)


def _of_batches(X: Any) -> Any:
    model = catalpa.Grove(3, random_state=0).partial_fit(X).partial_fit(X)
    return [model.labels_, model.cluster_sizes_, model.cost_]


def _chosen(X: Any, **options: Any) -> Any:
    return catalpa.choose_k(X, [2, 3], repeats=0, method=MODEL, random_state=0, **options).k


# What is done with a model fitted in memory, another one, and a table with the columns of the fit.
FUNCTIONS: Mapping[str, Callable[[Any, Any, Any], Any]] = {
    "fit, labels_": lambda _m, _o, X: values(_fit(X).labels_),
    "profiles_, reasons": lambda _m, _o, X: [values(_fit(X).profiles_["count"]), len(_fit(X).reasons())],
    "suggest_names": lambda _m, _o, X: _fit(X).suggest_names(),
    "verdict_": lambda _m, _o, X: _fit(X).verdict_,
    "to_sql, save": lambda _m, _o, X: _exported(_fit(X)),
    "refit": lambda m, _o, X: values(m.refit(X).matched_["stays"]),
    "partial_fit": lambda _m, _o, X: _of_batches(X),
    "check": lambda m, _o, X: m.check(X),
    "predict": lambda m, _o, X: values(m.predict(X)),
    "predict_proba": lambda m, _o, X: values(m.predict_proba(X)),
    "transform": lambda m, _o, X: values(m.transform(X)),
    "outlier_scores": lambda m, _o, X: values(m.outlier_scores(X)),
    "score_samples": lambda m, _o, X: values(m.score_samples(X)),
    "score": lambda m, _o, X: m.score(X),
    "aic, bic, icl": lambda m, _o, X: [m.aic(X), m.bic(X), m.icl(X)],
    "intervals": lambda m, _o, X: values(m.intervals(X, n_boot=5).sizes["low"]),
    "split": lambda m, _o, X: copy.copy(m).split(0, X, 2).cluster_sizes_.tolist(),
    "cut": lambda m, _o, X: copy.copy(m).cut(2, X).cluster_sizes_.tolist(),
    "merge": lambda m, _o, X: copy.copy(m).merge([0, 1], X).cluster_sizes_.tolist(),
    "match_to": lambda m, o, X: values(copy.copy(o).match_to(m, X).matched_["stays"]),
    "report": lambda m, _o, X: counted(m.report(X).summary),
    "category_map": lambda m, _o, X: m.category_map(X)[["column", "category", "count"]].values.tolist(),
    "plot.row_map": lambda m, _o, X: bool(catalpa.plot.row_map(m, X)),
    "plot.category_map": lambda m, _o, X: bool(catalpa.plot.category_map(m, X)),
    "plot.number_boxes": lambda m, _o, X: bool(catalpa.plot.number_boxes(m, X)),
    "plot.silhouettes": lambda m, _o, X: bool(catalpa.plot.silhouettes(m, X)),
    "drift": lambda m, _o, X: catalpa.drift(m, X).summary,
    "compare": lambda m, o, X: catalpa.compare(m, o, X).crosstab.counts.tolist(),
    "history": lambda m, o, X: catalpa.history([("May", m, X), ("June", o, X)]).records,
    "choose_k": lambda _m, _o, X: _chosen(X),
    "look": lambda _m, _o, X: sorted(catalpa.look(X).recipe.to_dict()),
    "short_form": lambda m, _o, X: bool(catalpa.short_form(m, X, most=2).columns),
    "explore": lambda m, _o, X: sorted(catalpa.explore(m, X).summary),
    "explain_rows": lambda m, _o, X: [one.cluster for one in m.explain_rows(X)],
    "onnx_inputs": lambda m, _o, X: sorted(m.onnx_inputs(X)),
    "metrics.compactness": lambda m, _o, X: catalpa.metrics.compactness(X, m.labels_),
    "metrics.categorical_silhouette": lambda m, _o, X: catalpa.metrics.categorical_silhouette(X, m.labels_),
    **{
        f"{entry.class_name}.fit": lambda _m, _o, X, entry=entry: values(_of_method(entry.class_name, X))
        for entry in METHODS.values()
        if entry.class_name != "Grove"
    },
    "fit(sample_weight=)": lambda _m, _o, X: values(_fit(X, **WEIGHED).profiles_["count"]),
    "refit(sample_weight=)": lambda m, _o, X: values(m.refit(X, **WEIGHED).matched_["stays"]),
    "choose_k(sample_weight=)": lambda _m, _o, X: _chosen(X, **WEIGHED),
    "report(sample_weight=)": lambda m, _o, X: counted(m.report(X, **WEIGHED).summary),
    "report(against=[...], id=)": lambda m, _o, X: crossed(
        m.report(X, against=["region", "q0"], id="person")
    ),
    "drift(sample_weight=)": lambda m, _o, X: catalpa.drift(m, X, **WEIGHED).summary,
    "compare(sample_weight=)": lambda m, o, X: catalpa.compare(m, o, X, **WEIGHED).crosstab.counts.tolist(),
    "icl(sample_weight=)": lambda m, _o, X: m.icl(X, **WEIGHED),
    "short_form(sample_weight=)": lambda m, _o, X: bool(catalpa.short_form(m, X, most=2, **WEIGHED).columns),
}
BESIDE = {"report(against=[...], id=)": ("region", "person")}  # columns that the fit did not have


def _exported(model: Any) -> str:
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.json")
    return str(model.to_sql())


def _of_method(name: str, X: Any) -> Any:
    """Labels of a method; SigDT finds the number of clusters itself."""
    method = getattr(catalpa, name)
    return (method() if name == "SigDT" else method(3, random_state=0)).fit(X).labels_


def columns_of(name: str) -> list[str]:
    """The columns of the table that a function gets."""
    method = METHODS.get(name.removesuffix(".fit").lower())
    numbers = [] if method is not None and not method.mixed else ["price"]
    beside = ("weight",) if "sample_weight" in name else BESIDE.get(name, ())
    return ["q0", "q1", "q2", "q3", *numbers, *beside]


def wide_rows() -> pd.DataFrame:
    """The rows with weights, an answer to compare with, and a name for each row."""
    frame, rng = rows(), np.random.default_rng(1)
    return frame.assign(
        weight=rng.integers(0, 4, len(frame)) * 0.5,
        region=np.array(["north", "east", "south"], dtype=object)[rng.integers(3, size=len(frame))],
        person=[f"person {at}" for at in range(len(frame))],
    )


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


def crossed(report: Any) -> Any:
    """What a report says of the clusters and other columns."""
    return report.summary["against"]


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
    modules = {name: importlib.import_module(f"catalpa.{name}") for name in SAMPLED_IN}
    before = {name: getattr(module, SAMPLED_IN[name]) for name, module in modules.items()}
    fetch = PartitionedSource.rows_at

    def noted(source: Any, positions: Any) -> Any:
        found.append(len(positions))
        return fetch(source, positions)

    try:
        for name, module in modules.items():
            setattr(module, SAMPLED_IN[name], SAMPLE)
        PartitionedSource.rows_at = noted  # type: ignore[method-assign]
        yield
    finally:
        PartitionedSource.rows_at = fetch  # type: ignore[method-assign]
        for name, module in modules.items():
            setattr(module, SAMPLED_IN[name], before[name])


def outcome(name: str, X: Any, models: tuple[Any, Any]) -> tuple[str, Any]:
    """What comes of a function and a table: how many rows it uses, or why not; and the result."""
    fetched: list[int] = []
    with sampling(fetched), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = FUNCTIONS[name](*models, X)
        except CatalpaError as error:
            return f"refused: {str(error).partition('. ')[0]}.", str(error)
    if not fetched:
        return "all", result
    return ("sample" if min(fetched) < ROWS else "loaded"), result


def section(outcomes: Mapping[str, Mapping[str, str]]) -> str:
    """The table of the page; reasons stand below it."""
    reasons = list(
        dict.fromkeys(word for of in outcomes.values() for word in of.values() if word.startswith(REFUSED))
    )
    lines = [f"| | {' | '.join(KINDS)} |", f"|---|{'---|' * len(KINDS)}"]
    for name, of in outcomes.items():
        cells = [f"no ({reasons.index(word) + 1})" if word in reasons else word for word in of.values()]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(
        [*lines, "", *(f"{at}. {one.removeprefix(REFUSED)}" for at, one in enumerate(reasons, 1))]
    )


def written() -> dict[str, dict[str, str]]:
    """The table as the page has it, with the reasons in the cells."""
    text = PAGE.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0]
    reasons = dict(re.findall(r"^(\d+)\. (.*)$", text, re.MULTILINE))
    found = {}
    for line in re.findall(r"^\| `.*$", text, re.MULTILINE):
        name, *cells = re.split(r" \| ", line.strip("| "))
        words = [f"{REFUSED}{reasons[cell[4:-1]]}" if cell.startswith("no (") else cell for cell in cells]
        found[name.strip("`")] = dict(zip(KINDS, words, strict=True))
    return found


class Fixtures:
    """What the makers of tables ask a test for, outside of one."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def getfixturevalue(self, name: str) -> Any:
        if name == "tmp_path":
            return Path(tempfile.mkdtemp(dir=self._folder))
        return self._spark if name == "spark" else self

    @cached_property
    def _spark(self) -> Any:
        from pyspark.sql import SparkSession

        os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        os.environ["PYSPARK_PYTHON"] = sys.executable
        local = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        return local.config("spark.log.level", "ERROR").getOrCreate()

    def setitem(self, mapping: dict[str, Any], name: str, value: Any) -> None:
        mapping[name] = value


def main() -> None:
    """Write the table of the page from what comes of every pair."""
    from tests.engines.test_weight_column import KINDS as MADE

    frame, known, wanted = wide_rows(), rows(), sys.argv[1:] or list(FUNCTIONS)
    outcomes = written() if sys.argv[1:] else {}
    models = MODEL.fit(known), catalpa.KPrototypes(3, random_state=0, n_init=1).fit(known)
    with tempfile.TemporaryDirectory() as folder:
        request: Any = Fixtures(folder)
        for name in wanted:
            own = frame[columns_of(name)]
            outcomes[name] = {
                title: outcome(name, MADE[kind](own, request), models)[0] for title, kind in KINDS.items()
            }
    outcomes = {name: outcomes[name] for name in FUNCTIONS if name in outcomes}
    page = PAGE.read_text(encoding="utf-8")
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{section(outcomes)}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
