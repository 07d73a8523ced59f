"""The pages in a real browser: no error, no request, and every control works."""

from __future__ import annotations

import base64
import json

import pytest
from browser_fixtures import chromium, prefer, resize
from report_fixtures import HOSTILE, finished_run, fitted, hostile_graph

from adagcn.experiments.ledger import LedgerRow
from adagcn.report.ledger_page import ledger_page
from adagcn.report.model_page import model_page
from adagcn.report.page import write_page

SCRIPT = HOSTILE[0]
DATA = "JSON.parse(document.getElementById('page-data').textContent)"


@pytest.fixture(scope="module")
def window(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile")) as window:
        yield window


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    graph = hostile_graph()
    model, split = fitted(graph)
    path = tmp_path_factory.mktemp("page") / "page.html"
    write_page(path, model_page(model, graph, split, advice=False))
    return path


@pytest.fixture
def page(window, path):
    prefer(window, "light")
    resize(window, 1400)
    window.get_log("browser")
    window.get_log("performance")
    window.get(path.as_uri())
    return window


def find(window, selector):
    return window.find_element("css selector", selector)


def find_all(window, selector):
    return window.find_elements("css selector", selector)


def texts(window, selector):
    script = "return Array.from(document.querySelectorAll(arguments[0]), e => e.textContent.trim())"
    return window.execute_script(script, selector)


def slide(window, selector, value):
    window.execute_script(
        "const s = document.querySelector(arguments[0]); s.value = arguments[1];"
        "s.dispatchEvent(new Event('input', {bubbles: true}));",
        selector,
        str(value),
    )


def click(window, element):
    show(window, element)
    element.click()


def show(window, element):
    script = "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})"
    window.execute_script(script, element)


def requests(window):
    """Addresses that the page asked for since the log was read last."""
    sent = [json.loads(entry["message"])["message"] for entry in window.get_log("performance")]
    return [
        each["params"]["request"]["url"]
        for each in sent
        if each["method"] == "Network.requestWillBeSent"
    ]


def test_the_page_runs_without_an_error_and_asks_for_nothing(page, path):
    """The smoke test of ``make test``; the others are in ``make test-full``."""
    assert page.get_log("browser") == []
    asked = [url for url in requests(page) if not url.startswith("data:")]
    assert asked == [path.as_uri()]
    assert page.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert "no-script" not in find(page, "html").get_attribute("class")
    assert texts(page, "#node-said h3")[0].startswith("Node <i>node</i>")
    assert HOSTILE[0] in texts(page, "#labels tbody th")
    accuracy = find(page, "#accuracy").text.replace("\u00a0", " ")
    assert find(page, ".depth-said").text.replace("\u00a0", " ").startswith(accuracy)
    slide(page, "#depth-depth", 0)
    assert texts(page, ".depth-now") == ["0"] * 3


@pytest.mark.full
def test_tables_sort_by_number_and_by_text_and_back(page):
    head = find(page, "#labels table.sortable thead")
    nodes = head.find_element("xpath", ".//button[starts-with(., 'nodes')]")
    click(page, nodes)
    counts = [int(text) for text in texts(page, "#labels table.sortable tbody td.nodes")]
    assert counts == sorted(counts, reverse=True)
    click(page, nodes)
    counts = [int(text) for text in texts(page, "#labels table.sortable tbody td.nodes")]
    assert counts == sorted(counts)
    assert texts(page, "#labels th[aria-sort=ascending]") == ["nodes"]
    head.find_element("xpath", ".//button[starts-with(., 'label')]").send_keys(" ")
    names = [name.lower() for name in texts(page, "#labels table.sortable tbody th")]
    assert names == sorted(names)


@pytest.mark.full
def test_every_slider_moves_confusion_map_and_cursor_together(page):
    def matrix():
        return texts(page, "#confusion tbody td")

    last = matrix()
    shapes = page.execute_script(
        "return document.querySelectorAll('#graph-map .node.wrong').length"
    )
    for name in ("depth", "matrix", "map"):
        slide(page, f"#depth-{name}", 0)
        assert set(texts(page, ".depth-now")) == {"0"}
        assert matrix() != last
        total = sum(int(cell) for cell in matrix() if cell != "·")
        assert total == sum(int(cell) for cell in last if cell != "·")
        assert find(page, "#depth-cursor").get_attribute("transform").startswith("translate(-")
        wrong = page.execute_script(
            "return document.querySelectorAll('#graph-map .node.wrong').length"
        )
        assert wrong > shapes
        top = find(page, f"#depth-{name}").get_attribute("max")
        slide(page, f"#depth-{name}", top)
        assert matrix() == last
    slider = find(page, "#depth-map")
    slider.send_keys("\ue012")  # the arrow to the left
    assert int(texts(page, ".depth-now")[0]) == int(top) - 1


@pytest.mark.full
def test_a_node_is_chosen_from_the_list_by_mouse_and_by_keys(page):
    def chosen():
        return texts(page, "#node-said h3")[0]

    first = chosen()
    page.execute_script(
        "const c = document.getElementById('node-choice'); c.selectedIndex = 3;"
        "c.dispatchEvent(new Event('change'));"
    )
    second = chosen()
    assert second != first
    assert find(page, ".node.chosen").get_attribute("data-index") == "3"
    mark = find(page, ".node[data-index='7']")
    click(page, mark.find_element("css selector", ".mark"))
    assert find(page, ".node.chosen").get_attribute("data-index") == "7"
    assert page.switch_to.active_element.get_attribute("data-index") == "7"
    keys = {"\ue014", "\ue012", "\ue013", "\ue015"}  # right, left, up, down
    moved = set()
    for key in keys:
        page.switch_to.active_element.send_keys(key)
        moved.add(find(page, ".node.chosen").get_attribute("data-index"))
    assert len(moved) > 1
    assert len(find_all(page, ".node[tabindex='0']")) == 1
    n_bars = len(find_all(page, "#node-said .hop-bars .number"))
    assert n_bars == page.execute_script(f"return {DATA}.voting.length")


@pytest.mark.full
def test_the_hardest_nodes_show_one_card_at_a_time(page):
    cards = find_all(page, ".hard-card")
    shown = [card for card in cards if card.is_displayed()]
    assert len(cards) > 1
    assert len(shown) == 1
    picker = find_all(page, ".pick")[1]
    show(page, picker)
    picker.send_keys("\ue007")  # the key Enter
    assert [card for card in cards if card.is_displayed()] == [cards[1]]
    assert picker.get_attribute("aria-pressed") == "true"


@pytest.mark.full
def test_light_and_dark_follow_the_system_until_the_reader_says_otherwise(page):
    def paper():
        return page.execute_script("return getComputedStyle(document.body).backgroundColor")

    light = paper()
    prefer(page, "dark")
    dark = paper()
    assert light == "rgb(255, 255, 255)"
    assert dark != light
    find(page, "#theme").click()
    assert paper() == light
    find(page, "#theme").click()
    assert paper() == dark
    color = page.execute_script(
        "return getComputedStyle(document.querySelector('svg.figure text')).fill"
    )
    assert color != "rgb(0, 0, 0)"


@pytest.mark.full
@pytest.mark.parametrize("width", [400, 1400])
def test_nothing_but_wide_tables_scrolls_sideways(page, width):
    resize(page, width)
    inside = page.execute_script("return document.documentElement.scrollWidth")
    assert inside <= width
    wide = page.execute_script(
        """return Array.from(document.querySelectorAll("main *"))
          .filter(e => e.getBoundingClientRect().right > innerWidth + 1)
          .filter(e => !e.closest(".scroll, svg"))
          .map(e => e.outerHTML.slice(0, 80))"""
    )
    assert wide == []


@pytest.mark.full
def test_every_control_can_be_reached_and_seen_by_keyboard(page):
    seen = []
    for _ in range(60):
        page.switch_to.active_element.send_keys("\ue004")  # the key Tab
        outline = page.execute_script(
            "const e = document.activeElement, s = getComputedStyle(e);"
            "const h = e.querySelector && e.querySelector('.hit');"
            "const name = e.id || e.className.baseVal || e.className || e.tagName;"
            "const ring = h ? getComputedStyle(h).strokeWidth !== '1px' : false;"
            "return [name, s.outlineStyle !== 'none' || ring]"
        )
        seen.append(outline)
    names = " ".join(str(name) for name, _ in seen)
    for control in ("theme", "skip", "sort", "depth-depth", "depth-map", "node-choice", "pick"):
        assert control in names, control
    unseen = [name for name, visible in seen if not visible and name != "BODY"]
    assert unseen == []


@pytest.mark.full
def test_the_page_prints_in_light_with_the_first_cards(page):
    prefer(page, "dark")
    page.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    assert page.execute_script(
        "return Array.from(document.querySelectorAll('main details')).every(each => each.open)"
    )
    printed = page.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    content = base64.b64decode(printed["data"])
    assert content.startswith(b"%PDF")
    assert len(content) > 20_000
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert len([card for card in find_all(page, ".hard-card") if card.is_displayed()]) == 4
    paper = page.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert paper == "rgb(255, 255, 255)"
    assert not find(page, "#theme").is_displayed()
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


@pytest.mark.full
def test_a_label_that_is_a_script_does_not_run(page):
    alerts = page.execute_script("return window.wasRun === undefined")
    assert alerts
    page.execute_script(
        "const s = document.createElement('script'); s.textContent = 'window.wasRun = 1';"
        "document.body.appendChild(s)"
    )
    assert page.execute_script("return window.wasRun === undefined")  # the policy forbids it
    assert any("Content Security Policy" in entry["message"] for entry in page.get_log("browser"))


@pytest.mark.full
def test_a_page_of_runs_sorts_and_stays_within_a_phone(window, tmp_path):
    rows = [
        LedgerRow(key=run.key, run=run, result=result)
        for run, result in (finished_run(model, split) for model in "abc" for split in range(3))
    ]
    path = tmp_path / "runs.html"
    write_page(path, ledger_page(rows, SCRIPT))
    prefer(window, "dark")
    resize(window, 400)
    window.get_log("browser")
    window.get(path.as_uri())
    assert window.get_log("browser") == []
    assert window.execute_script("return document.documentElement.scrollWidth") <= 400
    assert SCRIPT in find(window, "h1").text
    heading = find(window, "#panel-0 thead").find_element("xpath", ".//button[contains(., 'mean')]")
    click(window, heading)
    means = [float(text) for text in texts(window, "#panel-0 tbody td strong")]
    assert means == sorted(means, reverse=True)
    assert len(means) == 3
    color = window.execute_script(
        "return getComputedStyle(document.querySelector('svg.figure text')).fill"
    )
    assert color != "rgb(0, 0, 0)"
