"""A new table compared with the one a model was fitted to: which clusters and columns have changed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy import stats

from catalpa.arrays import safe_divide
from catalpa.errors import ParameterError
from catalpa.estimator.attributes import frame_of_lines, in_known_digits
from catalpa.estimator.base import Clusterer
from catalpa.estimator.problem import Fitted, fitted_of
from catalpa.explain.formatting import MISSING, category_names
from catalpa.report.document import Document
from catalpa.report.table_counts import NewTable, TableCounts, mean_at_fit, read_table
from catalpa.table.blocks import FloatArray

ALPHA = 0.01  # family-wise error rate over all clusters, or over all columns
MIN_CHANGE = (
    0.02  # share of the rows: in very large tables smaller differences are significant, not important
)
MIN_SHIFT = 0.2  # standard deviations of the fit: a small effect by Cohen's convention
EXPECTED = 5.0  # rows; categories with a smaller expected count are pooled, as the chi-square test requires
NEW = "(new)"  # all categories not seen at fit together
ROUNDING = 1e-12  # a change of exactly the threshold counts despite rounding errors

# Columns of `to_frame` for each cluster and column, in this order.
MEASURES = (
    *("cluster", "column", "kind", "changed", "p_value", "distance", "share_at_fit", "share", "unseen"),
    *("missing_at_fit", "missing", "mean_at_fit", "mean", "sd_at_fit", "sd", "shift"),
)


@dataclass(frozen=True, eq=False, repr=False)
class Drift(Document):
    """How a new table differs from the one that a model was fitted to.

    Attributes
    ----------
    summary : dict
        Everything on the page, as plain values:

        - ``title``, ``method``, ``rows_at_fit``, ``rows``, and ``thresholds`` (``alpha``, ``min_change``,
          ``min_shift``);
        - ``clusters``: share of the rows at fit and now, p-value, and ``columns``: those that have changed
          among the rows of this cluster;
        - ``columns``: every column with its ``distance``, p-value and what moved, changed columns first;
        - ``numbers``: shift of the mean of every number column, in standard deviations of the fit;
        - ``unseen``, ``missing``: cells per column with a category not seen at fit, and without a value;
        - ``absent``, ``extra``: columns of the fit that the table does not have, and the reverse;
        - ``certainty``: mean membership probability at fit and now, None if the method has none.
    records : list of dict
        Lines of ``to_frame``.
    library : str
        Frame library of ``to_frame``.
    """

    template = "drift.html.jinja"
    records: list[dict[str, Any]]
    library: str

    @property
    def changed(self) -> list[str]:
        """Clusters and columns with a change that is significant and large enough.

        A column that has changed in some clusters only is listed with each of them.
        """
        columns = [one["column"] for one in self.summary["columns"] if one["changed"]]
        return [
            *(f"cluster {one['cluster']}" for one in self.summary["clusters"] if one["changed"]),
            *columns,
            *(
                f"{inside['column']} in cluster {one['cluster']}"
                for one in self.summary["clusters"]
                for inside in one["columns"]
                if inside["column"] not in columns
            ),
        ]

    def to_frame(self) -> Any:
        """One line per cluster, per column, and per column within each cluster.

        A frame of the library of the fit's table. ``cluster`` is missing in lines about the whole table,
        ``column`` in those about the size of a cluster.

        Examples
        --------
        >>> import catalpa
        >>> zoo = catalpa.datasets.load("zoo").frame
        >>> model = catalpa.Grove(4, random_state=0).fit(zoo)
        >>> frame = catalpa.drift(model, zoo.assign(legs="6")).to_frame()
        >>> frame.loc[frame["changed"] & frame["cluster"].isna(), ["column", "distance"]].round(2)
          column  distance
        4   legs       0.9
        """
        return frame_of_lines(self.library, self.records, MEASURES)

    def __repr__(self) -> str:
        changed = ", ".join(self.changed) or "nothing"
        rows = f"{self.summary['rows']:,} new rows"
        return f"Drift({rows}; changed: {changed}; .save('drift.html') writes the page)"


@dataclass(frozen=True)
class Thresholds:
    """Thresholds from which a difference counts as a change."""

    alpha: float
    min_change: float
    min_shift: float

    def __post_init__(self) -> None:
        for name, most in (("alpha", 1.0), ("min_change", 1.0), ("min_shift", math.inf)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= most:
                limits = "a number of at least 0" if most == math.inf else "a number from 0 to 1"
                raise ParameterError(f"{name} is {value!r}; it must be {limits}.")


def drift(
    model: Clusterer,
    X: Any,
    *,
    sample_weight: Any = None,
    alpha: float = ALPHA,
    min_change: float = MIN_CHANGE,
    min_shift: float = MIN_SHIFT,
    title: str = "What has changed",
) -> Drift:
    """Compare a new table with the one that a model was fitted to.

    A cluster or a column has changed if the difference is both significant and large enough.

    - The share of a cluster is compared by a chi-square test; it must differ by ``min_change``.
    - The categories of a column are compared by a chi-square test in which missing values and categories
      not seen at fit count as two further categories; categories with an expected count below 5 are
      pooled. The share of rows whose category would have to change (total variation distance) must be at
      least ``min_change``.
    - The mean of a number is compared by Student's t test and must move by ``min_shift`` standard deviations
      of the fit; the share of its missing values by a chi-square test, and must differ by ``min_change``.

    The tests are corrected for their number (Bonferroni): among clusters, among columns, and among columns
    within clusters, ``alpha`` is the probability of reporting any change if there is none. A column that is
    not in the table, or that cannot be read as at fit, has changed.

    Parameters
    ----------
    model : fitted estimator
    X : table
        New rows, of any kind that ``fit`` takes. Columns are matched by name; a column of the fit that is
        not there counts as missing values, further columns are ignored and listed.
    sample_weight : str or array-like (n,), optional
        Weight of each new row, as at fit: the name of a column, or an array.
    alpha : float
        Significance level.
    min_change : float
        Smallest change of a share of the rows that is reported.
    min_shift : float
        Smallest shift of a mean that is reported, in standard deviations of the fit.
    title : str
        Heading of the page.

    Returns
    -------
    Drift
        ``changed`` lists what has changed, ``to_frame()`` has all measures, ``save(path)`` writes the page.

    Examples
    --------
    >>> import catalpa
    >>> zoo = catalpa.datasets.load("zoo").frame
    >>> model = catalpa.Grove(4, random_state=0).fit(zoo)
    >>> catalpa.drift(model, zoo).changed
    []
    >>> new = zoo.astype({"legs": str})
    >>> new.loc[::4, "legs"] = "100"
    >>> found = catalpa.drift(model, new)
    >>> found.changed, found.summary["unseen"]
    (['legs'], {'legs': 26})
    """
    thresholds = Thresholds(alpha, min_change, min_shift)
    fitted, table = fitted_of(model), read_table(model, X, sample_weight)
    comparison = _Comparison(fitted, TableCounts.of_fit(fitted).in_rows, table.counts.in_rows, thresholds)
    columns = [_with_table(one, table) for one in comparison.columns()]
    columns += comparison.items(table)
    columns.sort(key=lambda one: (not one["changed"], -one["distance"]))
    within = comparison.within_clusters()
    clusters = [
        one | {"columns": [record for record in within_records if record["changed"]]}
        for one, within_records in zip(comparison.clusters(), within, strict=True)
    ]
    at_fit = getattr(model, "certainty_", None)
    summary = {
        "title": title,
        "method": type(model).__name__,
        "rows_at_fit": fitted.rows,
        "rows": table.counts.rows,
        "thresholds": {"alpha": alpha, "min_change": min_change, "min_shift": min_shift},
        "clusters": clusters,
        "columns": columns,
        "numbers": {one["column"]: one["shift"] for one in columns if one["kind"] == "numbers"},
        "unseen": table.unseen,
        "missing": table.missing,
        "absent": table.absent,
        "extra": table.extra,
        "certainty": None
        if at_fit is None or table.certainty is None
        else {"at_fit": float(at_fit), "now": table.certainty},
    }
    lines = [*clusters, *columns, *(one for within_records in within for one in within_records)]
    return Drift(summary, [_line(one) for one in lines], fitted.schema.library)


def _line(record: dict[str, Any]) -> dict[str, Any]:
    """A record as a line of the frame."""
    return {name: record.get(name) for name in MEASURES} | {"kind": record.get("kind", "cluster")}


def _with_table(record: dict[str, Any], table: NewTable) -> dict[str, Any]:
    """Add to a column's record what cannot be computed from counts: new categories and problems."""
    source, cells = record.pop("source"), table.counts.rows
    problem = table.problems.get(source)
    extra: dict[str, Any] = {"absent": source in table.absent, "problem": problem}
    if record["kind"] == "categories":
        examples = table.examples.get(record["column"], [])
        extra["new"] = [{"category": one["category"], "share": one["cells"] / cells} for one in examples]
    return record | extra | {"changed": record["changed"] or extra["absent"] or problem is not None}


