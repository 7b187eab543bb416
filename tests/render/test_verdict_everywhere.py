"""The law of the first line: `NS/NAME: VERDICT`, at most 100 characters, the same in every format and face."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_sched.library import Cluster
from kubectl_sched.queries.explain import ExplainQuestion, explain
from kubectl_sched.queries.triage import triage
from kubectl_sched.render.answers.explain_output import shown_explanations
from kubectl_sched.render.display import Display
from kubectl_sched.render.show import as_page
from kubectl_sched.render.writers.brief import brief
from kubectl_sched.render.writers.data import printed_size
from kubectl_sched.render.writers.terminal import rendered
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.sources import Dump
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.pod_selection import Selection
from kubectl_sched.tui import explorer_state
from kubectl_sched.tui.lines.line import plain
from kubectl_sched.tui.lines.pod_lines import whole
from kubectl_sched.tui.lines.status_line import sentence
from tests.examples import examples
from tests.plugins.clusters import pod as a_pod
from tests.plugins.random_clusters import clusters, incoming_pods
from tests.render.pages import read

if TYPE_CHECKING:
    from kubectl_sched.api.core import Node
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.queries.explanation import Explanation

LONGEST, LONGEST_NAME = 100, 40
MINOR = "1.36"
NAMES = st.sampled_from(["web-0", "payments-reconciliation-worker-in-region-europe-west-3-0", "a" * 63])
STATES: list[dict[str, Any]] = [
    {},
    {"spec": {"schedulerName": "default-scheduler"}},
    {"spec": {"schedulerName": "volcano"}},
    {"spec": {"schedulerName": "default-scheduler", "schedulingGates": [{"name": "example.com/quota"}]}},
    {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}},
    {"spec": {"schedulerName": "default-scheduler", "priority": 5, "preemptionPolicy": "PreemptLowerPriority"}},
    {
        "spec": {
            "schedulerName": "default-scheduler",
            "volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "none"}}],
        }
    },
]


def in_state(pod: Pod, name: str, state: dict[str, Any]) -> Pod:
    """The pod under another name, gated, deleted, served by nobody or with a claim that does not exist."""
    other = a_pod(name, metadata=state.get("metadata"), **state.get("spec", {}))
    spec = {key: getattr(other.spec, key) for key in ("scheduler_name", "scheduling_gates", "volumes", "priority")}
    return replace(pod, metadata=other.metadata, spec=replace(pod.spec, **spec))


def faces(dump: Dump, found: Explanation) -> dict[str, str]:
    """Return the first line in each format, the explorer and the library."""
    question = ExplainQuestion(
        selection=Selection(targets=("pod", found.pod.metadata.name)), replay=Replay(kube_version=MINOR)
    )
    answer, _ = explain(question, dump)
    lines = {}
    for output in ("table", "wide"):
        display = Display(output=output)
        shown = rendered(shown_explanations(answer, display).document(display), display, None, None)
        lines[output] = "".join(piece.text for piece in shown[0])
    for output in ("markdown", "html"):
        display = Display(output=output)
        lines[output] = as_page(shown_explanations(answer, display).document(display), display)
    lines["markdown"] = lines["markdown"].splitlines()[0].strip("*").replace("\\", "")
    lines["html"] = read(lines["html"]).one("p", "sentence").words
    view = explorer_state.opened(answer.explanations[0])
    lines["explorer"] = plain(sentence(view, (), 1000)[0])
    lines["list of pods"] = plain(whole(answer.explanations[0], 1000)[0])
    library = Cluster(lambda _: dump, "default").explain(found.pod.metadata.name, kube_version=MINOR)
    lines["library"] = " ".join(str(library).split())[
        : len(" ".join(lines["table"].split()))
    ]  # it wraps at 100 columns
    return {face: " ".join(line.split()) for face, line in lines.items()}


def verdicts(dump: Dump, found: Explanation) -> dict[str, str]:
    """Return the verdict where it stands by itself."""
    display = Display(output="json")
    question = ExplainQuestion(
        selection=Selection(targets=("pod", found.pod.metadata.name)), replay=Replay(kube_version=MINOR)
    )
    data = shown_explanations(explain(question, dump)[0], display).data()
    told = {"json": data["verdict"], "brief": brief(data, printed_size("json"))["verdict"]}
    groups = triage(
        ExplainQuestion(selection=Selection(namespace=None, pending=True), replay=Replay(kube_version=MINOR)), dump
    )
    if found.result.outcome is Outcome.UNSCHEDULABLE and not found.result.current_node:
        told["triage row"] = next(each.verdict for each in groups.workloads if each.workload == f"Pod/{found.pod.name}")
    return told


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(clusters(), incoming_pods(), NAMES, st.sampled_from(STATES))
def test_the_first_line_is_short_and_the_same_everywhere(
    cluster: tuple[list[Node], list[Pod]], incoming: Pod, name: str, state: dict[str, Any]
) -> None:
    nodes, running = cluster
    asked = in_state(incoming, name, state)
    dump = Dump(objects=(*nodes, *running, asked), present=frozenset({"Node", "Pod"}))
    answer, _ = explain(
        ExplainQuestion(selection=Selection(targets=("pod", name)), replay=Replay(kube_version=MINOR)), dump
    )
    (found,) = answer.explanations
    assert 0 < len(found.verdict) <= LONGEST
    assert found.verdict.isprintable()
    shown = faces(dump, found)
    first = shown["table"]
    subject, _, verdict = first.partition(": ")
    assert verdict == f"{found.verdict}."
    namespace, _, short = subject.partition("/")
    assert namespace == "default"
    assert len(short) <= LONGEST_NAME
    assert shown == dict.fromkeys(shown, first)
    told = verdicts(dump, found)
    assert told == dict.fromkeys(told, found.verdict)
