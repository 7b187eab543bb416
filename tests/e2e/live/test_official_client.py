"""The official client for Python as an independent witness: with one kubeconfig, both read the same objects."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from pathlib import Path

import msgspec
import pytest
from kubernetes import config
from kubernetes.client.exceptions import ApiException
from kubernetes.dynamic import DynamicClient

from kubectl_sched.api.decoders import decoder
from kubectl_sched.api.meta import KubernetesObject
from kubectl_sched.sources.kinds import KINDS, Kind
from kubectl_sched.sources.live.client import Server
from kubectl_sched.sources.live.connection_flags import Connection
from kubectl_sched.sources.live.kubeconfig import resolve
from kubectl_sched.sources.live.lister import Lister
from kubectl_sched.sources.live.live_errors import ResponseError
from tests.e2e.api import Api, Json
from tests.e2e.binding_cluster import claim, fill, pod
from tests.e2e.control_plane import ADMIN_TOKEN, ControlPlane
from tests.e2e.patience import until
from tests.oracle.build import GoMissingError

pytestmark = pytest.mark.e2e

READER = "reader-of-a-test"
KEPT_LEASE = "kept"

LISTED = [kind for kind in KINDS if "/" not in kind.plural]
"""All kinds but the one that is asked for beside each LocalQueue."""

Seen = dict[str, KubernetesObject] | str
"""What a client has of a kind: objects by key, or why there are none."""

PLUGIN = f"""#!{sys.executable}
import json
answer = {{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential"}}
print(json.dumps(answer | {{"status": {{"token": "{ADMIN_TOKEN}"}}}}))
"""


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane that also takes client certificates, in which somebody may read pods and nodes alone."""
    folder = tmp_path_factory.mktemp("authority")
    make_client_certificate(folder)
    try:
        with ControlPlane(extra_apiserver_flags=(f"--client-ca-file={folder / 'ca.crt'}",)) as control_plane:
            (control_plane.folder / "client.crt").write_bytes((folder / "client.crt").read_bytes())
            (control_plane.folder / "client.key").write_bytes((folder / "client.key").read_bytes())
            with Api(control_plane.port, ADMIN_TOKEN) as api:
                fill(api)
                claim(api, "data", "local")
                pod(api, "stored", claims=("data",))
                pod(api, "bound", nodeName="n1")
                hold_lease(api, KEPT_LEASE)
                let_read_pods_and_nodes(api)
                until(
                    lambda: own_objects_stand(api), lambda: "the API server has not made its own Service and Namespaces"
                )
            yield control_plane
    except GoMissingError as missing:
        pytest.skip(str(missing))


def own_objects_stand(api: Api) -> bool:
    """Report whether the API server has made the objects that it makes by itself, some time after it is ready."""
    services = {each["metadata"]["name"] for each in api.get("/api/v1/services")["items"]}
    namespaces = {each["metadata"]["name"] for each in api.get("/api/v1/namespaces")["items"]}
    return "kubernetes" in services and namespaces >= {"default", "kube-node-lease", "kube-public", "kube-system"}


def make_client_certificate(folder: Path) -> None:
    """An authority of its own, and a certificate of it for a member of system:masters."""
    program = shutil.which("openssl")
    assert program is not None

    def openssl(*arguments: str) -> None:
        subprocess.run([program, *arguments], cwd=folder, check=True, capture_output=True)

    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=ca")
    subject = "/O=system:masters/CN=ann"
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", "client.key", "-out", "client.csr", "-subj", subject)
    signing = ("-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial")
    openssl("x509", "-req", "-in", "client.csr", *signing, "-out", "client.crt")


def hold_lease(api: Api, name: str) -> None:
    spec = {"holderIdentity": "nobody", "leaseDurationSeconds": 15, "renewTime": "2026-01-01T00:00:00.000000Z"}
    api.create("/apis/coordination.k8s.io/v1/namespaces/default/leases", {"metadata": {"name": name}, "spec": spec})


def let_read_pods_and_nodes(api: Api) -> None:
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    rules = [{"apiGroups": [""], "resources": ["pods", "nodes"], "verbs": ["list"]}]
    api.create(f"{rbac}/clusterroles", {"metadata": {"name": READER}, "rules": rules})
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": READER}
    account = {"kind": "ServiceAccount", "name": READER, "namespace": "default"}
    api.create(f"{rbac}/clusterrolebindings", {"metadata": {"name": READER}, "roleRef": role, "subjects": [account]})
    api.create("/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": READER}})


