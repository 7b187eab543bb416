"""Small clusters, and plans of `drain` carried out in them.

    python -m tests.e2e.drains --plans 50 --minor 1.37

cordons and evicts, on a real control plane, as each plan says, and prints figures. The real controllers make the pods
again, count the budgets and refuse evictions; the real kube-scheduler places the pods; this is the kubelet. The
successors are gated, so that they are scheduled in the order of the plan.
"""

import argparse
import copy
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from http import HTTPStatus
from itertools import count, islice
from pathlib import Path
from typing import NamedTuple

from kubectl_sched.api.pod import Pod
from kubectl_sched.queries.drain import DrainAnswer, DrainQuestion, drain
from kubectl_sched.simulation.placements import Placement
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.dump.reader import read
from tests.e2e import kubelet
from tests.e2e.api import Api, ApiError, Json
from tests.e2e.control_plane import ADMIN_TOKEN, MINOR, ControlPlane
from tests.e2e.patience import until
from tests.e2e.priority_classes import priority_class
from tests.e2e.rooms import (
    BUDGETS,
    HOSTNAME,
    IMPORTANT,
    NODES,
    PODS,
    WAITING,
    Room,
    create,
    is_settled,
    objects_of,
    room_of,
    sets_of,
    unmake,
)

GATE = "example.com/not-yet"
REFUSED = {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.INTERNAL_SERVER_ERROR}
"""The API server's codes for an eviction that a budget, or several of them, do not allow."""


class Drained(NamedTuple):
    """The outcome of a plan that was carried out."""

    seed: int
    outcome: str
    nodes: int
    evicted: int
    rounds: int
    blocked: int
    lost: int
    pending: int
    tied: int
    elsewhere: int


def drained_room(seed: int) -> tuple[Room, list[str]]:
    """The cluster of a seed without a pod that waits, and the nodes to drain."""
    chance = random.Random(f"drain-{seed}")  # noqa: S311 - each seed is one cluster
    room = room_of(seed)
    doubled = [each for each in room.budgets if chance.random() < 0.15]
    budgets = [*room.budgets, *map(_once_more, doubled)]
    sets = [each for each in room.sets if each["metadata"]["name"] != WAITING]
    names = [each["metadata"]["name"] for each in room.nodes]
    protected = {_covered(each) for each in budgets}
    crowds = Counter(pod["spec"]["nodeName"] for pod in room.pods if pod["metadata"]["labels"]["app"] in protected)
    names.sort(key=lambda name: -crowds[name] if seed % 2 else chance.random())
    chosen = names[: min(len(names) - 1, chance.choice([1, 1, 1, 2]))]
    return Room(room.nodes, sets, room.pods, budgets, [], ""), chosen


def _once_more(budget: Json) -> Json:
    """Another budget for the same pods, which none of them can be evicted with."""
    return {**budget, "metadata": {**budget["metadata"], "name": f"{budget['metadata']['name']}-too"}}


def plan_of(items: Sequence[Json], nodes: Sequence[str], folder: Path, minor: str) -> DrainAnswer:
    """`drain NODE...` over these objects."""
    path = folder / "dump.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return drain(DrainQuestion(nodes=tuple(nodes), replay=Replay(kube_version=minor)), read([str(path)]))


def make(server: Api, room: Room) -> None:
    """Make the cluster; done when all pods run in their sets and all budgets are counted."""
    gated = copy.deepcopy(room.sets)
    for each in gated:
        each["spec"]["template"]["spec"]["schedulingGates"] = [{"name": GATE}]
    create(server, room._replace(sets=gated))
    owned = {each["metadata"]["name"] for each in room.sets}

    def settled() -> bool:
        there = server.get(PODS)["items"]
        return len(there) == len(room.pods) and all(is_settled(pod, owned) for pod in there)

    kubelet.meanwhile(server, settled)
    kubelet.meanwhile(server, lambda: are_counted(server))


