"""A dump with other names, labels and images in it, which a replay judges just the same."""

from __future__ import annotations

import re
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import structs
from msgspec.structs import replace

from kubectl_sched.api import affinity, storage
from kubectl_sched.api.core import ConfigMap
from kubectl_sched.config.config_map import configuration_keys
from kubectl_sched.config.strict import StrictReader, WrongType
from kubectl_sched.errors import SchedError
from kubectl_sched.sources.discovery.cluster_autoscalers import readable_groups, status_text
from kubectl_sched.sources.discovery.scheduler_configurations import parsed
from kubectl_sched.sources.export.anonymized_fields import (
    NAMING_FIELDS,
    kept_word,
    kept_words,
    path_under_pseudonyms,
)
from kubectl_sched.sources.export.pseudonyms import Pseudonyms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.sources.dump.dump import Dump
    from kubectl_sched.sources.export.anonymized_fields import Change

_UUID = re.compile(r"-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\Z")
_PARTS_OF_GROUPS = frozenset(
    {"compute", "https:", "instanceGroups", "MachineDeployment", "MachinePool", "MachineSet", "projects", "v1",
     "www.googleapis.com", "zones"}
)  # fmt: skip


def anonymized(dump: Dump) -> Dump:
    """Return the dump under pseudonyms; texts that people or programs wrote are gone, cloud disks keep their ids."""
    new = Pseudonyms()
    _mapped(dump, new)
    new.settle()
    return _mapped(dump, new)


def _mapped(dump: Dump, new: Pseudonyms) -> Dump:
    configuration = dump.scheduler_configuration
    return replace(
        dump,
        objects=tuple(_object(new, item) for item in dump.objects),
        warnings=tuple(_notes(new)),
        pods_of=("some namespaces or labels",) if dump.pods_of else (),
        scheduler_configuration=None if configuration is None else _configuration(new, dict(configuration)),
    )


def _notes(new: Pseudonyms) -> Iterator[str]:
    if new.taken_apart:
        used = ", ".join(sorted(new.taken_apart))
        yield f"expressions take texts of devices apart ({used}); under pseudonyms they may select other devices"


def _object(new: Pseudonyms, item: KubernetesObject) -> KubernetesObject:
    changed: KubernetesObject = _struct(new, item)
    if isinstance(item, storage.CSIDriver):  # a driver's name is its object's
        name = kept_word(new, item.metadata.name)
        changed = structs.replace(changed, metadata=structs.replace(changed.metadata, name=name))
    return changed


def _struct(new: Pseudonyms, value: Any) -> Any:
    """The Struct with every field changed that FIELDS names, and those of Structs in it."""
    kind: type[msgspec.Struct] = type(value)
    changes: dict[str, Any] = {}
    for field in kind.__struct_fields__:
        before = getattr(value, field)
        if not before:
            continue
        change = _change(kind, field)
        after = change(new, before) if change is not None else _inside(new, before)
        if change is kept_words:  # Structs under words
            after = _inside(new, after)
        if after is not before:
            changes[field] = after
    return structs.replace(value, **changes) if changes else value


