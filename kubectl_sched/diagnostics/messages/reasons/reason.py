"""One reason: how kube-scheduler writes it, what it means, how people get there, and what usually helps."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

ALWAYS = ""
"""The span of a spelling that is the same in every supported minor, and of one that is older than all of them."""

BEFORE = "before 1.22"
"""The span of a spelling that only kube-schedulers older than the supported ones use."""

_PLACE = re.compile(r"<(\.\.\.|[a-z_]+)>")
_BEFORE_NOTHING = " :="
"""Text that may be left over at the end if a spelling lacks its last place."""
_NOT_OF_A_SLUG = re.compile(r"[^a-z0-9 -]")


class Meaning(NamedTuple):
    """The meaning of one text: its plugin, plain words, and what usually helps (empty if nothing need be done)."""

    plugin: str
    says: str
    helps: str = ""
    anchor: str = ""


class Reason(NamedTuple):
    """An entry of docs/reasons.md. The words are ours; the spellings are kube-scheduler's.

    A spelling maps to the minors that use it (`ALWAYS`, or such as `1.24 to 1.33`). `<name>` in it is a place that
    holds anything; `plugin`, `says` and `helps` may repeat what it held as `{name}`. `<...>` is one that none repeats.
    """

    title: str
    plugin: str
    spellings: Mapping[str, str]
    says: str
    how: str
    helps: str
    upstream: str

    @property
    def anchor(self) -> str:
        """The end of a link to it: the anchor that common hosts of Markdown make of its title."""
        return _NOT_OF_A_SLUG.sub("", self.title.lower()).replace(" ", "-")

    def meaning(self, places: Mapping[str, str]) -> Meaning:
        """Return the meaning of a text with these places."""
        known = _Places(places)
        says = self.says.format_map(known).rstrip(_BEFORE_NOTHING)
        return Meaning(self.plugin.format_map(known), says, self.helps.format_map(known), self.anchor)


class _Places(dict[str, str]):
    """A place that this spelling lacks is empty."""

    def __missing__(self, key: str) -> str:
        return ""


def pattern(spelling: str) -> re.Pattern[str]:
    """Return the pattern of a spelling's texts. A double quote may be escaped, as in a copied line of a log."""
    parts: list[str] = []
    end = 0
    for place in _PLACE.finditer(spelling):
        parts += [re.escape(spelling[end : place.start()]), "(.*)" if place[1] == "..." else f"(?P<{place[1]}>.*?)"]
        end = place.end()
    parts.append(re.escape(spelling[end:]))
    return re.compile("".join(parts).replace('"', r'\\?"'), re.DOTALL)
