"""The service of the guide gives what the model gives, and refuses what the model refuses."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

import catalpa

pytest.importorskip("fastapi")
httpx = pytest.importorskip("httpx")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "serving.md"
ZOO = catalpa.datasets.load("zoo").frame
ROWS = json.loads(ZOO.to_json(orient="records"))


def service(folder: Path, monkeypatch: pytest.MonkeyPatch, **settings: Any) -> Any:
    """The app of the page, for a model with these settings."""
    monkeypatch.chdir(folder)
    catalpa.Grove(7, random_state=0, **settings).fit(ZOO).save("zoo.json")
    code = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {}
    exec(compile(next(block for block in code if "FastAPI(" in block), "service.py", "exec"), names)
    return names["app"]


def asked(app: Any, *requests: tuple[str, Any]) -> list[Any]:
    """Answers to requests that are sent at the same time; None as body is a GET."""

    async def send() -> list[Any]:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
            calls = [
                client.get(path) if body is None else client.post(path, json=body) for path, body in requests
            ]
            return await asyncio.gather(*calls)

    return asyncio.run(send())


def test_rows_and_batches_have_the_labels_of_the_model(tmp_path, monkeypatch):
    app = service(tmp_path, monkeypatch)
    model = catalpa.load(tmp_path / "zoo.json")
    answers = asked(app, *[("/cluster", row) for row in ROWS[:20]], ("/clusters", ROWS), ("/health", None))
    assert [one.json()["cluster"] for one in answers[:20]] == model.predict(ZOO)[:20].tolist()
    assert answers[0].json()["probabilities"] == model.predict_proba(ZOO)[0].tolist()
    assert answers[20].json() == {"clusters": model.predict(ZOO).tolist()}
    assert answers[21].json()["columns"] == list(ZOO)


def test_absent_keys_are_missing_values(tmp_path, monkeypatch):
    app = service(tmp_path, monkeypatch, handle_unknown="ignore")
    model = catalpa.load(tmp_path / "zoo.json")
    (answer,) = asked(app, ("/cluster", {"legs": "4"}))
    blank = dict.fromkeys(ZOO)
    assert answer.json()["cluster"] == model.scorer().predict_one({**blank, "legs": "4"})


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("/cluster", {"leggs": "4"}, "unknown keys"),
        ("/clusters", [ROWS[0], {"leggs": "4"}], "Row 1 has the unknown keys"),
        ("/cluster", {**ROWS[0], "legs": {"left": 2}}, "'legs'"),
        ("/clusters", [], "at least 1"),
        ("/clusters", [ROWS[0]] * 10_001, "at most 10000"),
        ("/cluster", [1, 2], "dictionary"),
    ],
)
def test_mistakes_of_the_client_are_told(path, body, told, tmp_path, monkeypatch):
    (answer,) = asked(service(tmp_path, monkeypatch), (path, body))
    assert answer.status_code == 422
    assert told in str(answer.json()["detail"])


def test_unknown_categories_are_refused_if_the_model_refuses_them(tmp_path, monkeypatch):
    app = service(tmp_path, monkeypatch, handle_unknown="error")
    (answer,) = asked(app, ("/cluster", {**ROWS[0], "legs": "a hundred"}))
    assert answer.status_code == 422
    assert "'a hundred'" in answer.json()["detail"]