def _inside(new: Pseudonyms, value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        return _struct(new, value)
    if isinstance(value, tuple) and isinstance(value[0], msgspec.Struct):
        return tuple(_struct(new, each) for each in value)
    if isinstance(value, dict) and isinstance(next(iter(value.values()), None), msgspec.Struct):
        return {key: _struct(new, each) for key, each in value.items()}
    return value


@cache
def _change(kind: type[msgspec.Struct], field: str) -> Change | None:
    """Return the entry of FIELDS for a field of that type, or of the type that it derives from."""
    names = (f"{base.__name__}.{field}" for base in kind.__mro__)
    return next((FIELDS[name] for name in names if name in FIELDS), None)


def _data(new: Pseudonyms, data: dict[str, str]) -> dict[str, str]:
    status = ConfigMap(data=data).autoscaler_status
    if status:
        groups = readable_groups(status)
        return {"status": status_text(tuple(replace(each, name=_group_name(new, each.name)) for each in groups))}
    return {path_under_pseudonyms(new, key): _configuration_text(new, data[key]) for key in configuration_keys(data)}


def _group_name(new: Pseudonyms, name: str) -> str:
    """The name of a node group, whose parts stay those that labels and node names have."""
    found = _UUID.search(name)
    base, own = (name[: found.start()], f"-{new.uid(found[1])}") if found else (name, "")
    return "/".join(map(partial(_group_part, new), base.split("/"))) + own


def _group_part(new: Pseudonyms, part: str) -> str:
    return part if part in _PARTS_OF_GROUPS else ".".join(map(new.name, part.split(".")))


def _configuration_text(new: Pseudonyms, text: str) -> str:
    """A configuration as JSON under pseudonyms; one that cannot be read is gone."""
    try:
        document = parsed(text, "a configuration")
    except SchedError:
        return ""
    return msgspec.json.encode(_configuration(new, dict(document)), order="deterministic").decode()


def _configuration(new: Pseudonyms, document: dict[str, Any]) -> dict[str, Any]:
    """Labels are in the arguments of plugins; connections and the addresses of extenders decide nothing."""
    changed = {key: value for key, value in document.items() if key != "clientConnection"}
    election = changed.get("leaderElection")
    if isinstance(election, dict):
        named = {"resourceName", "resourceNamespace"} & election.keys()
        changed["leaderElection"] = {**election, **{key: _text(election[key], new.name) for key in named}}
    profiles = changed.get("profiles")
    if isinstance(profiles, list):
        changed["profiles"] = [_profile(new, each) if isinstance(each, dict) else each for each in profiles]
    extenders = changed.get("extenders")
    if isinstance(extenders, list):
        changed["extenders"] = [_extender(each, f"http://extender-{index}") for index, each in enumerate(extenders)]
    return changed


def _extender(extender: Any, address: str) -> Any:
    if not isinstance(extender, dict):
        return _text(extender, lambda _: address)
    kept = {key: value for key, value in extender.items() if key != "tlsConfig"}
    return {**kept, "urlPrefix": _text(extender.get("urlPrefix", ""), lambda _: address)}


def _text(value: Any, hidden: Callable[[str], str]) -> Any:
    """Hide a text; what is none is refused afterwards as before, though it is empty then."""
    if isinstance(value, str):
        return hidden(value)
    return None if value is None else type(value)()


def _profile(new: Pseudonyms, profile: dict[str, Any]) -> dict[str, Any]:
    configs = profile.get("pluginConfig")
    if not isinstance(configs, list):
        return profile
    return {**profile, "pluginConfig": [_plugin_config(new, each) for each in configs]}


def _plugin_config(new: Pseudonyms, config: Any) -> Any:
    arguments = config.get("args") if isinstance(config, dict) else None
    if not isinstance(arguments, dict):
        return config
    changed = dict(arguments)
    for key, kind in (
        ("addedAffinity", affinity.NodeAffinity),
        ("defaultConstraints", tuple[affinity.TopologySpreadConstraint, ...]),
    ):
        if arguments.get(key):
            changed[key] = _argument(new, arguments[key], kind)
    return {**config, "args": changed}


def _argument(new: Pseudonyms, value: Any, kind: Any) -> Any:
    """An argument under pseudonyms; for one that cannot be read stands a text, which cannot be read either."""
    try:
        return msgspec.to_builtins(_inside(new, StrictReader().read(value, kind)))
    except WrongType:
        return "left out"


FIELDS: dict[str, Change] = {
    **NAMING_FIELDS,
    "ConfigMap.data": _data,
    "SchedulerConfigurationSpec.raw_config": _configuration_text,
}
"""The treatment of each field that may identify the cluster. All others stay."""
