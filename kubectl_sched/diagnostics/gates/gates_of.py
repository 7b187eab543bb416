"""The gates of a pod or a suspended Job, with their owners, what these say, and what they would set on the pod."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.gate_holders import QUEUES, GateHolder
from kubectl_sched.api.kueue import QUEUE_NAME
from kubectl_sched.api.pod import Pod
from kubectl_sched.diagnostics.gates.gate import Gate, Owner, bounded
from kubectl_sched.diagnostics.gates.kueue_chain import GATES, KueueObjects
from kubectl_sched.diagnostics.gates.kueue_injection import injections
from kubectl_sched.diagnostics.gates.kueue_statements import KUEUE, facts, needs, queue_of, statements
from kubectl_sched.diagnostics.gates.other_holders import holders_of
from kubectl_sched.diagnostics.pod_lifecycle import controller_of_gate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.meta import KubernetesObject

_MOST = 64


class Gates:
    """The controllers of one cluster that hold pods back."""

    def __init__(self, objects: Sequence[KubernetesObject]) -> None:
        self._all = objects

    @cached_property
    def _objects(self) -> KueueObjects:
        return KueueObjects(self._all)

    @cached_property
    def _holders(self) -> dict[tuple[type[KubernetesObject], str], GateHolder]:
        found = (each for each in self._all if isinstance(each, GateHolder))
        return {(type(each), each.name if type(each) in QUEUES else each.key): each for each in found}

    def of(self, held: KubernetesObject, *, is_served: bool) -> tuple[Gate, ...]:
        """Return a value for each gate, the same owner's with the same statements.

        An object without a gate that nobody serves is held by the controllers that it names.
        """
        gates = [gate.name for gate in held.spec.scheduling_gates[:_MOST]] if isinstance(held, Pod) else [None]
        kueue = self._of_kueue(held) if self._is_of_kueue(held) else None
        found = [self._gate(held, gate, kueue) for gate in gates if gate is not None or kueue is not None]
        if kueue is None and (found or not is_served):
            found += holders_of(held, self._holders)
        return tuple(replace(bounded(replace(each, injections=())), injections=each.injections) for each in found)

    def _is_of_kueue(self, held: KubernetesObject) -> bool:
        """Report whether Kueue holds the pod by a gate, or the Job by suspending it."""
        if isinstance(held, Pod):
            return any(gate.name.startswith(GATES) for gate in held.spec.scheduling_gates)
        return QUEUE_NAME in held.metadata.labels or self._objects.workload_of(held) is not None

    def _gate(self, held: KubernetesObject, gate: str | None, kueue: Gate | None) -> Gate:
        if kueue is not None and (gate is None or gate.startswith(GATES)):
            return replace(kueue, gate=gate)
        who = controller_of_gate(gate or "")
        owner = Owner(controller=who) if who is not None else None
        return Gate(gate=gate, owner=owner, since=since(held), set_by=held.metadata.gates_set_by)

    def _of_kueue(self, held: KubernetesObject) -> Gate:
        chain = self._objects.chain(held)
        workload = chain.workload
        owner = Owner(
            controller=KUEUE,
            kind="Workload" if workload is not None else "",
            namespace=workload.namespace if workload is not None else "",
            name=workload.name if workload is not None else "",
        )
        return Gate(
            gate=None,
            owner=owner,
            since=since(held),
            set_by=held.metadata.gates_set_by,
            says=tuple(statements(chain, self._objects)),
            facts=tuple(facts(chain, self._objects)),
            needs=tuple(needs(chain, self._objects)),
            queue=queue_of(chain, self._objects),
            injections=injections(chain, self._objects),
        )


def since(held: KubernetesObject) -> str | None:
    """Return the time since which a pod is known to be gated, else that of its creation."""
    gated = held.condition("PodScheduled") if isinstance(held, Pod) else None
    return gated.last_transition_time if gated is not None else held.metadata.creation_timestamp