@dataclass(frozen=True, eq=False)
class _Comparison:
    """Counts at fit and now, in rows."""

    fitted: Fitted
    then: TableCounts
    now: TableCounts
    thresholds: Thresholds

    def clusters(self) -> list[dict[str, Any]]:
        then, now = self.then.sizes, self.now.sizes
        records = []
        for cluster, (before, after) in enumerate(zip(then, now, strict=True)):
            counts = np.array([[before, then.sum() - before], [after, now.sum() - after]])
            p_value = min(chi_square(counts) * len(then), 1.0)
            shares = safe_divide(counts[:, 0], counts.sum(axis=1)).tolist()
            distance = abs(shares[1] - shares[0])
            records.append(
                {
                    "cluster": cluster,
                    "name": self.fitted.names.get(cluster),
                    "share_at_fit": shares[0],
                    "share": shares[1],
                    "distance": distance,
                    "p_value": p_value,
                    "changed": self._changed([(p_value, distance, self.thresholds.min_change)]),
                }
            )
        return records

    def columns(self) -> list[dict[str, Any]]:
        """Every column over the whole table."""
        return [record[0] for record in self._records(self.then.as_one_cluster, self.now.as_one_cluster)]

    def within_clusters(self) -> list[list[dict[str, Any]]]:
        """Every column within each cluster, the largest change first."""
        records = self._records(self.then, self.now)
        result = []
        for cluster in range(len(self.then.sizes)):
            lines = [column[cluster] | {"cluster": cluster} for column in records]
            for record in lines:
                del record["source"]
            result.append(sorted(lines, key=lambda one: -one["distance"]))
        return result

    def items(self, table: NewTable) -> list[dict[str, Any]]:
        """Columns of lists with items not seen at fit, which have no derived column."""
        records = []
        for column, cells in table.items.items():
            before, after = self.fitted.rows, table.counts.rows
            p_value = min(chi_square(np.array([[before, 0], [after - cells, cells]])) * self._tests, 1.0)
            share = cells / after
            records.append(
                {
                    "column": column,
                    "kind": "items",
                    "distance": share,
                    "unseen": share,
                    "p_value": p_value,
                    "changed": self._changed([(p_value, share, self.thresholds.min_change)]),
                    "absent": False,
                    "problem": None,
                    "new": [],
                }
            )
        return records

    @property
    def _tests(self) -> int:
        """Tests of one table: one per categorical column, and two per number."""
        schema = self.fitted.schema
        return max(len(schema.categorical) + 2 * len(schema.numeric), 1)

    def _records(self, then: TableCounts, now: TableCounts) -> list[list[dict[str, Any]]]:
        """For each column a record per cluster."""
        tests = self._tests * len(then.sizes)
        return [*self._categories(then, now, tests), *self._numbers(then, now, tests)]

    def _categories(self, then: TableCounts, now: TableCounts, tests: int) -> Iterable[list[dict[str, Any]]]:
        for at, column in enumerate(self.fitted.schema.categorical):
            names = (*category_names(column.known), MISSING, NEW)
            pairs = zip(then.groups(at, column), now.groups(at, column), strict=True)
            source = column.name if column.origin is None else column.origin.column
            yield [
                {"column": column.name, "kind": "categories", "source": source}
                | self._category_record(names, np.stack(pair), tests)
                for pair in pairs
            ]

    def _category_record(self, names: tuple[str, ...], counts: FloatArray, tests: int) -> dict[str, Any]:
        """Change of the categories of one column; ``counts`` (2, groups) at fit and now."""
        before, after = safe_divide(counts, counts.sum(axis=1, keepdims=True))
        moved = after - before if counts.sum(axis=1).all() else np.zeros(len(names))
        distance, p_value = float(np.abs(moved).sum() / 2), min(chi_square(counts) * tests, 1.0)
        rose, fell = (
            {"category": names[at], "share_at_fit": float(before[at]), "share": float(after[at])}
            for at in (moved.argmax(), moved.argmin())
        )
        return {
            "distance": distance,
            "p_value": p_value,
            "rose": rose if moved.max() > 0 else None,
            "fell": fell if moved.min() < 0 else None,
            "unseen": float(after[-1]),
            "missing_at_fit": float(before[-2]),
            "missing": float(after[-2]),
            "changed": self._changed([(p_value, distance, self.thresholds.min_change)]),
        }

    def _numbers(self, then: TableCounts, now: TableCounts, tests: int) -> Iterable[list[dict[str, Any]]]:
        scaling, middle = self.fitted.schema.scaling, mean_at_fit(self.fitted)
        total = self.then.as_one_cluster
        deviation = np.sqrt(_moments(total)[1][0])  # (numeric,); unit of all shifts
        values = []
        for counts in (then, now):
            means, variances = _moments(counts)
            restored = in_known_digits(scaling.restore(middle + means), self.fitted.schema)
            values.append((means, variances, restored, 2 * np.sqrt(variances) * scaling.half_span))
        for at, column in enumerate(self.fitted.schema.numeric):
            records = []
            for cluster in range(len(then.sizes)):
                seen = np.array([then.seen[cluster, at], now.seen[cluster, at]])
                sizes = np.array([then.sizes[cluster], now.sizes[cluster]])
                means, variances, restored, sds = (
                    np.array([side[part][cluster, at] for side in values]) for part in range(4)
                )
                record: dict[str, Any] = {"column": column.name, "kind": "numbers", "source": column.name}
                record |= self._number_record(seen, sizes, means, variances, float(deviation[at]), tests)
                for name, estimates in (("mean", restored), ("sd", sds)):
                    record |= {
                        f"{name}_at_fit": float(estimates[0]) if seen[0] else None,
                        name: float(estimates[1]) if seen[1] else None,
                    }
                records.append(record)
            yield records

    def _number_record(
        self,
        seen: FloatArray,
        sizes: FloatArray,
        means: FloatArray,
        variances: FloatArray,
        deviation: float,
        tests: int,
    ) -> dict[str, Any]:
        """Change of the mean and of the missing values of one number; arrays have (fit, now)."""
        moved = float(means[1] - means[0])
        shift = moved / deviation if deviation > 0 else float(np.sign(moved))
        if not seen.all():  # mean of no numbers
            shift, moved = 0.0, 0.0
        p_shift = min(t_test(seen, means, variances) * tests, 1.0)
        there = np.minimum(seen, sizes)
        absent = safe_divide(sizes - there, sizes)
        p_missing = min(chi_square(np.stack([there, sizes - there], axis=1)) * tests, 1.0)
        missing = abs(float(absent[1] - absent[0])) if sizes.all() else 0.0
        limits = self.thresholds
        return {
            "distance": abs(shift),
            "p_value": min(p_shift, p_missing),
            "shift": shift if seen.all() else None,
            "missing_at_fit": float(absent[0]),
            "missing": float(absent[1]),
            "changed": self._changed(
                [(p_shift, abs(shift), limits.min_shift), (p_missing, missing, limits.min_change)]
            ),
        }

    def _changed(self, tests: Iterable[tuple[float, float, float]]) -> bool:
        """True if any of the tests, (corrected p-value, size, smallest size), reports a change."""
        return any(
            p_value < self.thresholds.alpha and size >= least - ROUNDING for p_value, size, least in tests
        )


