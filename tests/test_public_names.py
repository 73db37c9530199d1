"""The public names are a promise: this is the list, and nothing joins or leaves it by accident."""

from __future__ import annotations

import ast
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import catalpa
from catalpa.cluster.registry import METHODS

PUBLIC = {
    "catalpa": sorted(
        [
            *(entry.class_name for entry in METHODS.values()),
            "Progress",
            "__version__",
            "choose_k",
            "compare",
            "datasets",
            "drift",
            "explore",
            "history",
            "load",
            "look",
            "metrics",
            "plot",
            "scan",
            "short_form",
        ]
    ),
    "catalpa.datasets": [
        "Dataset",
        "Planted",
        "iter_categorical",
        "list_datasets",
        "load",
        "make_categorical",
    ],
    "catalpa.metrics": [
        "Friedman",
        "PairTest",
        "adjusted_mutual_information",
        "adjusted_rand",
        "average_ranks",
        "bonferroni_dunn_difference",
        "categorical_silhouette",
        "categorical_silhouette_samples",
        "clustering_accuracy",
        "compactness",
        "friedman",
        "holm",
        "nemenyi_difference",
        "normalized_mutual_information",
        "purity",
        "rank_groups",
        "wilcoxon_holm",
    ],
    "catalpa.plot": [
        "category_map",
        "choosing_k",
        "cluster_sizes",
        "cost_per_pass",
        "merge_tree",
        "number_boxes",
        "profile_map",
        "relation_comparison",
        "relation_grid",
        "relation_tree",
        "row_map",
        "silhouettes",
    ],
    "catalpa.lab": ["Entry", "Job", "Protocol", "compare", "read_protocol", "read_results", "run"],
    "catalpa.report": [
        "Comparison",
        "Drift",
        "Explorer",
        "History",
        "Markdown",
        "Report",
        "ShortForm",
        "Slides",
        "Workbook",
        "compare",
        "drift",
        "explore",
        "history",
        "markdown",
        "report",
        "short_form",
        "slides",
        "workbook",
    ],
    "catalpa.table": [
        "Axis",
        "Block",
        "Codebook",
        "Column",
        "ColumnKind",
        "Dialect",
        "EncodedTable",
        "FileTable",
        "Rows",
        "Schema",
        "decode",
        "encode",
        "infer",
        "infer_batches",
        "open_table",
        "read_codebook",
        "read_file",
        "read_table",
    ],
    "catalpa.spark": ["CatalpaEstimator", "CatalpaModel"],
    "catalpa.errors": [
        "CatalpaError",
        "CatalpaWarning",
        "CheckpointError",
        "ColumnMismatch",
        "ColumnWarning",
        "DatasetError",
        "EngineStopped",
        "LopsidedClustersWarning",
        "MissingDependency",
        "MissingValues",
        "ModelFileError",
        "MostClustersWarning",
        "NoStructureWarning",
        "NumericColumns",
        "OnnxError",
        "OutputError",
        "ParameterError",
        "SlowCoreWarning",
        "SqlError",
        "TableError",
        "UndefinedMetric",
        "UnknownCluster",
        "UnknownColumn",
        "UnseenCategories",
        "UnseenCategoryWarning",
        "UnsupportedTable",
    ],
}
NAMES = [(module, name) for module, names in PUBLIC.items() for name in names]


def with_src() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


@pytest.mark.parametrize("module", PUBLIC)
def test_a_module_offers_exactly_its_public_names(module):
    assert sorted(importlib.import_module(module).__all__) == PUBLIC[module]


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_every_public_name_is_there_and_says_what_it_is(module, name):
    offered = getattr(importlib.import_module(module), name)
    assert offered.__doc__


def test_type_checkers_are_told_of_every_name():
    tree = ast.parse(Path(catalpa.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    told = {(line.module, name.asname) for line in block.body for name in line.names}
    methods = {(entry.module, entry.class_name) for entry in METHODS.values()}
    assert methods <= told, f"import under TYPE_CHECKING in catalpa/__init__.py: {methods - told}"
    assert sorted({name for _, name in told} | {"__version__"}) == PUBLIC["catalpa"]


def test_a_method_imports_no_other_method():
    others = [entry.module for entry in METHODS.values() if entry.name != "kmodes"]
    code = f"import sys, catalpa; catalpa.KModes; print(sorted(set({others}) & set(sys.modules)))"
    said = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=with_src()
    )
    assert said.stdout.strip() == "[]"


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError, match="KMedoids"):
        _ = catalpa.KMedoids


def test_dir_lists_the_public_names():
    assert dir(importlib.import_module("catalpa")) == PUBLIC["catalpa"]


def test_every_error_and_warning_comes_from_the_two_roots():
    errors = importlib.import_module("catalpa.errors")
    offered = [getattr(errors, name) for name in PUBLIC["catalpa.errors"]]
    assert all(issubclass(each, errors.CatalpaError | errors.CatalpaWarning) for each in offered)


def test_importing_catalpa_imports_no_heavy_library():
    heavy = "{'numpy', 'pandas', 'polars', 'sklearn', 'scipy', 'pyarrow', 'narwhals', 'rich'}"
    code = f"import sys, catalpa; print(sorted({heavy} & set(sys.modules)))"
    said = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=with_src()
    )
    assert said.stdout.strip() == "[]"


def test_a_method_imports_nothing_of_files_plots_and_terminals():
    unneeded = "{'catalpa.engines.stream', 'catalpa.plot', 'catalpa.report', 'filelock', 'polars', 'rich'}"
    code = f"import sys, catalpa; catalpa.KModes; print(sorted({unneeded} & set(sys.modules)))"
    said = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=with_src()
    )
    assert said.stdout.strip() == "[]"
