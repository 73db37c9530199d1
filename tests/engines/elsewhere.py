"""The same table as each engine takes it."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import catalpa


def as_arrow(frame: pd.DataFrame) -> pa.Table:
    return pa.table({name: pa.array(frame[name].tolist(), from_pandas=True) for name in frame.columns})


def streamed(frame: pd.DataFrame, request: Any) -> Any:
    folder = request.getfixturevalue("tmp_path")
    pq.write_table(as_arrow(frame), folder / "rows.parquet", row_group_size=max(len(frame) // 3, 1))
    return catalpa.scan(folder / "rows.parquet", memory="4MB")


def in_dask(frame: pd.DataFrame, request: Any) -> Any:
    dask = pytest.importorskip("dask")
    request.getfixturevalue("monkeypatch").setitem(dask.config.config, "scheduler", "sync")
    return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=3)


def in_spark(frame: pd.DataFrame, request: Any) -> Any:
    return request.getfixturevalue("spark").createDataFrame(as_arrow(frame))


ENGINES = {"streamed": streamed, "dask": in_dask, "spark": in_spark}
