"""Replays what Karpenter disrupts, and says where its answer and ours differ."""

import re
from typing import Any

from kubectl_sched.api.karpenter import NodePool
from kubectl_sched.node_provisioning.karpenter.cluster import Cluster
from kubectl_sched.node_provisioning.karpenter.disruption.disruption_budgets import DRIFTED
from kubectl_sched.node_provisioning.karpenter.disruption.disruption_times import is_expired, is_under_consolidate_after
from kubectl_sched.node_provisioning.karpenter.disruption.methods import NOTHING, DisruptionReplay, MethodVerdict
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import of_key
from tests.karpenter_decisions import Json, instance_type, objects_of, options_of

NODE_POOL = "karpenter.sh/nodepool"
CAPACITY_TYPE = "karpenter.sh/capacity-type"
_NO_CENT = 1e-9
_COMPARED = ("Unconsolidatable", "DisruptionBlocked", "ConsolidationApproved")


class ComparedDisruption:
    """Our answer and Karpenter's to one request."""

    def __init__(self, request: Json, theirs: list[Json]) -> None:
        self._theirs = {(each["node"], each["reason"]): each for each in theirs}
        self._request = request
        objects = objects_of(request)
        types = {pool: tuple(map(instance_type, stated["types"])) for pool, stated in request["instanceTypes"].items()}
        self._pools = {each.name: each for each in objects if isinstance(each, NodePool)}
        self._types = {pool: types.get(pool, types[""]) for pool in self._pools}
        self._cluster = Cluster(objects, request["now"])
        self.tied: set[str] = set()
        """The nodes and methods of which an order is left to chance."""

    def differences(self, seed: int | None = None) -> dict[str, list[str]]:
        """The aspects by node and method in which the answers differ."""
        replay = DisruptionReplay(self._cluster, self._types, options_of(self._request), seed=seed)
        found = {}
        for state in self._cluster.state_nodes:
            if state.node is None or state.claim is None:
                continue
            for verdict in replay.verdicts(state):
                if verdict.simulated is not None and verdict.simulated.ties:
                    self.tied.add(f"{state.name} {verdict.reason}")
                wrong = _differing(verdict, self._theirs[state.node.name, verdict.reason])
                if wrong:
                    found[f"{state.name} {verdict.reason}"] = wrong
            theirs = self._theirs[state.node.name, "Expired"]
            pool = self._pools.get(state.claim.metadata.labels.get(NODE_POOL, ""))
            waits = is_under_consolidate_after(pool, state.claim, self._cluster.at)
            if waits is not theirs["candidate"]:
                found[f"{state.name} consolidateAfter"] = [f"{waits}"]
            if is_expired(state.claim, self._cluster.at) is not (theirs["decision"] == "delete"):
                found[f"{state.name} Expired"] = [theirs["decision"]]
        return found


def _differing(ours: MethodVerdict, theirs: Json) -> list[str]:
    """Describe each aspect in which two answers about a node differ."""
    wrong = []
    if (ours.is_candidate, ours.decision) != (theirs["candidate"], theirs["decision"]):
        wrong.append(f"{ours.is_candidate} {ours.decision}, not {theirs['candidate']} {theirs['decision']}")
    if ours.is_candidate and ours.allowed != theirs["allowed"]:
        wrong.append(f"allowed {ours.allowed}, not {theirs['allowed']}")
    if ours.reason != DRIFTED and abs(ours.savings - theirs["savings"]) > _NO_CENT:
        wrong.append(f"savings {ours.savings}, not {theirs['savings']}")
    replacements = [_as_ours(each, ours) for each in theirs["replacements"] or []]
    if _replacements(ours) != replacements:
        wrong.append(f"replacements {_replacements(ours)}, not {replacements}")
    said = [each for each in theirs["events"] or [] if each.partition(":")[0] in _COMPARED]
    own_said = [f"{reason}: {text}" for reason, text in ours.events]
    if bool(said) != bool(own_said) or not all(any(_same(text, each) for each in own_said) for text in said):
        wrong.append(f"said {own_said}, not {said}")
    return wrong


def _replacements(ours: MethodVerdict) -> list[list[Any]]:
    """Return the NodePool and the types of each NodeClaim in the node's place; of one that is cheaper more."""
    if ours.replacement is not None:
        made = ours.replacement
        capacity_types = sorted(of_key(made.requirements, CAPACITY_TYPE).values)
        return [[made.claim.node_pool, [each.name for each in made.types], capacity_types]]
    if ours.simulated is None or ours.decision == NOTHING:
        return []
    return [[each.node_pool, each.instance_types] for each in ours.simulated.claims]


def _as_ours(replacement: Json, ours: MethodVerdict) -> list[Any]:
    own = [replacement["nodePool"], replacement["instanceTypes"]]
    return [*own, replacement["capacityTypes"] or []] if ours.replacement is not None else own


def _same(text: str, other: str) -> bool:
    """Compare two texts in which pods and labels come in any order."""
    return _parts(text) == _parts(other)


def _parts(text: str) -> list[str]:
    return sorted(re.split(r"[ ,\[\]]+", text))
