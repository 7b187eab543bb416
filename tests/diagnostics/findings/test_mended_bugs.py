"""A bug of the scheduler's patch release is named together with the release that mends it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kubectl_sched.queries.explain import ExplainQuestion, explain
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.dump.reader import read
from kubectl_sched.sources.pod_selection import Selection

if TYPE_CHECKING:
    from kubectl_sched.queries.explanation import Explanation

PATCHES = Path(__file__).parents[3] / "fixtures" / "patches"


def explained(name: str, patch: str, folder: Path) -> Explanation:
    request = json.loads((PATCHES / f"{name}.json").read_text())["request"]
    dump = folder / "dump.json"
    dump.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": request["objects"]}))
    gates = ",".join(f"{gate}={str(on).lower()}" for gate, on in request["featureGates"].items())
    replay = Replay(kube_version=patch, feature_gates=gates or None)
    question = ExplainQuestion(selection=Selection(targets=("pod", "web"), namespace="default"), replay=replay)
    (answer,) = explain(question, read([str(dump)]))[0].explanations
    return answer


@pytest.mark.parametrize(
    ("name", "patch", "said"),
    [
        ("counters-of-a-tainted-device", "1.36.1", "1.36.3 mends: with 1.36.3 the pod fits on n0"),
        ("pools-of-one-name", "1.36.2", "1.36.4 mends: with 1.36.4 the pod fits on n0"),
        ("allocated-claim-beside-a-new-one", "1.35.5", "1.35.6 mends: with 1.35.6 the pod fits on n0, n1"),
        ("device-taint-rule", "1.36.2", "1.36.3 mends: 1.36.3 rejects the pod instead"),
        ("requests-that-only-the-status-has", "1.33.0", "1.33.4 mends: with 1.33.4 the pod fits on n0"),
        ("devices-that-count-twice", "1.33.0", "1.33.1 mends: with 1.33.1 the pod fits on n0"),
    ],
)
def test_a_later_patch_mends_it(name: str, patch: str, said: str, tmp_path: Path) -> None:
    (finding,) = explained(name, patch, tmp_path).findings
    assert finding.sentence == f"kube-scheduler {patch} has a bug here that {said}"


@pytest.mark.parametrize(
    ("name", "patch"),
    [
        ("pools-of-one-name", "1.36.4"),
        ("device-taint-rule", "1.36.3"),
        ("pools-of-one-name", "1.35.8"),
        ("host-ports-of-sidecars", "1.33.0"),
    ],
)
def test_there_is_nothing_to_mend(name: str, patch: str, tmp_path: Path) -> None:
    assert explained(name, patch, tmp_path).findings == ()
