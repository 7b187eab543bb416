"""Regular expressions as Go's regexp accepts and matches them, in time linear in the text.

RE2 has the same syntax but for what `_translated` sees to.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from kubectl_sched.dynamic_resource_allocation.cel.cost import METER
from kubectl_sched.dynamic_resource_allocation.cel.values import CelError

if TYPE_CHECKING:
    from collections.abc import Iterator

_MEMORY = 1 << 26
_NESTED_AT_MOST = 1000
_REPEATED_AT_MOST = 1000
_GO_TEXTS = {
    "missing ]": "missing closing ]",
    "missing )": "missing closing )",
    "trailing \\": "trailing backslash at end of expression",
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid repetition size": "invalid repeat count",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
}
_ASSIGNED = r"\pL\pM\pN\pP\pS\pZ\pC"
_CLASSES = {"Ascii": r"\x{0}-\x{7F}", "Assigned": _ASSIGNED, "Lc": r"\p{Lu}\p{Ll}\p{Lt}"}
_ALIASES = {
    name.replace("_", "").capitalize(): short
    for short, names in {
        "C": "Other", "Cc": "Control cntrl", "Cf": "Format", "Co": "Private_Use", "Cs": "Surrogate", "L": "Letter",
        "Ll": "Lowercase_Letter", "Lm": "Modifier_Letter", "Lo": "Other_Letter", "Lt": "Titlecase_Letter",
        "Lu": "Uppercase_Letter", "M": "Mark Combining_Mark", "Mc": "Spacing_Mark", "Me": "Enclosing_Mark",
        "Mn": "Nonspacing_Mark", "N": "Number", "Nd": "Decimal_Number digit", "Nl": "Letter_Number",
        "No": "Other_Number", "P": "Punctuation punct", "Pc": "Connector_Punctuation", "Pd": "Dash_Punctuation",
        "Pe": "Close_Punctuation", "Pf": "Final_Punctuation", "Pi": "Initial_Punctuation", "Po": "Other_Punctuation",
        "Ps": "Open_Punctuation", "S": "Symbol", "Sc": "Currency_Symbol", "Sk": "Modifier_Symbol",
        "Sm": "Math_Symbol", "So": "Other_Symbol", "Z": "Separator", "Zl": "Line_Separator",
        "Zp": "Paragraph_Separator", "Zs": "Space_Separator", "Lc": "Cased_Letter", "Cn": "Unassigned",
    }.items()
    for name in names.split()
}  # fmt: skip
_PROPERTY = r"(?P<property>\\[pP](?:\{[^}]*\}|[^{]))|(?P<escape>\\.)"
_OUTSIDE = re.compile(
    r"(?P<literal>\\Q.*?(?:\\E|\Z))|" + _PROPERTY + r"|(?P<class>\[\^?\]?)|(?P<named>\(\?P?<(?P<name>[^>=!]*)>)"
    r"|(?P<repeat>\{(?P<counts>[0-9]+(?:,[0-9]*)?)\})|(?P<rest>.)",
    re.DOTALL,
)
_INSIDE = re.compile(_PROPERTY + r"|(?P<posix>\[:\^?[a-z]+:\])|(?P<end>\])|(?P<rest>.)", re.DOTALL)


def matches(text: str, pattern: str) -> bool:
    """Return whether the pattern matches anywhere in the text; raises CelError."""
    return regex(pattern).search(text.encode("utf-8", "replace")) is not None


def find_all(text: str, pattern: str, limit: int) -> Iterator[str]:
    """Yield non-overlapping matches, at most `limit` of them unless it is negative; raises CelError.

    An empty match right after another match does not count (regexp.allMatches).
    """
    compiled, coded = regex(pattern), text.encode("utf-8", "replace")
    at, last, found = 0, -1, 0
    while at <= len(coded) and found != limit:
        METER.get().work(1 + (len(coded) - at) // 64)
        match = compiled.search(coded, at)
        if match is None:
            return
        start, end = match.span()
        if end > at or start != last:
            found += 1
            yield coded[start:end].decode()
        at = end if end > at else at + _width(coded, at)
        last = end


def _width(coded: bytes, at: int) -> int:
    """Return the length of the code point at an offset."""
    end = at + 1
    while end < len(coded) and coded[end] & 0xC0 == 0x80:
        end += 1
    return end - at


def regex(pattern: str) -> Any:
    """Return the compiled pattern; raises CelError in Go's words."""
    meter = METER.get()
    compiled = _compiled(pattern)
    if isinstance(compiled, str):
        raise CelError(f"error parsing regexp: {compiled}")
    if pattern not in meter.patterns:
        meter.patterns.add(pattern)
        meter.work(compiled.programsize * 8)
    return compiled


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Any:
    """Return the compiled pattern, or Go's text of what is wrong with it."""
    try:
        return _re2(_translated(pattern))
    except _RefusedError as wrong:
        return str(wrong)
    except ValueError as wrong:
        code, _, part = str(wrong).partition(": ")
        if code.startswith("pattern too large"):
            return f"expression too large: `{pattern}`"
        counts = re.search(r"\{([0-9]+)(?:,([0-9]*))?\}\Z", part)
        if code == "bad repetition operator" and counts is not None and _is_refused_count(counts):
            return f"invalid repeat count: `{counts[0]}`"
        return f"{_GO_TEXTS.get(code, code)}: `{part}`"


