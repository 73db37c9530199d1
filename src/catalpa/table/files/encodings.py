"""Text encodings: the given one, a byte order mark, UTF-8, otherwise mac-roman or cp1252."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable

from catalpa.errors import ParameterError, TableError

SAMPLE_CHARACTERS = 65_536  # enough for a line of thousands of names
SAMPLE_BYTES = 4 * SAMPLE_CHARACTERS  # no character takes more than four
NOT_OF_TEXT = ("idna", "punycode", "undefined")  # host name encodings, and "undefined"
_HIGH = bytes(range(0x80, 0x100))
# An apostrophe or a no-break space after a lower-case letter; these bytes are accented capitals in cp1252.
_MAC_MARKS = re.compile(rb"(?<=[a-z.,?!])[\xca\xd5]")
# Small letters with accents and the German sharp s; Windows has capitals, paragraph and other signs there.
_MAC_LETTERS = re.compile(
    rb"(?<=[a-z])[\x88\x8a\x8e\x8f\x90\x9f]|(?<=[A-Za-z])[\x87\x8a\x8b\x8d\x8e\x9a\x9b\x9d\x9f\xa7](?=[a-z])"
)
_BYTE_ORDER_MARKS = {
    # UTF-32 before UTF-16, whose mark is the beginning of the other's.
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def known_encoding(encoding: str | None) -> str | None:
    """The given encoding, if Python knows it as a text encoding.

    Examples
    --------
    >>> known_encoding("latin-1")
    'latin-1'
    """
    if encoding:
        try:
            b"?".decode(encoding, "replace")
            known = codecs.lookup(encoding).name not in NOT_OF_TEXT
        except (LookupError, ValueError):  # an invalid name raises ValueError
            known = False
        if not known:
            raise ParameterError(f"encoding is {encoding!r}, which is not a text encoding that Python knows.")
    return encoding


def refuse_binary(begin: bytes, name: str) -> None:
    """Raise an error if the content is not text, whatever its suffix."""
    # Only UTF-16 and UTF-32 text contains zero bytes, and begins with a mark.
    if b"\0" in begin[:SAMPLE_CHARACTERS] and marked_encoding(begin) is None:
        raise TableError(
            f"{name} is not text: it contains zero bytes, like images, archives and programs. Give a table; "
            "of UTF-16 text without a mark give the encoding, for instance utf-16-le."
        )


def encoding_of(begin: bytes, name: str, encoding: str | None) -> str:
    """Encoding of a text, from its beginning, which may end inside a character.

    "legacy" if it is not UTF-8: `legacy_encoding` finds out which one, from the whole text.
    """
    if encoding is None:
        refuse_binary(begin, name)
    if found_encoding := known_encoding(encoding) or marked_encoding(begin):
        return found_encoding
    try:
        codecs.getincrementaldecoder("utf-8")().decode(begin)
    except UnicodeDecodeError:
        return "utf-8" if begins_in_utf8(begin) else "legacy"
    return "utf-8"


def in_utf8(content: bytes, name: str, encoding: str | None) -> tuple[bytes, str]:
    """The text in UTF-8 without a byte order mark, and its encoding; the same bytes if it was UTF-8."""
    marked = marked_encoding(content)
    encoding_name = known_encoding(encoding) or marked
    # UTF-8 first, because other text is rarely valid UTF-8, while nearly anything is valid cp1252.
    candidates = (
        [encoding_name] if encoding_name else ["utf-8"] if begins_in_utf8(content) else ["utf-8", "legacy"]
    )
    for codec in candidates:
        try:
            if codec == "legacy":
                codec = legacy_encoding([content])
            if codecs.lookup(codec).name != "utf-8":
                return content.decode(codec).encode("utf-8"), codec
            if not content.isascii():
                content.decode(codec)  # only to check that it can be encoded
            return content, codec
        except UnicodeDecodeError as error:
            last, byte = error, error.start
        except UnicodeEncodeError as error:  # some encodings can contain half of a surrogate pair
            raise TableError(
                f"{name} is not written in {codec}: it contains halves of surrogate pairs."
            ) from error
    line = content.count(b"\n", 0, byte) + 1
    raise TableError(
        f"{name} is not written in {codec}: line {line} contains the byte 0x{content[byte]:02x}, "
        "which is invalid in it. Give the encoding, for instance latin-1."
    ) from last


def legacy_encoding(chunks: Iterable[bytes]) -> str:
    r"""mac-roman if its apostrophes, no-break spaces and accents are among the letters, otherwise cp1252.

    Examples
    --------
    >>> legacy_encoding(["don\u2019t".encode("mac-roman")]), legacy_encoding(["tête".encode("cp1252")])
    ('mac-roman', 'cp1252')
    >>> legacy_encoding(["Käse und Brötchen".encode("mac-roman")]), legacy_encoding(["Käse".encode("cp1252")])
    ('mac-roman', 'cp1252')
    """
    mac = high = 0
    for chunk in chunks:
        mac += len(_MAC_MARKS.findall(chunk)) + len(_MAC_LETTERS.findall(chunk))
        high += len(chunk) - len(chunk.translate(None, _HIGH))
    return "mac-roman" if high and 2 * mac >= high else "cp1252"


def begins_in_utf8(content: bytes) -> bool:
    """True if the header line contains valid multi-byte UTF-8, so that no other encoding need be tried.

    Examples
    --------
    >>> begins_in_utf8("größe,b".encode()), begins_in_utf8(b"a,b"), begins_in_utf8("größe,b".encode("cp1252"))
    (True, False, False)
    """
    first = content[:SAMPLE_BYTES].lstrip(b"\r\n").splitlines()[:1]
    try:
        return bool(first) and not first[0].isascii() and bool(first[0].decode("utf-8"))
    except UnicodeDecodeError:
        return False


def marked_encoding(content: bytes) -> str | None:
    r"""The encoding of a byte order mark, if the text begins with one.

    Examples
    --------
    >>> marked_encoding(b"\xef\xbb\xbfa,b")
    'utf-8-sig'
    """
    return next((codec for mark, codec in _BYTE_ORDER_MARKS.items() if content.startswith(mark)), None)
