"""The short form in a real browser: its answer is that of predict."""

from __future__ import annotations

import json

import pytest
from tests.browser.conftest import ATTACK
from tests.browser.test_explorer import planted_frame

import catalpa

pytestmark = pytest.mark.browser

FILL = """
const [answers] = [{answers}];
for (const [at, answer] of answers.entries()) {{
  const input = document.getElementById(`answer-${{at}}`);
  if (input.tagName === "INPUT") input.value = answer === null ? "" : String(answer);
  else input.value = [...input.options].find((one) => one.textContent === answer)?.value ?? "";
}}
document.getElementById("form").dispatchEvent(new Event("input"));
"""


def test_the_page_gives_the_label_of_predict(open_page, tmp_path):
    frame = planted_frame(300)
    model = catalpa.Grove(3, random_state=0).fit(frame)
    form = catalpa.short_form(model, frame, most=4, title=ATTACK)
    form.save(tmp_path / "form.html")
    page = open_page(tmp_path / "form.html")
    assert page.ask("window.hacked") is None
    labels = form.predict(frame)
    for row in range(20):
        cells = frame[form.columns].iloc[row].astype(object)
        answers = cells.where(cells.notna(), None).tolist()
        page.do(FILL.format(answers=json.dumps(answers)))
        assert int(page.ask("document.getElementById('cluster').dataset.cluster")) == labels[row]
    page.shoot("short-form")
    assert page.complaints() == []
    assert all(address.startswith(("file://", "data:")) for address in page.requests())
