"""Every chart shows what the model holds, and saves without a network."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import catalpa
from catalpa import plot
from catalpa.errors import ParameterError, UndefinedMetric, UnknownCluster, UnknownColumn
from catalpa.plot.theme import PALETTE, cluster_colour, cluster_shape
from catalpa.plot.view import make_view, number_records
from catalpa.table import infer


def drawn_values(chart, field):
    """All values of a field in the chart's own data, in order."""
    found = []

    def collect(part):
        if isinstance(part, dict):
            if isinstance(part.get("values"), list):
                found.extend(row[field] for row in part["values"] if isinstance(row, dict) and field in row)
            for value in part.values():
                collect(value)
        elif isinstance(part, list):
            for value in part:
                collect(value)

    collect(chart.to_dict())
    return found


def test_twenty_clusters_look_different():
    assert len({(cluster_colour(at), cluster_shape(at)) for at in range(20)}) == 20
    assert len(set(PALETTE)) == 8
    assert cluster_colour(0) == cluster_colour(8)
    assert (cluster_shape(0), cluster_shape(8)) == ("circle", "square")


def test_numbers_are_spread_by_cluster():
    rows = [[1.5], [2.5], [9.5]]
    (found,) = number_records(rows, infer(rows), np.array([0, 0, 1]), 2)
    assert [one["mean"] for one in found["clusters"]] == [2.0, 9.5]
    assert found["clusters"][0]["quantiles"][2] == 2.0


def test_a_row_of_the_sample_is_told_by_its_columns():
    table = [["a", "x"], ["b", "y"]]
    texts = make_view(catalpa.KModes(2, random_state=0).fit(table), table).cell_texts(0)
    assert texts == {"x0": "a", "x1": "x"}


def test_sizes_are_the_sizes_of_the_clusters(kmodes):
    assert drawn_values(plot.cluster_sizes(kmodes), "rows") == kmodes.cluster_sizes_.tolist()


def test_the_profile_shows_the_share_of_each_category(kmodes):
    chart = plot.profile_map(kmodes, ["legs", "tail"])
    profile = kmodes.profiles_
    wanted = profile[profile["column"].isin(["legs", "tail"])]
    assert sorted(drawn_values(chart, "share")) == pytest.approx(sorted(wanted["share"]))


def test_the_profile_begins_with_the_most_telling_columns(kmodes):
    columns = list(dict.fromkeys(drawn_values(plot.profile_map(kmodes), "column")))
    assert len(columns) == 12
    assert "domestic" not in columns


def test_a_profile_of_a_wide_column_keeps_the_commonest_categories():
    frame = pd.DataFrame(
        {"letter": [chr(65 + at % 26) for at in range(60)] + ["A"] * 40, "x": ["p", "q"] * 50}
    )
    model = catalpa.KModes(2, random_state=0).fit(frame)
    categories = set(drawn_values(plot.profile_map(model, ["letter"]), "category"))
    assert len(categories) == 12
    assert "A" in categories


def test_a_profile_of_an_unknown_column_names_the_columns(kmodes):
    with pytest.raises(UnknownColumn, match="wings"):
        plot.profile_map(kmodes, ["wings"])


def test_a_tree_has_a_dot_for_each_category_at_its_distance(disc):
    chart = plot.relation_tree(disc, 1, "legs")
    relation = disc.relations_[1, "legs"]
    dots = chart.to_dict()["layer"][1]["data"]["values"]
    share = disc.profiles_.query("cluster == 1 and column == 'legs'")["share"]
    assert sum(dot["text"].count(",") + 1 for dot in dots) == (share > 0).sum()
    assert max(dot["place"] for dot in dots) <= relation.distances.max() + 1e-9
    assert chart.to_dict()["title"]["subtitle"][0].startswith("no rows: ")
    assert chart.to_dict()["layer"][1]["encoding"]["x"]["axis"]["title"] == "difference of shares"
    assert sum(dot["share"] for dot in dots) == pytest.approx(1.0)
    assert dots[0]["share"] == max(dot["share"] for dot in dots)


def test_clusters_side_by_side_are_drawn_to_one_scale(disc):
    chart = plot.relation_comparison(disc, "legs", [0, 1]).to_dict()
    domains = [
        layer["encoding"]["x"]["scale"]["domain"] for part in chart["hconcat"] for layer in part["layer"]
    ]
    assert len({tuple(domain) for domain in domains}) == 1


