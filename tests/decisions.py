"""Holds an Explanation against a decision of the real kube-scheduler, aspect by aspect.

A decision is one answer of `tests/oracle` (its README describes the fields), recorded or fresh.
"""

from __future__ import annotations

import gzip
import json
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from kubectl_sched.api.pod import Pod
from kubectl_sched.config import ConfigurationError, FeatureGateError
from kubectl_sched.queries.explanation import Explanation
from kubectl_sched.render.answers.explanation_data import explanation_data
from kubectl_sched.sources.discovery.replay_setup import Replay, configuration_for, scheduler_for
from kubectl_sched.sources.dump.reader import read
from tests.oracle.build import patch_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from kubectl_sched.framework.status import Status
    from kubectl_sched.scheduler.result import ScheduleResult

Json = dict[str, Any]


class Recorded(NamedTuple):
    """A line of a recorded file, which only the test that is about it decodes."""

    line: bytes

    @property
    def id(self) -> str:
        """The `id` of the request."""
        return _NAMED.decode(self.line).request.id

    @property
    def request(self) -> Json:
        """The request to kube-scheduler."""
        request: Json = self.case["request"]
        return request

    @property
    def case(self) -> Json:
        """The `{"request", "responses"}` of the line."""
        case: Json = json.loads(self.line)
        return case


class _Request(msgspec.Struct):
    id: str


class _Case(msgspec.Struct):
    request: _Request


_NAMED = msgspec.json.Decoder(_Case)


def wrong_cases(cases: Iterable[Recorded], check: Callable[[Recorded], object]) -> dict[str, object]:
    """Return what a check finds wrong with cases, by their ids; an exception says which case it ends."""
    wrong = {}
    for case in cases:
        try:
            found = check(case)
        except BaseException as error:
            error.add_note(f"case {case.id}")
            raise
        if found:
            wrong[case.id] = found
    return wrong


@cache
def recorded(path: Path) -> tuple[Recorded, ...]:
    """The lines of a gzipped file."""
    return tuple(map(Recorded, gzip.decompress(path.read_bytes()).splitlines()))


def explain(request: Json, folder: Path, version: str) -> dict[str, Json]:
    """Our Explanation of each pod that the request names, by `namespace/name`.

    Raises ConfigurationError or FeatureGateError where we refuse the configuration.
    """
    dump_file = folder / "dump.json"
    dump_file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": request["objects"]}))
    config_file = folder / "config.yaml"
    config_file.write_text(request.get("config") or "")
    gates = ",".join(f"{name}={str(value).lower()}" for name, value in (request.get("featureGates") or {}).items())
    dump = read([str(dump_file)])
    replay = Replay(
        config=str(config_file) if request.get("config") else None,
        kube_version=patch_of(version),
        feature_gates=gates or None,
    )
    scheduler, _ = scheduler_for(dump, configuration_for(dump, replay))
    pods = {item.key: item for item in dump.objects if isinstance(item, Pod)}
    return {key: explained(scheduler.schedule_one(pods[key])) for key in request["pods"]}


def explained(result: ScheduleResult) -> Json:
    """Return the data of the explanation, with the dry run of preemption, which no answer lists whole."""
    return explanation_data(Explanation(result=result), "") | {"dryRun": _rehearsed(result)}


def _rehearsed(result: ScheduleResult) -> Json | None:
    """Return the status of each node without candidates, and the victims of each with one; None without a dry run."""
    found = result.post_filter
    if found is None or found.dry_run is None:
        return None
    said: Json = {name: _reasons(found.dry_run[row]) for row, name in enumerate(result.nodes.names)}
    return said | {each.node_name: (_keys(each.victims), each.pdb_violations) for each in found.candidates}


def _reasons(status: Status) -> tuple[str, tuple[str, ...]]:
    return status.code.value, tuple(status.reasons)


def _keys(pods: Iterable[Pod]) -> tuple[str, ...]:
    return tuple(sorted(pod.key for pod in pods))


def is_refused(decision: Json) -> bool:
    """Report whether kube-scheduler refused the configuration, so that no pod was looked at."""
    return (decision.get("error") or "").startswith(("decode", "config", "scheduler.New"))


