"""Relations: what the paper claims about them, and how a person gets at them."""

from __future__ import annotations

import pickle
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse.csgraph import minimum_spanning_tree

from catalpa.errors import CatalpaError, MissingDependency, ParameterError, UnknownCluster, UnknownColumn
from catalpa.explain.relations import Relations
from catalpa.table import infer

SAFETY = np.array([[0.7, 0.1, 0.2, 0.5, 0.5]])  # high, low, med; then 2, missing


@pytest.fixture
def relations(schema_of):
    schema = schema_of(safety=["high", "low", "med"], doors=[2, None], price=None)
    return Relations.on_lines(schema, np.vstack([SAFETY, np.roll(SAFETY, 1)]))


@st.composite
def shares_of_one_column(draw):
    """Shares of a column's categories as counts over their sum, ties and zeros included."""
    counts = draw(arrays(np.int64, st.integers(1, 8), elements=st.integers(0, 5)))
    return counts / max(counts.sum(), 1)


class TestClaimsOfThePaper:
    @given(shares_of_one_column())
    def test_the_tree_is_a_minimum_spanning_tree(self, schema_of, shares):
        relation = Relations.on_lines(schema_of(a=range(len(shares))), shares[None, :])[0, "a"]
        raised = relation.distances + 1 - np.eye(len(shares))  # SciPy takes a zero for no edge
        lightest = minimum_spanning_tree(raised).sum() - (len(shares) - 1)
        assert sum(length for _, _, length in relation.edges) == pytest.approx(lightest, abs=1e-12)

    @given(shares_of_one_column())
    def test_the_tree_is_the_path_sorted_by_share(self, schema_of, shares):
        relation = Relations.on_lines(schema_of(a=range(len(shares))), shares[None, :])[0, "a"]
        assert relation.is_path
        assert list(relation.order) == sorted(range(len(shares)), key=lambda code: (shares[code], code))
        assert [edge[:2] for edge in relation.edges] == list(
            zip(relation.order[:-1], relation.order[1:], strict=True)
        )

    @given(shares_of_one_column())
    def test_the_length_of_the_path_is_the_difference_of_the_shares(self, schema_of, shares):
        relation = Relations.on_lines(schema_of(a=range(len(shares))), shares[None, :])[0, "a"]
        for u, share_u in enumerate(shares):
            for s, share_s in enumerate(shares):
                assert relation.distances[u, s] == abs(share_u - share_s)
                assert relation.tree.path_lengths()[u, s] == pytest.approx(abs(share_u - share_s), abs=1e-12)

    @given(shares_of_one_column())
    def test_distances_are_a_metric_up_to_equal_shares(self, schema_of, shares):
        distances = Relations.on_lines(schema_of(a=range(len(shares))), shares[None, :])[0, "a"].distances
        assert (distances >= 0).all()
        assert np.array_equal(distances, distances.T)
        assert np.array_equal(distances == 0, shares[:, None] == shares[None, :])
        detours = distances[:, :, None] + distances[None, :, :]  # u to middle to s
        assert (distances[:, None, :] <= detours + 1e-12).all()


