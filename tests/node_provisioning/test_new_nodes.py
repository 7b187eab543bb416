"""`explain --new-nodes`, from a dump to the answer."""

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_sched.errors import SchedError
from kubectl_sched.queries.explain import ExplainAnswer, ExplainQuestion, explain
from kubectl_sched.queries.provisioning.new_nodes import NewNodesFlags
from kubectl_sched.render.answers.explanation_data import explanation_data
from kubectl_sched.render.display import Display
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.dump.reader import read
from kubectl_sched.sources.pod_selection import Selection
from tests.render.worlds import page_of, text_of

Json = dict[str, Any]

ZONE = "topology.kubernetes.io/zone"
CAPACITY_TYPE = "karpenter.sh/capacity-type"


def instance_type(name: str, cpu: str, price: float) -> Json:
    requirements = [{"key": key, "operator": "In", "values": [value]}
                    for key, value in ((ZONE, "a"), (CAPACITY_TYPE, "spot"))]  # fmt: skip
    return {"name": name, "architecture": "amd64", "operatingSystems": ["linux"],
            "resources": {"cpu": cpu, "memory": "8Gi"},
            "offerings": [{"Price": price, "Requirements": requirements}]}  # fmt: skip


def pod_on(name: str, cpu: str) -> Json:
    other = pod(cpu, nodeName=name)
    return {**other, "metadata": {**other["metadata"], "name": "other", "uid": "other"}, "status": {"phase": "Running"}}


TYPES = json.dumps([instance_type("m5.xlarge", "4", 0.2), instance_type("m5.large", "2", 0.1)]).encode()


def pool(name: str, **spec: Any) -> Json:
    reference = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
    conditions = [{"type": kind, "status": "True"} for kind in ("ValidationSucceeded", "NodeClassReady", "Ready")]
    template = {"spec": {"nodeClassRef": reference, "requirements": [], **spec}}
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name},
            "spec": {"template": template}, "status": {"conditions": conditions}}  # fmt: skip


UNSCHEDULABLE = {
    "phase": "Pending",
    "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}],
}


def pod(cpu: str = "1500m", **spec: Any) -> Json:
    container = {"name": "main", "resources": {"requests": {"cpu": cpu}}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "default", "uid": "web"},
            "spec": {"containers": [container], **spec}, "status": {"phase": "Pending"}}  # fmt: skip


def asked(
    folder: Path, *objects: Json, types: bytes | None = TYPES, new_nodes: bool = True, replay: Replay | None = None
) -> ExplainAnswer:
    """The answer about the pod `web`."""
    path = folder / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))
    selection = Selection(targets=("pod", "web"))
    stated = (types, "types.json") if types is not None and new_nodes else None
    question = ExplainQuestion(
        selection=selection,
        new_nodes=NewNodesFlags(instance_types=stated) if new_nodes else None,
        replay=replay or Replay(),
    )
    return explain(question, read([str(path)]))[0]


def answered(
    folder: Path, *objects: Json, types: bytes | None = TYPES, new_nodes: bool = True, replay: Replay | None = None
) -> Json:
    """The `newNodes` of the pod `web`, its `assumed` beside `karpenter`."""
    answer = asked(folder, *objects, types=types, new_nodes=new_nodes, replay=replay)
    found: Json = explanation_data(answer.explanations[0], "")["newNodes"]
    return found


def screen(answer: ExplainAnswer, output: str = "table") -> str:
    """The answer as text, or as a page."""
    display = Display(output=output)
    return text_of(answer, display, 100) if output == "table" else page_of(answer, display)


def node(name: str, **labels: str) -> Json:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
            "spec": {"providerID": f"x://{name}"},
            "status": {"capacity": {"cpu": "2", "memory": "4Gi", "pods": "10"},
                       "allocatable": {"cpu": "1", "memory": "4Gi", "pods": "10"}}}  # fmt: skip


def test_a_node_is_made_of_the_cheapest_types_that_fit(tmp_path: Path) -> None:
    found = answered(tmp_path, pool("general"), pod())["karpenter"]
    assert found["verdict"] == "Created"
    assert found["nodePool"] == "general"
    assert found["instanceTypes"] == ["m5.large", "m5.xlarge"]
    assert found["thenScheduler"] == {"outcome": "Schedulable", "plugin": "", "reasons": []}