def names_unknown_plugin(decision: Json) -> bool:
    """Report whether kube-scheduler refused a plugin that is not in-tree, which we name and leave out."""
    error = decision.get("error") or ""
    return "scheduler.New: " in error and error.endswith("does not exist")


def refuses(request: Json, folder: Path, version: str) -> bool:
    """Report whether we refuse the request's configuration or gates."""
    try:
        explain(request, folder, version)
    except (ConfigurationError, FeatureGateError):
        return True
    return False


def differences(decision: Json, explained: Json) -> dict[str, tuple[Any, Any]]:
    """Aspect -> (the real scheduler's, ours), for every aspect in which they differ."""
    real = _with_our_winner(_decided(decision), decision, explained)
    ours = _explained(explained, decision)
    return {aspect: (value, ours[aspect]) for aspect, value in real.items() if ours[aspect] != value}


def _with_our_winner(real: Json, decision: Json, explained: Json) -> Json:
    """The real texts with our node in the place of another that ties with it for the last criterion of preemption."""
    decided, ours = decision.get("postFilter") or {}, explained["postFilter"] or {}
    theirs, winner = decided.get("nominatedNode"), ours.get("nominatedNode")
    if not theirs or theirs == winner or winner not in (decided.get("nominatedNodes") or ()):
        return real
    before, after = f"for pod on node {theirs}, ", f"for pod on node {winner}, "
    code, message = real["postFilter"]
    return {
        **real,
        "postFilter": (code, message.replace(before, after)),
        "event": real["event"].replace(before, after),
    }


def _status(status: Json | None) -> tuple[str | None, str, tuple[str, ...]] | None:
    if not status:
        return None
    return status.get("plugin"), status["code"], tuple(sorted(status.get("reasons") or ()))


def _gate(gate: Json, decided: Json) -> tuple[str, str | None]:
    """The plugin that holds the pod back and its text, where the decision has one."""
    return gate["plugin"], ", ".join(gate["reasons"]) if "message" in decided else None


def _is_absent(verdict: Json) -> bool:
    return bool((verdict.get("filter") or {}).get("absent"))


def _outcome(decision: Json) -> str:
    if decision.get("skip"):
        return "Deleting"
    if decision.get("error") and not decision.get("preEnqueue"):
        return "Error"
    if not decision["profileFound"]:
        return "NoProfile"
    if decision.get("preEnqueue"):
        return "Gated"
    return "Schedulable" if decision["feasible"] else "Unschedulable"


_CYCLE = "SchedulePod: "
"""The oracle's prefix of an error that fails a cycle. Where several nodes fail, whose error it is falls to chance."""


def _decided(decision: Json) -> Json:
    """The decision in the words of the contract; aspects that it says nothing of are left out."""
    outcome = _outcome(decision)
    said: Json = {"outcome": outcome}
    if outcome in {"Deleting", "Error", "NoProfile"} or decision.get("error"):
        error = decision.get("error") or ""
        if outcome == "Error" and error.startswith(_CYCLE) and decision.get("errorNodes", 0) < 2:
            said["error"] = error.removeprefix(_CYCLE)
        return said
    nodes = decision.get("nodes") or {}
    gate = decision.get("preEnqueue")
    said["preEnqueue"] = gate and (gate["plugin"], gate.get("message"))
    said["preFilter"] = _status(decision.get("preFilter"))
    said["preFilterNodes"] = decision.get("preFilterNodes")
    said["filter"] = {name: _status(verdict.get("filter")) for name, verdict in nodes.items()}
    said["feasible"] = decision["feasible"]
    if "nominatedFirst" in decision:
        said["nominatedFirst"] = decision["nominatedFirst"]
    if decision.get("preFilter") is None:
        said["skippedFilter"] = sorted(decision.get("skippedFilterPlugins") or ())
        said["rejections"] = {
            name: {
                plugin: (status["code"], tuple(sorted(status.get("reasons") or ())))
                for plugin, status in (verdict.get("allFilters") or {}).items()
            }
            for name, verdict in nodes.items()
            if not _is_absent(verdict)
        }
    if decision["feasible"] and not decision.get("scoreError"):
        said |= _decided_scores(decision, nodes)
    if outcome == "Unschedulable":
        said |= _decided_failure(decision)
    return said


