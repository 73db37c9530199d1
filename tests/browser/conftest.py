"""A headless Chromium, where there is one, and pages for it to open."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import catalpa

ARTIFACTS = Path(__file__).resolve().parents[2] / "test-artifacts"
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
ATTACK = "<script>window.hacked = true</script>"


def new_driver(profile: Path) -> Any:
    selenium = pytest.importorskip("selenium.webdriver")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("chromium and chromedriver are not installed")
    options = selenium.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return selenium.Chrome(options=options, service=selenium.ChromeService(driver))


@dataclass(frozen=True)
class Page:
    """An open page, asked with scripts."""

    driver: Any

    def ask(self, script: str) -> Any:
        return self.driver.execute_script(f"return {script}")

    def do(self, script: str) -> None:
        self.driver.execute_script(script)

    def choose(self, select: str, value: str) -> None:
        self.do(
            f"const select = document.getElementById({json.dumps(select)}), value = {json.dumps(value)};"
            "if (![...select.options].some((one) => one.value === value)) throw new Error(`no ${value}`);"
            "select.value = value; select.dispatchEvent(new Event('change', {bubbles: true}))"
        )

    def complaints(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Addresses that anything on the page asked for."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        sent = [event for event in events if event["method"] == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]

    def shoot(self, name: str) -> None:
        """Keep a picture of the whole page."""
        ARTIFACTS.mkdir(exist_ok=True)
        width, height = self.ask("[innerWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        shot = self.driver.execute_cdp_cmd(
            "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip}
        )
        (ARTIFACTS / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    driver = new_driver(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


Open = Callable[..., Page]


@pytest.fixture
def open_page(driver: Any) -> Iterator[Open]:
    """Open a file at a width, in the light or in the dark."""

    def opened(path: Path | str, *, width: int = 1280, scheme: str = "light") -> Page:
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        driver.get("about:blank")
        for kind in ("browser", "performance"):
            driver.get_log(kind)
        driver.get(path.as_uri() if isinstance(path, Path) else path)
        return Page(driver)

    yield opened
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Fits an estimator and writes its report."""
    pytest.importorskip("vl_convert")

    def write(estimator: Any, table: pd.DataFrame, title: str) -> Path:
        path = tmp_path_factory.mktemp("report") / "report.html"
        estimator.fit(table).report(table, title=title).save(path)
        return path

    return write


@pytest.fixture(scope="session")
def zoo_report(written: Callable[..., Path]) -> Path:
    return written(catalpa.Grove(7, random_state=0), catalpa.datasets.load("zoo").frame, "Zoo")


@pytest.fixture(scope="session")
def wide_report(written: Callable[..., Path]) -> Path:
    """Twenty clusters, a column of forty long names, numbers, and texts that would like to be run."""
    planted = [at % 20 for at in range(400)]
    table = pd.DataFrame(
        {
            ATTACK: [ATTACK if at < 10 else "</script><b>bold</b>" for at in planted],
            "forty": [
                f"a rather long name, number {2 * at + (row % 7 == 0)}" for row, at in enumerate(planted)
            ],
            "ten": [f"t{at % 10}" for at in planted],
            "seven": [f"=s{at % 7}" for at in planted],
            "amount": [at + (row % 3) / 8 for row, at in enumerate(planted)],
        }
    )
    return written(catalpa.DISC(20, random_state=0), table, ATTACK)


@pytest.fixture(scope="session")
def split_report(written: Callable[..., Path]) -> Path:
    """A tree of splits over names without a place to break them."""
    zoo = catalpa.datasets.load("zoo").frame.astype(str)
    table = zoo.rename(columns={"legs": "legs" * 60}).replace({"hair": {"1": "hairy" * 80}})
    return written(catalpa.SigDT(), table, "Splits")


@pytest.fixture(scope="session")
def weighed_report(written: Callable[..., Path]) -> Path:
    """Weights of columns in twenty clusters, two names from right to left among them."""
    zoo = catalpa.datasets.load("zoo").frame.astype(str)
    table = zoo.rename(columns={"legs": "\u05e8\u05d2\u05dc\u05d9\u05d9\u05dd", "tail": "\u202etail"})
    return written(catalpa.HARR(20, random_state=0), table, "Weights")


@pytest.fixture(scope="session")
def survey() -> tuple[catalpa.Grove, pd.DataFrame]:
    """Twelve clusters, two with long names, of sixty questions that begin alike, one without an answer."""
    made = catalpa.datasets.make_categorical(360, columns=60, categories=4, clusters=12, noise=0.3, seed=1)
    question = "Question {0}. How far do you agree with this statement about your home, part {0}?"
    table = made.frame.set_axis([question.format(at) for at in range(60)], axis=1)
    table = table.assign(unanswered=None, age=20.5 + 3 * made.clusters)
    with pytest.warns(catalpa.errors.ColumnWarning, match="unanswered"):
        model = catalpa.Grove(12, n_init=1, random_state=0).fit(table)
    return model.name_clusters({0: "people who agree with nearly every statement", 1: "x" * 80}), table


@pytest.fixture(scope="session")
def survey_report(survey: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    model, table = survey
    path = tmp_path_factory.mktemp("survey") / "report.html"
    model.report(table.assign(person=[f"p{at}" for at in range(len(table))]), id="person").save(path)
    return path


@pytest.fixture(scope="session")
def still_pages(survey: Any, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Pages without a script."""
    model, table = survey
    folder = tmp_path_factory.mktemp("still")
    catalpa.compare(model, model.labels_ % 7, table).save(folder / "comparison.html")
    catalpa.drift(model, table[:200]).save(folder / "drift.html")
    choice = catalpa.choose_k(table.iloc[:, :6], range(1, 6), method="kmodes", repeats=0, random_state=0)
    choice.report().save(folder / "choice.html")
    return sorted(folder.iterdir())
