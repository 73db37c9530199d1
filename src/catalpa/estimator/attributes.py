"""What a fitted estimator says of its clusters: centres, profiles, reasons, history, maps, pages, a card."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar

import narwhals.stable.v2 as nw
import numpy as np

from catalpa.estimator.parameters import check_parameters, rules, whole
from catalpa.estimator.problem import Fitted, Outcome, fitted_of
from catalpa.loop.history import Pass
from catalpa.relations.names import amount, percent
from catalpa.relations.numbers import NumberProfile, profile_numbers
from catalpa.relations.profiles import profile_columns
from catalpa.relations.reasons import Reason, reasons, rows_per_weight, sentence
from catalpa.relations.repeats import REPEATED, common_share, group_numbers, groups_of, repeats_in_words
from catalpa.steps.counts import SQUARE_BITS
from catalpa.table import decode
from catalpa.table.blocks import TICK_BITS, Block, FloatArray
from catalpa.table.joined import JoinedAxis
from catalpa.table.schema import Schema

if TYPE_CHECKING:
    from catalpa.report import Report

EAGER = ("pandas", "polars", "pyarrow", "modin", "cudf")  # libraries whose frames can be made from columns
LARGE_DIGITS = 15  # beyond 10**15 no number is told shorter; the largest could become infinite
CLUSTERS_SHOWN = 12  # a card is read at a glance, a report in full
IN_UNITS = ("means", "sds", "elsewhere", "sds_elsewhere")  # parts of a profile in the units of the columns
LEAST_VARIANCE = 2.0**-SQUARE_BITS  # of a range: squares are no finer, so less is none
# What a reason may tell; a category has no mean, and a number no share.
OF_REASONS = ("kind", "column", "category", "share", "share_elsewhere", "mean", "mean_elsewhere", "shift")


def lacking(**read_instead: str) -> Mapping[str, str]:
    """Attributes that mean nothing in a method, by name, each with what to read there instead."""
    return read_instead


class ExplanationMixin:
    """Frames in the user's own words, made when they are asked for."""

    _lacks: ClassVar[Mapping[str, str]] = lacking()  # what ``hasattr`` denies

    @property
    def cluster_centers_(self) -> Any:
        """One row per cluster in original values, in the table's own frame library."""
        self._check_meant("cluster_centers_")
        fitted = fitted_of(self)
        schema, outcome, library = fitted.schema, fitted.outcome, frame_library(fitted.schema.library)
        own = np.where(outcome.counts.seen > 0, outcome.counts.means(), outcome.scores.means)
        means = in_known_digits(schema.scaling.restore(own), schema)
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
        """Summed distance of the rows to what stands for their cluster: ``cost_`` by scikit-learn's name."""
        self._check_meant("inertia_")
        return fitted_of(self).outcome.cost

    def _check_meant(self, name: str) -> None:
        if name in self._lacks:
            raise AttributeError(f"{type(self).__name__} has no {name}: {self._lacks[name]}.")

    @property
    def profiles_(self) -> Any:
        """Share and lift of every category, mean, spread and quartiles of every number, per cluster.

        A quartile is the smallest number up to which a quarter (half, three quarters) of the cluster's weight
        lies; rows without a number are left out. Quartiles are taken from all rows, or from 100 000 drawn
        alike on every engine where a table has more, and with ``partial_fit`` from the first batch.

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
        numbers = number_profile(fitted) if fitted.schema.numeric else None
        counts = fitted.outcome.counts
        by_category, sizes = fitted.in_weights(counts.by_category), fitted.in_weights(counts.sizes)
        columns = profile_columns(by_category, sizes, fitted.schema, numbers)
        columns["count"] = columns["count"].astype(sizes.dtype)  # rows stay whole where nothing was weighted
        if fitted.names:
            names = [fitted.names.get(cluster) for cluster in columns["cluster"].tolist()]
            columns = {"cluster": columns.pop("cluster"), "name": names, **columns}
        return frame_in(fitted.schema.library, columns)

    def reasons(self, top: int = 3) -> Any:
        """What sets each cluster apart from the rest, the most telling first.

        Parameters
        ----------
        top : int, default=3
            Largest number of reasons of a cluster; a column gives one at most.

        Returns
        -------
        frame of the table's library
            ``cluster``, ``kind`` (common, rare or number), ``column``, ``category``, ``share`` and
            ``share_elsewhere``, or ``mean``, ``mean_elsewhere`` and ``shift`` in standard deviations;
            ``bits``, and the reason as ``text``.
        """
        check_parameters("reasons", {"top": top}, rules(top=whole(1)))
        fitted = fitted_of(self)
        lines = [
            {"cluster": cluster, **dict.fromkeys(OF_REASONS), **reason.record()}
            for cluster, found in enumerate(reasons_of(fitted, top))
            for reason in found
        ]
        return frame_of_lines(fitted.schema.library, lines, ("cluster", *OF_REASONS, "bits", "text"))

    @property
    def history_(self) -> Any:
        """Phase, cost, moved rows, relearnings and clusters of every pass.

        After ``partial_fit`` a line per batch: its rows, their mean cost in the clusters before it, the share
        of cells with new categories, and how far the clusters shifted.
        """
        fitted = fitted_of(self)
        lines = [asdict(event) for event in fitted.outcome.history]
        if fitted.batches:
            lines = [{"batch": at, **asdict(batch)} for at, batch in enumerate(fitted.batches, start=1)]
        return frame_of_lines(fitted.schema.library, lines, lines[0] if lines else Pass.__dataclass_fields__)

    def category_map(self, X: Any, *, axes: int = 2) -> Any:
        """Where every category stands on a map of all: which point to the same clusters and occur together.

        Parameters
        ----------
        X : table
            The table of the fit, or another with the same columns.
        axes : int, default=2
            Number of axes, at least 1.

        Returns
        -------
        frame of the table's library
            A row for every category that occurs: ``column``, ``category``, ``count``, and for each axis the
            coordinate (``x0``, ``x1``, ...), the part of the axis that is due to the category
            (``contribution0``, ...) and the part of the category's distance from the centre that the axis
            shows (``quality0``, ...). ``catalpa.plot.category_map`` draws it.
        """
        check_parameters("category_map", {"axes": axes}, rules(axes=whole(1)))
        from catalpa.plot.category_map import mapped  # above this room
        from catalpa.plot.view import look

        return frame_in(fitted_of(self).schema.library, mapped(look(self, X), axes).tidy())  # type: ignore[arg-type]

    def report(
        self,
        X: Any,
        *,
        sample_weight: Any = None,
        against: Any = None,
        id: Any = None,  # noqa: A002 - as the command calls it
        title: str = "Cluster report",
    ) -> Report:
        """Everything found in a table, as a page that opens offline: ``report(X).save("report.html")``.

        Parameters
        ----------
        X : table
            The table of the fit, or another with the same columns. Rows beyond 20 000 are counted but only a
            sample of them is measured, and beyond 2 000 a sample is mapped. Further columns are shown beside
            typical rows, and take no part.
        sample_weight : array-like (n,), optional
            Weight of each row, as at fit.
        against : str or array-like (n,), optional
            A column that took no part, such as a known class, to be crossed with the clusters: its name in
            the table, or its values.
        id : str or array-like (n,), optional
            The column that names the rows, or their names; the frame's own index if not given.
        title : str
            Heading of the page.

        Returns
        -------
        Report
            ``save(path)`` writes HTML, or JSON where the name ends in ``.json``; ``summary`` is a dict.

        Examples
        --------
        >>> import catalpa
        >>> zoo = catalpa.datasets.load("zoo").frame
        >>> catalpa.Grove(7, random_state=0).fit(zoo).report(zoo, title="Zoo")
        Report('Zoo': 101 rows in 7 clusters; .save('report.html') writes the page)
        """
        fitted_of(self)  # a model that is not fitted is told before packages are looked for
        from catalpa.report.reporting import report_of  # above this room, and its libraries are optional

        model: Any = self
        return report_of(model, X, sample_weight, against, id, title)


def number_profile(fitted: Fitted) -> NumberProfile:
    """Means and spreads of the numbers of every cluster, from the sums of the fit."""
    counts, schema = fitted.outcome.counts, fitted.schema
    variances = counts.variances()
    variances = np.where(variances > LEAST_VARIANCE, variances, 0.0)
    seen, sizes = fitted.in_weights(counts.seen), fitted.in_weights(counts.sizes)
    found = profile_numbers(seen, counts.means(), variances, sizes, schema)
    rounded: dict[str, Any] = {name: in_known_digits(getattr(found, name), schema) for name in IN_UNITS}
    quartiles = schema.scaling.restore(np.moveaxis(fitted.quartiles, 2, 0))
    return replace(found, **rounded, quartiles=np.moveaxis(in_known_digits(quartiles, schema), 0, 2))


def in_known_digits(values: FloatArray, schema: Schema) -> FloatArray:  # (..., numeric)
    """Every column to the digits that are known of it, so that 353.1 is not told as 353.100001."""
    columns = []
    for column, own in zip(schema.numeric, np.moveaxis(values, -1, 0), strict=True):
        tick, told = (column.high - column.low) * 2.0**-TICK_BITS, own.ravel().tolist()
        if 0.0 < tick < math.inf:  # a column that does not vary is known exactly
            digits = max(-math.floor(math.log10(tick)) - 1, -LARGE_DIGITS)
            told = [round(value, digits) for value in told]
        columns.append(told)
    return np.array(columns, dtype=np.float64).T.reshape(values.shape)


def reasons_of(fitted: Fitted, top: int = 3) -> list[list[Reason]]:
    """What sets each cluster apart, the most telling first."""
    by_category = fitted.in_weights(fitted.outcome.counts.by_category)
    weight = float(fitted.in_weights(fitted.outcome.counts.sizes).sum())
    per_weight = rows_per_weight(fitted.rows, weight)
    numbers, groups = number_profile(fitted), group_numbers(repeats_of(fitted))
    return reasons(by_category, fitted.schema, numbers, top=top, rows_per_weight=per_weight, groups=groups)


def repeats_of(fitted: Fitted) -> list[list[str]]:
    """Groups of columns that repeat each other, of a method that looks for them."""
    kept = fitted.outcome.shared
    if "pair_counts" not in kept:
        return []
    names, axis = [column.name for column in fitted.schema.categorical], fitted.schema.axis
    joined = JoinedAxis(axis, tuple(kept["parents"].tolist()))
    shares = {
        (parent, column): common_share(kept["pair_counts"][part].reshape(axis.sizes[parent], -1) / 1.0)
        for column, parent, part in joined.parts()
    }
    return groups_of(
        (names[one], names[other]) for (one, other), share in shares.items() if share >= REPEATED
    )


def column_notes(fitted: Fitted) -> list[str]:
    """What a fit found about the columns, in sentences: which repeat each other, and which take no part."""
    notes, common = repeats_in_words(repeats_of(fitted)), fitted.outcome.shared.get("common")
    if common is not None and common.any():
        used, all_columns = len(common) - int(common.sum()), len(common)
        notes.append(f"{used:,} of {all_columns:,} columns differ between clusters; the others take no part")
    return notes


def weights_frame(schema: Schema, weights: FloatArray) -> Any:
    """One row per cluster, one column per column of the table; ``weights`` has categories first."""
    ordered = zip((*schema.categorical, *schema.numeric), weights.T, strict=True)
    columns = {column.name: own.tolist() for column, own in ordered}
    return frame_in(schema.library, {name: columns[name] for name in schema.names})


def balance(outcome: Outcome) -> dict[str, float]:
    """Share of the rows' distances that comes from categories and from numbers."""
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
    """A frame of these columns in ``library``; pandas where the table was no frame."""
    plain = {name: list(values) for name, values in columns.items()}
    return nw.from_dict(plain, backend=frame_library(library)).to_native()


