"""Workloads whose pods were never made: each situation of fixtures/never_created is told with its cause and numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from kubectl_sched.errors import SchedError
from kubectl_sched.queries.explain import ExplainQuestion, explain
from kubectl_sched.queries.never_created.never_created import never_created
from kubectl_sched.sources.dump.reader import read
from kubectl_sched.sources.pod_selection import Selection
from kubectl_sched.sources.pod_surroundings import Surroundings

if TYPE_CHECKING:
    from kubectl_sched.queries.never_created.missing_pods import NeverCreated
    from kubectl_sched.sources.dump.dump import Dump

FIXTURES = Path(__file__).parents[2] / "fixtures" / "never_created"
SITUATIONS: list[dict[str, Any]] = [
    each for name in ("workloads", "public") for each in msgspec.yaml.decode((FIXTURES / f"{name}.yaml").read_bytes())
]
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1", "labels": {"kubernetes.io/hostname": "n1"}},
    "status": {"allocatable": {"cpu": "16", "memory": "64Gi", "pods": "110"}},
}


def dump_of(objects: list[dict[str, Any]], folder: Path) -> Dump:
    file = folder / "cluster.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [NODE, *objects]}))
    return read([str(file)])


def text_of(found: NeverCreated) -> str:
    return f"{found.whole}; {found.obstacle.helps}"


@pytest.mark.parametrize("situation", SITUATIONS, ids=[each["situation"] for each in SITUATIONS])
def test_what_keeps_pods_from_being_made_is_named(situation: dict[str, Any], tmp_path: Path) -> None:
    found = never_created(Surroundings(dump_of(situation["objects"], tmp_path)), "team")
    assert len(found) == len(situation["found"])
    for each, expected in zip(found, situation["found"], strict=True):
        assert str(each.workload) == expected["workload"]
        assert (each.wanted, each.there) == (expected["wanted"], expected["there"])
        assert each.obstacle.cause == expected["cause"]
        assert each.on_purpose == expected.get("on_purpose", False)
        for field in ("name", "source"):
            assert field not in expected or getattr(each.obstacle, field) == expected[field]
        for text in expected["says"]:
            assert text in text_of(each)
        assert len(each.obstacle.clause) <= 100


@pytest.mark.parametrize("situation", SITUATIONS, ids=[each["situation"] for each in SITUATIONS])
def test_explain_of_the_workload_says_the_same(situation: dict[str, Any], tmp_path: Path) -> None:
    dump = dump_of(situation["objects"], tmp_path)
    for expected in situation["found"]:
        kind, _, key = expected["workload"].partition(" ")
        selection = Selection(targets=(f"{kind}/{key.partition('/')[2]}",), namespace="team")
        answer, _ = explain(ExplainQuestion(selection=selection), dump)
        missing = answer.explanations[0]
        if missing.stage is None or missing.stage.name != "NotCreated":  # the pending pod that the others wait for
            assert expected["cause"] == "WaitsForOrdinal"
            assert any(each.startswith(f"{expected['workload']}: ") for each in answer.changing)
            continue
        assert missing.stage.name == "NotCreated"
        assert not missing.result.fits
        if (kind, expected["cause"]) != ("Job", "Suspended"):  # a suspended Job is explained with its gates
            for text in expected["says"]:
                assert text in " ".join(missing.stage.evidence)
            assert missing.verdict.startswith("never created: ")


def test_a_public_situation_names_its_source_and_its_end() -> None:
    public = msgspec.yaml.decode((FIXTURES / "public.yaml").read_bytes())
    assert all("#" in each["source"] and each["ended"] for each in public)


def test_another_namespace_is_left_out(tmp_path: Path) -> None:
    around = Surroundings(dump_of(SITUATIONS[0]["objects"], tmp_path))
    assert never_created(around, "other") == ()
    assert never_created(around) == never_created(around, "team")


def workload(kind: str, spec: dict[str, Any], name: str = "web") -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "main", "image": "app"}]}}
    selector = {"matchLabels": {"app": "x"}}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "namespace": "team", "uid": f"u-{name}"},
            "spec": {"selector": selector, "template": template, **spec}}  # fmt: skip


FOR_SSD = {
    "template": {
        "metadata": {"labels": {"app": "x"}},
        "spec": {"nodeSelector": {"disk": "ssd"}, "containers": [{"name": "main", "image": "app"}]},
    }
}
OTHER_SET = workload("ReplicaSet", {"replicas": 0}, "other")


@pytest.mark.parametrize(
    ("objects", "told"),
    [
        ([workload("Deployment", {"replicas": 2, "paused": True})], "it is paused (spec.paused)"),
        ([workload("Deployment", {"replicas": 2}), OTHER_SET], "the deployment controller has not acted"),
        ([workload("DaemonSet", FOR_SSD)], "no node of 1 is one for it: none has disk=ssd"),
    ],
    ids=["paused", "no controller", "a DaemonSet for no node"],
)
def test_a_named_workload_that_has_no_pods_is_told_with_the_reason(
    objects: list[dict[str, Any]], told: str, tmp_path: Path
) -> None:
    dump, kind = dump_of(objects, tmp_path), objects[0]["kind"].lower()
    selection = Selection(targets=(f"{kind}/web",), namespace="team")
    (explanation,) = explain(ExplainQuestion(selection=selection), dump)[0].explanations
    assert told in str(explanation.result.error)
    assert never_created(Surroundings(dump), "team") == () or kind == "deployment"


def test_a_workload_of_which_no_replica_sets_were_read_is_left_to_the_error(tmp_path: Path) -> None:
    dump = dump_of([workload("Deployment", {"replicas": 2})], tmp_path)
    selection = Selection(targets=("deployment/web",), namespace="team")
    with pytest.raises(SchedError, match="no pod in namespace team belongs to Deployment web"):
        explain(ExplainQuestion(selection=selection), dump)