def test_the_grid_has_a_tree_for_every_column_and_cluster(disc):
    chart = plot.relation_grid(disc, ["legs", "tail"]).to_dict()
    assert [len(row["hconcat"]) for row in chart["vconcat"]] == [4, 4]
    assert len(plot.relation_grid(disc, clusters=[0]).to_dict()["vconcat"]) == 4


def test_trees_say_how_many_rare_categories_are_left_out():
    frame = pd.DataFrame({"letter": np.repeat([f"c{at:02}" for at in range(60)], np.arange(1, 61))})
    model = catalpa.DISC(1, random_state=0).fit(frame)
    title = plot.relation_tree(model, 0, "letter").to_dict()["title"]
    assert title["subtitle"] == ["20 rarer categories not shown"]


def test_a_model_that_is_not_fitted_is_called_so_before_its_relations_are_missed():
    with pytest.raises(NotFittedError):
        plot.relation_tree(catalpa.Grove(2), 0, "legs")


def test_a_method_without_relations_says_so(kmodes):
    with pytest.raises(ParameterError, match="KModes learns no relations"):
        plot.relation_tree(kmodes, 0, "legs")


def test_trees_of_unknown_clusters_and_columns_are_refused(disc):
    with pytest.raises(UnknownCluster, match="0 to 3"):
        plot.relation_tree(disc, 9, "legs")
    with pytest.raises(UnknownColumn, match="wings"):
        plot.relation_tree(disc, 0, "wings")
    with pytest.raises(ParameterError, match="empty"):
        plot.relation_comparison(disc, "legs", [])


def test_the_map_has_a_point_for_every_row_in_the_colour_of_its_cluster(kmodes, zoo):
    chart = plot.row_map(kmodes, zoo)
    rows = drawn_values(chart, "row")
    clusters = [value for value in drawn_values(chart, "cluster") if isinstance(value, int)]
    assert rows == list(range(101))
    assert clusters == kmodes.labels_.tolist()
    assert "title" not in chart.to_dict()


def test_equal_rows_are_fanned_out_on_the_map(kmodes, zoo):
    chart = plot.row_map(kmodes, zoo)
    points = list(zip(drawn_values(chart, "x")[:101], drawn_values(chart, "y")[:101], strict=True))
    assert zoo.duplicated().any()
    assert len(set(points)) == 101


def test_a_large_table_is_sampled_and_the_map_says_so(kmodes, zoo):
    many = pd.concat([zoo] * 30, ignore_index=True)
    chart = plot.row_map(kmodes, many).to_dict()
    assert "2,000 of 3,030 rows" in chart["title"]["subtitle"]


def test_the_map_by_neighbourhoods_has_every_row_too(kmodes, zoo):
    assert drawn_values(plot.row_map(kmodes, zoo.head(12), method="tsne"), "row") == list(range(12))


def test_an_unknown_kind_of_map_is_refused(kmodes, zoo):
    with pytest.raises(ParameterError, match="'mca' or 'tsne'"):
        plot.row_map(kmodes, zoo, method="umap")


def test_equal_rows_stay_together_where_all_rows_lie_on_a_line():
    table = [["a", "x"]] * 6 + [["b", "y"]] * 6
    chart = plot.row_map(catalpa.KModes(2, random_state=0).fit(table), table, width=600, height=400).to_dict()
    scale = chart["layer"][0]["encoding"]["y"]["scale"]["domain"]
    heights = [value["y"] for value in chart["layer"][0]["data"]["values"]]
    assert (max(heights) - min(heights)) / (scale[1] - scale[0]) < 0.1


def test_the_number_of_a_cluster_stands_beside_its_row():
    table = [["a", "x"]] + [["b", "y"]] * 6
    chart = plot.row_map(catalpa.KModes(2, random_state=0).fit(table), table).to_dict()
    for layer in chart["layer"][1:]:
        assert abs(layer["mark"]["dy"]) >= 12


def test_silhouettes_are_those_of_the_metric(kmodes, zoo):
    chart = plot.silhouettes(kmodes, zoo)
    expected = catalpa.metrics.categorical_silhouette_samples(zoo, kmodes.labels_)
    assert sorted(drawn_values(chart, "value")) == pytest.approx(sorted(expected))


def test_one_cluster_has_no_silhouette(zoo):
    with pytest.raises(UndefinedMetric, match="two clusters"):
        plot.silhouettes(catalpa.KModes(1).fit(zoo), zoo)


