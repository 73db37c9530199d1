"""Answers in the user's own frame library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw

__all__ = ["frame_in"]

EAGER = ("pandas", "polars", "pyarrow", "modin", "cudf")


def frame_in(library: str, columns: Mapping[str, Any]) -> Any:
    """A frame of these columns in ``library``; pandas where the table was no frame.

    Examples
    --------
    >>> frame_in("pandas", {"a": [1, 2]}).shape
    (2, 1)
    """
    backend = library if library in EAGER else "pandas"
    plain = {name: list(values) for name, values in columns.items()}
    return nw.from_dict(plain, backend=backend).to_native()  # type: ignore[arg-type]
