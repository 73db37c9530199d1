"""Fitted attributes that explain clusters: centres, profiles, reasons, history, maps, reports, card."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

import narwhals.stable.v2 as nw
import numpy as np

from catalpa.estimator.parameters import check_parameters, integer, rules
from catalpa.estimator.problem import Fitted, Outcome, fitted_of
from catalpa.estimator.verdict import Verdict
from catalpa.explain.formatting import percent, row_count_text
from catalpa.explain.numbers import NumberProfile, profile_numbers
from catalpa.explain.profiles import profile_columns
from catalpa.explain.reasons import Reason, cluster_records, reasons, rows_per_weight, with_titles
from catalpa.explain.repeats import REPEATED, common_share, group_numbers, groups_of, repeats_in_words
from catalpa.loop.history import Pass
from catalpa.steps.counts import SQUARE_BITS
from catalpa.table import decode
from catalpa.table.blocks import TICK_BITS, Block, FloatArray
from catalpa.table.joined import JoinedAxis
from catalpa.table.schema import Schema

if TYPE_CHECKING:
    from catalpa.report import Explorer, Report

EAGER = ("pandas", "polars", "pyarrow", "modin", "cudf")  # libraries whose frames are created from columns
LARGE_DIGITS = 15  # numbers beyond 10**15 are not rounded; the largest could overflow
CLUSTERS_SHOWN = 12  # of the notebook card; the report shows all
IN_UNITS = ("means", "sds", "elsewhere", "sds_elsewhere")  # parts of a profile in the units of the columns
# In a fit's array of columns that are common to all clusters: a number that repeats the first number.
NUMBER_REPEATS = 2
MOST_AXES = 1000  # of a map; people look at two or three
LEAST_VARIANCE = 2.0**-SQUARE_BITS  # of a range: the resolution of squares
# Fields of a reason; a category has no mean, and a number no share.
OF_REASONS = ("kind", "column", "category", "share", "share_elsewhere", "mean", "mean_elsewhere", "shift")


def unavailable(**read_instead: str) -> Mapping[str, str]:
    """Attributes that a method does not have, by name, with the explanation for the error."""
    return read_instead


class ExplanationMixin:
    """Attributes in original values, computed on access."""

    _unavailable: ClassVar[Mapping[str, str]] = unavailable()  # what ``hasattr`` denies

    @property
    def cluster_centers_(self) -> Any:
        """One row per cluster in original values, in the table's own frame library."""
        self._check_meant("cluster_centers_")
        fitted = fitted_of(self)
        schema, outcome, library = fitted.schema, fitted.outcome, frame_library(fitted.schema.library)
        means_in_units = np.where(outcome.counts.seen > 0, outcome.counts.means(), outcome.scores.means)
        means = in_known_digits(schema.scaling.restore(means_in_units), schema)
        columns = {
            column.name: nw.new_series(column.name, values.tolist(), nw.Float64, backend=library)
            for column, values in zip(schema.numeric, means.T, strict=True)
        }
        block = Block(outcome.centers, np.zeros((outcome.k, 0)))
        categories = replace(schema, columns=schema.categorical, library=library, named=True)
        decoded = nw.from_native(decode(block, categories), eager_only=True)
        columns |= {name: decoded.get_column(name) for name in decoded.columns}
        return nw.from_dict({name: columns[name] for name in schema.names}).to_native()

    @property
    def inertia_(self) -> float:
        """Sum of distances of the rows to their cluster: ``cost_`` under scikit-learn's name."""
        self._check_meant("inertia_")
        return fitted_of(self).outcome.cost

    def _check_meant(self, name: str) -> None:
        if name in self._unavailable:
            raise AttributeError(f"{type(self).__name__} has no {name}: {self._unavailable[name]}.")

    @property
    def profiles_(self) -> Any:
        """Share and lift of every category, mean, SD and quartiles of every number, per cluster.

        A quartile is the smallest number at which the cumulative weight reaches a quarter (half, three
        quarters) of the cluster's; rows without a number are left out. Quartiles are computed from all rows,
        from a random sample of 100,000 rows of larger tables, or from the last search with ``partial_fit``.

        Examples
        --------
        >>> from catalpa import KPrototypes
        >>> rows = [["a", 1.5], ["a", 2.5], ["a", 2.5], ["a", 4.5], ["b", 9.5], ["b", None]]
        >>> profiles = KPrototypes(2, init=[["a", 1.5], ["b", 9.5]]).fit(rows).profiles_
        >>> numbers = profiles[profiles["column"] == "x1"]
        >>> numbers[["lower_quartile", "median", "upper_quartile", "missing"]].values.tolist()
        [[1.5, 2.5, 2.5, 0.0], [9.5, 9.5, 9.5, 0.5]]
        """
        fitted = fitted_of(self)
        return in_full(frame_in(fitted.schema.library, profile_of(fitted)))

    def reasons(self, top: int = 3) -> Any:
        """What is typical of each cluster, most informative first.

        Parameters
        ----------
        top : int, default=3
            Maximum number of reasons per cluster; a column gives at most one.

        Returns
        -------
        frame of the table's library
            ``cluster``, ``kind`` (common, rare or number), ``column``, ``category``, ``share`` and
            ``share_elsewhere``, or ``mean``, ``mean_elsewhere`` and ``shift`` in standard deviations;
            ``bits``, and the reason as ``text``.
        """
        check_parameters("reasons", {"top": top}, rules(top=integer(1)))
        fitted = fitted_of(self)
        lines = [
            {"cluster": cluster, **dict.fromkeys(OF_REASONS), **reason.record()}
            for cluster, reasons in enumerate(reasons_of(fitted, top))
            for reason in reasons
        ]
        return frame_of_lines(fitted.schema.library, lines, ("cluster", *OF_REASONS, "bits", "text"))

    @property
    def history_(self) -> Any:
        """Phase, cost, moved rows, relearning and clusters of every iteration.

        After ``partial_fit`` there is one row per batch: its number of rows, their mean cost in the previous
        clusters, the share of cells with new categories, and the shift of the clusters.
        """
        fitted = fitted_of(self)
        lines = [asdict(event) for event in fitted.outcome.history]
        if fitted.batches:
            lines = [{"batch": at, **asdict(batch)} for at, batch in enumerate(fitted.batches, start=1)]
        return frame_of_lines(fitted.schema.library, lines, lines[0] if lines else Pass.__dataclass_fields__)

    def category_map(self, X: Any, *, axes: int = 2) -> Any:
        """Map of all categories, in which categories that occur together in the same clusters are close.

        Parameters
        ----------
        X : table
            The fitted table, or another one with the same columns.
        axes : int, default=2
            Number of axes, from 1 to 1 000.

        Returns
        -------
        frame of the table's library
            One row per category that occurs: ``column``, ``category``, ``count``, and for each axis the
            coordinate (``x0``, ``x1``, ...), the contribution of the category to the axis
            (``contribution0``, ...) and the squared cosine of the category and the axis (``quality0``, ...).
            ``catalpa.plot.category_map`` draws it.
        """
        check_parameters("category_map", {"axes": axes}, rules(axes=integer(1, MOST_AXES)))
        from catalpa.plot.category_map import category_map_of  # a higher layer
        from catalpa.plot.view import make_view

        return frame_in(fitted_of(self).schema.library, category_map_of(make_view(self, X), axes).tidy())  # type: ignore[arg-type]

    def report(
        self,
        X: Any,
        *,
        sample_weight: Any = None,
        against: Any = None,
        id: Any = None,  # noqa: A002 - the name of the command-line option
        title: str = "Cluster report",
        intervals: Any = None,
    ) -> Report:
        """An HTML report on the clusters that works offline: ``report(X).save("report.html")``.

        Parameters
        ----------
        X : table
            The table of the fit, or another with the same columns, of any kind that ``fit`` takes. All rows
            are counted; with more than 20 000 a random sample is measured, and with more than 2 000 one is
            mapped. Further columns are only shown next to typical rows.
        sample_weight : str or array-like (n,), optional
            Weight of each row, as at fit.
        against : str, list of str, or array-like (n,), optional
            A column that was not clustered, such as a known class, to cross-tabulate: its name in
            the table, or its values. Several names give a cross-tabulation each.
        id : str or array-like (n,), optional
            The column with the names of the rows, or their names; default: the index of the frame.
        title : str
            Title of the page.
        intervals : Intervals, optional
            Result of ``Grove.intervals(X)``: intervals are shown next to sizes and shares.

        Returns
        -------
        Report
            ``save(path)`` writes HTML, or JSON if the name ends in ``.json``; ``summary`` is a dict.

        Examples
        --------
        >>> import catalpa
        >>> zoo = catalpa.datasets.load("zoo").frame
        >>> catalpa.Grove(7, random_state=0).fit(zoo).report(zoo, title="Zoo")
        Report('Zoo': 101 rows in 7 clusters; .save('report.html') writes the page)
        """
        fitted_of(self)  # NotFittedError comes before errors about missing packages
        from catalpa.report.report_page import report_of  # a higher layer with optional dependencies

        model: Any = self
        return report_of(model, X, sample_weight, against, id, title, intervals)

    def explore(self, X: Any, **options: Any) -> Explorer:
        """A page to explore the clusters on: ``explore(X).save("explore.html")``.

        Parameters
        ----------
        X : table
            The rows to show, with the columns of fit.
        **options
            As for :func:`catalpa.explore`: ``others``, ``sample_weight``, ``rows`` and ``title``.

        Returns
        -------
        Explorer
            ``save(path)`` writes HTML; ``widget()`` is a widget for notebooks.

        Examples
        --------
        >>> import catalpa
        >>> zoo = catalpa.datasets.load("zoo").frame
        >>> catalpa.Grove(4, random_state=0).fit(zoo).explore(zoo, title="Zoo")
        Explorer('Zoo', clusters [2, 3, 4]; .save('explore.html') writes it)
        """
        fitted_of(self)  # NotFittedError comes before errors about missing packages
        from catalpa.report.explore_page import explore  # a higher layer with optional dependencies

        model: Any = self
        return explore(model, X, **options)


