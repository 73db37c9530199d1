"""A pandas frame that displays long text in full."""

from __future__ import annotations

from typing import Any

import pandas as pd


class FullTextFrame(pd.DataFrame):
    """A pandas frame whose text columns are not truncated when it is displayed.

    pandas cuts text after 50 characters, in the middle of most reasons. Everything else is as in pandas.

    Examples
    --------
    >>> text = "92 % feathers=1 (18 % elsewhere); 88 % eggs=1 (30 % elsewhere)"
    >>> text in repr(FullTextFrame({"text": [text]}))
    True
    >>> text in FullTextFrame({"text": [text]}).head(1)._repr_html_()
    True
    """

    @property
    def _constructor(self) -> type[FullTextFrame]:
        return FullTextFrame  # of a selection of rows or columns

    def __repr__(self) -> str:
        with pd.option_context("display.max_colwidth", None):
            return str(super().__repr__())

    def _repr_html_(self) -> str | None:
        with pd.option_context("display.max_colwidth", None):
            html: Any = super()._repr_html_()  # type: ignore[misc]  # not in the type stubs
            return html if html is None else str(html)
