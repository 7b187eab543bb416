"""Shows how far ordinary pods are from the budget of a cycle: `python -m tests.bench.cycle_budget`.

5,000 nodes with 150,000 pods, all of unique labels, and pods of 20 terms of each kind. The margin is the share of
SERVICE, the budget of `bind --watch`, that a cycle takes: 10 means a tenth. Processor time is beside it, for the worth
of a step. Nothing here is asserted by a test.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import msgspec

from kubectl_sched.api.core import Node
from kubectl_sched.api.pod import Pod
from kubectl_sched.framework.cycle_budget import SERVICE, UNLIMITED
from kubectl_sched.scheduler.scheduler import Scheduler
from kubectl_sched.sources import Dump
from kubectl_sched.sources.discovery.replay_setup import Replay, configuration_for, scheduler_for
from tests.scheduler.cycles import with_cycle

if TYPE_CHECKING:
    from collections.abc import Iterator

NODES, PODS, TERMS = 5000, 150_000, 20
REQUIRED, PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)


def _node(number: int) -> Node:
    labels = {"kubernetes.io/hostname": f"n{number}", "topology.kubernetes.io/zone": f"z{number % 3}", "n": str(number)}
    room = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    return msgspec.convert(
        {"metadata": {"name": f"n{number}", "labels": labels}, "status": {"allocatable": room}}, Node
    )


def _pod(name: str, labels: dict[str, str], **spec: Any) -> Pod:
    identity = {"name": name, "namespace": "default", "uid": name, "labels": labels}
    container = {"name": "c", "image": "a:1", "resources": {"requests": {"cpu": "100m", "memory": "1Gi"}}}
    return msgspec.convert({"metadata": identity, "spec": {"containers": [container], **spec}}, Pod)


def _selector(number: int) -> dict[str, Any]:
    return {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": [f"a{number}"]}]}


def _pods_of_twenty_terms() -> Iterator[tuple[str, dict[str, Any]]]:
    yield "plain", {}
    keys = ["kubernetes.io/hostname", "topology.kubernetes.io/zone"]
    terms = [{"labelSelector": _selector(each), "topologyKey": keys[each % 2]} for each in range(TERMS)]
    yield "required anti-affinity", {"affinity": {"podAntiAffinity": {REQUIRED: terms}}}
    weighted = [{"weight": 1, "podAffinityTerm": term} for term in terms]
    yield "preferred affinity", {"affinity": {"podAffinity": {PREFERRED: weighted}}}
    numbers = [{"matchExpressions": [{"key": "n", "operator": "Gt", "values": [str(each)]}]} for each in range(TERMS)]
    yield "node affinity", {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": numbers}}}}
    spread = [
        {"maxSkew": 9, "topologyKey": keys[each % 2], "whenUnsatisfiable": when, "labelSelector": _selector(each)}
        for each in range(TERMS)
        for when in ("DoNotSchedule", "ScheduleAnyway")
    ]
    yield "spread constraints", {"topologySpreadConstraints": spread}
    yield "tolerations", {"tolerations": [{"key": f"t{each}", "operator": "Exists"} for each in range(TERMS)]}


def main() -> None:
    """Print a line for each kind of pod."""
    nodes = [_node(number) for number in range(NODES)]
    pods = [_pod(f"p{each}", {"app": f"a{each}", "u": f"u{each}"}, nodeName=f"n{each % NODES}") for each in range(PODS)]
    dump = Dump(objects=(*nodes, *pods))
    setup = Replay(config=None, kube_version="1.36", feature_gates=None)
    given = scheduler_for(dump, configuration_for(dump, setup))[0]
    scheduler = Scheduler(given.configuration, given.nodes, limits=UNLIMITED)
    for name, spec in _pods_of_twenty_terms():
        incoming = _pod("incoming", {"app": "new"}, **spec)
        result = scheduler.schedule_one(incoming)  # the first such pod has the columns of the cluster made
        began = time.process_time()
        scheduler.schedule_one(incoming)
        seconds = time.process_time() - began
        budget = with_cycle(result).state.budget
        margin = min(SERVICE.steps / max(budget.steps, 1), SERVICE.memory / max(budget.memory, 1))
        said = f"{budget.steps:>10,} steps {budget.memory >> 10:>8,} KiB  margin {margin:>8.0f}  {seconds:.2f} s"
        sys.stdout.write(f"{name:<24}{said}\n")


if __name__ == "__main__":
    main()
