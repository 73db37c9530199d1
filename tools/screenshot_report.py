"""Write docs/images/report.png and report-dark.png: the top of the report of the front page in a browser.

Needs Chromium with its driver, and selenium. Run it from the checkout: python tools/screenshot_report.py
"""

from __future__ import annotations

import base64
import shutil
import sys
import tempfile
from pathlib import Path

from selenium import webdriver

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs/_ext"))

import survey  # noqa: E402 - from the docs

PICTURES = {"light": ROOT / "docs/images/report.png", "dark": ROOT / "docs/images/report-dark.png"}
WIDTH, HEIGHT = 1160, 1480
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")


def take(page: Path, scheme: str, profile: str) -> bytes:
    """The top of the page as PNG, as readers see it who prefer light or dark pages."""
    options = webdriver.ChromeOptions()
    for flag in (*FLAGS, "--hide-scrollbars", f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.binary_location = shutil.which("chromium") or ""
    # With the driver named, selenium does not go looking for one on the network.
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        prefers = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", prefers)
        driver.get(page.as_uri())
        shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
        return base64.b64decode(shot["data"])
    finally:
        driver.quit()


def main() -> None:
    """Write the report of the survey and take its pictures."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        page = Path(folder, survey.PAGE).resolve()
        survey.fitted().report(survey.voters(), title=survey.TITLE).save(page)
        for scheme, picture in PICTURES.items():
            picture.write_bytes(take(page, scheme, f"{folder}/{scheme}"))
            print(f"wrote {picture.relative_to(ROOT)}: {picture.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
