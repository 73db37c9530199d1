"""Every page against the rules of axe-core, in the light and in the dark."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import catalpa

pytest.importorskip("axe_core_python")
pytestmark = pytest.mark.browser

AXE = (files("axe_core_python") / "axe.min.js").read_text("utf-8")
RUN = (
    "const done = arguments[0];"
    "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'best-practice'],"
    " resultTypes: ['violations']})"
    ".then((result) => done(result.violations.map((one) => one.id + ': ' + one.nodes[0].html)))"
)


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, Path]:
    """One page of every kind, of a table with words, numbers and missing values."""
    pytest.importorskip("vl_convert")
    rng = np.random.default_rng(5)
    group = rng.integers(3, size=240)
    table = pd.DataFrame(
        {
            "plan": np.where(rng.random(240) < 0.9, np.array(["basic", "plus", "full"])[group], "none"),
            "device": np.where(rng.random(240) < 0.8, np.array(["phone", "laptop", "tablet"])[group], None),
            "region": rng.choice(["north", "south"], 240),
            "spend": rng.normal(20 + 30 * group, 6),
        }
    )
    noise = pd.DataFrame({f"q{at}": rng.choice(list("abc"), 200) for at in range(6)})
    three, two = (catalpa.Grove(k, random_state=0).fit(table) for k in (3, 2))
    changed = table.assign(plan=np.where(rng.random(240) < 0.5, "new", table["plan"]))
    documents = {
        "report": three.report(table.assign(known=group.astype(str)), against="known"),
        "noise": catalpa.Grove(3, random_state=0).fit(noise).report(noise),
        "splits": catalpa.SigDT().fit(noise).report(noise),
        "weights": catalpa.HARR(3, random_state=0).fit(table).report(table),
        "explorer": catalpa.explore(three, table, others=[two]),
        "drift": catalpa.drift(three, changed),
        "comparison": catalpa.compare(three, two, table),
        "choice": catalpa.choose_k(table, range(1, 5), random_state=0).report(),
        "look": catalpa.look(table).report(),
        "history": catalpa.history([("May", three, table), ("June", table[::2])]),
        "form": catalpa.short_form(three, table),
    }
    folder = tmp_path_factory.mktemp("pages")
    for name, document in documents.items():
        document.save(folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in documents}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "name",
    [
        *("report", "noise", "splits", "weights", "explorer", "drift"),
        *("comparison", "choice", "look", "history", "form"),
    ],
)
def test_a_page_breaks_no_rule_of_accessibility(open_page, pages, name, scheme):
    page = open_page(pages[name], scheme=scheme)
    page.do("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.do(AXE)
    # A busy machine takes long over a long page: the limit only ends what never answers.
    page.driver.set_script_timeout(600)
    page.driver.command_executor.client_config.timeout = 660
    assert page.driver.execute_async_script(RUN) == []
