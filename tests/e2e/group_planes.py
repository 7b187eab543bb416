"""Control planes whose gates for groups of pods are on, by minor, and where these serve PodGroups."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tests.e2e.api import Api, Json


class GroupPlane(NamedTuple):
    """The gates of all servers, and the versions of scheduling.k8s.io that are served; PodGroups are of the first."""

    minor: str
    gates: str
    versions: tuple[str, ...]

    @property
    def served(self) -> str:
        """The flag of kube-apiserver."""
        return f"--runtime-config={','.join(f'scheduling.k8s.io/{version}=true' for version in self.versions)}"

    @property
    def groups(self) -> str:
        """The path of the PodGroups."""
        return f"/apis/scheduling.k8s.io/{self.versions[0]}/namespaces/default/podgroups"

    @property
    def condition_type(self) -> str:
        """The condition that the cycle of a group writes."""
        return "PodGroupScheduled" if self.minor == "1.36" else "PodGroupInitiallyScheduled"

    def said(self, api: Api, name: str) -> Json | None:
        """The group's condition, None if it has none yet."""
        conditions = api.get(f"{self.groups}/{name}").get("status", {}).get("conditions", [])
        return next((each for each in conditions if each["type"] == self.condition_type), None)


PLANES = {
    "1.36": GroupPlane(
        "1.36", "GenericWorkload=true,GangScheduling=true,TopologyAwareWorkloadScheduling=true", ("v1alpha2",)
    ),
    "1.37": GroupPlane("1.37", "GenericWorkload=true,TopologyAwareWorkloadScheduling=true", ("v1beta1", "v1alpha3")),
}