def frame_of_lines(library: str, lines: Sequence[Mapping[str, Any]], names: Iterable[str]) -> Any:
    """A frame with a row for every line and these columns."""
    return frame_in(library, {name: [line[name] for line in lines] for name in names})


def frame_library(library: str) -> Any:
    """The library that makes frames for a table of this one."""
    return library if library in EAGER else "pandas"


def card(method: str, fitted: Fitted) -> str:
    """A small table of the clusters, their sizes and what sets them apart, as HTML."""
    sizes = fitted.in_weights(fitted.outcome.counts.sizes)
    rows = []
    for cluster, found in enumerate(reasons_of(fitted)[:CLUSTERS_SHOWN]):
        share = percent(float(sizes[cluster] / sizes.sum()))
        rows.append(
            f"<tr><th>{escape(fitted.names.get(cluster, str(cluster)))}</th>"
            f"<td>{amount(sizes[cluster].item())}</td><td>{share}</td>"
            f'<td style="text-align: left">{escape(sentence(found))}</td></tr>'
        )
    more = len(sizes) - CLUSTERS_SHOWN
    caption = f"{method}: {len(sizes)} clusters" + (f", {more} not shown" if more > 0 else "")
    told = '<th style="text-align: left">what sets it apart</th>'
    head = f"<tr><th>cluster</th><th>rows</th><th>share</th>{told}</tr>"
    return (
        f'<table><caption style="text-align: left; font-weight: 600">{caption}</caption>'
        f"<thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"
    )
