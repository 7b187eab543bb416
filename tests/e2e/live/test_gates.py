"""Gates on a real API server with Kueue's own CRDs: the chain is read, and a lifted pod lands where it was said."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from tests.e2e.api import Api, Json
from tests.e2e.control_plane import ADMIN_TOKEN, ControlPlane
from tests.e2e.faults import Fault, FaultyServer, Handler, status
from tests.e2e.patience import until
from tests.oracle.build import GoMissingError, go

pytestmark = pytest.mark.e2e

KUEUE = "sigs.k8s.io/kueue@v0.16.1"
KINDS = ("workloads", "localqueues", "clusterqueues", "cohorts", "resourceflavors", "admissionchecks")
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PODS = "/api/v1/namespaces/default/pods"
GATE = "kueue.x-k8s.io/admission"
CONTAINERS = [{"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "3"}}}]


def definitions() -> Iterator[Json]:
    """Kueue's CRDs, as its module has them."""
    done = subprocess.run(
        [go(), "mod", "download", "-json", KUEUE], capture_output=True, text=True, check=False, cwd="/"
    )
    folder = json.loads(done.stdout or "{}").get("Dir")
    if folder is None:
        pytest.skip(f"the module of Kueue cannot be had: {done.stderr}{done.stdout}")
    for kind in KINDS:
        path = Path(folder) / "config" / "components" / "crd" / "bases" / f"kueue.x-k8s.io_{kind}.yaml"
        yield yaml.load(path.read_text("utf-8"), yaml.CSafeLoader)


@pytest.fixture(scope="module")
def audit_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("audit") / "audit.log"


@pytest.fixture(scope="module")
def control_plane(audit_log: Path) -> Iterator[ControlPlane]:
    policy = audit_log.with_name("policy.yaml")
    policy.write_text("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n")
    flags = (f"--audit-policy-file={policy}", f"--audit-log-path={audit_log}", "--audit-log-mode=blocking-strict")
    try:
        with ControlPlane(extra_apiserver_flags=flags) as plane:
            with Api(plane.port, ADMIN_TOKEN) as api:
                for name, pool in (("own-1", "own"), ("spot-1", "spot")):
                    node(api, name, pool)
            plane.start_scheduler()
            yield plane
    except GoMissingError as missing:
        pytest.skip(str(missing))


def node(api: Api, name: str, pool: str) -> None:
    resources = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    metadata = {"name": name, "labels": {"kubernetes.io/hostname": name, "pool": pool}}
    api.create("/api/v1/nodes", {"metadata": metadata, "status": {"capacity": resources, "allocatable": resources}})
    taints = [{"key": "spot", "effect": "NoSchedule"}] if pool == "spot" else None
    api.merge(f"/api/v1/nodes/{name}", {"spec": {"taints": taints}})


