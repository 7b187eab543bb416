"""A KubeSchedulerConfiguration inside a ConfigMap, as schedulers in a pod have theirs mounted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from kubectl_sched.errors import SchedError
from kubectl_sched.lazy_pattern import pattern

if TYPE_CHECKING:
    from collections.abc import Callable

_KIND: Final = pattern(r"""["']?kind["']?\s*:\s*["']?KubeSchedulerConfiguration\b""")


def configuration_keys(data: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the keys of a ConfigMap's data whose text is a KubeSchedulerConfiguration."""
    return tuple(key for key, text in data.items() if isinstance(text, str) and _KIND.search(text))


def configuration_in(document: object, parse: Callable[[str], object]) -> object:
    """Return the configuration that a ConfigMap manifest holds, parsed, and any other document as it is.

    Raises SchedError for a ConfigMap that holds none, or several.
    """
    if not isinstance(document, Mapping) or document.get("kind") != "ConfigMap":
        return document
    metadata, data = (value if isinstance(value := document.get(key), Mapping) else {} for key in ("metadata", "data"))
    name = metadata.get("name") or "without a name"
    keys = configuration_keys(data)
    if not keys:
        raise SchedError(
            f"the ConfigMap {name} holds no KubeSchedulerConfiguration; its keys: {', '.join(map(str, data)) or 'none'}"
        )
    if len(keys) > 1:
        raise SchedError(
            f"the ConfigMap {name} holds several KubeSchedulerConfigurations ({', '.join(keys)}): "
            "save the one to replay in a file of its own"
        )
    return parse(data[keys[0]])