def profile_of(fitted: Fitted) -> dict[str, Any]:
    """The columns of ``profiles_``."""
    numbers = number_profile(fitted) if fitted.schema.numeric else None
    counts = fitted.outcome.counts
    by_category, sizes = fitted.in_weights(counts.by_category), fitted.in_weights(counts.sizes)
    columns = profile_columns(by_category, sizes, fitted.schema, numbers)
    columns["count"] = columns["count"].astype(sizes.dtype)  # integers unless rows have weights
    if fitted.names:
        names = [fitted.names.get(cluster) for cluster in columns["cluster"].tolist()]
        columns = {"cluster": columns.pop("cluster"), "name": names, **columns}
    return columns


def number_profile(fitted: Fitted) -> NumberProfile:
    """Means and standard deviations of numbers in every cluster, from the sums of the fit."""
    counts, schema = fitted.outcome.counts, fitted.schema
    variances = counts.variances()
    variances = np.where(variances > LEAST_VARIANCE, variances, 0.0)
    seen, sizes = fitted.in_weights(counts.seen), fitted.in_weights(counts.sizes)
    profile = profile_numbers(seen, counts.means(), variances, sizes, schema)
    rounded: dict[str, Any] = {name: in_known_digits(getattr(profile, name), schema) for name in IN_UNITS}
    quartiles = schema.scaling.restore(np.moveaxis(fitted.quartiles, 2, 0))
    return replace(profile, **rounded, quartiles=np.moveaxis(in_known_digits(quartiles, schema), 0, 2))


