"""What a kube-scheduler that runs says of its configuration: in its log, at /configz, and how that is found in dumps.

The texts under fixtures/schedulers/running were written by kube-scheduler 1.36 and by 1.35's own types, all for the
configuration in `written.yaml` there.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from kubectl_sched.config import KubeVersion, load_configuration
from kubectl_sched.diagnostics.messages.scheduler_reasons import own_reasons
from kubectl_sched.errors import SchedError
from kubectl_sched.queries.schedulers import scheduler_report
from kubectl_sched.sources.configuration_file import read_configuration
from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.discovery.scheduler_logs import logged_configuration, logs_of
from kubectl_sched.sources.dump.reader import read
from kubectl_sched.sources.export.anonymizer import anonymized
from kubectl_sched.sources.export.snapshot_file import write_snapshot
from tests.apiserver.manifests import NODE, listing, obj

if TYPE_CHECKING:
    from kubectl_sched.sources import Dump

RUNNING = Path(__file__).parents[3] / "fixtures" / "schedulers" / "running"
LOG = (RUNNING / "kube-scheduler-1.36.log").read_text()
YAML = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- schedulerName: a\n"

INDENTED = "".join(f"\t{line}\n" for line in YAML.splitlines())
ENTRY = {"ts": 1.5, "caller": "o.go:1", "msg": "Using component config", "v": 2, "config": YAML}
SHAPES = {
    "lines": f'I1122 01:08:33.9 9 configfile.go:94] "Using component config" config=<\n{INDENTED} >\n',
    "quoted": f'I1122 01:08:33.9 9 configfile.go:94] "Using component config" config={json.dumps(YAML)}\n',
    "plain": f"I0913 15:02:18.7 1 configfile.go:72] Using component config:\n{YAML}\nI0913 15:02:18.7 1 x.go:1] x\n",
    "framed": f"I0913 15:02:18.7 1 configfile.go:72] Using component config:\n-----Start-----\n{YAML}\n-----End-----\n",
    "json": json.dumps(ENTRY, separators=(",", ":")) + "\n",
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("prefix", ["", "2021-09-13T15:02:18.785533110Z ", "2021-09-13T15:02:18.7+02:00 stderr F "])
def test_the_configuration_is_found_however_klog_and_the_runtime_write_it(shape: str, prefix: str) -> None:
    lines = ("I1122 01:08:33.9 9 flags.go] FLAG: --v=2\n", *SHAPES[shape].splitlines(keepends=True))
    log = "".join(f"{prefix}{line}" for line in lines)
    found = logged_configuration(log)
    assert found is not None
    assert yaml.safe_load(found) == yaml.safe_load(YAML)


def test_the_last_start_counts() -> None:
    log = SHAPES["lines"] + SHAPES["lines"].replace("schedulerName: a", "schedulerName: b")
    assert "schedulerName: b" in (logged_configuration(log) or "")


@pytest.mark.parametrize(
    "log", ["", "I1 x.go] nothing of it\n", SHAPES["lines"][:120], 'Using component config" config="']
)
def test_a_log_without_it_or_cut_off_has_none(log: str) -> None:
    assert logged_configuration(log) is None


@pytest.mark.parametrize(
    ("file", "version"),
    [("kube-scheduler-1.36.log", "1.36"), ("configz-1.36.json", "1.36"), ("configz-1.35.json", "1.35")],
)
def test_what_a_scheduler_says_it_runs_resolves_to_what_was_written(file: str, version: str) -> None:
    minor = KubeVersion.parse(version)
    said = load_configuration(read_configuration(str(RUNNING / file)).document, minor, None)
    written = load_configuration(read_configuration(str(RUNNING / "written.yaml")).document, minor, None)
    assert said.profiles == written.profiles
    assert said.extenders == written.extenders
    assert set(said.profiles) == {"packing", "plain"}


def test_a_log_that_is_cut_off_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "s.log").write_text(LOG[: LOG.index("\tprofiles:")])
    with pytest.raises(SchedError, match="the configuration in this log is cut off"):
        read_configuration(str(tmp_path / "s.log"))


@pytest.mark.parametrize(
    "path",
    [
        "mg/quay-io/namespaces/kube-system/pods/kube-scheduler-n1/kube-scheduler/kube-scheduler/logs/current.log",
        "cluster-resources/pods/logs/kube-system/kube-scheduler-n1/kube-scheduler.log",
        "podlogs/kube-system/kube-scheduler-n1/logs/kube-scheduler.txt",
        "kube-system/kube-scheduler-n1/logs.txt",
        "namespaces/kube-system/pod/kube-scheduler-n1/kube-scheduler/current.log",
    ],
)
def test_a_dump_of_any_layout_that_has_the_log_has_the_configuration(tmp_path: Path, path: str) -> None:
    assert logs_of(path) == ("kube-system", "kube-scheduler-n1")
    dump = with_log(tmp_path, path)
    assert source_and_names(dump) == ("the log of kube-system/kube-scheduler-n1", ["packing", "plain"])


def scheduler() -> dict[str, object]:
    container = {
        "name": "kube-scheduler",
        "image": "registry.k8s.io/kube-scheduler:v1.36.2",
        "command": ["kube-scheduler", "--config=/etc/kubernetes/s.yaml"],
    }
    return {**obj("Pod", "kube-scheduler-n1", "kube-system"), "spec": {"nodeName": "n1", "containers": [container]}}


def with_log(folder: Path, path: str) -> Dump:
    (folder / path).parent.mkdir(parents=True)
    (folder / path).write_text(LOG)
    (folder / "all.json").write_text(json.dumps(listing(NODE, scheduler())))
    return read([str(folder)])


def source_and_names(dump: Dump) -> tuple[str, list[str]]:
    item = scheduler_report(ClusterSchedulers(dump, Replay()))["items"][0]
    return item["configuration"]["source"], [each["schedulerName"] for each in item["profiles"]]


def test_cluster_info_on_standard_output_has_logs_among_the_objects(tmp_path: Path) -> None:
    objects = json.dumps(listing(NODE, scheduler()), indent=4)
    logs = "==== START logs for container kube-scheduler of pod kube-system/kube-scheduler-n1 ====\n"
    ends = "==== END logs for container kube-scheduler of pod kube-system/kube-scheduler-n1 ====\n"
    (tmp_path / "dump").write_text(f"{objects}\n{logs}{LOG}{ends}")
    assert source_and_names(read([str(tmp_path / "dump")]))[1] == ["packing", "plain"]


def test_a_snapshot_keeps_what_the_log_said_and_an_anonymized_one_too(tmp_path: Path) -> None:
    dump = with_log(tmp_path / "d", "podlogs/kube-system/kube-scheduler-n1/logs/kube-scheduler.txt")
    for number, kept in enumerate((dump, anonymized(dump))):
        path = str(tmp_path / f"{number}.json")
        write_snapshot(kept, path, own_reasons)
        source, names = source_and_names(read([path]))
        assert source.startswith("the log of ")
        assert names == source_and_names(kept)[1]
    assert b"extender.example.com" in (tmp_path / "0.json").read_bytes()


def test_a_log_of_another_container_is_nobodys_configuration() -> None:
    assert logs_of("podlogs/kube-system/kube-scheduler-n1/logs/sidecar.txt") is None
    assert logs_of("namespaces/default/pods/web/nginx/nginx/logs/current.log") is None


REVISIONS = (("config", "next"), ("config-7", "current"), ("config-6", "before"))


def test_openshift_runs_the_config_map_of_the_static_pods_own_revision(tmp_path: Path) -> None:
    container = {
        "name": "kube-scheduler",
        "image": "quay.io/openshift-release-dev/ocp@sha256:1",
        "command": ["hyperkube", "kube-scheduler"],
        "args": ["--config=/etc/kubernetes/static-pod-resources/configmaps/config/config.yaml"],
    }
    pod = {
        **obj("Pod", "openshift-kube-scheduler-n1", "openshift-kube-scheduler", metadata={"labels": {"revision": "7"}}),
        "spec": {"nodeName": "n1", "containers": [container]},
    }
    maps = [
        {
            **obj("ConfigMap", name, "openshift-kube-scheduler"),
            "data": {"config.yaml": YAML.replace(": a", f": {profile}")},
        }
        for name, profile in REVISIONS
    ]
    (tmp_path / "dump.json").write_text(json.dumps(listing(NODE, pod, *maps)))
    assert source_and_names(read([str(tmp_path)])) == ("ConfigMap openshift-kube-scheduler/config-7", ["current"])
