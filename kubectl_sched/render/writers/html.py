"""A Document as a page: one file that needs no network and runs no script but its own."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec
from markupsafe import Markup

from kubectl_sched.render.safe_text import safe

if TYPE_CHECKING:
    from jinja2 import Environment

    from kubectl_sched.render.document import Document, Said, Snippet


_SNIPPET_WIDTH = 100
_WORDS_OF_A_NAME = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def html(document: Document, supposed: str = "") -> str:
    """Return the page of any answer. `supposed` names the edits that it is shown with."""
    return _environment().get_template("document.html.jinja").render(document=document, supposed=supposed)


@cache
def _environment() -> Environment:
    """Everything is escaped, and what a terminal would not show as it is, is shown as its code."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader(__package__)
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_visible,
    )
    environment.filters.update(json=as_json, words=_breakable, paths=_with_breakable_paths)
    environment.filters.update(lines=_in_lines, snippet=_snippet)
    environment.tests.update(said=_is_said)
    for name in ("page.css", "page.js"):
        text = _as_markup(loader.get_source(environment, name)[0])
        kind = name.removeprefix("page.")
        environment.globals |= {kind: text, f"{kind}_hash": source_hash(str(text))}
    return environment


def _is_said(part: Said, kind: str) -> bool:
    """Report whether a part of a Document is of that kind."""
    return type(part).__name__ == kind


def _visible(value: Any) -> Any:
    """Text with its control and format characters shown; markup is our own."""
    return safe(value) if type(value) is str else value


def _as_markup(text: str) -> Markup:
    from markupsafe import Markup

    return Markup(text)  # noqa: S704 - our own file


def _snippet(said: Snippet) -> Markup:
    """Return a line of a file with its mark, line by line."""
    from kubectl_sched.render.writers.snippet_lines import snippet_lines

    return _in_lines("\n".join(snippet_lines(said, _SNIPPET_WIDTH)))


def _in_lines(text: str) -> Markup:
    """Text that keeps its lines, as a command may have several."""
    from markupsafe import Markup, escape

    return Markup("\n").join(escape(safe(line)) for line in text.split("\n"))


def _breakable(name: str) -> Markup:
    """The name of a plugin, which may break between its words."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join(escape(safe(part)) for part in _WORDS_OF_A_NAME.split(name))


def _with_breakable_paths(text: str) -> Markup:
    """Text whose names may break after their slashes."""
    from markupsafe import Markup, escape

    return Markup("/<wbr>").join(escape(safe(part)) for part in text.split("/"))


_ESCAPES = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"})
"""Characters that could end a script element or a line of JavaScript. Inside JSON they stand only in strings."""


def as_json(data: Any) -> Markup:
    """The data as JSON that may stand in a `<script type="application/json">`."""
    return Markup(msgspec.json.encode(data).decode().translate(_ESCAPES))  # noqa: S704 - nothing in it ends the element


def source_hash(text: str) -> str:
    """Return the hash by which a Content-Security-Policy allows an inline script or style sheet of this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
