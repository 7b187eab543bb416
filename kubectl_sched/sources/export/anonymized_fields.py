"""The fields of objects that hold names, labels, images and messages, and what they hold under pseudonyms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from msgspec import structs

from kubectl_sched.api.karpenter import is_price
from kubectl_sched.api.kueue import TopologyLevelValues, TopologyValueTexts
from kubectl_sched.api.resource import DEVICE_CLASS_RESOURCE_PREFIX
from kubectl_sched.sources.export.pseudonyms import Pseudonyms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_sched.api.affinity import NodeSelectorRequirement

_TABLE: Final = Path(__file__).with_name("anonymized_fields.txt")

Change: TypeAlias = "Callable[[Pseudonyms, Any], Any]"
"""From what a field holds, which is never empty, to what it holds instead."""


def _each(change: Callable[[Pseudonyms, str], str]) -> Change:
    """The same for several texts."""
    return lambda new, texts: tuple(change(new, text) for text in texts)


def _labels(new: Pseudonyms, labels: dict[str, str]) -> dict[str, str]:
    return {new.key(key): new.value(value) for key, value in labels.items()}


def _gone(_: Pseudonyms, __: str) -> str:
    return ""


def _number(_: Pseudonyms, text: str) -> str:
    return text if text.isdecimal() else ""


def _price(_: Pseudonyms, text: str) -> str:
    return text if is_price(text) else ""


def _resources(new: Pseudonyms, amounts: dict[str, Any]) -> dict[str, Any]:
    """Resources keep their names, except those that are a DeviceClass's."""
    prefix = DEVICE_CLASS_RESOURCE_PREFIX
    if not any(name.startswith(prefix) for name in amounts):
        return amounts
    return {
        f"{prefix}{new.name(name.removeprefix(prefix))}" if name.startswith(prefix) else name: amount
        for name, amount in amounts.items()
    }


def _resource(new: Pseudonyms, name: str) -> str:
    return next(iter(_resources(new, {name: 0})))


def _match_fields(new: Pseudonyms, fields: tuple[NodeSelectorRequirement, ...]) -> tuple[Any, ...]:
    """The only field is metadata.name."""
    return tuple(structs.replace(each, values=new.names(each.values)) for each in fields)


def _finalizers(_: Pseudonyms, finalizers: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(each for each in finalizers if each.partition("/")[0].endswith("kubernetes.io"))


def _selector_text(new: Pseudonyms, text: str) -> str:
    """`key=value,key=value`, as an annotation of a namespace has it."""
    pairs = (pair.partition("=") for pair in text.split(","))
    return ",".join(f"{new.key(key.strip())}{sign}{new.value(value.strip())}" for key, sign, value in pairs)


def _holder(new: Pseudonyms, holder: str) -> str:
    host, line, own = holder.rpartition("_")
    return f"{new.name(host)}{line}{own}" if line else new.name(holder)


def _names_as_keys(new: Pseudonyms, times: dict[str, Any]) -> dict[str, Any]:
    return {new.name(name): time for name, time in times.items()}


def _names_in(new: Pseudonyms, names: dict[str, str]) -> dict[str, str]:
    return {key: new.name(name) for key, name in names.items()}


def _level_values(new: Pseudonyms, levels: tuple[TopologyLevelValues, ...]) -> tuple[TopologyLevelValues, ...]:
    """Each value as a whole: a common beginning says nothing under pseudonyms."""
    return tuple(
        TopologyLevelValues(
            universal=new.value(each.universal) if each.universal is not None else None,
            individual=TopologyValueTexts(
                roots=tuple(new.value(each.value(index)) for index in range(len(each.individual.roots)))
                if each.universal is None
                else ()
            ),
        )
        for each in levels
    )


def _flags(new: Pseudonyms, command: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_flag(new, each) for each in command)


def _flag(new: Pseudonyms, flag: str) -> str:
    name, equals, value = flag.partition("=")
    if name.endswith("-taint"):
        return f"{name}{equals}{new.key(value)}"
    return f"{name}{equals}{new.name(value)}" if name.startswith("--leader-elect-resource-name") else flag


def _some_path(_: Pseudonyms, __: str) -> str:
    return "/"


_TREATMENTS: Final[dict[str, Change]] = {
    "name": Pseudonyms.name,
    "names": _each(Pseudonyms.name),
    "labels": _labels,
    "key": Pseudonyms.key,
    "keys": _each(Pseudonyms.key),
    "value": Pseudonyms.value,
    "values": _each(Pseudonyms.value),
    "uid": Pseudonyms.uid,
    "address": Pseudonyms.address,
    "creation time": Pseudonyms.creation_time,
    "image": Pseudonyms.image,
    "left out": _gone,
    "resources": _resources,
    "resource": _resource,
    "selector text": _selector_text,
    "number": _number,
    "price": _price,
    "names as values": _names_in,
    "level values": _level_values,
    "images": _each(Pseudonyms.image),
    "flags": _flags,
    "path": _some_path,
    "lease holder": _holder,
    "match fields": _match_fields,
    "finalizers": _finalizers,
    "names as keys": _names_as_keys,
}
"""The headings of the table."""


def _naming_fields() -> Iterator[tuple[str, Change]]:
    for section in _TABLE.read_text("utf-8").split("\n[")[1:]:
        treatment, *fields = section.split("\n")
        yield from ((field, _TREATMENTS[treatment.removesuffix("]")]) for field in fields if field)


NAMING_FIELDS: Final = dict(_naming_fields())
"""The treatment of each field, by the name of its type and its own."""
