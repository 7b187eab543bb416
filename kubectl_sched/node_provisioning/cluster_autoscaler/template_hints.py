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
    resource: str
    also: str

    def of_label(self, key: str, value: str) -> tuple[str, str]:
        """The tag or annotation of a label, and its value."""
        if "{key}" not in self.label:  # one annotation holds all labels
            return self.label, f"{key}={value}"
        return self._named(self.label, key), value

    def of_resource(self, name: str, amount: str) -> tuple[str, str]:
        """The tag or annotation of a resource, and its value; an empty name if the cloud has none."""
        return self._named(self.resource, name), amount

    @staticmethod
    def _named(form: str, key: str) -> str:
        """Fill the form; Azure's tags have no slashes."""
        return form.format(key=key.replace("_", "~2").replace("/", "_") if form.startswith("k8s.io_") else key)


def template_hint(group: str, nodes: Iterable[Node]) -> TemplateHint | None:
    """The hint of a group's cloud, told by the group's name, else by the nodes of the cluster; None if neither does."""
    cloud = next((name for name, form in _NAMES if form.fullmatch(group)), None)
    if cloud is None:
        cloud = next((scheme for node in nodes if (scheme := node.spec.provider_id.partition(":")[0])), "")
    return _hints().get(cloud)


@cache
def _hints() -> dict[str, TemplateHint]:
    return msgspec.json.decode(_TABLE.read_bytes(), type=dict[str, TemplateHint])
