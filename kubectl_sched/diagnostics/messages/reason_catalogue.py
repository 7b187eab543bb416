"""The reasons that kube-scheduler gives, with explanations for `explain message` and docs/reasons.md.

The table is reasons.json. Its texts were read from the last patch release of each minor: pkg/scheduler and the modules
that it takes reasons from.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from kubectl_sched.api.component_helpers.resource_names import is_extended_resource_name, is_huge_page_resource_name
from kubectl_sched.api.decoders import decoder
from kubectl_sched.diagnostics.taint_owners import is_for_the_system, taint_owner
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

PAGE: Final = "docs/reasons.md"
"""The page that has an entry for each reason, under its anchor."""

SCHEDULER: Final = "kube-scheduler"
_UNNAMED: Final = "OWNER"
_TABLE: Final = Path(__file__).with_name("reasons.json")
PREEMPTION: Final = "preemption: "
"""The prefix of all that DefaultPreemption says."""

LONGEST_REASON: Final = 2_048
"""Characters; an event holds 1,024 bytes. Two places in a text of n characters are looked for in n² steps."""

_PLACE = pattern(r"<(\.\.\.|[a-z_]+)>")
_SEPARATORS = " :="
"""Characters left over at the end if a spelling lacks the place that comes last."""

_AFTER_HEAD = pattern(r'[<"].*', re.DOTALL)
_NOT_OF_A_SLUG = pattern(r"[^a-z0-9 -]")
_NOT_OF_A_WORD = pattern(r"[^A-Za-z0-9]+")


class Meaning(Record, frozen=True, kw_only=True):
    """The explanation of one text: its plugin, its meaning, and the usual remedy (empty if none is needed)."""

    plugin: str
    says: str
    helps: str = ""
    anchor: str = ""
    title: str = ""
    name: str = ""


def _of_taint(key: str) -> tuple[str, str] | None:
    """Return what a taint of this key means, and what helps, where no pod should be made to tolerate it."""
    owner = taint_owner(key)
    if owner is not None:
        return f"the node has taint {key}, set by {owner.sets}", f"it goes {owner.goes}; tolerating it cures nothing"
    if is_for_the_system(key):
        return f"taint {key} keeps the node for the cluster's own pods", "the pod needs room on another node"
    return None


_OF_HUGE_PAGES: Final = (
    "less {} is free than the pod requests; a node offers what was reserved before its kubelet started"
)
_HUGE_PAGES_HELP: Final = (
    "if status.allocatable of the nodes says too little, reserve huge pages there and restart the kubelet; else lower "
    "the request, or remove pods"
)
_OF_DEVICES: Final = "less {} is free than the pod requests, or the node has none: its device plugin reports how many"
_DEVICES_HELP: Final = (
    "if status.capacity of the nodes lacks it, no device plugin reports it; if less is allocatable, the plugin failed; "
    "else lower the request, remove pods, or add such nodes"
)


def _of_resource(name: str) -> tuple[str, str] | None:
    """Return what a shortage of the resource may mean, and what helps, where the node itself has to report it first."""
    if is_huge_page_resource_name(name):
        return _OF_HUGE_PAGES.format(name), _HUGE_PAGES_HELP
    if is_extended_resource_name(name):
        return _OF_DEVICES.format(name), _DEVICES_HELP
    return None


class CatalogueEntry(Record, frozen=True, kw_only=True):
    """An entry of docs/reasons.md, in words of ours: its texts mean one thing, however they are spelt."""

    title: str
    says: str
    how: str
    helps: str
    upstream: str

    @property
    def anchor(self) -> str:
        """The anchor of its heading, as common hosts of Markdown derive it from the title."""
        return anchor_of(self.title)

    @property
    def name(self) -> str:
        """The name by which `message --reason` knows it: the words of the title in one, as `TooManyPods`."""
        return name_of(self.title)


class Reason(CatalogueEntry, frozen=True, kw_only=True):
    """An entry of kube-scheduler's table, whose spellings are to the letter.

    A spelling maps to the minors that use it, such as `1.24 to 1.33`; empty if all supported ones do. `<name>` in it is
    a place that holds anything; `plugin`, `says` and `helps` may repeat its text as `{name}`. Nothing repeats `<...>`.
    """

    component: ClassVar = SCHEDULER
    events: ClassVar = ("FailedScheduling",)
    plugin: str
    spellings: dict[str, str]

    @property
    def texts(self) -> tuple[tuple[str, str], ...]:
        """Each spelling with the minors that use it."""
        return tuple(self.spellings.items())

    def meaning(self, places: Mapping[str, str]) -> Meaning:
        """Explain a text with these places."""
        narrower = _NARROWER.get(self.plugin)
        particular = narrower(places) if narrower is not None else None
        if particular is not None:
            says, helps = particular
            return Meaning(
                plugin=self.plugin, says=says, helps=helps, anchor=self.anchor, title=self.title, name=self.name
            )
        return Meaning(
            plugin=self.plugin.format_map(_Places(places)),
            says=filled_in(self.says, places),
            helps=filled_in(self.helps, places),
            anchor=self.anchor,
            title=self.title,
            name=self.name,
        )


_NARROWER: Final[Mapping[str, Callable[[Mapping[str, str]], tuple[str, str] | None]]] = {
    "TaintToleration": lambda places: _of_taint(places.get("key", "")),
    "NodeResourcesFit": lambda places: _of_resource(places.get("resource", "")),
}
"""By plugin: what a text with these places means in particular, and what helps; None if nothing in particular."""


class _Places(dict[str, str]):
    """A place that this spelling lacks is empty."""

    def __missing__(self, key: str) -> str:
        return ""


def anchor_of(title: str) -> str:
    """Return the anchor of a heading, as common hosts of Markdown derive it."""
    return _NOT_OF_A_SLUG.sub("", title.lower()).replace(" ", "-")


def name_of(title: str) -> str:
    """Return the words of a title in one, as `TooManyPods`."""
    return "".join(f"{word[:1].upper()}{word[1:]}" for word in _NOT_OF_A_WORD.sub(" ", title).split())


def words_of(name: str) -> str:
    """Return a name as it is compared: without its case and what is between its words."""
    return _NOT_OF_A_WORD.sub("", name).casefold()


def filled_in(text: str, places: Mapping[str, str]) -> str:
    """Return the text with its places filled; one that the spelling lacks is empty."""
    return text.format_map(_Places(places)).rstrip(_SEPARATORS)


@cache
def families() -> dict[str, tuple[Reason, ...]]:
    """Read the table: the reasons by heading, in the order of the page."""
    return decoder(dict[str, tuple[Reason, ...]]).decode(_TABLE.read_bytes())


def as_spelt(text: str) -> str:
    """Return `says` or `helps` with each place named as the spellings name it: `<key>`."""
    return text.replace("{", "<").replace("}", ">")


def reason_named(name: str) -> Reason | None:
    """Return the reason of that name, its title or its anchor, in whatever case; None if there is none."""
    wanted = words_of(name)
    return next((each for each in all_reasons() if words_of(each.name) == wanted), None)


def all_reasons() -> Iterator[Reason]:
    """Yield the reasons in the order of the page."""
    for family in families().values():
        yield from family


@cache
def meaning(text: str) -> Meaning | None:
    """Explain a reason; None if it is no text of kube-scheduler's own plugins, or longer than any of them."""
    found = _spelt(text)
    if found is not None:
        return found.reason.meaning(found.match.groupdict())
    said = text.removeprefix(PREEMPTION)
    return meaning(said) if said != text else None


