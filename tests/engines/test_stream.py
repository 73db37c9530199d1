"""Files that are never in memory together give what the same rows in memory give, bit for bit."""

from __future__ import annotations

import errno
import gc
import gzip
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from filelock import FileLock

import catalpa
from catalpa import CDCDR, CURE, DISC, MCDC, WOCIL, Grove, KModes, KPrototypes, datasets
from catalpa.cluster.registry import METHODS
from catalpa.engines.cache import ArrayFile, Folder, MemmapStore
from catalpa.errors import ParameterError, TableError, UnknownColumn, UnsupportedTable
from catalpa.table import read_table
from catalpa.table.files.scan import MOST_ROWS, Scan, bytes_of

ESTIMATORS: dict[str, Callable[[int | None], Any]] = {
    "KModes": lambda jobs: KModes(4, n_init=3, n_jobs=jobs, random_state=3),
    "KModes huang": lambda jobs: KModes(4, init="huang", n_init=2, n_jobs=jobs, random_state=3),
    "KModes cao": lambda jobs: KModes(4, init="cao", n_jobs=jobs, random_state=3),
    "Grove": lambda jobs: Grove(4, n_init=2, n_jobs=jobs, random_state=3),
    "DISC": lambda jobs: DISC(4, n_jobs=jobs, random_state=3),
    "KPrototypes": lambda jobs: KPrototypes(4, n_init=3, n_jobs=jobs, random_state=3),
    "CURE": lambda jobs: CURE(4, n_jobs=jobs, random_state=3),
    "CDCDR": lambda jobs: CDCDR(4, n_jobs=jobs, random_state=3),
}
MIXED = {"Grove", "DISC", "KPrototypes"}


@pytest.fixture(autouse=True)
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Every test ends with nothing left in the folder of temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    if list(folder.iterdir()):
        gc.collect()  # an error that a test caught holds on to the frames that it passed
    assert list(folder.iterdir()) == []


def mixed_rows(n: int = 1500) -> pd.DataFrame:
    """Planted clusters with missing cells and two numeric columns that follow the clusters."""
    made = datasets.make_categorical(
        n, columns=6, categories=[2, 3, 4, 5, 3, 2], clusters=4, noise=0.4, seed=5
    )
    rng = np.random.default_rng(0)
    frame = made.frame.astype(str)
    frame.loc[rng.random(n) < 0.05, "column_2"] = None
    frame["height"] = np.round(rng.normal(made.clusters, 0.7), 3)
    frame["weight"] = np.where(rng.random(n) < 0.1, np.nan, np.round(rng.normal(-made.clusters, 0.9), 3))
    return frame


