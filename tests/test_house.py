"""The house is kept: every folder says what it is for, and tests stand where their module does."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from statistics import median

import pytest
from tools.house import comments, files_per_folder, modules, table

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "catalpa"
FOLDERS = sorted({path.parent for path in PACKAGE.rglob("*") if path.suffix in (".py", ".cpp")} - {PACKAGE})
# Modules that no test of their room is called after or imports: the test file that holds each, and why there.
TESTED_THROUGH = {
    "cli/test_cluster.py": ("run as a user runs them", "cli: cluster_table options"),
    "cli/test_ends.py": ("a file that cannot be written ends a command", "cli: outputs"),
    "cluster/test_cdcdr.py": (
        "held to its paper by the method",
        "costs: embedding graph; estimator: centroids",
    ),
    "cluster/test_coforest.py": ("held to its paper by the method", "costs: forest"),
    "cluster/test_cure.py": ("held to its paper by the method", "costs: coupling"),
    "cluster/test_disc.py": ("held to its paper by the method", "costs: conditional"),
    "cluster/test_grove.py": (
        "a search is seen in what it finds",
        "estimator: by_number_of_clusters",
    ),
    "cluster/test_harr.py": ("held to its paper by the method", "costs: axis_weights reconstruction"),
    "cluster/test_hdc.py": ("held to its paper by the method", "costs: homogeneous"),
    "cluster/test_kmodes.py": ("held to another program by the method", "costs: matching method"),
    "cluster/test_mcdc.py": ("held to its paper by the method", "steps/in_order: oriented"),
    "cluster/test_scikit_learn.py": (
        "what all methods share is tested on each of them",
        "estimator: export problem",
    ),
    "cluster/test_sigdt.py": (
        "held to its paper by the method",
        "costs: significance; loop: grow; relations: splits; steps: branches",
    ),
    "cluster/test_wocil.py": (
        "held to its paper by the method",
        "costs: separation; loop: online; steps/in_order: visits within_clusters",
    ),
    "engines/test_same_everywhere.py": (
        "all engines must give the same labels",
        "engines: base",
    ),
    "estimator/test_document.py": ("what is read is checked against it", "estimator: contents"),
    "metrics/test_external.py": ("codes are seen in the measures made from them", "metrics: codes"),
    "model/test_scorer.py": ("called after what users ask for", "model: scoring"),
    "plot/test_charts.py": (
        "charts are drawn from fitted models",
        "plot: clarity fitting profiles",
    ),
    "relations/test_relations.py": ("one relation is asked of all of them", "relations: relation"),
    "steps/test_core_equals_reference.py": ("it is what the core must equal", "steps: reference"),
    "steps/test_soft_core_equals_reference.py": ("it is what the core must equal", "steps/soft: reference"),
    "table/test_roundtrip.py": ("a table goes in and comes out", "table: decode reading"),
    "table/test_sources.py": (
        "files are read whole and in batches",
        "table/files: delimited encodings",
    ),
}


def layers() -> dict[str, int]:
    """The height of every room, as import-linter holds it."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    rooms = next(each for each in settings["tool"]["importlinter"]["contracts"] if each["id"] == "rooms")
    return {room: -at for at, line in enumerate(rooms["layers"]) for room in line.split(" | ")}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(PACKAGE)))
def test_every_folder_says_what_it_holds_and_where_a_new_thing_goes(folder):
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {folder.relative_to(PACKAGE).as_posix()}\n")
    named = re.findall(r"`([\w/]+(?:\.\w+|/))`", text)
    assert [name for name in named if not ((folder / name).exists() or (PACKAGE / name).exists())] == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(PACKAGE)))
def test_a_folder_says_it_may_import_only_rooms_below_it(folder):
    text = (folder / "README.md").read_text(encoding="utf-8")
    height, room = layers(), folder.relative_to(PACKAGE).parts[0]
    (told,) = re.findall(r"\*\*May import\*\* (.*?)\n\n", text, re.DOTALL)
    named = [name for name in re.findall(r"`(\w+)`", told) if name in height and name != room]
    assert [name for name in named if height[name] >= height[room]] == []


