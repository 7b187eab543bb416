"""The schedulers, their configurations, and the pods that none of them will ever schedule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from kubectl_sched.api.pod import Pod
from kubectl_sched.config import KubeVersion
from kubectl_sched.queries.schedulers import scheduler_report
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
from kubectl_sched.sources.discovery.kubernetes_version import detect_version
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.dump.reader import read
from tests.apiserver.manifests import NODE, listing, obj
from tests.scheduler.cycles import with_cycle

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.sources import Dump

FIXTURES = Path(__file__).parents[3] / "fixtures" / "schedulers"


def fixture(name: str) -> Dump:
    return read([str(FIXTURES / f"{name}.yaml")])


def report(dump: Dump) -> dict[str, Any]:
    return scheduler_report(ClusterSchedulers(dump, Replay()))


def scheduler(name: str, data: dict[str, Any]) -> dict[str, Any]:
    (found,) = (item for item in data["items"] if item["name"] == name)
    return dict(found)


def pod(dump: Dump, name: str) -> Pod:
    return next(item for item in dump.objects if isinstance(item, Pod) and item.metadata.name == name)


def test_a_second_scheduler_is_found_by_its_static_pod() -> None:
    found = scheduler("kube-extra-scheduler", report(fixture("second-scheduler")))
    assert (found["kind"], found["version"], found["serves"]) == ("static Pod", "1.16", True)
    assert found["leaderElection"] is None
    assert found["profiles"] == [{"schedulerName": "kube-extra-scheduler", "pods": 1, "pending": 0}]


def test_a_scheduler_name_that_nobody_serves_is_listed_with_its_pods() -> None:
    data = report(fixture("second-scheduler-gone"))
    assert [item["name"] for item in data["items"]] == ["kube-scheduler"]
    (unserved,) = data["unserved"]
    assert unserved == {
        "schedulerName": "kube-extra-scheduler",
        "pods": 2,
        "pending": 1,
        "product": None,
        "wouldServe": None,
        "mayServe": [],
    }


def test_a_deployment_has_its_configuration_from_the_config_map_that_it_mounts() -> None:
    found = scheduler("my-scheduler", report(fixture("deployment")))
    assert (found["kind"], len(found["pods"]), found["serves"]) == ("Deployment", 3, True)
    assert found["configuration"]["source"] == "ConfigMap kube-system/my-scheduler-config"
    assert found["leaderElection"]["isHolder"] is True


def test_explain_takes_the_profile_that_serves_the_pod_without_being_told() -> None:
    dump = fixture("deployment")
    schedulers = ClusterSchedulers(dump, Replay())
    result = with_cycle(schedulers.schedule_one(pod(dump, "annotation-second-scheduler")))
    plugins = {plugin.name for plugin in result.framework.profile.plugins["score"]}
    assert result.fits
    assert "NodeResourcesBalancedAllocation" not in plugins
    assert schedulers.notes[0] == (
        "profiles of Deployment kube-system/my-scheduler (1.29.1), "
        "as ConfigMap kube-system/my-scheduler-config has them"
    )


def test_a_scheduler_as_it_was_published_serves_nobody_for_two_reasons() -> None:
    data = report(fixture("deployment-that-cannot-serve"))
    found = scheduler("my-scheduler", data)
    assert not found["serves"]
    image, lease = found["problems"]
    assert "its image is of 1.29.1, which does not read kubescheduler.config.k8s.io/v1beta2: 1.27 was the last" in image
    assert "stands by, as kind-control-plane_5b1 of static Pod kube-system/kube-scheduler holds the Lease" in lease
    assert scheduler("kube-scheduler", data)["serves"]
    assert data["unserved"][0]["wouldServe"] == "Deployment kube-system/my-scheduler"


def test_where_nobody_has_looked_at_a_pod_for_minutes_there_is_no_scheduler() -> None:
    data = report(fixture("no-scheduler"))
    assert data["items"] == []
    assert [each["schedulerName"] for each in data["unserved"]] == ["default-scheduler"]


def kube_scheduler(*arguments: str, **fields: Any) -> dict[str, Any]:
    container = {"name": "kube-scheduler", "image": "registry.k8s.io/kube-scheduler:v1.36.2", "args": list(arguments)}
    spec = {"nodeName": "n1", "containers": [container], **fields}
    return {**obj("Pod", "kube-scheduler-n1", "kube-system"), "spec": spec}


@pytest.mark.parametrize(
    ("arguments", "flags"),
    [
        (["kube-scheduler", "--leader-elect", "--config", "/a"], {"leader-elect": "true", "config": "/a"}),
        (["--config=/a", "--config=/b", "--kubeconfig=/secret"], {"config": "/b"}),
        (
            ["/bin/sh", "-c", "exec kube-scheduler --feature-gates='A=true,B=false'"],
            {"feature-gates": "A=true,B=false"},
        ),
        (["-scheduler_name=x"], {"scheduler-name": "x"}),
        (["--feature-gates=A=true", "--feature-gates=B=false"], {"feature-gates": "A=true,B=false"}),
    ],
)
def test_flags_are_read_as_go_reads_them(
    read_text: Callable[..., Dump], arguments: list[str], flags: dict[str, str]
) -> None:
    found = scheduler("kube-scheduler", report(read_text(listing(NODE, kube_scheduler(*arguments)))))
    assert found["flags"] == flags


def test_a_host_file_is_fetched_by_the_command_that_is_told(read_text: Callable[..., Dump]) -> None:
    dump = read_text(listing(NODE, kube_scheduler("--config=/etc/kubernetes/s.yaml")))
    (found,) = report(dump)["items"]
    assert found["configuration"]["source"] == "the host file /etc/kubernetes/s.yaml"
    assert found["configuration"]["command"].startswith("kubectl debug node/n1 ")
    assert found["configuration"]["command"].endswith("cat /host/etc/kubernetes/s.yaml > scheduler.yaml")


@pytest.mark.parametrize(
    ("policy", "told"), [("--policy-configmap=p", "the Policy p"), ("--policy-config-file=/p", "the Policy /p")]
)
def test_a_policy_is_named_and_not_replayed(read_text: Callable[..., Dump], policy: str, told: str) -> None:
    (found,) = report(read_text(listing(NODE, kube_scheduler(policy))))["items"]
    assert found["configuration"]["source"] == told
    assert "is not replayed" in found["configuration"]["problem"]


AKS = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: node-binpacking-scheduler}]
"""


