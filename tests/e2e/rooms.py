"""Small clusters whose free room is in the wrong shape, and plans of `whatif --make-room` carried out in them.

    python -m tests.e2e.rooms --plans 200

evicts, on a real control plane, as each plan says, and prints figures. The real controllers make the pods again, the
real kube-scheduler places them; this is the kubelet.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from typing import NamedTuple

from kubectl_sched.queries.make_room import MakeRoomAnswer, MakeRoomQuestion, make_room
from kubectl_sched.simulation.relocation import CORDON, EVICT, UNCORDON, Step
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.dump.reader import read
from kubectl_sched.suggestions.plan_ties import pinned_nodes
from tests.e2e import kubelet
from tests.e2e.api import Api, ApiError, Json
from tests.e2e.control_plane import ADMIN_TOKEN, ControlPlane
from tests.e2e.patience import until
from tests.e2e.priority_classes import priority_class

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
PODS = "/api/v1/namespaces/default/pods"
SETS = {kind: f"/apis/apps/v1/namespaces/default/{kind.lower()}s" for kind in ("ReplicaSet", "StatefulSet")}
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
NODES = "/api/v1/nodes"
GROUPS = "/apis/scheduling.k8s.io/v1alpha2/namespaces/default/podgroups"
IMPORTANT = "important"
WAITING = "waiting"
A_MOMENT = 0.15
"""What kube-scheduler needs to hear of a cordon."""


class Room(NamedTuple):
    """A cluster to be: the pods have their nodes, the waiting ones of the target none, be it a pod or a ReplicaSet."""

    nodes: list[Json]
    sets: list[Json]
    pods: list[Json]
    budgets: list[Json]
    waiting: list[Json]
    target: str
    groups: Sequence[Json] = ()


class Landed(NamedTuple):
    """What became of a plan: evictions, those with tied nodes, on another of these, cordons for ties."""

    seed: int
    evictions: int
    tied: int
    elsewhere: int
    chained: bool
    pods: int
    pins: int


def room_of(seed: int) -> Room:
    """The cluster of a seed."""
    chance = random.Random(seed)  # noqa: S311 - each seed is one cluster
    if seed % 40 == 0:
        return _room_of_ties(chance)
    alone = chance.random() < 0.75
    nodes = [_node(f"n{index}", chance) for index in range(chance.randint(3, 6) if alone else 9)]
    free = {each["metadata"]["name"]: int(each["status"]["allocatable"]["cpu"]) for each in nodes}
    sets: list[Json] = []
    pods: list[Json] = []
    budgets: list[Json] = []
    for app in "abcdef"[: chance.randint(3, 6)] if alone else "abcdefgh":
        made_from = _template(app, chance)
        cpu = int(made_from["spec"]["containers"][0]["resources"]["requests"]["cpu"])
        own: list[Json] = []
        for _ in range(chance.randint(1, 4)):
            name = chance.choice(list(free))
            if free[name] >= cpu:
                free[name] -= cpu
                metadata = {"name": f"{app}-{len(own)}", "namespace": "default"} | made_from["metadata"]
                own.append({"metadata": metadata, "spec": {**made_from["spec"], "nodeName": name}})
        pods += own
        kind = chance.choice(["ReplicaSet", "ReplicaSet", "ReplicaSet", "StatefulSet", None])
        if kind is not None and own:
            sets.append(workload(kind, app, made_from, len(own)))
        if own and chance.random() < 0.4:
            selector = {"matchLabels": {"app": app}}
            least = max(len(own) - chance.randint(0, 2), 0)
            metadata = {"name": app, "namespace": "default"}
            budgets.append({"metadata": metadata, "spec": {"selector": selector, "minAvailable": least}})
    wanted = max(free.values()) + (chance.choice([1, 1, 2, 2, 3]) if alone else 1)
    spec = _spec(wanted)
    if chance.random() < 0.5:
        spec |= {"priorityClassName": IMPORTANT, "priority": 100, "preemptionPolicy": "Never"}
    metadata = {"name": WAITING, "namespace": "default", "labels": {"app": WAITING}}
    if alone:
        return Room(nodes, sets, pods, budgets, [{"metadata": metadata, "spec": spec}], f"pod/{WAITING}")
    sets.append(workload("ReplicaSet", WAITING, {"metadata": {"labels": {"app": WAITING}}, "spec": spec}, 2))
    waiting = [{"metadata": {**metadata, "name": f"{WAITING}-{index}"}, "spec": spec} for index in range(2)]
    return Room(nodes, sets, pods, budgets, waiting, f"replicaset/{WAITING}")


def _room_of_ties(chance: random.Random) -> Room:
    """What moves fits equally well on all other nodes, but the waiting pod keeps off its zone."""
    nodes = [_node(f"n{index}", chance) | {"status": _status(6)} for index in range(chance.randint(3, 6))]
    mover, filler = _template("a", chance)["metadata"], _spec(4)
    pods = [{"metadata": {"name": "a-0", "namespace": "default", **mover}, "spec": {**_spec(2), "nodeName": "n0"}}]
    for node in nodes[1:]:
        name = node["metadata"]["name"]
        metadata = {"name": f"filler-{name}", "namespace": "default", "labels": {"app": "filler"}}
        pods.append({"metadata": metadata, "spec": {**filler, "nodeName": name}})
    apart = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "a"}}}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}}
    metadata = {"name": WAITING, "namespace": "default", "labels": {"app": WAITING}}
    sets = [workload("ReplicaSet", "a", {"metadata": mover, "spec": _spec(2)}, 1)]
    waiting = {"metadata": metadata, "spec": {**_spec(6), "affinity": affinity}}
    return Room(nodes, sets, pods, [], [waiting], f"pod/{WAITING}")


def room_of_group(seed: int) -> Room:
    """Zones with half-full nodes, and a gang of two that wants whole nodes of one zone."""
    chance = random.Random(seed)  # noqa: S311 - each seed is one cluster
    nodes = [_node(f"{zone}{index}", chance) for zone in "xyz" for index in range(chance.randint(2, 3))]
    for node in nodes:
        node["metadata"]["labels"][ZONE] = node["metadata"]["name"][0]
        node["status"] = _status(4)
    pods, sets = [], []
    for node in chance.sample(nodes, len(nodes) - 1):
        name, spec = node["metadata"]["name"], _spec(chance.choice([1, 1, 2, 3]))
        template: Json = {"metadata": {"labels": {"app": f"on-{name}"}}, "spec": spec}
        metadata = {"name": f"on-{name}-0", "namespace": "default", **template["metadata"]}
        pods.append({"metadata": metadata, "spec": {**spec, "nodeName": name}})
        sets.append(workload("ReplicaSet", f"on-{name}", template, 1))
    policy = {"schedulingPolicy": {"gang": {"minCount": 2}}, "schedulingConstraints": {"topology": [{"key": ZONE}]}}
    group = {"metadata": {"name": "gang", "namespace": "default"}, "spec": policy}
    spec = {**_spec(4), "schedulingGroup": {"podGroupName": "gang"}}
    metadata = {"namespace": "default", "labels": {"app": WAITING}}
    waiting = [{"metadata": {**metadata, "name": f"{WAITING}-{index}"}, "spec": spec} for index in range(2)]
    return Room(nodes, sets, pods, [], waiting, "podgroup/gang", [group])


def _status(cpu: int) -> Json:
    return {"allocatable": {"cpu": str(cpu), "memory": "16Gi", "pods": "20"}}


def _node(name: str, chance: random.Random) -> Json:
    labels = {HOSTNAME: name, ZONE: chance.choice("xy"), "disk": chance.choice(["ssd", "hdd"])}
    return {"metadata": {"name": name, "labels": labels}, "status": _status(chance.choice([4, 6, 6, 6, 8]))}


def _spec(cpu: int) -> Json:
    return {"containers": [{"name": "main", "image": "x", "resources": {"requests": {"cpu": str(cpu)}}}]}


def _template(app: str, chance: random.Random) -> Json:
    spec = _spec(chance.choice([1, 1, 2, 2, 3]))
    annotations: Json = {}
    term = {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": app}}}
    if chance.random() < 0.15:
        spec["nodeSelector"] = {"disk": chance.choice(["ssd", "hdd"])}
    if chance.random() < 0.2:
        apart = chance.choice([
            {"requiredDuringSchedulingIgnoredDuringExecution": [term]},
            {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 50, "podAffinityTerm": term}]},
        ])  # fmt: skip
        spec["affinity"] = {"podAntiAffinity": apart}
    elif chance.random() < 0.2:
        hard = chance.choice(["DoNotSchedule", "ScheduleAnyway"])
        spec["topologySpreadConstraints"] = [{**term, "maxSkew": 2, "whenUnsatisfiable": hard}]
    if chance.random() < 0.15:
        spec |= {"priorityClassName": IMPORTANT, "priority": 100, "preemptionPolicy": "Never"}
    if chance.random() < 0.1:
        annotations["karpenter.sh/do-not-disrupt"] = "true"
    if chance.random() < 0.2:
        spec["volumes"] = [{"name": "scratch", "emptyDir": {}}]
        annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] = chance.choice(["true", "true", "false"])
    return {"metadata": {"labels": {"app": app}, "annotations": annotations}, "spec": spec}


def workload(kind: str, app: str, made_from: Json, replicas: int) -> Json:
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": app}}, "template": made_from}
    if kind == "StatefulSet":  # OnDelete: the pods that it adopts are of no revision of its own
        spec |= {"serviceName": app, "podManagementPolicy": "Parallel", "updateStrategy": {"type": "OnDelete"}}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": app, "namespace": "default"}, "spec": spec}


def planned(room: Room, folder: Path, gates: str) -> MakeRoomAnswer:
    """The plan as foreseen before the cluster is there: whether it is worth making."""
    return plan_of(objects_of(room), room.target, folder, gates)


def objects_of(room: Room) -> list[Json]:
    """The objects of a room as the API server and the controllers would have them."""
    kinds = {each["metadata"]["name"]: each["kind"] for each in room.sets}
    items = [{"apiVersion": "v1", "kind": "Node", **each} for each in room.nodes]
    items += room.sets
    for pod in [*room.pods, *room.waiting]:
        app = pod["metadata"]["labels"]["app"]
        owner = {"apiVersion": "apps/v1", "kind": kinds.get(app), "name": app, "uid": app, "controller": True}
        metadata = {**pod["metadata"], "uid": pod["metadata"]["name"]}
        owners = {"ownerReferences": [owner]} if app in kinds else {}
        items.append({"apiVersion": "v1", "kind": "Pod", **pod, "metadata": metadata | owners})
    for budget in room.budgets:
        name = budget["spec"]["selector"]["matchLabels"]["app"]
        allowed = sum(pod["metadata"]["labels"]["app"] == name for pod in room.pods) - budget["spec"]["minAvailable"]
        status = {"disruptionsAllowed": allowed}
        items.append({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", **budget, "status": status})
    items += ({"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup", **group} for group in room.groups)
    return items


def plan_of(items: Sequence[Json], target: str, folder: Path, gates: str) -> MakeRoomAnswer:
    """`whatif --make-room TARGET` over these objects."""
    path = folder / "dump.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    replay = Replay(kube_version="1.36", feature_gates=gates or None)
    return make_room(MakeRoomQuestion(target=target, replay=replay), read([str(path)]))


def make(server: Api, room: Room) -> None:
    """Make the cluster; done when kube-scheduler has refused the target and all budgets are counted."""
    create(server, room)
    owned = {each["metadata"]["name"] for each in room.sets}

    def settled() -> bool:
        there = server.get(PODS)["items"]
        return len(there) == len(room.pods) and all(is_settled(pod, owned) for pod in there)

    kubelet.meanwhile(server, settled)
    kubelet.meanwhile(server, lambda: all(_is_counted(each, room) for each in server.get(BUDGETS)["items"]))
    if room.target == f"replicaset/{WAITING}":
        server.create(SETS["ReplicaSet"], room.sets[-1])
    else:
        for pod in room.waiting:
            server.create(PODS, pod)
    words = "group" if room.groups else f"0/{len(room.nodes)} nodes"

    def refused() -> bool:
        told = [words in kubelet.condition(pod, "PodScheduled", "message") for pod in _waiting(server)]
        return told == [True] * len(room.waiting)

    kubelet.meanwhile(server, refused)


def create(server: Api, room: Room) -> None:
    for node in room.nodes:
        server.create(NODES, node)
        server.merge(f"{NODES}/{node['metadata']['name']}", {"spec": {"taints": None}})
    for pod in room.pods:
        server.create(PODS, pod)
    for group in room.groups:
        server.create(GROUPS, group)
    for each in room.sets:
        if each["metadata"]["name"] != WAITING:
            server.create(SETS[each["kind"]], each)
    for budget in room.budgets:
        server.create(BUDGETS, budget)


def is_settled(pod: Json, owned: set[str]) -> bool:
    is_owned = pod["metadata"]["labels"]["app"] in owned
    metadata = pod["metadata"]
    return kubelet.is_ready(pod) and "deletionTimestamp" not in metadata and is_owned == ("ownerReferences" in metadata)


def _is_counted(budget: Json, room: Room) -> bool:
    name = budget["metadata"]["name"]
    healthy = sum(pod["metadata"]["labels"]["app"] == name for pod in room.pods)
    status = budget.get("status", {})
    return bool(status.get("currentHealthy") == healthy and status.get("expectedPods") == healthy)


def _waiting(server: Api) -> list[Json]:
    items: list[Json] = server.get(f"{PODS}?labelSelector=app={WAITING}")["items"]
    return items


def carry_out(server: Api, seed: int, room: Room, folder: Path, gates: str) -> Landed:
    """Ask for a plan, do what it says, and hold it to its promises."""
    answer = plan_of([*server.everything(), *sets_of(server), *_groups(server, room)], room.target, folder, gates)
    assert answer.found
    assert answer.steps, f"seed {seed}: it fits already"
    landed: list[tuple[Step, str]] = []
    one_by_one = any(note.startswith("after each uncordon") for note in answer.notes)
    for step in answer.steps:
        if step.action != EVICT:
            server.merge(f"{NODES}/{step.node}", {"spec": {"unschedulable": step.action == CORDON or None}})
            time.sleep(3 if one_by_one and step.action == UNCORDON else A_MOMENT)
            continue
        node = _evicted(server, step)
        as_planned = all(each.lands == where for each, where in landed)
        told = f"seed {seed}: {step.pod and step.pod.key} landed on {node}, not on one of {step.tied}"
        assert not as_planned or node in step.tied, told
        landed.append((step, node))
    nodes = kubelet.meanwhile(server, lambda: _nodes_of_all(_waiting(server)))
    elsewhere = sum(step.lands != where for step, where in landed)
    tied_for = {name for each in answer.placed for name in each.tied}
    assert elsewhere or tied_for.issuperset(nodes), f"seed {seed}: the target landed on {nodes}"
    assert not any(each["spec"].get("unschedulable") for each in server.get(NODES)["items"])
    tied = sum(len(step.tied) > 1 for step, _ in landed)
    pins = list(pinned_nodes(answer.steps, {each.tied[0] for each in answer.placed}))
    return Landed(seed, len(landed), tied, elsewhere, len({step.node for step, _ in landed}) > 1, len(nodes), len(pins))


def _nodes_of_all(pods: Sequence[Json]) -> list[str]:
    names = [pod["spec"].get("nodeName", "") for pod in pods]
    return names if all(names) else []


def sets_of(server: Api) -> Iterator[Json]:
    for kind, path in SETS.items():
        yield from ({"apiVersion": "apps/v1", "kind": kind, **each} for each in server.get(path)["items"])


def _groups(server: Api, room: Room) -> Iterator[Json]:
    found = server.get(GROUPS)["items"] if room.groups else ()
    yield from ({"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup", **each} for each in found)


def _evicted(server: Api, step: Step) -> str:
    """Evict the pod; gives the node of the one that its controller makes in its place."""
    pod = step.pod
    assert pod is not None
    known = {each["metadata"]["uid"] for each in server.get(PODS)["items"]}
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction"}
    eviction["metadata"] = {"name": pod.name, "namespace": pod.namespace}  # type: ignore[assignment]
    server.create(f"{PODS}/{pod.name}/eviction", eviction)

    def again() -> str | None:
        new = [each for each in server.get(PODS)["items"] if each["metadata"]["uid"] not in known]
        return next((each["spec"].get("nodeName") for each in new), None)

    node: str = kubelet.meanwhile(server, again)
    gone = pod.metadata.uid
    kubelet.meanwhile(server, lambda: gone not in {each["metadata"]["uid"] for each in server.get(PODS)["items"]})
    return node


def unmake(server: Api, room: Room) -> None:
    """Take everything away."""
    for group in room.groups:  # nobody here runs the controller that lets groups without pods go
        server.merge(f"{GROUPS}/{group['metadata']['name']}", {"metadata": {"finalizers": None}})
    for path in (*SETS.values(), BUDGETS, *([GROUPS] if room.groups else ())):
        for each in server.get(path)["items"]:
            server.delete(f"{path}/{each['metadata']['name']}")

    def left() -> list[Json]:
        items: list[Json] = server.get(PODS)["items"]
        for pod in items:
            try:
                server.delete(kubelet.pod_path(pod), grace_seconds=0)
            except ApiError as gone:
                if gone.code != 404:
                    raise
        return items

    until(lambda: not left())
    time.sleep(A_MOMENT)  # a controller that has not heard yet may make one more
    until(lambda: not left())
    for node in server.get(NODES)["items"]:
        server.delete(f"{NODES}/{node['metadata']['name']}")


def carried_out(
    plane: ControlPlane, plans: int, rooms: Callable[[int], Room] = room_of, gates: str = ""
) -> Iterator[Landed]:
    """Carry out so many plans that evict at least one pod, one cluster after the other."""
    quick: dict[str, object] = {
        "percentageOfNodesToScore": 100,
        "podInitialBackoffSeconds": 1,
        "podMaxBackoffSeconds": 1,
    }
    plane.start_scheduler(config=quick)
    with Api(plane.port, ADMIN_TOKEN) as server, tempfile.TemporaryDirectory() as folder:
        priority_class(server, IMPORTANT, 100, preemptionPolicy="Never")
        fragmented = (seed for seed in count() if planned(rooms(seed), Path(folder), gates).steps)
        for seed in islice(fragmented, plans):
            room = rooms(seed)
            make(server, room)
            yield carry_out(server, seed, room, Path(folder), gates)
            unmake(server, room)


def main() -> None:
    """Carry out plans and print figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plans", type=int, default=200)
    wanted: int = parser.parse_args().plans
    done: list[Landed] = []
    with ControlPlane(controller_manager=True) as plane:
        for each in carried_out(plane, wanted):
            done.append(each)
            sys.stdout.write(f"{each}\n")
            sys.stdout.flush()
    sizes = sorted(Counter(each.evictions for each in done).items())
    figures = {
        "clusters generated": done[-1].seed + 1,
        "plans carried out": len(done),
        "by evictions": ", ".join(f"{number} of {size}" for size, number in sizes),
        "for two pods at once": sum(each.pods > 1 for each in done),
        "that evict from several nodes": sum(each.chained for each in done),
        "evictions with tied nodes": sum(each.tied for each in done),
        "that landed on another of these": sum(each.elsewhere for each in done),
        "plans that pin ties by cordons": sum(each.pins > 0 for each in done),
    }
    sys.stdout.writelines(f"{name}: {value}\n" for name, value in figures.items())


if __name__ == "__main__":
    main()
