"""The explorer in a real browser: every control, and labels equal to those of predict."""

from __future__ import annotations

import json
import re
import threading
import time
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from tests.browser.conftest import ATTACK
from typer.testing import CliRunner

import catalpa
from catalpa.cli.main import app
from catalpa.estimator.problem import fitted_of
from catalpa.inspection.recipe import Recipe
from catalpa.report.explore_server import ExploreServer, Session
from catalpa.report.report_page import script_json
from catalpa.table.gap_blocks import GapBlock

pytestmark = pytest.mark.browser

CARDS = "[...document.querySelectorAll('.card')]"
SIZES = f"{CARDS}.map(e => Number(e.querySelector('.note').textContent.split(' ')[0].replaceAll(',', '')))"
ANSWER = "Number(document.getElementById('answer').dataset.label)"


def planted_frame(rows=600, seed=4):
    rng = np.random.default_rng(seed)
    group = rng.integers(3, size=rows)
    frame = pd.DataFrame(
        {
            "plan": np.where(rng.random(rows) < 0.8, np.array(["basic", "plus", "full"])[group], "basic"),
            "region": rng.choice(["north", "south", ATTACK], rows),
            "device": np.where(rng.random(rows) < 0.7, np.array(["phone", "laptop", "tablet"])[group], None),
            "spend": np.round(rng.normal(20 + 30 * group, 8), 2),
            "visits": rng.poisson(2 + 5 * group).astype(float),
        }
    )
    frame.loc[rng.random(rows) < 0.1, "spend"] = np.nan
    return frame.assign(copy=frame["plan"].str.upper())


@pytest.fixture(scope="module")
def planted():
    frame = planted_frame()
    models = [catalpa.Grove(k, random_state=0).fit(frame) for k in (2, 3, 5)]
    return frame, models


@pytest.fixture(params=["file", "served", "notebook"])
def page(request, open_page, planted, tmp_path):
    """The same page in every host of it."""
    frame, models = planted
    table = frame.assign(extra=["e", "f"] * 300)
    explorer = catalpa.explore(models[1], table, others=[models[0], models[2]])
    if request.param == "served":
        session = Session("planted.csv", table, lambda k: catalpa.Grove(k, random_state=0))
        session.page, session.model, session.version = explorer, models[1], 1
        session.models = dict(explorer.models)
        with serving(session) as server:
            page = open_page(server.address)
            until(page, "document.getElementById('fit') !== null")
            yield page
    elif request.param == "notebook":
        page = open_page(notebook_page(explorer, tmp_path / "notebook.html"))
        until(page, "document.getElementById('cell').shadowRoot !== null && window.saves > 0")
        # Tests look for parts of the page in the document: here they are behind the cell.
        page.do(
            "const shadow = document.getElementById('cell').shadowRoot;"
            "for (const name of ['querySelector', 'querySelectorAll', 'getElementById'])"
            "  document[name] = shadow[name].bind(shadow)"
        )
        yield page
    else:
        path = tmp_path / "explore.html"
        explorer.save(path)
        yield open_page(path)


@contextmanager
def serving(session):
    with ExploreServer(session) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def until(page, script, seconds=90):
    deadline = time.monotonic() + seconds
    while not page.ask(script):  # asked once more, it might hold no longer
        assert time.monotonic() < deadline, script
        time.sleep(0.05)


def notebook_page(explorer, path):
    """A page that shows the widget as a notebook does."""
    pytest.importorskip("anywidget")
    widget = explorer.widget()
    module = str(widget._esm).replace("export default", "window.widget =")
    traits = script_json({"data": widget.data, "style": widget.style})
    path.write_text(
        "<!doctype html><meta charset=utf-8><div id=cell></div>"
        f"<script type='application/json' id=traits>{traits}</script><script type=module>{module}\n"
        "const traits = JSON.parse(document.getElementById('traits').textContent);"
        "window.traits = traits;"
        "const model = {get: (name) => traits[name], set: (name, value) => { traits[name] = value; },"
        "  save_changes() { window.saves = (window.saves || 0) + 1; }};"
        "window.widget.render({model, el: document.getElementById('cell')});</script>",
        encoding="utf-8",
    )
    return path


