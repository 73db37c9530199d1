"""A fitted estimator shown to people: a card in notebooks, and the way to its report."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from catalpa.relations.names import percent, shortened
from catalpa.relations.profiles import distinctive, profile_columns

if TYPE_CHECKING:
    from catalpa.report import Report

__all__ = ["Shown", "card"]

CLUSTERS_SHOWN = 12
CATEGORIES_SHOWN = 3


class Shown:
    """What notebooks and readers get of an estimator."""

    def report(self, X: Any, *, title: str = "Cluster report") -> Report:
        """Everything found in a table, as a page that opens offline: ``report(X).save("report.html")``.

        Parameters
        ----------
        X : table
            The table of the fit, or another with the same columns.
        title : str
            Heading of the page.

        Returns
        -------
        Report
            ``save(path)`` writes HTML, or JSON where the name ends in ``.json``; ``summary`` is a dict.
        """
        check_is_fitted(self)
        from catalpa.report import report

        return report(self, X, title=title)  # type: ignore[arg-type]

    def _repr_html_inner(self) -> str:
        return card(self) + str(super()._repr_html_inner())  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = card(self) + bundle["text/html"]
        return bundle


def card(model: Any) -> str:
    """A small table of the clusters, their sizes and what they are known by; empty before fit.

    Examples
    --------
    >>> import catalpa
    >>> card(catalpa.KModes(2))
    ''
    >>> "2 clusters" in card(catalpa.KModes(2, random_state=0).fit([["a"], ["a"], ["b"]]))
    True
    """
    if not model.__sklearn_is_fitted__():
        return ""
    counts, sizes = model._outcome.counts, model.cluster_sizes_
    profile = profile_columns(counts.by_category, counts.sizes, model.schema_)
    rows = []
    for cluster in range(min(len(sizes), CLUSTERS_SHOWN)):
        known = ", ".join(
            f"{shortened(found.column, 24)} = {shortened(found.category, 24)} ({percent(found.share)})"
            for found in distinctive(profile, cluster, top=CATEGORIES_SHOWN)
        )
        share = percent(float(sizes[cluster] / sizes.sum()))
        rows.append(
            f"<tr><th>{cluster}</th><td>{sizes[cluster]:,.6g}</td><td>{share}</td>"
            f'<td style="text-align: left">{escape(known)}</td></tr>'
        )
    more = len(sizes) - CLUSTERS_SHOWN
    caption = f"{type(model).__name__}: {len(sizes)} clusters" + (f", {more} not shown" if more > 0 else "")
    head = '<tr><th>cluster</th><th>rows</th><th>share</th><th style="text-align: left">known by</th></tr>'
    return (
        f'<table><caption style="text-align: left; font-weight: 600">{caption}</caption>'
        f"<thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"
    )
