"""A what-if knows nothing of pods that need a kind which could not be read, and names the kind first."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kubectl_sched.queries.whatif import WhatIfQuestion, what_if
from kubectl_sched.render.answers.whatif import answer_exit_code, what_if_document
from kubectl_sched.render.display import Display
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.dump.reader import read

if TYPE_CHECKING:
    from pathlib import Path

    from kubectl_sched.queries.whatif import WhatIfAnswer

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "a", "labels": {"kubernetes.io/hostname": "a"}},
    "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
}
CLAIMING = [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]


def manifest(name: str, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "main", "image": "app", "resources": {"requests": {"cpu": "1"}}}]
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": containers, **spec}}


def answer(folder: Path, *pods: dict[str, Any], mixed: bool = False) -> WhatIfAnswer:
    """Place the pods in a cluster of which a directory with a list of nodes is read, or one list of all kinds."""
    dump = folder / "dump"
    dump.mkdir()
    kind = "List" if mixed else "NodeList"
    (dump / "nodes.json").write_text(json.dumps({"apiVersion": "v1", "kind": kind, "items": [NODE]}))
    file = folder / "pods.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(pods)}))
    question = WhatIfQuestion(targets=(str(file),), namespace="default", replay=Replay(kube_version="1.36"))
    return what_if(question, read([str(dump / "nodes.json" if mixed else dump)]))


def test_a_pod_that_needs_a_missing_kind_is_neither_placed_nor_rejected(tmp_path: Path) -> None:
    found = answer(tmp_path, manifest("plain"), manifest("claims", volumes=CLAIMING))
    placements = {each.pod.name: each for each in found.result.simulated.placements}
    assert placements["plain"].node == "a"
    assert placements["claims"].outcome is Outcome.UNKNOWN
    assert placements["claims"].node is None
    document = what_if_document(found, Display())
    assert document.notes.changing[0].startswith("the dump has no PersistentVolumeClaims, so VolumeBinding")
    assert "of 1 it is not known: the dump has no PersistentVolumeClaims" in document.verdict.text
    assert answer_exit_code(found) == 3


@pytest.mark.parametrize("kind", ["PersistentVolumeClaim", "PersistentVolume"])
def test_a_list_of_mixed_kinds_tells_of_no_absence_and_the_kind_is_named_all_the_same(
    kind: str, tmp_path: Path
) -> None:
    found = answer(tmp_path, manifest("claims", volumes=CLAIMING), mixed=True)
    (placed,) = found.result.simulated.placements
    assert placed.outcome is Outcome.UNSCHEDULABLE
    assert any(f"the dump has no {kind}s" in each for each in found.changing)
