"""The explorer's server: what it answers, and whom it refuses."""

from __future__ import annotations

import http.client
import json
import shlex
import threading
import time

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import catalpa
from catalpa.cli.main import app
from catalpa.datasets import load
from catalpa.errors import ParameterError
from catalpa.estimator.problem import fitted_of
from catalpa.report.explore_server import MOST_BYTES, ExploreServer, Session

JSON = {"Content-Type": "application/json"}


def new_session(columns=None):
    frame = load("votes").frame
    return Session("votes.csv", frame, lambda k: catalpa.Grove(k, random_state=0), columns)


@pytest.fixture(scope="module")
def server():
    session = new_session()
    session.start(session.columns, 3)
    session.wait()
    with ExploreServer(session) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def asked(server, path, *, method="GET", body=None, headers=None, token=None):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=30)
    connection.request(
        method, f"/{server.token if token is None else token}/{path}", body=body, headers=headers or {}
    )
    response = connection.getresponse()
    content = response.read().decode()
    connection.close()
    return response, content


def test_the_page_holds_the_clusters(server):
    response, content = asked(server, "")
    assert response.status == 200
    assert "catalpaServer" in content
    assert response.headers["X-Frame-Options"] == "DENY"
    assert "Access-Control-Allow-Origin" not in response.headers


def test_other_numbers_and_columns_are_fitted(server):
    names = server.session.columns
    _, before = asked(server, "state")
    wish = json.dumps({"columns": names[:6], "n_clusters": 2})
    response, _ = asked(server, "fit", method="POST", body=wish, headers=JSON)
    assert response.status == 200
    server.session.wait()
    state = json.loads(asked(server, "state")[1])
    assert state["version"] == json.loads(before)["version"] + 1
    assert [column["name"] for column in state["columns"] if column["used"]] == list(names[:6])
    data = json.loads(asked(server, "data")[1])
    expected = catalpa.Grove(2, random_state=0).fit(load("votes").frame[list(names[:6])])
    assert data["partitions"][data["model"]]["sizes"] == expected.cluster_sizes_.tolist()
    assert [column["clustered"] for column in data["columns"]].count(True) == 6


def test_the_command_repeats_the_session():
    session = new_session(columns=load("votes").frame.columns[1:])
    session.start(session.columns, 2)
    session.wait()
    dropped = load("votes").frame.columns[0]
    assert session.command == f"catalpa cluster votes.csv -k 2 --drop {dropped} -o out/"


def test_exports_have_the_names_of_the_page(server, tmp_path):
    k = int(server.session.model.n_clusters_)
    wish = json.dumps({"names": {"0": "first <b>"}, "n_clusters": k})
    response, content = asked(server, "export/model", method="POST", body=wish, headers=JSON)
    assert response.status == 200
    (tmp_path / "model.json").write_text(content)
    assert catalpa.load(tmp_path / "model.json").cluster_names_[0] == "first <b>"
    response, content = asked(server, "export/report", method="POST", body=wish, headers=JSON)
    assert "first &lt;b&gt;" in content
    wish = json.dumps({"names": {}, "n_clusters": k + 50})
    response, content = asked(server, "export/model", method="POST", body=wish, headers=JSON)
    assert response.status == 400
    assert "does not have" in content


@pytest.mark.parametrize(
    ("wish", "told"),
    [
        ({"columns": [], "n_clusters": 2}, "at least one column"),
        ({"columns": ["nowhere"], "n_clusters": 2}, "nowhere"),
        ({"columns": "crime", "n_clusters": 2}, "list of names"),
        ({"columns": ["crime"], "n_clusters": 0}, "positive number"),
        ({"columns": ["crime"], "n_clusters": True}, "positive number"),
        ({"columns": ["crime"], "n_clusters": "many"}, "positive number"),
        ([1], "JSON object"),
    ],
)
def test_wishes_without_sense_get_a_sentence(server, wish, told):
    response, content = asked(server, "fit", method="POST", body=json.dumps(wish), headers=JSON)
    assert response.status == 400
    assert told in json.loads(content)["error"]