def in_known_digits(values: FloatArray, schema: Schema) -> FloatArray:  # (..., numeric)
    """Every column rounded to its precision, so that 353.1 is not shown as 353.100001."""
    columns = []
    for column, numbers in zip(schema.numeric, np.moveaxis(values, -1, 0), strict=True):
        tick, figures = (column.high - column.low) * 2.0**-TICK_BITS, numbers.ravel().tolist()
        if 0.0 < tick < math.inf:  # constant columns are exact
            digits = max(-math.floor(math.log10(tick)) - 1, -LARGE_DIGITS)
            figures = [round(value, digits) for value in figures]
        columns.append(figures)
    return np.array(columns, dtype=np.float64).T.reshape(values.shape)


def reasons_of(fitted: Fitted, top: int = 3) -> list[list[Reason]]:
    """Reasons of each cluster, most informative first."""
    by_category = fitted.in_weights(fitted.outcome.counts.by_category)
    weight = float(fitted.in_weights(fitted.outcome.counts.sizes).sum())
    per_weight = rows_per_weight(fitted.rows, weight)
    numbers, groups = number_profile(fitted), group_numbers(repeats_of(fitted))
    listed = reasons(by_category, fitted.schema, numbers, top=top, rows_per_weight=per_weight, groups=groups)
    return with_titles(listed, fitted.titles)


def repeats_of(fitted: Fitted) -> list[list[str]]:
    """Groups of columns that repeat each other, for methods that detect them."""
    shared = fitted.outcome.shared
    if "pair_counts" not in shared:
        return []
    names, axis = [column.name for column in fitted.schema.categorical], fitted.schema.axis
    joined = JoinedAxis(axis, tuple(shared["parents"].tolist()))
    shares = {
        (parent, column): common_share(shared["pair_counts"][part].reshape(axis.sizes[parent], -1) / 1.0)
        for column, parent, part in joined.parts()
    }
    tied = [(names[one], names[other]) for (one, other), share in shares.items() if share >= REPEATED]
    return groups_of([*tied, *((other, column) for column, other in repeated_numbers(fitted))])


