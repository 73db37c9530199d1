"""Files that are there completely or not at all, errors of the system in words, and locks."""

from __future__ import annotations

import pytest

from catalpa.errors import OutputError
from catalpa.files import lock_at, open_atomically, reraise_as


def test_what_the_system_says_of_a_file_is_told_with_what_failed():
    with (
        pytest.raises(OutputError, match=r"^'a\.csv' cannot be written: Permission denied\.$"),
        reraise_as(OutputError, "'a.csv' cannot be written"),
    ):
        raise PermissionError(13, "Permission denied")


def test_a_file_takes_its_place_when_its_block_ends(tmp_path):
    place = tmp_path / "note.txt"
    with open_atomically(place) as stream:
        for part in (b"hel", b"lo"):
            stream.write(part)
        assert not place.exists()
    assert place.read_bytes() == b"hello"


def test_a_lock_that_is_held_is_not_given_again(tmp_path):
    lock = lock_at(tmp_path / "lock")
    assert lock is not None
    assert lock.is_locked
    assert lock_at(tmp_path / "lock") is None
    lock.release()