class TestAskingForARelation:
    def test_it_knows_its_place_and_its_categories(self, relations):
        relation = relations[0, "safety"]
        assert (relation.cluster, relation.column) == (0, "safety")
        assert relation.categories == ("high", "low", "med")
        assert relation.order == ("low", "med", "high")
        assert relation.edges == [("low", "med", 0.1), ("med", "high", pytest.approx(0.5))]

    def test_clusters_differ(self, relations):
        assert relations[1, "safety"].order == ("med", "high", "low")
        assert relations[1, "safety"].distances[0].tolist() == pytest.approx([0, 0.2, 0.4])

    def test_a_column_may_be_given_by_place_and_numpy_integers_do(self, relations):
        assert relations[np.int64(1), np.int32(1)].column == "doors"
        assert relations[0, 1].categories == (2, None)

    @pytest.mark.parametrize("cluster", [2, -1, "0", 0.5])
    def test_an_unknown_cluster_is_named_with_those_there_are(self, relations, cluster):
        with pytest.raises(UnknownCluster, match=r"no cluster .*; the clusters are 0 to 1") as caught:
            relations[cluster, "safety"]
        assert isinstance(caught.value, IndexError)

    @pytest.mark.parametrize("column", ["colour", 2, -1, None, 1.5])
    def test_an_unknown_column_is_named_with_those_there_are(self, relations, column):
        with pytest.raises(UnknownColumn, match=r"There is no column .*'safety', 'doors'"):
            relations[0, column]

    def test_a_column_of_numbers_has_no_relations(self, relations):
        with pytest.raises(UnknownColumn, match="'price' is numeric"):
            relations[0, "price"]

    @pytest.mark.parametrize("key", [0, (0, "safety", 1)])
    def test_a_key_that_is_not_a_pair_is_explained(self, relations, key):
        with pytest.raises(ParameterError, match=r"relations\[0, 'colour'\]"):
            relations[key]

    def test_iteration_gives_every_cluster_and_column_once(self, relations):
        places = [(relation.cluster, relation.column) for relation in relations]
        assert places == [(0, "safety"), (0, "doors"), (1, "safety"), (1, "doors")]
        assert len(relations) == 4
        assert relations.shape == (2, 2)
        assert relations.columns == ("safety", "doors")
        assert relations.n_clusters == 2

    def test_relations_survive_pickling(self, relations):
        again = pickle.loads(pickle.dumps(relations))
        assert again.to_frame().equals(relations.to_frame())


class TestMatrices:
    STAR = np.array([[0, 1, 1, 1], [1, 0, 2, 2], [1, 2, 0, 2], [1, 2, 2, 0.0]])

    def test_a_shared_matrix_serves_every_cluster(self, schema_of):
        relations = Relations.from_distances(schema_of(a=["hub", "x", "y", "z"]), [self.STAR], n_clusters=3)
        assert relations[2, "a"].distances is self.STAR
        assert relations[0, "a"].edges == [("hub", "x", 1.0), ("hub", "y", 1.0), ("hub", "z", 1.0)]
        assert relations[0, "a"].order == ("hub", "x", "y", "z")
        assert not relations[0, "a"].is_path

    def test_a_matrix_per_cluster_is_used_for_its_cluster(self, schema_of):
        both = np.stack([self.STAR, 2 * self.STAR])
        relations = Relations.from_distances(schema_of(a="wxyz"), [both], n_clusters=2)
        assert relations[1, "a"].edges[0][2] == 2.0

    def test_a_path_is_read_from_end_to_end_wherever_the_tree_began(self, schema_of):
        line = np.array([5.0, 1.0, 0.5, 9.0])
        matrix = np.abs(line[:, None] - line[None, :])
        relation = Relations.from_distances(schema_of(a="wxyz"), [matrix], n_clusters=1)[0, "a"]
        assert relation.order in (("y", "x", "w", "z"), ("z", "w", "x", "y"))
        assert sorted(length for _, _, length in relation.edges) == [0.5, 4.0, 4.0]

    @pytest.mark.parametrize("shape", [(3, 3), (3, 4, 4), (4,)])
    def test_a_matrix_of_another_shape_is_refused_by_the_columns_name(self, schema_of, shape):
        with pytest.raises(ParameterError, match=r"column 'a' has shape .* must be \(4, 4\) or \(2, 4, 4\)"):
            Relations.from_distances(schema_of(a="wxyz"), [np.zeros(shape)], n_clusters=2)

    def test_a_matrix_for_every_column_is_wanted(self, schema_of):
        with pytest.raises(ParameterError, match="1 matrices were given for 2 columns"):
            Relations.from_distances(schema_of(a="wx", b="yz"), [np.zeros((2, 2))], n_clusters=1)

    @pytest.mark.parametrize("positions", [np.zeros(4), np.zeros((2, 3))])
    def test_positions_of_another_shape_are_refused(self, schema_of, positions):
        with pytest.raises(ParameterError, match=r"positions has shape .* must be \(clusters, 4\)"):
            Relations.on_lines(schema_of(a="wxyz"), positions)

    def test_shares_of_another_shape_are_refused(self, schema_of):
        with pytest.raises(CatalpaError, match=r"shares has shape \(1, 3\); it must be \(1, 4\)"):
            Relations.on_lines(schema_of(a="wxyz"), np.zeros((1, 4)), shares=np.zeros((1, 3)))