def are_counted(server: Api) -> bool:
    """Whether the disruption controller has counted the pods of all budgets as they are now.

    Of several budgets for the same pods it counts on for one alone, and an eviction is refused whatever they say.
    """
    there = [pod for pod in server.get(PODS)["items"] if "deletionTimestamp" not in pod["metadata"]]
    budgets = server.get(BUDGETS)["items"]
    covered = Counter(map(_covered, budgets))
    for budget in budgets:
        app, status = _covered(budget), budget.get("status", {})
        own = [pod for pod in there if pod["metadata"]["labels"].get("app") == app]
        healthy = sum(map(kubelet.is_ready, own))
        allowed = max(0, healthy - budget["spec"]["minAvailable"])
        counts = (status.get("currentHealthy"), status.get("expectedPods"), status.get("disruptionsAllowed"))
        if covered[app] == 1 and (counts != (healthy, len(own), allowed) or status.get("disruptedPods")):
            return False
    return True


def _covered(budget: Json) -> str:
    """The app whose pods the budget protects."""
    return str(budget["spec"]["selector"]["matchLabels"]["app"])


def carry_out(server: Api, seed: int, nodes: Sequence[str], folder: Path, minor: str) -> Drained:
    """Ask for a plan, do what it says, and hold it to its promises."""
    answer = plan_of([*server.everything(), *_ungated(server)], nodes, folder, minor)
    plan = answer.plan
    cordon(server, nodes)
    queue = list(plan.placements)
    landings: list[tuple[Placement, str]] = []
    for group in plan.rounds:
        successors = _evict(server, group)
        for promised in queue[:successors]:
            found = landed(server, promised)
            told = f"seed {seed}: a pod of {promised.owner} landed on {found}, not on one of {promised.tied}"
            is_kept = found in promised.tied if promised.is_placed else not found
            assert is_kept or _differs(landings), told
            landings.append((promised, found))
        queue = queue[successors:]
        kubelet.meanwhile(server, lambda: are_counted(server))
    left = {pod["metadata"]["name"] for pod in server.get(PODS)["items"] if pod["spec"].get("nodeName") in nodes}
    blocked = {each.pod.name for each in plan.blocked}
    assert left == blocked or _differs(landings), f"seed {seed}: {left} are left, not {blocked}"
    assert not any(evicted(server, name, dry_run=True) for name in left), f"seed {seed}: one of {left} may go"
    lost = [each.pod.name for each in plan.lost if "no controller" in each.why]
    assert lost == [pod.name for pod in plan.leaving if pod.metadata.controller is None], f"seed {seed}: {lost}"
    tied = sum(len(promised.tied) > 1 for promised, _ in landings)
    elsewhere = sum(found != (promised.node or "") for promised, found in landings)
    return Drained(seed, answer.outcome, len(nodes), len(plan.leaving), len(plan.rounds), len(blocked), len(plan.lost),
                   len(plan.pending), tied, elsewhere)  # fmt: skip


def _differs(landings: Sequence[tuple[Placement, str]]) -> bool:
    """Whether a pod has landed on a tied node, after which the plan goes on otherwise."""
    return any(found != (promised.node or "") for promised, found in landings)


def _evict(server: Api, pods: Sequence[Pod]) -> int:
    """Evict the pods; done when they are gone and their successors there, so many as are returned."""
    for pod in pods:
        kubelet.meanwhile(server, partial(evicted, server, pod.name))
    gone = {pod.metadata.uid for pod in pods}
    kubelet.meanwhile(server, lambda: not gone & {each["metadata"]["uid"] for each in server.get(PODS)["items"]})
    successors = sum(pod.metadata.controller is not None for pod in pods)
    kubelet.meanwhile(server, lambda: len(_gated(server)) == successors)
    return successors


def cordon(server: Api, nodes: Sequence[str]) -> None:
    """Cordon the nodes; done when kube-scheduler refuses a pod that may run there only."""
    for node in nodes:
        server.merge(f"{NODES}/{node}", {"spec": {"unschedulable": True}})
        kubelet.meanwhile(server, partial(_is_refused, server, node))