def type_into(page, selector, text):
    page.do(
        f"const e = document.querySelector({json.dumps(selector)}); e.value = {json.dumps(text)};"
        "for (const kind of ['input', 'change']) e.dispatchEvent(new Event(kind, {bubbles: true}))"
    )


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_opens_without_a_complaint_or_a_request(open_page, planted, tmp_path, width, scheme):
    frame, models = planted
    path = tmp_path / "explore.html"
    catalpa.explore(models[1], frame, others=models[:1], title=ATTACK).save(path)
    page = open_page(path, width=width, scheme=scheme)
    page.shoot(f"explorer-{width}-{scheme}")
    assert page.complaints() == []
    assert all(address.startswith(("file://", "data:")) for address in page.requests())
    assert page.ask("document.documentElement.scrollWidth") <= width
    assert page.ask("window.hacked") is None


def test_the_slider_shows_the_clusters_of_each_number(page, planted):
    _, models = planted
    assert page.ask(SIZES) == sorted(models[1].cluster_sizes_.tolist(), reverse=True)
    for at, model in enumerate(models):
        type_into(page, "#clusters", str(at))
        assert page.ask(SIZES) == sorted(model.cluster_sizes_.tolist(), reverse=True)


def test_a_filter_counts_the_rows_that_pass(page, planted):
    frame, models = planted
    page.choose("filter-column", "0")
    options = page.ask("[...document.getElementById('filter-category').options].map(e => e.textContent)")
    page.choose("filter-category", str(options.index("plus")))
    page.do("document.getElementById('add-filter').click()")
    passing = np.bincount(models[1].labels_[frame["plan"] == "plus"], minlength=3)
    assert page.ask(SIZES) == sorted(passing.tolist(), reverse=True)
    assert f"{passing.sum()} of 600 rows" in page.ask("document.getElementById('filter-status').textContent")
    page.do("document.querySelector('.filters button').click()")
    assert sum(page.ask(SIZES)) == 600


def test_clusters_merge_and_part_again(page, planted):
    _, models = planted
    sizes = models[1].cluster_sizes_.tolist()
    type_into(page, ".card[data-cluster='1'] .acts select", "0")
    assert page.ask(SIZES) == sorted([sizes[0] + sizes[1], sizes[2]], reverse=True)
    page.do("document.querySelector(\".card[data-cluster='0'] .acts button\").click()")
    assert page.ask(SIZES) == sorted(sizes, reverse=True)


def test_a_name_appears_everywhere_as_text(page):
    type_into(page, ".card[data-cluster='2'] input", ATTACK)
    assert ATTACK in page.ask("[...document.getElementById('first-cluster').options].map(e => e.textContent)")
    assert page.ask("document.querySelector('table.cross thead').textContent.includes('<script>')")
    assert page.ask("window.hacked") is None


def test_crossing_a_column_shows_the_shares_of_the_clusters(page, planted):
    frame, models = planted
    names = page.ask("[...document.getElementById('cross-column').options].map(e => e.textContent)")
    assert "extra (not clustered)" in names
    page.choose("cross-column", str(names.index("plan")))
    page.choose("cross-way", "rows")
    rows = page.ask(
        "[...document.querySelectorAll('table.cross tbody tr')].map(e => [e.cells[0].textContent, "
        "...[...e.cells].slice(2).map(c => Number(c.textContent))])"
    )
    expected = pd.crosstab(frame["plan"], models[1].labels_)
    assert {row[0]: row[1:] for row in rows} == {name: expected.loc[name].tolist() for name in expected.index}
    page.choose("cross-way", "cluster")
    assert re.fullmatch(r"[<>]?\d+\s%", page.ask("document.querySelector('table.cross td').textContent"))