def _moments(counts: TableCounts) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of every number in every cluster, from the mean of the fit."""
    means = safe_divide(counts.sums, counts.seen)
    return means, np.maximum(safe_divide(counts.squares, counts.seen) - means * means, 0.0)


def chi_square(counts: FloatArray) -> float:
    """P-value of the chi-square test of homogeneity of two rows of counts.

    Categories whose expected count is below 5 in either row are pooled.

    Examples
    --------
    >>> round(chi_square(np.array([[30, 70], [45, 55]])), 4)
    0.0285
    >>> chi_square(np.array([[10, 0], [0, 0]]))
    1.0
    """
    counts = np.asarray(counts, dtype=np.float64)
    rows, columns = counts.sum(axis=1, keepdims=True), counts.sum(axis=0)
    if (rows <= 0).any():
        return 1.0
    small = columns * rows.min() / rows.sum() < EXPECTED
    if small.sum() > 1:
        counts = np.column_stack([counts[:, ~small], counts[:, small].sum(axis=1)])
    counts = counts[:, counts.sum(axis=0) > 0]
    if counts.shape[1] < 2:
        return 1.0
    return float(stats.chi2_contingency(counts, correction=False).pvalue)


def t_test(rows: FloatArray, means: FloatArray, variances: FloatArray) -> float:
    """Two-sided p-value of Student's t test from the sizes, means and variances (over n) of two samples.

    The variance is pooled, because without a change both are equal, and a few equal new numbers are a poor
    estimate.

    Examples
    --------
    >>> round(t_test(np.array([4, 4]), np.array([2.5, 4.5]), np.array([1.25, 1.25])), 4)
    0.071
    """
    freedom = float(rows.sum()) - 2.0
    if freedom <= 0 or not rows.all():
        return 1.0
    difference = abs(float(means[1] - means[0]))
    error = math.sqrt(float((rows * variances).sum()) / freedom * float((1.0 / rows).sum()))
    if error == 0:
        return float(difference == 0)
    return float(2.0 * stats.t.sf(difference / error, freedom))
