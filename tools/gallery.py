"""Make the pictures of docs/guide/gallery.md and the README: ``python tools/gallery.py``.

Every picture is what a command of this repository writes or prints, on the packaged Cora with seed
0. Pages and terminals are photographed by a headless Chromium. Names as arguments make only those.
"""

from __future__ import annotations

import contextlib
import html
import io
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from PIL import Image, ImageOps

from adagcn.cli import main

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
LARGEST = 150_000  # bytes of a committed picture
COLUMNS = 92  # of the terminal that is photographed
NODE = "1123188"
MODEL = "cora.adagcn"

TERMINAL = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; background: #1b1d23 }}
pre {{ margin: 0; padding: 22px 26px; display: inline-block; color: #dfe2e8;
      font: 15px/1.38 "DejaVu Sans Mono", monospace }}
b {{ color: #8fc7ff; font-weight: normal }}
i {{ background: #4c9bd6; color: transparent }}
</style><pre><b>$ {command}</b>
{printed}</pre>"""


def run(*words: str) -> str:
    """Run a command of adagcn here; return what it prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = main(list(words))
    if code != 0:
        raise RuntimeError(f"adagcn {' '.join(words)} ended with {code}")
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip().splitlines())


@contextlib.contextmanager
def browser(width: int, height: int, *, dark: bool = False) -> Iterator[Any]:
    """A headless Chromium with a window of this size."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for word in ("--headless=new", "--no-sandbox", "--hide-scrollbars", "--disable-gpu"):
        options.add_argument(word)
    options.add_argument(f"--window-size={width},{height}")
    options.add_argument("--force-device-scale-factor=1")
    if dark:
        options.add_argument("--force-dark-mode")
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    try:
        yield driver
    finally:
        driver.quit()


def in_few_colors(picture: bytes, n_colors: int = 96) -> Image.Image:
    """A screenshot with a palette: a third of the bytes, and the same to the eye."""
    return (
        Image.open(io.BytesIO(picture)).convert("RGB").quantize(n_colors, dither=Image.Dither.NONE)
    )


def framed(picture: bytes, margin: int = 0) -> Image.Image:
    """A picture of a white page with a border, so that it ends where one sees it."""
    page = ImageOps.expand(Image.open(io.BytesIO(picture)).convert("RGB"), margin, "white")
    framed = ImageOps.expand(page, 1, "#c4cad3")
    return framed.quantize(96, dither=Image.Dither.NONE)


def save(name: str, picture: Image.Image) -> None:
    path = IMAGES / f"{name}.png"
    picture.save(path, optimize=True)
    if path.stat().st_size > LARGEST:
        raise RuntimeError(f"{path.name} has {path.stat().st_size:,} bytes")


def photograph_terminal(name: str, *words: str, lines: int = 60) -> None:
    """Show a command and the first lines that it prints as a terminal shows them."""
    printed = run(*words).splitlines()
    more = [] if len(printed) <= lines else ["…"]
    text = html.escape("\n".join(printed[:lines] + more))
    text = re.sub("█+", r"<i>\g<0></i>", text)  # one bar, without seams between its letters
    page = Path("terminal.html")
    page.write_text(TERMINAL.format(command=html.escape(f"adagcn {' '.join(words)}"), printed=text))
    with browser(1100, 1400) as driver:
        driver.get(page.resolve().as_uri())
        picture = driver.find_element("tag name", "pre").screenshot_as_png
    save(name, in_few_colors(picture, 32))


def report() -> None:
    """The first screen of a report, and its map."""
    run("report", MODEL, "cora", "--out", "page.html", "--force")
    page = Path("page.html").resolve().as_uri()
    with browser(1240, 980) as driver:
        driver.get(page)
        save("gallery-report", framed(driver.get_screenshot_as_png()))
    with browser(1240, 1400) as driver:
        driver.get(page)
        section = driver.find_element("id", "map")
        save("gallery-map", framed(section.screenshot_as_png, margin=18))


def explanation() -> None:
    """Why one node has its label."""
    photograph_terminal("gallery-explanation", "explain", MODEL, "cora", "--node", NODE)


def doctor() -> None:
    """What the doctor says of Cora."""
    photograph_terminal("gallery-doctor", "doctor", "cora", lines=26)


def front() -> None:
    """A report, and an explanation before it: the picture of the README and the front page."""
    page = Image.open(IMAGES / "gallery-report.png").convert("RGB")
    terminal = Image.open(IMAGES / "gallery-explanation.png").convert("RGB")
    terminal = terminal.crop((0, 0, terminal.width, 424))  # down to the last hop
    canvas = Image.new("RGB", (1500, 1028), "#dfe3ea")
    for picture, place in ((page, (30, 30)), (terminal, (596, 574))):
        shadow = Image.new("RGB", (picture.width + 2, picture.height + 2), "#8d94a1")
        canvas.paste(shadow, (place[0] - 1, place[1] - 1))
        canvas.paste(picture, place)
    save("gallery-front", canvas.quantize(96, dither=Image.Dither.NONE))


def demo() -> None:
    """The figure of the demo."""
    run("demo")
    save("demo", in_few_colors(Path("adagcn-demo.png").read_bytes(), 64))


def compare() -> None:
    """Five models on five splits."""
    models = "adagcn,appnp,gcn,label_propagation,mlp"
    run(
        "compare", "cora", "--models", models, "--splits", "5", "--figure", "compare.png", "--force"
    )
    save("gallery-compare", in_few_colors(Path("compare.png").read_bytes(), 64))


PICTURES: dict[str, Callable[[], None]] = {
    each.__name__: each for each in (report, explanation, front, doctor, demo, compare)
}


if __name__ == "__main__":
    os.environ["COLUMNS"] = str(COLUMNS)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        wanted = sys.argv[1:] or list(PICTURES)
        if {"report", "explanation"} & set(wanted):
            run("fit", "cora", "--out", MODEL)
        for name in wanted:
            PICTURES[name]()