def test_two_clusters_are_compared_by_their_largest_differences(page):
    page.choose("first-cluster", "0")
    page.choose("second-cluster", "2")
    told = page.ask("document.querySelector('.versus span').textContent")
    assert any(name in told for name in ("plan", "copy", "spend", "visits", "device"))
    page.choose("second-cluster", "0")
    assert "Choose two clusters" in page.ask("document.getElementById('versus').textContent")


def with_unanswered(frame):
    """The table with three questions that some rows skipped, the last one or all; ``q2`` is a number."""
    rng = np.random.default_rng(6)
    reached = rng.choice([0, 1, 2], len(frame), p=[0.3, 0.3, 0.4])
    answers = {name: rng.choice(["yes", "no", "maybe"], len(frame)) for name in ("q1", "q3")}
    return frame.assign(
        q1=np.where(reached > 0, answers["q1"], None),
        q2=np.where(reached > 0, rng.normal(3, 1, len(frame)).round(1), np.nan),
        q3=np.where(reached > 1, answers["q3"], None),
    )


TRY_ROWS = """
const fields = [...document.querySelectorAll('form.try label')];
window.odd = [];
window.tried = rows.map((row) => {
  for (const field of fields) {
    const cell = row[field.dataset.column], control = field.querySelector('select, input');
    if (control.tagName === 'INPUT') control.value = cell === null ? '' : cell;
    else {
      const text = cell === null ? '(missing)' : String(cell);
      control.value = [...control.options].find((one) => one.textContent === text).value;
    }
  }
  fields[0].dispatchEvent(new Event('input', {bubbles: true}));
  window.odd.push([...document.querySelectorAll('ul.odd b')].map((e) => e.textContent.split(':')[0]).sort());
  return Number(document.getElementById('answer').dataset.label);
});
"""


@pytest.mark.parametrize("method", ["grove", "blocks", "kprototypes", "disc"])
def test_a_tried_row_gets_the_label_of_predict(open_page, planted, tmp_path, method):
    frame, models = planted
    if method == "grove":
        model = next(model for model in models if len(model.tied_columns_))
    elif method == "blocks":
        frame = with_unanswered(frame)
        steps = (("q1", "q2"), ("q3",))
        model = catalpa.Grove(4, recipe=Recipe(blocks=(GapBlock(steps),)), random_state=0).fit(frame)
        assert any(column.origin for column in fitted_of(model).schema.columns)
    elif method == "kprototypes":
        model = catalpa.KPrototypes(4, random_state=0).fit(frame)
    else:
        frame = frame[["plan", "region", "device", "copy"]]
        model = catalpa.DISC(4, random_state=0).fit(frame)
    path = tmp_path / "explore.html"
    catalpa.explore(model, frame).save(path)
    page = open_page(path)
    tried = frame.iloc[:150]
    page.do(f"const rows = {tried.to_json(orient='records')};" + TRY_ROWS)
    assert page.ask("window.tried") == model.predict(tried).tolist()


def test_a_tried_row_is_explained_as_by_the_model(page, planted):
    _, models = planted
    row = {
        "plan": "full",
        "region": "south",
        "device": "tablet",
        "spend": 31.0,
        "visits": 4.0,
        "copy": "FULL",
    }
    page.do(
        f"const row = {json.dumps(row)};"
        """
        for (const field of document.querySelectorAll('form.try label')) {
          const control = field.querySelector('select, input'), text = String(row[field.dataset.column]);
          control.value = control.tagName === 'INPUT' ? text
            : [...control.options].find((one) => one.textContent === text).value;
        }
        document.querySelector('form.try').dispatchEvent(new Event('input'));
        """
    )
    explanation = models[1].explain(row)
    assert page.ask(ANSWER) == explanation.cluster
    support = [cell for cell in explanation.cells if cell.contribution > 0][:4]
    told = page.ask("[...document.querySelectorAll('ul.why b')].map(e => e.textContent.split(':')[0])")
    assert told == [cell.column for cell in support]
    amounts = page.ask("[...document.querySelectorAll('ul.why small')].map(e => parseFloat(e.textContent))")
    assert amounts == pytest.approx([cell.contribution for cell in support], rel=0.06)
    assert f"not cluster {explanation.next}" in page.ask("document.getElementById('answer').textContent")
    assert explanation.odd_cells
    odd = page.ask("[...document.querySelectorAll('ul.odd li')].map(e => e.textContent.replace(': ', ' = '))")
    assert sorted(odd) == sorted(cell.in_words(beside=False) for cell in explanation.odd_cells)