def test_aks_configures_its_scheduler_by_an_object(read_text: Callable[..., Dump]) -> None:
    configured = {**obj("SchedulerConfiguration", "upstream", "", "aks.azure.com/v1alpha1"), "spec": {"rawConfig": AKS}}
    data = report(read_text(listing(NODE, configured)))
    assert [each["schedulerName"] for each in data["items"][0]["profiles"]] == ["node-binpacking-scheduler"]


def test_a_product_that_is_no_kube_scheduler_is_named(read_text: Callable[..., Dump]) -> None:
    volcano = {
        **obj("Pod", "volcano-scheduler-1", "volcano-system"),
        "spec": {"nodeName": "n1", "containers": [{"name": "c", "image": "docker.io/volcanosh/vc-scheduler:v1.9.0"}]},
    }
    asking = [{**obj("Pod", name, "default"), "spec": {"schedulerName": name}} for name in ("volcano", "yunikorn")]
    data = report(read_text(listing(NODE, volcano, *asking)))
    assert scheduler("Volcano", data)["profiles"] == [{"schedulerName": "volcano", "pods": 1, "pending": 1}]
    assert [(each["schedulerName"], each["product"]) for each in data["unserved"]] == [("yunikorn", "YuniKorn")]


def second(*arguments: str, image: str = "v1.29.0") -> dict[str, Any]:
    """A second scheduler whose ConfigMap is not in the dump."""
    made = kube_scheduler(*arguments, volumes=[{"name": "c", "configMap": {"name": "second"}}])
    (container,) = made["spec"]["containers"]
    container["image"] = f"registry.k8s.io/kube-scheduler:{image}"
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "a-second-5d8", "uid": "u", "controller": True}
    labels = {"pod-template-hash": "5d8"}
    metadata = {"name": "a-second-5d8-x", "namespace": "kube-system", "ownerReferences": [owner], "labels": labels}
    return {**made, "metadata": metadata}


