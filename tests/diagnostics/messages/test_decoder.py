from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kubectl_sched.diagnostics.messages.decoder import parse
from kubectl_sched.diagnostics.messages.reason_catalogue import LONGEST_REASON, Meaning, meaning
from tests.decisions import recorded

VECTORS = Path(__file__).parents[3] / "fixtures" / "vectors"

TAINT = "node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }"


@cache
def recorded_texts() -> tuple[str, ...]:
    """Every FailedScheduling text in the recorded decisions of the real scheduler, once."""
    cases = (case.case for path in sorted(VECTORS.glob("*.jsonl.gz")) for case in recorded(path))
    return tuple(dict.fromkeys(message for case in cases for message in _messages(case)))


def _messages(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _messages(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key in {"message", "event"} and isinstance(item, str) and "nodes are available" in item:
                yield item
            else:
                yield from _messages(item)


def test_every_clause_that_the_real_scheduler_wrote_is_understood() -> None:
    texts = recorded_texts()
    assert len(texts) > 100
    unknown = {clause.text for text in texts for clause in parse(text).clauses if not clause.meaning and not clause.cut}
    assert unknown == set()


def test_the_counts_of_recorded_texts_add_up() -> None:
    """Each node gives at least one reason, unless the pod as a whole is rejected."""
    for text in recorded_texts():
        parsed = parse(text)
        counts = [clause.nodes for clause in parsed.clauses if not clause.about_preemption and clause.nodes is not None]
        assert parsed.total is not None
        assert parsed.cut or not counts or sum(counts) >= parsed.total, text


def clauses(text: str) -> list[tuple[int | None, str, bool]]:
    return [(clause.nodes, clause.text, clause.about_preemption) for clause in parse(text).clauses]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            (
                f"0/9 nodes are available: 3 Insufficient cpu, 6 {TAINT}. preemption: 0/9 nodes are available: "
                "1 No preemption victims found for incoming pod., 8 Preemption is not helpful for scheduling."
            ),
            [
                (3, "Insufficient cpu", False),
                (6, TAINT, False),
                (1, "No preemption victims found for incoming pod", True),
                (8, "Preemption is not helpful for scheduling", True),
            ],
        ),
        (
            "0/3 nodes are available: 3 node(s) had taint {a: b}, that the pod didn't tolerate.",
            [(3, "node(s) had taint {a: b}, that the pod didn't tolerate", False)],
        ),
        (
            (
                "Warning  FailedScheduling  5s  default-scheduler  0/2 nodes are available: 1 Too many\n pods, "
                "1 node(s) were unschedulable."
            ),
            [(1, "Too many pods", False), (1, "node(s) were unschedulable", False)],
        ),
        (
            (
                "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. "
                "preemption: not eligible due to preemptionPolicy=Never."
            ),
            [
                (None, "pod has unbound immediate PersistentVolumeClaims", False),
                (None, "not eligible due to preemptionPolicy=Never", True),
            ],
        ),
        (
            (
                "0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, preemption: not eligible "
                "due to preemptionPolicy=Never."
            ),
            [
                (3, "Insufficient cpu", False),
                (None, "no new claims to deallocate", True),
                (None, "not eligible due to preemptionPolicy=Never", True),
            ],
        ),
        (
            (
                'error while running "VolumeBinding" filter plugin for pod "web": pod has unbound immediate '
                "PersistentVolumeClaims"
            ),
            [(None, "pod has unbound immediate PersistentVolumeClaims", False)],
        ),
        ("no nodes available to schedule pods", [(None, "no nodes available to schedule pods", False)]),
    ],
)
def test_texts_of_all_ages_come_apart(text: str, expected: list[tuple[int | None, str, bool]]) -> None:
    assert clauses(text) == expected


def test_a_text_in_a_log_ends_with_its_quote() -> None:
    line = 'I0601 err="0/1 nodes are available: persistentvolumeclaim \\"data\\" not found."\nI0601 03:00:13.1 other\n'
    (clause,) = parse(line).clauses
    assert clause.text == 'persistentvolumeclaim "data" not found'


def test_a_text_in_yaml_has_its_apostrophes_doubled_and_ends_with_its_quote() -> None:
    condition = """
      message: '0/4 nodes are available: 1 node(s) didn''t match Pod''s node affinity/selector,
        3 Insufficient memory. preemption: 0/4 nodes are available: 4 Preemption is not
        helpful for scheduling.'
      reason: Unschedulable
    """
    told = [
        (1, "node(s) didn't match Pod's node affinity/selector", False),
        (3, "Insufficient memory", False),
        (4, "Preemption is not helpful for scheduling", True),
    ]
    assert clauses(condition) == told
    assert clauses(condition.partition("'")[2].partition("reason")[0]) == told


DESCRIBED = """
Events:
  Type     Reason            Age               From               Message
  ----     ------            ----              ----               -------
  Warning  FailedScheduling  10m               default-scheduler  0/4 nodes are available: 4 Insufficient cpu.
  Warning  FailedScheduling  2m (x5 over 10m)  default-scheduler  0/5 nodes are available: 5 Too
many pods. preemption: 0/5 nodes are available: 5 No preemption victims found for incoming pod.
  Warning  FailedScheduling  1m                karpenter          Failed to schedule pod, incompatible with nodepool "a"
  Normal   NotTriggerScaleUp 2m                cluster-autoscaler pod didn't trigger scale-up: 1 max node group size
"""
LISTED = """
NAMESPACE  LAST SEEN        TYPE     REASON            OBJECT     MESSAGE
shop       10m              Warning  FailedScheduling  pod/web-0  0/4 nodes are available: 4 Insufficient cpu.
shop       2m (x5 over 9m)  Warning  FailedScheduling  pod/web-0  0/5 nodes are available: 5 Too many pods.
preemption: 0/5 nodes are available: 5 No preemption victims found for incoming pod.
shop       1m               Normal   Scheduled         pod/web-1  Successfully assigned shop/web-1 to n1
"""