@pytest.mark.parametrize("method", ["grove", "kprototypes"])
def test_unusual_cells_of_tried_rows_are_those_of_the_model(open_page, planted, tmp_path, method):
    frame, _ = planted
    model = {
        "grove": catalpa.Grove(3, outliers="label", random_state=0),
        "kprototypes": catalpa.KPrototypes(4, random_state=0),
    }[method].fit(frame)
    path = tmp_path / "explore.html"
    catalpa.explore(model, frame).save(path)
    rng = np.random.default_rng(1)
    tried = frame.apply(lambda column: rng.permutation(column.to_numpy()))[:120]  # rows of odd combinations
    tried.loc[::7, "spend"] = 400.0
    tried.loc[::7, "visits"] = 90.0
    page = open_page(path)
    page.do(f"const rows = {tried.to_json(orient='records')};" + TRY_ROWS)
    expected = model.explain_rows(tried)
    assert page.ask("window.odd") == [
        sorted(cell.column for cell in explanation.odd_cells) for explanation in expected
    ]
    assert sum(len(explanation.odd_cells) for explanation in expected) > 20
    labels = model.predict(tried)
    assert page.ask("window.tried") == labels.tolist()
    if method == "grove":
        assert -1 in labels


def test_saved_labels_are_those_of_predict_for_outliers_too(open_page, planted, tmp_path):
    frame = planted[0].copy()
    frame.loc[::60, ["spend", "visits"]] = [900.0, 300.0]
    model = catalpa.Grove(3, outliers="label", random_state=0).fit(frame)
    labels = model.predict(frame)
    assert -1 in labels
    path = tmp_path / "explore.html"
    catalpa.explore(model, frame).save(path)
    page = open_page(path)
    page.do(
        "URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text }); "
        "return 'data:,' }; document.getElementById('save-labels').click()"
    )
    until(page, "window.saved !== undefined")
    saved = [line.split(",")[1] for line in page.ask("window.saved").splitlines()[1:]]
    assert saved == [str(label) for label in labels]


def test_the_verdict_stands_first_and_noise_looks_like_noise(open_page, page, tmp_path, planted):
    _, models = planted
    sentence = models[1].verdict_.sentence
    assert page.ask("document.getElementById('verdict').textContent") == sentence
    assert not page.ask("document.querySelector('.explorer').classList.contains('doubtful')")
    type_into(page, "#clusters", "0")
    assert "3 clusters; shown are 2" in page.ask("document.getElementById('verdict-note').textContent")
    rng = np.random.default_rng(0)
    noise = pd.DataFrame({f"q{at}": rng.choice(list("abc"), 200) for at in range(6)})
    path = tmp_path / "noise.html"
    catalpa.Grove(3, random_state=0).fit(noise).explore(noise).save(path)
    noisy = open_page(path)
    assert "No cluster structure" in noisy.ask("document.getElementById('verdict').textContent")
    card = "getComputedStyle(document.querySelector('#clusters-found')).filter"
    assert "grayscale" in noisy.ask(card)


def test_names_notes_and_labels_are_saved(page, planted):
    _, models = planted
    type_into(page, ".card[data-cluster='0'] input", "light users")
    type_into(page, ".card[data-cluster='1'] .acts select", "2")
    type_into(page, "#notes", "shown on Monday")
    page.do(
        "window.saved = {}; URL.createObjectURL = (blob) => { blob.text().then((text) => "
        "{ window.saved[blob.type] = text }); return 'data:,' };"
        "document.getElementById('save-names').click(); document.getElementById('save-labels').click()"
    )
    deadline = time.monotonic() + 10
    while len(page.ask("Object.keys(window.saved)")) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    kept = json.loads(page.ask("window.saved['application/json']"))
    assert kept["names"] == {"0": "light users"}
    assert kept["merges"] == [[1, 2]]
    assert kept["notes"] == "shown on Monday"
    lines = page.ask("window.saved['text/csv']").splitlines()
    labels = np.where(models[1].labels_ == 1, 2, models[1].labels_)
    assert [int(line.split(",")[1]) for line in lines[1:]] == labels.tolist()


