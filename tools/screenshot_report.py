"""Write docs/images/report.png and report-dark.png: the top of the report of ``catalpa demo`` in a browser.

Needs Chromium with its driver, and selenium. Run it from the checkout: python tools/screenshot_report.py
"""

from __future__ import annotations

import base64
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from selenium import webdriver

ROOT = Path(__file__).resolve().parents[1]
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
    """Make the demo's report and keep its pictures."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        demo = [sys.executable, "-m", "catalpa", "demo", "--quiet", "-o", f"{folder}/demo"]
        subprocess.run(demo, check=True)
        page = Path(folder, "demo", "report.html").resolve(strict=True)
        for scheme, picture in PICTURES.items():
            picture.write_bytes(take(page, scheme, f"{folder}/{scheme}"))
            print(f"wrote {picture.relative_to(ROOT)}: {picture.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
