"""Scenarios B, C1 and E on a control plane that runs: who schedules, for whom, and what became of pods."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.api import Api, ApiError, Json
from tests.e2e.control_plane import ADMIN_TOKEN, ControlPlane
from tests.e2e.kubelet import Kubelet, finish_terminating
from tests.e2e.live.test_live import pod, pods_of, program
from tests.e2e.patience import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.e2e

HOST = socket.gethostname()
"""A kube-scheduler names itself after its host, as it would on a node's own network."""

SYSTEM = "kube-system"
DEPLOYMENTS = f"/apis/apps/v1/namespaces/{SYSTEM}/deployments"
REPLICASETS = f"/apis/apps/v1/namespaces/{SYSTEM}/replicasets"
AMOUNTS = {"cpu": "4", "memory": "8Gi", "pods": "20"}


@pytest.fixture(scope="module")
def control_plane() -> Iterator[ControlPlane]:
    with ControlPlane(controller_manager=True) as plane:
        with Api(plane.port, ADMIN_TOKEN) as api:
            for name in (HOST, "w1", "w2"):
                labels = {"kubernetes.io/hostname": name}
                created = {"metadata": {"name": name, "labels": labels}}
                api.create("/api/v1/nodes", {**created, "status": {"capacity": AMOUNTS, "allocatable": AMOUNTS}})
                api.merge(f"/api/v1/nodes/{name}", {"spec": {"taints": None}})
            until(lambda: exists(api, f"/api/v1/namespaces/{SYSTEM}"))
            api.create(pods_of(SYSTEM), static("kube-apiserver", "v1.36.2"))
        yield plane


def exists(api: Api, path: str) -> Json | None:
    try:
        return api.get(path)
    except ApiError:
        return None


def static(name: str, version: str, *flags: str, image: str = "") -> Json:
    """What the kubelet of the host shows of a static pod."""
    container = {
        "name": name,
        "image": f"registry.k8s.io/{image or name}:{version}",
        "command": [image or name, *flags],
    }
    annotations = {"kubernetes.io/config.mirror": name, "kubernetes.io/config.source": "file"}
    spec = {"nodeName": HOST, "hostNetwork": True, "containers": [container]}
    return {"metadata": {"name": f"{name}-{HOST}", "annotations": annotations}, "spec": spec}


@pytest.fixture
def made(api: Api) -> Iterator[Callable[[str, Json], Json]]:
    """Creates, and deletes again when the test is over."""
    paths: list[str] = []

    def create(path: str, body: Json) -> Json:
        paths.append(f"{path}/{body['metadata']['name']}")
        return api.create(path, body)

    yield create
    for path in reversed(paths):
        if exists(api, path):
            api.delete(path, grace_seconds=0)


def explained(plane: ControlPlane, name: str, *arguments: str) -> Json:
    done = program(plane, "explain", name, "-o", "json", *arguments)
    assert done.stderr == ""
    return dict(json.loads(done.stdout))


def bound(api: Api, name: str) -> Json | None:
    stored = api.get(f"{pods_of('default')}/{name}")
    return stored if stored["spec"].get("nodeName") else None


def assigned(api: Api, name: str) -> str:
    """The text of the event, once it is there."""
    query = f"fieldSelector=involvedObject.name={name},reason=Scheduled"
    events = until(lambda: api.get(f"{pods_of('default', 'events')}?{query}")["items"])
    return str(events[0]["message"])


def test_e_without_a_scheduler_one_pod_runs_and_the_other_waits_for_ever(
    control_plane: ControlPlane, api: Api, made: Callable[[str, Json], Json]
) -> None:
    made(pods_of("default"), pod("named", "100m", nodeName="w1"))
    made(pods_of("default"), pod("waiting", "100m"))
    named = explained(control_plane, "named")
    assert named["history"]["verdict"] == "NotScheduled"
    assert named["history"]["message"].startswith("no scheduler was ever asked: its manifest had the nodeName")
    waiting = explained(control_plane, "waiting")
    assert waiting["stage"]["name"] == "NoScheduler"
    assert "one with a profile default-scheduler would serve it" in waiting["stage"]["evidence"]
    report = json.loads(program(control_plane, "schedulers", "-o", "json").stdout)
    assert report["items"] == []
    assert [each["schedulerName"] for each in report["unserved"]] == ["default-scheduler"]
    scheduler = control_plane.start_scheduler()
    try:
        node = until(lambda: bound(api, "waiting"))["spec"]["nodeName"]
        assert assigned(api, "waiting") == f"Successfully assigned default/waiting to {node}"
        assert node in waiting["best"]
        placed = explained(control_plane, "waiting")
        assert (placed["history"]["scheduledBy"], placed["currentNode"]) == ("default-scheduler", node)
        assert placed["history"]["verdict"] in {"Same", "Tied"}
    finally:
        scheduler.stop()


