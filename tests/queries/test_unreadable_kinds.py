"""A kind that could not be read leaves a decision open: it is neither passed nor rejected, and is named first."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from kubectl_sched.diagnostics.messages.scheduler_reasons import own_reasons
from kubectl_sched.queries.explain import ExplainQuestion, explain
from kubectl_sched.queries.unreadable_kinds import kinds_in_words
from kubectl_sched.render.answers.explanation_data import explanation_data
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.dump.dump import Dump, Forbidden
from kubectl_sched.sources.dump.reader import read
from kubectl_sched.sources.export.snapshot_file import write_snapshot
from kubectl_sched.sources.pod_selection import Selection

if TYPE_CHECKING:
    from pathlib import Path

    from kubectl_sched.queries.explanation import Explanation

ROOM = {"cpu": "4", "memory": "8Gi", "pods": "110"}
ZONE = "topology.kubernetes.io/zone"


def node(name: str, zone: str, cpu: str = "4") -> dict[str, Any]:
    metadata = {"name": name, "labels": {"kubernetes.io/hostname": name, ZONE: zone}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": {"allocatable": {**ROOM, "cpu": cpu}}}


def pod(name: str = "db", **spec: Any) -> dict[str, Any]:
    containers = [{"name": "main", "resources": {"requests": {"cpu": "2"}}}]
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/2 nodes: no"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": containers, **spec},
        "status": {"phase": "Pending", "conditions": [condition]},
    }


def of_claim(name: str = "data") -> list[dict[str, Any]]:
    return [{"name": "data", "persistentVolumeClaim": {"claimName": name}}]


def claim(volume: str = "", storage_class: str = "fast") -> dict[str, Any]:
    spec = {"volumeName": volume, "storageClassName": storage_class, "resources": {"requests": {"storage": "1Gi"}}}
    annotations = {"pv.kubernetes.io/bind-completed": "yes"} if volume else {}
    metadata = {"name": "data", "namespace": "default", "annotations": annotations}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


def volume() -> dict[str, Any]:
    term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["a"]}]}
    affinity = {"required": {"nodeSelectorTerms": [term]}}
    spec = {"nodeAffinity": affinity, "capacity": {"storage": "1Gi"}, "storageClassName": "fast"}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv-1"}, "spec": spec}


NODES = [node("n1", "a"), node("n2", "b")]
DEVICES = [{"name": "gpu", "resourceClaimName": "gpu"}]
NEAR = {
    "podAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {
                "labelSelector": {"matchLabels": {"app": "x"}},
                "namespaceSelector": {"matchLabels": {"team": "x"}},
                "topologyKey": ZONE,
            }
        ]
    }
}


def mixed(tmp_path: Path, *objects: dict[str, Any]) -> Dump:
    """One list of all objects, which does not tell which kinds the cluster has none of."""
    file = tmp_path / "all.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    return read([str(file)])


def by_kind(tmp_path: Path, *objects: dict[str, Any]) -> Dump:
    """A directory with a list for each kind."""
    folder = tmp_path / "dump"
    folder.mkdir()
    for kind in {each["kind"] for each in objects}:
        items = [each for each in objects if each["kind"] == kind]
        data = {"apiVersion": items[0]["apiVersion"], "kind": f"{kind}List", "items": items}
        (folder / f"{kind}.json").write_text(json.dumps(data))
    return read([str(folder)])


def explained(dump: Dump, name: str = "db") -> Explanation:
    question = ExplainQuestion(selection=Selection(targets=(name,)), replay=Replay(kube_version="1.36"))
    (found,) = explain(question, dump)[0].explanations
    return found


@pytest.mark.parametrize(
    ("spec", "also", "kinds", "plugins"),
    [
        ({"volumes": of_claim()}, [claim("pv-1")], ["PersistentVolume"], {"VolumeBinding"}),
        ({"volumes": of_claim()}, [], ["PersistentVolumeClaim", "PersistentVolume"], {"VolumeBinding"}),
        ({"volumes": of_claim()}, [claim()], ["PersistentVolume", "StorageClass"], {"VolumeBinding"}),
        ({"resourceClaims": DEVICES}, [], ["ResourceClaim", "ResourceSlice", "DeviceClass"], {"DynamicResources"}),
        ({"affinity": NEAR}, [], ["Namespace"], {"InterPodAffinity"}),
    ],
    ids=["volumes", "claims", "classes", "devices", "namespaces"],
)
def test_a_kind_that_a_directory_lacks_leaves_the_outcome_unknown(
    tmp_path: Path, spec: dict[str, Any], also: list[dict[str, Any]], kinds: list[str], plugins: set[str]
) -> None:
    found = explained(by_kind(tmp_path, *NODES, pod(**spec), *also))
    assert found.result.outcome is Outcome.UNKNOWN
    assert [each.kind for each in found.unreadable] == kinds
    assert plugins <= set(found.unreadable[0].plugins)
    assert found.verdict.startswith(f"not known: the dump has no {kinds[0]}")
    data = explanation_data(found, "")
    assert data["unreadable"][0]["why"] == "Absent"
    assert data["unreadable"][0]["rule"].startswith("kubectl get ")
    assert (data["feasible"], data["best"], data["message"], data["event"]) == ([], [], None, None)
    assert {each["filter"]["code"] for each in data["nodes"]} == {"Unknown"}
    assert not found.result.has_met_a_bug


def test_several_kinds_that_are_missing_are_one_clause(tmp_path: Path) -> None:
    found = explained(by_kind(tmp_path, *NODES, pod(volumes=of_claim()), claim()))
    assert found.result.unread == "the dump has no PersistentVolumes or StorageClasses"
    refused = tuple(replace(each, why="Forbidden") for each in found.missing)
    assert kinds_in_words(refused) == "PersistentVolumes and StorageClasses may not be listed"
    assert kinds_in_words((refused[0], found.missing[1])) == (
        "the dump has no StorageClasses and PersistentVolumes may not be listed"
    )


def test_plugins_that_need_not_the_kind_still_reject(tmp_path: Path) -> None:
    found = explained(by_kind(tmp_path, node("n1", "a"), node("n2", "b", cpu="1"), pod(volumes=of_claim()), claim("v")))
    assert found.verdict.endswith("1 node passes all else")
    assert [status.plugin for status in found.result.rejections(1)] == ["NodeResourcesFit"]


def test_a_pod_that_fits_nowhere_anyway_is_unschedulable_and_its_message_unknown(tmp_path: Path) -> None:
    found = explained(by_kind(tmp_path, node("n1", "a", cpu="1"), pod(volumes=of_claim()), claim("pv-1")))
    assert found.result.outcome is Outcome.UNSCHEDULABLE
    assert (found.result.message, found.result.event) == (None, None)
    assert found.verdict.endswith("; the dump has no PersistentVolumes")


@pytest.mark.parametrize("also", [[claim("pv-1")], []], ids=["volumes", "claims"])
def test_a_mixed_list_keeps_the_outcome_and_says_first_what_it_has_none_of(
    tmp_path: Path, also: list[dict[str, Any]]
) -> None:
    found = explained(mixed(tmp_path, *NODES, pod(volumes=of_claim()), *also))
    assert found.result.outcome is Outcome.UNSCHEDULABLE
    assert found.result.event is not None
    assert found.unreadable == ()
    kind = "PersistentVolume" if also else "PersistentVolumeClaim"
    assert found.missing[0].kind == kind
    assert found.verdict.startswith(f"not known here: the dump has no {kind}s")
    assert not any("does not exist" in each.text for each in found.result.pre_filter_evidence)


def test_where_one_object_of_the_kind_is_there_not_found_is_true(tmp_path: Path) -> None:
    found = explained(mixed(tmp_path, *NODES, pod(volumes=of_claim("date")), claim("pv-1"), volume()))
    assert found.missing == ()
    assert found.verdict == "claim date does not exist; there is data"


def test_a_kind_that_may_not_be_listed_names_the_rule(tmp_path: Path) -> None:
    dump = mixed(tmp_path, *NODES, pod(volumes=of_claim()), claim("pv-1"))
    refused = Forbidden("PersistentVolume", "", "persistentvolumes")
    found = explained(Dump(objects=dump.objects, present=dump.present, forbidden=(refused,), is_live=True))
    assert found.result.outcome is Outcome.UNKNOWN
    assert (found.unreadable[0].why, found.unreadable[0].rule) == ("Forbidden", refused.rule)
    assert "PersistentVolumes may not be listed" in found.verdict


def test_a_dump_of_pods_alone_says_that_it_has_no_nodes(tmp_path: Path) -> None:
    found = explained(mixed(tmp_path, pod()))
    assert found.verdict == "the dump has no Nodes (`kubectl get nodes -o json` has them), so nothing can be judged"
    assert explained(by_kind(tmp_path, pod())).result.outcome is Outcome.UNKNOWN


def test_what_the_scheduler_said_stands_beside_what_is_not_known(tmp_path: Path) -> None:
    said = explained(by_kind(tmp_path, *NODES, pod(volumes=of_claim()), claim("pv-1"))).said
    assert said is not None
    assert (said.message, said.source, said.differs) == ("0/2 nodes: no", "condition", False)


@pytest.mark.parametrize("is_mixed", [True, False])
def test_a_snapshot_tells_of_absent_kinds_what_its_dump_told(tmp_path: Path, is_mixed: bool) -> None:
    dump = (mixed if is_mixed else by_kind)(tmp_path, *NODES, pod(volumes=of_claim()), claim("pv-1"))
    write_snapshot(dump, str(tmp_path / "s.json"), own_reasons)
    again = explained(read([str(tmp_path / "s.json")]))
    assert again.result.outcome is (Outcome.UNSCHEDULABLE if is_mixed else Outcome.UNKNOWN)