def test_a_page_without_rows_offers_no_filter(open_page, planted, tmp_path):
    frame, models = planted
    path = tmp_path / "explore.html"
    catalpa.explore(models[1], frame, rows=False).save(path)
    page = open_page(path)
    assert page.ask("document.getElementById('filter-column')") is None
    assert page.ask(SIZES) == sorted(models[1].cluster_sizes_.tolist(), reverse=True)


@pytest.fixture
def served(planted):
    frame, _ = planted
    session = Session("planted.csv", frame, lambda k: catalpa.Grove(k, random_state=0))
    session.start(session.columns, 3)
    session.wait()
    with serving(session) as server:
        yield server


def test_served_it_clusters_again(open_page, planted, served):
    frame, _ = planted
    page = open_page(served.address)
    until(page, "document.getElementById('fit') !== null")
    type_into(page, "#notes", "stays")
    page.do("document.querySelector('#settings details').open = true")
    type_into(page, "#wanted-number", "2")
    page.do("document.querySelector('#settings input[value=copy]').click()")
    page.do("document.getElementById('fit').click()")
    until(page, "document.getElementById('command')?.textContent.includes('-k 2 --drop copy')")
    page.shoot("explorer-served")
    expected = catalpa.Grove(2, random_state=0).fit(frame.drop(columns="copy"))
    sizes = json.dumps(sorted(expected.cluster_sizes_.tolist(), reverse=True), separators=(",", ":"))
    until(page, f"JSON.stringify({SIZES}) === '{sizes}'")
    assert page.ask("document.getElementById('notes').value") == "stays"
    type_into(page, "#wanted-number", "many")
    page.do("document.getElementById('fit').click()")
    until(page, "document.getElementById('server-status').textContent.includes('positive number')")
    assert all(address.startswith((served.address, "data:")) for address in page.requests())


def test_roles_of_columns_are_chosen_and_saved_as_a_recipe(open_page, served):
    page = open_page(served.address)
    until(page, "document.getElementById('fit') !== null")
    page.do("document.querySelector('#settings details').open = true")
    page.do(
        "const use = document.querySelector(\"select[aria-label='How visits is used']\");"
        "use.value = 'categories'; document.getElementById('fit').click()"
    )
    until(page, "document.getElementById('command')?.textContent.includes('--recipe recipe.json')")
    page.do(
        "window.saved = null; URL.createObjectURL = (blob) => { blob.text().then((text) => "
        "{ window.saved = text }); return 'data:,' };"
        "document.getElementById('export-recipe').click()"
    )
    until(page, "window.saved !== null")
    fields = json.loads(page.ask("window.saved"))["schema"]["fields"]
    assert {field["name"]: field["type"] for field in fields}["visits"] == "string"
    until(
        page,
        "document.getElementById('verdict').textContent === "
        + json.dumps(served.session.model.verdict_.sentence),
    )


def test_a_second_tab_sees_the_clusters_of_the_first(open_page, served):
    page = open_page(served.address)
    until(page, "document.getElementById('fit') !== null")
    served.session.start(["plan", "device"], 2)
    served.session.wait()
    page.do("document.dispatchEvent(new Event('visibilitychange'))")
    until(page, "document.getElementById('command')?.textContent.includes('-k 2')")
    until(page, f"{SIZES}.length === 2")


