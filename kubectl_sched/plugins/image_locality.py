"""Prefers nodes that have a pod's images already (plugins/imagelocality/image_locality.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from kubectl_sched.framework.evidence import Evidence
from kubectl_sched.framework.golang import as_int64, truncated_divisions
from kubectl_sched.framework.interface import ScorePlugin
from kubectl_sched.framework.replicas import DependsOn
from kubectl_sched.framework.signing.pod_signature import SignPlugin

if TYPE_CHECKING:
    from kubectl_sched.api.core import ContainerImage
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.evidence import JSON
    from kubectl_sched.framework.handle import Handle
    from kubectl_sched.framework.signing.pod_signature import Fragments
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers, Rows

_MB: Final = 1024 * 1024
MIN_THRESHOLD: Final = 23 * _MB
MAX_CONTAINER_THRESHOLD: Final = 1000 * _MB

_IMAGES_IN_NODE_STATUS: Final = 50
"""The kubelet lists only so many images, the largest first (nodeStatusMaxImages)."""


def normalized_image_name(name: str) -> str:
    """The name as it is compared: with `:latest` where it has no tag, and nothing else changed."""
    return name if name.rfind(":") > name.rfind("/") else f"{name}:latest"


class ImageLocality(ScorePlugin, SignPlugin):
    """An image counts by its size, the more the more nodes have it, so that one node alone does not draw all pods."""

    name: ClassVar[str] = "ImageLocality"
    depends_on: ClassVar[DependsOn] = DependsOn.NODE

    def __init__(self, args: None, handle: Handle) -> None:
        self._counts_volumes = handle.release.image_volumes_have_locality
        self._volumes_raise_threshold = handle.release.image_volumes_raise_threshold

    def sign_pod(self, pod: Pod, nodes: Snapshot) -> Fragments:
        """Return the images of containers, but not of volumes."""
        containers = (*pod.spec.containers, *pod.spec.init_containers)
        return {"images": sorted({normalized_image_name(each.image) for each in containers})}

    def score(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> Integers:
        """Between 23 MB for all images (0 points) and 1000 MB for each container (100 points)."""
        images = self._images(pod)
        state.budget.spend_on_arrays(len(images), len(nodes.whole))
        sums = np.zeros(len(nodes.whole), dtype=np.int64)
        for image in images:
            found = nodes.whole.table.image_state(normalized_image_name(image))
            if found is not None:
                sums[found.rows] += self._scaled(image, nodes)
        highest = MAX_CONTAINER_THRESHOLD * self._threshold_count(pod)
        of_rows = sums[_rows_in_whole(nodes, rows)]
        bounded = np.where(of_rows < MIN_THRESHOLD, MIN_THRESHOLD, np.minimum(of_rows, highest))
        return truncated_divisions(100 * (bounded - MIN_THRESHOLD), highest - MIN_THRESHOLD)

    def _images(self, pod: Pod) -> list[str]:
        images = [container.image for container in (*pod.spec.init_containers, *pod.spec.containers)]
        if self._counts_volumes:
            images += [volume.image.reference for volume in pod.spec.volumes if volume.image is not None]
        return images

    def _threshold_count(self, pod: Pod) -> int:
        volumes = [volume for volume in pod.spec.volumes if volume.image is not None]
        containers = len(pod.spec.init_containers) + len(pod.spec.containers)
        return containers + (len(volumes) if self._volumes_raise_threshold else 0)

    @staticmethod
    def _scaled(image: str, nodes: Snapshot) -> int:
        """Bytes: the image's size in proportion to how many of all nodes have it."""
        found = nodes.whole.table.image_state(normalized_image_name(image))
        if found is None:
            return 0
        return as_int64(float(found.size) * (len(found.rows) / len(nodes.whole)))

    def explain_score(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[Evidence, ...]:
        """For each image of the pod, whether the node lists that very name, and names that nearly match."""
        listed = nodes.images[row]
        names = {name for image in listed for name in image.names}
        return tuple(
            self._present(image, nodes)
            if normalized_image_name(image) in names
            else self._absent(image, nodes, row, listed)
            for image in dict.fromkeys(self._images(pod))
        )

    def _present(self, image: str, nodes: Snapshot) -> Evidence:
        name = normalized_image_name(image)
        found = nodes.whole.table.image_state(name)
        assert found is not None  # noqa: S101 - the node lists it
        counted = self._scaled(image, nodes)
        return Evidence(
            text=f"has {name} ({_megabytes(found.size)}), as have {len(found.rows)} of {len(nodes.whole)} nodes: "
            f"counts {_megabytes(counted)}",
            facts={
                "image": image,
                "compared": name,
                "present": True,
                "sizeBytes": found.size,
                "countedBytes": counted,
                "nodesWithImage": len(found.rows),
                "nodes": len(nodes.whole),
            },
            distance=0.0,
        )

    def _absent(self, image: str, nodes: Snapshot, row: int, listed: tuple[ContainerImage, ...]) -> Evidence:
        name = normalized_image_name(image)
        facts: dict[str, JSON] = {"image": image, "compared": name, "present": False, "listedImages": len(listed)}
        return Evidence(text=f"does not list {name}", facts=facts, hints=_hints(name, nodes.names[row], listed))


def _rows_in_whole(nodes: Snapshot, rows: Rows) -> Rows:
    if nodes.cluster is None:
        return rows
    row_of = nodes.whole.row_of
    return np.array([row_of[nodes.names[row]] for row in rows], dtype=np.intp)


def _hints(name: str, node_name: str, listed: tuple[ContainerImage, ...]) -> tuple[str, ...]:
    hints: list[str] = []
    same = next((other for image in listed for other in image.names if _full_name(other) == _full_name(name)), None)
    if same is not None:
        hints.append(f"{node_name} has it as {same}; names are compared as they are written, adding only :latest")
    else:
        repository = _repository(name)
        other = next(
            (n for image in listed for n in image.names if _repository(n) == repository and "@" not in n), None
        )
        if other is not None:
            hints.append(f"{node_name} has another tag of it: {other}")
    if len(listed) >= _IMAGES_IN_NODE_STATUS:
        hints.append(
            f"the kubelet lists only the {_IMAGES_IN_NODE_STATUS} largest images; smaller ones may be there unseen"
        )
    return tuple(hints)


def _full_name(name: str) -> str:
    """The name as a container runtime would complete it: `nginx:1.10` is `docker.io/library/nginx:1.10`."""
    first, slash, rest = name.partition("/")
    if not slash:
        return f"docker.io/library/{name}"
    if first in {"index.docker.io", "registry-1.docker.io"}:
        return _full_name(rest)
    if "." in first or ":" in first or first == "localhost":
        return name if first != "docker.io" or "/" in rest else f"docker.io/library/{rest}"
    return f"docker.io/{name}"


def _repository(name: str) -> str:
    """The full name without digest and tag."""
    full = _full_name(name).partition("@")[0]
    return full[: full.rfind(":")] if full.rfind(":") > full.rfind("/") else full


def _megabytes(size: int) -> str:
    from kubectl_sched.framework.amounts import amount_text

    return f"{size / _MB:.0f}MiB" if size >= _MB else amount_text("memory", size)
