"""An Explanation as the JSON that scripts read. The schema is stable: fields are added, never renamed or dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from kubectl_sched.config.scheduler_name import scheduler_name_of
from kubectl_sched.framework.amounts import amount_text
from kubectl_sched.framework.status import Code
from kubectl_sched.record import plain
from kubectl_sched.render.ages import age
from kubectl_sched.render.funnel import funnel
from kubectl_sched.render.node_order import closest
from kubectl_sched.render.sentences.node_sentences import why_not
from kubectl_sched.render.sentences.podgroup_headline import podgroup_headline
from kubectl_sched.safe_output import API_VERSION
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.scheduler.member_result import MemberResult
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.suggestions.advice import advice_of
from kubectl_sched.suggestions.suggestion import Promise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from kubectl_sched.api.core import Event
    from kubectl_sched.diagnostics.findings.finding import Finding
    from kubectl_sched.diagnostics.last_message import Said
    from kubectl_sched.diagnostics.pod_lifecycle import Stage
    from kubectl_sched.diagnostics.replay_against_history import History, Observed
    from kubectl_sched.framework.evidence import Evidence
    from kubectl_sched.framework.interface import PostFilterResult
    from kubectl_sched.framework.status import Status
    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.queries.provisioning.cluster_autoscaler_replay import ClusterAutoscalerAnswer
    from kubectl_sched.queries.provisioning.karpenter_replay import KarpenterAnswer
    from kubectl_sched.queries.provisioning.new_nodes import NewNodes
    from kubectl_sched.queries.unreadable_kinds import UnreadableKind
    from kubectl_sched.queries.verdict.manifest_mark import ManifestMark
    from kubectl_sched.render.schemas import autoscaler_answers, common, pod_gates, triage
    from kubectl_sched.render.schemas import explained_pods as schema
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.scheduler.search_starts import Sampling
    from kubectl_sched.suggestions.suggestion import Suggestion

_CLOSEST_SHOWN = 5


def explanation_data(
    explanation: Explanation,
    summary: str,
    *,
    evidence: Callable[[int], bool] | None = None,
    with_nodes: bool = True,
) -> dict[str, Any]:
    """Return the whole of it. `evidence` tells for which rows the evidence is added; brief answers have no nodes."""
    result = explanation.result
    pod, state = result.pod, result.state if isinstance(result, CycleResult) else None
    data: schema.Explanation = {
        "apiVersion": API_VERSION,
        "kind": "Explanation",
        "pod": {"namespace": pod.metadata.namespace, "name": pod.metadata.name},
        "schedulerName": scheduler_name_of(pod),
        "kubernetesVersion": result.kubernetes_version,
        "kubernetesPatch": result.kubernetes_patch,
        "currentNode": result.current_node,
        "outcome": result.outcome.value,
        "verdict": explanation.verdict,
        "summary": summary,
        "unreadable": [_unreadable(each) for each in explanation.unreadable],
        "groups": plain(explanation.groups),
        "said": _said(explanation.said),
        "findings": [_finding(each) for each in explanation.findings],
        "marks": [_mark(each) for each in explanation.marks],
        "preEnqueue": _status(result.pre_enqueue),
        "preFilter": _status(result.pre_filter),
        "preFilterNodes": None if result.pre_filter_nodes is None else sorted(result.pre_filter_nodes),
        "skipped": {
            "filter": sorted(state.skip_filter_plugins) if state else [],
            "score": sorted(state.skip_score_plugins) if state else [],
        },
        "funnel": plain(funnel(result)),
        "closest": _closest(result),
        "nodes": _nodes(result, evidence or (lambda _: False)) if with_nodes else [],
        "feasible": sorted(result.nodes.names[row] for row in result.feasible),
        "best": [] if result.outcome is Outcome.ERROR else list(result.best),
        "nominatedFirst": result.nominated_first,
        "message": result.message,
        "postFilter": _post_filter(result.post_filter),
        "event": result.event,
        "unknown": plain(result.unknown),
        "error": result.error,
        "binding": plain(result.binding),
        "podGroup": _podgroup(result),
        "queue": plain(explanation.queue_place),
        "stage": stage_data(explanation.stage),
        "history": _history(explanation.history),
        "observed": _observed(explanation.observed),
        "suggestions": [suggestion_data(each) for each in explanation.suggestions],
        "sampling": _sampling(explanation.sampling),
        "contrast": plain(explanation.contrast),
        "gates": _gates(explanation),
        "newNodes": _new_nodes(explanation.new_nodes),
        "warnings": list(explanation.notes),
    }
    return dict(data)


def explanation_list(
    items: Iterable[Mapping[str, Any]], warnings: Sequence[str], together: schema.Together | None = None
) -> dict[str, Any]:
    """Several explanations, in the order that was asked for; `items` may be an iterator, which is written as a list."""
    beside: schema.BesideItems = {"together": together} if together is not None else {}
    listed = cast("list[schema.Explanation]", items)
    about: common.About = {"apiVersion": API_VERSION, "kind": "ExplanationList"}
    data: schema.ExplanationList = {**about, "items": listed, **beside, "warnings": list(warnings)}
    return dict(data)


def _said(said: Said | None) -> schema.Said | None:
    if said is None:
        return None
    return {
        "message": said.message,
        "at": said.at,
        "source": said.source,
        "differs": said.differs,
        "because": said.because,
        "age": age(said.at, said.read_at),
    }


def _finding(each: Finding) -> schema.Finding:
    return {
        "kind": each.kind,
        "sentence": each.sentence,
        "commands": [str(command) for command in each.commands],
        "spoilsStart": each.spoils_start,
    }


def _mark(each: ManifestMark) -> schema.Mark:
    at = each.position
    return {
        "file": at.file,
        "line": at.line,
        "column": at.column,
        "field": at.field,
        "label": each.label,
        "help": each.help or None,
    }


def _unreadable(each: UnreadableKind) -> common.UnreadableKind:
    return {"kind": each.kind, "why": each.why, "rule": each.rule, "plugins": list(each.plugins)}


def stage_data(stage: Stage | None) -> common.Stage | None:
    """The stage as the contract has it."""
    if stage is None:
        return None
    return {"name": stage.name, "since": stage.since, "evidence": list(stage.evidence)}


def _history(history: History | None) -> schema.History | None:
    if history is None:
        return None
    return {
        "scheduledBy": history.scheduled_by,
        "at": history.at,
        "verdict": history.verdict,
        "message": history.message,
        "youngerPods": history.younger_pods,
        "youngerNodes": history.younger_nodes,
        "unknown": list(history.unknown),
        "difference": [{"plugin": plugin, "points": points} for plugin, points in history.difference],
    }


def _observed(observed: Observed | None) -> schema.Observed | None:
    if observed is None:
        return None
    return {
        "event": _event(observed.event) if observed.event is not None else None,
        "matchesReplay": observed.matches_replay,
        "likelyCauses": list(observed.likely_causes),
        "autoscalers": [_event(event) for event in observed.autoscalers],
    }


def _event(event: Event) -> schema.Event:
    return {"reason": event.reason, "component": event.component, "lastSeen": event.last_seen, "message": event.text}


def _podgroup(result: ScheduleResult) -> schema.PodGroup | None:
    if not isinstance(result, MemberResult):
        return None
    cycle = result.podgroup
    group = cycle.info.group.metadata
    return {
        "namespace": group.namespace,
        "name": group.name,
        "outcome": cycle.outcome.value,
        "summary": podgroup_headline(cycle),
    }


def _status(status: Status) -> common.Status | None:
    if status.code in {Code.SUCCESS, Code.SKIP}:
        return None
    return _rejection(status)


def _rejection(status: Status) -> common.Status:
    return {"plugin": status.plugin, "code": status.code.value, "reasons": list(status.reasons)}


def suggestion_data(suggestion: Suggestion) -> triage.Suggestion:
    """One suggestion, as the contract has it."""
    preempts = suggestion.promise is Promise.PREEMPTS
    return {
        "rung": suggestion.rung,
        "text": suggestion.text,
        "changes": [change.text for change in suggestion.changes],
        "commands": [str(command) for command in suggestion.commands],
        "manual": plain(suggestion.manual),
        "patches": plain(suggestion.patches),
        "frees": [
            {"node": change.node_name, "resource": resource, "amount": amount_text(resource, amount)}
            for change in suggestion.changes
            for resource, amount in change.frees
        ],
        "evictions": [pod.key for change in suggestion.changes for pod in change.ends],
        "weights": [
            {"plugin": change.weight[0], "weight": change.weight[1]}
            for change in suggestion.changes
            if change.weight is not None
        ],
        "kind": advice_of(suggestion).value,
        "scope": suggestion.scope.name.capitalize(),
        "recreatesPods": suggestion.recreates_pods,
        "caution": suggestion.caution,
        "outcome": (Outcome.UNSCHEDULABLE if preempts else Outcome.SCHEDULABLE).value,
        "promise": suggestion.promise.value,
        "node": suggestion.node,
        "best": [] if preempts else list(suggestion.nodes),
        "feasible": suggestion.feasible_count,
        "victims": list(suggestion.victims),
        "ends": list(suggestion.ends),
        "lost": plain(suggestion.lost),
    }


def _sampling(sampling: Sampling | None) -> schema.Sampling | None:
    if sampling is None:
        return None
    return {
        "order": "approximated by age",
        "startIndex": sampling.start_index,
        "starts": sampling.starts,
        "stopsAfter": sampling.stops_after,
        "wins": [{"node": name, "share": share} for name, share in sampling.wins],
        "failureShare": sampling.failure_share,
    }


def _gates(explanation: Explanation) -> list[pod_gates.Gate]:
    if not explanation.gates:
        return []
    from kubectl_sched.render.answers.gate_data import gates_data  # most pods have none

    return gates_data(explanation)


def _new_nodes(found: NewNodes | None) -> autoscaler_answers.NewNodes | None:
    if found is None:
        return None
    karpenter, groups = found.karpenter, found.cluster_autoscaler
    return {
        "karpenter": _karpenter(karpenter) if karpenter is not None else None,
        "clusterAutoscaler": _cluster_autoscaler(groups) if groups is not None else None,
        "starting": plain(found.starting),
        "leaving": list(found.leaving),
        "assumed": list(found.assumed),
    }


def _cluster_autoscaler(found: ClusterAutoscalerAnswer) -> autoscaler_answers.ClusterAutoscaler:
    groups, event = plain(found.groups), plain(found.event)
    return {"version": found.version, "groups": groups, "event": event, "balance": list(found.balance)}


def _karpenter(found: KarpenterAnswer) -> autoscaler_answers.Karpenter:
    requirements: dict[str, list[dict[str, Any]]] = {}
    for each in found.requirements:
        requirements.setdefault(each["key"], []).append({name: each[name] for name in each if name != "key"})
    return {
        "version": found.version,
        "verdict": found.verdict,
        "node": found.node,
        "nodePool": found.node_pool,
        "instanceTypes": list(found.instance_types),
        "requirements": requirements,
        "nodeClaim": found.node_claim,
        "error": found.error,
        "nodePools": plain(found.node_pools),
        "typesSeen": found.types_seen,
        "chance": {"agreeing": found.agreeing, "replays": found.replays},
        "advice": plain(found.advice),
        "thenScheduler": plain(found.then_scheduler),
    }


def _closest(result: ScheduleResult) -> list[schema.Closest]:
    """Return the rejected nodes that came closest, and what is against each."""
    if result.verdict is None or not result.pre_filter.is_success:
        return []
    return [
        {
            "node": result.nodes.names[row],
            "plugins": [each.plugin or "" for each in result.rejections(row)],
            "why": why_not(result, row),
        }
        for row in closest(result, _CLOSEST_SHOWN)
    ]


def _evidence(found: Sequence[Evidence]) -> list[common.Evidence]:
    return [{"text": each.text, "facts": each.facts, "hints": list(each.hints)} for each in found]


def _nodes(result: ScheduleResult, with_evidence: Callable[[int], bool]) -> list[schema.Node]:
    if result.verdict is None:
        return []
    names = result.nodes.names
    scores = [
        (each.plugin, each.weight, each.raw.tolist(), each.normalized.tolist(), each.weighted.tolist())
        for each in result.scores
    ]
    nodes: list[schema.Node] = []
    for row in sorted(range(len(names)), key=names.__getitem__):
        rejections = [_rejection(status) for status in result.rejections(row)]
        position = result.position_of.get(row)
        points: list[schema.Score] = []
        if position is not None:
            points = [
                {
                    "plugin": plugin,
                    "raw": raw[position],
                    "normalized": normalized[position],
                    "weight": weight,
                    "weighted": weighted[position],
                }
                for plugin, weight, raw, normalized, weighted in scores
            ]
        if with_evidence(row):
            for rejection in rejections:
                rejection["evidence"] = _evidence(result.filter_evidence(rejection["plugin"] or "", row))
            for point in points:
                point["evidence"] = _evidence(result.score_evidence(point["plugin"], row))
        nodes.append(
            {
                "name": names[row],
                "filter": _status(result.verdict[row]),
                "rejections": rejections,
                "scores": points,
                "total": result.total_of.get(row),
            }
        )
    return nodes


def _post_filter(result: PostFilterResult | None) -> common.PostFilter | None:
    if result is None:
        return None
    return {
        "code": result.status.code.value,
        "message": result.status.message,
        "nominatedNode": result.nominated_node,
        "victims": sorted(victim.key for victim in result.victims),
    }