def open_places(text: str) -> tuple[tuple[int, int], ...] | None:
    """Return where a reason has the texts of its places, in order; None if it is no text of kube-scheduler's own."""
    found = _spelt(text)
    return found and tuple(found.match.span(place) for place in range(1, 1 + len(found.match.groups())))


def is_told_by_its_beginning(text: str) -> bool:
    """Report whether a text begins as a reason does; others are told by words that other components say, too."""
    found = _spelt(text)
    return found is not None and not found.spelling.startswith("<")


class _Spelt(NamedTuple):
    spelling: str
    reason: Reason
    match: re.Match[str]


def _spelt(text: str) -> _Spelt | None:
    """Return the most exact spelling that a whole text has; None for a text that is longer than any reason."""
    if len(text) > LONGEST_REASON:
        return None
    for head, spelling, reason in _by_exactness():
        found = _pattern(spelling).fullmatch(text) if text.startswith(head) else None
        if found is not None:
            return _Spelt(spelling, reason, found)
    return None


def link_to(text: str) -> str | None:
    """Return the address of a reason's entry; None if it is no text of kube-scheduler's own plugins.

    As long as the project has no address, there is none either.
    """
    found, pages = meaning(text), _address_of_pages()
    return f"{pages}/{PAGE.removeprefix('docs/')}#{found.anchor}" if found is not None and pages is not None else None


@cache
def _address_of_pages() -> str | None:
    """Return the address of docs/ in pyproject.toml; None if it names nobody yet."""
    from importlib.metadata import metadata

    addresses = dict(each.split(", ", 1) for each in metadata("kubectl-sched").get_all("Project-URL") or ())
    pages = addresses.get("Documentation", _UNNAMED)
    return None if _UNNAMED in pages.split("/") else pages


def begins_a_reason(text: str) -> bool:
    """Report whether a reason may go on where this text ends."""
    beginnings = _sorted_beginnings()
    place = bisect_left(beginnings, text)
    return place < len(beginnings) and beginnings[place].startswith(text)


@cache
def _sorted_beginnings() -> list[str]:
    return sorted((PREEMPTION, *(spelling for spelling, _ in _spellings())))


@cache
def _spellings() -> tuple[tuple[str, Reason], ...]:
    return tuple((each, reason) for reasons in families().values() for reason in reasons for each in reason.spellings)


@cache
def _by_exactness() -> list[tuple[str, str, Reason]]:
    """Return every spelling after its literal head, the most exact first, lest a text is taken for something vaguer.

    Most texts are told apart by their heads, so that few spellings need be compiled.
    """
    spellings = sorted(_spellings(), key=lambda each: _vagueness(each[0]))
    return [(_AFTER_HEAD.sub("", spelling), spelling, reason) for spelling, reason in spellings]


def _vagueness(spelling: str) -> tuple[bool, int, bool, int]:
    """Sort spellings with a literal beginning first, then those with fewer places, then the longest."""
    return spelling.startswith("<"), spelling.count("<...>"), "<" in spelling, -len(spelling)


@cache
def _pattern(spelling: str) -> re.Pattern[str]:
    """Compile a spelling; a double quote may have been escaped, as in a copied line of a log."""
    parts: list[str] = []
    end = 0
    for place in _PLACE.finditer(spelling):
        parts += [re.escape(spelling[end : place.start()]), "(.*)" if place[1] == "..." else f"(?P<{place[1]}>.*?)"]
        end = place.end()
    parts.append(re.escape(spelling[end:]))
    return re.compile("".join(parts).replace('"', r'\\?"'), re.DOTALL)
