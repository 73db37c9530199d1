"""Downloads, against a server on this machine."""

from __future__ import annotations

import csv
import gzip
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from catalpa.datasets import load
from catalpa.datasets.fetch import cache_folder, fetch
from catalpa.datasets.registry import dataset_info
from catalpa.errors import DatasetError


def votes_as_published() -> bytes:
    """The file of UCI: the party first, and a question mark where nothing is known."""
    data = load("votes")
    rows = data.frame.astype(object).fillna("?").to_numpy().tolist()
    lines = [",".join([party, *row]) for party, row in zip(data.target, rows, strict=True)]
    return "\n".join([*lines, ""]).encode()


def bank_as_published(table: pd.DataFrame) -> bytes:
    """The file of UCI: semicolons, texts in quotes, its own order of columns."""
    clerk = ["age", "job", "marital", "education", "default", "balance", "housing", "loan"]
    call = ["contact", "day", "month", "duration", "campaign", "pdays", "previous", "poutcome", "y"]
    published = table.rename(columns={"class": "y"})[[*clerk, *call]]
    numbers = list(dataset_info("bank").recipe.numbers)
    published = published.astype(dict.fromkeys(numbers, int))
    return published.to_csv(sep=";", index=False, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n").encode()


@pytest.fixture
def votes(server):
    facts = dataset_info("votes")
    server.put(facts.archive, facts.member, votes_as_published())
    return facts


def everything_below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_download_becomes_the_canonical_table_and_is_kept(server, votes):
    table = fetch(votes, "paper", server.url)
    kept = cache_folder() / "paper" / "CV.csv"
    assert kept.read_bytes() == table
    assert pd.read_csv(kept, dtype=str).shape == (435, 17)
    assert everything_below(cache_folder()) == ["paper", "paper/CV.csv"]


def test_an_address_without_a_final_slash_works(server, votes):
    fetch(votes, "paper", server.url.rstrip("/"))
    assert server.requests == [f"/{votes.archive}"]


def test_a_changed_file_is_refused_and_not_kept(server, votes):
    server.put(votes.archive, votes.member, votes_as_published().replace(b"?", b"y", 1))
    with pytest.raises(
        DatasetError, match=r"checksum of house-votes-84\.data inside http.* is not the expected one"
    ):
        fetch(votes, "paper", server.url)
    assert not cache_folder().exists()


def test_without_a_published_checksum_the_converted_table_decides(server, votes):
    unpinned = replace(votes, raw_sha256=None)
    fetch(unpinned, "paper", server.url)
    server.put(votes.archive, votes.member, votes_as_published().replace(b"?", b"y", 1))
    with pytest.raises(DatasetError, match="checksum of votes as converted from http"):
        fetch(unpinned, "paper", server.url)


def test_a_download_that_stops_early_is_refused(server, votes):
    server.promised_bytes = 10**6
    with pytest.raises(DatasetError, match=r"could not be downloaded.*IncompleteRead"):
        fetch(votes, "paper", server.url)
    assert not cache_folder().exists()


def test_half_an_archive_is_refused(server, votes):
    whole = server.archives[f"/{votes.archive}"]
    server.archives[f"/{votes.archive}"] = whole[: len(whole) // 2]
    with pytest.raises(DatasetError, match="archive downloaded for 'votes' is damaged"):
        fetch(votes, "paper", server.url)


def test_an_archive_without_the_file_is_refused(server, votes):
    server.put(votes.archive, ("other.data",), b"")
    with pytest.raises(DatasetError, match=r"has no file house-votes-84\.data"):
        fetch(votes, "paper", server.url)


def test_an_archive_that_is_gone_is_named(server, votes):
    server.archives.clear()
    with pytest.raises(
        DatasetError, match=r"could not be downloaded from http.*voting\+records\.zip \(Not Found\)"
    ):
        fetch(votes, "paper", server.url)


@pytest.mark.parametrize("address", ["http://127.0.0.1:9", "no address"])
def test_an_address_that_does_not_answer_is_an_error_with_a_cure(votes, address):
    with pytest.raises(DatasetError, match=r"could not be downloaded from .*CATALPA_DATA"):
        fetch(votes, "paper", address)


def test_a_cache_that_cannot_be_written_is_named(server, votes, monkeypatch, tmp_path):
    in_the_way = tmp_path / "file"
    in_the_way.touch()
    monkeypatch.setenv("CATALPA_CACHE", str(in_the_way))
    with pytest.raises(DatasetError, match=r"could not be saved in .*CATALPA_CACHE"):
        fetch(votes, "paper", server.url)


@pytest.mark.parametrize(
    ("system", "variable", "below"),
    [("linux", "XDG_CACHE_HOME", "catalpa"), ("win32", "LOCALAPPDATA", "catalpa")],
)
def test_the_cache_lies_where_the_system_keeps_caches(monkeypatch, tmp_path, system, variable, below):
    monkeypatch.delenv("CATALPA_CACHE")
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setenv(variable, str(tmp_path))
    assert cache_folder() == tmp_path / below


def test_the_cache_lies_in_the_library_on_a_mac(monkeypatch, tmp_path):
    monkeypatch.delenv("CATALPA_CACHE")
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "Library" / "Caches" / "catalpa"


def test_a_set_that_is_not_bundled_is_downloaded_once(data_home, server):
    facts = dataset_info("nursery")
    canonical = (data_home / "paper" / "NU.csv").read_bytes()
    rows = canonical.split(b"\n", 1)[1]
    server.put(facts.archive, facts.member, rows + b"\n")
    first = load("nursery", base_url=server.url)
    again = load("NU", base_url=server.url)
    assert first.frame.shape == (12960, 8)
    assert again.frame.equals(first.frame)
    assert server.requests == [f"/{facts.archive}"]


@pytest.mark.parametrize("variant", ["paper", "mixed"])
def test_an_archive_inside_the_archive_is_opened(data_home, server, variant):
    facts = dataset_info("bank")
    source = data_home / "paper_mixed" / "BM.csv.gz"
    table = pd.read_csv(source, dtype=str, keep_default_na=False)
    server.put(facts.archive, facts.member, bank_as_published(table))
    assert fetch(facts, variant, server.url) == gzip.decompress(
        (data_home / {"paper": "paper", "mixed": "paper_mixed"}[variant] / "BM.csv.gz").read_bytes()
    )
