"""All that can be seen of a release before it is one.

``python tools/release_check.py`` builds the source archive and, from it, the wheels; asks twine, auditwheel
and abi3audit what they think of them; installs a wheel into a new environment of every Python that this
machine has of those that are supported; and runs the tests of the core there, as they are in the source
archive. It prints the list of environments, and fails where one of them does, or where there is none.

Interpreters are found by name on the PATH and below ~/.pyenv; others can be named with ``--pythons``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "release"
TOOLS = ("twine", "auditwheel", "abi3audit")
LOCKED = ("--require-hashes", "-r", str(ROOT / "tools" / "build-requirements.txt"))
STABLE = (3, 12)  # wheels built here and later are one, by the stable ABI: wheel.py-api in pyproject.toml
TESTS = ("tests/steps", "tests/golden")
NEEDED = ("pytest", "hypothesis", "psutil")
VERSION = "import sys; print('%d.%d.%d' % sys.version_info[:3])"
CORE = "import catalpa.steps.compiled as core; print(core.description(), core._core.__file__)"


def main() -> int:
    """Build, ask, install, test; prints a line per environment."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pythons", nargs="*", default=[], help="further interpreters")
    asked = parser.parse_args()
    pythons = interpreters(asked.pythons)
    shutil.rmtree(BUILD, ignore_errors=True)
    own = environment(Path(sys.executable), "tools", TOOLS)
    archive, source = source_archive(environment(Path(sys.executable), "source-builder", LOCKED))
    wheels = {version: wheel(pythons[version], source) for version in builders(pythons)}
    audit(own, [archive, *dict.fromkeys(wheels.values())])
    results = {version: tried(pythons[version], chosen(wheels, version), source) for version in pythons}
    for version, (wheel_name, said, passed) in results.items():
        print(f"{'ok    ' if passed else 'FAILED'}  Python {version:8}  {wheel_name}  {said}")
    return int(not results or not all(passed for *_, passed in results.values()))


def interpreters(named: list[str]) -> dict[str, Path]:
    """One interpreter of every supported minor version that is here, by its full version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    minors = [text.split(":: ")[-1] for text in project["classifiers"] if "Python :: 3." in text]
    found: dict[str, Path] = {}
    for minor in minors:
        pyenv = sorted(Path.home().glob(f".pyenv/versions/{minor}.*/bin/python"))
        for place in [*named, *pyenv, shutil.which(f"python{minor}") or ""]:
            version = output(str(place), "-c", VERSION) if place else ""
            if version.startswith(f"{minor}.") and not any(known.startswith(f"{minor}.") for known in found):
                found[version] = Path(place)
    print(f"supported: {', '.join(minors)}; here: {', '.join(found) or 'none'}", flush=True)
    return found


def environment(python: Path, name: str, packages: tuple[str, ...]) -> Path:
    """The interpreter of a new environment with these packages."""
    folder = BUILD / name
    subprocess.run([python, "-m", "venv", folder], check=True)
    made = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    subprocess.run(
        [made, "-m", "pip", "-qq", "--disable-pip-version-check", "install", *packages], check=True
    )
    return made


def build(builder: Path, kind: str, source: Path, folder: Path) -> None:
    """Build an archive or a wheel with the packages of the builder's environment and no others."""
    command = [builder, "-m", "build", "-q", "--no-isolation", f"--{kind}", "--outdir", folder, source]
    subprocess.run(command, check=True)


def source_archive(builder: Path) -> tuple[Path, Path]:
    """The source archive, and what it holds, unpacked."""
    build(builder, "sdist", ROOT, BUILD / "dist")
    (archive,) = (BUILD / "dist").glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(BUILD / "source", filter="data")
    (source,) = (BUILD / "source").iterdir()
    return archive, source


def minor_of(version: str) -> tuple[int, int]:
    """Such as (3, 12) of 3.12.1."""
    first, second = version.split(".")[:2]
    return int(first), int(second)


def builders(pythons: dict[str, Path]) -> list[str]:
    """Versions that a wheel is built by: those before the stable ABI, and the first that has it."""
    stable = [version for version in pythons if minor_of(version) >= STABLE]
    return [version for version in pythons if version not in stable] + stable[:1]


def wheel(python: Path, source: Path) -> Path:
    """The wheel that an interpreter builds from the source archive."""
    version = output(str(python), "-c", VERSION)
    folder = BUILD / "dist" / version
    build(environment(python, f"builder-{version}", LOCKED), "wheel", source, folder)
    (made,) = folder.glob("*.whl")
    return made


def chosen(wheels: dict[str, Path], version: str) -> Path:
    """The wheel for a version: its own, or the one of the stable ABI."""
    stable = [made for built, made in wheels.items() if minor_of(built) >= STABLE]
    return wheels[version] if version in wheels else stable[0]


def audit(own: Path, files: list[Path]) -> None:
    """What others say of the files: that an index takes them, and that they hold what their names say."""
    subprocess.run([own, "-m", "twine", "check", "--strict", *files], check=True)
    for file in files:
        if file.suffix != ".whl":
            continue
        if sys.platform == "linux":
            subprocess.run([own, "-m", "auditwheel", "show", file], check=True)
        if "abi3" in file.name:
            subprocess.run([own, "-m", "abi3audit", "--strict", "--report", file], check=True)


def tried(python: Path, file: Path, source: Path) -> tuple[str, str, bool]:
    """The wheel's name, what the tests said of it in a new environment, and whether all passed."""
    made = environment(python, f"python-{output(str(python), '-c', VERSION)}", (str(file), *NEEDED))
    described = output(str(made), "-c", CORE)
    if "site-packages" not in described or "C++ core" not in described:
        return file.name, f"not the installed core: {described}", False
    # Away from the source, whose package must not be the one that is tested.
    command = [made, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", f"pythonpath={source}"]
    done = subprocess.run(
        [*command, *(str(source / tests) for tests in TESTS)],
        cwd=BUILD,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        print(done.stdout, done.stderr, sep="\n", flush=True)
    return file.name, (done.stdout.strip().splitlines() or [done.stderr])[-1], done.returncode == 0


def output(*command: str) -> str:
    """What a command prints; nothing where it cannot be run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path.home())
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