@pytest.mark.parametrize(
    ("owner", "nominated", "reason"),
    [
        (None, "n1", "the pod is nominated to n1"),
        (("apps/v1", "DaemonSet"), "", "a pod of a DaemonSet needs the node that it is for"),
        (("v1", "Node"), "", "the pod is static"),
    ],
)
@pytest.mark.parametrize("is_marked", [False, True])
def test_a_pod_that_karpenter_does_not_look_at_gets_no_node(
    tmp_path: Path, owner: tuple[str, str] | None, nominated: str, reason: str, *, is_marked: bool
) -> None:
    asking, occupied = pod("900m", priority=1), pod_on("n1", "900m")
    occupied["spec"]["priority"] = 0 if nominated else 1
    if owner is not None:
        asking["metadata"]["ownerReferences"] = [
            {"apiVersion": owner[0], "kind": owner[1], "name": "x", "uid": "x", "controller": True}
        ]
    if is_marked:
        asking["status"] = {**UNSCHEDULABLE, "nominatedNodeName": nominated}
    found = answered(tmp_path, pool("general"), node("n1"), occupied, asking)["karpenter"]
    assert (found["verdict"], found["error"]) == ("Impossible", reason)
    assert [(each["verdict"], each["reason"]) for each in found["nodePools"]] == [("Impossible", reason)]


@pytest.mark.parametrize(
    ("of_pool", "of_pod"),
    [
        (("In", "red", "blue"), ("In", "red", "blue")),
        (("Exists",), ("Exists",)),
        (("Gt", "3"), ("Gt", "5")),
        (("NotIn", "0", "1"), ("Exists",)),
        (("NotIn", "0", "1"), ("NotIn", "2")),
        (("DoesNotExist",), ("DoesNotExist",)),
    ],
)
def test_a_new_node_has_the_labels_to_which_karpenter_gives_values(
    tmp_path: Path, of_pool: tuple[str, ...], of_pod: tuple[str, ...]
) -> None:
    of_pool_, of_pod_ = (
        {"key": "team", "operator": operator, "values": values} for operator, *values in (of_pool, of_pod)
    )
    terms = {"nodeSelectorTerms": [{"matchExpressions": [of_pod_]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    found = answered(tmp_path, pool("general", requirements=[of_pool_]), pod(affinity=affinity))["karpenter"]
    assert (found["verdict"], found["thenScheduler"]["outcome"]) == ("Created", "Schedulable")


def test_a_new_node_has_what_its_claim_leaves_of_a_label_of_its_type(tmp_path: Path) -> None:
    either = instance_type("m5.large", "2", 0.1) | {"operatingSystems": ["linux", "windows"]}
    selecting = pod(nodeSelector={"kubernetes.io/os": "linux"})
    found = answered(tmp_path, pool("general"), selecting, types=json.dumps([either]).encode())["karpenter"]
    assert found["thenScheduler"]["outcome"] == "Schedulable"


@pytest.mark.parametrize(("key", "cpu"), [("kubernetes.io/hostname", "100m"), (ZONE, "3850m")])
def test_kube_scheduler_is_asked_with_the_other_pods_where_karpenter_expects_them(
    tmp_path: Path, key: str, cpu: str
) -> None:
    other = pod(cpu, nodeSelector={ZONE: "a"}) | {"status": UNSCHEDULABLE}
    other["metadata"] |= {"name": "db", "uid": "db", "labels": {"app": "db"}}
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": "db"}}}
    asking = pod("90m", affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})
    small = json.dumps([instance_type("a", "4", 0.2), instance_type("b", "350m", 0.1)]).encode()
    found = answered(tmp_path, pool("general"), other, asking, types=small)["karpenter"]
    assert (found["verdict"], found["thenScheduler"]["outcome"]) == ("Created", "Schedulable")


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"example.com/gpu": "1"}, "all available instance types exceed limits for nodepool (NodePool=general)"),
        ({"nodes": "1"}, "all available instance types exceed limits for nodepool (NodePool=general)"),
        ({"nodes": "2"}, "node limits have been exhausted for nodepool (NodePool=general)"),
    ],
)
def test_a_limit_that_is_exceeded_already_leaves_no_instance_type(tmp_path: Path, limits: Json, reason: str) -> None:
    limited = pool("general")
    limited["spec"]["limits"] = limits
    labels = {"karpenter.sh/nodepool": "general", "node.kubernetes.io/instance-type": "g5", "karpenter.sh/registered":
              "true", "karpenter.sh/initialized": "true", ZONE: "a", CAPACITY_TYPE: "spot"}  # fmt: skip
    nodes = [node("n1", **labels), node("n2", **labels)]
    for each in nodes:
        each["status"]["capacity"]["example.com/gpu"] = "1"
    found = answered(tmp_path, limited, *nodes, pod(), types=None)["karpenter"]
    assert (found["verdict"], found["nodePools"][0]["reason"]) == ("Impossible", reason)


