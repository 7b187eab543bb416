"""The errors for manifests that the API server refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubectl_sched.errors import SchedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_sched.api.meta import KubernetesObject


class RefusedError(SchedError):
    """The API server would not store the object: `field` is the path, empty where it is about the object as a whole."""

    def __init__(self, item: KubernetesObject, field: str, reason: str) -> None:
        self.item = item
        self.field = field
        self.reason = reason
        path = f"{field}: " if field else ""
        kind = type(item).__name__
        what = "pod" if kind == "Pod" else kind
        super().__init__(f"{what} {item.key} would be refused: {path}{reason}")

    def beside(self, notes: Sequence[str]) -> RefusedError:
        """Return the error with notes about what may lie behind it."""
        self.args = ("; ".join((str(self), *notes)),)
        return self


def refuse(item: KubernetesObject, problems: Sequence[str]) -> None:
    """Raises RefusedError for the problems (`field.path: reason`), if there are any."""
    if problems:
        field, _, reason = problems[0].partition(": ")
        more = f" (and {len(problems) - 1} more: {'; '.join(problems[1:])})" if len(problems) > 1 else ""
        raise RefusedError(item, field, reason + more)


class UnknownFieldError(SchedError):
    """The error for a manifest with fields that Kubernetes does not know, of which `field` is the first one's path.

    `meant` is the name or the path that was probably meant. Kind, name and namespace are as written, or empty.
    """

    def __init__(self, sentence: str, document: Mapping[str, Any], field: str, meant: str | None) -> None:
        super().__init__(sentence)
        metadata = document.get("metadata")
        written = metadata if isinstance(metadata, dict) else {}
        self.kind, self.name = str(document.get("kind")), str(written.get("name") or "")
        self.namespace = str(written.get("namespace") or "")
        self.field, self.meant = field, meant
