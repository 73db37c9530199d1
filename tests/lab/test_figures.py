"""The figures: their data by hand, and files that open."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tools.keep_timings import timed_before

import catalpa
from catalpa.lab import read_protocol
from catalpa.lab.figures.draw import FIGURES, critical_differences, save
from catalpa.lab.figures.experiments import (
    discrimination,
    quick_settings,
    row_distances,
    seconds,
    slopes,
)
from catalpa.lab.figures.pieces import collected, stored_pieces
from catalpa.lab.figures.random_relations import STRATEGIES, cluster_with
from catalpa.lab.figures.seeds import ranks_of_seeds
from catalpa.lab.published import printed, table_of
from catalpa.lab.significance import significance
from catalpa.metrics import adjusted_rand

STORED = Path(__file__).parents[2] / "results" / "figures"


@pytest.fixture(scope="module")
def protocol():
    whole = read_protocol()
    settings = quick_settings(whole.figures)
    settings["relations"] = {"data": ["ZO"], "draws": 2}
    settings["convergence"] = {"data": ["ZO"], "seed": 0}
    settings["embedding"] = {**settings["embedding"], "data": "ZO", "methods": ["coforest"]}
    settings["seconds"] = {**settings["seconds"], "rows": [50, 100], "columns": [4, 6]}
    settings["seeds"] = {"data": ["ZO"], "seeds": 2}
    return replace(
        whole.restricted(methods=["kmodes", "coforest", "disc", "sigdt", "grove"]), figures=settings
    )


@pytest.fixture(scope="module")
def measured(protocol, tmp_path_factory):
    """Data of a figure, made once."""
    folder = tmp_path_factory.mktemp("figures")

    @cache
    def made(number):
        return collected(FIGURES[number].pieces(protocol), folder / f"{number}.jsonl")

    return made


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_drawn_relations_are_symmetric_and_zero_from_a_category_to_itself(strategy):
    for size in (2, 4):
        matrices = STRATEGIES[strategy](np.random.default_rng(0), 3, size)
        assert matrices.shape == (3, size, size)
        np.testing.assert_array_equal(matrices, np.swapaxes(matrices, 1, 2))
        assert (np.diagonal(matrices, axis1=1, axis2=2) == 0).all()
        same = all((one == matrices[0]).all() for one in matrices)
        assert same == (strategy in ("Uniform", "Hamming"))


def test_hamming_relations_are_plain_k_modes():
    zoo = catalpa.datasets.load("zoo")
    labels = cluster_with("Hamming", zoo.frame, 7, 5)
    centres = [zoo.frame[labels == cluster].mode().iloc[0] for cluster in range(7)]
    differing = np.array([(zoo.frame != centre).sum(axis=1) for centre in centres])  # (k, n)
    # At rest: no row differs less from another centre than from its own.
    assert (differing[labels, np.arange(101)] <= differing.min(axis=0)).mean() > 0.98


def test_the_first_figure_has_a_row_per_draw(measured):
    frame = measured(1)
    assert len(frame) == 5 * 2
    assert set(frame["k"]) == {7}
    row = frame[frame["strategy"] == "Customized"].iloc[1]
    zoo = catalpa.datasets.load("zoo")
    labels = cluster_with("Customized", zoo.frame, 7, 1)
    assert row["ARI"] == adjusted_rand(zoo.target, labels)
    row = frame[frame["strategy"] == "DISC"].iloc[1]
    reading = {"distance": "euclidean", "centers": "nearest", "empty_clusters": "keep"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = catalpa.DISC(7, random_state=1, **reading).fit(zoo.frame).labels_
    assert row["ARI"] == adjusted_rand(zoo.target, labels)


def test_the_second_figure_follows_the_cost_of_disc(measured):
    frame = measured(2)
    assert set(frame["variant"]) == {"equations", "program"}
    learned = frame[(frame["variant"] == "equations") & (frame["phase"] == "learn")]
    assert learned["relearned"].any()
    falls = learned["cost"].diff()[~learned["relearned"].astype(bool)].dropna()
    assert (falls <= 1e-9).all()


def test_the_third_figure_times_every_method_at_every_size(measured):
    frame = measured(3)
    assert set(frame["method"]) == {"KMD", "CoForest", "SigDT", "DISC", "Grove"}
    assert len(frame) == 5 * 4
    assert (frame["seconds"] > 0).all()


def test_timings_that_are_stored_are_found_again(protocol, measured):
    pieces = list(seconds(protocol))
    stored = measured(3)
    assert list(timed_before(protocol, stored)) == pieces
    without = timed_before(protocol, stored[stored["method"] != "Grove"])
    assert list(without) == [name for name in pieces if not name.startswith("Grove, ")]
    slowest = next(name for name in pieces if name.startswith("SigDT, 100 rows"))
    assert (
        without[slowest]["seconds"].tolist()
        == stored.query("method == 'SigDT' and rows == 100")["seconds"].tolist()
    )


def counting(name, asked):
    """A piece that notes when it is measured."""

    def measure():
        asked.append(name)
        return pd.DataFrame({"piece": [name], "value": [0.1 + len(name)], "note": [float("nan")]})

    return measure


def test_pieces_that_were_measured_are_not_measured_again(tmp_path):
    kept, asked = tmp_path / "figure.jsonl", []
    pieces = {name: counting(name, asked) for name in ("one", "three", "seven")}
    collected({"three": pieces["three"]}, kept)
    ticks = []
    frame = collected(pieces, kept, lambda *counts: ticks.append(counts))
    assert asked == ["three", "one", "seven"]
    assert ticks == [(1, 2), (2, 2)]
    assert frame["piece"].tolist() == ["one", "three", "seven"]
    assert frame["value"].tolist() == [3.1, 5.1, 5.1]
    assert frame["note"].isna().all()


def test_pieces_of_other_settings_and_torn_lines_are_passed_over(tmp_path):
    kept, asked = tmp_path / "figure.jsonl", []
    collected({"of other settings": counting("of other settings", asked)}, kept)
    with kept.open("a", encoding="utf-8") as lines:
        lines.write('{"piece": "one", "rows": [{"pie')
    pieces = {"one": counting("one", asked)}
    assert stored_pieces(pieces, kept) == {}
    assert collected(pieces, kept)["piece"].tolist() == ["one"]
    assert set(stored_pieces(pieces, kept)) == {"one"}


@pytest.mark.parametrize("number", FIGURES)
def test_pieces_have_names_of_their_own_that_change_with_the_settings(number, protocol):
    names, others = FIGURES[number].pieces(protocol), FIGURES[number].pieces(read_protocol())
    # As many as are measured: two pieces of one name would be one.
    assert len(names) == {1: 5, 2: 2, 3: 20, 4: 1, 5: 1}[number]
    assert set(names).isdisjoint(others) or number == 2  # zoo alone differs there


def test_slopes_are_exponents():
    n = np.array([10.0, 100.0, 1000.0])
    frame = pd.concat(
        pd.DataFrame({"against": "rows", "method": name, "rows": n, "seconds": 3 * n**power})
        for name, power in (("linear", 1), ("square", 2))
    )
    assert slopes(frame)["slope"].tolist() == pytest.approx([1.0, 2.0])
    assert slopes(frame[frame["rows"] == 10]).empty


def test_a_method_that_cannot_take_a_size_leaves_a_gap(protocol, tmp_path):
    broken = replace(protocol, entries=(replace(protocol.entries[0], parameters={"init": "nonsense"}),))
    frame = collected(seconds(broken), tmp_path / "figure.jsonl")
    assert frame["seconds"].isna().all()
    assert frame["error"].str.contains("init='nonsense'").all()


def test_rows_are_as_far_apart_as_their_categories():
    rows = pd.DataFrame({"a": ["x", "x", "y", "z"], "b": ["u", "v", "v", "v"]}, dtype="category")
    model = catalpa.DISC(2, random_state=0).fit(rows)
    found = row_distances(model, rows)
    share = model.cluster_sizes_ / 4
    by_hand = sum(
        share[cluster] * model.relations_[cluster, column].distance_frame().loc[one, other]
        for column, one, other in (("a", "x", "z"), ("b", "u", "v"))
        for cluster in range(2)
    )
    assert found[0, 3] == pytest.approx(by_hand)
    np.testing.assert_allclose(found, found.T)
    assert (np.diag(found) == 0).all()


def test_the_fourth_figure_places_every_row(measured):
    frame = measured(4)
    assert len(frame) == 101
    assert set(frame["method"]) == {"CoForest"}
    assert np.isfinite(frame[["x", "y"]]).all(axis=None)


def test_classes_far_from_each_other_are_told_apart_by_neighbours():
    places = np.array([0.0, 1.0, 10.0, 11.0, 12.5])
    apart = np.abs(places[:, None] - places)
    classes = np.array(["a", "a", "b", "b", "b"])
    assert discrimination(apart, classes)["neighbour"] == 1.0
    assert discrimination(apart, classes[[0, 2, 1, 3, 4]])["neighbour"] < 1.0
    # Two nearest rows, one of them of the class: half a hit for the row in the middle.
    line = np.abs(np.subtract.outer([0.0, 1.0, 2.0], [0.0, 1.0, 2.0]))
    assert discrimination(line, np.array(["a", "a", "b"]))["neighbour"] == pytest.approx(1.5 / 3)


def test_the_fifth_figure_has_the_means_of_every_seed_and_of_the_scripts(measured):
    frame = measured(5)
    assert sorted(set(frame["seed"])) == [1, 2, 267]
    disc = frame[(frame["seed"] == 267) & (frame["method"] == "DISC")].iloc[0]
    # What Table 2 prints for ZO.
    assert (round(disc["ACC"], 4), round(disc["ARI"], 4)) == (0.805, 0.7736)


def test_ranks_of_seeds_count_better_seeds_and_ties():
    means = {1: 0.7, 2: 0.9, 5: 0.8, 3: 0.8}
    rows = [{"dataset": "ZO", "method": "DISC", "seed": seed, "ACC": mean} for seed, mean in means.items()]
    (place,) = ranks_of_seeds(pd.DataFrame(rows), {"ZO": 5}).to_dict("records")
    assert (place["rank"], place["tied"], place["seeds"]) == (2, 2, 4)
    assert (place["mean"], place["low"], place["high"]) == (pytest.approx(0.8), 0.7, 0.9)
    assert place["printed"] == 0.805


def what_is_drawn(svg):
    """Texts and marks of a drawing with the values they stand for; where they lie depends on fonts."""
    return sorted(re.findall(r'aria-label="([^"]*)"', svg)), sorted(re.findall(r">([^<>]+)</text>", svg))


@pytest.mark.parametrize("number", FIGURES)
def test_stored_drawings_are_what_their_data_draw(number, tmp_path):
    drawn = tmp_path / "figure.svg"
    save(FIGURES[number].draw(pd.read_csv(STORED / f"figure{number}.csv")), [drawn])
    stored = (STORED / f"figure{number}.svg").read_text("utf-8")
    assert what_is_drawn(drawn.read_text("utf-8")) == what_is_drawn(stored)


def test_the_cost_of_the_start_is_not_on_the_axis_of_the_objective(measured, tmp_path):
    frame = measured(2)
    drawn = tmp_path / "figure.svg"
    save(FIGURES[2].draw(frame), [drawn])
    starts = frame[frame["phase"] == "start"]["cost"]
    marks = " ".join(what_is_drawn(drawn.read_text("utf-8"))[0])
    assert len(starts)
    assert not any(f"objective z: {cost:g};" in marks for cost in starts)


@pytest.mark.parametrize("number", FIGURES)
def test_a_figure_is_written_as_svg_and_png(number, measured, tmp_path):
    files = [tmp_path / "figure.svg", tmp_path / "figure.png"]
    save(FIGURES[number].draw(measured(number)), files)
    assert files[0].read_text("utf-8").startswith("<svg")
    assert files[1].read_bytes().startswith(b"\x89PNG")


def test_a_critical_difference_diagram_names_every_method(tmp_path):
    found = significance(table_of(printed("2", "ACC")), "ACC")
    file = tmp_path / "ranks.svg"
    save(critical_differences(found), [file])
    drawn = file.read_text("utf-8")
    # From the best rank down, as the bars that join methods suppose.
    best_first = sorted(found.ranks, key=lambda name: found.ranks[name])
    downwards = [drawn.index(f">{name}</text>") for name in best_first]
    assert downwards == sorted(downwards)


def test_quick_settings_are_smaller():
    settings = read_protocol().figures
    assert quick_settings(settings)["relations"]["draws"] < settings["relations"]["draws"]
    assert max(quick_settings(settings)["seconds"]["rows"]) < min(settings["seconds"]["rows"])