def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of a few hundred rows, so that a small table comes in many."""
    monkeypatch.setattr("catalpa.table.files.scan.FEWEST_ROWS", 300)
    monkeypatch.setattr("catalpa.table.files.text_scan.BLOCK_BYTES", 1 << 14)


def cells_of(frame: Any) -> list[dict[str, Any]]:
    """Rows of an Arrow table, or of a pandas frame."""
    table = frame if isinstance(frame, pa.Table) else pa.Table.from_pandas(frame, preserve_index=False)
    return table.to_pylist()


def same_fit(one: Any, other: Any) -> None:
    assert one.schema_ == other.schema_
    assert one.schema_.decisions == other.schema_.decisions
    np.testing.assert_array_equal(one.labels_, other.labels_)
    assert one.cost_ == other.cost_
    for name in ("by_category", "sizes", "sums", "squares", "seen", "cost", "moved"):
        np.testing.assert_array_equal(
            getattr(one._fitted.outcome.counts, name),
            getattr(other._fitted.outcome.counts, name),
            err_msg=name,
        )
    if hasattr(one, "cluster_centers_"):  # a cluster of SigDT is a rule
        assert cells_of(one.cluster_centers_) == cells_of(other.cluster_centers_)
    assert cells_of(one.history_) == cells_of(other.history_)


@pytest.mark.parametrize(("form", "jobs"), [("parquet", None), ("csv", 2)])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_streamed_fit_equals_the_fit_in_memory(
    name: str, form: str, jobs: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_batches(monkeypatch)
    frame = mixed_rows() if name in MIXED else mixed_rows().drop(columns=["height", "weight"])
    path = tmp_path / f"rows.{form}"
    if form == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path, row_group_size=700, index=False)
    files = catalpa.scan(path, memory=1)
    assert files.rows_per_batch == 300
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same_fit(ESTIMATORS[name](None).fit(read_table(path)), ESTIMATORS[name](jobs).fit(files))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [entry.name for entry in METHODS.values() if entry.streams])
def test_every_method_that_says_so_streams(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_batches(monkeypatch)
    made = datasets.make_categorical(
        900, columns=5, categories=[2, 3, 4, 3, 2], clusters=3, noise=0.4, seed=1
    )
    made.frame.astype(str).to_csv(tmp_path / "rows.csv", index=False)
    method = METHODS[name].estimator
    wanted = {"n_clusters": 3, "random_state": 0, "n_init": 2}
    known = method().get_params()
    settings = {setting: value for setting, value in wanted.items() if setting in known}
    tables = read_table(tmp_path / "rows.csv"), catalpa.scan(tmp_path / "rows.csv", memory=1)
    same_fit(*(method(**settings).fit(X) for X in tables))


@pytest.mark.parametrize("name", ["car", "votes", "zoo"])
def test_data_sets_give_the_same_clusters_from_a_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_batches(monkeypatch)
    datasets.load(name).frame.to_parquet(tmp_path / "rows.parquet", index=False)
    table = read_table(tmp_path / "rows.parquet")
    fits = [KModes(3, n_init=2, random_state=0).fit(X) for X in (table, catalpa.scan(tmp_path, memory=1))]
    same_fit(*fits)


@pytest.mark.parametrize("missing", ["category", "ignore"])
def test_cells_left_out_in_one_batch_only_give_the_same_clusters(
    missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_batches(monkeypatch)
    frame = datasets.make_categorical(1000, columns=4, categories=3, clusters=3, seed=2).frame.astype(str)
    frame.iloc[950:960, 1] = None
    frame.to_csv(tmp_path / "rows.csv", index=False)
    tables = read_table(tmp_path / "rows.csv"), catalpa.scan(tmp_path / "rows.csv", memory=1)
    same_fit(*(KModes(3, missing=missing, random_state=0, n_init=2).fit(X) for X in tables))
    same_fit(*(Grove(3, missing=missing, random_state=0, n_init=2).fit(X) for X in tables))


def test_predict_and_transform_of_files_equal_those_of_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_batches(monkeypatch)
    frame = mixed_rows(1500)
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    files = catalpa.scan(tmp_path / "rows.parquet", memory=1)
    model = Grove(3, random_state=0, n_init=1).fit(frame.head(500))
    np.testing.assert_array_equal(model.predict(files), model.predict(frame))
    np.testing.assert_array_equal(model.transform(files), model.transform(frame))
    np.testing.assert_array_equal(model.predict_proba(files), model.predict_proba(frame))
    assert model.score(files) == model.score(frame)


def test_labels_of_files_are_a_mapped_array_that_outlives_its_folder(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,b\n" + "x,y\n" * 30 + "u,v\n" * 20)
    model = KModes(2, random_state=0).fit(catalpa.scan(tmp_path / "rows.csv"))
    assert isinstance(model.labels_, np.memmap)
    assert model.labels_.dtype == np.int32
    assert sorted(np.bincount(model.labels_)) == [20, 30]


@pytest.mark.parametrize("method", [MCDC, WOCIL])
def test_a_method_that_visits_rows_in_order_says_why_it_cannot_stream(method: Any, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,b\n" + "x,y\n" * 3 + "u,v\n" * 2)
    with pytest.raises(UnsupportedTable, match=r"in memory\. Use a frame"):
        method(2, random_state=0).fit(catalpa.scan(tmp_path / "rows.csv"))


def test_an_array_of_weights_is_refused_for_files(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,b\nx,y\nu,v\n")
    with pytest.raises(ParameterError, match=r"is an array, but the rows .* sample_weight='weight'"):
        KModes(2).fit(catalpa.scan(tmp_path / "rows.csv"), sample_weight=[1, 2])


INTERRUPTED = """
import os, signal, tempfile
from pathlib import Path
import catalpa