class TestTakingRelationsElsewhere:
    def test_a_relation_is_a_frame_of_edges(self, relations):
        frame = relations[0, "doors"].to_frame()
        assert frame.columns.tolist() == ["from", "to", "length"]
        assert frame.values.tolist() == [["2", "(missing)", 0.0]]

    def test_distances_are_a_frame_with_names_on_both_sides(self, relations):
        frame = relations[0, "safety"].distance_frame()
        assert frame.loc["low", "high"] == pytest.approx(0.6)
        assert frame.index.tolist() == frame.columns.tolist() == ["high", "low", "med"]

    def test_all_relations_are_one_tidy_frame(self, relations):
        frame = relations.to_frame()
        assert frame.columns.tolist() == ["cluster", "column", "from", "to", "length"]
        assert len(frame) == 2 * (2 + 1)
        assert frame.iloc[0].tolist() == [0, "safety", "low", "med", 0.1]
        assert frame["cluster"].tolist() == [0, 0, 0, 1, 1, 1]

    def test_the_tidy_frame_keeps_its_columns_where_there_are_no_edges(self, schema_of):
        frame = Relations.on_lines(schema_of(a=["only"]), np.ones((2, 1))).to_frame()
        assert frame.columns.tolist() == ["cluster", "column", "from", "to", "length"]
        assert frame.empty

    def test_a_graph_carries_categories_shares_and_lengths(self, schema_of):
        pytest.importorskip("networkx")
        relations = Relations.on_lines(
            schema_of(doors=[2, None]), np.log([[0.25, 0.75]]), shares=np.array([[0.25, 0.75]])
        )
        graph = relations[0, "doors"].to_networkx()
        assert dict(graph.nodes(data=True)) == {
            "2": {"category": 2, "share": 0.25},
            "(missing)": {"category": None, "share": 0.75},
        }
        assert graph.edges["2", "(missing)"]["length"] == pytest.approx(np.log(3))
        assert graph.graph == {"cluster": 0, "column": "doors"}

    def test_a_graph_without_shares_has_nodes_without_them(self, relations):
        pytest.importorskip("networkx")
        assert relations[0, "doors"].to_networkx().nodes["2"] == {"category": 2}

    def test_a_missing_networkx_is_answered_with_the_pip_command(self, relations, monkeypatch):
        monkeypatch.setitem(sys.modules, "networkx", None)
        with pytest.raises(MissingDependency, match="pip install networkx"):
            relations[0, "safety"].to_networkx()

    def test_categories_that_read_alike_stay_apart(self, schema_of):
        relation = Relations.on_lines(schema_of(a=["1", 1]), np.array([[0.0, 1.0]]))[0, "a"]
        assert relation.names == ("1 (str)", "1 (int)")


