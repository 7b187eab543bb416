"""The scheduler's last message: with its age, and beside the replay's only where they differ about the nodes."""

from __future__ import annotations

import pytest

from kubectl_sched.api.apimachinery.timestamps import moment
from kubectl_sched.queries.explain import ExplainQuestion, explain
from kubectl_sched.render.ages import at_moment
from kubectl_sched.sources import Dump
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.pod_selection import Selection
from tests.plugins.clusters import node, pod, requests
from tests.render.worlds import shown

SMALL = {"cpu": "2", "memory": "4Gi", "pods": "110"}
REPLAYED = (
    "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: 0/2 nodes are available: "
    "2 Preemption is not helpful for scheduling."
)
OLDER_PREEMPTION = "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 2 No victims."
OTHER = "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable."


def screen(message: str) -> tuple[str, bool]:
    """Return the whole answer, and whether it claims that the message differs from the replay."""
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": message,
        "lastTransitionTime": "2026-06-01T02:48:00Z",
    }
    made = {"creationTimestamp": "2026-06-01T03:00:00Z"}
    nodes = [node(name, allocatable=SMALL) for name in ("w1", "w2")]
    waits = pod("web-0", metadata=made, status={"conditions": [condition]}, **requests(cpu="8"))
    question = ExplainQuestion(
        selection=Selection(targets=("pod", "web-0"), namespace="default"), replay=Replay(kube_version="1.36")
    )
    (found,) = explain(question, Dump(objects=(*nodes, waits)))[0].explanations
    assert found.said is not None
    return " ".join(shown(found, width=200).split()), found.said.differs


def test_the_same_message_is_repeated_by_no_more_than_its_moment_and_age() -> None:
    text, differs = screen(REPLAYED)
    assert not differs
    assert "default-scheduler said so at 2026-06-01T02:48:00Z (12m ago)." in text


def test_a_message_that_differs_about_preemption_alone_says_the_same_of_the_nodes() -> None:
    text, differs = screen(OLDER_PREEMPTION)
    assert not differs
    assert "said so at 2026-06-01T02:48:00Z (12m ago), except for the part about preemption." in text


def test_a_message_that_differs_about_the_nodes_stands_in_full_with_what_changed() -> None:
    text, differs = screen(OTHER)
    assert differs
    assert f"default-scheduler said at 2026-06-01T02:48:00Z (12m ago): {OTHER.rstrip('.')}; now: " in text


@pytest.mark.parametrize(
    ("at", "now", "told"),
    [
        ("2026-06-01T00:00:00Z", "2026-06-04T00:00:00Z", " at 2026-06-01T00:00:00Z (3d ago)"),
        ("2026-06-01T00:00:00.25Z", None, " at 2026-06-01T00:00:00Z"),
        (None, "2026-06-04T00:00:00Z", ""),
    ],
)
def test_a_moment_has_its_age_where_the_time_of_the_state_is_known(at: str | None, now: str | None, told: str) -> None:
    assert at_moment(at, now) == told
    assert moment(at) is not None or not told