def test_the_merge_tree_has_a_leaf_for_each_cluster_and_branches_that_do_not_cross(zoo):
    model = catalpa.Grove(5, random_state=0).fit(zoo).name_clusters({0: "first"})
    tree, spec = model.tree_, plot.merge_tree(model).to_dict()
    branches, joints, leaves, _ = (layer["data"]["values"] for layer in spec["layer"])
    assert sorted(leaf["name"] for leaf in leaves) == ["1", "2", "3", "4", "first"]
    assert [joint["x"] for joint in joints] == tree.linkage[:, 2].tolist()
    place = {leaf["name"]: leaf["y"] for leaf in leaves}
    for group in (group for k in range(1, 6) for group in tree.groups(k)):
        own = sorted(place[tree.names[cluster]] for cluster in group)
        assert own == list(range(own[0], own[0] + len(own)))
    assert len(branches) == 3 * 4


def test_the_merge_tree_needs_a_method_with_one_and_two_clusters(kmodes, zoo):
    with pytest.raises(ParameterError, match="Grove"):
        plot.merge_tree(kmodes)
    with pytest.raises(ParameterError, match="single"):
        plot.merge_tree(catalpa.Grove(1).fit(zoo))


def test_cost_per_pass_follows_the_history_and_marks_relearning(disc):
    chart = plot.cost_per_pass(disc)
    assert drawn_values(chart, "cost") == pytest.approx(disc.history_["cost"].tolist())
    kinds = ["relearned" if one else "pass" for one in disc.history_["relearned"]]
    assert drawn_values(chart, "kind") == kinds
    assert "relearned" in kinds


def test_the_curve_for_k_marks_the_chosen_number():
    chart = plot.choosing_k({3: 0.5, 2: 0.3}, chosen=3, name="silhouette")
    assert drawn_values(chart, "k") == [2, 3]
    assert len(chart.to_dict()["layer"]) == 4
    assert len(plot.choosing_k({2: 0.3}).to_dict()["layer"]) == 2


def test_the_curve_for_k_refuses_what_was_not_tried():
    with pytest.raises(ParameterError, match="chosen=5"):
        plot.choosing_k({2: 0.1}, chosen=5)
    with pytest.raises(ParameterError, match="empty"):
        plot.choosing_k({})


def test_a_choice_of_k_is_drawn_with_its_gains_and_its_k():
    rows = catalpa.datasets.make_categorical(120, columns=6, clusters=3, noise=0.1, seed=0).frame
    choice = catalpa.choose_k(rows, range(1, 5), random_state=0)
    drawn = plot.choosing_k(choice).to_dict()
    points = drawn["data"]["values"]
    assert {point["k"]: point["score"] for point in points} == choice.gains
    assert "k = 3" in str(drawn)


@pytest.mark.parametrize("ending", ["svg", "png", "html"])
def test_a_chart_saves_without_a_network(ending, kmodes, tmp_path):
    path = tmp_path / f"chart.{ending}"
    chart = plot.cluster_sizes(kmodes)
    chart.save(str(path), **({"inline": True} if ending == "html" else {}))
    assert path.stat().st_size > 1_000
    if ending == "html":
        assert 'src="http' not in path.read_text(encoding="utf-8")


def test_charts_without_altair_name_the_command_to_run(kmodes, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "altair", None)
    with pytest.raises(catalpa.errors.MissingDependency, match=r'pip install "catalpa\[report\]"'):
        plot.cluster_sizes(kmodes)


def test_boxes_show_the_quartiles_of_every_cluster():
    table = [[float(at), "a"] for at in range(11)] + [[float(at), "b"] for at in range(50, 61)]
    model = catalpa.KPrototypes(2, random_state=0).fit(table)
    chart = plot.number_boxes(model, table)
    assert sorted(set(drawn_values(chart, "q25"))) == [2.5, 52.5]
    assert sorted(drawn_values(chart, "mean")[:2]) == pytest.approx([5.0, 55.0])
    assert plot.number_boxes(model, table, ["x0"]).to_dict()
    with pytest.raises(UnknownColumn, match="x1"):
        plot.number_boxes(model, table, ["x1"])


def test_boxes_need_numbers(kmodes, zoo):
    with pytest.raises(ParameterError, match="no column of numbers"):
        plot.number_boxes(kmodes, zoo)
