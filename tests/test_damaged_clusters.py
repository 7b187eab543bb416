"""Clusters with objects and fields missing or wrong end in an answer or in one sentence, never in a traceback.

The clusters are those of the recorded decisions; each run breaks one of them at random, from a seed, and prints the
explanation of a pod in every form.
"""

from __future__ import annotations

import copy
import io
import json
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from kubectl_sched.api.pod import Pod
from kubectl_sched.config import ConfigurationError, FeatureGateError
from kubectl_sched.queries.explain import ExplainAnswer
from kubectl_sched.queries.explanation import explanation_of
from kubectl_sched.render.answers.explain_output import exit_code, shown_explanations
from kubectl_sched.render.display import Display
from kubectl_sched.render.show import show
from kubectl_sched.sources import DumpError
from kubectl_sched.sources.discovery.replay_setup import Replay, configuration_for, scheduler_for
from kubectl_sched.sources.dump.completeness import completeness
from kubectl_sched.sources.dump.reader import read
from kubectl_sched.suggestions.search import suggest
from tests.decisions import recorded
from tests.examples import at_length, cases

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]

VECTORS = Path(__file__).parent.parent / "fixtures" / "vectors"
TOPICS = ("volumes", "dra", "mixed", "preemption", "interpod", "resources")
HOSTILE = "[red]x[/red]\x1b[31m\x07\n"
ODD: tuple[Any, ...] = (
    None,
    {},
    [],
    "",
    HOSTILE,
    "x" * 300,
    -1,
    0,
    10**30,
    "1e99999",
    "-5",
    "abc",
    True,
    1.5,
    [None],
    {"a": None},
)


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every field and every item of the value."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in entries:
        yield (*above, key)
        yield from places(below, (*above, key))


def damaged(objects: list[Json], chance: random.Random) -> list[Json]:
    """The objects with up to four of them, or of their fields, deleted, repeated or replaced."""
    objects = copy.deepcopy(objects)
    for _ in range(chance.randint(1, 4)):
        index = chance.randrange(len(objects))
        damage = chance.choice(["object", "object", "field", "field", "value", "twice"])
        if damage == "object" and len(objects) > 1:
            del objects[index]
        elif damage == "twice":
            objects.append(copy.deepcopy(objects[index]))
        else:
            *above, last = chance.choice(list(places(objects[index])))
            parent: Any = objects[index]
            for key in above:
                parent = parent[key]
            if damage == "value":
                parent[last] = copy.deepcopy(chance.choice(ODD))
            else:
                del parent[last]
    return objects


def show_in_every_form(request: Json, folder: Path, version: str, chance: random.Random) -> str:
    """The output of `explain` for one pod of the request, in all forms one after the other."""
    (folder / "dump.json").write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": request["objects"]}))
    (folder / "config.yaml").write_text(request.get("config") or "{}")
    gates = ",".join(f"{name}={str(value).lower()}" for name, value in (request.get("featureGates") or {}).items())
    dump = read([str(folder / "dump.json")])
    replay = Replay(
        config=str(folder / "config.yaml") if request.get("config") else None,
        kube_version=version,
        feature_gates=gates or None,
    )
    configuration = configuration_for(dump, replay)
    scheduler, left_out = scheduler_for(dump, configuration)
    pods = [item for item in dump.objects if isinstance(item, Pod) and item.key in request["pods"]]
    if not pods:
        return ""
    result = scheduler.schedule_one(chance.choice(pods))
    explanation = replace(explanation_of(result, scheduler), suggestions=suggest(result))
    notes = (*configuration.warnings, *left_out, *completeness(dump, [result]).notes)
    answer = ExplainAnswer(explanations=(explanation,), notes=notes, warnings=tuple(dump.warnings))
    displays = [
        Display(),
        Display(output="wide"),
        Display(output="json", evidence=True),
        Display(output="yaml"),
        Display(output="name"),
    ]
    displays += [Display(node=chance.choice(result.nodes.names))] if len(result.nodes) else []
    with pytest.MonkeyPatch.context() as patch:
        stdout = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        patch.setattr(sys, "stdout", stdout)
        for display in displays:
            show(shown_explanations(answer, display), display)
        assert {exit_code(answer.explanations, display) for display in displays} <= {0, 1}
        stdout.seek(0)
        return stdout.read()


@at_length
@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("seed", cases(range(20), 3))
def test_a_damaged_cluster_is_answered(topic: str, seed: int, tmp_path: Path) -> None:
    chance = random.Random(f"{topic} {seed}")  # noqa: S311 - a seed gives the same damage again
    request = chance.choice(recorded(VECTORS / f"{topic}.seed1.jsonl.gz")).request
    request = {**request, "objects": damaged(request["objects"], chance)}
    try:
        printed = show_in_every_form(request, tmp_path, chance.choice(["1.33", "1.35", "1.36", "1.37"]), chance)
    except (DumpError, ConfigurationError, FeatureGateError) as refusal:
        printed = str(refusal)
        assert "\n" not in printed
    assert "\x1b" not in printed
    assert "\x07" not in printed


def test_a_cycle_that_fails_in_scoring_shows_in_every_form(tmp_path: Path) -> None:
    """Two nodes pass every filter, so that NodeAffinity's PreScore meets the preference that it cannot parse."""
    term = {"key": "zone", "operator": "Gt", "values": ["-x"]}
    preference = {"weight": 1, "preference": {"matchExpressions": [term]}}
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [preference]}}
    status = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}
    nodes = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status} for name in "ab"]
    spec = {"containers": [{"name": "c"}], "affinity": affinity}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": spec}
    request = {"objects": [*nodes, pod], "pods": ["default/web"]}
    printed = show_in_every_form(request, tmp_path, "1.36", random.Random(1))  # noqa: S311 - one pod, one choice
    assert "PreScore" in printed