def asking(scheduler_name: str) -> dict[str, Any]:
    return {**obj("Pod", "web-0", "shop"), "spec": {"schedulerName": scheduler_name, "containers": [{"name": "c"}]}}


def test_a_scheduler_whose_configuration_was_not_read_may_serve_a_name_that_nobody_else_does(
    read_text: Callable[..., Dump],
) -> None:
    dump = read_text(listing(NODE, kube_scheduler(), second("--config=/etc/s.yaml"), asking("mine")))
    assert report(dump)["unserved"][0]["mayServe"] == ["Deployment kube-system/a-second"]
    schedulers = ClusterSchedulers(dump, Replay())
    web = pod(dump, "web-0")
    assert schedulers.schedule_one(web).outcome is Outcome.NO_PROFILE
    assert schedulers.missing_scheduler(web) == ()
    assert schedulers.notes[0].startswith(
        "Deployment kube-system/a-second may serve mine: its configuration is ConfigMap kube-system/second, which was"
    )
    assert schedulers.notes[0].endswith("prints the command that fetches it, for --config scheduler.yaml)")


def test_of_its_config_map_the_first_document_counts(read_text: Callable[..., Dump]) -> None:
    head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    text = f"{head}profiles: [{{schedulerName: mine}}]\n---\n{head}profiles: [{{schedulerName: theirs}}]\n"
    config_map = {**obj("ConfigMap", "second", "kube-system"), "data": {"s.yaml": text}}
    found = scheduler("a-second", report(read_text(listing(NODE, second("--config=/etc/s.yaml"), config_map))))
    assert [profile["schedulerName"] for profile in found["profiles"]] == ["mine"]


@pytest.mark.parametrize("mistake", ["leaderElection: yes", "leaderElection: [a]", "profiles: 5", "profiles: yes"])
def test_a_mistake_in_its_config_map_is_why_it_cannot_start(read_text: Callable[..., Dump], mistake: str) -> None:
    text = f"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n{mistake}\n"
    config_map = {**obj("ConfigMap", "second", "kube-system"), "data": {"s.yaml": text}}
    broken = second("--config=/etc/s.yaml", image="v1.36.0")
    dump = read_text(listing(NODE, kube_scheduler(), broken, config_map, asking("default-scheduler")))
    (problem,) = scheduler("a-second", report(dump))["problems"]
    assert problem.startswith("it cannot start: kube-scheduler refuses this configuration: ")
    assert ClusterSchedulers(dump, Replay()).schedule_one(pod(dump, "web-0")).kubernetes_version == "1.36"


@pytest.mark.parametrize(
    ("emulated", "batches", "told"),
    [
        ("1.34", False, "1.36.2, emulating 1.34"),
        ("kube=1.34", False, "1.36.2, emulating 1.34"),
        ("wardle=1.2,kube=v1.34", False, "1.36.2, emulating 1.34"),
        ("1.40", True, "1.36.2"),
        ("wardle=1.2", True, "1.36.2"),
    ],
)
def test_a_scheduler_that_emulates_an_older_minor_has_the_feature_gates_of_that_one(
    read_text: Callable[..., Dump], emulated: str, batches: bool, told: str
) -> None:
    dump = read_text(listing(NODE, kube_scheduler(f"--emulated-version={emulated}")))
    assumed = ClusterSchedulers(dump, Replay()).assumed("default-scheduler")
    assert assumed.configuration.version == KubeVersion(1, 36)
    assert assumed.configuration.features.enabled("OpportunisticBatching") is batches
    assert f"({told}) runs with no --config" in assumed.evidence
    replayed = ClusterSchedulers(dump, Replay(kube_version="1.36")).assumed("default-scheduler")
    assert replayed.configuration.features.enabled("OpportunisticBatching")