def interrupt(_):
    assert list(Path(tempfile.gettempdir()).glob("catalpa-*/codes"))
    os.kill(os.getpid(), signal.SIGINT)

catalpa.KModes(2, random_state=0, callback=interrupt).fit(catalpa.scan("rows.csv"))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a signal of its own is sent in another way there")
def test_ctrl_c_in_the_middle_of_a_fit_leaves_no_folder(own_temporary_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,b\n" + "x,y\n" * 3 + "u,v\n" * 2)
    paths = os.pathsep.join(sys.path)
    environment = {**os.environ, "PYTHONPATH": paths, "TMPDIR": str(own_temporary_folder)}
    program = [sys.executable, "-c", INTERRUPTED]
    ended = subprocess.run(
        program, check=False, cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert "KeyboardInterrupt" in ended.stderr
    assert list(own_temporary_folder.iterdir()) == []


TOO_LARGE = """
import resource
import catalpa
resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))  # as where a disk is full
try:
    catalpa.KModes(2, random_state=0).fit(catalpa.scan("rows.csv"))
except catalpa.errors.OutputError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no limits of that kind")
def test_a_full_disk_is_told_with_the_place_and_leaves_no_folder(
    own_temporary_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "rows.csv").write_text("a,b\n" + "x,y\nu,v\n" * 20_000)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TMPDIR": str(own_temporary_folder),
    }
    program = [sys.executable, "-c", TOO_LARGE]
    ended = subprocess.run(
        program, check=False, cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert f"do not fit into {str(own_temporary_folder)!r}: File too large. Name a place" in ended.stdout
    assert list(own_temporary_folder.iterdir()) == []


BUSY = """
import sys, tempfile, time
from catalpa.engines.cache import Folder
tempfile.tempdir = sys.argv[1]
folder = Folder()
(folder.path / "codes").write_bytes(b"rows")
print(folder.path, flush=True)
time.sleep(600)
"""


@pytest.fixture
def busy(own_temporary_folder: Path) -> Iterator[Callable[[], tuple[Path, subprocess.Popen[str]]]]:
    """Starts programs that hold a folder each, until they are killed."""
    programs: list[subprocess.Popen[str]] = []

    def begin() -> tuple[Path, subprocess.Popen[str]]:
        program = [sys.executable, "-c", BUSY, str(own_temporary_folder)]
        programs.append(subprocess.Popen(program, stdout=subprocess.PIPE, text=True))
        assert programs[-1].stdout is not None
        return Path(programs[-1].stdout.readline().strip()), programs[-1]

    yield begin
    for program in programs:
        program.kill()
        program.communicate()
    Folder()


def test_what_a_killed_program_left_is_removed_by_the_next_and_nothing_else(
    busy: Callable[[], tuple[Path, subprocess.Popen[str]]], own_temporary_folder: Path
) -> None:
    (left, killed), (held, _) = busy(), busy()
    killed.kill()
    killed.wait()
    assert (left / "codes").exists()
    foreign = own_temporary_folder / "catalpa-notes"
    foreign.mkdir()
    own, further = Folder(), Folder()
    assert set(own_temporary_folder.iterdir()) == {own.path, further.path, held, foreign}
    (foreign / "owner").write_text("another machine")
    Folder()
    assert set(own_temporary_folder.iterdir()) == {own.path, further.path, held, foreign}
    assert (held / "codes").read_bytes() == b"rows"
    shutil.rmtree(foreign)


@pytest.mark.parametrize("error", [OSError(errno.ENOLCK, "no locks"), NotImplementedError()])
def test_where_files_cannot_be_locked_folders_have_no_owner_and_are_left(
    own_temporary_folder: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def refuse(_: FileLock) -> None:
        raise type(error)(*error.args)  # a new one: its traceback holds the folder

    monkeypatch.setattr(FileLock, "acquire", refuse)
    one, other = Folder(), Folder()
    assert set(own_temporary_folder.iterdir()) == {one.path, other.path}
    assert not (one.path / "owner").exists()
    (one.path / "owner").write_text(platform.node())
    further = Folder()
    assert set(own_temporary_folder.iterdir()) == {one.path, other.path, further.path}


# What is read


def read_all(files: Scan) -> pa.Table:
    batches = list(files.batches())
    return pa.concat_tables([batch.unify_dictionaries() for batch in batches]).unify_dictionaries()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_text_is_typed_by_all_rows_as_when_it_is_read_whole(
    encoding: str, packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_batches(monkeypatch)
    lines = ["late_text;late_float;code;empty;whole;name"]
    lines += [f"{at};{at};{at};;{at % 7};Zoë {at % 3}" for at in range(3000)]
    lines += ['"x\ny";1.5;007;NA;5;é']
    text = "\r\n".join(lines).encode(encoding)
    path = tmp_path / ("rows.csv.gz" if packed else "rows.csv")
    path.write_bytes(gzip.compress(text) if packed else text)
    whole, parts = read_table(path), read_all(catalpa.scan(path, memory=1))
    assert parts.to_pydict() == whole.to_pydict()
    assert [field.type for field in parts.schema] == [field.type for field in whole.schema]


def test_a_number_in_one_file_is_text_if_another_file_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    (tmp_path / "b.csv").write_text("a,b\nx,2.5\n")
    assert read_all(catalpa.scan(tmp_path)).to_pydict() == {"a": ["1", "x"], "b": [2.0, 2.5]}


def test_the_names_of_text_are_found_wherever_they_stand(tmp_path: Path) -> None:
    texts = {
        "windows": "taillé,b\nx,é\ny,w\n".encode("cp1252"),
        "empty lines": b"\r\n\r\na\r\nx\r\n\r\ny\r\n",
        # a longer line than what is looked at first
        "many": (",".join(f"{at:0500}" for at in range(200)) + "\n" + "x," * 199 + "y\n").encode(),
    }
    for name, text in texts.items():
        path = tmp_path / f"{name}.csv"
        path.write_bytes(text)
        assert read_all(catalpa.scan(path)).to_pydict() == read_table(path).to_pydict(), name


def test_files_without_rows_are_nothing_beside_others(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("b,a")
    (tmp_path / "b.csv").write_text("a,b\n")
    (tmp_path / "c.csv").write_text("a,b\n1,2\n")
    pq.write_table(pa.table({"a": pa.array([], pa.string()), "b": []}), tmp_path / "d.parquet")
    assert read_all(catalpa.scan(tmp_path)).to_pydict() == {"b": [2], "a": [1]}


def test_a_column_that_is_dropped_need_not_be_in_every_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    (tmp_path / "b.csv").write_text("b\n3\n")
    assert read_all(catalpa.scan(tmp_path, drop=["a"])).to_pydict() == {"b": [2, 3]}
    assert read_all(catalpa.scan(tmp_path, columns=["b"])).to_pydict() == {"b": [2, 3]}


def test_files_of_a_folder_come_in_the_order_of_their_names_and_hidden_ones_never(tmp_path: Path) -> None:
    table = pa.table({"a": ["p", "q"], "n": [1.0, 2.0]})
    pq.write_table(table, tmp_path / "2.parquet")
    pa.feather.write_feather(table.slice(1), tmp_path / "1.feather")
    with pa.ipc.new_stream(tmp_path / "3.arrows", table.schema) as writer:
        writer.write_table(table.slice(0, 1))
    (tmp_path / "_SUCCESS.csv").touch()
    (tmp_path / "notes.md").touch()
    assert read_all(catalpa.scan(tmp_path)).column("a").to_pylist() == ["q", "p", "q", "p"]
    assert catalpa.scan(str(tmp_path / "*.parquet")).paths == (tmp_path / "2.parquet",)
    chosen = catalpa.scan([tmp_path / "3.arrows", tmp_path / "2.parquet"], drop=["a"])
    assert read_all(chosen).to_pydict() == {"n": [1.0, 1.0, 2.0]}
    assert catalpa.scan(tmp_path, columns=["n", "a"]).names == ("n", "a")


def test_a_batch_never_holds_more_rows_than_memory_allows(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": ["x"] * 5000}), tmp_path / "rows.parquet")
    sizes = [batch.num_rows for batch in catalpa.scan(tmp_path, memory="300KB").batches()]
    assert sum(sizes) == 5000
    assert max(sizes) <= 300_000 // 256
    assert catalpa.scan(tmp_path, memory="10GB").rows_per_batch == MOST_ROWS


def test_sizes_are_read_as_people_write_them() -> None:
    assert [bytes_of(size) for size in (7, "7", "2kb", "1.5 MiB")] == [7, 7, 2000, 1_572_864]
    assert [bytes_of(f"1{unit}") for unit in ("KiB", "MiB", "GiB")] == [1024, 1024**2, 1024**3]
    assert [bytes_of(f"1{unit}") for unit in ("B", "KB", "MB", "GB")] == [1, 10**3, 10**6, 10**9]


@pytest.mark.parametrize("size", ["much", "5 parsecs", 0, -1, True, "", None])
def test_a_size_that_is_none_is_refused(size: Any) -> None:
    with pytest.raises(ParameterError, match="give a number of bytes, or a size such as '500MB'"):
        bytes_of(size)


BAD_SOURCES: dict[str, tuple[Callable[[Path], Any], type[Exception], str]] = {
    "no file": (lambda at: catalpa.scan(at / "none.csv"), TableError, "There is no file"),
    "an empty folder": (lambda at: catalpa.scan(at / "empty"), TableError, "no file of rows in it"),
    "standard input": (lambda _: catalpa.scan("-"), UnsupportedTable, "read only once"),
    "a sheet": (lambda at: catalpa.scan(at / "sheet.xlsx"), UnsupportedTable, "cannot be read in batches"),
    "no Parquet": (lambda at: read_all(catalpa.scan(at / "bad.parquet")), TableError, "damaged"),
    "a cut Parquet file": (lambda at: read_all(catalpa.scan(at / "cut.parquet")), TableError, "damaged"),
    "no Arrow": (lambda at: read_all(catalpa.scan(at / "bad.arrow")), TableError, "damaged"),
    "an unknown column": (lambda at: catalpa.scan(at / "a.csv", drop=["z"]).names, UnknownColumn, "'z'"),
    "no column": (lambda at: catalpa.scan(at / "a.csv", drop=["a", "b"]).names, TableError, "is left"),
    "other columns": (
        lambda at: read_all(catalpa.scan([at / "a.csv", at / "c.csv"])),
        TableError,
        r"c.csv lacks the columns \['a'\] of the first file, .*a.csv",
    ),
    "more columns": (
        lambda at: read_all(catalpa.scan([at / "a.csv", at / "more.csv"])),
        TableError,
        r"more.csv has columns \['c'\] that are not in the first file, .*a.csv",
    ),
    "as many columns, but one of them another": (
        lambda at: read_all(catalpa.scan([at / "more.csv", at / "d.parquet"], drop=["a"])),
        TableError,
        r"d.parquet has columns \['d'\] that are not in the first file",
    ),
    "other columns in Parquet": (
        lambda at: read_all(catalpa.scan([at / "a.csv", at / "c.parquet"])),
        TableError,
        "same columns",
    ),
    "an uneven line": (
        lambda at: read_all(catalpa.scan(at / "uneven.csv")),
        TableError,
        "Line 3 of .* has 1 fields",
    ),
    "an empty text": (lambda at: read_all(catalpa.scan(at / "empty.csv")), TableError, "is empty"),
    "names only": (lambda at: read_all(catalpa.scan(at / "names.csv")), TableError, "but no rows"),
    "a long delimiter": (
        lambda at: catalpa.scan(at / "a.csv", delimiter=";;").names,
        ParameterError,
        "single",
    ),
    "an unknown encoding": (
        lambda at: catalpa.scan(at / "a.csv", encoding="x").names,
        ParameterError,
        "know",
    ),
    "a wrong encoding": (
        lambda at: read_all(catalpa.scan(at / "latin.csv", encoding="utf-8")),
        TableError,
        "not written in utf-8",
    ),
    "a folder as file": (lambda at: Scan((at / "folder.csv",)).names, TableError, "cannot be read"),
    "a table without rows": (
        lambda at: KModes(2).fit(catalpa.scan(at / "none.parquet")),
        TableError,
        "no rows",
    ),
}


@pytest.mark.parametrize("what", BAD_SOURCES)
def test_what_cannot_be_scanned_is_refused_in_words(what: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "folder.csv").mkdir()
    pq.write_table(pa.table({"b": ["x"] * 1000, "c": ["y"] * 1000}), tmp_path / "c.parquet")
    pq.write_table(pa.table({"b": pa.array([], pa.string())}), tmp_path / "none.parquet")
    pq.write_table(pa.table({"b": ["x"], "c": ["y"], "d": ["z"]}), tmp_path / "d.parquet")
    whole = (tmp_path / "c.parquet").read_bytes()
    texts = {
        "a.csv": b"a,b\n1,2\n", "c.csv": b"b,c\n1,2\n", "uneven.csv": b"a,b\n1,2\n3\n", "empty.csv": b" \n",
        "names.csv": b"a,b\n", "more.csv": b"c,b,a\n1,2,3\n", "bad.parquet": b"PAR1", "bad.arrow": b"no",
        "sheet.xlsx": b"", "latin.csv": b"a\n\xe9\n", "cut.parquet": whole[:4] + b"\xff" * 60 + whole[64:],
    }  # fmt: skip
    for name, content in texts.items():
        (tmp_path / name).write_bytes(content)
    make, error, message = BAD_SOURCES[what]
    with pytest.raises(error, match=message):
        make(tmp_path)


# Where it is kept


def test_a_shelf_gives_back_what_was_put_and_writes_shared_arrays_once() -> None:
    folder = Folder()
    shelf = MemmapStore(folder)
    large, small = np.arange(5000), np.arange(3)
    shelf.put(0, {"large": large, "small": small})
    first = shelf.get(0)
    np.testing.assert_array_equal(first["large"], large)
    np.testing.assert_array_equal(first["small"], small)
    assert shelf.get(1) is None
    (file,) = folder.path.glob("memory-*")
    shelf.put(0, {"large": first["large"], "more": np.ones(5000)})
    assert len(list(folder.path.glob("memory-*"))) == 2
    assert file.exists()
    shelf.put(0, None)
    assert list(folder.path.glob("memory-*")) == []


def test_an_array_file_gives_rows_that_may_be_changed_and_stay_as_written() -> None:
    file = ArrayFile(Folder(), "rows", np.zeros((0, 2), dtype=np.uint8))
    file.append(np.array([[1, 2], [3, 4]]))
    file.append(np.array([[5, 6]]))
    rows = file.read(1, 3)
    assert rows.tolist() == [[3, 4], [5, 6]]
    rows[:] = 0
    assert file.read(0, 3).tolist() == [[1, 2], [3, 4], [5, 6]]
    assert file.read(1, 1).shape == (0, 2)
