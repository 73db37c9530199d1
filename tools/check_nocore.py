"""Install the package where no compiler can be found, or one that fails, and fit on the NumPy reference.

The install goes into a throw-away environment, which borrows the packages of the one that runs this. The
check asks for what a user without a compiler is promised: the install succeeds, methods fit, and a warning,
given once, says that the compiled core is missing.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

SMALL_FIT = """
import importlib.util
import sys
import warnings

from catalpa import DISC, Grove, KModes
from catalpa.datasets import load
from catalpa.errors import SlowCoreWarning

assert importlib.util.find_spec("catalpa").origin.startswith(sys.prefix), "not what was installed"
assert importlib.util.find_spec("catalpa.steps._core") is None, "the compiled core was built after all"
frame = load("zoo").frame
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    fitted = [method(n_clusters=7, random_state=0).fit(frame) for method in (KModes, DISC, Grove, KModes)]
for model in fitted:
    assert sorted(set(model.labels_)) == list(range(7)), f"{model} found {sorted(set(model.labels_))}"
    assert (model.predict(frame) == model.labels_).all(), f"{model} predicts other labels than it fitted"
assert (fitted[0].labels_ == fitted[3].labels_).all()
slow = [warning for warning in said if issubclass(warning.category, SlowCoreWarning)]
assert len(slow) == 1, f"SlowCoreWarning was given {len(slow)} times, not once"
print("without the core:", slow[0].message)
"""


HIDDEN = {"CC": "/no/compiler", "CXX": "/no/compiler"}
# CMake's own trials of the compiler succeed, and the first file of the core does not.
FAILING = {"CXXFLAGS": "-Dnamespace=broken"}


def surroundings(compiler: dict[str, str]) -> dict[str, str]:
    """An environment with such a compiler, in which Python finds only what was installed."""
    telling = {"PYTHONPATH", "CMAKE_ARGS", "CATALPA_CORE"}
    return {name: value for name, value in os.environ.items() if name not in telling} | compiler


def main() -> None:
    """Install, fit, and stop with a message at the first promise that is not kept."""
    for compiler in (HIDDEN, FAILING):
        with tempfile.TemporaryDirectory(prefix="catalpa-nocore-") as folder:
            venv.create(folder, with_pip=False)
            python = Path(folder) / ("Scripts" if sys.platform == "win32" else "bin") / "python"
            place = packages_of(python)
            # As paths only: what makes this environment find the package in its sources stays behind.
            borrowed = [path for path in sys.path if Path(path).name == "site-packages"]
            (place / "borrowed.pth").write_text("\n".join(borrowed), encoding="utf-8")
            install = ["-m", "pip", "--disable-pip-version-check", "-qq", "install", "--no-deps"]
            env = surroundings(compiler)
            subprocess.run([python, *install, "--ignore-installed", ROOT], check=True, env=env, cwd=folder)
            subprocess.run([python, "-c", SMALL_FIT], check=True, env=env, cwd=folder)


def packages_of(python: Path) -> Path:
    """Where an interpreter's packages are."""
    asked = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    return Path(subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip())


if __name__ == "__main__":
    main()