def test_it_is_not_taken_for_the_default_scheduler_where_there_is_another(read_text: Callable[..., Dump]) -> None:
    dump = read_text(listing(NODE, kube_scheduler(), second("--config=/etc/s.yaml"), asking("default-scheduler")))
    schedulers = ClusterSchedulers(dump, Replay())
    assert schedulers.schedule_one(pod(dump, "web-0")).kubernetes_version == "1.36"
    assert schedulers.notes == ["default profile, as Pod kube-system/kube-scheduler (1.36.2) runs with no --config"]


@pytest.mark.parametrize(
    ("tag", "version"),
    [
        ("v1.36.2-corp.1", "1.36.2"),
        ("v1.36.2-eks-abc", "1.36.2"),
        ("v1.36_corp", "1.36"),
        ("1.36rc1@sha256:5f", "1.36"),
        ("v1.20260115123456", None),
    ],
)
def test_the_version_is_as_much_of_the_tag_as_says_it(
    read_text: Callable[..., Dump], tag: str, version: str | None
) -> None:
    made = kube_scheduler()
    made["spec"]["containers"][0]["image"] = f"registry.k8s.io/kube-scheduler:{tag}"
    dump = read_text(listing(NODE, made))
    found = scheduler("kube-scheduler", report(dump))
    assert (found["patch"] or found["version"]) == version
    assert detect_version(dump) == (KubeVersion.parse(version) if version else None)


def test_the_server_s_patch_counts_and_a_kubelet_s_does_not(read_text: Callable[..., Dump]) -> None:
    dump = read_text(listing({**NODE, "status": {"nodeInfo": {"kubeletVersion": "v1.36.2"}}}))
    assert detect_version(dump) == KubeVersion(1, 36)
    assert detect_version(replace(dump, server_version="v1.36.3-gke.100")) == KubeVersion(1, 36, 3)


def test_a_name_in_a_flag_is_a_profile_of_whatever_version(read_text: Callable[..., Dump]) -> None:
    dump = read_text(listing(NODE, second("--scheduler-name=mine", image="v1.22.5"), asking("mine")))
    schedulers = ClusterSchedulers(dump, Replay())
    assert schedulers.schedule_one(pod(dump, "web-0")).outcome is Outcome.UNSCHEDULABLE
    assert schedulers.notes[0].endswith("(1.22.5) runs with no --config, but --scheduler-name=mine")
    assert not any("is served by" in warning for warning in schedulers.warnings)


def test_a_pod_of_a_product_is_told_whose_it_is(read_text: Callable[..., Dump]) -> None:
    containers = [{"name": "c", "image": "volcanosh/vc-scheduler:v1.10"}]
    volcano = {**obj("Pod", "volcano-1", "volcano-system"), "spec": {"nodeName": "n1", "containers": containers}}
    dump = read_text(listing(NODE, volcano, asking("volcano")))
    schedulers = ClusterSchedulers(dump, Replay())
    schedulers.schedule_one(pod(dump, "web-0"))
    assert schedulers.notes[0].startswith("volcano is Volcano (volcano-system/volcano-1), no kube-scheduler")


