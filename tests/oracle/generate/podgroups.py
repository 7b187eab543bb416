"""Groups for the cycle that places them as a whole: alike members, topology, running members and victims."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from tests.oracle.generate.clusters import budgets, namespace_objects
from tests.oracle.generate.devices import allocated, claim_spec, inventory, resource
from tests.oracle.generate.nodes import nodes
from tests.oracle.generate.pods import pod, specs
from tests.oracle.generate.values import HOSTNAME, ZONE, Json, labels, metadata, without_nothing

TOPICS: dict[str, frozenset[str]] = {
    "group-resources": frozenset({"resources", "topology"}),
    "group-nodes": frozenset({"nodes", "taints", "topology"}),
    "group-spread": frozenset({"spread", "topology", "taints"}),
    "group-interpod": frozenset({"interpod", "topology", "ports"}),
    "group-preemption": frozenset({"resources", "budgets", "victims"}),
    "group-victims": frozenset({"budgets", "victims"}),
    "group-claims": frozenset({"claims", "topology"}),
    "group-mixed": frozenset({"resources", "taints", "topology", "spread", "interpod", "ports", "images", "victims"}),
    "group-tree": frozenset({"resources", "taints", "topology", "trees"}),
    "group-tree-victims": frozenset({"budgets", "victims", "topology", "trees"}),
    "group-tree-claims": frozenset({"claims", "topology", "trees"}),
    "group-tree-mixed": frozenset({"resources", "taints", "topology", "spread", "interpod", "victims", "trees"}),
    "group-costs": frozenset({"budgets", "victims", "alike"}),
    "group-tree-costs": frozenset({"budgets", "victims", "alike", "trees"}),
    "group-domains": frozenset({"topology", "alike"}),
}


def topics(gates: frozenset[str]) -> list[str]:
    """The topics of the version with these gates; nodes are alike where it chooses among them and their domains."""
    left_out = set() if TREES in gates else {"trees"}
    left_out |= set() if _is_validated(gates) else {"alike"}
    return [topic for topic, about in TOPICS.items() if not left_out & about]


def _is_validated(gates: frozenset[str]) -> bool:
    """Report whether trees are checked as a whole, as since 1.38."""
    return TREES in gates and _POLICY not in gates


GROUP, OTHER, NAMESPACE = "train", "batch", "default"
TREES = "CompositePodGroup"
_ABOVE = "parentCompositePodGroupName"

_POLICY = "PodGroupPreemptionPolicy"
"""The gate that 1.38 no longer has."""

_ON = ("GenericWorkload", "GangScheduling")
_SOMETIMES = (
    "TopologyAwareWorkloadScheduling",
    "WorkloadAwarePreemption",
    _POLICY,
    "DRAWorkloadResourceClaims",
    "DRANodeAllocatableResources",
)
_CLAIM_KINDS = ("resourceClaimName", "resourceClaimTemplateName")


def _policies(members: int) -> st.SearchStrategy[Json]:
    """Now and then there are too few members."""
    counts = st.one_of(*[st.integers(1, members)] * 7, st.integers(1, 5))
    gangs = st.builds(lambda count: {"gang": {"minCount": count}}, counts)
    return st.one_of(st.just({"basic": {}}), *[gangs] * 3)


@st.composite
def group_requests(draw: st.DrawFn, topic: str, gates: frozenset[str]) -> Json:
    """A request for the cycle of one group in a cluster of the topic."""
    about = TOPICS[topic]
    is_newer = TREES in gates
    is_validated = _is_validated(gates)
    is_alike = "alike" in about
    few = 4 if is_validated else 2
    cluster = draw(_alike_nodes() if is_alike else nodes(about, up_to=few if "victims" in about else 6))
    for each in cluster if not is_validated else ():
        # Up to 1.37, beside an empty domain chance decides whether running members share one.
        named = each["metadata"].get("labels", {})
        named.update({key: "za" for key, value in named.items() if not value})
    count = draw(st.integers(1, 8))
    names = [node["metadata"]["name"] for node in cluster]
    enabled = {gate: True for gate in _ON if gate in gates}
    enabled |= {gate: draw(st.booleans()) for gate in _SOMETIMES if gate in gates}
    if "trees" in about or (is_alike and "topology" in about) or (is_newer and draw(st.booleans())):
        enabled |= {"TopologyAwareWorkloadScheduling": True, TREES: True}
    by_topology = enabled.get("TopologyAwareWorkloadScheduling", False)
    objects = [*namespace_objects(draw), *cluster, *(draw(budgets()) if "budgets" in about else [])]
    priorities = [500] if is_alike else [0, 50, 500, 500]
    priority = draw(st.sampled_from(priorities)) if "victims" in about else 0
    objects.append(
        draw(_group(OTHER, draw(st.sampled_from([0, 0, 50])), count, is_newer=is_newer, by_topology=by_topology))
    )
    least = max(1, count // 4) if "trees" in about else count
    group = draw(_group(GROUP, priority, least, is_newer=is_newer, by_topology=by_topology))
    tree = draw(_tree(group, priority, count, is_validated=is_validated)) if "trees" in about else [group]
    objects += tree
    leaves = [each["metadata"]["name"] for each in tree if each["kind"] == "PodGroup"]
    most = 8 if "victims" in about else 3
    running = range(draw(st.integers(most // 2, 2 * most) if is_alike else st.integers(0, most)))
    alike = enabled.get("WorkloadAwarePreemption", False)
    objects += [
        draw(_running(about, names, index, priority, leaves, is_newer=is_newer, started_alike=alike))
        for index in running
    ]
    # Up to 1.36 a member that came before the gang was complete loses its nomination, which chance decides.
    gang = group["spec"]["schedulingPolicy"].get("gang", {"minCount": 1})
    members = draw(_members(about, names, priority, count, leaves, may_be_nominated=is_newer or gang["minCount"] == 1))
    if "claims" in about:
        objects += draw(_devices(cluster, is_newer=is_newer))
        for each in tree:
            own = [pod for pod in members if pod["spec"]["schedulingGroup"]["podGroupName"] == each["metadata"]["name"]]
            objects += draw(_with_claims(each, own, names)) if own else []
    policy = tree[0]["spec"].get("preemptionPolicy") if is_validated else None
    if policy is not None and draw(st.integers(0, 15)) != 7:
        for each in [*objects, *members]:
            if each.get("spec", {}).get("schedulingGroup", {}).get("podGroupName") in leaves:
                each["spec"]["preemptionPolicy"] = policy
    objects += members
    return {
        "id": topic,
        "objects": objects,
        "config": draw(_configuration(by_topology=by_topology)) if is_validated else "",
        "featureGates": {**enabled, "SchedulerAsyncPreemption": False, "OpportunisticBatching": False},
        "pods": [],
        "groups": [f"{NAMESPACE}/{GROUP}"],
    }


@st.composite
def _alike_nodes(draw: st.DrawFn) -> list[Json]:
    """Nodes of the same size, in up to three zones and in one without a name."""
    return [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": f"w{index}",
                "uid": f"uid-w{index}",
                "labels": {HOSTNAME: f"w{index}", ZONE: draw(st.sampled_from(["za", "zb", "zc", "za", "zb", ""]))},
            },
            "spec": {},
            "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
        }
        for index in range(draw(st.integers(2, 6)))
    ]


@st.composite
def _group(draw: st.DrawFn, name: str, priority: int, members: int, *, is_newer: bool, by_topology: bool) -> Json:
    key = draw(st.sampled_from([None, ZONE, ZONE, HOSTNAME])) if by_topology else None
    whole: object = {"all": {}} if is_newer else "PodGroup"
    single: object = {"single": {}} if is_newer else "Pod"
    spec = without_nothing(
        {
            "schedulingPolicy": draw(_policies(members)),
            "schedulingConstraints": {"topology": [{"key": key}]} if key is not None else None,
            "disruptionMode": draw(st.sampled_from([None, whole, whole, single])),
            "priority": priority or None,
            "preemptionPolicy": draw(st.sampled_from([None, None, None, "Never", "PreemptLowerPriority"]))
            if is_newer
            else None,
        }
    )
    kind = "PodGroupInitiallyScheduled" if is_newer else "PodGroupScheduled"
    said = {"type": kind, "status": draw(st.sampled_from(["True", "False", "False"])), "reason": "x", "message": "y"}
    return {
        "apiVersion": f"scheduling.k8s.io/{'v1beta1' if is_newer else 'v1alpha2'}",
        "kind": "PodGroup",
        "metadata": metadata(name, f"uid-{name}", NAMESPACE),
        "spec": spec,
        "status": {"conditions": [said]} if draw(st.integers(0, 7)) == 0 else {},
    }


@st.composite
def _configuration(draw: st.DrawFn, *, by_topology: bool) -> str:
    """A configuration with less than the default: placements, points for them, or Reserve of preemption."""
    less = {
        "percentageOfPlacementsToScore": draw(st.sampled_from([None, None, None, 1, 40, 70])) if by_topology else None,
        "profiles": [{"schedulerName": "default-scheduler", "plugins": draw(st.sampled_from(_WITHOUT))}],
    }
    return json.dumps(
        without_nothing({"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", **less})
    )


_WITHOUT: tuple[Json, ...] = (
    *({},) * 5,
    {"placementScore": {"disabled": [{"name": "*"}]}},
    {"reserve": {"disabled": [{"name": "DefaultPreemption"}]}},
)


@st.composite
def _tree(draw: st.DrawFn, first: Json, priority: int, members: int, *, is_validated: bool) -> list[Json]:
    """A tree of groups of two to four levels, in which `first` is a PodGroup."""
    tree = [_composite(draw, "tree-0", priority, 3)]
    for index in range(1, draw(st.integers(1, 3))):
        above = draw(st.sampled_from(tree[-1:] if index == 2 else tree))
        tree.append(_below(_composite(draw, f"tree-{index}", 0, 2), above))
    if is_validated and len(tree) == 3 and draw(st.integers(0, 9)) == 7:
        tree.append(_below(_composite(draw, "tree-3", 0, 2), tree[-1]))
    composites = tuple(tree)
    for index in range(draw(st.integers(1, 4))):
        leaf = (
            draw(_group(f"{GROUP}-{index}", 0, max(1, members // 4), is_newer=True, by_topology=True))
            if index
            else first
        )
        tree.append(_below(leaf, draw(st.sampled_from(composites))))
        leaf["metadata"]["creationTimestamp"] = f"2026-01-01T00:00:0{draw(st.integers(0, 2))}Z"
    if is_validated:
        for each in tree:
            each["apiVersion"] = "scheduling.k8s.io/v1beta1"
            workload = "other" if draw(st.integers(0, 40)) == 7 else "whole"
            each["spec"]["workloadRef"] = {"workloadName": workload, "templateName": each["metadata"]["name"]}
            if draw(st.integers(0, 15)) != 7:
                _go_with(each, tree)
    return tree


def _go_with(group: Json, tree: list[Json]) -> None:
    """Change what would keep the whole tree from being tried."""
    root, spec = tree[0]["spec"], group["spec"]
    above = next((each["spec"] for each in tree if each["metadata"]["name"] == spec.get(_ABOVE)), root)
    if spec is root:
        return
    spec.pop("priority", None)
    spec.pop("preemptionPolicy", None)
    spec |= {name: root[name] for name in ("priority", "preemptionPolicy") if name in root}
    if "gang" in above["schedulingPolicy"] and "basic" in spec["schedulingPolicy"]:
        spec["schedulingPolicy"] = {"gang": {"minCount" if group["kind"] == "PodGroup" else "minGroupCount": 1}}
    if "all" in (above.get("disruptionMode") or {}):
        spec["disruptionMode"] = {"all": {}}


def _composite(draw: st.DrawFn, name: str, priority: int, groups: int) -> Json:
    composite = draw(_group(name, priority, 1, is_newer=True, by_topology=True))
    policy = draw(
        st.sampled_from(
            [{"basic": {}}, {"basic": {}}, *({"gang": {"minGroupCount": count + 1}} for count in range(groups))]
        )
    )
    spec = composite["spec"] | {"schedulingPolicy": policy}
    return composite | {"apiVersion": "scheduling.k8s.io/v1alpha3", "kind": TREES, "spec": spec, "status": {}}


def _below(group: Json, above: Json) -> Json:
    group["spec"][_ABOVE] = above["metadata"]["name"]
    return group


@st.composite
def _running(
    draw: st.DrawFn,
    about: frozenset[str],
    names: list[str],
    index: int,
    priority: int,
    leaves: list[str],
    *,
    is_newer: bool,
    started_alike: bool,
) -> Json:
    """A pod on a node; none started at the same time as another, as chance orders those.

    Where groups leave as a whole, chance decides which member's time counts: those of the other group `started_alike`.
    """
    spec = draw(_specs(about)) | {"nodeName": draw(st.sampled_from([*names * 6, "gone"]))}
    member = draw(st.sampled_from([None, None, OTHER, draw(st.sampled_from(leaves))]))
    if member is not None:
        spec["schedulingGroup"] = {"podGroupName": member}
    own = priority if member in leaves and (is_newer or draw(st.booleans())) else draw(st.sampled_from([0, 0, 50]))
    status = {
        "phase": "Running",
        "startTime": f"2026-01-01T00:{0 if member == OTHER and started_alike else index + 1:02}:00Z",
    }
    return pod(f"run-{index}", NAMESPACE, draw(labels), {**spec, "priority": own}, status)


@st.composite
def _devices(draw: st.DrawFn, cluster: list[Json], *, is_newer: bool) -> list[Json]:
    """Devices, some of which take of their node's own cpu, too."""
    objects = draw(inventory(cluster))
    taken: Json = {"nodeAllocatableResourceMappings": {"cpu": {"allocationMultiplier": "1"}}}
    if is_newer:
        taken = {"nodeAllocatableResources": {"cpu": {"mapping": {"deviceMultiplier": "1"}}}}
    for each in objects:
        for device in each["spec"].get("devices", ()):
            device.update(taken if draw(st.integers(0, 3)) == 0 else {})
    return objects


