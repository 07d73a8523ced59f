"""The documentation as a site: it builds without a warning and asks nobody for anything."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("site")
    options = ["--quiet", "--fail-on-warning", "--keep-going", "--nitpicky"]
    command = [sys.executable, "-m", "sphinx", *options, "-d", str(out / "trees"), str(DOCS)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [*command, str(out / "html")], capture_output=True, text=True, check=False, env=environment
    )
    assert (done.returncode, done.stderr) == (0, "")
    return out / "html"


@pytest.mark.full
def test_every_page_is_built(site):
    for page in DOCS.rglob("*.md"):
        if "_build" not in page.parts:
            assert (site / page.relative_to(DOCS)).with_suffix(".html").is_file(), page


@pytest.mark.full
def test_no_page_loads_anything_from_another_host(site):
    for page in [*site.rglob("*.html"), *site.rglob("*.css")]:
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(
            r"(?:<(?:script|img|link|iframe)\b[^>]*(?:src|href)=\"|url\()\s*(\S+)", text
        )
        assert not [each for each in loaded if re.match(r"[\"']?(?:https?:)?//", each)], page
        assert "@import" not in text, page


@pytest.mark.full
def test_every_link_within_the_site_leads_to_a_page_and_a_heading(site):
    pages = {page: page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    for page, text in pages.items():
        for link in set(re.findall(r"<a\b[^>]*href=\"(?!https?:|mailto:|data:)([^\"]*)\"", text)):
            path, _, place = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            assert target.exists(), f"{page.name} links to {link}"
            if place and target in pages:
                assert f'id="{place}"' in pages[target], f"{page.name} links to {link}"


@pytest.mark.parametrize(
    ("folder", "link", "led"),
    [
        ("docs", "../SECURITY.md#files", "/project/security.md#files"),
        ("docs/guide", "../../README.md", "/index.md"),
        (".", "docs/releasing.md", "/releasing.md"),
        (".", "SECURITY.md", "/project/security.md"),
        ("docs", "algorithm.md", "algorithm.md"),
        ("docs", "../src/adagcn/graph.py", "../src/adagcn/graph.py"),
        ("docs", "#table-2", "#table-2"),
        ("docs", "https://arxiv.org/abs/1908.05081", "https://arxiv.org/abs/1908.05081"),
    ],
)
def test_links_to_files_of_the_repository_lead_to_pages(folder, link, led):
    links = load(DOCS / "extensions" / "repository_links.py")
    rewritten = links.with_links_of_the_site(f"see [it]({link}).", (ROOT / folder).resolve(), DOCS)
    assert rewritten == f"see [it]({led})."


@pytest.mark.full
def test_parameters_that_are_made_from_settings_are_shown(site):
    text = (site / "reference" / "models.html").read_text(encoding="utf-8")
    for model in ("adagcn.AdaGCNClassifier", "adagcn.models.appnp.APPNPClassifier"):
        about = text.split(f'id="{model}"')[1].split('<dl class="py')[0]
        assert "<strong>validation_fraction</strong>" in about
        assert "0.0 in every preset" in about
    errors = (site / "reference" / "errors.html").read_text(encoding="utf-8")
    assert 'id="agc-i614"' in errors


@pytest.fixture(scope="module")
def window(tmp_path_factory):
    browser = load(ROOT / "tests" / "report" / "browser_fixtures.py")
    with browser.chromium(tmp_path_factory.mktemp("profile")) as window:
        yield window, browser.resize


@pytest.mark.full
def test_the_search_finds_an_error_code_without_a_server(site, window):
    driver, _ = window
    driver.get(f"{(site / 'search.html').as_uri()}?q=AGC-I614")
    found = "return document.querySelector('#search-results').innerText"
    for _ in range(100):
        if "AGC-I614" in (text := driver.execute_script(found)):
            break
        time.sleep(0.1)
    assert "Errors and warnings" in text
    assert driver.get_log("browser") == []


@pytest.mark.full
@pytest.mark.parametrize("width", [400, 1400])
def test_pages_fit_any_screen_and_ask_for_nothing(site, window, width):
    driver, resize = window
    resize(driver, width)
    driver.get_log("performance")  # what the browser's own first page asked for
    for page in ("index", "results", "reference/errors", "reference/presets", "reference/models"):
        driver.get((site / f"{page}.html").as_uri())
        wide, there = driver.execute_script(
            "return [document.documentElement.scrollWidth, window.innerWidth]"
        )
        assert wide <= there, page
        assert driver.get_log("browser") == [], page
        events = [json.loads(each["message"])["message"] for each in driver.get_log("performance")]
        asked = [
            each["params"]["request"]["url"]
            for each in events
            if each["method"] == "Network.requestWillBeSent"
        ]
        assert asked, page
        assert all(url.startswith(("file:", "data:")) for url in asked), page