def test_a_fit_is_cancelled_and_the_clusters_before_stay():
    frame = pd.concat([load("votes").frame] * 40, ignore_index=True)
    session = Session("x.csv", frame, lambda k: catalpa.Grove(k, random_state=0))
    session.start(session.columns, 2)
    session.wait()
    before = session.page
    session.start(session.columns, "auto")
    with pytest.raises(ParameterError, match="running"):
        session.start(session.columns, 2)
    session.cancel()
    session.wait()
    assert session.error == "Cancelled. The previous clusters are shown."
    assert session.page is before


@pytest.mark.parametrize(
    ("headers", "token", "status"),
    [
        ({"Host": "evil.example"}, None, 403),
        ({"Host": "127.0.0.1.evil.example"}, None, 403),
        ({"Origin": "http://evil.example"}, None, 403),
        ({"Origin": "null"}, None, 403),
        ({}, "wrong", 403),
        ({}, "", 403),
    ],
)
def test_strangers_are_refused(server, headers, token, status):
    for path in ("", "state", "data"):
        assert asked(server, path, headers=headers, token=token)[0].status == status
    wish = json.dumps({"columns": ["crime"], "n_clusters": 2})
    version = server.session.version
    response, _ = asked(server, "fit", method="POST", body=wish, headers={**JSON, **headers}, token=token)
    assert response.status == status
    server.session.wait()
    assert server.session.version == version


@pytest.mark.parametrize(
    "path", ["../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "export/../data", "nothing"]
)
def test_there_are_no_files_to_ask_for(server, path):
    assert asked(server, path)[0].status == 404


def test_a_form_of_another_page_is_refused(server):
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert asked(server, "fit", method="POST", body="columns=crime", headers=form)[0].status == 415
    assert asked(server, "fit", method="POST", body="{", headers=JSON)[0].status == 400


def test_an_oversized_request_is_refused_unread(server):
    response, _ = asked(server, "fit", method="POST", body=b"x" * (MOST_BYTES + 1), headers=JSON)
    assert response.status == 413


def test_other_methods_are_refused(server):
    for method in ("PUT", "DELETE", "OPTIONS"):
        assert asked(server, "state", method=method)[0].status == 501


def test_merges_and_levels_of_the_page_are_exported(tmp_path):
    session = new_session()
    session.start(session.columns, 4)
    session.wait()
    assert sorted(session.models) == [2, 3, 4, 5, 6]
    edits = {"n_clusters": 4, "merges": [[0, 2]], "names": {"2": "both", "3": "last"}}
    _, content = session.export("model", edits)
    (tmp_path / "model.json").write_text(content)
    model, frame = catalpa.load(tmp_path / "model.json"), load("votes").frame
    assert model.cluster_names_ == ["both", "1", "last"]
    expected = session.model.merge([0, 2])
    assert model.predict(frame).tolist() == expected.predict(frame).tolist()
    _, content = session.export("model", {"n_clusters": 2})
    (tmp_path / "two.json").write_text(content)
    assert catalpa.load(tmp_path / "two.json").predict(frame).tolist() == (
        session.model.cut(2).predict(frame).tolist()
    )


def test_a_cluster_is_split():
    session = new_session()
    session.start(session.columns, 2)
    session.wait()
    with pytest.raises(ParameterError, match="no cluster 7"):
        session.split(7)
    session.split(0)
    session.wait()
    assert session.model.n_clusters_ > 2
    assert session.model.cluster_names_[0] == "0a"
    assert (session.splits, session.fitted_clusters) == ((0,), 2)
    assert "--edits clusters.json" in session.command
    assert " -k " not in session.command  # the edits hold the number of clusters
    assert (session.page.summary["splits"], session.page.summary["fitted_clusters"]) == ([0], 2)
    session.start(session.columns, 2)
    session.wait()
    assert (session.splits, session.command.endswith("-k 2 -o out/")) == ((), True)


def test_a_cluster_without_parts_is_not_split():
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=300)
    table = pd.DataFrame(
        {f"q{at}": np.array([list("ab"), list("cd")])[group, rng.integers(2, size=300)] for at in range(8)}
    )
    session = Session("noise.csv", table, lambda k: catalpa.Grove(k, random_state=0))
    session.start(session.columns, 2)
    session.wait()
    version = session.version
    session.split(0)
    session.wait()
    assert session.error == "No clusters were found inside cluster 0."
    assert (session.version, session.splits) == (version, ())


