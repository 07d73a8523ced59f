"""One self-contained HTML file: nothing is fetched, nothing leaves it, and it stays small."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from adagcn.errors import ResourceError
from adagcn.formats.atomic import write_bytes

if TYPE_CHECKING:
    import os

    from jinja2 import Environment

LARGEST = 2_000_000  # bytes of a page


@dataclass(frozen=True)
class Page:
    """What stands on a page.

    Attributes
    ----------
    template : str
        The file in ``templates/`` that lays it out.
    content : dict
        Its sections, as plain numbers and text; text is escaped where it is shown.
    facts : dict
        The numbers that a command prints.
    """

    template: str
    content: dict[str, Any]
    facts: dict[str, Any] = field(default_factory=dict)

    def html(self) -> str:
        """Return the page; the same content always gives the same text.

        Raises
        ------
        ResourceError
            If jinja2 is not installed, or the page would have two megabytes or more.
        """
        script = _template_text("page.js")
        text = (
            _environment()
            .get_template(self.template)
            .render(
                **self.content,
                style=_template_text("page.css"),
                script=script,
                policy=_policy(script),
                data_json=script_json(self.content.get("script_data", {})),
            )
        )
        size = len(text.encode("utf-8"))
        if size >= LARGEST:
            raise ResourceError(
                "AGC-R1400",
                f"the page would have {size:,} bytes, and its limit is {LARGEST:,}",
                fix="tell us about this graph: a page should never grow so large",
            )
        return text


def write_page(path: str | os.PathLike[str], page: Page) -> int:
    """Write a page, completely or not at all, and return its size in bytes."""
    payload = page.html().encode("utf-8")
    write_bytes(path, payload)
    return len(payload)


def script_json(value: Any) -> str:
    r"""Return JSON that can stand inside of a ``script`` element, whatever texts it holds.

    >>> script_json({"label": "</script>"})
    '{"label":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _policy(script: str) -> str:
    """Return what the browser may do: run this one script, use inline styles, and no more."""
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _template_text(name: str) -> str:
    return (files("adagcn.report") / "templates" / name).read_text("utf-8")


def _environment() -> Environment:
    if find_spec("jinja2") is None:
        raise ResourceError(
            "AGC-R1401", "a page needs jinja2", fix="install it with: pip install 'adagcn[report]'"
        )
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        loader=FunctionLoader(_template_text),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