def _re2(pattern: str) -> Any:
    """Return the compiled pattern; raises ValueError."""
    import re2

    options = re2.Options()
    options.log_errors, options.max_mem = False, _MEMORY
    try:
        return re2.compile(pattern.encode("utf-8", "replace"), options)
    except re2.error as wrong:
        raise ValueError(wrong.args[0].decode("utf-8", "replace")) from wrong


def _is_refused_count(counts: re.Match[str]) -> bool:
    least, most = int(counts[1]), int(counts[2] or counts[1])
    return max(least, most) > _REPEATED_AT_MOST or most < least


class _RefusedError(Exception):
    """Go refuses the pattern; the text is Go's."""


def _translated(pattern: str) -> str:
    """Return the pattern as RE2 takes it; raises _RefusedError where Go alone refuses it."""
    pieces: list[str] = []
    at, depth, in_class = 0, 0, False
    while at < len(pattern):
        piece = (_INSIDE if in_class else _OUTSIDE).match(pattern, at) or _LAST.match(pattern, at)
        assert piece is not None  # noqa: S101 - the last alternative matches anything
        kind, text, at = piece.lastgroup, piece[0], piece.end()
        if kind == "property":
            text = _property(text, in_class)
        elif in_class:
            in_class = kind != "end"
        else:
            in_class = kind == "class"
            depth += (text == "(" or kind == "named") - (text == ")")
            _refuse(piece, pattern, depth)
        pieces.append(text)
    return "".join(pieces)


_LAST = re.compile(".", re.DOTALL)


def _refuse(piece: re.Match[str], pattern: str, depth: int) -> None:
    """Raise _RefusedError for a piece outside of classes that RE2 would take."""
    if piece[0] == r"\C":
        raise _RefusedError(r"invalid escape sequence: `\C`")
    if piece["named"] and not re.fullmatch("[0-9A-Za-z_]+", piece["name"]):
        raise _RefusedError(f"invalid named capture: `{piece[0]}`")
    if piece["repeat"] and any(len(count) > 8 and count[0] != "0" for count in piece["counts"].split(",")):
        raise _RefusedError(f"invalid repeat count: `{piece[0]}`")
    if depth >= _NESTED_AT_MOST:
        raise _RefusedError(f"expression nests too deeply: `{pattern}`")


def _property(text: str, in_class: bool) -> str:
    r"""Return `\p{Name}` with the name that RE2 knows: Go ignores case, underscores, hyphens and spaces in it."""
    name = text[2:].removeprefix("{").removesuffix("}")
    is_negated = (text[1] == "P") != name.startswith("^")
    name = re.sub("[ _-]", "", name.removeprefix("^")).capitalize()
    name = _ALIASES.get(name, name)
    if name == "Cn":
        name, is_negated = "Assigned", not is_negated
    if name not in _CLASSES:
        known = rf"\{'P' if is_negated else 'p'}{{{name}}}"
        if not _is_known(known):
            raise _RefusedError(f"invalid character class range: `{text}`")
        return text if _is_known(text) else known
    if not in_class:
        return f"[{'^' if is_negated else ''}{_CLASSES[name]}]"
    return _complement(_CLASSES[name]) if is_negated else _CLASSES[name]


@cache
def _is_known(text: str) -> bool:
    try:
        _re2(text)
    except ValueError:
        return False
    return True


@cache
def _complement(members: str) -> str:
    """Return the ranges of a class that hold all code points but the members."""
    every = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000)))).encode()
    runs = (match[0].decode() for match in _re2(f"[^{members}]+").finditer(every))
    return "".join(rf"\x{{{ord(run[0]):X}}}-\x{{{ord(run[-1]):X}}}" for run in runs)
