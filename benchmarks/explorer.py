"""Time from a click to the picture in the explorer: opened, moved, filtered, crossed and clustered again.

    python benchmarks/explorer.py --rows 1000 20000 200000

Needs chromium, chromedriver and selenium. A planted table of ten columns of categories and two of numbers is
served as ``catalpa explore`` does; the times are those of the browser, from the event to the next frame.
"""

from __future__ import annotations

import argparse
import shutil
import threading
import time
from typing import Any

import numpy as np

import catalpa
from catalpa.report.explore_server import ExploreServer, Session

DRAWN = """
const done = arguments[arguments.length - 1], act = new Function(arguments[0]);
const start = performance.now();
act();
requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
"""
CHANGED = (
    "const e = document.getElementById('{id}'); e.value = '{value}'; e.dispatchEvent(new Event('{event}'))"
)
ACTIONS = {
    "slider": CHANGED.format(id="clusters", value="0", event="input"),
    "filter": "document.getElementById('add-filter').click()",
    "cross": CHANGED.format(id="cross-column", value="1", event="change"),
    "compare": CHANGED.format(id="second-cluster", value="1", event="change"),
    "try a row": "document.querySelector('form.try').dispatchEvent(new Event('input'))",
}


def driver() -> Any:
    """A headless Chromium."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    for flag in ("--headless", "--no-sandbox", "--disable-gpu", "--window-size=1280,900"):
        options.add_argument(flag)
    options.binary_location = shutil.which("chromium") or ""
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    browser = webdriver.Chrome(options=options, service=service)
    browser.set_script_timeout(600)
    return browser


def table_of(rows: int) -> Any:
    """A table with four planted clusters."""
    planted = catalpa.datasets.make_categorical(rows, columns=10, clusters=4, noise=0.4, seed=0)
    rng, labels = np.random.default_rng(0), planted.clusters
    return planted.frame.assign(
        spend=rng.normal(20 + 10 * labels), visits=rng.poisson(2 + labels).astype(float)
    )


def measured(browser: Any, rows: int) -> dict[str, float]:
    """Seconds of every action on a table of so many rows."""
    session = Session("table.csv", table_of(rows), lambda k: catalpa.Grove(k, random_state=0))
    session.start(session.columns or (), 4)
    session.wait()
    with ExploreServer(session) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        seconds = {}
        begin = time.perf_counter()
        browser.get(server.address)
        until(browser, "document.getElementById('fit') !== null")
        seconds["open"] = time.perf_counter() - begin
        for name, script in ACTIONS.items():
            seconds[name] = browser.execute_async_script(DRAWN, script) / 1000
        session.judged()  # the samples that the verdict compares have the processor to themselves
        for label, k in (("4 to 3 clusters", 3), ("3 to 5 clusters", 5)):
            begin = time.perf_counter()
            browser.execute_script(
                f"document.getElementById('wanted-number').value = {k};document.getElementById('fit').click()"
            )
            until(browser, f"document.getElementById('command')?.textContent.includes('-k {k}')")
            seconds[label] = time.perf_counter() - begin
            session.judged()
        server.shutdown()
    return seconds


def until(browser: Any, script: str) -> None:
    """Wait until a script is true."""
    while not browser.execute_script(f"return {script}"):
        time.sleep(0.005)


def main() -> None:
    """Measure tables of several sizes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 20_000, 200_000])
    browser = driver()
    for rows in parser.parse_args().rows:
        times = measured(browser, rows)
        print(f"{rows:>9,} rows  " + "  ".join(f"{name} {value:.3f} s" for name, value in times.items()))
    browser.quit()


if __name__ == "__main__":
    main()