def _is_refused(server: Api, node: str) -> bool:
    """Whether kube-scheduler finds no place on the node for a pod that asks for nothing."""
    container = {"name": "main", "image": "x"}
    spec = {"nodeSelector": {HOSTNAME: node}, "containers": [container], "terminationGracePeriodSeconds": 0}
    pod = server.create(PODS, {"metadata": {"name": "probe", "labels": {"app": "probe"}}, "spec": spec})
    path = kubelet.pod_path(pod)

    def decided() -> Json | None:
        now = server.get(path)
        return now if now["spec"].get("nodeName") or kubelet.is_refused(now) else None

    found = until(decided)
    server.delete(path, grace_seconds=0)
    return kubelet.is_refused(found)


def evicted(server: Api, name: str, *, dry_run: bool = False) -> bool:
    """Whether the API server takes the eviction of the pod, or has taken it."""
    body: Json = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": "default"}}
    try:
        server.create(f"{PODS}/{name}/eviction{'?dryRun=All' if dry_run else ''}", body)
    except ApiError as refused:
        if refused.code not in REFUSED:
            raise
        return False
    return True


def landed(server: Api, promised: Placement) -> str:
    """Let one gated pod of the workload be scheduled; the node that it lands on, empty if there is none."""
    owner = promised.pod.metadata.controller
    assert owner is not None
    pod = next(each for each in _gated(server) if each["metadata"]["ownerReferences"][0]["name"] == owner.name)
    path = kubelet.pod_path(pod)
    server.merge(path, {"spec": {"schedulingGates": None}})

    def decided() -> Json | None:
        now = server.get(path)
        is_over = now["spec"].get("nodeName") or kubelet.condition(now, "PodScheduled", "reason") == "Unschedulable"
        return now if is_over else None

    return str(kubelet.meanwhile(server, decided)["spec"].get("nodeName", ""))


def _gated(server: Api) -> list[Json]:
    return [each for each in server.get(PODS)["items"] if each["spec"].get("schedulingGates")]


def _ungated(server: Api) -> Iterator[Json]:
    """The workloads, as they would be if their pods were scheduled at once."""
    for each in sets_of(server):
        each["spec"]["template"]["spec"].pop("schedulingGates", None)
        yield each


def carried_out(plane: ControlPlane, plans: int, minor: str = MINOR, first: int = 0) -> Iterator[Drained]:
    """Carry out so many plans that concern at least one pod, one cluster after the other, from the first seed on."""
    quick: dict[str, object] = {
        "percentageOfNodesToScore": 100,
        "podInitialBackoffSeconds": 1,
        "podMaxBackoffSeconds": 1,
    }
    plane.start_scheduler(config=quick)
    with Api(plane.port, ADMIN_TOKEN) as server, tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        priority_class(server, IMPORTANT, 100, preemptionPolicy="Never")

        def is_worth_it(seed: int) -> bool:
            room, nodes = drained_room(seed)
            return bool(plan_of(objects_of(room), nodes, folder, minor).plan.concerned)

        for seed in islice(filter(is_worth_it, count(first)), plans):
            room, nodes = drained_room(seed)
            make(server, room)
            yield carry_out(server, seed, nodes, folder, minor)
            unmake(server, room)


def main() -> None:
    """Carry out plans and print figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plans", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0, help="of the first cluster")
    parser.add_argument("--minor", choices=("1.36", "1.37"), default=MINOR)
    wanted = parser.parse_args()
    done: list[Drained] = []
    with ControlPlane(controller_manager=True, minor=wanted.minor) as plane:
        for each in carried_out(plane, wanted.plans, wanted.minor, wanted.seed):
            done.append(each)
            sys.stdout.write(f"{each}\n")
            sys.stdout.flush()
    fields = ("evicted", "blocked", "lost", "pending", "tied", "elsewhere")
    figures = {name: sum(getattr(each, name) for each in done) for name in fields}
    said = ", ".join(f"{name}: {value}" for name, value in figures.items())
    sys.stdout.write(f"{len(done)} drains of {wanted.minor}; {said}\n")


if __name__ == "__main__":
    main()
