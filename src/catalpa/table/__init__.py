"""Rows become integers: schemas, encoding and decoding, blocks of rows, and files to read."""

from __future__ import annotations

from catalpa.table.blocks import Axis, Block, Rows
from catalpa.table.decode import decode
from catalpa.table.encode import Encoded, encode
from catalpa.table.files.sources import read_table
from catalpa.table.infer import infer, infer_batches
from catalpa.table.intake import open_table
from catalpa.table.schema import Column, Kind, Schema

__all__ = [
    "Axis",
    "Block",
    "Column",
    "Encoded",
    "Kind",
    "Rows",
    "Schema",
    "decode",
    "encode",
    "infer",
    "infer_batches",
    "open_table",
    "read_table",
]
