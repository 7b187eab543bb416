"""Reads what a person types into the what-if pane, in kubectl's own spellings."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from kubectl_sched.api.affinity import Toleration
from kubectl_sched.api.apimachinery.int64 import parse_int64
from kubectl_sched.api.apimachinery.quantity import InvalidQuantity, parse_quantity
from kubectl_sched.api.apimachinery.validation import label_key_errors, label_value_errors
from kubectl_sched.api.component_helpers.resource_names import PODS, is_scalar_resource_name
from kubectl_sched.api.component_helpers.taints import EFFECTS
from kubectl_sched.errors import SchedError
from kubectl_sched.record import Record
from kubectl_sched.sources.pod_selection import NODE_WORDS, POD_WORDS
from kubectl_sched.suggestions.weight_margins import MAX_WEIGHT, MIN_WEIGHT
from kubectl_sched.tui.edits import EditNodes, LabelPod, Request, Select, Tolerate, Untolerate, Weigh

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kubectl_sched.tui.edits import Edit

FORMS = {
    "tolerate": "tolerate KEY[=VALUE][:EFFECT], or KEY[:EFFECT]-",
    "request": "request [CONTAINER] cpu=500m, or cpu-",
    "label": "label [node NODE|pod] KEY=VALUE, or KEY-",
    "select": "select KEY=VALUE, or KEY-",
    "taint": "taint [NODE] KEY[=VALUE]:EFFECT, or KEY[:EFFECT]-",
    "cordon": "cordon [NODE]",
    "uncordon": "uncordon [NODE]",
    "weight": "weight PLUGIN=N",
}
"""The forms of an entry, by its first word. NODE is a name, a pattern or a selector in parentheses."""

_BASIC_RESOURCES = ("cpu", "memory", "ephemeral-storage")


class Context(Record, frozen=True, kw_only=True):
    """The names that an entry may leave out or get nearly right: the node under the cursor, and those there are."""

    node: str
    plugins: tuple[str, ...]
    resources: tuple[str, ...]


def parse(entry: str, context: Context) -> tuple[Edit, ...]:
    """The edits that an entry asks for. Raises SchedError that says how to write it."""
    words = entry.split()
    if words[:1] == ["kubectl"]:
        words = [word for word in words[1:] if word != "--overwrite"]  # an edit overwrites anyway
    verb, rest = (words[0].lower(), words[1:]) if words else ("", [])
    if verb not in FORMS:
        raise SchedError(f"{'start with one of' if not verb else f'{verb} is none of'} {', '.join(FORMS)}")
    edits = _READERS[verb](rest, context)
    if not edits:
        raise SchedError(f"write {FORMS[verb]}")
    return tuple(edits)


def _tolerate(words: Sequence[str], _: Context) -> list[Edit]:
    return [_toleration(word) for word in words]


def _toleration(word: str) -> Edit:
    pair, _, effect = word.removesuffix("-").partition(":")
    key, equals, value = pair.partition("=")
    if effect and effect not in EFFECTS:
        raise SchedError(f"{word}: the effect is one of {', '.join(EFFECTS)}")
    _check_label(key, value, word)
    if word.endswith("-"):
        return Untolerate(key=key, effect=effect)
    return Tolerate(
        toleration=Toleration(key=key, operator="Equal" if equals else "Exists", value=value, effect=effect)
    )


def _request(words: Sequence[str], context: Context) -> list[Edit]:
    container = words[0] if len(words) > 1 and "=" not in words[0] and not words[0].endswith("-") else ""
    amounts = [each for word in words[1 if container else 0 :] for each in word.split(",") if each]
    return [_one_request(each, container, context) for each in amounts]


def _one_request(word: str, container: str, context: Context) -> Edit:
    resource, equals, quantity = word.partition("=")
    if not equals and not word.endswith("-"):
        raise SchedError(f"{word}: write {FORMS['request']}")
    resource = resource if equals else word[:-1]
    known = sorted({*_BASIC_RESOURCES, *context.resources} - {PODS})
    if resource not in known and not is_scalar_resource_name(resource):
        raise SchedError(f"{resource} is no resource{_near(resource, known)}")
    if not equals:
        return Request(resource=resource, quantity=None, container=container)
    try:
        negative = parse_quantity(quantity).value() < 0
    except InvalidQuantity:
        raise SchedError(f"{word}: {quantity or 'nothing'} is no quantity; write one such as 500m, 2 or 1Gi") from None
    if negative:
        raise SchedError(f"{word}: a request is not negative")
    return Request(resource=resource, quantity=quantity, container=container)


def _label(words: Sequence[str], context: Context) -> list[Edit]:
    """Of the pod, unless a node is named; kubectl's `label pods NAME` names the pod that is looked at anyway."""
    if words and words[0] in NODE_WORDS:
        where, changes = _nodes_and_changes(words[1:], context)
        return [EditNodes(verb="label", nodes=where, change=_checked_label(word)) for word in changes]
    if words and words[0] in POD_WORDS:
        words = words[1:] if len(words) < 2 or _is_change(words[1]) else words[2:]
    return [LabelPod(key=key, value=value) for key, value in (_key_and_value(word, "label") for word in words)]


