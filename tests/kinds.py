"""What a test needs beyond this process: the marks by which a run leaves tests out, set in one place."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

# A test that asks for one of these fixtures, directly or through another one, has the mark.
BY_FIXTURE: Mapping[str, str] = {
    "data_home": "data",
    "postgres": "process",
    "spark": "spark",
    "cluster": "process",
    "driver": "browser",
    "program": "process",
}
# So does a test in one of these places.
BY_PLACE: Mapping[str, str] = {
    "tests/browser/": "browser",
    "tests/engines/test_dask.py": "dask",
    "tests/engines/test_spark.py": "spark",
    "tests/model/test_mlflow.py": "mlflow",
    "tests/model/test_skops.py": "slow",  # it imports all of scikit-learn, and with it Dask
    "tests/inspection/test_recipe_everywhere.py::test_fits_to_a_table_on_a_cluster": "dask",
    "tests/inspection/test_recipe_everywhere.py::test_tables_on_a_cluster": "dask",
    "tests/engines/test_shapes.py::test_the_columns_of_a_dask_array_are_shaped": "dask",
    "tests/fuzz/test_fuzzers.py::test_every_case_is_used_or_refused_with_a_sentence[engines": "dask",
    # They start Python.
    "tests/cli/test_cluster.py::test_clusters_are_told_where_packages_of_pages_are_not_installed": "process",
    "tests/cli/test_ends.py::test_an_error_that_nobody_can_be_told_keeps_its_exit_code": "process",
    "tests/cli/test_ends.py::test_closed_streams_are_empty_ones": "process",  # by way of a shell
    "tests/cli/test_ends.py::test_help_on_a_full_disk_is_a_sentence_too": "process",
    "tests/cli/test_listings.py::test_help_and_version_do_not_wait_for_heavy_libraries": "process",
    "tests/cluster/test_adding_a_method.py": "process",
    "tests/engines/test_stream.py::test_a_full_disk_is_told_with_the_place_and_leaves_no_folder": "process",
    "tests/engines/test_stream.py::test_ctrl_c_in_the_middle_of_a_fit_leaves_no_folder": "process",
    "tests/engines/test_stream.py::test_what_a_killed_program_left_is_removed_by_the_next": "process",
    "tests/estimator/test_checkpoint.py::test_a_killed_fit_continues_with_the_same_result": "process",
    "tests/test_public_names.py::test_a_method_imports_no": "process",
    "tests/test_public_names.py::test_importing_catalpa_imports_no_heavy_library": "process",
    # They take seconds: pages and their code, other programs, whole protocols, every method on many tables.
    "tests/cli/test_against.py": "slow",
    "tests/cli/test_choose_k.py": "slow",
    "tests/cli/test_cluster.py": "slow",
    "tests/cli/test_doubt.py": "slow",
    "tests/cli/test_export.py": "slow",
    "tests/cli/test_monitor.py": "slow",
    "tests/cli/test_ends.py::test_no_csv_text_gives_a_traceback": "slow",
    "tests/cli/test_listings.py::test_the_demo": "slow",
    "tests/cli/test_report.py": "slow",
    "tests/cli/test_stream.py": "slow",
    "tests/cli/test_weight.py": "slow",
    "tests/loop/test_plusplus.py": "slow",
    "tests/estimator/test_naming.py::test_pages_charts": "slow",
    "tests/golden/": "slow",
    "tests/plot/": "slow",
    "tests/report/": "slow",
    "tests/steps/test_core_equals_reference.py::test_every_instruction_set": "slow",
    "tests/steps/test_soft_core_equals_reference.py::test_every_instruction_set": "slow",
    "tests/table/test_cell_types.py::test_all_ways": "slow",
    "tests/table/test_odd_tables.py": "slow",
    "tests/cli/test_lab.py": "slow",
    "tests/cluster/test_cdcdr.py::test_a_large_graph_is_searched": "slow",
    "tests/cluster/test_choose_k.py::test_planted": "slow",
    "tests/cluster/test_grove_intervals.py": "slow",
    "tests/cluster/test_grove_ties.py::test_a_tied_fit_is_the_same": "slow",
    "tests/cluster/test_grove_ties.py::test_no_columns_are_tied": "slow",
    "tests/cluster/test_kmodes.py::test_mean_cost_is_not_worse_than_that_of_the_kmodes_package": "slow",
    "tests/cluster/test_one_meaning.py": "slow",
    "tests/cluster/test_properties.py": "slow",
    "tests/cluster/test_scikit_learn.py": "slow",
    "tests/engines/test_every_function.py": "slow",
    "tests/engines/test_same_everywhere.py": "slow",
    "tests/engines/test_weight_column.py": "slow",
    "tests/inspection/test_recipe_everywhere.py": "slow",
    "tests/model/test_check_onnx.py": "slow",
    "tests/model/test_onnx.py": "slow",
    "tests/model/test_sql.py": "slow",
    "tests/fuzz/": "slow",
    "tests/lab/": "slow",
    "tests/oracle/": "slow",
    "tests/properties/": "slow",
    "tests/test_documentation.py": "slow",
    "tests/test_quality_page.py": "slow",
}
# And a test with a parameter that is the name of an engine, or one of its modules.
MODULES: Mapping[str, tuple[str, ...]] = {
    "dask": ("catalpa.engines.dask",),
    "spark": ("catalpa.engines.spark", "catalpa.spark"),
}
# A quick run has none of these, and holds the other tests to it.
NOT_QUICK = ("process", "dask", "spark", "mlflow", "browser", "slow", "data")
HEAVY = ("dask", "distributed", "mlflow", "pyspark")


def marks_of(item: pytest.Item) -> Iterator[str]:
    """Marks that follow from the fixtures, the place and the parameters of a test."""
    for fixture in getattr(item, "fixturenames", ()):
        if fixture in BY_FIXTURE:
            yield BY_FIXTURE[fixture]
    for place, mark in BY_PLACE.items():
        if item.nodeid.startswith(place):
            yield mark
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    texts = {value for value in parameters if isinstance(value, str)}
    texts |= set(item.callspec.id.split("-")) if hasattr(item, "callspec") else set()
    yield from (engine for engine, modules in MODULES.items() if texts & {engine, *modules})


class TooMuchForQuick(AssertionError):
    """A test of a quick run needs more than this process; its mark is missing."""


class RefuseHeavyImports:
    """Finder before all others that refuses the packages that take seconds to import."""

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> None:
        if name.partition(".")[0] in HEAVY:
            raise TooMuchForQuick(f"A quick test imports {name}: mark it in tests/kinds.py.")


def refuse_processes(event: str, arguments: tuple[Any, ...]) -> None:
    """Audit hook: refuse to start another Python while a test runs."""
    if event != "subprocess.Popen" or "PYTEST_CURRENT_TEST" not in os.environ:
        return
    if sys.executable in (arguments[0], *list(arguments[1])[:1]):
        raise TooMuchForQuick("A quick test starts Python: mark it with pytest.mark.process.")