def repeated_numbers(fitted: Fitted) -> list[tuple[str, str]]:
    """Names of the numbers that take no part since they repeat another one, and of that one."""
    schema, common = fitted.schema, fitted.outcome.shared["common"]
    everything = [column.name for column in (*schema.categorical, *schema.numeric)]
    numbers = [column.name for column in schema.numeric]
    numbers += [column.name for column in schema.categorical if column.binned]
    repeating = np.flatnonzero(common >= NUMBER_REPEATS)
    pairs = {everything[at]: numbers[common[at] - NUMBER_REPEATS] for at in repeating}
    return [(name, pairs[name]) for name in numbers if name in pairs]


def column_notes(fitted: Fitted) -> list[str]:
    """Remarks on columns: which repeat each other, and which do not differ between clusters."""
    notes, common = repeats_in_words(repeats_of(fitted)), fitted.outcome.shared.get("common")
    if common is not None and common.any():
        used, all_columns = int((common == 0).sum()), len(common)
        notes.append(f"{used:,} of {all_columns:,} columns differ between clusters; the others are not used")
    return notes


def weights_frame(schema: Schema, weights: FloatArray) -> Any:
    """One row per cluster, one column per column of the table; ``weights`` has categorical columns first."""
    ordered = zip((*schema.categorical, *schema.numeric), weights.T, strict=True)
    columns = {column.name: weights.tolist() for column, weights in ordered}
    return frame_in(schema.library, {name: columns[name] for name in schema.names})


def balance(outcome: Outcome) -> dict[str, float]:
    """Shares of the rows' distances due to categorical and numeric columns."""
    scores, counts = outcome.scores, outcome.counts
    sums = counts.means() * counts.seen
    squares = counts.squares * 2.0**-SQUARE_BITS
    # Squared distances of the numbers to their cluster's mean, (k, numeric).
    around = squares - 2.0 * scores.means * sums + counts.seen * scores.means**2
    parts = {
        "categorical": counts.priced(scores.table),
        "numeric": float((scores.scale * np.maximum(around, 0.0)).sum()),
    }
    total = sum(parts.values())
    return {name: part / total if total > 0 else 0.0 for name, part in parts.items()}


def frame_in(library: str, columns: Mapping[str, Any]) -> Any:
    """A frame of these columns in ``library``; pandas if the table was not a frame."""
    plain = {name: list(values) for name, values in columns.items()}
    return nw.from_dict(plain, backend=frame_library(library)).to_native()


def frame_of_lines(library: str, lines: Sequence[Mapping[str, Any]], names: Iterable[str]) -> Any:
    """A frame with one row per line and these columns."""
    return in_full(frame_in(library, {name: [line[name] for line in lines] for name in names}))


def in_full(frame: Any) -> Any:
    """The frame, whose text is not truncated on display; a subclass of pandas.DataFrame if it is one."""
    if not nw.dependencies.is_pandas_dataframe(frame):
        return frame
    from catalpa.estimator.full_text import FullTextFrame  # not needed for other libraries

    return FullTextFrame(frame)


def frame_library(library: str) -> Any:
    """The library whose frames are returned for tables of ``library``."""
    return library if library in EAGER else "pandas"


def size_line(fitted: Fitted) -> str:
    """Rows, clusters and, if the method has one, the mean membership probability, on one line."""
    rows = fitted.in_weights(fitted.outcome.counts.sizes).sum().item()
    k = fitted.outcome.k
    line = f"{row_count_text(rows)} row{'' if rows == 1 else 's'}, {k} cluster{'' if k == 1 else 's'}"
    certainty = fitted.outcome.facts.get("certainty")
    return line if certainty is None else f"{line}, mean membership probability {percent(certainty)}"


def card(method: str, verdict: Verdict, fitted: Fitted) -> str:
    """The notebook card: the verdict, and a table of clusters, sizes and what is typical of them, as HTML."""
    sizes = fitted.in_weights(fitted.outcome.counts.sizes)
    records = cluster_records(sizes, fitted.names, reasons_of(fitted))
    rows = [
        f"<tr><th>{escape(one['name'] or str(one['cluster']))}</th>"
        f"<td>{row_count_text(one['size'])}</td><td>{percent(one['share'])}</td>"
        f'<td style="text-align: left">{escape(one["sets_apart"])}</td></tr>'
        for one in records[:CLUSTERS_SHOWN]
    ]
    more = len(records) - CLUSTERS_SHOWN
    caption = f"{method}: {len(records)} clusters" + (f", {more} not shown" if more > 0 else "")
    cells = '<th style="text-align: left">typical</th>'
    note = ' style="color: #888"' if verdict.level == "none" else ""  # without structure, reasons mean little
    head = f"<tr><th>cluster</th><th>rows</th><th>share</th>{cells}</tr>"
    return (
        f"<p>{escape(verdict.sentence)}</p>"
        f'<table{note}><caption style="text-align: left; font-weight: 600">{caption}</caption>'
        f"<thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"
    )
