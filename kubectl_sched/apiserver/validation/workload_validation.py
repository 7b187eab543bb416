"""Validation of the workloads that make pods, apart from the pods themselves.

Answers to pkg/apis/{apps,batch,core}/validation/validation.go, for names, selectors, counts and restart policies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from kubectl_sched.api.apimachinery.labels import InvalidSelector, selector_of
from kubectl_sched.api.apimachinery.validation import (
    dns_label_errors,
    invalid,
    not_negative,
    not_supported,
    subdomain_errors,
    text_problems,
)
from kubectl_sched.api.apps import CronJob, DaemonSet, Deployment, Job, ReplicaSet, ReplicationController, StatefulSet
from kubectl_sched.api.meta import LabelSelector
from kubectl_sched.apiserver.refused_manifest import refuse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.apps import JobSpec, PodTemplateSpec
    from kubectl_sched.api.meta import KubernetesObject, Labels

_LONGEST_CRON_JOB = 52
_NO_MATCH = "`selector` does not match template `labels`"


def check_workload(item: KubernetesObject) -> None:
    """Raises RefusedError with all that is wrong with a Pod's name, or with a workload around its template."""
    refuse(item, [*_name(item), *_spec(item), *_strategy(item)])


def _name(item: KubernetesObject) -> Iterator[str]:
    errors = dns_label_errors if isinstance(item, StatefulSet) else subdomain_errors
    yield from text_problems("metadata.name", item.name, errors)
    if isinstance(item, CronJob) and len(item.name) > _LONGEST_CRON_JOB:
        yield invalid("metadata.name", item.name, f"must be no more than {_LONGEST_CRON_JOB} characters")


def _spec(item: KubernetesObject) -> Iterator[str]:
    match item:
        case Deployment() | ReplicaSet() | StatefulSet():
            yield from not_negative("spec.replicas", item.spec.replicas)
            if item.spec.selector is None:
                yield "spec.selector: Required value"
            yield from _selected(item.spec.selector, item.spec.template, _noun(item))
            yield from _always(item.spec.template)
        case DaemonSet():
            yield from _selected(item.spec.selector, item.spec.template, _noun(item))
            yield from _always(item.spec.template)
        case ReplicationController():
            yield from not_negative("spec.replicas", item.spec.replicas)
            yield from _of_controller(item)
        case Job():
            yield from _job(item.spec, "spec")
        case CronJob():
            yield from _job(item.spec.job_template.spec, "spec.jobTemplate.spec")


def _strategy(item: KubernetesObject) -> Iterator[str]:
    if isinstance(item, Deployment | ReplicaSet | StatefulSet | DaemonSet):
        from kubectl_sched.apiserver.validation.strategy_validation import strategy_problems

        yield from strategy_problems(item)


def _noun(item: KubernetesObject) -> str:
    """Return the kind that the error for an empty selector names: for ReplicaSets the API server says deployments."""
    return "deployment" if isinstance(item, ReplicaSet) else type(item).__name__.lower()


def _selected(selector: LabelSelector | None, template: PodTemplateSpec, noun: str) -> Iterator[str]:
    if selector == LabelSelector():
        yield f"spec.selector: Invalid value: {{}}: empty selector is invalid for {noun}"
        return
    try:
        matches = selector_of(selector).matches(template.metadata.labels)
    except InvalidSelector as error:
        yield f"spec.selector: {error.reason}"
        return
    if not matches:
        yield _mismatch(template.metadata.labels)


def _mismatch(labels: Labels) -> str:
    shown = msgspec.json.encode(labels, order="sorted").decode() if labels else "null"
    return f"spec.template.metadata.labels: Invalid value: {shown}: {_NO_MATCH}"


def _of_controller(item: ReplicationController) -> Iterator[str]:
    """Its selector is the labels of its template where it has none."""
    template = item.spec.template
    if template is None:
        yield "spec.template: Required value"
        return
    labels = template.metadata.labels
    selector = item.spec.selector or labels
    if not selector:
        yield "spec.selector: Required value"
    elif not selector.items() <= labels.items():
        yield _mismatch(labels)
    yield from _always(template)


def _always(template: PodTemplateSpec) -> Iterator[str]:
    policy = template.spec.restart_policy
    if policy not in {"", "Always"}:
        yield not_supported("spec.template.spec.restartPolicy", policy, ("Always",))


def _job(spec: JobSpec, path: str) -> Iterator[str]:
    yield from not_negative(f"{path}.parallelism", spec.parallelism)
    yield from not_negative(f"{path}.completions", spec.completions)
    mode = spec.completion_mode
    if mode not in {None, "NonIndexed", "Indexed"}:
        yield not_supported(f"{path}.completionMode", str(mode), ("NonIndexed", "Indexed"))
    if mode == "Indexed" and spec.completions is None and spec.parallelism is not None:  # without both they are 1
        yield f"{path}.completions: Required value: when completion mode is Indexed"
    if spec.template.spec.restart_policy in {"", "Always"}:
        yield f'{path}.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'