def users(plane: ControlPlane, folder: Path) -> dict[str, Json]:
    """Who asks, as the user of a kubeconfig in `folder` says it."""
    plugin = folder / "plugin"
    plugin.write_text(PLUGIN)
    plugin.chmod(0o700)
    (folder / "token").write_text(ADMIN_TOKEN)
    with Api(plane.port, ADMIN_TOKEN) as api:
        path = f"/api/v1/namespaces/default/serviceaccounts/{READER}/token"
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        reader = api.create(path, request)["status"]["token"]
    execution = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "./plugin",
        "interactiveMode": "Never",
    }
    certificate = {
        "client-certificate": str(plane.folder / "client.crt"),
        "client-key": str(plane.folder / "client.key"),
    }
    return {
        "token": {"token": ADMIN_TOKEN},
        "file with a token": {"tokenFile": "token"},
        "certificate": certificate,
        "plugin": {"exec": execution},
        "service account": {"token": reader},
    }


def seen_by_us(kubeconfig: Path) -> dict[str, Seen]:
    """Each kind as our transport reads it."""
    lister = Lister(Server(resolve(Connection(kubeconfig=str(kubeconfig)))))
    try:
        return {kind.name: listed(lister, kind) for kind in LISTED}
    finally:
        lister.close()


def listed(lister: Lister, kind: Kind) -> Seen:
    try:
        found = lister.list(kind)
    except ResponseError as error:
        return str(error.status)
    return by_key(found.objects) if found.path else "not served"


def by_key(objects: Iterable[KubernetesObject]) -> dict[str, KubernetesObject]:
    """The objects, but for the API server's own Lease: it is renewed while one client reads after the other."""
    return {item.key: item for item in objects if not item.key.startswith("kube-system/apiserver-")}


def seen_by_the_client(kubeconfig: Path, impersonated: str = "") -> dict[str, Seen]:
    """Each kind as the official client reads it, in the version that the server prefers."""
    connection = config.new_client_from_config(str(kubeconfig))  # type: ignore[no-untyped-call] # it has no types
    if impersonated:  # it leaves the kubeconfig's own `as` aside
        connection.set_default_header("Impersonate-User", impersonated)
    client = DynamicClient(connection)  # type: ignore[no-untyped-call] # as above
    return {kind.name: asked(client, kind) for kind in LISTED}


def asked(client: DynamicClient, kind: Kind) -> Seen:
    group = min(kind.groups - {"extensions"})
    found = client.resources.search(kind=kind.name, name=kind.plural)
    served = [resource for resource in found if resource.group == group]
    if not served:
        return "not served"
    try:
        items = served[0].get().to_dict()["items"]
    except ApiException as error:
        return str(error.status)
    return by_key(decoder(kind.type).decode(msgspec.json.encode(as_listed(item))) for item in items)


def as_listed(item: Json) -> Json:
    """The item as the server's list has it: the client adds to each what the list says once."""
    return {name: value for name, value in item.items() if name not in {"apiVersion", "kind"}}


def kubeconfig_of(plane: ControlPlane, folder: Path, user: Json) -> Path:
    """A kubeconfig of the plane's cluster for a user."""
    document = json.loads(plane.kubeconfig.read_text())
    document["users"][0]["user"] = user
    path = folder / "config"
    path.write_text(json.dumps(document))
    return path


def forbidden(seen: dict[str, Seen]) -> set[str]:
    return {kind for kind, found in seen.items() if found == str(int(HTTPStatus.FORBIDDEN))}


@pytest.mark.parametrize("who", ["token", "file with a token", "certificate", "plugin"])
def test_the_official_client_reads_the_same(plane: ControlPlane, tmp_path: Path, who: str) -> None:
    kubeconfig = kubeconfig_of(plane, tmp_path, users(plane, tmp_path)[who])
    ours = seen_by_us(kubeconfig)
    assert ours == seen_by_the_client(kubeconfig)
    assert {"default/stored", "default/bound"} <= set(ours["Pod"])
    assert f"default/{KEPT_LEASE}" in ours["Lease"]
    assert not forbidden(ours)


def test_the_official_client_is_refused_the_same(plane: ControlPlane, tmp_path: Path) -> None:
    kubeconfig = kubeconfig_of(plane, tmp_path, users(plane, tmp_path)["service account"])
    ours = seen_by_us(kubeconfig)
    assert ours == seen_by_the_client(kubeconfig)
    assert {"ConfigMap", "Service"} <= forbidden(ours)
    assert not {"Pod", "Node"} & forbidden(ours)


def test_the_official_client_sees_the_same_as_somebody_else(plane: ControlPlane, tmp_path: Path) -> None:
    account = f"system:serviceaccount:default:{READER}"
    kubeconfig = kubeconfig_of(plane, tmp_path, {"token": ADMIN_TOKEN, "as": account})
    ours = seen_by_us(kubeconfig)
    assert ours == seen_by_the_client(kubeconfig, impersonated=account)
    assert "ConfigMap" in forbidden(ours)
