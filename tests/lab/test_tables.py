"""Our tables stand beside the printed ones, and the printed ones agree with themselves as the page says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scikit_posthocs
from scipy import stats

from catalpa.errors import ParameterError
from catalpa.lab import read_protocol
from catalpa.lab.grids import FORMATS, Cell, Grid, to_latex, to_markdown, to_plain
from catalpa.lab.page import page
from catalpa.lab.published import contradictions, printed, printed_ranks, ranks_of, table_of
from catalpa.lab.significance import significance
from catalpa.lab.tables import _places, table

# Demšar (2006), Table 6: AUC of C4.5 with four settings on fourteen data sets.
DEMSAR = pd.DataFrame(
    [
        (0.763, 0.768, 0.771, 0.798),
        (0.599, 0.591, 0.590, 0.569),
        (0.954, 0.971, 0.968, 0.967),
        (0.628, 0.661, 0.654, 0.657),
        (0.882, 0.888, 0.886, 0.898),
        (0.936, 0.931, 0.916, 0.931),
        (0.661, 0.668, 0.609, 0.685),
        (0.583, 0.583, 0.563, 0.625),
        (0.775, 0.838, 0.866, 0.875),
        (1.000, 1.000, 1.000, 1.000),
        (0.940, 0.962, 0.965, 0.962),
        (0.619, 0.666, 0.614, 0.669),
        (0.972, 0.981, 0.9751, 0.975),
        (0.957, 0.978, 0.946, 0.970),
    ],
    columns=["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"],
)


def test_printed_accuracy_ranks_follow_from_the_printed_means():
    again = ranks_of(table_of(printed("2", "ACC")), "ACC")
    assert (again - printed_ranks("2", "ACC")).abs().max() < 0.0051


def test_printed_rand_ranks_follow_when_a_missing_score_counts_as_zero():
    scores = table_of(printed("2", "ARI"))
    again = ranks_of(scores, "ARI") - printed_ranks("2", "ARI")
    assert again[again.abs() > 0.0051].round(2).to_dict() == {"CBDM": 0.08, "SigDT": -0.08}
    on_car = scores.fillna({"CBDM": 0.0}).loc[["CA"]]
    filled = pd.concat([on_car, scores.drop(index="CA")])
    assert (ranks_of(filled, "ARI") - printed_ranks("2", "ARI")).abs().max() < 0.0051


def test_printed_compactness_ranks_follow_when_ties_share_the_best_rank():
    scores = table_of(printed("2", "CMP")).fillna(np.inf)
    best = stats.rankdata(scores, axis=1, method="min").mean(axis=0)
    assert np.abs(best - printed_ranks("2", "CMP")[scores.columns]).max() < 0.0051


def test_printed_ablation_ranks_follow_when_ties_share_the_best_rank():
    scores = table_of(printed("3", "ACC"))
    best = stats.rankdata(-scores, axis=1, method="min").mean(axis=0)
    assert np.abs(best - printed_ranks("3", "ACC")[scores.columns]).max() < 0.0051


def test_what_was_printed_is_read_as_it_stands_there():
    two = printed("2", "ACC").set_index(["dataset", "label"])
    assert two.loc[("ZO", "DISC"), "mean"] == 0.805
    assert (printed_ranks("3", "ACC")["DISC"], len(printed_ranks("3", "ARI"))) == (1.08, 0)
    assert ranks_of(table_of(printed("2", "ACC")), "ACC")["DISC"].round(2) == 1.25
    assert contradictions()["dataset"].tolist()[:2] == ["SB", "NU"]


def test_the_printed_tables_contradict_each_other_in_four_places():
    found = contradictions()[["dataset", "method"]].itertuples(index=False, name=None)
    assert sorted(found) == [("NU", "DISC"), ("OB", "KMD"), ("SB", "DISC"), ("SB", "KMD")]


def test_a_cell_is_the_mean_over_seeds_beside_the_print(results, small):
    cells = table(results, small, "2", "ACC").cells.set_index(["dataset", "column"])
    runs = results[(results["method"] == "kmodes") & (results["dataset"] == "ZO")]["ACC"]
    cell = cells.loc[("ZO", "KMD")]
    assert cell["mean"] == pytest.approx(runs.mean())
    assert cell["std"] == pytest.approx(np.std(runs))
    assert (cell["low"], cell["high"], cell["runs"]) == (runs.min(), runs.max(), 2)
    assert cell["printed"] == 0.6970
    assert cell["difference"] == pytest.approx(runs.mean() - 0.6970)
    assert cell["one_cluster"] == pytest.approx(41 / 101)


def test_a_method_without_a_result_is_a_gap(results, small):
    cells = table(results, small, "2", "ARI").cells.set_index(["dataset", "column"])
    cell = cells.loc[("CA", "CBDM")]
    assert np.isnan(cell["mean"])
    assert (cell["runs"], cell["failed"], cell["place"]) == (0, 2, 0)
    assert "| - |" in to_markdown(table(results, small, "2", "ARI").grid("ours"))


def test_the_best_and_second_best_of_a_data_set_are_marked(results, small):
    for measure, ascending in (("ACC", False), ("CMP", True)):
        cells = table(results, small, "2", measure).cells
        for _, part in cells.groupby("dataset"):
            values = np.unique(part["mean"].dropna().round(4))
            best = values if ascending else values[::-1]
            for place in (1, 2):
                marked = part.loc[part["place"] == place, "mean"].round(4)
                assert set(marked) == {best[place - 1]}


def test_variants_of_one_label_stand_beside_the_same_print(results, small):
    cells = table(results, small, "2").cells
    disc = cells[(cells["label"] == "DISC") & (cells["dataset"] == "CA")]
    assert disc["column"].tolist() == ["DISC: equations", "DISC: program"]
    assert set(disc["printed"]) == {0.5826}


def test_the_score_of_one_cluster_stands_below_accuracy_only(results, small):
    assert "all rows in one cluster" in to_plain(table(results, small, "2", "ACC").grid("ours"))
    assert "all rows in one cluster" not in to_plain(table(results, small, "2", "ARI").grid("ours"))


def test_a_measure_that_a_table_does_not_print_stands_alone(results, small):
    cells = table(results, small, "3", "ARI").cells
    assert cells["mean"].notna().any()
    assert cells["printed"].isna().all()


def test_ranks_are_those_of_the_ranked_variants(results, small):
    made = table(results, small, "3")
    scores = table_of(made.cells[made.cells["ranked"]])
    by_hand = (-scores).rank(axis=1).mean()
    assert made.ranks()["ours"].to_dict() == pytest.approx(by_hand.to_dict())
    assert made.ranks()["printed"]["DISC"] == 1.08


def test_a_table_of_results_that_are_not_there_is_full_of_gaps(results):
    made = table(results, read_protocol(), "4")
    assert made.cells["mean"].isna().all()
    assert "0.4432" in to_plain(made.grid("printed"))


@pytest.mark.parametrize(("number", "measure", "message"), [("5", "ACC", "no table '5'"), ("2", "X", "'X'")])
def test_what_cannot_be_made_is_refused(results, small, number, measure, message):
    with pytest.raises(ParameterError, match=message):
        table(results, small, number, measure)


def test_a_grid_is_written_for_every_reader():
    grid = Grid("t", ["method", "A_1"], [[Cell("x"), Cell("0.5±0.1", 1)], [Cell("y"), Cell("0.4", 2)]])
    assert "| x | **0.5±0.1** |" in to_markdown(grid)
    assert "| y | <u>0.4</u> |" in to_markdown(grid)
    assert r"method & A\_1 \\" in to_latex(grid)
    assert r"x & \textbf{0.5$\pm$0.1} \\" in to_latex(grid)
    assert to_plain(grid).splitlines()[2:] == ["x       0.5±0.1*", "y           0.4'"]


def test_the_tests_agree_with_the_worked_example_of_the_literature():
    found = significance(DEMSAR, "ACC", control="C4.5")
    assert np.round(found.friedman.average_ranks, 3).tolist() == [3.143, 2.0, 2.893, 1.964]
    assert found.friedman.chi_square == pytest.approx(9.28, abs=0.01)
    assert found.friedman.f_statistic == pytest.approx(3.69, abs=0.01)
    assert found.nemenyi == pytest.approx(1.25, abs=0.01)
    assert found.bonferroni_dunn == pytest.approx(1.17, abs=0.01)
    assert found.control == "C4.5"


def test_groups_are_those_that_nemenyi_does_not_tell_apart():
    scores = table_of(printed("2", "ACC"))
    found = significance(scores, "ACC")
    apart = scikit_posthocs.posthoc_nemenyi_friedman(-scores.dropna()) < 0.05
    together = {frozenset(pair) for group in found.groups for pair in _pairs(group)}
    for pair in _pairs(tuple(found.ranks)):
        assert (frozenset(pair) in together) == (not apart.loc[pair])


def _pairs(names):
    return [(first, second) for at, first in enumerate(names) for second in names[at + 1 :]]


def test_the_best_method_is_the_control_unless_another_is_named():
    assert significance(table_of(printed("2", "ACC")), "ACC").control == "DISC"


def test_a_usual_control_without_any_score_leaves_the_place_to_the_best():
    scores = table_of(printed("2", "ACC"))
    best = significance(scores.drop(columns="DISC"), "ACC").control
    assert significance(scores.assign(DISC=np.nan), "ACC").control == best != "DISC"


def test_tests_need_two_complete_data_sets():
    scores = table_of(printed("2", "ACC")).head(1)
    with pytest.raises(ParameterError, match="run more of the protocol"):
        significance(scores, "ACC")


def test_a_method_without_any_score_takes_no_part_in_tests_and_ranks(results):
    protocol = read_protocol().restricted(methods=["kmodes", "sigdt", "grove"], datasets=["CA", "ZO"])
    made = table(results, protocol, "2")
    assert made.ranks()["ours"].dropna().index.tolist() == ["KMD", "SigDT"]
    scores = table_of(made.cells[made.cells["ranked"]])
    assert tuple(significance(scores, "ACC").ranks) == ("KMD", "SigDT")


def test_what_is_not_printed_has_no_line_among_the_printed(results, small):
    both = outside(results, "package.module:Theirs")
    made = table(both, small.including(both), "2")
    for grid in (made.grid("printed"), made.grid("ours minus printed")):
        assert not any(row[0].text in ("Grove", "Theirs") for row in grid.rows)


def test_the_table_of_the_page_has_the_difference_from_the_print_in_brackets(results, small):
    made = table(results, small, "2")
    grid = made.side_by_side()
    own = made.cells[(made.cells["column"] == "KMD") & (made.cells["dataset"] == "ZO")].iloc[0]
    kmodes, alone = (next(row for row in grid.rows if row[0].text == name) for name in ("KMD", LAST))
    wanted = f"{own['mean']:.4f}±{own['std']:.2f} ({own['mean'] - 0.6970:+.3f})"
    assert kmodes[grid.head.index("ZO")].text == wanted
    ranks = [f"{made.ranks().loc['KMD', name]:.2f}" for name in ("ours", "printed")]
    assert [cell.text for cell in kmodes[-2:]] == ranks
    assert alone[grid.head.index("CA")].text == "0.7002"
    assert {len(row) for row in grid.rows} == {len(grid.head)}


def test_the_table_of_the_page_has_no_ranks_if_there_are_none(results):
    grid = table(results, read_protocol(), "4").side_by_side()
    assert "rank" not in grid.head
    assert {len(row) for row in grid.rows} == {len(grid.head)}


LAST = "all rows in one cluster"


def test_a_method_of_another_package_gets_a_column(results, small):
    theirs = results[results["method"] == "kmodes"].assign(method="package.module:Theirs", variant="default")
    both = pd.concat([results, theirs], ignore_index=True)
    cells = table(both, small.including(both), "2").cells
    assert "Theirs" in set(cells["column"])
    kmodes, theirs_too = (cells.loc[cells["column"] == name, "mean"].tolist() for name in ("KMD", "Theirs"))
    assert kmodes == theirs_too


def test_the_page_is_made_from_the_results(results, small):
    text = page(results, small)
    assert "$" not in text.replace("$\\pm$", "")
    mean = results.query("method == 'kmodes' and dataset == 'ZO'")["ACC"].mean()
    assert f"{mean:.4f}" in text
    assert "cbdm on CA: UndefinedMetric" in text
    assert "CA | 0.7002 |" in text
    # Another result, another page.
    other = results.assign(ACC=results["ACC"] / 2)
    assert f"{mean / 2:.4f}" in page(other, small)


def test_the_page_tells_near_from_far(results, small):
    printed_zoo = 0.6970
    at_print = results.assign(ACC=results["ACC"].mask(results["method"] == "kmodes", printed_zoo))
    line = next(line for line in page(at_print, small).splitlines() if line.startswith("| KMD |"))
    # On CA the print is .3795 ± .04: far from .6970.
    assert line.startswith("| KMD | 1 of 2 |")


@pytest.mark.parametrize("number", ["2", "3", "4"])
@pytest.mark.parametrize("measure", ["ACC", "ARI", "NMI", "AMI", "CMP"])
def test_every_measure_of_every_table_is_written_in_every_format(results, number, measure):
    made = table(results, read_protocol(), number, measure)
    for write in FORMATS.values():
        assert all(grid.title in write(grid) for grid in made.grids())


@pytest.mark.parametrize(("number", "measure"), [("2", "NMI"), ("3", "ARI"), ("4", "ARI")])
def test_no_rank_stands_beside_a_measure_that_was_not_printed(results, number, measure):
    made = table(results, read_protocol(), number, measure)
    assert made.ranks()["printed"].isna().all()
    assert not any(
        letter.isdigit() for row in made.grid("printed").rows for cell in row[1:] for letter in cell.text
    )


@pytest.mark.parametrize("number", ["2", "3", "4"])
def test_lines_stand_in_the_order_of_the_printed_table(results, number):
    grid = table(results, read_protocol(), number).grid("printed")
    assert [row[0].text for row in grid.rows] == list(printed(number, "ACC")["label"].unique())


def test_the_printed_marks_are_those_of_the_paper():
    cells = pd.DataFrame(
        [("CV", label, mean) for label, mean in ROW_OF_PAPER], columns=["dataset", "label", "m"]
    )
    places = dict(zip(cells["label"], _places(cells, "m", "CMP"), strict=True))
    # In Table 2, CMP on TA: CDCDR is bold, and both WOCIL and DISC are underlined.
    assert {label for label, place in places.items() if place == 1} == {"CDCDR"}
    assert {label for label, place in places.items() if place == 2} == {"WOCIL", "DISC"}


ROW_OF_PAPER = [("KMD", 0.4537), ("WOCIL", 0.3701), ("CDCDR", 0.3273), ("CoForest", 0.3941), ("DISC", 0.3701)]


def test_what_latex_and_markdown_take_as_their_own_is_escaped():
    grid = Grid("t", ["method"], [[Cell(r"a|b & 1% $x_1$ {c} ~^\ #")]])
    assert r"| a\|b & 1%" in to_markdown(grid)
    wanted = r"a|b \& 1\% \$x\_1\$ \{c\} \textasciitilde{}\textasciicircum{}\textbackslash{} \# \\"
    assert to_latex(grid).splitlines()[5] == wanted


def test_means_that_tie_but_for_their_last_digits_share_their_rank(results, small):
    scores = [0.1, 0.2, 0.3], [0.3, 0.2, 0.1]  # summed in this order, they differ by 1e-17
    kmodes, sigdt = (
        pd.concat(
            [
                results[(results["method"] == method) & (results["dataset"] == name)]
                .head(1)
                .assign(ACC=one, seed=at)
                for name in ("CA", "ZO")
                for at, one in enumerate(ones)
            ]
        )
        for method, ones in zip(("kmodes", "sigdt"), scores, strict=True)
    )
    made = table(
        pd.concat([kmodes, sigdt], ignore_index=True), small.restricted(methods=["kmodes", "sigdt"]), "2"
    )
    assert made.ranks()["ours"].tolist() == [1.5, 1.5]


def test_the_share_of_the_largest_cluster_is_its_mean_over_runs(results, small):
    shares = [0.96, 0.5]
    chosen = (results["method"] == "kmodes") & (results["dataset"] == "ZO")
    changed = results.assign(largest_share=results["largest_share"].where(~chosen, 0.0))
    changed.loc[chosen, "largest_share"] = shares
    made = table(changed, small, "2")
    cell = made.cells.set_index(["dataset", "column"]).loc[("ZO", "KMD")]
    assert (cell["largest_share"], cell["lopsided"]) == (pytest.approx(0.73), 1)
    assert "0.73" in to_plain(made.grid("share of the rows in the largest cluster"))
    assert "- KMD: ZO 1 of 2" in page(changed, small)


def outside(results, method, datasets=("CA", "ZO")):
    rows = results[(results["method"] == "kmodes") & results["dataset"].isin(datasets)]
    return pd.concat([results, rows.assign(method=method, variant="default")], ignore_index=True)


def test_a_method_of_another_package_is_in_every_table_and_ranked_once_it_is_complete(results, small):
    both = outside(results, "package.module:Theirs")
    for number in ("2", "3", "4"):
        made = table(both, read_protocol().including(both), number)
        assert "Theirs" in [row[0].text for row in made.grid("ours").rows]
    protocol = small.including(both)
    assert table(both, protocol, "2").ranks().loc["Theirs", "ours"] == pytest.approx(
        table(both, protocol, "2").ranks().loc["KMD", "ours"]
    )
    assert "| Theirs |" in page(both, protocol)
    part = outside(results, "package.module:Theirs", ["ZO"])
    assert "Theirs" not in table(part, small.including(part), "2").ranks().index


def test_a_class_called_like_a_method_of_the_tables_keeps_its_own_line(results, small):
    both = outside(results, "package.module:DISC")
    made = table(both, small.including(both), "2")
    lines = [row[0].text for row in made.grid("ours").rows]
    assert "package.module:DISC" in lines
    assert len(lines) == len(set(lines))
    beside = made.cells.loc[made.cells["label"] == "package.module:DISC", "printed"]
    assert beside.isna().all()
