"""The part of the kubelet that tests need: pods start, and terminating pods go."""

from tests.e2e.api import Api, Json


def pod_path(pod: Json) -> str:
    """Where the API server has the pod."""
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"


def start(api: Api, pod: Json, at: str) -> None:
    """The pod runs since `at`."""
    api.merge(f"{pod_path(pod)}/status", {"status": {"phase": "Running", "startTime": at}})


def finish_terminating(api: Api) -> None:
    """Pods that are being deleted are gone."""
    for pod in api.get("/api/v1/pods")["items"]:
        if "deletionTimestamp" in pod["metadata"]:
            api.delete(pod_path(pod), grace_seconds=0)