def test_config_overrides_what_is_found(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(AKS)
    schedulers = ClusterSchedulers(fixture("deployment"), Replay(config=str(tmp_path / "s.yaml")))
    assert set(schedulers.assumed("my-scheduler").configuration.profiles) == {"node-binpacking-scheduler"}


@pytest.mark.parametrize("flags", [(), ("--feature-gates=NoSuchGate=true",)])
def test_a_configuration_among_the_files_stands_in_for_one_that_cannot_be_seen(
    tmp_path: Path, flags: tuple[str, ...]
) -> None:
    (tmp_path / "config.yaml").write_text(AKS.replace("node-binpacking-scheduler", "default-scheduler"))
    (tmp_path / "all.json").write_text(
        json.dumps(listing(NODE, kube_scheduler("--config=/etc/kubernetes/s.yaml", *flags)))
    )
    schedulers = ClusterSchedulers(read([str(tmp_path)]), Replay())
    schedulers.assumed("default-scheduler")
    assert schedulers.notes == [
        "profiles of Pod kube-system/kube-scheduler (1.36.2), as the KubeSchedulerConfiguration in the dump has them"
    ]


def test_a_configuration_among_the_files_that_no_scheduler_runs_is_said_to_lie_there(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(AKS)
    (tmp_path / "all.json").write_text(json.dumps(listing(NODE, kube_scheduler())))
    dump = read([str(tmp_path)])
    schedulers = ClusterSchedulers(dump, Replay())
    schedulers.assumed("default-scheduler")
    assert schedulers.notes[1].startswith("the KubeSchedulerConfiguration in the dump is not used")
    overridden = ClusterSchedulers(dump, Replay(config=str(tmp_path / "config.yaml")))
    overridden.assumed("default-scheduler")
    assert not any("not used" in note for note in overridden.notes)


def test_a_scheduler_that_cannot_be_seen_is_there_where_somebody_renews_its_lease(
    read_text: Callable[..., Dump],
) -> None:
    old = {"metadata": {"name": "web", "creationTimestamp": "2026-06-01T08:00:00Z"}, "kind": "Pod", "apiVersion": "v1"}
    waiting = {**old, "status": {"qosClass": "BestEffort"}}
    apiserver = {
        **obj("Pod", "kube-apiserver", "kube-system"),
        "spec": {"nodeName": "n1", "containers": [{"name": "c", "image": "registry.k8s.io/kube-apiserver:v1.36.2"}]},
    }
    renewed = {
        **obj("Lease", "kube-scheduler", "kube-system", "coordination.k8s.io/v1"),
        "spec": {"holderIdentity": "host_1", "renewTime": "2026-06-01T12:00:00.000000Z"},
    }
    assert report(read_text(listing(NODE, waiting, apiserver)))["items"] == []
    (item,) = report(read_text(listing(NODE, waiting, apiserver, renewed)))["items"]
    assert item["leaderElection"]["holder"] == "host_1"
    assert item["configuration"]["source"].endswith("host_1 renews the Lease kube-system/kube-scheduler")


def test_a_watcher_outside_of_the_cluster_serves_whose_lease_it_renews(read_text: Callable[..., Dump]) -> None:
    waiting = {**obj("Pod", "po37", "default"), "spec": {"schedulerName": "by-hand", "containers": [{"name": "c"}]}}
    lease = {
        **obj("Lease", "kubectl-sched-by-hand", "kube-system", "coordination.k8s.io/v1"),
        "spec": {"holderIdentity": "host_1", "renewTime": "2026-06-01T12:00:00.000000Z"},
    }
    alone = ClusterSchedulers(read_text(listing(NODE, waiting)), Replay())
    assert alone.missing_scheduler(pod(alone.dump, "po37"))
    served = ClusterSchedulers(read_text(listing(NODE, waiting, lease)), Replay())
    assert served.missing_scheduler(pod(served.dump, "po37")) == ()
    assert served.schedule_one(pod(served.dump, "po37")).outcome is not Outcome.NO_PROFILE
    assert "host_1 renews the Lease kube-system/kubectl-sched-by-hand" in served.notes[0]
    data = report(served.dump)
    assert data["unserved"] == []
    assert scheduler("by-hand", data)["leaderElection"]["holder"] == "host_1"
