"""Asks the library for the cycle of a group, in the oracle's words."""

from __future__ import annotations

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from kubectl_sched.api.scheduling import PodGroup
from kubectl_sched.framework.fit_error import event_note
from kubectl_sched.framework.status import Code
from kubectl_sched.scheduler.podgroup_members import explain_podgroup
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.sources.discovery.replay_setup import Replay, configuration_for, scheduler_for
from kubectl_sched.sources.dump.reader import read
from tests.oracle.build import patch_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.scheduler.podgroup_result import Member, PodGroupResult

Json = dict[str, Any]


def replay(request: Json, minor: str) -> dict[str, PodGroupResult]:
    """Run the cycle of each group that the request names."""
    with TemporaryDirectory() as folder:
        dump_file, config = Path(folder) / "dump.json", Path(folder) / "config.yaml"
        dump_file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": request["objects"]}))
        config.write_text(request.get("config") or "")
        gates = ",".join(f"{name}={str(value).lower()}" for name, value in (request.get("featureGates") or {}).items())
        dump = read([str(dump_file)])
        setup = Replay(
            config=str(config) if request.get("config") else None,
            kube_version=patch_of(minor),
            feature_gates=gates or None,
        )
        scheduler, _ = scheduler_for(dump, configuration_for(dump, setup))
    groups = {item.key: item for item in dump.objects if isinstance(item, PodGroup)}
    return {key: explain_podgroup(groups[key], scheduler) for key in request["groups"]}


def theirs(answer: Json) -> Json:
    """The oracle's answer, with messages cut as events are, as the library says nothing beyond."""
    return {
        "members": [
            {
                "pod": member["pod"],
                "node": member.get("node"),
                "message": event_note(member["message"]) if member.get("message") else None,
                "nominated": member.get("nominatedNode"),
            }
            for member in answer["members"]
            if member.get("message") or not member.get("skipped")
        ],
        "gated": sorted(answer["gated"]),
        "attempts": [{"pod": attempt["pod"], "tied": attempt.get("tied") or []} for attempt in answer["attempts"]],
        "totals": [[each["domain"], each["total"]] for each in answer["placements"]],
        "conditions": answer.get("conditions") or {},
        "victims": answer["victims"],
    }


def ours(result: PodGroupResult) -> Json:
    return {
        "members": [_member(each) for each in result.members if each.outcome not in _OUTSIDE],
        "gated": sorted(each.pod.key for each in result.members if each.outcome in _GATED),
        "attempts": [{"pod": attempt.pod.key, "tied": list(attempt.tied)} for attempt in result.attempts],
        "totals": list(_totals(result)),
        "conditions": dict(_conditions(result)),
        "victims": sorted(pod.key for pod in result.victims),
    }


def _totals(result: PodGroupResult) -> Iterator[list[str | int]]:
    """The points of placements in the order in which they are given: those of groups below first."""
    for placement in result.placements:
        for child in placement.children:
            yield from _totals(child)
    for each, total in zip(result.feasible, result.totals or (), strict=False):
        yield [each.placement.name, total]


def _conditions(result: PodGroupResult) -> Iterator[tuple[str, Json]]:
    """The conditions that are written, by PodGroup."""
    for child in result.children:
        yield from _conditions(child)
    if result.condition is not None:
        yield result.info.group.key, to_builtins(result.condition)


_GATED = {Outcome.GATED, Outcome.NO_PROFILE}
_OUTSIDE = {*_GATED, Outcome.DELETING}


def _member(member: Member) -> Json:
    return {
        "pod": member.pod.key,
        "node": member.node_name,
        "message": member.event,
        "nominated": member.nominated_node,
    }


def differences(answer: Json, result: PodGroupResult) -> Json:
    """Aspect -> (kube-scheduler's, ours), where they differ; trials of preemption are kube-scheduler's own."""
    real, said = theirs(answer), ours(result)
    for name, condition in real["conditions"].items():
        condition["status"] = condition["status"] or said["conditions"].get(name, {}).get("status")  # not in the patch
    real["victims"] = sorted(set(real["victims"]))
    real["totals"] = real["totals"][: len(said["totals"])]
    real["attempts"] = real["attempts"][: len(said["attempts"])]
    errors = set(_errors(result))
    real, said = _without_chance(real, errors), _without_chance(said, errors)
    return {aspect: (real[aspect], said[aspect]) for aspect in real if real[aspect] != said[aspect]}


_BY_CHANCE = re.compile(
    r"(?<=cannot determine domain for already scheduled pods: ).*"
    r"|(?<=all pods in a single pod group should have the same ).*"
    r"|(?<=all pods in a pod group hierarchy should have the same ).*"
    r"|(?<=all pod groups in a hierarchy should have the same preemption policy).*"
)
"""Which of the members an error names: kube-scheduler goes through a Go map."""


def _errors(result: PodGroupResult) -> Iterator[str]:
    """The errors on single nodes: where several nodes fail, chance decides which error kube-scheduler tells."""
    for attempt in result.attempts:
        verdict = attempt.result.verdict
        yield from (each.message for each in (verdict.values if verdict else ()) if each.code is Code.ERROR)


def _without_chance(value: Any, errors: set[str]) -> Any:
    if isinstance(value, dict):
        return {key: _without_chance(each, errors) for key, each in value.items()}
    if isinstance(value, list):
        return [_without_chance(each, errors) for each in value]
    if not isinstance(value, str):
        return value
    told = next((error for error in errors if value.endswith(error)), None)
    return _BY_CHANCE.sub("", value.removesuffix(told) + "an error" if told else value)
