"""Measures reading a running cluster: `explain` against the same lists thrown away, and `kubectl get pods -A -o json`.

    python -m tests.bench.live [nodes] [pods]

starts etcd and kube-apiserver on loopback, fills them (some minutes for the default of 5,000 nodes and 50,000 pods) and
runs them in turn. The bounds are 1.5 times what one connection takes for the same pages of nodes and pods, and a
quarter of kubectl's time.
"""

import http.client
import json
import re
import ssl
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from kubectl_sched.sources.live.lister import PAGE
from kubectl_sched.sources.live.needed_kinds import NOT_SUCCEEDED
from tests.bench.figures import Pairs, own_environment
from tests.bench.make_dump import objects
from tests.e2e.control_plane import ADMIN_TOKEN, ControlPlane

WORKERS = 8
ROUNDS = 3
PRESENT = {"default", "kube-system", "kube-public", "kube-node-lease"}

_CONTINUE = re.compile(rb'"continue":"([^"]+)"')
_VERSION = re.compile(rb'"resourceVersion":"(\d+)"')
_HEAD = 4096


def fill(port: int, nodes: int, pods: int) -> str:
    """Create all objects; gives the name of a pod that waits."""
    items = [json.loads(text) for text in objects(nodes, pods)]
    create(port, items)
    waiting = {
        "metadata": {"name": "waiting", "namespace": "default"},
        "kind": "Pod",
        "spec": {"containers": [_container()]},
    }
    create(port, [waiting])
    return "waiting"


def create(port: int, items: list[dict[str, Any]]) -> None:
    """Create nodes and pods, and the namespaces of these."""
    for name in sorted({item["metadata"]["namespace"] for item in items if item["kind"] == "Pod"} - PRESENT):
        _create(port, [{"kind": "Namespace", "metadata": {"name": name}}])
    with ThreadPoolExecutor(WORKERS) as pool:
        for kind in ("Node", "Pod"):
            wanted = [item for item in items if item["kind"] == kind]
            list(pool.map(lambda part: _create(port, part), (wanted[each::WORKERS] for each in range(WORKERS))))


def _container() -> dict[str, Any]:
    return {"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "100m"}}}


def _create(port: int, items: list[dict[str, Any]]) -> None:
    context = ssl._create_unverified_context()  # noqa: S323, SLF001 - on loopback, to a server of our own
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=60)
    headers = {"Authorization": f"Bearer {ADMIN_TOKEN}", "Content-Type": "application/json"}
    for item in items:
        metadata = item["metadata"]
        for key in ("uid", "resourceVersion", "creationTimestamp", "ownerReferences", "managedFields"):
            metadata.pop(key, None)
        for key in ("podCIDR", "podCIDRs"):
            item.get("spec", {}).pop(key, None)
        if item["kind"] == "Pod":
            for key in ("priority", "priorityClassName", "preemptionPolicy", "runtimeClassName"):
                item["spec"].pop(key, None)
            path = f"/api/v1/namespaces/{metadata['namespace']}/pods"
        else:
            path = f"/api/v1/{item['kind'].lower()}s"
        connection.request("POST", path, json.dumps(item), headers)
        response = connection.getresponse()
        body = response.read()
        if response.status >= http.client.BAD_REQUEST:
            message = f"{path}: {body[:500]!r}"
            raise RuntimeError(message)
    connection.close()


def seconds(command: list[str], environment: dict[str, str]) -> float:
    """The seconds that a program runs whose output is thrown away."""
    started = time.monotonic()
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - started


def raw_seconds(port: int) -> float:
    """The seconds that one connection takes for the pages of all nodes and pods, in one state, as `explain` asks."""
    context = ssl._create_unverified_context()  # noqa: S323, SLF001 - on loopback, to a server of our own
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=60)
    started = time.monotonic()
    found = _VERSION.search(_page(connection, "nodes", {"limit": "1"}))
    assert found is not None
    state = {"resourceVersion": found[1].decode(), "resourceVersionMatch": "Exact"}
    for kind, query in (("nodes", {}), ("pods", {"fieldSelector": NOT_SUCCEEDED})):
        limited = {**query, "limit": str(PAGE)}
        more = _CONTINUE.search(_page(connection, kind, {**limited, **state}))
        while more is not None:
            more = _CONTINUE.search(_page(connection, kind, {**limited, "continue": more[1].decode()}))
    return time.monotonic() - started


def _page(connection: http.client.HTTPSConnection, kind: str, query: dict[str, str]) -> bytes:
    """The head of a page, whose rest is thrown away."""
    headers = {"Authorization": f"Bearer {ADMIN_TOKEN}", "Accept": "application/json"}
    connection.request("GET", f"/api/v1/{kind}?{urlencode(query)}", headers=headers)
    response = connection.getresponse()
    body = response.read()
    assert response.status == http.client.OK, body[:500]
    return body[:_HEAD]


def main() -> None:
    """Measure and print."""
    nodes, pods = (int(text) for text in islice([*sys.argv[1:], "5000", "50000"][:2], 2))
    with ControlPlane() as plane:
        started = time.monotonic()
        name = fill(plane.port, nodes, pods)
        sys.stderr.write(f"filled in {time.monotonic() - started:.0f} s\n")
        environment = {**own_environment(), "KUBECONFIG": str(plane.kubeconfig)}
        ours = [sys.executable, "-m", "kubectl_sched", "explain", name, "-o", "name"]
        theirs = ["kubectl", "get", "pods", "-A", "-o", "json"]
        rounds = [
            (seconds(ours, environment), raw_seconds(plane.port), seconds(theirs, environment)) for _ in range(ROUNDS)
        ]
        mine, raw, kubectls = (list(column) for column in zip(*rounds, strict=True))
        for what, other, bound in (
            ("the same lists thrown away", raw, 1.5),
            ("kubectl get pods -A -o json", kubectls, 0.25),
        ):
            ratio = Pairs(mine, other)
            sys.stdout.write(f"explain on a running cluster, against {what}: {ratio}, at most {bound}\n")


if __name__ == "__main__":
    main()
