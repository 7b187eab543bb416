"""A KubeSchedulerConfiguration with what decides, and without comments, connections and credentials."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import fields

from kubectl_sched.config.types import KubeSchedulerConfiguration
from kubectl_sched.errors import SchedError
from kubectl_sched.plugins import REGISTRY
from kubectl_sched.sources.discovery.scheduler_configurations import parsed
from kubectl_sched.sources.export.credential_patterns import names_a_credential, without_credentials

UNREADABLE: Final = (
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    '"a text that is no YAML, and is left out\n'
)
"""Stands for a text that cannot be read, which is as unreadable."""

_HIDDEN: Final = "***"
_TYPE_META: Final = frozenset({"apiversion", "kind"})
_CONNECTIONS: Final = frozenset({"clientConnection", "tlsConfig"})


@cache
def _known_fields() -> frozenset[str]:
    return frozenset(field.encode_name for field in fields(KubeSchedulerConfiguration))


def kept_text(text: str) -> str:
    """Return the text of a configuration as JSON."""
    try:
        document = parsed(text, "a configuration")
    except SchedError:
        return UNREADABLE
    return msgspec.json.encode(kept_document(document), order="deterministic").decode()


def kept_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration as a replay needs it.

    Arguments stay for the plugins that are replayed, and of an extender's address what does not speak for anybody. An
    unknown field stays without its value, as kube-scheduler refuses it.
    """
    kept: dict[str, Any] = {
        key: _kept(value) if key in _known_fields() or str(key).lower() in _TYPE_META else None
        for key, value in document.items()
        if key not in _CONNECTIONS
    }
    if isinstance(kept.get("extenders"), list):
        kept["extenders"] = [_extender(each) for each in kept["extenders"]]
    if isinstance(kept.get("profiles"), list):
        kept["profiles"] = [_profile(each) for each in kept["profiles"]]
    return kept


def _kept(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            key: _HIDDEN if isinstance(each, str) and names_a_credential(str(key)) else _kept(each)
            for key, each in value.items()
        }
    if isinstance(value, list):
        return [_kept(each) for each in value]
    return without_credentials(value) if isinstance(value, str) else value


def _extender(extender: Any) -> Any:
    if not isinstance(extender, dict):
        return extender
    kept = {key: value for key, value in extender.items() if key not in _CONNECTIONS}
    if isinstance(kept.get("urlPrefix"), str):
        kept["urlPrefix"] = _without_query(kept["urlPrefix"])
    return kept


def _without_query(url: str) -> str:
    try:
        parts = urlsplit(url)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
    except ValueError:
        return ""


def _profile(profile: Any) -> Any:
    configs = profile.get("pluginConfig") if isinstance(profile, dict) else None
    if not isinstance(configs, list):
        return profile
    return {**profile, "pluginConfig": [_plugin_config(each) for each in configs]}


def _plugin_config(config: Any) -> Any:
    if not isinstance(config, dict) or str(config.get("name")) in REGISTRY:
        return config
    return {key: value for key, value in config.items() if key != "args"}
