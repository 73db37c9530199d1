"""Model files: JSON, written atomically and read without executing code."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from catalpa.errors import ModelFileError
from catalpa.files import check_path, reraise_as, write_atomically
from catalpa.model.codecs import JSON_NAMES
from catalpa.model.text import from_text, to_text

FORMAT = 1  # increased if readers of the previous format would misread the file
MARK = "catalpa_model"
FIELDS: Mapping[str, tuple[type, ...]] = {
    MARK: (int,),
    "catalpa_version": (str,),
    "method": (str,),
    "parameters": (dict,),
    "schema": (dict,),
    "scores": (dict,),
    "counts": (dict,),
    "centers": (dict, list),
    "extra": (dict,),
    "fit": (dict,),
}


def write(path: str | os.PathLike[str], document: Mapping[str, Any]) -> None:
    """Write a model's document to ``path`` atomically; an existing file is replaced.

    The document must have the fields of the format: ``catalpa_model`` (its number, ``FORMAT``),
    ``catalpa_version``, ``method``, ``parameters``, ``schema``, ``scores``, ``counts``, ``centers``,
    ``extra`` and ``fit``, and contain JSON values only. Raises ModelFileError for unsupported values and if
    the file cannot be written.
    """
    # Everything that can fail does so before an existing file is touched.
    check_path(path)
    content = model_text(document).encode("utf-8")
    with reraise_as(ModelFileError, f"The model cannot be written to {os.fspath(path)!r}"):
        write_atomically(path, content)


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read and check the document of a model file.

    Raises ModelFileError if the file is missing, truncated, damaged, not a model, or of a newer format.
    """
    check_path(path)
    name = repr(os.fspath(path))
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        raise ModelFileError(f"There is no model file {name}.") from None
    except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
        reason = getattr(error, "strerror", None) or error
        raise ModelFileError(f"The model file {name} cannot be read: {reason}.") from error
    return from_model_text(content, name)


def model_text(document: Mapping[str, Any]) -> str:
    """The text of the model file."""
    _check_document(document, "The model")
    return to_text(document)


def from_model_text(content: bytes, name: str) -> dict[str, Any]:
    """The checked document in the content of a file; ``name`` is used in errors."""
    document = _parsed(content, name)
    if not isinstance(document, dict) or MARK not in document:
        raise ModelFileError(f"{name} is not a Catalpa model: it is JSON, but has no field {MARK!r}.")
    _check_format(document[MARK], name)  # first: a newer file may have other fields
    _check_document(document, f"The model file {name} is damaged: it")
    return document


def _parsed(content: bytes, name: str) -> Any:
    try:
        return from_text(content.decode("utf-8"))
    except ValueError as error:  # not UTF-8 is a ValueError too
        # A truncated file still contains our mark; other files do not.
        if content.lstrip().startswith(b"{") and MARK.encode() in content[:200]:
            raise ModelFileError(
                f"{name} is not a complete model file: it was truncated or changed ({error}). "
                "Save the model again."
            ) from None
        if not content.strip():
            raise ModelFileError(f"{name} is not a complete model file: it is empty.") from None
        raise ModelFileError(f"{name} is not a Catalpa model: it is not JSON ({error}).") from None


def _check_format(number: object, name: str) -> None:
    if type(number) is not int or number < 1:
        raise ModelFileError(
            f"{name} is not a Catalpa model: its field {MARK!r} is {number!r}, not a format number."
        )
    if number > FORMAT:
        raise ModelFileError(
            f"{name} was written by a newer Catalpa (format {number}, this one reads up to {FORMAT}): "
            "upgrade with pip install --upgrade catalpa."
        )


def _check_document(document: Mapping[str, Any], subject: str) -> None:
    for field, kinds in FIELDS.items():
        if field not in document:
            raise ModelFileError(f"{subject} has no field {field!r}.")
        value = document[field]
        if type(value) not in kinds:
            expected = " or ".join(JSON_NAMES[kind] for kind in kinds)
            raise ModelFileError(
                f"{subject} has {type(value).__name__} in field {field!r}; {expected} is expected."
            )
