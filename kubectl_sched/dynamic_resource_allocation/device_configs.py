"""The configurations for the drivers of allocated devices (structured/internal/*/allocator_*.go, "Populate configs").

Nothing of it matters to where a pod fits, and it may be confidential, so that our objects do not hold it: these
functions work on objects as the API server gives them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_sched.config.allocator_versions import DeviceRules
    from kubectl_sched.framework.reserved_object import DevicesOfClass

    JSON = Mapping[str, Any]


def device_configs(
    claim: JSON, classes: Mapping[str, JSON], chosen: Sequence[DevicesOfClass], rules: DeviceRules
) -> list[dict[str, Any]]:
    """`status.allocation.devices.config` of a claim: what its classes say, then what itself says.

    `claim` is the ResourceClaim, `classes` are the DeviceClasses by name, `chosen` has one entry for each of the
    claim's requests, in order. A class that is gone says nothing.
    """
    requests = [str(request["name"]) for request in _devices(claim).get("requests") or ()]
    of_classes = _for_each_request if rules.class_configs_are_repeated else _of_classes
    is_merged = rules.configs_are_merged
    configs = [*of_classes(classes, chosen), *_of_claim(_devices(claim), requests, chosen, is_repeated=not is_merged)]
    if is_merged:
        names = [{request, one.request} for request, one in zip(requests, chosen, strict=False)]
        for config in configs:
            if all(any(name in config.get("requests", ()) for name in either) for either in names):
                config.pop("requests", None)
    return configs


def _devices(claim: JSON) -> JSON:
    devices: JSON = (claim.get("spec") or {}).get("devices") or {}
    return devices


def _for_each_request(classes: Mapping[str, JSON], chosen: Sequence[DevicesOfClass]) -> Iterator[dict[str, Any]]:
    for one in chosen:
        spec = (classes.get(one.class_name) or {}).get("spec") or {}
        yield from ({"source": "FromClass", **config} for config in spec.get("config") or ())


def _of_classes(classes: Mapping[str, JSON], chosen: Sequence[DevicesOfClass]) -> Iterator[dict[str, Any]]:
    """Each class once, for all requests that got devices of it."""
    for name in dict.fromkeys(one.class_name for one in chosen):
        spec = (classes.get(name) or {}).get("spec") or {}
        for config in spec.get("config") or ():
            yield {
                "source": "FromClass",
                "requests": [one.request for one in chosen if one.class_name == name],
                **config,
            }


def _of_claim(
    devices: JSON, requests: Sequence[str], chosen: Sequence[DevicesOfClass], *, is_repeated: bool
) -> Iterator[dict[str, Any]]:
    """Yield the configurations for all requests, one of them, or the chosen alternative; up to 1.36 once for each."""
    for config in devices.get("config") or ():
        meant = config.get("requests") or ()
        source = {"source": "FromClaim", **config}
        if not meant:
            yield source
            continue
        of_these = [name for name, one in zip(requests, chosen, strict=False) if {name, one.request} & set(meant)]
        yield from (dict(source) for _ in (of_these if is_repeated else of_these[:1]))