def _decided_scores(decision: Json, nodes: Json) -> Json:
    return {
        "skippedScore": sorted(decision.get("skippedScorePlugins") or ()),
        "best": decision["best"],
        "scores": {
            name: (
                verdict.get("total"),
                {
                    plugin: (points["raw"], points["normalized"], points["weight"], points["weighted"])
                    for plugin, points in (verdict.get("scores") or {}).items()
                },
            )
            for name, verdict in nodes.items()
            if verdict.get("filter") is None
        },
    }


def _decided_failure(decision: Json) -> Json:
    post_filter = decision.get("postFilter")
    failure: Json = {
        "message": decision["message"],
        "event": decision.get("eventMessage") or decision.get("finalMessage"),
        "postFilter": post_filter and (post_filter["code"], post_filter.get("message") or ""),
    }
    if post_filter and post_filter.get("dryRun"):
        failure["dryRun"] = {name: _tried(each) for name, each in post_filter["dryRun"].items()}
    if post_filter and post_filter.get("nominatedNode"):
        # The last tie falls to chance, and the victims go with the node.
        failure["nominatedNode"] = True
    return failure


def _tried(dry_run: Json) -> tuple[Any, ...]:
    status = dry_run.get("status")
    if status:
        return status["code"], tuple(status.get("reasons") or ())
    return tuple(sorted(dry_run.get("victims") or ())), dry_run["pdbViolations"]


def _explained(explained: Json, decision: Json) -> Json:
    """Return the aspects of our explanation that a decision has."""
    absent = {name for name, verdict in (decision.get("nodes") or {}).items() if _is_absent(verdict)}
    nodes = explained["nodes"]
    post_filter = explained["postFilter"]
    return {
        "outcome": explained["outcome"],
        "error": explained["error"],
        "preEnqueue": explained["preEnqueue"] and _gate(explained["preEnqueue"], decision["preEnqueue"] or {}),
        "preFilter": _status(explained["preFilter"]),
        "preFilterNodes": explained["preFilterNodes"],
        "filter": {node["name"]: _status(node["filter"]) for node in nodes},
        "feasible": explained["feasible"],
        "nominatedFirst": explained["nominatedFirst"],
        "skippedFilter": explained["skipped"]["filter"],
        "skippedScore": explained["skipped"]["score"],
        "rejections": {
            node["name"]: {
                each["plugin"]: (each["code"], tuple(sorted(each["reasons"]))) for each in node["rejections"]
            }
            for node in nodes
            if node["name"] not in absent
        },
        "best": explained["best"],
        "scores": {
            node["name"]: (
                node["total"],
                {
                    each["plugin"]: (each["raw"], each["normalized"], each["weight"], each["weighted"])
                    for each in node["scores"]
                },
            )
            for node in nodes
            if node["filter"] is None
        },
        "message": explained["message"],
        "event": explained["event"],
        "postFilter": post_filter and (post_filter["code"], post_filter["message"]),
        "dryRun": _of_nodes(explained.get("dryRun"), (decision.get("postFilter") or {}).get("dryRun") or {}),
        "nominatedNode": _is_one_of_the_winners(post_filter, decision.get("postFilter") or {}),
    }


def _of_nodes(rehearsed: Json | None, names: Iterable[str]) -> Json:
    return {name: rehearsed.get(name) for name in names} if rehearsed is not None else {}


def _is_one_of_the_winners(post_filter: Json | None, decided: Json) -> bool:
    """Report whether our node may win the last tie of preemption, with the victims that it has in the real dry run."""
    node = (post_filter or {}).get("nominatedNode")
    if post_filter is None or node not in (decided.get("nominatedNodes") or [decided.get("nominatedNode")]):
        return False
    if node == decided.get("nominatedNode"):
        return sorted(post_filter["victims"]) == sorted(decided.get("victims") or ())
    dry_run = (decided.get("dryRun") or {}).get(node)
    return dry_run is None or sorted(post_filter["victims"]) == sorted(dry_run.get("victims") or ())