class TestShowing:
    def test_short_forms_name_clusters_and_columns(self, relations):
        assert repr(relations) == "Relations(2 clusters x 2 columns: safety, doors)"
        assert (
            repr(relations[0, "safety"])
            == "Relation(cluster=0, column='safety', 3 categories: low - med - high)"
        )

    def test_short_forms_stay_short(self, schema_of):
        schema = schema_of(**{f"column{i}": range(20) for i in range(40)})
        relations = Relations.on_lines(schema, np.zeros((1, 800)))
        assert repr(relations).endswith("column11, ...)")
        assert repr(relations[0, 0]).endswith("20 categories: 0 - 1 - 2 - 3 - 4 - 5 - 6 - 7 - ...)")

    def test_html_escapes_what_the_table_held(self, schema_of):
        schema = schema_of(**{"<b>": ["<i>", "&"]})
        relations = Relations.on_lines(schema, np.array([[0.0, 1.0]]))
        for page in (relations._repr_html_(), relations[0, 0]._repr_html_()):
            assert "<b>" not in page
            assert "<i>" not in page
            assert "&lt;i&gt;" in page

    def test_html_shows_the_edges_of_a_relation_and_the_order_in_every_cluster(self, relations):
        assert "<td>low</td><td>med</td><td>0.10</td>" in relations[0, "safety"]._repr_html_()
        assert "<th>0</th><td>low - med - high</td><td>2 - (missing)</td>" in relations._repr_html_()

    def test_shares_stand_beside_the_names(self, schema_of):
        shares = np.array([[0.25, 0.75]])
        relation = Relations.on_lines(schema_of(a=["x", "y"]), np.log(shares), shares=shares)[0, "a"]
        assert str(relation).splitlines()[1].startswith("x 25 % ──")
        assert "<td>x 25 %</td><td>y 75 %</td>" in relation._repr_html_()
        assert str(relation).endswith("── y 75 %")

    def test_categories_without_rows_stand_apart(self, schema_of):
        shares = np.array([[0.25, 0.0, 0.75]])
        smoothed = np.log(shares + 0.01)
        relation = Relations.on_lines(schema_of(a=["x", "y", "z"]), smoothed, shares=shares)[0, "a"]
        assert relation.absent == ("y",)
        assert relation.present.categories == ("x", "z")
        assert str(relation).splitlines()[-1] == "no rows: y"
        assert "y" not in str(relation).splitlines()[1]

    def test_a_relation_prints_as_a_title_and_a_drawing(self, relations):
        title, drawing = str(relations[0, "safety"]).splitlines()
        assert title == "safety in cluster 0"
        assert drawing == "low ──0.10── med ────────────0.50──────────── high"

    def test_a_column_without_categories_says_so(self, schema_of):
        relation = Relations.on_lines(schema_of(a=[]), np.zeros((1, 0)))[0, "a"]
        assert relation.order == ()
        assert relation.edges == []
        assert str(relation) == "a in cluster 0\n(no categories)"


def test_the_commonest_categories_keep_their_order_names_and_distances():
    schema = infer([[value] for value in ("1", "2", "3", "4")], categorical_features=[0])
    shares = np.array([[0.1, 0.4, 0.1, 0.4]])
    on_a_line = Relations.on_lines(schema, np.array([[0.0, 3.0, 1.0, 7.0]]), shares=shares)[0, "x0"]
    apart = on_a_line.distances
    from_distances = Relations.from_distances(schema, [apart], n_clusters=1, shares=shares)[0, "x0"]
    for relation in (on_a_line, from_distances):
        assert relation.most_common(4) is relation
        few = relation.most_common(3)
        assert few.names == ("1", "2", "4")
        np.testing.assert_array_equal(few.distances, apart[np.ix_([0, 1, 3], [0, 1, 3])])
        assert few.order == ("1", "2", "4")
        assert few.shares.tolist() == [0.1, 0.4, 0.4]


def test_names_that_need_their_type_keep_it_among_the_held_categories():
    relation = Relations.on_lines(
        infer([["1"], [None]], categorical_features=[0]),
        np.array([[0.5, 0.1]]),
        shares=np.array([[1.0, 0.0]]),
    )[0, "x0"]
    renamed = replace(relation, names=("1 (str)", "(missing)"))
    assert renamed.present.names == ("1 (str)",)
