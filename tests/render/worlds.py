"""Clusters to look at, and what a terminal of some size shows of a pod in them."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from msgspec.structs import replace
from rich.console import Console

from kubectl_sched.api.pod import Pod
from kubectl_sched.config import KubeVersion, load_configuration
from kubectl_sched.queries.contrast import contrast_of
from kubectl_sched.queries.explain import ExplainAnswer
from kubectl_sched.queries.explanation import Explanation, explanation_of
from kubectl_sched.render.answers.explain_output import explain_document
from kubectl_sched.render.display import Display
from kubectl_sched.render.show import as_page
from kubectl_sched.render.writers.first_screen import LINES
from kubectl_sched.render.writers.terminal import rendered
from kubectl_sched.render.writers.text import document_parts
from kubectl_sched.scheduler.scheduler import Scheduler
from kubectl_sched.suggestions.search import suggest
from tests.plugins.clusters import node, pod, requests, snapshot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.core import Node
    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.render.document import Document

GPU = "nvidia.com/gpu"


def explained(objects: Sequence[KubernetesObject], name: str = "web-0", *, version: str = "1.36") -> Explanation:
    """The explanation of one of the pods, with suggestions, by the default configuration."""
    configuration = load_configuration(None, KubeVersion.parse(version), None)
    scheduler = Scheduler(configuration, snapshot(*objects, version=version))
    incoming = next(each for each in objects if isinstance(each, Pod) and each.metadata.name == name)
    result = scheduler.schedule_one(incoming)
    contrast = contrast_of(result)
    return replace(explanation_of(result, scheduler), suggestions=suggest(result), contrast=contrast)


def shown(
    *explanations: Explanation,
    width: int = 80,
    lines: int | None = LINES,
    display: Display | None = None,
    notes: Sequence[str] = (),
    color: bool = False,
    one: bool | None = None,
) -> str:
    """The output on a terminal of that many columns and lines."""
    console = Console(
        file=io.StringIO(), width=width, force_terminal=color, no_color=not color, markup=False, highlight=False
    )
    answer = ExplainAnswer(
        explanations=explanations, is_about_one_pod=len(explanations) == 1 if one is None else one, notes=tuple(notes)
    )
    display = display or Display()
    printed = rendered(explain_document(answer, display), display, console, lines)
    if not color:
        return "".join("".join(segment.text for segment in line) + "\n" for line in printed)
    return "".join("".join(f"{segment.style or ''}|{segment.text}" for segment in line) + "\n" for line in printed)


def screen(document: Document, width: int) -> str:
    """The document on a terminal of that many columns, whole and without colours."""
    console = Console(file=io.StringIO(), width=width, no_color=True, markup=False, highlight=False)
    printed = rendered(document, Display(), console, None)
    lines = ("".join(segment.text for segment in line).rstrip() for line in printed)
    return "".join(f"{line}\n" for line in lines)


def page_of(answer: ExplainAnswer, display: Display) -> str:
    """The answer as HTML or Markdown."""
    return as_page(explain_document(answer, display), display)


def text_of(answer: ExplainAnswer, display: Display, width: int) -> str:
    """The answer as text for so many columns, with nothing left out."""
    parts = document_parts(explain_document(answer, display), width, display)
    return "\n".join(str(line) for part in parts for line in part.full)


def gpu_cluster(nodes: int = 300, gpu_nodes: int = 12) -> list[Node]:
    """A control plane, many general nodes, and a few GPU nodes with eight devices each."""
    control_plane = [
        node(
            f"cp-{index}",
            labels={"node-role.kubernetes.io/control-plane": "", "pool": "control-plane"},
            taints=[{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}],
        )
        for index in range(3 if nodes > 20 else 1)
    ]
    general = [
        node(f"general-{index}", labels={"pool": "general", "kubernetes.io/hostname": f"general-{index}"})
        for index in range(nodes - gpu_nodes - len(control_plane))
    ]
    roomy = {"cpu": "64", "memory": "512Gi", "pods": "110", GPU: "8"}
    gpus = [node(f"gpu-{index}", labels={"pool": "gpu"}, allocatable=roomy) for index in range(gpu_nodes)]
    return [*control_plane, *general, *gpus]


def gpu_users(gpu_nodes: int = 12, freest: int = 7) -> list[Pod]:
    """Trainings that leave two devices on one GPU node and one on the others."""
    return [
        pod(
            f"train-{index}",
            on=f"gpu-{index}",
            metadata={"namespace": "team-a"},
            **requests(cpu="8", memory="64Gi", **{GPU: "6" if index == freest else "7"}),
        )
        for index in range(gpu_nodes)
    ]


def gpu_pod(wanted: str = "4") -> Pod:
    """A pod that wants devices of the GPU pool."""
    return pod("web-0", nodeSelector={"pool": "gpu"}, **requests(cpu="4", memory="16Gi", **{GPU: wanted}))
