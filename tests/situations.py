"""Situations as data: small clusters in a short form, and texts that the answer about a pod must and must not have.

A file below fixtures/answers, fixtures/findings or fixtures/public holds a list of situations. Each has

- `situation`: its name;
- `source` and `ended`, of a public report: the thread, and what it ended in;
- `nodes`: short nodes (`name`, `labels`, `taints`, `has` beside 16 cpu and 64Gi, `capacity`, `spec`, `status`);
- `running`: short pods (`name`, `on`, `asks`, `by` as Kind/name, `spec`, `status`), and `pod`, the one asked about;
- `budgets`: short PodDisruptionBudgets (`name`, `covers` as labels, `ready`, `needed` and `of` pods);
- `objects`: any other objects, whole;
- `ask`: the command line, without --from, where it is not `explain -o wide` of the pod; with it `stdin`, `terminal` as
  columns and lines, and `without`: kinds that are missing from the folder of lists that is read;
- `kinds`: the kinds of findings, in their order; `first`: a text of the first line; `says` and `lacks`: texts of
  the answer, with white space collapsed.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from kubectl_sched.queries.explain import ExplainAnswer, ExplainQuestion, explain
from kubectl_sched.render.display import Display
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.dump.reader import read
from kubectl_sched.sources.pod_selection import Selection
from tests.program import run
from tests.render.worlds import shown
from tests.terminal import on_terminal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_sched.queries.explanation import Explanation

FIXTURES = Path(__file__).parents[1] / "fixtures"
_ROOMY = {"cpu": "16", "memory": "64Gi", "pods": "110", "ephemeral-storage": "100Gi"}
_WIDE = 400

Situation = dict[str, Any]


def situations(folder: str) -> list[Situation]:
    """Read all situations of a folder below fixtures."""
    files = sorted((FIXTURES / folder).glob("*.yaml"))
    return [each for file in files for each in msgspec.yaml.decode(file.read_bytes())]


def objects_of(situation: Mapping[str, Any]) -> list[Any]:
    """Return the cluster as the API server would list it."""
    asked_about = [situation["pod"]] if "pod" in situation else []
    short_pods = [*situation.get("running", ()), *situation.get("waiting", ()), *asked_about]
    budgets = map(_budget, situation.get("budgets", ()))
    return [*map(_node, situation["nodes"]), *map(_pod, short_pods), *budgets, *situation.get("objects", ())]


def _budget(short: Mapping[str, Any]) -> dict[str, Any]:
    ready, needed = short.get("ready", 1), short.get("needed", 1)
    counts = {"currentHealthy": ready, "desiredHealthy": needed, "expectedPods": short.get("of", ready)}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": short["name"], "namespace": short.get("namespace", "default")},
        "spec": {"selector": {"matchLabels": short["covers"]}, "minAvailable": needed, **short.get("spec", {})},
        "status": {"disruptionsAllowed": max(0, ready - needed), **counts, **short.get("status", {})},
    }


def _node(short: Mapping[str, Any]) -> dict[str, Any]:
    has = {**_ROOMY, **short.get("has", {})}
    taints = [{"key": key, "value": value, "effect": "NoSchedule"} for key, value in short.get("taints", {}).items()]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": short["name"],
            "labels": {"kubernetes.io/hostname": short["name"], **short.get("labels", {})},
        },
        "spec": {"taints": taints, **short.get("spec", {})},
        "status": {"allocatable": has, "capacity": {**has, **short.get("capacity", {})}, **short.get("status", {})},
    }


def _pod(short: Mapping[str, Any]) -> dict[str, Any]:
    kind, _, owner = short.get("by", "").partition("/")
    owners = [{"apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": f"uid-{owner}", "controller": True}]
    main = {"name": "main", "image": "app", "resources": {"requests": short.get("asks", {})}}
    on = {"nodeName": short["on"]} if "on" in short else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": short["name"],
            "namespace": short.get("namespace", "default"),
            "uid": f"uid-{short['name']}",
            "ownerReferences": owners if kind else [],
            **short.get("metadata", {}),
        },
        "spec": {"schedulerName": "default-scheduler", "containers": [main], **on, **short.get("spec", {})},
        "status": {"phase": "Running" if on else "Pending", **short.get("status", {})},
    }


def asked(situation: Mapping[str, Any], folder: Path) -> ExplainAnswer:
    """Explain the situation's pod out of a dump that is written to the folder."""
    file = _written(folder / "cluster.json", objects_of(situation))
    pod = situation["pod"]
    selection = Selection(targets=("pod", pod["name"]), namespace=pod.get("namespace", "default"))
    replay = Replay(kube_version=situation.get("version", "1.36"), feature_gates=situation.get("gates"))
    return explain(ExplainQuestion(selection=selection, replay=replay), read([str(file)]))[0]


def text_of(explanation: Explanation) -> str:
    """Return all of `explain -o wide` with white space collapsed."""
    return " ".join(shown(explanation, width=_WIDE, lines=None, display=Display(output="wide")).split())


def problems(situation: Mapping[str, Any], folder: Path) -> list[str]:
    """Return what is wrong with the answer; nothing if it is right."""
    if "ask" in situation:
        output = _output(situation, folder)
        found = _problems_of(situation, " ".join(output.split()))
        first = " ".join(output.partition("\n")[0].split())
        if situation.get("first", "") not in first:
            found.append(f"first line: {first}")
        return [*found, output] if found else []
    (explanation,) = asked(situation, folder).explanations
    text = text_of(explanation)
    found = _problems_of(situation, text)
    kinds = [each.kind for each in explanation.findings]
    if "kinds" in situation and kinds != situation["kinds"]:
        found.append(f"findings: {kinds}")
    return [*found, text] if found else []


def _problems_of(situation: Mapping[str, Any], text: str) -> list[str]:
    missing = [f"lacks: {each}" for each in situation.get("says", ()) if each not in text]
    return missing + [f"must not say: {each}" for each in situation.get("lacks", ()) if each in text]


def _output(situation: Mapping[str, Any], folder: Path) -> str:
    """Return what the program writes for the situation's command line."""
    arguments = shlex.split(situation["ask"])
    if "nodes" in situation:
        arguments += ["--from", str(_dump(situation, folder))]
    if "terminal" in situation:
        columns, lines = situation["terminal"]
        return on_terminal(arguments, columns=columns, lines=lines)[0]
    done = run(*arguments, stdin=situation.get("stdin"), environment={"COLUMNS": str(_WIDE)})
    return done.stdout or done.stderr


def _dump(situation: Mapping[str, Any], folder: Path) -> Path:
    """Write the cluster as one List; as one file a kind, where kinds are missing, so that they are known to be."""
    objects = objects_of(situation)
    if "without" not in situation:
        return _written(folder / "cluster.json", objects)
    dump = folder / "dump"
    dump.mkdir()
    for kind in {each["kind"] for each in objects} - set(situation["without"]):
        _written(dump / f"{kind.lower()}s.json", [each for each in objects if each["kind"] == kind])
    return dump


def _written(file: Path, objects: list[Any]) -> Path:
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    return file