@pytest.mark.parametrize("capacity_types", [("reserved",), ("on-demand", "reserved")])
def test_capacity_that_was_reserved_is_not_taken_for_used_up(tmp_path: Path, capacity_types: tuple[str, ...]) -> None:
    labels = {"karpenter.sh/nodepool": "general", "node.kubernetes.io/instance-type": "m5.large", ZONE: "a"}
    objects = [pool("general"), pod("900m")]
    for capacity_type in capacity_types:
        labels[CAPACITY_TYPE] = capacity_type
        running = pod_on(capacity_type, "900m")
        running["metadata"] |= {"name": capacity_type, "uid": capacity_type}
        objects += [node(capacity_type, **labels), running]
    answer = answered(tmp_path, *objects, types=None)
    found = answer["karpenter"]
    assert (found["verdict"], found["thenScheduler"]["outcome"]) == ("Created", "Schedulable")
    assert found["requirements"][CAPACITY_TYPE] == [{"operator": "In", "values": ["reserved"]}]
    assert "" not in found["requirements"]
    assert "no reservation is used up" in answer["assumed"]


def without_uid(item: Json, name: str) -> Json:
    return {**item, "metadata": {"namespace": "default", "name": name}}


def test_pods_of_a_dump_without_uids_are_told_apart(tmp_path: Path) -> None:
    large = [{**without_uid(pod("64"), name), "status": UNSCHEDULABLE} for name in ("a", "b", "c")]
    found = answered(tmp_path, pool("general"), *large, without_uid(pod(), "web"))["karpenter"]
    assert found["verdict"] == "Created"


def test_daemon_sets_of_a_dump_without_uids_are_told_apart(tmp_path: Path) -> None:
    objects = [pool("general"), node("n1"), without_uid(pod("900m"), "web")]
    for name, cpu in (("small", "100m"), ("large", "800m")):
        spec = pod(cpu)["spec"]
        owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": name, "controller": True}
        running = pod(cpu, nodeName="n1")
        running["metadata"] = {"namespace": "default", "name": f"{name}-1", "ownerReferences": [owner]}
        objects += [
            running,
            {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name, "namespace": "default"},
             "spec": {"selector": {}, "template": {"spec": spec}}},
        ]  # fmt: skip
    found = answered(tmp_path, *objects)["karpenter"]
    assert found["nodeClaim"]["resources"]["requests"]["cpu"] == "1800m"


def test_no_toleration_helps_a_pod_that_karpenter_ignores(tmp_path: Path) -> None:
    tainted = pool("gpu", taints=[{"key": "gpu", "effect": "NoSchedule"}])
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c", "namespace": "default"},
             "spec": {}}  # fmt: skip
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}
    found = answered(tmp_path, tainted, claim, pod(volumes=[volume]))["karpenter"]
    assert found["error"].startswith("unbound pvc must define a storage class")
    assert found["nodePools"][0]["suggestion"] == ""