def test_every_module_is_tested_in_its_room_or_it_is_said_where():
    told = [
        f"{folder.strip()}/{module}"
        for _, listed in TESTED_THROUGH.values()
        for folder, _, modules in (part.partition(": ") for part in listed.split(";"))
        for module in modules.split()
    ]
    assert sorted(told) == sorted(untested_in_their_room())
    assert [place for place in TESTED_THROUGH if not (ROOT / "tests" / place).exists()] == []


def untested_in_their_room() -> list[str]:
    """Modules that no test file of their room is called after, or imports."""
    texts = {
        path: path.read_text(encoding="utf-8")
        for path in (ROOT / "tests").rglob("test_*.py")
        if path != Path(__file__)
    }
    found = []
    for file in PACKAGE.rglob("*/*.py"):
        place = file.relative_to(PACKAGE).with_suffix("")
        name = re.escape(".".join(("catalpa", *place.parts)))
        room = ROOT / "tests" / place.parts[0]
        own = [path for path in texts if path.is_relative_to(room)]
        named = any(
            path.stem == f"test_{place.name}" or re.search(rf"\b{name}\b", texts[path]) for path in own
        )
        if not named and not place.name.startswith("__"):
            found.append(place.as_posix())
    return found


def test_every_folder_of_tests_belongs_to_a_room_or_says_what_else_it_holds():
    others = {
        "browser",
        "fuzz",
        "golden",
        "oracle",
        "properties",
    }  # no rooms: pages, odd inputs ...
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/*.py")}
    assert folders - others <= set(layers())
    # A method is compared with its paper where its other tests are; here a paper's transcription is checked.
    checks = [path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "oracle").glob("test_*.py")]
    assert not any("catalpa" in text for text in checks)


def test_a_class_has_a_name_of_its_own():
    names = [
        found[1]
        for file in PACKAGE.rglob("*.py")
        for found in re.finditer(r"^class (\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_a_name_with_an_underscore_stays_in_its_module():
    # So that no module needs a list of what it offers: only those with public names have one.
    private = re.compile(r"^\s*from catalpa\.\S+ import [^\n]*\b_(?!core\b)\w+", re.MULTILINE)
    texts = {file: unfolded(file.read_text(encoding="utf-8")) for file in PACKAGE.rglob("*.py")}
    assert [str(file) for file, text in texts.items() if private.search(text)] == []


def unfolded(text: str) -> str:
    """The text with every import on one line."""
    return re.sub(r"import \(([^)]*)\)", lambda found: "import " + " ".join(found[1].split()), text)


def test_no_folder_is_a_heap():
    assert max(files_per_folder(modules()).values()) <= 16


def test_modules_are_neither_crumbs_nor_heaps_and_give_reasons():
    found = modules()
    sizes = [module.lines for module in found]
    assert max(sizes) <= 400
    assert median(sizes) >= 110
    assert 100 * sum(module.comments for module in found) / sum(sizes) >= 3.5


def test_a_default_fit_enters_at_most_25_files():
    # In a process of its own: what is remembered from earlier fits is not entered again.
    asked = [sys.executable, str(ROOT / "tools" / "walk.py"), "grove.fit", "--rooms"]
    told = subprocess.run(asked, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert int(re.search(r"(\d+) files", told)[1]) <= 25


def test_a_comment_is_counted_where_it_gives_a_reason():
    text = (
        "import a  # noqa: F401\nb = 1  # a bound\n# a reason\nd = '# none'\n"
        "def f():  # (n, k)\n    g: A  # (n,); what it holds\n"
    )
    assert comments(text) == 2
    assert comments("int a; // why\nint b;\n", ".cpp") == 1


def test_the_table_of_rooms_adds_up():
    found = modules()
    head, *rooms, total, folder = table(found)
    assert head.split() == ["room", "modules", "lines", "median", "longest", "comments", "per", "100"]
    assert sum(int(line.split()[2]) for line in rooms) == int(total.split()[2]) == sum(m.lines for m in found)
    assert folder.startswith("most modules in a folder: ")


def test_the_floors_that_are_tested_are_those_that_are_declared():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    declared = dict(each.split(">=") for each in settings["project"]["dependencies"])
    lines = (ROOT / "tools" / "floors.txt").read_text(encoding="utf-8").splitlines()
    tested = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert tested.keys() == declared.keys()
    assert [name for name in declared if not f"{tested[name]}.".startswith(f"{declared[name]}.")] == []