def test_the_verdict_of_a_written_page_is_measured():
    session = new_session()
    session.start(session.columns, 3)
    page = session.judged()
    assert page.summary["verdict"]["level"] in ("clear", "weak")
    assert page.summary["verdict"] == session.model.verdict_.to_dict()


@pytest.fixture
def prepared(tmp_path):
    """A session of a file with an identifier, an order and codes, as ``catalpa explore`` makes it."""
    rng = np.random.default_rng(2)
    group = rng.integers(2, size=240)
    table = pd.DataFrame(
        {
            "person": [f"id-{at:05}" for at in range(240)],
            "often": np.where(rng.random(240) < 0.9, np.array(["never", "often"])[group], "rarely"),
            "level": np.where(rng.random(240) < 0.9, 3 + 40 * group, 7) + rng.integers(0, 30, 240),
            "drink": np.where(rng.random(240) < 0.9, np.array(["tea", "coffee"])[group], "water"),
        }
    )
    path = tmp_path / "people.csv"
    table.to_csv(path, index=False)
    recipe = catalpa.look(table).recipe
    session = Session(str(path), table, lambda k: catalpa.Grove(k, random_state=0), recipe=recipe)
    session.start(session.columns, 2)
    session.wait()
    yield session
    session.judged()  # filters of warnings belong to the process: no thread may outlive its test


def test_the_state_says_what_was_found_in_every_column(prepared):
    found = {one["name"]: one for one in prepared.state()["columns"]}
    assert found["person"]["found"] == "left out: identifier"
    assert not found["person"]["used"]
    assert found["often"]["found"] == "ordered scale"
    assert found["drink"]["found"] == ""
    assert {one["use"] for one in found.values()} == {"as found"}


def test_columns_used_otherwise_are_in_the_recipe_and_the_command_repeats_them(prepared, tmp_path):
    uses = {"often": "as it is", "level": "categories", "drink": "as found"}
    prepared.start(["often", "level"], 2, uses)
    prepared.wait()
    assert prepared.error is None
    kinds = {column.name: column.kind.value for column in fitted_of(prepared.model).schema.columns}
    assert kinds == {"often": "nominal", "level": "nominal"}
    assert {one["name"]: one["use"] for one in prepared.state()["columns"]}["level"] == "categories"
    _, text = prepared.export("recipe", {})
    (tmp_path / "recipe.json").write_text(text, encoding="utf-8")
    command = shlex.split(prepared.command)
    assert command[:3] == ["catalpa", "cluster", prepared.source]
    assert "--drop" not in command
    folder = tmp_path / "out"
    arguments = [
        {"recipe.json": str(tmp_path / "recipe.json"), "out/": str(folder)}.get(one, one)
        for one in command[1:]
    ]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    labels = pd.read_csv(folder / "labels.csv")["cluster"].tolist()
    assert labels == prepared.model.labels_.tolist()


@pytest.mark.filterwarnings("ignore:.Almost. unique per row")  # of the column that was chosen all the same
def test_a_left_out_column_that_is_chosen_is_clustered_and_repeated(prepared):
    prepared.judged()
    prepared.start(["person", "drink"], 2)
    prepared.wait()
    assert prepared.error is None
    assert prepared.columns == ["person", "drink"]
    assert "--recipe recipe.json" in prepared.command
    assert "person" not in prepared.recipe_file().left_out
    assert set(prepared.recipe_file().left_out) == {"often", "level"}


@pytest.mark.parametrize("uses", [{"colour": "categories"}, {"drink": "as a poem"}])
def test_uses_that_make_no_sense_are_refused(prepared, uses):
    with pytest.raises(ParameterError, match="use of"):
        prepared.start(["drink", "often"], 2, uses)


def test_uses_that_are_no_texts_are_refused(server):
    for uses in (["a"], {"a": 1}):
        wish = json.dumps({"columns": ["crime"], "uses": uses})
        response, content = asked(server, "fit", method="POST", body=wish, headers=JSON)
        assert response.status == 400
        assert "uses must be" in content


def test_the_verdict_follows_the_page(prepared):
    deadline = time.monotonic() + 120
    while prepared.verdict is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert prepared.verdict == prepared.model.verdict_.to_dict()
    assert prepared.page.summary["verdict"]["level"] in ("unchecked", prepared.verdict["level"])
