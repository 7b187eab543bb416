"""Safe embedding of data, scripts and style sheets in one page."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import msgspec
from markupsafe import Markup

_ESCAPES = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"})
"""Characters that could end a script element or a line of JavaScript. Inside JSON they stand only in strings."""


def as_json(data: Any) -> Markup:
    """The data as JSON that may stand in a `<script type="application/json">`."""
    return Markup(msgspec.json.encode(data).decode().translate(_ESCAPES))  # noqa: S704 - nothing in it ends the element


def source_hash(text: str) -> str:
    """Return the hash by which a Content-Security-Policy allows an inline script or style sheet of this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
