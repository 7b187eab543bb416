"""The fields of objects that hold names, labels, images and messages, and what they hold under pseudonyms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from msgspec import structs

from kubectl_sched.api.karpenter import is_price
from kubectl_sched.api.kueue import TopologyLevelValues, TopologyValueTexts
from kubectl_sched.api.resource import DEVICE_CLASS_RESOURCE_PREFIX
from kubectl_sched.sources.discovery.scheduler_flags import kept_flags
from kubectl_sched.sources.export.anonymized_expressions import expression_under_pseudonyms
from kubectl_sched.sources.export.exported_fields import sections
from kubectl_sched.sources.export.pseudonyms import Pseudonyms

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.api.affinity import NodeSelectorRequirement

Change: TypeAlias = "Callable[[Pseudonyms, Any], Any]"
"""From what a field holds, which is never empty, to what it holds instead."""


_PATH_FLAGS: Final = frozenset({"--config", "--policy-config-file", "--scheduler-config-file"})
_NAMING_FLAGS: Final = frozenset(
    {
        "--leader-elect-resource-name",
        "--leader-elect-resource-namespace",
        "--lock-object-name",
        "--lock-object-namespace",
        "--policy-configmap",
        "--policy-configmap-namespace",
    }
)
_KEPT_PARTS: Final = frozenset({"", "etc", "kubernetes", "static-pod-resources", "configmaps"})
"""Directories by which the files of OpenShift's operator are known."""


def _each(change: Callable[[Pseudonyms, str], str]) -> Change:
    """Return the change that changes each of several texts."""
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
    return {_resource(new, name): kept_words(new, amount) for name, amount in amounts.items()}


def _resource(new: Pseudonyms, name: str) -> str:
    """A resource keeps its name, unless it is that of a DeviceClass."""
    prefix = DEVICE_CLASS_RESOURCE_PREFIX
    return f"{prefix}{new.name(name.removeprefix(prefix))}" if name.startswith(prefix) else kept_word(new, name)


def kept_word(new: Pseudonyms, text: str) -> str:
    """A word of Kubernetes, a driver or a cloud stays; a path, or what has blanks, is none."""
    return new.whole(text) if text.startswith("/") or not text.isprintable() or " " in text else text


def kept_words(new: Pseudonyms, value: Any) -> Any:
    """Return such words, or several; Structs among them are left as they are."""
    if isinstance(value, str):
        return kept_word(new, value)
    if isinstance(value, tuple):
        return tuple(kept_words(new, each) for each in value)
    return (
        {kept_word(new, key): kept_words(new, each) for key, each in value.items()}
        if isinstance(value, dict)
        else value
    )


def _match_fields(new: Pseudonyms, fields: tuple[NodeSelectorRequirement, ...]) -> tuple[Any, ...]:
    """The only field is metadata.name."""
    return tuple(
        structs.replace(
            each, key=new.key(each.key), operator=kept_word(new, each.operator), values=new.names(each.values)
        )
        for each in fields
    )


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
    return {new.name(name): kept_words(new, time) for name, time in times.items()}


def _names_in(new: Pseudonyms, names: dict[str, str]) -> dict[str, str]:
    return {kept_word(new, key): new.name(name) for key, name in names.items()}


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
    return tuple(_flag(new, each) for each in kept_flags(command))


def _flag(new: Pseudonyms, flag: str) -> str:
    name, equals, value = flag.partition("=")
    if name.endswith(("-taint", "-taint-prefix")):
        return f"{name}{equals}{new.key(value)}"
    if name in _NAMING_FLAGS:
        return f"{name}{equals}{new.name(value)}"
    return f"{name}{equals}{path_under_pseudonyms(new, value)}" if name in _PATH_FLAGS else flag


def path_under_pseudonyms(new: Pseudonyms, path: str) -> str:
    """A path under pseudonyms; its parts stay those that ConfigMaps and their keys have as names."""
    return "/".join(
        part if part in _KEPT_PARTS else ".".join(map(new.name, part.split("."))) for part in path.split("/")
    )


def _some_path(_: Pseudonyms, __: str) -> str:
    return "/"


TREATMENTS: Final[dict[str, Change]] = {
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
    "host path": _some_path,
    "path": path_under_pseudonyms,
    "whole": Pseudonyms.whole,
    "message": _gone,
    "kept": kept_words,
    "word": kept_word,
    "never": lambda *_: (),
    "lease holder": _holder,
    "match fields": _match_fields,
    "finalizers": _finalizers,
    "names as keys": _names_as_keys,
    "device text": Pseudonyms.device_text,
    "device texts": _each(Pseudonyms.device_text),
    "expression": expression_under_pseudonyms,
}
"""The treatments, by the headings of the table."""


NAMING_FIELDS: Final = {
    entry: change for section, change in TREATMENTS.items() for entry in sections().get(section, ())
}
"""The treatment of each field that may change, by the name of its type and its own."""