def test_the_nodepool_that_refuses_is_quoted_in_karpenters_words(tmp_path: Path) -> None:
    tainted = pool("gpu", taints=[{"key": "gpu", "effect": "NoSchedule"}])
    found = answered(tmp_path, tainted, pod())["karpenter"]
    assert (found["verdict"], found["error"]) == ("Impossible", "did not tolerate taint (taint=gpu:NoSchedule)")
    suggestion = "NodePool gpu would make one if the pod tolerated gpu:NoSchedule"
    (told,) = found["nodePools"]
    assert (told["name"], told["verdict"], told["reason"]) == ("gpu", "Impossible", found["error"])
    assert told["suggestion"] == suggestion
    assert f"{suggestion}." in screen(asked(tmp_path, tainted, pod()))
    softer = pool("gpu", taints=[{"key": "gpu", "effect": "NoSchedule"}, {"key": "x", "effect": "PreferNoSchedule"}])
    assert answered(tmp_path, softer, pod())["karpenter"]["nodePools"][0]["suggestion"] == suggestion
    larger = answered(tmp_path, tainted, pod("64"))["karpenter"]
    assert larger["nodePools"][0]["suggestion"] == ""


def test_a_pod_that_is_too_large_for_the_types_seen_is_unknown_and_not_impossible(tmp_path: Path) -> None:
    seen = node("n1", **{"karpenter.sh/nodepool": "general", "node.kubernetes.io/instance-type": "m5.large",
                         ZONE: "a", CAPACITY_TYPE: "spot", "karpenter.sh/initialized": "true"})  # fmt: skip
    found = answered(tmp_path, pool("general"), seen, pod("16"), types=None)["karpenter"]
    assert found["verdict"] == "Unknown"
    assert found["error"].startswith("no instance type has enough resources")
    assert answered(tmp_path, pool("general"), seen, pod("16"))["karpenter"]["verdict"] == "Impossible"