def test_the_widget_hands_back_the_edits_and_their_model(open_page, planted, tmp_path):
    pytest.importorskip("anywidget")
    frame, models = planted
    explorer = catalpa.explore(models[1], frame)
    page = open_page(notebook_page(explorer, tmp_path / "notebook.html"))
    until(page, "document.getElementById('cell').shadowRoot !== null && window.saves > 0")
    page.do(
        "const shadow = document.getElementById('cell').shadowRoot;"
        "const changed = (selector, value) => { const e = shadow.querySelector(selector);"
        "  e.value = value; e.dispatchEvent(new Event('change', {bubbles: true})); };"
        "changed('.card[data-cluster=\"1\"] input', 'regulars');"
        "changed('.card[data-cluster=\"0\"] .acts select', '2')"
    )
    assert page.ask("window.traits.edits.names") == {"1": "regulars"}
    assert page.ask("window.traits.edits.n_clusters") == 3
    widget = explorer.widget()
    assert widget.model.n_clusters_ == 3
    widget.edits = page.ask("window.traits.edits")
    assert widget.names == {1: "regulars"}
    assert widget.model.cluster_names_ == ["0", "regulars"]
    expected = models[1].merge([0, 2])
    assert widget.model.predict(frame).tolist() == expected.predict(frame).tolist()
    assert models[1].cluster_names_ == ["0", "1", "2"]  # the model of the page stays as it is
    assert page.complaints() == []


def test_served_a_cluster_is_split_and_the_session_can_be_repeated(open_page, planted, served, tmp_path):
    frame, _ = planted
    served.session.start(served.session.columns, 2)
    served.session.wait()
    page = open_page(served.address)
    until(page, "document.getElementById('fit') !== null")
    assert "-k 2" in page.ask("document.getElementById('command').textContent")
    page.do("document.querySelector('[data-split]').click()")
    until(page, "document.getElementById('command')?.textContent.includes('--edits clusters.json')")
    until(page, f"{SIZES}.length > 2")
    type_into(page, ".card[data-cluster='1'] input", "others")
    page.do(
        "window.saved = []; URL.createObjectURL = (blob) => { blob.text().then((text) => "
        "{ window.saved.push(text) }); return 'data:,' };"
        "document.getElementById('save-names').click(); document.getElementById('export-model').click()"
    )
    until(page, "window.saved.length === 2")
    edits, model = sorted(page.ask("window.saved"), key=len)
    (tmp_path / "clusters.json").write_text(edits)
    (tmp_path / "model.json").write_text(model)
    saved = catalpa.load(tmp_path / "model.json")
    frame.to_csv(tmp_path / "planted.csv", index=False)
    command = page.ask("document.getElementById('command').textContent").split()[1:]
    command = [str(tmp_path / one) if one.endswith((".csv", ".json", "/")) else one for one in command]
    repeated = CliRunner().invoke(app, [*command, "--as-is"])
    assert repeated.exit_code == 0, repeated.output
    again = catalpa.load(tmp_path / "out" / "model.json")
    assert "others" in again.cluster_names_
    assert again.cluster_names_ == saved.cluster_names_
    assert again.predict(frame).tolist() == saved.predict(frame).tolist()


def test_served_a_fit_shows_its_progress_and_is_cancelled(open_page):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({f"q{at}": rng.integers(0, 6, 4000).astype(str) for at in range(30)})
    session = Session(
        "noise.csv",
        table,
        lambda k: catalpa.KModes(8 if k == 8 else 2, random_state=0, n_init=1 if k != 8 else 5000),
    )
    session.start(session.columns, 2)
    session.wait()
    with serving(session) as server:
        page = open_page(server.address)
        until(page, "document.getElementById('fit') !== null")
        page.do("document.querySelector('#settings details').open = true")
        before = page.ask(SIZES)
        type_into(page, "#wanted-number", "8")
        page.do("document.getElementById('fit').click()")
        until(page, "/start|pass/.test(document.getElementById('server-status').textContent)")
        assert page.ask("document.getElementById('fit').disabled")
        page.do("document.getElementById('cancel').click()")
        until(page, "document.getElementById('server-status').textContent.includes('Cancelled')")
        assert page.ask(SIZES) == before
        assert not page.ask("document.getElementById('fit').disabled")
