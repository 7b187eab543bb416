"""The API server's plain JSON: what is stored, without a client's models in between."""

import http.client
import json
import ssl
from types import TracebackType
from typing import Any, Self

Json = dict[str, Any]

LISTS = (
    "/api/v1/nodes",
    "/api/v1/namespaces",
    "/api/v1/pods",
    "/api/v1/services",
    "/apis/policy/v1/poddisruptionbudgets",
    "/apis/scheduling.k8s.io/v1/priorityclasses",
)
"""What a replay of scheduling without volumes and devices needs."""


class ApiError(Exception):
    """The server answered with a Status that is not Success."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


class Api:
    """One connection to an API server on loopback."""

    def __init__(self, port: int, token: str) -> None:
        context = ssl._create_unverified_context()  # noqa: S323, SLF001 - on loopback, to a server of our own
        self._connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=30)
        self._headers = {"Authorization": f"Bearer {token}"}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def get(self, path: str) -> Json:
        """An object, or a list."""
        return self._ask("GET", path)

    def create(self, path: str, body: Json) -> Json:
        """Create in the collection `path`; gives what was stored."""
        return self._ask("POST", path, body)

    def merge(self, path: str, body: Json) -> Json:
        """Merge the body into the object."""
        return self._ask("PATCH", path, body, "application/merge-patch+json")

    def delete(self, path: str, *, grace_seconds: int | None = None, uid: str = "") -> Json:
        """Delete the object, or only the one with this uid."""
        body: Json = {} if grace_seconds is None else {"gracePeriodSeconds": grace_seconds}
        if uid:
            body["preconditions"] = {"uid": uid}
        return self._ask("DELETE", path, {"kind": "DeleteOptions", "apiVersion": "v1"} | body)

    def everything(self) -> list[Json]:
        """All objects that a replay needs."""
        found = []
        for path in LISTS:
            answer = self.get(path)
            kind = {"apiVersion": answer["apiVersion"], "kind": answer["kind"].removesuffix("List")}
            found += [kind | item for item in answer["items"]]
        return found

    def _ask(self, method: str, path: str, body: Json | None = None, content: str = "application/json") -> Json:
        payload = None if body is None else json.dumps(body)
        self._connection.request(method, path, payload, self._headers | {"Content-Type": content})
        response = self._connection.getresponse()
        answer: Json = json.loads(response.read())
        if response.status >= http.client.BAD_REQUEST:
            raise ApiError(response.status, answer.get("message", ""))
        return answer
