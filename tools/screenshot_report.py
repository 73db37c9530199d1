"""Write docs/images/report.png: the top of the report that ``catalpa demo`` makes, as a browser shows it.

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
PICTURE = ROOT / "docs" / "images" / "report.png"
WIDTH, HEIGHT = 1160, 1480
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")


def take(page: Path, profile: str) -> bytes:
    """The top of the page as PNG."""
    options = webdriver.ChromeOptions()
    for flag in (*FLAGS, "--hide-scrollbars", f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.binary_location = shutil.which("chromium") or ""
    # With the driver named, selenium does not go looking for one on the network.
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.get(page.as_uri())
        shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
        return base64.b64decode(shot["data"])
    finally:
        driver.quit()


def main() -> None:
    """Make the demo's report and keep its picture."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        demo = [sys.executable, "-m", "catalpa.cli.main", "demo", "--quiet", "-o", f"{folder}/demo"]
        subprocess.run(demo, check=True)
        picture = take(Path(folder, "demo", "report.html"), f"{folder}/profile")
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_bytes(picture)
    print(f"wrote {PICTURE.relative_to(ROOT)}: {len(picture):,} bytes")


if __name__ == "__main__":
    main()