def _select(words: Sequence[str], _: Context) -> list[Edit]:
    return [Select(key=key, value=value) for key, value in (_key_and_value(word, "select") for word in words)]


def _taint(words: Sequence[str], context: Context) -> list[Edit]:
    if words and words[0] in NODE_WORDS:
        words = words[1:]
    where, changes = _nodes_and_changes(words, context)
    for word in changes:
        pair, _, effect = word.removesuffix("-").partition(":")
        key, _, value = pair.partition("=")
        _check_label(key, value, word)
        if effect not in EFFECTS and not (word.endswith("-") and not effect):
            raise SchedError(f"{word}: the effect is one of {', '.join(EFFECTS)}")
    return [EditNodes(verb="taint", nodes=where, change=word) for word in changes]


def _of_nodes(verb: str) -> Callable[[Sequence[str], Context], list[Edit]]:
    def read(words: Sequence[str], context: Context) -> list[Edit]:
        if words and words[0] in NODE_WORDS:
            words = words[1:]
        return [EditNodes(verb=verb, nodes=word) for word in words or [context.node]]

    return read


def _weight(words: Sequence[str], context: Context) -> list[Edit]:
    edits: list[Edit] = []
    for word in words:
        name, _, number = word.partition("=")
        weight = parse_int64(number)
        if weight is None or not MIN_WEIGHT <= weight <= MAX_WEIGHT:
            raise SchedError(f"{word}: a weight is a whole number from {MIN_WEIGHT} to {MAX_WEIGHT}")
        edits.append(Weigh(plugin=_plugin(name, context.plugins), weight=weight))
    return edits


def _plugin(name: str, plugins: Sequence[str]) -> str:
    """A plugin by its name, or by an end of it that no other has: `fit` for NodeResourcesFit."""
    ends = [each for each in plugins if each.lower().endswith(name.lower())]
    exact = [each for each in plugins if each.lower() == name.lower()]
    found = exact or ends
    if len(found) == 1 and name:
        return found[0]
    raise SchedError(f"{name or 'nothing'} is no score plugin of this profile{_near(name, plugins)}")


def _nodes_and_changes(words: Sequence[str], context: Context) -> tuple[str, Sequence[str]]:
    """NODE and what follows it; without NODE the one under the cursor."""
    if words and not _is_change(words[0]):
        return words[0], words[1:]
    return context.node, words


def _is_change(word: str) -> bool:
    return not word.startswith("(") and ("=" in word or ":" in word or word.endswith("-"))


def _checked_label(word: str) -> str:
    _key_and_value(word, "label")
    return word


def _key_and_value(word: str, verb: str) -> tuple[str, str | None]:
    key, equals, value = word.partition("=")
    if not equals:
        if not word.endswith("-"):
            raise SchedError(f"{word}: write {FORMS[verb]}")
        key = word[:-1]
    _check_label(key, value, word)
    return key, value if equals else None


def _check_label(key: str, value: str, word: str) -> None:
    for name, problems in ((key, label_key_errors(key)), (value, label_value_errors(value))):
        if problems:
            raise SchedError(f"{word}: {name or 'an empty key'}: {problems[0]}")


def _near(name: str, names: Sequence[str]) -> str:
    near = [each for each in names if name and name.lower() in each.lower()] or get_close_matches(name, names, n=3)
    near = near or list(names)
    return f"; there is {', '.join(near)}" if near else ""


_READERS: Mapping[str, Callable[[Sequence[str], Context], list[Edit]]] = {
    "tolerate": _tolerate,
    "request": _request,
    "label": _label,
    "select": _select,
    "taint": _taint,
    "cordon": _of_nodes("cordon"),
    "uncordon": _of_nodes("uncordon"),
    "weight": _weight,
}
