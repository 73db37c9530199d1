"""Encode tables as integers: schemas, encoding and decoding, blocks of rows, and files."""

from __future__ import annotations

from catalpa.table.blocks import Axis, Block, Rows
from catalpa.table.codebook import Codebook
from catalpa.table.decode import decode
from catalpa.table.encode import EncodedTable, encode
from catalpa.table.files.dialect import Dialect
from catalpa.table.files.sources import FileTable, read_codebook, read_file, read_table
from catalpa.table.infer import infer, infer_batches
from catalpa.table.open import open_table
from catalpa.table.schema import Column, ColumnKind, Schema

__all__ = [
    "Axis",
    "Block",
    "Codebook",
    "Column",
    "ColumnKind",
    "Dialect",
    "EncodedTable",
    "FileTable",
    "Rows",
    "Schema",
    "decode",
    "encode",
    "infer",
    "infer_batches",
    "open_table",
    "read_codebook",
    "read_file",
    "read_table",
]
