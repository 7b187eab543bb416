"""Asks a live API server what it would make of manifests and of the pods behind them (`--dry-run=server`).

Nothing is stored: every request is a create, or a server-side apply of what exists already, with dryRun=All. What comes
back has passed all defaulting, validation, admission plugins and webhooks of the cluster.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec
from msgspec import structs

from kubectl_sched.api.pod import Pod, PodSpec
from kubectl_sched.errors import SchedError
from kubectl_sched.record import plain
from kubectl_sched.sources.dump.undecoded_values import typed
from kubectl_sched.sources.kinds import SERVED
from kubectl_sched.sources.live.live_errors import ResponseError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.sources.live.client import Server

    JSON = Mapping[str, Any]

_MANAGER = "kubectl-sched"
_REFUSALS = frozenset({400, 403, 404, 409, 413, 422})
_FORBIDDEN, _NOT_FOUND = 403, 404
_NOT_TYPED = "failed to create typed patch object"
_PER_POD = ("volumes", "affinity", "tolerations")
"""Fields that controllers set differently in each pod of one template."""


def _of_no_age(stored: JSON) -> JSON:
    """Without the moment of the dry run, by which it would stand before all that controllers make in the queue."""
    return {**stored, "metadata": {key: each for key, each in stored["metadata"].items() if key != "creationTimestamp"}}


class RefusedByServerError(SchedError):
    """The server would not store it, in its own words."""


class DryRun:
    """One server that is asked; what it said of a workload's template is kept for all its pods."""

    def __init__(self, server: Server) -> None:
        self.notes: list[str] = []
        self._server = server
        self._resources: dict[str, dict[str, tuple[str, bool]]] = {}
        self._stored: dict[tuple[str, str], JSON] = {}
        self._specs: dict[tuple[str, str], PodSpec] = {}
        self._new_namespaces: set[str] = set()

    def stored(self, document: JSON, namespace: str) -> JSON:
        """The document as the server would store it. Raises RefusedByServerError, or ClusterError without an answer."""
        kind, version = str(document.get("kind") or ""), str(document.get("apiVersion") or "")
        metadata = dict(document.get("metadata") or {})
        where = str(metadata.get("namespace") or namespace)
        plural, is_namespaced = self._resource(kind, version)
        if is_namespaced and where in self._new_namespaces:
            self._note(f"namespace {where} is only in the manifests: the server cannot be asked about what is in it")
            return document
        name = str(metadata.get("name") or "")
        if is_namespaced:
            metadata["namespace"] = where
        path = _path(version, plural, where if is_namespaced else "")
        answer = self._created_or_applied(path, {**document, "metadata": metadata}, f"{kind} {name}")
        if "creationTimestamp" not in metadata:
            answer = _of_no_age(answer)
        if kind == "Namespace" and not self._exists(f"{path}/{quote(name)}"):
            self._new_namespaces.add(name)
        self._stored[kind, f"{where}/{name or answer['metadata'].get('name')}"] = answer
        return answer

    def admitted(self, source: KubernetesObject, pod: Pod, otherwise: Callable[[Pod], Pod]) -> Pod:
        """The pod of a workload as the server would store it; `otherwise` where it cannot be asked.

        Pods of one template are asked about once. Raises as `stored` does.
        """
        if pod.namespace in self._new_namespaces:
            return otherwise(pod)
        key = (type(source).__name__, source.key)
        template = self._template(source, key)
        own = {field: getattr(pod.spec, field) for field in ("volumes", "affinity")}
        if key in self._specs and not isinstance(source, Pod):
            return structs.replace(otherwise(pod), spec=structs.replace(self._specs[key], **own))
        path = _path("v1", "pods", pod.namespace)
        answer = self._asked("POST", path, _body(pod, template), f"Pod {pod.name}")
        made = typed({"metadata": answer["metadata"], "spec": answer["spec"]}, Pod)
        self._specs[key] = made.spec
        metadata = structs.replace(pod.metadata, labels=made.metadata.labels)
        return Pod(metadata=metadata, spec=made.spec, status=structs.replace(pod.status, phase="Pending"))

    def _template(self, source: KubernetesObject, key: tuple[str, str]) -> JSON:
        """The template of the workload (the Pod itself for a bare pod), with all its fields."""
        if key not in self._stored:
            version = SERVED[key[0]]  # a list of a kind does not repeat it in its items
            plural, _ = self._resource(key[0], version)
            path = f"{_path(version, plural, source.namespace)}/{quote(source.name)}"
            self._stored[key] = msgspec.json.decode(self._server.get(path))
        item = self._stored[key]
        if key[0] == "Pod":
            return item
        spec = item["spec"]["jobTemplate"]["spec"] if key[0] == "CronJob" else item["spec"]
        template: JSON = spec["template"]
        return template

    def _created_or_applied(self, path: str, body: JSON, what: str) -> JSON:
        name = str(body["metadata"].get("name") or "")
        if name and self._exists(f"{path}/{quote(name)}"):
            return self._asked("PATCH", f"{path}/{quote(name)}", body, what)
        return self._asked("POST", path, body, what)

    def _exists(self, path: str) -> bool:
        try:
            self._server.get(path)
        except ResponseError as refusal:
            if refusal.status == _NOT_FOUND:
                return False
            raise
        return True

    def _asked(self, method: str, path: str, body: JSON, what: str) -> JSON:
        """The answer to a dry run; a PATCH is a server-side apply."""
        query = {"dryRun": "All", "fieldManager": _MANAGER, "fieldValidation": "Strict"}
        applies = method == "PATCH"
        try:
            answer = self._server.write(
                method,
                path,
                json.dumps(body).encode(),
                content="application/apply-patch+yaml" if applies else "application/json",
                query={**query, "force": "true"} if applies else query,
                repeatable=True,
            )
        except ResponseError as refusal:
            if not _is_about_the_object(refusal):
                raise
            raise RefusedByServerError(f"the server refuses {what}: {refusal.message or refusal}") from None
        decoded: JSON = msgspec.json.decode(answer)
        return decoded

    def _resource(self, kind: str, version: str) -> tuple[str, bool]:
        """The plural of a kind, and whether it is namespaced, as the server says."""
        if version not in self._resources:
            path = f"/api/{version}" if "/" not in version else f"/apis/{version}"
            try:
                found = msgspec.json.decode(self._server.get(path))
            except ResponseError as refusal:
                if refusal.status != _NOT_FOUND:
                    raise
                found = {}
            self._resources[version] = {
                each["kind"]: (each["name"], bool(each["namespaced"]))
                for each in found.get("resources", ())
                if "/" not in each["name"]
            }
        known = self._resources[version].get(kind)
        if known is None:
            raise RefusedByServerError(f"the server does not know {kind or 'an object without a kind'} of {version}")
        return known

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def _is_about_the_object(refusal: ResponseError) -> bool:
    """Rather than about who asks, or a server that fails; a field that nobody knows fails an apply with a 500."""
    if refusal.status == _FORBIDDEN and " cannot " in refusal.message:
        return False
    return refusal.status in _REFUSALS or _NOT_TYPED in refusal.message