def test_b_a_second_scheduler_serves_its_name_until_it_is_gone(
    control_plane: ControlPlane, api: Api, made: Callable[[str, Json], Json]
) -> None:
    name = "kube-extra-scheduler"
    made(pods_of(SYSTEM), static("kube-scheduler", "v1.16.3", "--leader-elect=true"))
    flags = ("--leader-elect=false", f"--scheduler-name={name}", "--port=10251", "--secure-port=10259")
    extra = made(pods_of(SYSTEM), static(name, "v1.16.3", *flags, image="kube-scheduler"))
    scheduler = control_plane.start_scheduler(config={"profiles": [{"schedulerName": name}]}, label="extra")
    try:
        made(pods_of("default"), pod("po36", "100m", schedulerName=name))
        node = until(lambda: bound(api, "po36"))["spec"]["nodeName"]
        assert assigned(api, "po36") == f"Successfully assigned default/po36 to {node}"
        told = explained(control_plane, "po36")
        assert told["history"]["scheduledBy"] == name
        assert any(f"static Pod {SYSTEM}/{name} (1.16" in warning for warning in told["warnings"])
    finally:
        scheduler.stop()
    api.delete(f"{pods_of(SYSTEM)}/{extra['metadata']['name']}", grace_seconds=0)
    made(pods_of("default"), pod("po37", "100m", schedulerName=name))
    left = explained(control_plane, "po37")
    assert left["stage"]["name"] == "NoScheduler"
    evidence = [f"no scheduler found that serves {name}", "there is default-scheduler"]
    assert left["stage"]["evidence"] == evidence
    shown = program(control_plane, "explain", "po37").stdout
    assert "no scheduler serves schedulerName kube-extra-scheduler" in shown
    unserved = json.loads(program(control_plane, "schedulers", "-o", "json").stdout)["unserved"]
    assert [(each["schedulerName"], each["pending"]) for each in unserved] == [(name, 1)]


def configuration(api_version: str, **more: Any) -> Json:
    return {
        "apiVersion": f"kubescheduler.config.k8s.io/{api_version}",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {
                "schedulerName": "my-scheduler",
                "plugins": {"score": {"disabled": [{"name": "NodeResourcesBalancedAllocation"}]}},
            }
        ],
        "leaderElection": {"leaderElect": True, **more},
    }


@pytest.fixture
def deployed(api: Api, made: Callable[[str, Json], Json]) -> Iterator[Callable[[str, Json], None]]:
    """Deploys my-scheduler as published, of an image and with a configuration in a ConfigMap; then it goes."""
    labels = {"component": "scheduler", "tier": "control-plane"}

    def deploy(image: str, mounted: Json) -> None:
        text = json.dumps(mounted, indent=1)
        config = {"metadata": {"name": "my-scheduler-config"}, "data": {"my-scheduler-config.yaml": text}}
        made(pods_of(SYSTEM, "configmaps"), config)
        container = {
            "name": "kube-second-scheduler",
            "image": f"registry.k8s.io/kube-scheduler:{image}",
            "command": [
                "/usr/local/bin/kube-scheduler",
                "--config=/etc/kubernetes/my-scheduler/my-scheduler-config.yaml",
            ],
            "resources": {"requests": {"cpu": "100m"}},
            "volumeMounts": [{"name": "config-volume", "mountPath": "/etc/kubernetes/my-scheduler"}],
        }
        volume = {"name": "config-volume", "configMap": {"name": "my-scheduler-config"}}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [container], "volumes": [volume]}}
        spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}
        api.create(DEPLOYMENTS, {"metadata": {"name": "my-scheduler"}, "spec": spec})
        # What spreads the pods is the ReplicaSet's selector, and kube-scheduler watches the two apart from each other.
        until(lambda: api.get(f"{REPLICASETS}?labelSelector=component=scheduler")["items"])
        api.merge(f"{DEPLOYMENTS}/my-scheduler", {"spec": {"replicas": 3}})
        until(lambda: replicas(api))

    yield deploy
    api.delete(f"{DEPLOYMENTS}/my-scheduler")
    until(lambda: gone(api))


def gone(api: Api) -> bool:
    finish_terminating(api)
    return not own_pods(api)


def own_pods(api: Api) -> list[Json]:
    return list(api.get(f"{pods_of(SYSTEM)}?labelSelector=component=scheduler")["items"])


def replicas(api: Api) -> list[Json] | None:
    """The three pods, once each has its node."""
    placed = [each for each in own_pods(api) if each["spec"].get("nodeName")]
    return placed if len(placed) == 3 else None


@pytest.fixture
def default_scheduler(control_plane: ControlPlane, api: Api, made: Callable[[str, Json], Json]) -> Iterator[None]:
    """The default one, elected by the Lease kube-scheduler, with its static pod to be seen."""
    made(pods_of(SYSTEM), static("kube-scheduler", "v1.29.1", "--leader-elect=true"))
    lease = f"/apis/coordination.k8s.io/v1/namespaces/{SYSTEM}/leases/kube-scheduler"
    scheduler = control_plane.start_scheduler("--leader-elect=true", label="default")
    try:
        until(lambda: exists(api, lease))
        yield
    finally:
        scheduler.stop()
        api.delete(lease)


