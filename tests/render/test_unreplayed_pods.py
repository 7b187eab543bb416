"""Equal pods are told of once, also if nodes may not be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubectl_sched.diagnostics.scheduler_statements import statements_of
from kubectl_sched.render.answers.unreplayed_pods import Limits, decoded_document
from kubectl_sched.render.display import Display
from kubectl_sched.render.writers.text import document_parts
from kubectl_sched.sources import Dump
from kubectl_sched.sources.pod_surroundings import Surroundings
from tests.plugins.clusters import pod

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod

FULL = "0/3 nodes are available: 3 Insufficient cpu."
TAINTED = "0/3 nodes are available: 3 node(s) had untolerated taint(s)."


def rejected(name: str, message: str, minute: int) -> Pod:
    condition: dict[str, Any] = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    since = f"2026-01-01T00:{minute:02}:00Z"
    return pod(name, status={"conditions": [{**condition, "message": message, "lastTransitionTime": since}]})


def test_equal_pods_are_listed_once_whenever_it_was_said() -> None:
    pods = [rejected(f"web-{number}", FULL, number) for number in range(6)]
    pods.insert(1, rejected("other", TAINTED, 0))
    around = Surroundings(Dump(objects=tuple(pods)), sees_all_pods=False)
    told = [statements_of(each, around) for each in pods]
    parts = document_parts(decoded_document(told, Limits((), (), "snapshot")), 100, Display())
    text = "\n".join(line.plain for part in parts for line in part.full)
    assert text.count("waits for a node.") == 2
    assert "It is so for 5 other pods: default/web-1, default/web-2, default/web-3 and 2 more." in text
    assert text.index("default/web-0 waits") < text.index("default/other waits")