def _path(version: str, plural: str, namespace: str) -> str:
    base = f"/api/{version}" if "/" not in version else f"/apis/{version}"
    return f"{base}/namespaces/{quote(namespace)}/{plural}" if namespace else f"{base}/{plural}"


def _body(pod: Pod, template: JSON) -> JSON:
    """The pod that the controller would create: the template, and what it adds to each pod."""
    spec = dict(template["spec"])
    written = typed(dict(spec), PodSpec)
    for field in _PER_POD:
        value = getattr(pod.spec, field)
        if value != getattr(written, field):
            spec[field] = plain(value) if field != "volumes" else _volumes(pod, spec)
    kept = dict(template.get("metadata") or {})
    metadata = {
        **({"annotations": kept["annotations"]} if kept.get("annotations") else {}),
        "name": pod.name,
        "namespace": pod.namespace,
        "labels": pod.metadata.labels,
        "ownerReferences": plain(pod.metadata.owner_references),
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _volumes(pod: Pod, spec: JSON) -> list[JSON]:
    """Volumes of the template with all their fields, and the volumes that the controller adds."""
    written = {each["name"]: each for each in spec.get("volumes") or ()}
    return [
        plain(volume) if volume.persistent_volume_claim is not None else written.get(volume.name, plain(volume))
        for volume in pod.spec.volumes
    ]