def test_a_pod_that_names_a_restricted_label_is_ignored_in_karpenters_words(tmp_path: Path) -> None:
    gone = {"key": "kubernetes.io/hostname", "operator": "NotIn", "values": ["karpenter-new-node"]}
    required = {"nodeSelectorTerms": [{"matchExpressions": [gone]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    found = answered(tmp_path, pool("general"), pod(affinity=affinity))["karpenter"]
    assert found["verdict"] == "Impossible"
    assert "using label kubernetes.io/hostname is not allowed" in found["error"]
    assert found["error"].endswith("that does not use a restricted domain: [karpenter.k8s.aws karpenter.sh]")


def test_without_a_nodepool_there_is_nothing_to_replay(tmp_path: Path) -> None:
    with pytest.raises(SchedError, match="there is no NodePool"):
        answered(tmp_path, pod())


SEEN = node("n1", **{"karpenter.sh/nodepool": "general", "node.kubernetes.io/instance-type": "m5.large",
                     ZONE: "a", CAPACITY_TYPE: "spot", "karpenter.sh/initialized": "true"})  # fmt: skip


def test_the_first_screen_says_in_a_line_what_karpenter_would_do_though_nobody_asked(tmp_path: Path) -> None:
    answer = asked(tmp_path, pool("general"), SEEN, pod("1"), pod_on("n1", "1"), new_nodes=False)
    first = "Karpenter would create a node for it from NodePool general: m5.large."
    assert first in screen(answer)
    assert "would it create a node?" not in screen(answer)
    assert first in screen(answer, "markdown")
    assert first in screen(answer, "html")


def test_nothing_is_said_of_new_nodes_without_an_autoscaler_or_need(tmp_path: Path) -> None:
    assert answered(tmp_path, SEEN, pod("1"), pod_on("n1", "1"), new_nodes=False) is None
    assert answered(tmp_path, pool("general"), SEEN, pod("500m"), new_nodes=False) is None


@pytest.mark.parametrize("output", ["table", "markdown", "html"])
def test_every_output_has_a_line_for_each_nodepool(tmp_path: Path, output: str) -> None:
    gpu = pool("gpu", taints=[{"key": "gpu", "effect": "NoSchedule"}])
    shown = screen(asked(tmp_path, pool("general"), gpu, pod()), output)
    assert "would it create a node?" in shown
    assert "yes: 2 instance types fit" in shown
    assert "did not tolerate taint" in shown
    assert ('role="region" aria-label="New nodes by NodePool"' in shown) == (output == "html")


def karpenter(
    kind: str, image: str = "example/karpenter/controller:1.14.1", args: tuple[str, ...] = (), **env: str
) -> Json:
    variables = [{"name": name, "value": value} for name, value in env.items()]
    spec = {"containers": [{"name": "controller", "image": image, "args": args, "env": variables}]}
    template: Json = {"spec": spec} if kind == "Pod" else {"spec": {"template": {"spec": spec}}}
    version = "v1" if kind == "Pod" else "apps/v1"
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": "karpenter", "namespace": "kube-system"},
        **template,
    }


def test_that_no_instance_type_is_known_is_said(tmp_path: Path) -> None:
    found = answered(tmp_path, pool("general"), pod(), types=None)
    assert found["karpenter"]["verdict"] == "Unknown"
    assert any("no instance type is known" in each for each in found["assumed"])


@pytest.mark.parametrize("kind", ["Pod", "Deployment"])
@pytest.mark.parametrize("in_args", [False, True])
def test_karpenters_settings_are_those_of_its_deployment(tmp_path: Path, kind: str, *, in_args: bool) -> None:
    preferred = {"preference": {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["b"]}]}, "weight": 1}
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [preferred]}}
    several = pool("general", requirements=[{"key": "node.kubernetes.io/instance-type", "operator": "Exists",
                                             "minValues": 3}])  # fmt: skip
    cluster = (several, pod(affinity=affinity))
    strict = answered(tmp_path, *cluster)
    assert strict["karpenter"]["verdict"] == "Impossible"
    assert any("as its pod is not seen" in each for each in strict["assumed"])
    stated = {"MIN_VALUES_POLICY": "BestEffort", "FEATURE_GATES": "CapacityBuffer=true,ReservedCapacity=true"}
    args = tuple(f"--{name.lower().replace('_', '-')}={value}" for name, value in stated.items()) if in_args else ()
    env = {"PASSWORD": "secret"} if in_args else stated
    found = answered(tmp_path, *cluster, karpenter(kind, args=args, **env))
    assert found["karpenter"]["verdict"] == "Created"
    assert "CapacityBuffers are not replayed, though the feature gate CapacityBuffer is on" in found["assumed"]
    assert not any("default settings" in each for each in found["assumed"])


def test_karpenters_variables_are_read_beside_what_else_cannot_be(tmp_path: Path) -> None:
    broken = pod(schedulingGates=[{"name": "example.com/hold"}])
    broken["metadata"] |= {"name": "gated", "uid": "gated", "managedFields": [{"fieldsV1": "no object"}]}
    found = answered(tmp_path, pool("general"), pod(), broken, karpenter("Pod", FEATURE_GATES="CapacityBuffer=true"))
    assert "CapacityBuffers are not replayed, though the feature gate CapacityBuffer is on" in found["assumed"]


def test_node_overlays_count_where_their_gate_is_on(tmp_path: Path) -> None:
    overlay: Json = {"apiVersion": "karpenter.sh/v1alpha1", "kind": "NodeOverlay", "metadata": {"name": "dear"},
                     "spec": {"requirements": [{"key": "node.kubernetes.io/instance-type", "operator": "In",
                                                "values": ["m5.large"]}],
                              "priceAdjustment": "+300%", "capacity": {"example.com/gpu": "1"}}}  # fmt: skip
    cluster = (pool("general"), overlay, pod())
    assert answered(tmp_path, *cluster)["karpenter"]["instanceTypes"] == ["m5.large", "m5.xlarge"]
    switched = karpenter("Pod", FEATURE_GATES="NodeOverlay=true")
    assert answered(tmp_path, *cluster, switched)["karpenter"]["instanceTypes"] == ["m5.xlarge", "m5.large"]
    overlay["spec"]["priceAdjustment"] = "much"
    assert answered(tmp_path, *cluster, switched)["karpenter"]["instanceTypes"] == ["m5.large", "m5.xlarge"]


