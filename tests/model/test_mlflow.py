"""The MLflow example of the guides runs as it stands there, and what it saved can be logged."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.optional import OptionalPackage

import catalpa
from catalpa.datasets import load

mlflow = OptionalPackage("mlflow")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "elsewhere.md"


@pytest.mark.filterwarnings("ignore")  # MLflow warns of itself
def test_the_example_of_the_guide_saves_loads_and_logs(tmp_path, monkeypatch, capsys):
    code, said = re.search(
        r"## In MLflow.*?```py\n(.*?)```\n\n```text\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
    ).groups()
    monkeypatch.chdir(tmp_path)
    zoo = load("zoo").frame
    model = catalpa.Grove(7, random_state=0).fit(zoo)
    model.save("zoo.json")
    names = {"zoo": zoo, "model": model}
    exec(code, names)
    assert capsys.readouterr().out == said
    assert not list((tmp_path / "zoo-mlflow").rglob("*.pkl"))
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    with mlflow.start_run():
        logged = mlflow.pyfunc.log_model(name="zoo", **names["parts"])
    again = mlflow.pyfunc.load_model(logged.model_uri)
    assert again.predict(zoo).tolist() == model.labels_.tolist()
