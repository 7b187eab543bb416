"""Asks the library for the cycle of a group, in the oracle's words."""

from __future__ import annotations

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from kubectl_sched.api.scheduling import PodGroup
from kubectl_sched.framework.fit_error import event_note
from kubectl_sched.framework.status import Code
from kubectl_sched.scheduler.podgroup_members import explain_podgroup
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.sources import read
from kubectl_sched.sources.discovery.replay_setup import Replay, configuration_for, scheduler_for

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
            config=str(config) if request.get("config") else None, kube_version=minor, feature_gates=gates or None
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
        "totals": {each["domain"]: each["total"] for each in answer["placements"]},
        "condition": (answer.get("conditions") or {}).get(answer["group"]),
        "victims": answer["victims"],
    }


def ours(result: PodGroupResult) -> Json:
    condition = result.condition
    names = [each.placement.name for each in result.feasible]
    return {
        "members": [_member(each) for each in result.members if each.outcome not in _OUTSIDE],
        "gated": sorted(each.pod.key for each in result.members if each.outcome in _GATED),
        "attempts": [
            {"pod": attempt.pod.key, "tied": list(attempt.tied)}
            for placement in result.placements
            for attempt in placement.attempts
        ],
        "totals": dict(zip(names, result.totals, strict=True)) if result.totals is not None else {},
        "condition": condition
        and {
            "type": condition.type,
            "status": condition.status,
            "reason": condition.reason,
            "message": condition.message,
        },
        "victims": sorted(pod.key for pod in result.victims),
    }


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
    if real["condition"] and not real["condition"]["status"]:
        real["condition"]["status"] = (said["condition"] or {}).get("status")  # a patch leaves out what stays
    real["victims"] = sorted(set(real["victims"]))
    if result.totals is None and result.post_filter is not None:
        real["totals"] = said["totals"]
    real["attempts"] = real["attempts"][: len(said["attempts"])]
    errors = set(_errors(result))
    real, said = _without_chance(real, errors), _without_chance(said, errors)
    return {aspect: (real[aspect], said[aspect]) for aspect in real if real[aspect] != said[aspect]}


_BY_CHANCE = re.compile(r"(?<=cannot determine domain for already scheduled pods: ).*")
"""Which of the scheduled members an error names: kube-scheduler goes through a Go map."""


def _errors(result: PodGroupResult) -> Iterator[str]:
    """The errors on single nodes: where several nodes fail, chance decides which error kube-scheduler tells."""
    for placement in result.placements:
        for attempt in placement.attempts:
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