@pytest.mark.parametrize("text", [DESCRIBED, LISTED], ids=["described", "listed"])
def test_of_several_events_the_last_is_read_and_ends_where_the_next_begins(text: str) -> None:
    parsed = parse(text)
    assert parsed.total == 5
    assert clauses(text) == [(5, "Too many pods", False), (5, "No preemption victims found for incoming pod", True)]


def test_a_text_that_was_cut_is_read_as_far_as_it_goes() -> None:
    parsed = parse("0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't match pod topo ...")
    assert parsed.cut
    assert [(clause.nodes, clause.meaning is None, clause.cut) for clause in parsed.clauses] == [
        (1, False, False),
        (2, True, True),
    ]


def test_no_reason_is_lost_wherever_an_event_is_cut() -> None:
    reasons = f"0/9 nodes are available: 1 {TAINT}, 3 Insufficient cpu, 5 Too many pods."
    told = [(1, TAINT, False), (3, "Insufficient cpu", False), (5, "Too many pods", False)]
    after = (
        " no new claims to deallocate, preemption: 0/9 nodes are available: 9 Preemption is not helpful for scheduling."
    )
    for length in range(len(after)):
        text = f"{reasons}{after[:length]} ..."
        assert clauses(text)[:3] == told
        assert all(clause.meaning or clause.cut for clause in parse(text).clauses)


@pytest.mark.parametrize("end", ["node(s) didn't match pod topo", "node(s) had untolerated taint(s"])
def test_a_text_that_was_not_copied_to_its_end_is_known_as_cut(end: str) -> None:
    parsed = parse(f"0/3 nodes are available: 1 Insufficient cpu, 2 {end}")
    assert (parsed.cut, [clause.cut for clause in parsed.clauses]) == (True, [False, True])
    whole = parse("0/3 nodes are available: 3 the moon is full")
    assert (whole.cut, whole.clauses[0].cut) == (False, False)


def test_a_reason_of_a_foreign_plugin_is_kept_as_it_is() -> None:
    (clause,) = parse("0/3 nodes are available: 3 the moon is full.").clauses
    assert (clause.nodes, clause.text, clause.meaning) == (3, "the moon is full", None)


@pytest.mark.parametrize("text", ["", "hello", "Successfully assigned default/web to n1"])
def test_other_texts_are_not_taken_for_a_schedulers(text: str) -> None:
    assert not parse(text).understood


@pytest.mark.parametrize(
    ("reason", "plugin", "said"),
    [
        ("Insufficient nvidia.com/gpu", "NodeResourcesFit", "nvidia.com/gpu"),
        ("node(s) had untolerated taint {dedicated: gpu}", "TaintToleration", "dedicated=gpu"),
        (TAINT, "TaintToleration", "taint node-role.kubernetes.io/control-plane"),
        ("node(s) didn't match node selector", "NodeAffinity", "nodeSelector"),
        ("node(s) had volume node affinity conflict", "VolumeBinding", "another zone"),
        ("node(s) didn't match pod affinity/anti-affinity", "InterPodAffinity", "affinity"),
        ('persistentvolumeclaim "data" not found', "VolumeBinding", "claim data does not exist"),
        ("ebs.csi.aws.com CSI driver is not installed on the node", "NodeVolumeLimits", "ebs.csi.aws.com"),
        ("waiting for scheduling gates: [kueue.x-k8s.io/admission]", "SchedulingGates", "kueue.x-k8s.io/admission"),
        ("node(s) didn't satisfy plugin(s) [NodeAffinity VolumeBinding]", "", "NodeAffinity VolumeBinding"),
    ],
)
def test_reasons_name_what_they_are_about(reason: str, plugin: str, said: str) -> None:
    known = meaning(reason)
    assert known is not None
    assert known.plugin == plugin
    assert said in known.says


SHAPES = {
    "full stops": lambda number: f"1 a{number}. ",
    "clauses": lambda number: f"1 a{number}, ",
    "places of one reason": lambda number: f"node(s) had untolerated taint {{k{number}: ",
    "heads": lambda number: f"0/{number} nodes are available: 1 a. ",
    "preemption": lambda number: f"preemption: 1 a{number}. ",
    "plugins that failed": lambda number: f'running "P{number}" filter plugin for pod "web". ',
    "quotes": lambda number: f'"0/3 nodes are available: {number}." ',
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_text_twice_as_long_is_at_most_two_and_a_half_times_the_work(
    shape: Callable[[int], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Work is what is compared with the reasons that are known: n characters with two places take n² steps."""
    compared: list[int] = []

    def counted(text: str) -> Meaning | None:
        compared.append(len(text) ** 2 if len(text) <= LONGEST_REASON else 0)
        return meaning(text)

    monkeypatch.setattr("kubectl_sched.diagnostics.messages.decoder.meaning", counted)

    def work(pieces: int) -> int:
        compared.clear()
        parse("".join(map(shape, range(pieces))))
        return sum(compared)

    of_beginnings = 16 * LONGEST_REASON**2
    assert work(1600) <= 2.5 * max(work(800), of_beginnings)


def test_a_text_longer_than_any_reason_is_none() -> None:
    taint = "node(s) had untolerated taint {{key: {}}}"
    assert meaning(taint.format("v")) is not None
    assert meaning(taint.format("v" * LONGEST_REASON)) is None
    found = parse(f"0/1 nodes are available: 1 {'a. ' * LONGEST_REASON}")
    assert (found.total, [clause.meaning for clause in found.clauses]) == (1, [None])
