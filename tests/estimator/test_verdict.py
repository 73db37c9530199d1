"""The verdict on a fit: its level, its sentence, what is measured when, and that a model file keeps it."""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import catalpa
from catalpa import datasets
from catalpa.cluster.registry import METHODS
from catalpa.errors import ModelFileError, NoStructureWarning
from catalpa.estimator.auto_k import Levels
from catalpa.estimator.checking import agreement
from catalpa.estimator.diagnose import diagnose
from catalpa.estimator.problem import Checks
from catalpa.estimator.verdict import level_of, verdict_of
from catalpa.explain.formatting import percent

PLANTED = datasets.make_categorical(400, columns=10, categories=4, clusters=3, noise=0.3, seed=0).frame
NOISE = pd.DataFrame(np.random.default_rng(0).integers(3, size=(300, 6))).astype(str).add_prefix("q")


def quietly(model, frame, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(frame, **settings)


@pytest.mark.parametrize(
    ("k", "rows", "gain", "agreement", "sizeable", "level"),
    [
        (3, 500, 3.0, None, True, "none"),
        (3, 500, 3.1, None, True, "unchecked"),
        (3, 500, 3.1, 0.24, True, "none"),
        (3, 500, 3.1, 0.25, True, "weak"),
        (3, 500, 90.0, 0.59, True, "weak"),
        (3, 500, 90.0, 0.60, True, "clear"),
        (3, 500, 90.0, 0.60, False, "weak"),
        (3, 99, 90.0, 0.90, True, "too few rows"),
        (3, 500, None, 0.90, True, "clear"),
        (1, 500, 0.0, None, True, "none"),
    ],
)
def test_the_level_follows_from_gain_agreement_and_sizes(k, rows, gain, agreement, sizeable, level):
    assert level_of(k, rows, gain, agreement, sizeable) == level


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_verdict_on_planted_clusters(name):
    kind = METHODS[name].estimator
    takes = kind._get_param_names()
    given = {"n_clusters": 3, "random_state": 0}
    model = quietly(kind(**{key: value for key, value in given.items() if key in takes}), PLANTED)
    before = model.labels_.copy()
    verdict = model.verdict_
    assert verdict.k == model.n_clusters_
    assert -1 <= verdict.agreement <= 1
    assert verdict.smallest == model.cluster_sizes_.min()
    assert (verdict.gain is None) == (name != "grove")
    assert (verdict.silhouette is None) == (name == "grove")
    assert repr(model).splitlines()[0] == verdict.sentence
    assert np.array_equal(model.labels_, before)


def test_the_text_of_a_fitted_model_has_clusters_rows_and_certainty():
    model = catalpa.Grove(3, n_init=1, random_state=0).fit(PLANTED)
    line = repr(model).splitlines()[1]
    assert line == f"{len(PLANTED)} rows, 3 clusters, mean membership probability {percent(model.certainty_)}"
    weighted = catalpa.KModes(2, random_state=0).fit([["a"], ["a"], ["b"]], sample_weight=[1, 1.5, 2])
    assert repr(weighted).splitlines()[1] == "4.5 rows, 2 clusters"
    alone = catalpa.KModes(1, random_state=0).fit([["a"]])
    assert repr(alone).splitlines()[1] == "1 row, 1 cluster"


def test_the_agreement_is_measured_when_it_is_read_and_only_once():
    model = catalpa.Grove(3, n_init=1, random_state=0).fit(PLANTED)
    assert "not yet checked" in repr(model)
    verdict = model.verdict_
    assert verdict.level == "clear"
    assert verdict.agreement > 0.9
    assert model.verdict_ == verdict
    assert model._rows_to_check is None
    assert str(verdict) in model._repr_html_()


def test_check_on_the_table_of_the_fit_is_the_verdict():
    model = catalpa.Grove(3, n_init=1, random_state=0).fit(PLANTED)
    again = catalpa.Grove(3, n_init=1, random_state=0).fit(PLANTED)
    assert again.check(PLANTED) == model.verdict_


def test_agreement_does_not_depend_on_the_random_state_of_the_model_having_been_used():
    model = catalpa.KModes(3, random_state=0).fit(PLANTED)
    problem = model._rows_to_check
    assert agreement(model, problem, 3) == agreement(model, problem, 3)


def test_a_given_number_of_clusters_on_noise_is_warned_about():
    with pytest.warns(NoStructureWarning, match=r"4 clusters describe the table no better than one"):
        model = catalpa.Grove(4, random_state=0).fit(NOISE)
    assert model.verdict_.level == "none"
    assert model.verdict_.gain <= 3
    assert model.verdict_.agreement is None  # it could change nothing
    assert "No cluster structure found" in repr(model)
    assert 'style="color: #888"' in model._repr_html_()
    assert quietly(catalpa.KModes(4, random_state=0), NOISE).verdict_.level == "none"


def test_one_cluster_that_was_asked_for_is_no_surprise():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = catalpa.Grove(1, random_state=0).fit(PLANTED)
    assert model.verdict_.level == "none"


def test_few_rows_are_said_to_be_too_few():
    model = catalpa.KModes(2, random_state=0).fit(PLANTED.head(99))
    assert model.verdict_.level == "too few rows"
    assert model.verdict_.agreement is None
    assert "99 rows are too few" in model.verdict_.sentence
    assert catalpa.KModes(3, random_state=0).fit(PLANTED.head(100)).verdict_.level == "clear"


def test_one_cluster_of_few_rows_is_said_with_care():
    few = quietly(catalpa.Grove("auto", n_init=1, random_state=0), NOISE.head(60)).verdict_
    assert few.sentence.endswith("60 rows may be too few to tell.")
    assert "too few" not in quietly(catalpa.Grove("auto", random_state=0), NOISE).verdict_.sentence


def test_few_rows_without_any_gain_are_said_to_need_one_cluster():
    for table, ending in (
        (NOISE, "; one cluster describes the table as well."),
        (PLANTED, "(at least 100)."),
    ):
        verdict = catalpa.Grove(3, n_init=1, random_state=0).fit(table.head(80)).verdict_
        assert verdict.level == "too few rows"
        assert verdict.sentence.endswith(ending)


def test_one_cluster_names_tied_columns_also_if_samples_do_not_agree_on_clusters():
    city = np.random.default_rng(0).integers(6, size=300)
    table = pd.DataFrame({"city": city, "zip": city, "region": city // 2}).astype(str)
    fitted = quietly(catalpa.Grove("auto", n_init=1, random_state=0), table)._fitted
    checks = Checks(agreement=0.1, levels=Levels(3, 3, 3), untied=4)
    sentence = verdict_of(replace(fitted, outcome=replace(fitted.outcome, checks=checks))).sentence
    assert "do not agree on 3 clusters (adjusted Rand index 0.10)" in sentence
    assert "Columns depend on each other (city and zip, " in sentence
    assert sentence.endswith("With all columns independent there are 4 broad groups: Grove(4, ties=None).")


def test_several_clusters_that_hardly_differ_are_counted():
    model = quietly(catalpa.Grove(6, n_init=1, random_state=0), PLANTED)
    verdict = model.verdict_
    assert verdict.enough == 3
    one, other = verdict.cheapest_join.clusters
    assert f"Several clusters hardly differ (first {one} and {other}): 3 would do." in verdict.sentence


def test_a_crumb_makes_a_clustering_weak():
    crumb = pd.DataFrame([["odd"] * 10] * 3, columns=PLANTED.columns)
    table = pd.concat([PLANTED, crumb], ignore_index=True)
    verdict = quietly(catalpa.Grove(4, random_state=0), table).verdict_
    assert verdict.smallest == 3
    assert verdict.level == "weak"


def test_weights_count_the_rows_of_the_smallest_cluster():
    light = catalpa.KModes(3, random_state=0).fit(PLANTED, sample_weight=np.full(len(PLANTED), 0.01))
    assert light.verdict_.smallest < 5
    assert light.verdict_.level == "clear"


def test_a_model_file_keeps_what_was_measured(tmp_path):
    model = catalpa.Grove(3, n_init=1, random_state=0).fit(PLANTED)
    model.save(tmp_path / "before.json")
    assert catalpa.load(tmp_path / "before.json").verdict_.level == "unchecked"
    verdict = model.verdict_
    model.save(tmp_path / "after.json")
    again = catalpa.load(tmp_path / "after.json")
    assert again.verdict_ == verdict
    assert again.check(PLANTED) == verdict
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "after.json").read_bytes()


@pytest.mark.parametrize(
    ("checks", "message"),
    [
        ([], "is not an object"),
        ({"mood": 1.0}, "is not an object"),
        ({"agreement": "good"}, "agreement"),
        ({"levels": [2, 3]}, "three whole numbers"),
        ({"levels": [2, 3, 0]}, "above 0"),
        ({"untied": 2.5}, "above 0"),
    ],
)
def test_checks_that_cannot_be_are_refused(tmp_path, checks, message):
    path = tmp_path / "model.json"
    catalpa.KModes(2, random_state=0).fit(PLANTED).save(path)
    document = json.loads(path.read_text())
    document["fit"]["checks"] = checks
    path.write_text(json.dumps(document))
    with pytest.raises(ModelFileError, match=message):
        catalpa.load(path)


def test_a_file_without_checks_is_read(tmp_path):
    path = tmp_path / "model.json"
    catalpa.KModes(2, random_state=0).fit(PLANTED).save(path)
    document = json.loads(path.read_text())
    del document["fit"]["checks"]
    path.write_text(json.dumps(document))
    assert catalpa.load(path).verdict_.level == "unchecked"


def test_a_pickled_model_takes_no_rows_along():
    model = catalpa.Grove(3, n_init=1, random_state=0).fit(PLANTED)
    assert pickle.loads(pickle.dumps(model)).verdict_.level == "unchecked"
    assert copy.deepcopy(model.verdict_) == model.verdict_


def test_a_batch_takes_the_check_back():
    model = catalpa.Grove(3, n_init=1, random_state=0).fit(PLANTED)
    assert model.verdict_.level == "clear"
    model.partial_fit(PLANTED.head(50))
    assert model.verdict_.level == "unchecked"
    assert model.verdict_.gain is None
    assert model.check(PLANTED).level == "clear"


def test_findings_begin_with_the_verdict_and_name_every_oddity():
    table = pd.DataFrame({f"q{at}": ["a"] * 196 + ["b"] * 4 for at in range(6)})
    model = quietly(catalpa.Grove(2, random_state=0), table)
    kinds = [finding.kind for finding in diagnose(model._fitted, asked=3)]
    assert kinds == ["verdict", "fewer clusters", "one large cluster"]
    assert diagnose(catalpa.KModes(3, random_state=0).fit(PLANTED)._fitted)[0].kind == "verdict"


def test_the_verdict_as_plain_values():
    verdict = catalpa.KModes(3, random_state=0).fit(PLANTED).verdict_
    assert json.loads(json.dumps(verdict.to_dict()))["level"] == verdict.level
