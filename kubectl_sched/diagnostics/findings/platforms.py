"""Images and pods for another operating system or architecture than that of the node where the pod lands.

The scheduler compares neither spec.os nor what an image is built for with a node.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from kubectl_sched.diagnostics.findings.finding import Finding
from kubectl_sched.lazy_pattern import pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.pod_surroundings import Surroundings

KIND: Final = "Platform"

_OS: Final = "kubernetes.io/os"
_WINDOWS: Final = "windows"
_ARCH: Final = "kubernetes.io/arch"
_WRONG_PLATFORM = pattern(r"no matching manifest for|no match for platform in manifest|exec format error")


def findings(result: ScheduleResult, around: Surroundings) -> Iterator[Finding]:
    """Yield each difference between the pod's platform and that of the nodes that it may land on."""
    nodes = [result.nodes.node(result.nodes.row_of[name]) for name in result.best if name in result.nodes.row_of]
    if not nodes:
        return
    wanted = result.pod.spec.os.name if result.pod.spec.os is not None else ""
    other = next((node for node in nodes if wanted and node.labels.get(_OS, wanted) != wanted), None)
    if other is not None:
        yield Finding(
            kind=KIND,
            sentence=f"The kubelet of {other.name}, which runs {other.labels[_OS]}, refuses a pod whose spec.os is "
            f"{wanted}; kube-scheduler does not look at spec.os: {_with_selector(result, _OS, wanted)}",
            clauses=(f"its kubelet refuses it: the node runs {other.labels[_OS]}, spec.os is {wanted}",),
            spoils_start=True,
        )
    windows = next((node for node in nodes if node.labels.get(_OS) == _WINDOWS), None)
    if windows is not None and not wanted and not _is_meant_for_windows(result.pod):
        yield Finding(
            kind=KIND,
            sentence=f"It may land on {windows.name}, which runs Windows, and nothing in the pod says that its images "
            f"are built for it: images for Linux cannot start there; {_with_selector(result, _OS, 'linux')}",
        )
    failed = _failed_by_platform(result.pod, around)
    if failed is None:
        return
    row = result.nodes.row_of.get(failed.spec.node_name or "")
    arch = result.nodes.node(row).labels.get(_ARCH) if row is not None else None
    same = next((node for node in nodes if arch is not None and node.labels.get(_ARCH) == arch), None)
    if same is not None and _ARCH not in (result.pod.spec.node_selector or {}):
        works = _runs_elsewhere(failed, around, result, arch or "")
        image = min(_images(result.pod) & _images(failed))
        other_way = _with_selector(result, _ARCH, works) if works else _without(result, arch)
        runs = f" as it runs on {works}," if works else ""
        yield Finding(
            kind=KIND,
            sentence=f"Image {image} has no build for {arch}: {failed.key} could not start on {failed.spec.node_name}, "
            f"and the pod goes to {same.name}, which is {arch}, too: build it for {arch}, or{runs} {other_way}",
            clauses=(f"image {image} has no build for {arch}", f"its image has no build for {arch}"),
            spoils_start=True,
        )


def _without(result: ScheduleResult, arch: str | None) -> str:
    """Return what helps where no architecture is known on which the image runs."""
    if any(value not in {None, arch} for value, _ in result.nodes.label(_ARCH).counts()):
        return f"add a nodeSelector for {_ARCH}"
    return "add nodes of an architecture that it is built for"


def _with_selector(result: ScheduleResult, key: str, value: str) -> str:
    """Return the advice to choose nodes by their platform, and what follows where none of them takes the pod now."""
    nodes = result.nodes
    rows = np.flatnonzero(nodes.label(key).where(lambda each: each == value)).tolist()
    advice = f"add nodeSelector {key}: {value}"
    if not rows:
        return f"{advice}, and a node of that kind, as there is none"
    if any(result.feasible_mask[row] for row in rows):
        return advice
    row = rows[0]
    plugin = next((each.plugin for each in result.rejections(row) if each.plugin), "")
    told = next((each.text for each in result.filter_evidence(plugin, row)), "") if plugin else ""
    why = f": {nodes.names[row]} {told}" if told else ""
    return f"{advice}; then it fits on no node now{why}"


def _is_meant_for_windows(pod: Pod) -> bool:
    """Report whether the pod names its operating system, or tolerates a taint by which Windows nodes are kept."""
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    required = affinity.required if affinity is not None else None
    terms = required.node_selector_terms if required is not None else ()
    chooses = any(each.key == _OS for term in terms for each in term.match_expressions)
    tolerates = any(_WINDOWS in (each.value.lower(), each.key.lower()) for each in pod.spec.tolerations)
    return chooses or tolerates or _OS in (pod.spec.node_selector or {})


def _images(pod: Pod) -> frozenset[str]:
    return frozenset(each.image for each in (*pod.spec.containers, *pod.spec.init_containers) if each.image)


def _failed_by_platform(pod: Pod, around: Surroundings) -> Pod | None:
    """Return a pod with an image of this one that could not start on its node's platform; None if there is none."""
    failed = _failed_by_image(around)
    return next((failed[image] for image in sorted(_images(pod)) if image in failed), None)


@lru_cache(maxsize=1)
def _failed_by_image(around: Surroundings) -> Mapping[str, Pod]:
    """Return the first pod with each image that could not start on its node's platform, once for all pods."""
    found: dict[str, Pod] = {}
    for pod in around.failed_to_start:
        new = _images(pod) - found.keys()
        if new and _is_by_platform(pod, around):
            found.update(dict.fromkeys(new, pod))
    return found


@lru_cache(maxsize=1)
def _nodes_by_image(around: Surroundings) -> Mapping[str, Mapping[str, None]]:
    """Return the names of the nodes on which a pod with the image runs, for each image of a failed pod."""
    found: dict[str, dict[str, None]] = {image: {} for image in _failed_by_image(around)}
    for pod in around.dump.pods:
        if pod.status.phase == "Running" and all(each.state.waiting is None for each in pod.status.container_statuses):
            for image in _images(pod) & found.keys():
                found[image][pod.spec.node_name or ""] = None
    return found


def _is_by_platform(pod: Pod, around: Surroundings) -> bool:
    texts = [each.state.waiting.message for each in pod.status.container_statuses if each.state.waiting]
    texts += [event.text for event in around.events(pod) if event.reason == "Failed"]
    return any(_WRONG_PLATFORM.search(text) for text in texts)


def _runs_elsewhere(failed: Pod, around: Surroundings, result: ScheduleResult, arch: str) -> str:
    """Return an architecture on which a pod with the same image runs; empty if none is seen."""
    running = _nodes_by_image(around)
    rows = (result.nodes.row_of.get(name) for image in sorted(_images(failed)) for name in running.get(image, ()))
    archs = (result.nodes.node(row).labels.get(_ARCH, "") for row in rows if row is not None)
    return next((found for found in archs if found not in {"", arch}), "")
