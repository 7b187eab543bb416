"""The part of the kubelet that tests need: pods start, terminating pods go, and containers have logs."""

import http.server
import ssl
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.e2e.api import Api, Json
from tests.e2e.patience import until


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


def pods(server: Api) -> list[Json]:
    """The pods of the namespace `default` that are to stay."""
    items: list[Json] = server.get("/api/v1/namespaces/default/pods")["items"]
    return [pod for pod in items if "deletionTimestamp" not in pod["metadata"]]


def ready(server: Api) -> list[Json]:
    """The pods of the namespace `default` that are ready."""
    return [pod for pod in pods(server) if is_ready(pod)]


def is_ready(pod: Json) -> bool:
    """Whether it says so."""
    return condition(pod, "Ready") == "True"


def is_refused(pod: Json) -> bool:
    """Whether kube-scheduler found no node for it."""
    return condition(pod, "PodScheduled") == "False"


def condition(pod: Json, name: str, field: str = "status") -> str:
    """A field of the condition, empty where there is none."""
    return next((each.get(field, "") for each in pod["status"].get("conditions", ()) if each["type"] == name), "")


def start_and_finish(server: Api) -> None:
    """Pods start on their nodes, and those to be deleted go."""
    finish_terminating(server)
    for pod in pods(server):
        if "nodeName" in pod["spec"] and not is_ready(pod):
            conditions = [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}]
            status = {"phase": "Running", "startTime": "2026-01-01T00:00:00Z", "conditions": conditions}
            server.merge(f"{pod_path(pod)}/status", {"status": status})


def meanwhile(server: Api, ask: Callable[[], Any]) -> Any:
    """The first true answer; until then the kubelets do their part."""

    def asked() -> Any:
        answer = ask()
        if not answer:
            start_and_finish(server)
        return answer

    return until(asked)


class Kubelet:
    """Answers the API server's questions for logs, with the beginning of one file whatever container is meant."""

    def __init__(self, log: Path, certificates: Path) -> None:
        self._log = log
        self._certificates = certificates

    def __enter__(self) -> Self:
        log = self._log

        class Answering(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = log.read_bytes()[: 1 << 18] if self.path.startswith("/containerLogs/") else b""
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answering)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self._certificates / "apiserver.crt", self._certificates / "apiserver.key")
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def serve(self, api: Api, node: str) -> None:
        """The API server finds it as the kubelet of the node."""
        endpoint = {"kubeletEndpoint": {"Port": self._server.server_address[1]}}
        address = [{"type": "InternalIP", "address": "127.0.0.1"}]
        api.merge(f"/api/v1/nodes/{node}/status", {"status": {"addresses": address, "daemonEndpoints": endpoint}})