def program(plane: ControlPlane, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kubectl_sched", *arguments]
    environment = {**os.environ, "KUBECONFIG": str(plane.kubeconfig)}
    return subprocess.run(command, env=environment, input=stdin, capture_output=True, text=True, check=False)


def explained(plane: ControlPlane, target: str, *flags: str) -> Json:
    done = program(plane, "explain", target, "-o", "json", *flags)
    assert done.returncode == 1, done.stderr
    answer: Json = json.loads(done.stdout)
    return answer["items"][0] if answer["kind"] == "ExplanationList" else answer


def gated(api: Api, name: str) -> Json:
    labels = {"kueue.x-k8s.io/queue-name": "lq"}
    spec = {"containers": CONTAINERS, "schedulingGates": [{"name": GATE}]}
    return api.create(PODS, {"metadata": {"name": name, "labels": labels}, "spec": spec})


def requests_of(audit_log: Path) -> list[tuple[str, int]]:
    """The tool's requests so far, with the codes of their answers."""
    events = map(json.loads, audit_log.read_text("utf-8").splitlines())
    return [
        (event["requestURI"].partition("?")[0], event["responseStatus"]["code"])
        for event in events
        if event["stage"] == "ResponseComplete" and event.get("userAgent", "").startswith("kubectl-sched")
    ]


def test_a_cluster_without_kueue_is_asked_for_its_groups_once_and_for_a_gated_pod_alone(
    control_plane: ControlPlane, api: Api, audit_log: Path
) -> None:
    spec = {"containers": [{"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "9"}}}]}
    api.create(PODS, {"metadata": {"name": "plain"}, "spec": spec})
    gated(api, "lonely")
    explained(control_plane, "plain")
    asked = requests_of(audit_log)
    assert asked
    assert all("kueue" not in path and path != "/apis" for path, _ in asked)
    (gate,) = explained(control_plane, "lonely")["gates"]
    assert (gate["owner"]["controller"], gate["facts"][0]) == ("Kueue", "no Workload of Kueue for it was found")
    more = requests_of(audit_log)[len(asked) :]
    assert [path for path, _ in more].count("/apis") == 1
    assert all("kueue" not in path for path, _ in more)
    assert {path for path, code in more if code >= 400} == {path for path, code in asked if code >= 400}


@pytest.fixture(scope="module")
def kueue(api: Api) -> Api:
    """The API server with Kueue's kinds, two flavors and a queue."""
    for definition in definitions():
        api.create(CRDS, definition)
        await_established(api, definition["metadata"]["name"])
    served = "/apis/kueue.x-k8s.io/v1beta2"
    flavors = {"own": {"nodeLabels": {"pool": "own"}}, "spot": {"nodeLabels": {"pool": "spot"}}}
    flavors["spot"]["tolerations"] = [{"key": "spot", "operator": "Exists", "effect": "NoSchedule"}]  # type: ignore[assignment]
    for name, flavor in flavors.items():
        create(api, f"{served}/resourceflavors", "ResourceFlavor", name, spec=flavor)
    quotas = [{"name": each, "resources": [{"name": "cpu", "nominalQuota": "4"}]} for each in flavors]
    group = {"coveredResources": ["cpu"], "flavors": quotas}
    spec = {"namespaceSelector": {}, "cohortName": "all", "resourceGroups": [group]}
    create(api, f"{served}/clusterqueues", "ClusterQueue", "cq", spec=spec)
    create(api, f"{served}/namespaces/default/localqueues", "LocalQueue", "lq", spec={"clusterQueue": "cq"})
    return api


def await_established(api: Api, name: str) -> None:
    until(lambda: _established(api.get(f"{CRDS}/{name}")))


def _established(definition: Json) -> bool:
    conditions = definition.get("status", {}).get("conditions") or []
    return any((each["type"], each["status"]) == ("Established", "True") for each in conditions)


def create(api: Api, path: str, kind: str, name: str, **fields: Any) -> Json:
    version = path.removeprefix("/apis/").split("/")[1]
    metadata = {"name": name, **fields.pop("metadata", {})}
    body = {"apiVersion": f"kueue.x-k8s.io/{version}", "kind": kind, "metadata": metadata, **fields}
    return until(lambda: _created(api, path, body))


def _created(api: Api, path: str, body: Json) -> Json | None:
    """A CRD is served a moment after it is established."""
    from tests.e2e.api import ApiError

    try:
        return api.create(path, body)
    except ApiError as error:
        if error.code != 404:
            raise
        return None


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
@pytest.mark.parametrize("flavor", ["own", "spot"])
def test_the_pod_lands_where_it_would_if_the_gate_were_lifted(
    control_plane: ControlPlane, kueue: Api, version: str, flavor: str
) -> None:
    name = f"train-{flavor}-{version}"
    pod = gated(kueue, name)
    owner = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": pod["metadata"]["uid"], "controller": True}
    workloads = f"/apis/kueue.x-k8s.io/{version}/namespaces/default/workloads"
    pod_set = {"name": "main", "count": 1, "template": {"spec": {"containers": CONTAINERS}}}
    spec = {"queueName": "lq", "podSets": [pod_set]}
    made = create(kueue, workloads, "Workload", f"pod-{name}", metadata={"ownerReferences": [owner]}, spec=spec)
    path = f"{workloads}/{made['metadata']['name']}/status"
    waits = {"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": "insufficient unused quota"}
    at = {"lastTransitionTime": "2026-06-01T08:00:00Z"}
    kueue.merge(path, {"status": {"conditions": [{**waits, **at}]}})
    (gate,) = explained(control_plane, name)["gates"]
    assert [(each["type"], each["message"]) for each in gate["says"]] == [
        ("QuotaReserved", "insufficient unused quota")
    ]
    assert (gate["queue"]["clusterQueue"], gate["queue"]["cohort"]) == ("cq", "all")
    assert [(each["flavors"], each["best"]) for each in gate["ungated"]] == [
        (["own"], ["own-1"]),
        (["spot"], ["spot-1"]),
    ]

    assigned = {"name": "main", "flavors": {"cpu": flavor}, "resourceUsage": {"cpu": "3"}, "count": 1}
    admission = {"clusterQueue": "cq", "podSetAssignments": [assigned]}
    reserved = {"type": "QuotaReserved", "status": "True", "reason": "QuotaReserved", "message": "reserved", **at}
    kueue.merge(path, {"status": {"conditions": [reserved], "admission": admission}})
    (gate,) = explained(control_plane, name)["gates"]
    (again,) = gate["ungated"]
    assert (again["flavors"], again["assigned"], gate["fitsUngated"]) == ([flavor], True, True)

    lift(kueue, name, flavor)
    bound = until(lambda: kueue.get(f"{PODS}/{name}")["spec"].get("nodeName"))
    assert [bound] == again["best"]
    kueue.delete(f"{PODS}/{name}", grace_seconds=0)


def lift(api: Api, name: str, flavor: str) -> None:
    """Do to the pod what Kueue does: merge the flavor's node labels and tolerations, and take the gate off."""
    spec = api.get(f"/apis/kueue.x-k8s.io/v1beta2/resourceflavors/{flavor}")["spec"]
    stored = api.get(f"{PODS}/{name}")["spec"].get("tolerations", [])
    tolerations = [*stored, *spec.get("tolerations", [])]
    api.merge(
        f"{PODS}/{name}",
        {"spec": {"schedulingGates": None, "nodeSelector": spec["nodeLabels"], "tolerations": tolerations}},
    )


def test_a_suspended_job_is_explained_by_its_workload(control_plane: ControlPlane, kueue: Api) -> None:
    template = {"spec": {"containers": CONTAINERS, "restartPolicy": "Never"}}
    metadata = {"name": "train", "labels": {"kueue.x-k8s.io/queue-name": "lq"}}
    job = {"metadata": metadata, "spec": {"suspend": True, "template": template}}
    made = kueue.create("/apis/batch/v1/namespaces/default/jobs", job)
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": made["metadata"]["uid"]}
    workloads = "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads"
    spec = {"queueName": "lq", "podSets": [{"name": "main", "count": 1, "template": template}]}
    create(kueue, workloads, "Workload", "job-train", metadata={"ownerReferences": [owner]}, spec=spec)
    found = explained(control_plane, "job/train")
    assert (found["outcome"], found["stage"]["name"]) == ("Gated", "NotCreated")
    (gate,) = found["gates"]
    assert (gate["owner"]["name"], gate["fitsUngated"]) == ("job-train", True)


def test_where_kueue_is_served_no_request_fails_and_the_least_role_suffices(
    control_plane: ControlPlane, kueue: Api, audit_log: Path
) -> None:
    pod = gated(kueue, "asked")
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "asked", "uid": pod["metadata"]["uid"], "controller": True}
    pod_set = {"name": "main", "count": 1, "template": {"spec": {"containers": CONTAINERS}}}
    spec = {"queueName": "lq", "podSets": [pod_set]}
    workloads = "/apis/kueue.x-k8s.io/v1beta1/namespaces/default/workloads"
    create(kueue, workloads, "Workload", "pod-asked", metadata={"ownerReferences": [owner]}, spec=spec)
    rules = role()["rules"]
    for user, allowed in (
        ("ann", rules),
        ("bob", [each for each in rules if "kueue.x-k8s.io" not in each["apiGroups"]]),
    ):
        may_read(kueue, user, allowed)
    seen = len(requests_of(audit_log))
    (gate,) = explained(control_plane, "asked")["gates"]
    asked = requests_of(audit_log)[seen:]
    assert sum("/kueue.x-k8s.io/v1beta2/" in path for path, _ in asked) == len(KINDS)
    assert {path for path, code in asked if code >= 400 and "kueue" in path} == set()

    found = explained(control_plane, "asked", "--as", "ann")
    assert found["gates"] == [gate]
    assert not any("kueue" in each for each in found["warnings"])
    found = explained(control_plane, "asked", "--as", "bob")
    missing = "{apiGroups: [kueue.x-k8s.io], resources: [workloads], verbs: [list]}"
    assert any(missing in each for each in found["warnings"])

    saved = program(control_plane, "snapshot", "-").stdout
    done = program(control_plane, "explain", "asked", "-o", "json", "--from", "-", stdin=saved)
    assert json.loads(done.stdout)["gates"] == [gate]
    kueue.delete(f"{PODS}/asked", grace_seconds=0)


def test_the_place_in_the_queue_is_what_kueues_visibility_api_says(control_plane: ControlPlane, kueue: Api) -> None:
    pod = gated(kueue, "placed")
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "placed", "uid": pod["metadata"]["uid"], "controller": True}
    workloads = "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads"
    spec = {
        "queueName": "lq",
        "podSets": [{"name": "main", "count": 1, "template": {"spec": {"containers": CONTAINERS}}}],
    }
    create(kueue, workloads, "Workload", "pod-placed", metadata={"ownerReferences": [owner]}, spec=spec)
    may_read(kueue, "eve", [each for each in role()["rules"] if VISIBILITY not in each["apiGroups"]])
    with FaultyServer(control_plane.port, control_plane.folder / "certificates") as server:
        server.always = visible
        service = {"type": "ExternalName", "externalName": "localhost"}
        kueue.create("/api/v1/namespaces/default/services", {"metadata": {"name": "visibility"}, "spec": service})
        behind = {"namespace": "default", "name": "visibility", "port": urlsplit(server.url).port}
        served = {"group": VISIBILITY, "version": "v1beta2", "groupPriorityMinimum": 100, "versionPriority": 100}
        kueue.create(
            "/apis/apiregistration.k8s.io/v1/apiservices",
            {
                "metadata": {"name": f"v1beta2.{VISIBILITY}"},
                "spec": {**served, "insecureSkipTLSVerify": True, "service": behind},
            },
        )
        place = until(lambda: explained(control_plane, "placed")["gates"][0]["queue"]["position"])
        assert place == {"localQueue": 2, "clusterQueue": 5}
        found = explained(control_plane, "placed", "--as", "eve")
        assert found["gates"][0]["queue"]["position"] is None
        missing = f"{{apiGroups: [{VISIBILITY}], resources: [localqueues/pendingworkloads], verbs: [get]}}"
        assert any(missing in each for each in found["warnings"])
        kueue.delete(f"/apis/apiregistration.k8s.io/v1/apiservices/v1beta2.{VISIBILITY}")
    kueue.delete(f"{PODS}/placed", grace_seconds=0)


VISIBILITY = "visibility.kueue.x-k8s.io"


def visible(request: Handler) -> Fault:
    """The answers of Kueue's visibility server, behind the API server that passes requests on to it."""
    base = f"/apis/{VISIBILITY}/v1beta2"
    resources = [
        {"name": "localqueues", "singularName": "", "namespaced": True, "kind": "LocalQueue", "verbs": ["get"]},
        {
            "name": "localqueues/pendingworkloads",
            "singularName": "",
            "namespaced": True,
            "kind": "PendingWorkloadsSummary",
            "verbs": ["get"],
        },
    ]
    item = {"metadata": {"name": "pod-placed"}, "positionInClusterQueue": 4, "positionInLocalQueue": 1}
    answers: dict[str, Json] = {
        base: {"kind": "APIResourceList", "groupVersion": f"{VISIBILITY}/v1beta2", "resources": resources},
        f"{base}/namespaces/default/localqueues/lq/pendingworkloads": {
            "kind": "PendingWorkloadsSummary",
            "apiVersion": f"{VISIBILITY}/v1beta2",
            "items": [item],
        },
    }
    found = answers.get(urlsplit(request.path).path)
    return status(404) if found is None else json_answer(found)


def json_answer(value: Json) -> Fault:
    def answer(request: Handler) -> None:
        body = json.dumps(value).encode()
        request.send_response(200)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    return answer


def role() -> Json:
    documents = yaml.safe_load_all((Path(__file__).parents[3] / "manifests" / "reader.yaml").read_text("utf-8"))
    found: Json = next(each for each in documents if each["kind"] == "ClusterRole")
    return found


def may_read(api: Api, user: str, rules: list[Json]) -> None:
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    api.create(f"{rbac}/clusterroles", {"metadata": {"name": user}, "rules": rules})
    subject = {"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}
    reference = {"kind": "ClusterRole", "name": user, "apiGroup": "rbac.authorization.k8s.io"}
    api.create(f"{rbac}/clusterrolebindings", {"metadata": {"name": user}, "roleRef": reference, "subjects": [subject]})


def test_who_set_an_unknown_gate_is_told_by_managed_fields(control_plane: ControlPlane, api: Api) -> None:
    spec = {"containers": CONTAINERS, "schedulingGates": [{"name": "example.com/hold"}]}
    made = api.create(f"{PODS}?fieldManager=quota-webhook", {"metadata": {"name": "unknown"}, "spec": spec})
    (gate,) = explained(control_plane, "unknown")["gates"]
    assert (gate["gate"], gate["owner"]) == ("example.com/hold", None)
    assert gate["setBy"] == {"manager": "quota-webhook", "lastWrite": made["metadata"]["creationTimestamp"]}


def test_kueue_takes_the_objects_of_the_fixtures(kueue: Api) -> None:
    scenarios = sorted((Path(__file__).parents[3] / "fixtures" / "gates").glob("*.yaml"))
    kueue.create("/api/v1/namespaces", {"metadata": {"name": "team-a"}})
    stored = 0
    for path in scenarios:
        objects = yaml.load(path.read_text("utf-8"), yaml.CSafeLoader).get("items", ())
        for item in objects:
            group, _, version = item["apiVersion"].partition("/")
            if group != "kueue.x-k8s.io":
                continue
            meta = item["metadata"]
            within = f"namespaces/{meta['namespace']}/" if "namespace" in meta else ""
            base = f"/apis/{group}/{version}/{within}{item['kind'].lower()}s"
            meta = {**meta, "ownerReferences": [], "name": f"of-{meta['name']}"}
            strict = "?fieldValidation=Strict"  # a field that their CRDs do not describe is an error
            kueue.create(f"{base}{strict}", {**item, "metadata": meta})
            one = f"{base}/{meta['name']}"
            if "status" in item:
                kueue.merge(f"{one}/status{strict}", {"status": item["status"]})
            kueue.delete(one)
            stored += 1
    assert stored > 4 * (len(scenarios) - 1)
