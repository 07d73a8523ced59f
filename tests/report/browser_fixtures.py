"""A headless Chromium that looks at pages; tests skip where there is none."""

from __future__ import annotations

import shutil
from contextlib import contextmanager

import pytest

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--window-size=1400,1000",
)


@contextmanager
def chromium(profile):
    """A driver of the system's Chromium with a fresh profile; no download, no network."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("chromium and chromedriver are not installed")
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    window = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield window
    finally:
        window.quit()


def resize(window, width, height=900):
    """Give the page a width in CSS pixels, as a phone or a screen has it."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    window.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def prefer(window, theme):
    """Let the system ask for light or dark."""
    wish = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
    window.execute_cdp_cmd("Emulation.setEmulatedMedia", wish)
