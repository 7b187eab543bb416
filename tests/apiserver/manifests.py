"""Objects and lists as people dump them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kubectl_sched.sources import Dump


def obj(kind: str, name: str, namespace: str = "", api_version: str = "v1", **more: Any) -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **more.pop("metadata", {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **more}


def listing(*items: dict[str, Any], kind: str = "List", api_version: str = "v1") -> dict[str, Any]:
    return {"apiVersion": api_version, "items": list(items), "kind": kind, "metadata": {"resourceVersion": ""}}


def without_kind(item: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in item.items() if key not in {"apiVersion", "kind"}}


def keys(dump: Dump) -> list[str]:
    return [f"{type(item).__name__} {item.key}" for item in dump.objects]


NODE = obj("Node", "n1")
POD = obj("Pod", "web-0", "shop", spec={"nodeName": "n1", "containers": [{"name": "c"}]})
