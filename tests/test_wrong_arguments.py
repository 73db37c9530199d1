"""An argument of a wrong type or value gives a sentence that names it, wherever it is given."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.cluster import KMeans

import catalpa
from catalpa import datasets, metrics, plot
from catalpa.cluster.registry import METHODS
from catalpa.errors import CatalpaError, ParameterError

ZOO = datasets.load("zoo").frame.iloc[:40]
# Slips of every kind: another type, out of range, no number, several values.
SLIPS = ["x", -1, 1.5, float("nan"), b"x", object(), {}, (1, 2), np.array([1, 2])]


@pytest.fixture(scope="module")
def model():
    return catalpa.Grove(3, random_state=0).fit(ZOO)


def shown(value: object) -> str:
    return str(value) if isinstance(value, str | int) else type(value).__name__


@pytest.mark.parametrize("slip", ["a", -1, 1.5, 2**32, True, np.random.default_rng(0)], ids=shown)
@pytest.mark.parametrize("method", [name for name in METHODS if name != "sigdt"])
def test_a_seed_is_a_whole_number_or_a_state(method, slip):
    with pytest.raises(ParameterError, match=r"random_state of .* must be None, an integer from 0"):
        METHODS[method].estimator(2, random_state=slip).fit(ZOO)


def test_seeds_that_numpy_takes_are_taken():
    for seed in (None, 0, 2**32 - 1, np.int64(3), np.random.RandomState(0), np.random):
        catalpa.KModes(2, n_init=1, random_state=seed).fit(ZOO)


@pytest.mark.parametrize("slip", [*SLIPS, 0, None, True], ids=shown)
def test_numbers_of_reasons_and_axes_are_at_least_one(model, slip):
    with pytest.raises(ParameterError, match="top of reasons must be an integer of at least 1"):
        model.reasons(slip)
    with pytest.raises(ParameterError, match="axes of category_map must be an integer from 1 to 1000"):
        model.category_map(ZOO, axes=slip)


def test_a_map_has_at_most_a_thousand_axes(model):
    assert model.category_map(ZOO, axes=1000)["x999"].abs().max() == 0
    with pytest.raises(ParameterError, match="axes of category_map"):
        model.category_map(ZOO, axes=1001)


@pytest.mark.parametrize("slip", [5, None, b"x", 1.5, []], ids=shown)
def test_a_model_is_saved_at_and_loaded_from_a_path(model, slip):
    with pytest.raises(ParameterError, match="pass the name of a file"):
        catalpa.load(slip)
    with pytest.raises(ParameterError, match="pass the name of a file"):
        model.save(slip)


@pytest.mark.parametrize("slip", SLIPS[1:], ids=shown)
def test_what_sql_and_onnx_are_told_is_text(model, slip):
    for setting in ("dialect", "table", "keep", "label"):
        with pytest.raises(ParameterError, match=f"{setting} of to_sql must be"):
            model.to_sql(**{setting: slip})
    with pytest.raises(ParameterError, match="missing_text of to_onnx must be text"):
        model.to_onnx(missing_text=slip)


def test_columns_to_keep_are_a_list_and_not_one_text(model):
    with pytest.raises(ParameterError, match=r"write \['hair'\]"):
        model.to_sql(keep="hair")


@pytest.mark.parametrize("setting", ["against", "id"])
def test_what_stands_beside_rows_is_a_column_or_a_value_for_each(model, setting):
    pytest.importorskip("altair")
    with pytest.raises(ParameterError, match=f"{setting} is -1; give the name of a column"):
        model.report(ZOO, **{setting: -1})


@pytest.mark.parametrize(
    "settings",
    [
        *({"k_range": slip} for slip in ("x", 3.5, [2.5], [0, 2], [])),
        *({"method": slip} for slip in (-1, [])),
        *({"repeats": slip} for slip in ("x", -1)),
        {"random_state": "a"},
    ],
    ids=str,
)
def test_settings_of_choose_k_are_looked_at_before_the_work(settings):
    with pytest.raises(ParameterError, match=next(iter(settings))):
        catalpa.choose_k(ZOO, **{"k_range": range(1, 3), **settings})


LABELS = [0, 0, 1, 1]
FOUR = [["a"], ["a"], ["b"], ["b"]]
CALLS = {
    "datasets.make_categorical n": lambda slip: datasets.make_categorical(slip),
    "datasets.iter_categorical n": lambda slip: datasets.iter_categorical(slip),
    "datasets.iter_categorical block_rows": lambda slip: datasets.iter_categorical(5, block_rows=slip),
    "datasets.load variant": lambda slip: datasets.load("zoo", variant=slip),
    "datasets.load data_home": lambda slip: datasets.load("soybean", data_home=slip),
    "datasets.list_datasets data_home": lambda slip: datasets.list_datasets(data_home=slip),
    "scan source": lambda slip: catalpa.scan(slip),
    "compactness n_clusters": lambda slip: metrics.compactness(FOUR, LABELS, n_clusters=slip),
    "silhouette numbers": lambda slip: metrics.categorical_silhouette(FOUR, LABELS, numbers=slip),
    "silhouette sample_size": lambda slip: metrics.categorical_silhouette(FOUR, LABELS, sample_size=slip),
    "average_ranks scores": lambda slip: metrics.average_ranks(slip),
    "friedman scores": lambda slip: metrics.friedman(slip),
    "wilcoxon_holm scores": lambda slip: metrics.wilcoxon_holm(slip),
    "holm p_values": lambda slip: metrics.holm(slip),
}


@pytest.mark.parametrize("slip", SLIPS, ids=shown)
@pytest.mark.parametrize("call", CALLS)
def test_functions_refuse_slips_with_an_error_of_ours(call, slip):
    with pytest.raises(CatalpaError):
        CALLS[call](slip)


@pytest.mark.parametrize("slip", [*SLIPS, None, 0, 1], ids=shown)
def test_settings_of_exports_are_true_or_false_and_of_scorers_error_or_ignore(model, slip):
    for export in (model.to_sql, model.to_onnx):
        with pytest.raises(ParameterError, match=r"probabilities of to_.* must be False or True"):
            export(probabilities=slip)
    for setting in ("unknown_keys", "missing_keys"):
        with pytest.raises(ParameterError, match=rf"{setting} is .*; it can be 'error' or 'ignore'"):
            model.scorer(**{setting: slip})


CHARTS = {
    "category_map": lambda model, **more: plot.category_map(model, ZOO, **more),
    "cluster_sizes": plot.cluster_sizes,
    "cost_per_pass": plot.cost_per_pass,
    "merge_tree": plot.merge_tree,
    "profile_map": plot.profile_map,
    "relation_comparison": lambda model, **more: plot.relation_comparison(model, "legs", [0, 1], **more),
    "relation_grid": plot.relation_grid,
    "relation_tree": lambda model, **more: plot.relation_tree(model, 0, "legs", **more),
    "row_map": lambda model, **more: plot.row_map(model, ZOO, **more),
    "silhouettes": lambda model, **more: plot.silhouettes(model, ZOO, **more),
}


@pytest.mark.parametrize("slip", [*SLIPS, None, KMeans(2), catalpa.KModes], ids=shown)
@pytest.mark.parametrize("chart", CHARTS)
def test_a_chart_is_drawn_of_a_fitted_model(chart, slip):
    with pytest.raises(ParameterError, match=r"model is .*; give a fitted estimator of Catalpa"):
        CHARTS[chart](slip)


@pytest.mark.parametrize("slip", [*SLIPS, None, 0, True], ids=shown)
@pytest.mark.parametrize("chart", [name for name in CHARTS if name != "profile_map"])
def test_the_size_of_a_chart_is_a_number_of_pixels(model, chart, slip):
    with pytest.raises(ParameterError, match=f"width of {chart} must be an integer of at least 1"):
        CHARTS[chart](model, width=slip)


@pytest.mark.parametrize("slip", ["legs", -1, ["legs", 2], np.array(["legs"])], ids=shown)
@pytest.mark.parametrize("chart", ["profile_map", "relation_grid"])
def test_columns_of_a_chart_are_a_list_of_names(model, chart, slip):
    with pytest.raises(ParameterError, match=r"columns of .* must be None or a list of column names"):
        CHARTS[chart](model, columns=slip)


@pytest.mark.parametrize("slip", [*SLIPS, {"a": 1}, {2: "x"}, {2: None}], ids=shown)
def test_scores_of_a_choice_are_numbers_by_k(slip):
    with pytest.raises(ParameterError, match=r"^scores (is|has)"):
        plot.choosing_k(slip)


def test_a_wrong_rule_for_missing_values_in_a_dict_is_named():
    for slip in ({"hair": ["ignore"]}, {"hair": "drop"}, {"hair": None}):
        with pytest.raises(ParameterError, match="missing of KModes must be"):
            catalpa.KModes(2, missing=slip).fit(ZOO)


@pytest.mark.parametrize("slip", [ZOO, b"x", 5, [b"x"]], ids=lambda slip: type(slip).__name__)
def test_scan_says_what_it_got_without_printing_it(slip):
    with pytest.raises(CatalpaError, match=r"scan reads files, but got (DataFrame|bytes|int)[.]"):
        catalpa.scan(slip)


LISTS = {
    "scan columns is": lambda slip: catalpa.scan("no.csv", columns=slip),
    "scan drop is": lambda slip: catalpa.scan("no.csv", drop=slip),
    "na ": lambda slip: catalpa.scan("no.csv", na=slip),
    "header is .* rows are whole numbers": lambda slip: catalpa.scan("no.csv", header=slip),
    "skip_rows is .* rows are whole numbers": lambda slip: catalpa.scan("no.csv", skip_rows=slip),
    "dialect is": lambda slip: catalpa.scan("no.csv", dialect=slip),
    "suggest ": lambda slip: catalpa.look(ZOO, suggest=slip),
    "names is": lambda slip: catalpa.compare([0, 1], [0, 1], names=slip),
    "history ": lambda slip: catalpa.history(slip),
}


@pytest.mark.parametrize(
    "slip", [-1, 1.5, object(), True, {"a": 1}, np.array([1.5, 2]), len, [b"x"]], ids=shown
)
@pytest.mark.parametrize("sentence", LISTS)
def test_what_is_no_list_of_names_or_rows_is_named(sentence, slip):
    with pytest.raises(CatalpaError, match=sentence.removeprefix("scan ")):
        LISTS[sentence](slip)


@pytest.mark.parametrize("slip", [*SLIPS, None], ids=shown)
def test_settings_of_forms_and_explorers_are_named(model, slip):
    pytest.importorskip("altair")
    with pytest.raises(ParameterError, match="random_state of short_form must be an integer of at least 0"):
        catalpa.short_form(model, ZOO, random_state=slip)
    with pytest.raises(ParameterError, match="rows of explore must be False or True"):
        catalpa.explore(model, ZOO, rows=slip)
    with pytest.raises(ParameterError, match=r"others is .*; give a list of fitted estimators"):
        catalpa.explore(model, ZOO, others=[model, slip])
    with pytest.raises(ParameterError, match=r"others is .*; give a list of fitted estimators"):
        catalpa.explore(model, ZOO, others=5 if slip is None else slip)


@pytest.fixture(scope="module")
def form(model):
    pytest.importorskip("altair")
    return catalpa.short_form(model, ZOO)


@pytest.mark.slow
def test_pages_and_recipes_are_saved_at_a_path(model, form):
    saves = [form.save, form.to_xlsx, model.report(ZOO).save, catalpa.drift(model, ZOO).save]
    for save in (*saves, catalpa.look(ZOO).recipe.save):
        for slip in (5, None, b"x", 1.5, [], ZOO):
            with pytest.raises(ParameterError, match="pass the name of a file, as a string or a Path"):
                save(slip)


@pytest.mark.parametrize("slip", SLIPS[1:], ids=shown)
def test_the_query_of_a_form_has_names_that_are_text(form, slip):
    for setting in ("table", "keep", "label"):
        with pytest.raises(ParameterError, match=f"{setting} of to_sql must be"):
            form.to_sql(**{setting: slip})


# Of scikit-learn, where every reader looks for them.
STANDARD = {"feature_names_in_", "n_features_in_"}


@pytest.mark.parametrize("entry", METHODS.values(), ids=lambda entry: entry.name)
def test_every_attribute_of_a_fitted_model_is_documented(entry):
    taken = entry.estimator._get_param_names()
    settings = {name: value for name, value in {"n_clusters": 3, "random_state": 0}.items() if name in taken}
    table = ZOO.assign(number=np.arange(40) / 7) if entry.mixed else ZOO
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = entry.estimator(**settings).fit(table)
    public = {name for name in vars(fitted) if name.endswith("_") and not name.startswith("_")}
    documented = entry.estimator.__doc__.partition("Attributes\n")[2]
    assert {name for name in public - STANDARD if name not in documented} == set()
