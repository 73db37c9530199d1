"""Text that no file, page or Arrow table could hold."""

from __future__ import annotations

from collections.abc import Iterable

from catalpa.errors import TableError

__all__ = ["check_text"]


def check_text(says: str, texts: Iterable[object]) -> None:
    """Refuse half of a surrogate pair; ``says`` is how the sentence begins."""
    for text in texts:
        try:
            str(text).encode("utf-8")
        except UnicodeEncodeError as error:
            raise TableError(
                f"{says} {text!r}, which is no text: half of a character that takes two places. "
                "Read the table again with its right encoding, or write that in another way."
            ) from error
