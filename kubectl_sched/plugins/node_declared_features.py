"""Keeps a pod off nodes that lack a feature it needs (plugins/nodedeclaredfeatures/nodedeclaredfeatures.go).

What a pod needs is inferred from its spec as in k8s.io/component-helpers/nodedeclaredfeatures/features.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from kubectl_sched.framework.clauses import first_few
from kubectl_sched.framework.cycle_state import StateKey
from kubectl_sched.framework.evidence import Evidence
from kubectl_sched.framework.interface import FilterPlugin, PreFilterPlugin, PreFilterResult
from kubectl_sched.framework.replicas import DependsOn
from kubectl_sched.framework.signing.pod_signature import SignPlugin
from kubectl_sched.framework.status import SKIP, SUCCESS, Status, unresolvable
from kubectl_sched.snapshot import Column

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.evidence import JSON
    from kubectl_sched.framework.handle import Handle
    from kubectl_sched.framework.signing.pod_signature import Fragments
    from kubectl_sched.framework.status import NodeToStatus
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Rows

PRE_FILTER_STATE: StateKey[tuple[str, ...]] = StateKey(
    name="PreFilterNodeDeclaredFeatures", absent='error reading "{}" from cycle-state: not found'
)


def _restarts_all_containers(pod: Pod) -> bool:
    containers = (*pod.spec.containers, *pod.spec.init_containers)
    return any(rule.action == "RestartAllContainers" for each in containers for rule in each.restart_policy_rules)


def _has_own_users_on_host_network(pod: Pod) -> bool:
    return pod.spec.host_network and pod.spec.host_users is False


def _has_bind_mount_options(pod: Pod) -> bool:
    containers = (*pod.spec.containers, *pod.spec.init_containers, *pod.spec.ephemeral_containers)
    return any(mount.bind_mount_options for each in containers for mount in each.volume_mounts)


def _has_post_quantum_certificate(pod: Pod) -> bool:
    sources = (each for volume in pod.spec.volumes if volume.projected is not None for each in volume.projected.sources)
    return any(each.pod_certificate is not None and each.pod_certificate.key_type in _MLDSA for each in sources)


def _has_seccomp_artifact(pod: Pod) -> bool:
    containers = (*pod.spec.init_containers, *pod.spec.containers, *pod.spec.ephemeral_containers)
    contexts = (pod.spec.security_context, *(each.security_context for each in containers))
    return any(
        context is not None and context.seccomp_profile is not None and context.seccomp_profile.type == "OCI"
        for context in contexts
    )


def _parts(pod: Pod) -> int:
    """Return the number of parts of the pod in which a feature is looked for."""
    spec = pod.spec
    containers = (*spec.init_containers, *spec.containers, *spec.ephemeral_containers)
    within = sum(len(each.volume_mounts) + len(each.restart_policy_rules) for each in containers)
    sources = sum(len(volume.projected.sources) for volume in spec.volumes if volume.projected is not None)
    return len(containers) + within + len(spec.volumes) + sources


_MLDSA: Final = frozenset({"MLDSA44", "MLDSA65", "MLDSA87"})

_NEEDED: Final[Mapping[str, tuple[Callable[[Pod], bool], str]]] = {
    "RestartAllContainersOnContainerExits": (
        _restarts_all_containers,
        "a container has a restart rule with the action RestartAllContainers",
    ),
    "UserNamespacesHostNetworkSupport": (
        _has_own_users_on_host_network,
        "the pod has hostNetwork: true with hostUsers: false",
    ),
    "PodCertificateMLDSA": (
        _has_post_quantum_certificate,
        "a projected volume has a podCertificate with an ML-DSA key",
    ),
    "SecurityProfileOCI": (_has_seccomp_artifact, "a seccompProfile is of the type OCI"),
    "VolumeBindMountOptions": (_has_bind_mount_options, "a container's volume mount has bindMountOptions"),
}


class NodeDeclaredFeatures(PreFilterPlugin, FilterPlugin, SignPlugin):
    """Nodes say in status.declaredFeatures what their kubelet can do."""

    name: ClassVar[str] = "NodeDeclaredFeatures"
    depends_on: ClassVar[DependsOn] = DependsOn.NODE

    def __init__(self, args: None, handle: Handle) -> None:
        self._enabled = handle.features.enabled("NodeDeclaredFeatures")
        self._grows_in_place = handle.grows_in_place
        self._inferred = handle.release.inferred_features
        self._names_missing = handle.release.unsatisfied_features_are_named

    def sign_pod(self, pod: Pod, nodes: Snapshot) -> Fragments:
        """Return the features that the pod needs."""
        return {"features": [feature for feature in self._inferred if _NEEDED[feature][0](pod)]}

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> PreFilterResult:
        """Skip pods that need nothing special."""
        state.budget.spend(len(self._inferred) * _parts(pod) if self._enabled else 0)
        needed = self.needed(pod)
        if not needed:
            return PreFilterResult(status=SKIP)
        state.write(PRE_FILTER_STATE, needed)
        return PreFilterResult()

    def needed(self, pod: Pod) -> tuple[str, ...]:
        """The features that a node has to declare for the pod."""
        if not self._enabled or self._grows_in_place(pod):
            return ()
        return tuple(feature for feature in self._inferred if _NEEDED[feature][0](pod))

    def filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> NodeToStatus:
        """Reject nodes that do not declare every feature needed."""
        if not self._enabled or self._grows_in_place(pod):
            return Column.filled(len(nodes), SUCCESS)
        needed = state.read(PRE_FILTER_STATE)
        return nodes.declared_features.map(lambda declared: self._verdict(needed, declared))

    def _verdict(self, needed: tuple[str, ...], declared: tuple[str, ...]) -> Status:
        missing = [feature for feature in needed if feature not in declared]
        if not missing:
            return SUCCESS
        if self._names_missing:
            return unresolvable(
                f"node declared features check failed - unsatisfied requirements: {', '.join(sorted(missing))}"
            )
        return unresolvable("node(s) didn't match Pod's required features")

    def explain_filter(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[Evidence, ...]:
        """Each missing feature, and what in the pod needs it."""
        declared = nodes.declared_features[row]
        return tuple(_evidence(feature, declared, nodes) for feature in self.needed(pod) if feature not in declared)

    def summarize(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> str:
        """The features that none or only some of these nodes declare."""
        declared = [has for has, _ in nodes.declared_features.take(rows).counts()]
        lacking = [each for each in self.needed(pod) if any(each not in has for has in declared)]
        return f"do not declare {first_few(lacking)}, which it needs"


def _evidence(feature: str, declared: tuple[str, ...], nodes: Snapshot) -> Evidence:
    from kubectl_sched.framework.confusable_texts import nearest

    hints: list[str] = []
    near = nearest(feature, declared)
    if near is not None:
        hints.append(f"the node declares {near}")
    elif not any(feature in features for features in nodes.whole.declared_features.values):
        hints.append(f"no node declares {feature}")
    facts: dict[str, JSON] = {"feature": feature, "neededBecause": _NEEDED[feature][1], "declared": list(declared)}
    return Evidence(
        text=f"does not declare the feature {feature}, needed as {_NEEDED[feature][1]}", facts=facts, hints=tuple(hints)
    )
