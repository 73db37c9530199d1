"""The protocol is data, and what it leaves out is left out."""

from __future__ import annotations

from collections import Counter

import pytest

from catalpa.errors import ParameterError
from catalpa.lab import read_protocol
from catalpa.lab.estimators import find_estimator, is_by_chance, make, method_name
from catalpa.lab.published import printed
from catalpa.lab.run import available

OWN = """
[seeds]
repeats = 3
[data]
categorical = ["ZO"]
[[methods]]
method = "kmodes"
variant = "plain"
"""


def test_every_run_is_planned_once():
    keys = [job.key for job in read_protocol().jobs()]
    assert len(keys) == len(set(keys))


def test_seeds_are_the_first_whole_numbers_and_never_picked():
    seeds = Counter()
    for job in read_protocol().jobs():
        seeds[job.dataset, job.columns, job.entry, job.seed] += 1
    plans = {}
    for dataset, columns, entry, seed in seeds:
        plans.setdefault((dataset, columns, entry), []).append(seed)
    for (dataset, _, entry), found in plans.items():
        wanted = 1 if not entry.chance else 10 if dataset in ("NU", "BM") else 50
        assert sorted(found) == list(range(wanted))


def test_every_printed_column_of_every_table_has_a_run_beside_it():
    protocol = read_protocol()
    for table in ("2", "3", "4"):
        ours = {place.label for place, _ in protocol.shown_in(table)}
        assert ours - {"Grove", "Grove (mixed)"} == set(printed(table, "ACC")["label"])


def test_the_default_of_the_library_is_in_every_table():
    protocol = read_protocol()
    for table in ("2", "3", "4"):
        shown = [(place.label, entry.method) for place, entry in protocol.shown_in(table)]
        assert ("Grove", "grove") in shown
    grove = [entry for entry in protocol.entries if entry.method == "grove"]
    assert [(entry.variant, dict(entry.parameters)) for entry in grove] == [("default", {})]
    assert grove[0].columns == ("categorical", "mixed")


def test_one_variant_of_every_label_is_ranked():
    for table, ours in (("2", ["Grove"]), ("3", [])):
        ranked = [place.label for place, _ in read_protocol().shown_in(table) if place.ranked]
        assert sorted(ranked) == sorted([*printed(table, "ACC")["label"].unique(), *ours])


def test_methods_that_know_no_numbers_are_not_run_on_mixed_tables():
    mixed = {job.entry.method for job in read_protocol().jobs() if job.columns == "mixed"}
    assert mixed == {"wocil", "harr", "disc", "kprototypes", "grove"}


def test_every_method_of_the_protocol_can_be_made():
    for entry in read_protocol().entries:
        model = make(entry, 3, 7)
        assert model.get_params().get("random_state", 7) == 7
        assert model.get_params().get("n_clusters", 3) == 3


def test_the_quick_plan_needs_no_download():
    quick = read_protocol().quick()
    assert set(quick.categorical) == {"CA", "DT", "TA", "CV", "ZO"}
    assert not quick.mixed
    assert quick.repeats == 5
    assert available(quick)[1] == []


def test_what_is_not_on_this_computer_is_left_out_and_named(monkeypatch, tmp_path):
    monkeypatch.delenv("CATALPA_DATA", raising=False)
    monkeypatch.setenv("CATALPA_CACHE", str(tmp_path))
    plan, missing = available(read_protocol())
    assert set(plan.categorical) == {"CA", "DT", "TA", "CV", "ZO"}
    assert plan.mixed == ()
    assert "BM" in missing
    assert "DT with numbers" in missing


def test_a_protocol_of_ones_own_is_read(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(OWN, encoding="utf-8")
    protocol = read_protocol(path)
    assert [job.key for job in protocol.jobs()] == [
        ("kmodes", "plain", "ZO", "categorical", seed) for seed in range(3)
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not toml", "no TOML file"),
        ("[seeds]\nrepeats = 1\n", "lacks 'methods'"),
        (OWN + "colour = 'red'\n", r"keys \['colour'\]"),
        (OWN + "shown = [{ tabel = '2' }]\n", r"shown .* keys \['tabel'\].*columns, label, ranked, table"),
        (OWN + "shown = [{ table = '2' }]\n", "'kmodes' in the protocol .* lacks a table or a label"),
        (OWN + "[[methods]]\nmethod = 'kmodes'\nvariant = 'plain'\n", "'kmodes' twice .* 'plain'"),
        (OWN.replace('["ZO"]', '"ZO"'), "not a list of data sets"),
    ],
)
def test_a_protocol_that_cannot_be_used_says_why(tmp_path, text, message):
    path = tmp_path / "own.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ParameterError, match=message):
        read_protocol(path)


def test_a_protocol_that_is_not_there_says_so(tmp_path):
    with pytest.raises(ParameterError, match="cannot be read"):
        read_protocol(tmp_path / "none.toml")


def test_a_data_set_that_the_protocol_lacks_is_refused():
    with pytest.raises(ParameterError, match=r"datasets=\['XX'\].*CA, SB"):
        read_protocol().restricted(datasets=["XX"])


def test_estimators_come_from_the_registry_or_by_path():
    assert find_estimator("kmd").__name__ == find_estimator("k-modes").__name__ == "KModes"
    assert find_estimator("sklearn.cluster:KMeans").__name__ == "KMeans"
    assert (method_name("dilca"), method_name("K-Modes")) == ("cbdm", "kmodes")
    assert method_name("sklearn.cluster:KMeans") == "sklearn.cluster:KMeans"
    assert is_by_chance("disc")
    assert not is_by_chance("sigdt")


def test_estimators_come_from_entry_points(monkeypatch):
    class Point:
        name = "theirs"
        value = "their.package:Theirs"

        def load(self):
            return find_estimator("kmodes")

    monkeypatch.setattr("catalpa.lab.estimators.entry_points", lambda **_: [Point()])
    assert find_estimator("theirs").__name__ == "KModes"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing", "package.module:Class"),
        ("no.such.module:Thing", "cannot be imported"),
        ("sklearn.cluster:NoSuchClass", "cannot be imported"),
        ("math:pi", "not a scikit-learn estimator"),
    ],
)
def test_an_estimator_that_cannot_be_found_says_how_to_name_one(name, message):
    with pytest.raises(ParameterError, match=message):
        find_estimator(name)
