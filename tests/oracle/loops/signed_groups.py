"""Groups whose members take each other's order of nodes: requests, the comparison, and the recording of answers.

    python -m tests.oracle.loops.signed_groups --kube-version 1.37

writes fixtures/signed_groups/<minor>.jsonl.gz: a `{"request", "answer"}` a line.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.oracle.build import Oracle
from tests.oracle.generate.loops import preferring
from tests.oracle.group_decisions import ours, replay, theirs

if TYPE_CHECKING:
    from tests.oracle.build import Answer, Request

FOLDER = Path(__file__).parents[3] / "fixtures" / "signed_groups"
MINORS = ("1.36", "1.37", "1.38")
GROUP = "default/group"
PLAIN = 10
"""Recorded groups in which batching changes nothing."""


def signed_group(chance: random.Random, minor: str) -> Request:
    """A group of pods that profiles can sign, some of them equal, over nodes that soon are full."""
    request = preferring(chance)
    waiting = [each for each in request["objects"] if each["kind"] == "Pod" and not each["spec"].get("nodeName")]
    others = [each for each in request["objects"] if each not in waiting]
    least = chance.randint(1, max(1, len(waiting) - 1))
    is_newer = minor != "1.36"
    group = {
        "apiVersion": f"scheduling.k8s.io/{'v1beta1' if is_newer else 'v1alpha2'}",
        "kind": "PodGroup",
        "metadata": {"name": "group", "namespace": "default", "uid": "g"},
        "spec": {"schedulingPolicy": chance.choice([{"basic": {}}, {"gang": {"minCount": least}}])},
        "status": {},
    }
    gates = {"GenericWorkload": True, "SchedulerAsyncPreemption": False}
    return {
        **request,
        "objects": [*others, *(_member(each, index) for index, each in enumerate(waiting)), group],
        "featureGates": {**gates, **({} if is_newer else {"GangScheduling": True})},
        "loop": False,
        "groups": [GROUP],
    }


def _member(pod: dict[str, Any], index: int) -> dict[str, Any]:
    spec = {**pod["spec"], "schedulerName": "default-scheduler", "schedulingGroup": {"podGroupName": "group"}}
    metadata = {**pod["metadata"], "creationTimestamp": f"2026-01-01T00:00:{index:02}Z"}
    return {**pod, "metadata": metadata, "spec": {**spec, "priority": 0}}


def tied_of(request: Request, minor: str) -> list[tuple[str, list[str]]]:
    """Each of our attempts: the pod, and the nodes that chance may give it."""
    return [(each["pod"], each["tied"]) for each in ours(replay(request, minor)[GROUP])["attempts"]]


def differs(request: Request, answer: Answer, minor: str) -> object:
    """None where each member goes where the real one puts it, as far as chance has decided nothing."""
    if answer.get("error"):
        return answer["error"]
    real = [(each["pod"], each["tied"]) for each in theirs(answer)["attempts"]]
    for (name, nodes), (pod, tied) in zip(real, tied_of(request, minor), strict=False):
        # Of nodes that tie in the order, the real one has taken one already.
        is_same = nodes == tied or (len(nodes) == 1 and nodes[0] in tied)
        if name != pod or not is_same:
            return {"pod": name, "real": nodes, "ours": tied}
        if len(tied) > 1:
            return None
    return None


def unbatched(request: Request) -> Request:
    """Return the request without opportunistic batching."""
    return {**request, "featureGates": {**request["featureGates"], "OpportunisticBatching": False}}


def main() -> None:
    """Keep every group in which batching changes a placement, and some others."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kube-version", default="1.37", choices=MINORS)
    parser.add_argument("--groups", type=int, default=300)
    options = parser.parse_args()
    chance = random.Random(options.kube_version)  # noqa: S311 - to be repeatable
    kept: list[bytes] = []
    with Oracle(options.kube_version) as oracle:
        for index in range(options.groups):
            request = {**signed_group(chance, options.kube_version), "id": f"group-{index}"}
            (answer,) = oracle.ask(request)
            changes = tied_of(request, options.kube_version) != tied_of(unbatched(request), options.kube_version)
            if index < PLAIN or changes:
                kept.append(json.dumps({"request": request, "answer": answer}, separators=(",", ":")).encode())
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{options.kube_version}.jsonl.gz").write_bytes(gzip.compress(b"\n".join(kept), mtime=0))
    print(f"{len(kept)} of {options.groups} groups kept")


if __name__ == "__main__":
    main()