def test_another_release_of_karpenter_is_named_as_not_replayed(tmp_path: Path) -> None:
    found = answered(
        tmp_path, pool("general"), pod(), karpenter("Pod", "example/karpenter/controller:v1.5.0@sha256:00")
    )
    assert "Karpenter runs 1.5.0 here: what differs from 1.14.1 is not replayed" in found["assumed"]


def test_karpenter_refuses_pods_that_want_devices(tmp_path: Path) -> None:
    wanting = pod(resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}])
    refused = answered(tmp_path, pool("general"), wanting)["karpenter"]
    assert refused["verdict"] == "Impossible"
    assert "Dynamic Resource Allocation" in refused["error"]


def test_preferences_that_are_ignored_choose_no_zone(tmp_path: Path) -> None:
    types = json.dumps([each | {"offerings": each["offerings"] + [
        {"Price": 9.0, "Requirements": [{"key": ZONE, "operator": "In", "values": ["b"]},
                                        {"key": CAPACITY_TYPE, "operator": "In", "values": ["spot"]}]}]}
        for each in json.loads(TYPES)]).encode()  # fmt: skip
    preferred = {"preference": {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["b"]}]}, "weight": 1}
    wanting = pod(affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [preferred]}})
    kept = answered(tmp_path, pool("general"), wanting, types=types)["karpenter"]["requirements"]
    assert kept[ZONE] == [{"operator": "In", "values": ["b"]}]
    ignoring = karpenter("Pod", PREFERENCE_POLICY="Ignore")
    left = answered(tmp_path, pool("general"), wanting, ignoring, types=types)["karpenter"]["requirements"]
    assert ZONE not in left


ONLY_GENERATION_2 = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms: [{matchExpressions: [{key: generation, operator: In, values: ["2"]}]}]
"""


def test_a_node_that_kube_scheduler_would_refuse_is_told_as_an_endless_scale_up(tmp_path: Path) -> None:
    config = tmp_path / "scheduler.yaml"
    config.write_text(ONLY_GENERATION_2)
    answer = asked(tmp_path, pool("general"), pod(), replay=Replay(config=str(config)))
    found = explanation_data(answer.explanations[0], "")["newNodes"]["karpenter"]
    assert found["thenScheduler"]["outcome"] == "Unschedulable"
    refused = "node(s) didn't match scheduler-enforced node affinity"
    assert f"! kube-scheduler would then refuse that node: {refused}. Karpenter would go on creating" in screen(answer)


def claim(name: str, created: str = "2026-06-01T10:00:00Z", **status: Any) -> Json:
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
            "metadata": {"name": name, "labels": {"karpenter.sh/nodepool": "general", ZONE: "a", CAPACITY_TYPE: "spot",
                                                  "node.kubernetes.io/instance-type": "m5.large"},
                         "creationTimestamp": created},
            "spec": {"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}},
            "status": {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "10"},
                       "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}, **status}}  # fmt: skip


def test_a_node_that_is_starting_for_the_pod_is_named_with_how_far_it_is(tmp_path: Path) -> None:
    cluster = (pool("general"), claim("general-x1", providerID="x://1"), pod("3"))
    found = answered(tmp_path, *cluster)
    assert (found["karpenter"]["verdict"], found["karpenter"]["node"]) == ("InFlight", "general-x1")
    assert found["starting"] == [{"name": "general-x1", "state": "not registered", "since": "2026-06-01T10:00:00Z"}]
    shown = screen(asked(tmp_path, *cluster))
    assert "a node for it is starting" in shown
    assert "general-x1, not registered" in shown


def test_nodes_that_are_about_to_be_removed_are_named(tmp_path: Path) -> None:
    marked = node("n2")
    marked["spec"]["taints"] = [{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}]
    cluster = (pool("general"), node("n1"), marked, claim("general-x2"), pod("3"))
    found = answered(tmp_path, *cluster)
    assert found["leaving"] == ["n2"]
    assert [each["state"] for each in found["starting"]] == ["not launched"]
    assert "About to be removed: n2." in screen(asked(tmp_path, *cluster))
