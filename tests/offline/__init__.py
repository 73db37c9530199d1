"""Tests run offline, as does every Python program that they start: see ``sitecustomize`` here."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

FOLDER = Path(__file__).parent

sys.path.insert(0, str(FOLDER))
# Processes that pytest starts for its tests have ours already; an interpreter may have another one.
if not hasattr(sys.modules.get("sitecustomize"), "refuse_network"):
    sys.modules.pop("sitecustomize", None)
block = importlib.import_module("sitecustomize")
NetworkRefused, refused = block.NetworkRefused, block.refused


def python_path(*folders: object) -> str:
    """``PYTHONPATH`` of a program that a test starts: it imports from these folders, and stays offline."""
    return os.pathsep.join([str(FOLDER), *(str(folder) for folder in folders if folder)])
