"""Small schemas for tests of relations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from catalpa.table.schema import Category, Column, ColumnKind, Dtype, Schema


@pytest.fixture(scope="session")
def schema_of() -> Callable[..., Schema]:
    """Make a schema from the categories of its columns; a column without any holds numbers."""

    def make(**columns: Sequence[Category] | None) -> Schema:
        return Schema(
            tuple(
                Column(name, ColumnKind.NUMERIC, Dtype("float64"))
                if categories is None
                else Column(name, ColumnKind.NOMINAL, Dtype("str"), tuple(categories))
                for name, categories in columns.items()
            )
        )

    return make