@pytest.mark.usefixtures("default_scheduler")
def test_c1_as_it_was_published_it_serves_nobody_for_two_reasons(
    control_plane: ControlPlane, made: Callable[[str, Json], Json], deployed: Callable[[str, Json], None]
) -> None:
    deployed("v1.29.1", configuration("v1beta2"))
    made(pods_of("default"), pod("annotation-second-scheduler", "100m", schedulerName="my-scheduler"))
    report = json.loads(program(control_plane, "schedulers", "-o", "json").stdout)
    (found,) = (item for item in report["items"] if item["name"] == "my-scheduler")
    assert (found["kind"], len(found["pods"]), found["serves"]) == ("Deployment", 3, False)
    image, lease = found["problems"]
    assert "its image is of 1.29.1, which does not read kubescheduler.config.k8s.io/v1beta2: 1.27 was the last" in image
    assert f"{HOST}_" in lease
    assert f"of static Pod {SYSTEM}/kube-scheduler holds the Lease {SYSTEM}/kube-scheduler" in lease
    assert report["unserved"][0]["wouldServe"] == f"Deployment {SYSTEM}/my-scheduler"
    left = explained(control_plane, "annotation-second-scheduler")
    assert left["stage"]["name"] == "NoScheduler"
    assert len(left["stage"]["evidence"]) == 2


@pytest.mark.usefixtures("default_scheduler")
def test_c1_repaired_it_serves_and_explain_takes_its_profile_without_being_told(
    control_plane: ControlPlane,
    api: Api,
    made: Callable[[str, Json], Json],
    deployed: Callable[[str, Json], None],
) -> None:
    mounted = configuration("v1", resourceName="my-scheduler")
    deployed("v1.36.2", mounted)
    made(pods_of("default"), pod("annotation-second-scheduler", "100m", schedulerName="my-scheduler"))
    before = explained(control_plane, "annotation-second-scheduler")
    assert before["schedulerName"] == "my-scheduler"
    scored = {each["plugin"] for node in before["nodes"] for each in node["scores"]}
    assert "NodeResourcesFit" in scored
    assert "NodeResourcesBalancedAllocation" not in scored
    told = f"profiles of Deployment {SYSTEM}/my-scheduler (1.36.2), as ConfigMap {SYSTEM}/my-scheduler-config has them"
    assert told in before["warnings"]
    scheduler = control_plane.start_scheduler(
        config={key: mounted[key] for key in ("profiles", "leaderElection")}, label="mine"
    )
    try:
        node = until(lambda: bound(api, "annotation-second-scheduler"))["spec"]["nodeName"]
    finally:
        scheduler.stop()
    assert node in before["best"]
    assert explained(control_plane, "annotation-second-scheduler")["history"]["scheduledBy"] == "my-scheduler"


@pytest.mark.usefixtures("default_scheduler")
def test_c1_that_its_replicas_spread_is_no_coincidence(
    control_plane: ControlPlane, api: Api, deployed: Callable[[str, Json], None]
) -> None:
    """PodTopologySpread's system default: its points, and the selector that it counts by."""
    deployed("v1.29.1", configuration("v1beta2"))
    placed = until(lambda: replicas(api))
    assert len({each["spec"]["nodeName"] for each in placed}) == 3
    first = placed[0]["metadata"]["name"]
    others = [each["spec"]["nodeName"] for each in placed[1:]]
    told = explained(control_plane, first, "-n", SYSTEM, "--evidence", "--kube-version", "1.36")
    points = {node["name"]: spread(node) for node in told["nodes"]}
    own = points[placed[0]["spec"]["nodeName"]]
    assert all(own["weighted"] > points[other]["weighted"] for other in others)
    evidence = json.dumps(own["evidence"])
    assert "component=scheduler" in evidence.replace("component in (scheduler)", "component=scheduler")
    assert "kubernetes.io/hostname" in evidence


def spread(node: Json) -> Json:
    return next(each for each in node["scores"] if each["plugin"] == "PodTopologySpread")


def test_a_schedulers_log_tells_its_configuration_where_only_its_host_has_the_file(
    control_plane: ControlPlane, api: Api, made: Callable[[str, Json], Json]
) -> None:
    made(pods_of(SYSTEM), static("kube-scheduler", "v1.36.2", "--config=/etc/kubernetes/s.yaml", "-v=2"))
    unknown = json.loads(program(control_plane, "schedulers", "-o", "json").stdout)["items"][0]
    assert unknown["configuration"]["source"] == "the host file /etc/kubernetes/s.yaml"
    assert len(unknown["configuration"]["commands"]) == 2
    scheduler = control_plane.start_scheduler(config={"profiles": [{"schedulerName": "logged"}]}, label="logging")
    try:
        until(lambda: "Starting Kubernetes Scheduler" in scheduler.log.read_text())
    finally:
        scheduler.stop()
    with Kubelet(scheduler.log, control_plane.folder / "certificates") as kubelet:
        kubelet.serve(api, HOST)
        known = json.loads(program(control_plane, "schedulers", "-o", "json").stdout)["items"][0]
    assert known["configuration"]["source"] == f"the log of {SYSTEM}/kube-scheduler-{HOST}"
    assert [each["schedulerName"] for each in known["profiles"]] == ["logged"]
