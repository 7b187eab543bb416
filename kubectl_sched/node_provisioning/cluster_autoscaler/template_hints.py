"""The tags by which a node group without nodes tells cluster-autoscaler of its labels, by cloud; template_hints.json.

Facts of cluster-autoscaler's cloudprovider/aws, azure, gce and clusterapi, and their READMEs.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from kubectl_sched.lazy_pattern import pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_sched.api.core import Node

_TABLE: Final = Path(__file__).with_name("template_hints.json")
_NAMES: Final = (
    ("aws", pattern(r"(?:eks|eksctl)-.{1,253}")),
    ("azure", pattern(r"aks-.{1,253}-vmss")),
    ("gce", pattern(r".{1,253}/instanceGroups/.{1,253}")),
    ("clusterapi", pattern(r"Machine(?:Deployment|Set|Pool)/.{1,253}")),
)
"""The clouds by the names that their groups have in the status."""


class TemplateHint(msgspec.Struct, frozen=True):
    """A tag or an annotation that holds a label or a resource; `{key}` stands for its name. Empty if there is none."""

    what: str
    label: str
    taint: str
    resource: str
    also: str
    gpu: str = ""
    """The annotation that holds a number of GPUs; empty where the cloud knows them by the machine's type."""

    knows_disk: bool = True
    """The cloud's template has the ephemeral storage of the machine."""

    @property
    def with_article(self) -> str:
        """The tag or annotation in words: `a tag of its scale set`."""
        return f"an {self.what}" if self.what.startswith("a") else f"a {self.what}"

    def of_label(self, key: str, value: str) -> tuple[str, str]:
        """The tag or annotation of a label, and its value."""
        if "{key}" not in self.label:  # one annotation holds all labels
            return self.label, f"{key}={value}"
        return self._named(self.label, key), value

    def of_taint(self, key: str, value: str, effect: str) -> tuple[str, str]:
        """The tag or annotation of a taint, and its value."""
        if "{key}" not in self.taint:
            return self.taint, f"{key}={value}:{effect}"
        return self._named(self.taint, key), f"{value}:{effect}"

    def of_resource(self, name: str, amount: str) -> tuple[str, str]:
        """The tag or annotation of a resource, and its value; an empty name if the cloud has none."""
        return self._named(self.resource, name), amount

    @staticmethod
    def _named(form: str, key: str) -> str:
        """Fill the form; Azure's tags have no slashes."""
        return form.format(key=key.replace("_", "~2").replace("/", "_") if form.startswith("k8s.io_") else key)


def template_hint(group: str, nodes: Iterable[Node]) -> TemplateHint | None:
    """The hint of a group's cloud; None if it is not known."""
    return _hints().get(cloud_of(group, nodes))


def cloud_of(group: str, nodes: Iterable[Node]) -> str:
    """Return a group's cloud, told by the group's name, else by the nodes of the cluster; empty if neither does."""
    by_name = next((name for name, form in _NAMES if form.fullmatch(group)), None)
    if by_name is not None:
        return by_name
    return next((scheme for node in nodes if (scheme := node.spec.provider_id.partition(":")[0])), "")


@cache
def _hints() -> dict[str, TemplateHint]:
    return msgspec.json.decode(_TABLE.read_bytes(), type=dict[str, TemplateHint])