@st.composite
def _with_claims(draw: st.DrawFn, group: Json, members: list[Json], names: list[str]) -> list[Json]:
    """Claims of the group, which most members use, and of single members."""
    made = [draw(_claim(group, "PodGroup", index, names)) for index in range(draw(st.integers(0, 2)))]
    group["spec"]["resourceClaims"] = [reference for _, reference in made]
    _refer(group, made)
    found = [claim for claim, _ in made]
    for member in members:
        own = [draw(_claim(member, "Pod", 2, names))] if draw(st.integers(0, 3)) == 0 else []
        used = [*(made if draw(st.integers(0, 7)) else made[:1]), *own]
        member["spec"]["resourceClaims"] = [reference for _, reference in used]
        _refer(member, used)
        found += [claim for claim, _ in own]
    return [claim for claim in found if draw(st.integers(0, 30)) != 7]


def _refer(owner: Json, claims: list[tuple[Json, Json]]) -> None:
    """Name the claims that were made from templates in the owner's status."""
    named = [
        {"name": reference["name"], "resourceClaimName": claim["metadata"]["name"]}
        for claim, reference in claims
        if _CLAIM_KINDS[1] in reference
    ]
    if named:
        owner["status"] = owner["status"] | {"resourceClaimStatuses": named}


@st.composite
def _claim(draw: st.DrawFn, owner: Json, kind: str, index: int, names: list[str]) -> tuple[Json, Json]:
    """A claim, and how its owner refers to it; now and then it has devices and is reserved for somebody."""
    about = owner["metadata"]
    name = f"{about['name']}-claim{index}"
    claim = resource("ResourceClaim", name, draw(claim_spec()), about["namespace"])
    how = draw(st.sampled_from(_CLAIM_KINDS))
    if how == _CLAIM_KINDS[1]:
        version = owner["apiVersion"] if kind == "PodGroup" else "v1"
        controller = {"apiVersion": version, "kind": kind, "name": about["name"], "uid": about["uid"]}
        claim["metadata"] = claim["metadata"] | {"ownerReferences": [controller | {"controller": True}]}
    claim["status"] = {}
    if draw(st.integers(0, 5)) == 0:
        claim["status"] = allocated(draw(st.sampled_from(names)), index)
        group = {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": about["name"], "uid": about["uid"]}
        user = group if kind == "PodGroup" else {"resource": "pods", "name": about["name"], "uid": about["uid"]}
        if draw(st.booleans()):
            claim["status"] = claim["status"] | {"reservedFor": [user]}
    return claim, {"name": f"d{index}", how: name if how == _CLAIM_KINDS[0] else "template"}


def _specs(about: frozenset[str]) -> st.SearchStrategy[Json]:
    """Pods' specs; where preemption is the topic, of pods that fill a node soon."""
    if not {"victims", "alike"} & about or "resources" in about:
        return specs(about)
    wants = st.sampled_from(["1", "1500m", "2"])
    return st.builds(
        lambda cpu, spec: {**spec, "containers": [{"name": "c0", "resources": {"requests": {"cpu": cpu}}}]},
        wants,
        specs(about),
    )


@st.composite
def _members(
    draw: st.DrawFn,
    about: frozenset[str],
    names: list[str],
    priority: int,
    count: int,
    leaves: list[str],
    *,
    may_be_nominated: bool,
) -> list[Json]:
    """Pending members of one or two shapes."""
    shapes = [(draw(_specs(about)), draw(labels)) for _ in range(draw(st.integers(1, 2)))]
    never = draw(st.integers(0, 12)) == 7
    members = []
    for index in range(count):
        spec, with_labels = draw(st.sampled_from(shapes))
        spec = {**spec, "schedulingGroup": {"podGroupName": draw(st.sampled_from(leaves))}, "priority": priority}
        if draw(st.integers(0, 40)) == 7:
            spec["priority"] = draw(st.sampled_from([0, 50]))
        if draw(st.integers(0, 40)) == 7:
            spec["schedulerName"] = "another"
        if never or draw(st.integers(0, 40)) == 7:
            spec["preemptionPolicy"] = "Never"
        if draw(st.integers(0, 60)) == 7:
            spec["schedulingGates"] = [{"name": "a.io/x"}]
        status: Json = {"phase": "Pending"}
        if may_be_nominated and draw(st.integers(0, 9)) == 0:
            status["nominatedNodeName"] = draw(st.sampled_from(names))
        deleted = "2026-01-01T01:00:00Z" if draw(st.integers(0, 40)) == 7 else None
        about_pod = {"deletionTimestamp": deleted} if deleted else {}
        members.append(pod(f"pend-{index}", NAMESPACE, with_labels, spec, status, **about_pod))
    return members
