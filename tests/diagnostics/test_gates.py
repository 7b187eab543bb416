"""Gates and queues: who holds the pod back, in that controller's words, and where it would land if it were let go.

Objects are as sigs.k8s.io/kueue v0.16.1 and v0.18.4 (v1beta1, v1beta2), volcano.sh/apis v1.11.0, jobset v0.8.0, lws
v0.6.0 and koordinator v1.6.0 define them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kubectl_sched.diagnostics.awaited_changes import waiting_for
from kubectl_sched.diagnostics.messages.scheduler_reasons import own_reasons
from kubectl_sched.queries.explain import ExplainAnswer, ExplainQuestion, explain
from kubectl_sched.queries.triage import triage
from kubectl_sched.render.answers.explanation_data import explanation_data
from kubectl_sched.render.display import Display
from kubectl_sched.render.sentences.gate_sentences import gate_lines
from kubectl_sched.render.sentences.group_sentences import what_helps
from kubectl_sched.render.sentences.headline import headline
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.export.anonymizer import anonymized
from kubectl_sched.sources.export.snapshot_file import encoded
from kubectl_sched.sources.pod_selection import Selection
from tests.render.worlds import page_of, text_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.sources import Dump

    Read = Callable[..., Dump]

Json = dict[str, Any]
AT = "2026-06-01T08:00:00Z"
NO_QUOTA = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor spot, 2 more needed"


def obj(api_version: str, kind: str, name: str, namespace: str | None = "ml", **fields: Any) -> Json:
    meta = {"name": name, "creationTimestamp": AT, **fields.pop("metadata", {})}
    if namespace is not None:
        meta["namespace"] = namespace
    return {"apiVersion": api_version, "kind": kind, "metadata": meta, **fields}


def node(name: str, cpu: str, pool: str, *taints: Json) -> Json:
    labels = {"pool": pool, "kubernetes.io/hostname": name}
    status = {"allocatable": {"cpu": cpu, "memory": "16Gi", "pods": "110"}}
    return obj("v1", "Node", name, None, metadata={"labels": labels}, spec={"taints": list(taints)}, status=status)


SPOT = {"key": "spot", "value": "true", "effect": "NoSchedule"}
NODES = [node("spot-1", "8", "spot", SPOT), node("own-1", "2", "own")]
NAMESPACE = obj("v1", "Namespace", "ml", None, metadata={"labels": {"team": "a"}})


def pod(name: str = "train", *gates: str, **metadata: Any) -> Json:
    metadata = {"uid": f"uid-{name}", **metadata}
    spec = {
        "schedulerName": metadata.pop("scheduler", "default-scheduler"),
        "schedulingGates": [{"name": each} for each in gates],
        "nodeSelector": metadata.pop("selector", {}),
        "containers": [{"name": "c", "resources": {"requests": {"cpu": "4"}}}],
    }
    return obj("v1", "Pod", name, metadata=metadata, spec=spec, status={"phase": "Pending"})


HELD = pod("train", "kueue.x-k8s.io/admission", labels={"kueue.x-k8s.io/queue-name": "lq"})


def condition(kind: str, status: str, reason: str = "Pending", message: str = "") -> Json:
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": AT}


def workload(version: str = "v1beta2", spec: Json | None = None, owner: Json | None = None, **status: Any) -> Json:
    """A Workload of one pod, without quota unless the status says otherwise."""
    template = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "4"}}}]}}
    pod_set = {"name": "main", "count": 1, "template": template}
    reference = {"apiVersion": "v1", "kind": "Pod", "name": "train", "uid": "uid-train", "controller": True}
    return obj(
        f"kueue.x-k8s.io/{version}",
        "Workload",
        "train-1a2b3",
        metadata={"ownerReferences": [owner or reference]},
        spec={"queueName": "lq", "podSets": [pod_set], "priority": 7, **(spec or {})},
        status={"conditions": [condition("QuotaReserved", "False", message=NO_QUOTA)], **status},
    )


def queues(version: str = "v1beta2", local: Json | None = None, **spec: Any) -> list[Json]:
    kueue = f"kueue.x-k8s.io/{version}"
    flavors = [
        {"name": "spot", "resources": [{"name": "cpu", "nominalQuota": 10, "borrowingLimit": "4"}]},
        {"name": "own", "resources": [{"name": "cpu", "nominalQuota": "5"}]},
    ]
    group = {"coveredResources": ["cpu"], "flavors": flavors}
    cohort = {"cohort": "all"} if version == "v1beta1" else {"cohortName": "all"}
    usage = [{"name": "spot", "resources": [{"name": "cpu", "total": "12", "borrowed": "2"}]}]
    status = {"flavorsReservation": usage, "flavorsUsage": usage, "pendingWorkloads": 3}
    other = {"resourceGroups": [group], **cohort}
    return [
        obj(kueue, "LocalQueue", "lq", spec={"clusterQueue": "cq", **(local or {})}),
        obj(kueue, "ClusterQueue", "cq", None, spec={"namespaceSelector": {}, **other, **spec}, status=status),
        obj(kueue, "ClusterQueue", "cq2", None, spec={"namespaceSelector": {}, **other}),
        obj(kueue, "Cohort", "all", None, spec={}),
        obj(
            kueue,
            "ResourceFlavor",
            "spot",
            None,
            spec={"nodeLabels": {"pool": "spot"}, "tolerations": [{"key": "spot", "operator": "Exists"}]},
        ),
        obj(kueue, "ResourceFlavor", "own", None, spec={"nodeLabels": {"pool": "own"}}),
    ]


def asked(read: Read, *objects: Json, target: str = "pod/train") -> Explanation:
    dump = read({"kind": "List", "apiVersion": "v1", "items": [*NODES, NAMESPACE, *objects]})
    assert dump.warnings == ()
    selection = Selection(targets=(target,), namespace="ml")
    return explain(ExplainQuestion(selection=selection, replay=Replay(kube_version="1.36")), dump)[0].explanations[0]


def gates_of(explanation: Explanation) -> list[Json]:
    found: list[Json] = explanation_data(explanation, "")["gates"]
    return found


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
def test_the_chain_is_followed_and_each_flavor_is_replayed(read_text: Read, version: str) -> None:
    found = asked(read_text, HELD, workload(version), *queues(version))
    (gate,) = gates_of(found)
    assert gate["gate"] == "kueue.x-k8s.io/admission"
    assert gate["owner"] == {"kind": "Workload", "namespace": "ml", "name": "train-1a2b3", "controller": "Kueue"}
    assert gate["says"] == [
        {
            "about": "Workload ml/train-1a2b3",
            "type": "QuotaReserved",
            "status": "False",
            "reason": "Pending",
            "message": NO_QUOTA,
            "since": AT,
            "says": "",
        }
    ]
    queue = gate["queue"]
    assert (queue["localQueue"], queue["clusterQueue"], queue["cohort"]) == ("lq", "cq", "all")
    assert (queue["position"], queue["priority"], queue["pendingWorkloads"]) == (None, 7, 3)
    assert queue["quotas"][0] == {
        "flavor": "spot",
        "resource": "cpu",
        "nominal": "10",
        "reserved": "12",
        "used": "12",
        "borrowed": "2",
        "borrowingLimit": "4",
        "lendingLimit": None,
        "wanted": "4",
    }
    assert [(each["flavor"], each["nominal"], each["reserved"]) for each in queue["cohortQuotas"]] == [
        ("spot", "20", "12"),
        ("own", "10", "0"),
    ]
    assert gate["fitsUngated"] is True
    assert [(each["flavors"], each["fits"], each["best"]) for each in gate["ungated"]] == [
        (["spot"], True, ["spot-1"]),
        (["own"], False, []),
    ]
    said = headline(found)
    assert "Kueue holds it back (gate kueue.x-k8s.io/admission) as Workload ml/train-1a2b3 in LocalQueue lq" in said
    assert f'QuotaReserved is False (Pending) since {AT}: "{NO_QUOTA}"' in said
    assert "With the gate lifted and flavor spot it would land on spot-1" in said
    assert found.suggestions == ()
    assert any("nominal 10, reserved 12" in each for each in gate_lines(found.gates))


def admission(flavor: str, **assignment: Any) -> Json:
    assigned = {"name": "main", "flavors": {"cpu": flavor}, "resourceUsage": {"cpu": "4"}, "count": 1, **assignment}
    return {"clusterQueue": "cq", "podSetAssignments": [assigned]}


RESERVED = condition("QuotaReserved", "True", "QuotaReserved", "Quota reserved in ClusterQueue cq")
WAITS = {"name": "prov", "state": "Pending", "message": "waiting for capacity", "lastTransitionTime": AT}


def test_the_assigned_flavor_alone_is_replayed_with_what_checks_set(read_text: Read) -> None:
    held = workload(
        conditions=[RESERVED, condition("Admitted", "False", "NoAdmission")],
        admission=admission("own"),
        admissionChecks=[{**WAITS, "podSetUpdates": [{"name": "main", "nodeSelector": {"new": "yes"}}]}],
    )
    request = obj(
        "autoscaling.x-k8s.io/v1",
        "ProvisioningRequest",
        "train-prov-1",
        metadata={"ownerReferences": [{"kind": "Workload", "name": "train-1a2b3", "uid": "w"}]},
        spec={"provisioningClassName": "check-capacity.autoscaling.x-k8s.io"},
        status={"conditions": [condition("Provisioned", "False", "CapacityIsNotFound", "no room found")]},
    )
    check = obj(
        "kueue.x-k8s.io/v1beta2",
        "AdmissionCheck",
        "prov",
        None,
        spec={"controllerName": "kueue.x-k8s.io/provisioning-request"},
        status={"conditions": [condition("Active", "False", "BadParametersRef", "no such config")]},
    )
    found = asked(read_text, HELD, held, request, check, *queues())
    (gate,) = gates_of(found)
    assert [(each["flavors"], each["assigned"], each["nodeSelector"]) for each in gate["ungated"]] == [
        (["own"], True, {"pool": "own", "new": "yes"})
    ]
    assert gate["fitsUngated"] is False
    said = headline(found)
    assert 'AdmissionCheck prov is Pending since 2026-06-01T08:00:00Z: "waiting for capacity"' in said
    assert "and its assigned flavor own it would still fit nowhere: " in said
    types = {(each["about"], each["type"], each["status"]) for each in gate["says"]}
    assert ("ProvisioningRequest ml/train-prov-1", "Provisioned", "False") in types
    assert ("AdmissionCheck prov", "Active", "False") in types


@pytest.mark.parametrize(
    "topology",
    [
        {"levels": ["kubernetes.io/hostname"], "domains": [{"values": ["spot-1"], "count": 1}]},
        {
            "levels": ["kubernetes.io/hostname"],
            "slices": [{"domainCount": 1, "valuesPerLevel": [{"individual": {"prefix": "spot-", "roots": ["1"]}}]}],
        },
        {
            "levels": ["kubernetes.io/hostname"],
            "slices": [{"domainCount": 1, "valuesPerLevel": [{"universal": "spot-1"}]}],
        },
    ],
)
def test_a_topology_gate_is_replayed_in_the_assigned_domain(read_text: Read, topology: Json) -> None:
    gates = ("kueue.x-k8s.io/topology", "kueue.x-k8s.io/elastic-job")
    held = pod("train", *gates, annotations={"kueue.x-k8s.io/workload": "train-1a2b3"})
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "gone", "uid": "gone"}
    admitted = workload(owner=owner, conditions=[RESERVED], admission=admission("spot", topologyAssignment=topology))
    found = asked(read_text, held, admitted, *queues())
    assert [each["gate"] for each in gates_of(found)] == list(gates)
    (again,) = gates_of(found)[0]["ungated"]
    assert again["nodeSelector"] == {"pool": "spot", "kubernetes.io/hostname": "spot-1"}
    assert again["best"] == ["spot-1"]


def test_a_nodeselector_that_conflicts_with_the_flavor_is_said(read_text: Read) -> None:
    held = pod("train", "kueue.x-k8s.io/admission", selector={"pool": "gold"})
    found = asked(read_text, held, workload(conditions=[RESERVED], admission=admission("spot")), *queues())
    (again,) = gates_of(found)[0]["ungated"]
    assert again["problem"] == "its own nodeSelector pool=gold conflicts with pool=spot"
    assert "it would not start: its own nodeSelector pool=gold conflicts" in headline(found)


HAS = "`kubectl get {} -o json` has them"


@pytest.mark.parametrize(
    ("objects", "fact"),
    [
        (queues(), "no Workload of Kueue for it was found"),
        ([workload(spec={"active": False}), *queues()], "Workload ml/train-1a2b3 is not active (spec.active is false)"),
        ([workload(spec={"queueName": "typo"}), *queues()], "no LocalQueue ml/typo was found"),
        ([workload(), queues(local={"clusterQueue": "typo"})[0], queues()[1]], "no ClusterQueue typo was found"),
        ([workload()], f"no LocalQueue was read, so what lq says is not known ({HAS.format('localqueues -A')})"),
        (
            [workload(), queues()[0]],
            f"no ClusterQueue was read, so what cq says is not known ({HAS.format('clusterqueues')})",
        ),
        ([workload(), *queues(local={"stopPolicy": "Hold"})], "LocalQueue ml/lq is stopped (stopPolicy Hold)"),
        ([workload(), *queues(stopPolicy="HoldAndDrain")], "ClusterQueue cq is stopped (stopPolicy HoldAndDrain)"),
        (
            [workload(), *queues(namespaceSelector={"matchLabels": {"team": "b"}})],
            "namespace ml does not match the namespaceSelector of ClusterQueue cq",
        ),
        (
            [workload(), *queues(namespaceSelector={"matchLabels": {"team": "b"}})[:2]],
            "namespace ml matches the namespaceSelector of no ClusterQueue",
        ),
    ],
)
def test_what_is_stopped_or_missing_is_said_first(read_text: Read, objects: list[Json], fact: str) -> None:
    found = asked(read_text, HELD, *objects)
    assert fact in gates_of(found)[0]["facts"]
    assert fact in headline(found)


PLAIN = obj("kueue.x-k8s.io/v1beta2", "ResourceFlavor", "plain", None, spec={})
OF_PLAIN: Json = {"resourceGroups": [{"coveredResources": ["cpu"], "flavors": [{"name": "plain", "resources": []}]}]}


@pytest.mark.parametrize(
    ("objects", "once", "instruction"),
    [
        (
            [workload(spec={"queueName": "typo"}), *queues()],
            "LocalQueue ml/typo is there",
            "create LocalQueue ml/typo for a ClusterQueue (cq, cq2), or name a LocalQueue of namespace ml",
        ),
        (
            [workload(), queues(local={"clusterQueue": "typo"})[0], queues()[1]],
            "ClusterQueue typo is there",
            "create ClusterQueue typo, or create LocalQueue ml/lq anew for one that is there (cq)",
        ),
        (
            [workload(spec={"active": False}), PLAIN, *queues(**OF_PLAIN)],
            "Workload ml/train-1a2b3 is active again",
            "set spec.active of Workload ml/train-1a2b3 to true",
        ),
        (
            [workload(), PLAIN, *queues(stopPolicy="Hold", **OF_PLAIN)],
            "ClusterQueue cq is no longer stopped",
            "set spec.stopPolicy of ClusterQueue cq to None",
        ),
        (
            [workload(), PLAIN, *queues(namespaceSelector={"matchLabels": {"team": "b"}}, **OF_PLAIN)],
            "namespace ml matches the namespaceSelector of ClusterQueue cq",
            "give namespace ml the labels that ClusterQueue cq asks for, or widen",
        ),
    ],
)
def test_a_gate_that_kueue_cannot_lift_as_it_is_is_not_waited_for(
    read_text: Read, objects: list[Json], once: str, instruction: str
) -> None:
    bare = pod("train", "kueue.x-k8s.io/admission", labels={"kueue.x-k8s.io/queue-name": "lq"})
    tolerating = {**bare, "spec": {**bare["spec"], "tolerations": [{"operator": "Exists"}]}}
    (suggestion,) = asked(read_text, tolerating, *objects).suggestions
    said = f"once {once} and Kueue lifts the gate kueue.x-k8s.io/admission"
    assert suggestion.text == f"It would fit on spot-1 {said}."
    assert [each.instruction.startswith(instruction) for each in suggestion.manual] == [True]
    assert not suggestion.commands

    dump = read_text({"kind": "List", "apiVersion": "v1", "items": [*NODES, NAMESPACE, tolerating, *objects]})
    (group,) = triage(ExplainQuestion(selection=Selection(namespace=None, pending=True)), dump).groups
    assert what_helps(group) == f"it would fit {said}"


def test_what_kueue_lacks_is_said_for_a_pod_on_which_it_will_set_fields_too(read_text: Read) -> None:
    (suggestion,) = asked(read_text, HELD, workload(), *queues(stopPolicy="Hold")).suggestions
    assert suggestion.text == (
        "It would fit on spot-1 once ClusterQueue cq is no longer stopped and Kueue lifts the gate "
        "kueue.x-k8s.io/admission."
    )
    assert not suggestion.patches
    assert asked(read_text, HELD, workload(), *queues()).suggestions == ()


def test_a_queue_that_is_gone_after_quota_was_reserved_is_nothing_to_see_to(read_text: Read) -> None:
    reserved = workload(conditions=[RESERVED], admission=admission("plain"))
    tolerating = {**HELD, "spec": {**HELD["spec"], "tolerations": [{"operator": "Exists"}]}}
    (suggestion,) = asked(read_text, tolerating, reserved, PLAIN).suggestions
    assert suggestion.text.startswith("Nothing to do: it would fit on spot-1 once Kueue lifts the gate")


def test_each_gate_is_waited_for_from_its_own_controller_and_the_others_alone_are_taken_off(read_text: Read) -> None:
    held = pod("train", "example.com/a", "jobset.sigs.k8s.io/b", "kueue.x-k8s.io/admission")
    held["spec"]["tolerations"] = [{"operator": "Exists"}]
    found = asked(read_text, held)
    (suggestion,) = found.suggestions
    assert suggestion.text.startswith(
        "No change of one thing helps; these three together do: it would fit on spot-1 once JobSet lifts the gate "
        "jobset.sigs.k8s.io/b, once Kueue lifts the gate kueue.x-k8s.io/admission and without its scheduling gate "
        "example.com/a ("
    )
    (patch,) = suggestion.patches
    assert patch.patch == {"spec": {"schedulingGates": [{"name": "example.com/a", "$patch": "delete"}]}}
    ((command,),) = (each.argvs for each in suggestion.commands)
    assert json.loads(command[-1]) == patch.patch
    assert waiting_for(found.result, found.stage, found.observed) == (
        "JobSet to lift the gate jobset.sigs.k8s.io/b and Kueue to lift the gate kueue.x-k8s.io/admission and "
        "the gate example.com/a to be removed"
    )


@pytest.mark.parametrize(
    ("conditions", "told"),
    [
        (
            [condition("Evicted", "True", "Preempted", "made room")],
            'Evicted is True (Preempted: a workload that comes first needed its quota) since {AT}: "made room"',
        ),
        ([condition("Admitted", "False", "NoChecks")], "Admitted is False (NoChecks) since {AT}"),
        (
            [condition("QuotaReserved", "False", "WaitingForQuota", "x")],
            'QuotaReserved is False (WaitingForQuota: the quota is in use) since {AT}: "x"',
        ),
        (
            [
                condition("QuotaReserved", "False", "NoMatchingFlavor"),
                condition("BlockedOnPreemptionGates", "True", "PreemptionGated"),
            ],
            (
                "BlockedOnPreemptionGates is True (PreemptionGated: it could preempt others for its quota, and a "
                "preemption gate forbids it) since {AT}"
            ),
        ),
    ],
)
def test_each_condition_is_quoted(read_text: Read, conditions: list[Json], told: str) -> None:
    assert told.format(AT=AT) in headline(asked(read_text, HELD, workload(conditions=conditions), *queues()))


def test_an_evicted_workload_tells_why_it_waits_now_why_it_was_evicted_and_when_it_is_put_back(read_text: Read) -> None:
    evicted = condition("Evicted", "True", "PodsReadyTimeout", "Exceeded the PodsReady timeout ml/train-1a2b3")
    again = {"count": 2, "requeueAt": "2026-06-01T08:04:00Z"}
    waiting = condition("QuotaReserved", "False", message=NO_QUOTA)
    found = asked(read_text, HELD, workload(conditions=[evicted, waiting], requeueState=again), *queues())
    evicted_for = f'Evicted is True (PodsReadyTimeout: its pods were not ready in time) since {AT}: "'
    told = f'QuotaReserved is False (Pending) since {AT}: "{NO_QUOTA}"; {evicted_for}'
    assert told in headline(found)
    assert 'Workload ml/train-1a2b3: requeueState: "count 2, requeueAt 2026-06-01T08:04:00Z"' in gate_lines(found.gates)


def test_failed_nodes_closed_gates_and_checks_that_are_asked_again_are_told(read_text: Read) -> None:
    check = {"name": "prov", "state": "Retry", "message": "no room", "retryCount": 2, "requeueAfterSeconds": 60}
    gates = [{"name": "kueue.x-k8s.io/multikueue", "position": "Closed"}, {"name": "open", "position": "Open"}]
    held = workload(admissionChecks=[check], unhealthyNodes=[{"name": "n1"}, {"name": "n2"}], preemptionGates=gates)
    found = asked(read_text, HELD, held, *queues())
    assert {(each["type"], each["message"]) for each in gates_of(found)[0]["says"]} > {
        ("AdmissionCheck prov", "no room"),
        ("AdmissionCheck prov", "retryCount 2, requeueAfterSeconds 60"),
        ("unhealthyNodes", "n1, n2"),
        ("preemptionGates", "closed: kueue.x-k8s.io/multikueue"),
    }


def test_a_check_that_is_not_active_is_told_in_plain_words(read_text: Read) -> None:
    conditions = [condition("Active", "False", "NoUsableClusters", "Missing clusters: [a]")]
    check = obj("kueue.x-k8s.io/v1beta2", "AdmissionCheck", "multi", None, status={"conditions": conditions})
    held = workload(admissionChecks=[{"name": "multi", "state": "Pending"}])
    (gate,) = gates_of(asked(read_text, HELD, held, check, *queues()))
    said = {each["says"] for each in gate["says"] if each["about"] == "AdmissionCheck multi"}
    assert said == {"none of its clusters can be used"}


def test_a_workload_that_multikueue_has_sent_elsewhere_names_the_cluster(read_text: Read) -> None:
    found = asked(read_text, HELD, workload(nominatedClusterNames=["a", "b"], clusterName="a"), *queues())
    assert {(each["type"], each["message"]) for each in gates_of(found)[0]["says"]} > {
        ("clusterName", "a"),
        ("nominatedClusterNames", "a, b"),
    }


def test_others_in_the_queue_are_named_in_its_order(read_text: Read) -> None:
    others = []
    for name, priority in (("low", 1), ("high", 9), ("done", 5), ("next", 5)):
        other = workload(spec={"priority": priority}, owner={"kind": "Job", "name": name, "uid": name})
        other["metadata"]["name"] = name
        others.append(other)
    others[2]["status"]["conditions"] = [condition("Finished", "True")]
    found = asked(read_text, HELD, workload(), *others, *queues())
    waiting = gates_of(found)[0]["queue"]["waiting"]
    assert [each.partition(" ")[0] for each in waiting] == ["high", "next", "low"]


def test_a_pod_group_that_is_not_complete_has_no_workload(read_text: Read) -> None:
    group = {"labels": {"kueue.x-k8s.io/queue-name": "lq", "kueue.x-k8s.io/pod-group-name": "g"}}
    group["annotations"] = {"kueue.x-k8s.io/pod-group-total-count": "3"}
    pods = [pod(name, "kueue.x-k8s.io/admission", **group) for name in ("train", "other")]
    found = asked(read_text, *pods, *queues())
    assert "its pod group is of 3 pods, of which 2 were found" in gates_of(found)[0]["facts"]


def test_the_pods_of_a_group_have_the_workload_of_its_name(read_text: Read) -> None:
    held = pod("train", "kueue.x-k8s.io/admission", labels={"kueue.x-k8s.io/pod-group-name": "train-1a2b3"})
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "first", "uid": "uid-first"}
    assert gates_of(asked(read_text, held, workload(owner=owner), *queues()))[0]["owner"]["name"] == "train-1a2b3"


def test_cohorts_within_cohorts_share_the_quota_of_the_uppermost(read_text: Read) -> None:
    kueue = "kueue.x-k8s.io/v1beta2"
    quota = {"name": "spot", "resources": [{"name": "cpu", "nominalQuota": "3"}]}
    cohorts = [
        obj(kueue, "Cohort", "all", None, spec={"parentName": "org"}),
        obj(kueue, "Cohort", "org", None, spec={"resourceGroups": [{"coveredResources": ["cpu"], "flavors": [quota]}]}),
        obj(kueue, "Cohort", "loop", None, spec={"parentName": "loop"}),
    ]
    others = [each for each in queues() if each["kind"] != "Cohort"]
    found = asked(read_text, HELD, workload(), *others, *cohorts)
    queue = gates_of(found)[0]["queue"]
    assert (queue["cohort"], queue["parentCohorts"]) == ("all", ["org"])
    assert (queue["cohortQuotas"][0]["nominal"], queue["cohortQuotas"][0]["wanted"]) == ("23", "4")
    assert "of cohort all of cohort org: " in headline(found)
    assert any(
        each.startswith("Quota of cohort org: flavor spot, cpu: nominal 23, ") for each in gate_lines(found.gates)
    )


def test_kueue_tells_the_place_in_its_queues(read_text: Read) -> None:
    item = {"metadata": {"name": "train-1a2b3"}, "positionInClusterQueue": 4, "positionInLocalQueue": 1}
    summary = obj("visibility.kueue.x-k8s.io/v1beta2", "PendingWorkloadsSummary", "lq", items=[item])
    found = asked(read_text, HELD, workload(), summary, *queues())
    assert gates_of(found)[0]["queue"]["position"] == {"localQueue": 2, "clusterQueue": 5}
    assert "Its place: 2 in the LocalQueue, 5 in the ClusterQueue" in list(gate_lines(found.gates))


JOB = obj(
    "batch/v1",
    "Job",
    "fit",
    metadata={"labels": {"kueue.x-k8s.io/queue-name": "lq"}, "uid": "j"},
    spec={
        "suspend": True,
        "template": {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}},
    },
)


def test_a_suspended_job_follows_the_same_chain_without_pods(read_text: Read) -> None:
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "fit", "uid": "j", "controller": True}
    found = asked(read_text, JOB, workload(owner=owner), *queues(), target="job/fit")
    assert (found.result.outcome.value, found.stage and found.stage.name) == ("Gated", "NotCreated")
    (gate,) = gates_of(found)
    assert (gate["gate"], gate["owner"]["name"], gate["fitsUngated"]) == (None, "train-1a2b3", True)
    assert [each["best"] for each in gate["ungated"]] == [["spot-1"], ["own-1"]]
    assert headline(found).startswith("ml/fit-? was never created: Job ml/fit is suspended (spec.suspend is true)")


def test_a_list_with_a_suspended_job_tells_what_the_one_pods_answer_tells(read_text: Read) -> None:
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "fit", "uid": "j", "controller": True}
    dump = read_text(
        {"kind": "List", "apiVersion": "v1", "items": [*NODES, NAMESPACE, JOB, workload(owner=owner), *queues()]}
    )
    question = ExplainQuestion(selection=Selection(targets=("job/fit",), namespace="ml"))
    answer, _ = explain(question, dump)
    wanted = "Quota of cq: flavor spot, cpu: nominal 10"
    assert wanted in page_of(answer, Display(output="markdown"))
    assert wanted in text_of(answer, Display(), 200)


OTHERS = {
    "Volcano": (
        {"annotations": {"scheduling.k8s.io/group-name": "g"}, "scheduler": "volcano"},
        obj(
            "scheduling.volcano.sh/v1beta1",
            "PodGroup",
            "g",
            spec={"minMember": 3, "queue": "default"},
            status={
                "phase": "Pending",
                "conditions": [condition("Unschedulable", "True", "NotEnoughResources", "1/3")],
            },
        ),
        'Unschedulable is True (NotEnoughResources) since 2026-06-01T08:00:00Z: "1/3"',
    ),
    "KAI Scheduler": (
        {"annotations": {"pod-group-name": "g"}, "scheduler": "kai-scheduler"},
        obj(
            "scheduling.run.ai/v2alpha2",
            "PodGroup",
            "g",
            spec={"queue": "team-a"},
            status={"schedulingConditions": [{"type": "UnschedulableOnNodePool", "reason": "Over", "message": "m"}]},
        ),
        'UnschedulableOnNodePool (Over): "m"',
    ),
    "Koordinator": (
        {"labels": {"pod-group.scheduling.sigs.k8s.io": "g"}, "scheduler": "koord-scheduler"},
        obj("scheduling.sigs.k8s.io/v1alpha1", "PodGroup", "g", status={"phase": "PreScheduling"}),
        "phase is PreScheduling",
    ),
    "JobSet": (
        {"labels": {"jobset.sigs.k8s.io/jobset-name": "g"}, "scheduler": "other"},
        obj(
            "jobset.x-k8s.io/v1alpha2",
            "JobSet",
            "g",
            spec={"suspend": True},
            status={"conditions": [condition("Suspended", "True", "SuspendedJobs", "jobset is suspended")]},
        ),
        'Suspended is True (SuspendedJobs) since 2026-06-01T08:00:00Z: "jobset is suspended"',
    ),
    "LeaderWorkerSet": (
        {"labels": {"leaderworkerset.sigs.k8s.io/name": "g"}, "scheduler": "other"},
        obj(
            "leaderworkerset.x-k8s.io/v1",
            "LeaderWorkerSet",
            "g",
            status={"conditions": [condition("Available", "False", "GroupsNotReady", "waiting")]},
        ),
        'Available is False (GroupsNotReady) since 2026-06-01T08:00:00Z: "waiting"',
    ),
}


@pytest.mark.parametrize("controller", OTHERS)
def test_other_controllers_are_quoted_for_pods_that_nobody_here_serves(read_text: Read, controller: str) -> None:
    metadata, holder, told = OTHERS[controller]
    found = asked(read_text, pod("train", **metadata), holder)
    assert found.result.outcome.value == "NoProfile"
    (gate,) = gates_of(found)
    assert gate["owner"] == {"kind": holder["kind"], "namespace": "ml", "name": "g", "controller": controller}
    assert (gate["gate"], gate["fitsUngated"]) == (None, None)
    assert any(told in each for each in gate_lines(found.gates))


def test_annotations_of_pods_and_of_their_groups_are_quoted(read_text: Read) -> None:
    annotations = {"pod-group-name": "g", "gang.scheduling.koordinator.sh/min-available": "3"}
    stale = {"annotations": {"kai.scheduler/stale-podgroup-timestamp": AT}}
    group = obj("scheduling.run.ai/v2alpha2", "PodGroup", "g", metadata=stale)
    (gate,) = gates_of(asked(read_text, pod("train", scheduler="kai-scheduler", annotations=annotations), group))
    assert [(each["about"], each["type"], each["message"]) for each in gate["says"]] == [
        ("Pod ml/train", "annotation pod-group-name", "g"),
        ("Pod ml/train", "annotation gang.scheduling.koordinator.sh/min-available", "3"),
        ("PodGroup ml/g", "annotation kai.scheduler/stale-podgroup-timestamp", AT),
    ]


def test_the_queue_of_another_scheduler_is_quoted_or_said_to_be_missing(read_text: Read) -> None:
    held = pod("train", scheduler="kai-scheduler", labels={"kai.scheduler/queue": "team-a"})
    queue = obj("scheduling.run.ai/v2", "Queue", "team-a", None, spec={"parentQueue": "default"})
    (gate,) = gates_of(asked(read_text, held, queue))
    assert gate["facts"] == []
    assert ("Queue team-a", "parentQueue", "default") in {
        (each["about"], each["type"], each["status"]) for each in gate["says"]
    }
    assert gates_of(asked(read_text, held))[0]["facts"] == ["no Queue team-a was found"]


def test_a_quota_of_koordinator_is_quoted_whatever_its_namespace(read_text: Read) -> None:
    held = pod("train", scheduler="koord-scheduler", labels={"quota.scheduling.koordinator.sh/name": "team-a"})
    quota = obj(
        "scheduling.sigs.k8s.io/v1alpha1",
        "ElasticQuota",
        "team-a",
        "elsewhere",
        metadata={
            "labels": {"quota.scheduling.koordinator.sh/parent": "all"},
            "annotations": {"quota.scheduling.koordinator.sh/runtime": '{"cpu":4}'},
        },
        spec={"min": {"cpu": 2}, "max": {"cpu": "4", "memory": "8Gi"}},
        status={"used": {"cpu": "4"}},
    )
    (gate,) = gates_of(asked(read_text, held, quota))
    assert gate["facts"] == []
    told = [(each["type"], each["status"] or each["message"]) for each in gate["says"] if "Quota" in each["about"]]
    assert told == [
        ("annotation quota.scheduling.koordinator.sh/runtime", '{"cpu":4}'),
        ("parent", "all"),
        ("min", "cpu=2"),
        ("max", "cpu=4, memory=8Gi"),
        ("used", "cpu=4"),
    ]


def test_quotas_come_first_where_they_lack(read_text: Read) -> None:
    lacking = asked(read_text, HELD, workload(), *queues(local={"stopPolicy": "Hold"}))
    assert next(gate_lines(lacking.gates)).startswith("Its priority: 7")
    reserved = workload(conditions=[RESERVED], admission=admission("own"))
    assert next(gate_lines(asked(read_text, HELD, reserved, *queues()).gates)).startswith("Workload ml/train-1a2b3: ")


def test_yunikorn_is_known_by_the_pods_own_annotations(read_text: Read) -> None:
    held = pod(
        "train", scheduler="yunikorn", annotations={"yunikorn.apache.org/app-id": "a1"}, labels={"queue": "root.ml"}
    )
    (gate,) = gates_of(asked(read_text, held))
    assert gate["owner"]["controller"] == "YuniKorn"
    assert [(each["type"], each["message"]) for each in gate["says"]] == [
        ("annotation yunikorn.apache.org/app-id", "a1"),
        ("label queue", "root.ml"),
    ]


@pytest.mark.parametrize("layout", ["List", "PodList", "YAML"])
def test_an_unknown_gate_names_who_set_it(read_text: Read, layout: str) -> None:
    fields: Json = {"f:spec": {"f:schedulingGates": {".": {}}}}
    entries = [
        {"manager": "kubelet", "time": AT, "fieldsV1": {"f:status": {}}},
        {"manager": "quota-webhook", "operation": "Update", "time": AT, "fieldsV1": fields},
    ]
    held = pod("train", "example.com/hold", managedFields=entries)
    if layout == "List":
        found = asked(read_text, held)
    else:
        listed = {"kind": "PodList", "apiVersion": "v1", "items": [held]} if layout == "PodList" else held
        dump = read_text(
            json.dumps(listed) if layout == "PodList" else _yaml(listed),
            "pods.yaml" if layout == "YAML" else "pods.json",
        )
        selection = Selection(targets=("train",), namespace="ml")
        found = explain(ExplainQuestion(selection=selection, replay=Replay(kube_version="1.36")), dump)[0].explanations[
            0
        ]
    (gate,) = gates_of(found)
    assert (gate["gate"], gate["owner"], gate["since"]) == ("example.com/hold", None, AT)
    assert gate["setBy"] == {"manager": "quota-webhook", "lastWrite": AT}
    assert "quota-webhook set it" in headline(found)


def _yaml(value: Json) -> str:
    import yaml

    return str(yaml.safe_dump(value, sort_keys=False))


def test_quoted_texts_are_escaped_and_bounded(read_text: Read) -> None:
    long = "x" * 1_000_000
    markup = "\x1b]0;owned\x07 [bold] <script>alert(1)</script> [x](http://e.example.com) **b** | c\n# h"
    hostile = condition("QuotaReserved", "False", "\x1b[31mPending", markup + long)
    hostile["lastTransitionTime"] = f"\x1b{long}"
    check = {"name": long, "state": f"\x07{long}", "message": long}
    held = workload(
        conditions=[hostile, *[RESERVED] * 1_000],
        admissionChecks=[check, *[WAITS] * 100],
        requeueState={"requeueAt": long},
    )
    found = asked(read_text, HELD, held, *queues(local={"stopPolicy": long}))
    assert len(json.dumps(gates_of(found))) < 200_000
    answer = ExplainAnswer(explanations=(found,))
    said = "\n".join((headline(found), *gate_lines(found.gates)))
    screen = text_of(answer, Display(), 120)
    page, markdown = (page_of(answer, Display(output=output)) for output in ("html", "markdown"))
    for output in (said, screen, page, markdown):
        assert "\x1b" not in output
        assert "\x07" not in output
        assert len(output) < 500_000
    assert "<script>alert" not in page + markdown.replace("\\<", "")
    assert "**b**" not in markdown
    assert "[x](" not in markdown
    assert all(len(each["message"]) <= 500 for each in gates_of(found)[0]["says"])
    assert len(gates_of(found)[0]["says"]) <= 64


def test_no_field_of_a_pod_is_suggested_that_kueue_sets(read_text: Read) -> None:
    checks = [{**WAITS, "podSetUpdates": [{"name": "main", "nodeSelector": {"new": "yes"}}]}]
    held = workload(conditions=[RESERVED], admission=admission("spot"), admissionChecks=checks)
    found = asked(read_text, HELD, held, *queues())
    assert [str(each.commands[0]) for each in found.suggestions] == ["kubectl label node spot-1 new=yes"]
    assert all(change.pod is None for each in found.suggestions for change in each.changes)


def test_a_label_that_a_check_would_change_is_a_problem(read_text: Read) -> None:
    update = {"name": "main", "labels": {"kueue.x-k8s.io/queue-name": "other"}}
    held = workload(
        conditions=[RESERVED], admission=admission("spot"), admissionChecks=[{**WAITS, "podSetUpdates": [update]}]
    )
    (gate,) = gates_of(asked(read_text, HELD, held, *queues()))
    label = "kueue.x-k8s.io/queue-name"
    assert gate["ungated"][0]["problem"] == f"its own label {label}=lq conflicts with {label}=other"
    assert gate["fitsUngated"] is None


def test_triage_has_a_group_for_each_holder_and_promises_nothing_for_it(read_text: Read) -> None:
    dump = read_text({"kind": "List", "apiVersion": "v1", "items": [*NODES, HELD, workload(), *queues()]})
    (group,) = triage(ExplainQuestion(selection=Selection(namespace=None, pending=True)), dump).groups
    assert group.cause.reasons == ("Kueue holds it back in ClusterQueue cq",)
    assert group.suggestions == ()


@pytest.mark.parametrize("anonymize", [False, True])
def test_a_snapshot_carries_the_chain(read_text: Read, *, anonymize: bool) -> None:
    admitted = workload(conditions=[RESERVED], admission=admission("spot"))
    dump = read_text({"kind": "List", "apiVersion": "v1", "items": [*NODES, NAMESPACE, HELD, admitted, *queues()]})
    kept = read_text(encoded(anonymized(dump) if anonymize else dump, own_reasons), "kept.json")
    selection = Selection(namespace=None, pending=True)
    (found,) = explain(ExplainQuestion(selection=selection, replay=Replay(kube_version="1.36")), kept)[0].explanations
    (gate,) = gates_of(found)
    assert gate["owner"]["controller"] == "Kueue"
    assert gate["facts"] == []
    assert gate["fitsUngated"] is True
    assert gate["queue"]["quotas"][0]["nominal"] == "10"
    assert ("spot" in json.dumps(gate)) is not anonymize


@pytest.mark.parametrize(
    ("kind", "status", "reason", "means"),
    [
        ("QuotaReserved", "False", "AdmissionGated", "the annotation kueue.x-k8s.io/admission-gated-by holds it back"),
        (
            "QuotaReserved",
            "False",
            "WaitingForPodsReady",
            "pods of workloads that were admitted before it are not ready",
        ),
        ("Admitted", "False", "UnsatisfiedAdmissionChecks", "an admission check is not ready"),
        ("Admitted", "False", "UnsatisfiedChecks", "an admission check is not ready"),
        ("Requeued", "False", "PodsReadyTimeout", "it goes back into its queue at requeueAt"),
        ("Requeued", "True", "BackoffFinished", ""),
        (
            "Evicted",
            "True",
            "DeactivatedDueToRequeuingLimitExceeded",
            "it was queued again as often as it may be",
        ),
        ("WaitingForReplacementPods", "True", "PodsFailed", "failed pods of its group need replacements"),
        ("Preempted", "True", "InCohortFairSharing", "for the fair share of another ClusterQueue of its cohort"),
        ("Evicted", "True", "NodeFailures", "nodes that it ran on have failed for good"),
        ("PodsReady", "False", "WaitForStart", "its pods have not been ready since it was admitted"),
        ("PodsReady", "True", "Started", ""),
        ("Evicted", "False", "QuotaReserved", ""),
    ],
)
def test_reasons_of_kueue_are_told_in_plain_words(
    read_text: Read, kind: str, status: str, reason: str, means: str
) -> None:
    found = asked(read_text, HELD, workload(conditions=[condition(kind, status, reason, "said")]), *queues())
    (gate,) = gates_of(found)
    assert [each["says"] for each in gate["says"] if each["type"] == kind] == [means]
