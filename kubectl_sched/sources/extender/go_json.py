"""The first JSON value of an answer, as Go's decoder takes it: whatever follows is left unread."""

from __future__ import annotations

import json
from typing import Any, NoReturn


class GoJSONError(ValueError):
    """No JSON; the text says where it stops being JSON."""


def first_value(data: bytes) -> Any:
    """Return the value that the data begins with, whatever follows; raise GoJSONError."""
    text = data.decode(errors="replace").lstrip(" \t\r\n")
    try:
        return json.JSONDecoder(parse_constant=_refuse).raw_decode(text)[0]
    except RecursionError:
        raise GoJSONError("its answer is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise GoJSONError(_problem(text, error.pos)) from None
    except ValueError:
        raise GoJSONError("its answer is no JSON: it holds a number that JSON does not have") from None


def _problem(text: str, position: int) -> str:
    if not text:
        return "its answer is empty"
    return f"its answer is no JSON from character {position + 1} on"


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
