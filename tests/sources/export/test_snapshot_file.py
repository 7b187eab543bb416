"""A snapshot holds what a replay needs, and nothing that is secret."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kubectl_sched.api.core import ConfigMap
from kubectl_sched.api.meta import ObjectMeta
from kubectl_sched.api.pod import Pod
from kubectl_sched.config import load_configuration
from kubectl_sched.config.config_map import configuration_keys
from kubectl_sched.diagnostics.messages.scheduler_reasons import own_reasons
from kubectl_sched.errors import SchedError
from kubectl_sched.queries.explanation import Explanation
from kubectl_sched.render.answers.explanation_data import explanation_data
from kubectl_sched.sources import Dump
from kubectl_sched.sources.discovery.replay_setup import Replay, configuration_for, scheduler_for
from kubectl_sched.sources.discovery.scheduler_configurations import parsed
from kubectl_sched.sources.dump.reader import read
from kubectl_sched.sources.export.kept_messages import kept_message, templates_by_source
from kubectl_sched.sources.export.snapshot_file import encoded, write_snapshot
from tests.apiserver.manifests import NODE, POD, listing, obj
from tests.decisions import Recorded, recorded
from tests.examples import at_length, cases

if TYPE_CHECKING:
    from collections.abc import Callable

VECTORS = Path(__file__).parents[3] / "fixtures" / "vectors"
REPLAYED = [case for path in sorted(VECTORS.glob("*.jsonl.gz")) for case in recorded(path)[::3]]

SECRET = "hunter2"  # noqa: S105 - what must not be found
CONFIGURATION = f"""apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders:
- urlPrefix: https://extender.example.com
  tlsConfig: {{serverName: x, keyData: {SECRET}}}
- urlPrefix: https://user:{SECRET}@extender.example.com/x?token={SECRET}
  tlsConfig:
    keyData: |
      {SECRET}
      {SECRET}
profiles:
- pluginConfig:
  - name: Own
    args: {{apiKey: {SECRET}, topologyKey: zone}}  # {SECRET}
"""


def explanations(dump: Dump, pods: list[str]) -> list[dict[str, Any]]:
    scheduler, _ = scheduler_for(dump, configuration_for(dump, Replay(kube_version="1.36")))
    by_key = {item.key: item for item in dump.objects if isinstance(item, Pod)}
    return [
        explanation_data(Explanation(result=scheduler.schedule_one(by_key[key])), "", evidence=lambda _: True)
        for key in pods
    ]


@at_length
@pytest.mark.parametrize("case", cases(REPLAYED, 4), ids=lambda case: case.id)
def test_the_replay_of_a_snapshot_is_the_replay_of_the_dump(
    read_text: Callable[..., Dump], tmp_path: Path, case: Recorded
) -> None:
    request = case.request
    dump = read_text(listing(*request["objects"]))
    write_snapshot(dump, str(tmp_path / "again.json"), own_reasons)
    again = read([str(tmp_path / "again.json")])
    assert explanations(again, request["pods"]) == explanations(dump, request["pods"])
    assert encoded(again, own_reasons) == encoded(dump, own_reasons)


def cluster_with_secrets() -> dict[str, Any]:
    container = {
        "name": "c",
        "image": "web:1",
        "command": ["run", f"--password={SECRET}"],
        "args": [SECRET],
        "env": [{"name": "PASSWORD", "value": SECRET}],
        "livenessProbe": {"exec": {"command": [SECRET]}},
    }
    pull = {"reason": "ErrImagePull", "message": f'failed to pull "https://me:{SECRET}@registry/web"'}
    status = {
        "containerStatuses": [{"name": "c", "state": {"terminated": {"reason": "Error", "message": SECRET}}}],
        "initContainerStatuses": [{"name": "i", "state": {"waiting": pull}}],
        "conditions": [{"type": "Own", "status": "False", "message": SECRET}],
    }
    mount = f"mount failed: mount -o user=me,password={SECRET} //srv/share"
    volume = {"name": "v", "configMap": {"name": "m", "items": [{"key": SECRET, "path": SECRET}]}}
    scheduler = {
        "name": "kube-scheduler",
        "image": "registry.k8s.io/kube-scheduler:v1.36.2",
        "command": ["sh", "-c", f"TOKEN={SECRET} exec kube-scheduler --config /etc/k/config.yaml --token={SECRET}"],
    }
    pod = {**POD, "spec": {"containers": [container], "volumes": [volume]}, "status": status}
    pod["metadata"] = {**POD["metadata"], "annotations": {"kubectl.kubernetes.io/last-applied-configuration": SECRET}}
    scheduling = {**obj("Pod", "kube-scheduler-n1", "kube-system"), "spec": {"containers": [scheduler]}}
    probe = {**obj("Event", "e1", "shop"), "reason": "Unhealthy", "message": f"probe failed: {SECRET}"}
    mounted = {**obj("Event", "e2", "shop"), "reason": "FailedMount", "message": mount}
    configured = {**obj("ConfigMap", "config", "kube-system"), "data": {"a": CONFIGURATION, "other": SECRET}}
    template = {"template": {"spec": {"containers": [container], "initContainers": [container]}}}
    return listing(
        NODE,
        pod,
        {**obj("Deployment", "d", "shop", "apps/v1"), "spec": template},
        {**obj("CronJob", "c", "shop", "batch/v1"), "spec": {"jobTemplate": {"spec": template}}},
        scheduling,
        probe,
        mounted,
        configured,
        {**obj("ConfigMap", "settings", "shop"), "data": {"password": SECRET}},
        {**obj("Secret", "s", "shop"), "data": {"password": SECRET}},
    )


def test_nothing_secret_is_in_it(read_text: Callable[..., Dump]) -> None:
    data = encoded(read_text(cluster_with_secrets()), own_reasons)
    assert SECRET.encode() not in data
    items = {f"{item['kind']} {item['metadata']['name']}": item for item in json.loads(data)["items"]}
    assert set(items) == {
        "Node n1",
        "Pod web-0",
        "Pod kube-scheduler-n1",
        "ConfigMap config",
        "Deployment d",
        "CronJob c",
        "Event e2",
    }
    assert items["Event e2"]["message"] == "message left out"
    assert json.loads(items["ConfigMap config"]["data"]["a"])["profiles"] == [{"pluginConfig": [{"name": "Own"}]}]
    (scheduler,) = items["Pod kube-scheduler-n1"]["spec"]["containers"]
    assert scheduler["command"] == ["kube-scheduler", "--config=/etc/k/config.yaml"]


def test_it_keeps_what_is_not_in_the_objects(read_text: Callable[..., Dump], tmp_path: Path) -> None:
    config = {"kind": "KubeSchedulerConfiguration", "apiVersion": "kubescheduler.config.k8s.io/v1"}
    dump = read_text({"nodes": [NODE], "pvs": [], "schedulerConfig": config})
    dump = Dump(
        objects=dump.objects,
        warnings=("said {before}",),
        present=dump.present,
        scheduler_configuration=dump.scheduler_configuration,
        server_version="v1.35.1",
    )
    write_snapshot(dump, str(tmp_path / "s.json"), own_reasons)
    again = read([str(tmp_path / "s.json")])
    assert again == dump


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("v1.36.2", "v1.36.2"),
        ("1.36", "1.36"),
        ("v1.33.4-gke.1134000", "v1.33.4"),
        ("v1.33.4+k3s1", "v1.33.4"),
        (f"v1.36.2-{SECRET}", "v1.36.2"),
        (f"v1.36.2 token={SECRET}", "v1.36"),
        (SECRET, None),
    ],
)
def test_of_the_servers_version_only_the_numbers_are_kept(said: str, kept: str | None) -> None:
    metadata = json.loads(encoded(Dump(server_version=said), own_reasons))["metadata"]
    assert metadata.get("serverVersion") == kept


def test_warnings_keep_no_credentials() -> None:
    said = 'pods-errors.json: the bundle lacks what could not be collected: Get "https://{}10.0.0.1/?{}": i/o timeout'
    dump = Dump(warnings=(said.format(f"me:{SECRET}@", f"token={SECRET}"),))
    data = encoded(dump, own_reasons)
    assert SECRET.encode() not in data
    assert json.loads(data)["metadata"]["warnings"] == [said.format("", "***")]


def test_it_is_compressed_where_its_name_says_so_and_the_bytes_are_always_the_same(
    read_text: Callable[..., Dump], tmp_path: Path
) -> None:
    dump = read_text(listing(NODE, POD))
    files = [tmp_path / "one.json.gz", tmp_path / "two.json.gz"]
    for file in files:
        write_snapshot(dump, str(file), own_reasons)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert gzip.decompress(files[0].read_bytes()) == encoded(dump, own_reasons)
    assert read([str(files[0])]) == read_text(encoded(dump, own_reasons))


@pytest.mark.parametrize(("name", "said"), [("dump.yaml", r"ends in \.json"), ("absent/dump.json", "No such file")])
def test_a_file_that_cannot_be_written_is_named(read_text: Callable[..., Dump], name: str, said: str) -> None:
    with pytest.raises(SchedError, match=said):
        write_snapshot(read_text(listing(NODE)), name, own_reasons)


SPELLINGS = [
    f"password: {SECRET}",
    f"password={SECRET}",
    f'"password":"{SECRET}"',
    f"'token' : '{SECRET}'",
    f"Authorization: Bearer {SECRET}",
    f"AccountName=a;AccountKey={SECRET}",
    f"https://a.example.com/b?sig={SECRET}&sv=1",
    f"X-Amz-Signature={SECRET}",
    f"aws_secret_access_key={SECRET}",
    f"bearer {SECRET}/{SECRET}",
    f"https://me:{SECRET}@example.com",
    f"eyJhbGciOiJIUzI1NiJ9.{SECRET}.{SECRET}",
    f"Authorization: token {SECRET}",
    f"Authorization: Digest username={SECRET}",
    f"run --password {SECRET}",
    f"run --client-key {SECRET}",
    f"password {SECRET}",
    f"pass={SECRET}",
    f"DB_PASS={SECRET}",
    f"passphrase: {SECRET}",
    f"?key={SECRET}",
    f'{{"auth": "{SECRET}"}}',
    f"Cookie: a={SECRET}; b={SECRET}",
    f"set-cookie: {SECRET}",
    f"x-api-key {SECRET}",
    f"X-Vault-Token: {SECRET}",
    f"glpat-{SECRET}{SECRET}",
    f"ghp_{SECRET}{SECRET}",
    f"-----BEGIN RSA PRIVATE KEY-----\n{SECRET}\n{SECRET}\n-----END RSA PRIVATE KEY-----",
]
TOKENS = [
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "github_pat_11ABCDEFG0abcdefghijkl",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
    "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY",
    "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIIrY\n-----END EC PRIVATE KEY-----",
]
REJECTED = "Pod was rejected: Node didn't have enough resource: cpu"
BROKEN = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n# {}\nprofiles: [{{\n"


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_no_text_of_anybody_is_in_it(read_text: Callable[..., Dump], spelling: str) -> None:
    message = f"0/1 nodes are available: 1 Insufficient cpu, 1 own plugin said {spelling}."
    conditions = [{"type": name, "status": "False", "message": spelling} for name in ("Ready", "PodScheduled", "Own")]
    node = {**NODE, "status": {**NODE.get("status", {}), "conditions": conditions}}
    state = {"waiting": {"reason": "ErrImagePull", "message": spelling}}
    pods = []
    for index, told in enumerate((spelling, message)):
        scheduled = {"type": "PodScheduled", "status": "False", "message": told}
        status = {"message": told, "conditions": [scheduled], "containerStatuses": [{"name": "c", "state": state}]}
        debugging = {"name": "e", "command": ["sh", spelling], "args": [spelling]}
        spec = {"containers": [{"name": "c"}], "ephemeralContainers": [debugging]}
        pods.append({**obj("Pod", f"web-{index}", "shop"), "spec": spec, "status": status})
    events = [
        {**obj("Event", f"{reason.lower()}-{index}", "shop"), "reason": reason, "message": told}
        for reason in ("FailedScheduling", "FailedMount", "FailedCreate", "NotTriggerScaleUp", "Scheduled")
        for index, told in enumerate((spelling, message, f"pod didn't trigger scale-up: 1 {spelling}"))
    ]
    config = {**obj("ConfigMap", "broken", "kube-system"), "data": {"a": BROKEN.format(spelling)}}
    data = encoded(read_text(listing(node, *pods, *events, config)), own_reasons)
    assert SECRET.encode() not in data
    assert b"0/1 nodes are available: 1 Insufficient cpu, 1 another reason." in data


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_no_credential_is_left_in_a_warning(spelling: str) -> None:
    data = encoded(Dump(warnings=(f"the server said {spelling}",)), own_reasons)
    assert SECRET.encode() not in data
    assert b"the server said" in data


@pytest.mark.parametrize("token", TOKENS)
def test_a_token_of_known_shape_is_taken_out_of_any_field(token: str) -> None:
    pod = Pod(metadata=ObjectMeta(name="web-0", namespace="shop", labels={"a": token}))
    data = encoded(Dump(objects=(pod,), warnings=(token,)), own_reasons)
    assert token.rsplit("\n", maxsplit=1)[-1].encode() not in data
    assert json.loads(data)["items"][0]["metadata"]["labels"] == {"a": "***"}


def test_no_template_takes_other_texts_than_names_and_amounts() -> None:
    """Each template keeps what it is for, and nothing that is put in the place of a name."""
    examples = {
        "created": "",
        "word": "Word",
        "predicate": "node(s) were unschedulable",
        "scale-ups": "{ng 1->2 (max: 9)}",
    }
    examples |= {
        "amounts": "pods=1,cpu=2",
        "states": "Ready=False",
        "limits": "cpu for: web",
        "taint": "a=b:NoSchedule",
    }
    examples |= {"task counts": "1 Pending, 2 minAvailable", "preemption reason": "prioritization in the ClusterQueue"}
    examples |= {"quota reasons": "insufficient quota for cpu in flavor a, request > maximum capacity (4 > 2)"}
    examples |= dict.fromkeys(("name", "names", "image"), "web-0") | dict.fromkeys(("number", "quantity"), "12")
    examples |= {"duration": "1m2s"}
    for source, templates in templates_by_source().items():
        for template in templates:
            text = re.sub(r"\{([a-z -]+)\}", lambda found: examples.get(found[1], f"{SECRET} said so"), template)
            kept = kept_message(source, text)
            assert kept.startswith(text.removesuffix(f"{SECRET} said so")), template
            assert SECRET not in kept
            hostile = template.replace("{name}", f"{SECRET} = {SECRET}", 1)
            if hostile != template:
                assert SECRET not in kept_message(source, hostile), template


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ('persistentvolumeclaim "data" not found', 'persistentvolumeclaim "data" not found'),
        (f'persistentvolumeclaim "{SECRET} is it" not found', 'persistentvolumeclaim "(left out)" not found'),
        (f'running PreBind plugin "Own": my = {SECRET}', 'running PreBind plugin "Own": (left out)'),
        (
            f"0/1 nodes are available: 1 Insufficient cpu. {SECRET}",
            "0/1 nodes are available: 1 Insufficient cpu. another reason",
        ),
        (
            f"0/2 nodes are available: 2 node(s) had untolerated taint {{a: is = {SECRET}}}.",
            "0/2 nodes are available: 2 node(s) had untolerated taint {a: (left out)}.",
        ),
        (
            f"pod didn't trigger scale-up: 1 max node group size reached, 2 Insufficient cpu, 3 {SECRET} is it",
            "pod didn't trigger scale-up: 1 max node group size reached, 2 Insufficient cpu, 3 another reason",
        ),
    ],
)
def test_a_schedulers_reasons_are_kept_with_names_and_amounts_alone(told: str, kept: str) -> None:
    assert own_reasons(told) == kept
    assert own_reasons(kept) == kept


def test_a_broken_configuration_is_as_broken_in_it(read_text: Callable[..., Dump]) -> None:
    config = {**obj("ConfigMap", "broken", "kube-system"), "data": {"a": BROKEN}}
    (again,) = read_text(encoded(read_text(listing(NODE, config)), own_reasons)).objects[1:]
    assert isinstance(again, ConfigMap)
    assert configuration_keys(again.data) == ("a",)
    with pytest.raises(SchedError):
        parsed(again.data["a"], "a")


@pytest.mark.parametrize("name", [["NodeAffinity"], {"a": 1}, 7])
def test_a_plugin_whose_name_is_no_text_is_as_broken_in_it(read_text: Callable[..., Dump], name: Any) -> None:
    version = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    config = {**version, "profiles": [{"pluginConfig": [{"name": name, "args": {"password": SECRET}}]}]}
    data = encoded(read_text(listing(NODE, config)), own_reasons)
    assert SECRET.encode() not in data
    with pytest.raises(SchedError, match=r"name: expected a string"):
        load_configuration(read_text(data).scheduler_configuration)


@pytest.mark.parametrize(
    "message",
    [
        "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint {dedicated: gpu}.",
        "0/1 nodes are available: 1 Too many pods. preemption: not eligible due to preemptionPolicy=Never.",
        "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
    ],
)
def test_a_message_of_the_scheduler_itself_stays_as_it_is(message: str) -> None:
    assert own_reasons(message) == message


def test_the_file_is_its_owners_alone_and_a_link_is_not_followed(
    read_text: Callable[..., Dump], tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.write_text("untouched")
    path = tmp_path / "s.json"
    path.symlink_to(other)
    write_snapshot(read_text(listing(NODE)), str(path), own_reasons)
    assert other.read_text() == "untouched"
    assert not path.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o600
    assert not [each for each in tmp_path.iterdir() if each.name.startswith(".s.json")]


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        (REJECTED, REJECTED),
        ("The node had condition: [MemoryPressure].", "The node had condition: [MemoryPressure]."),
        ("The node was low on resource: memory. Own words", "The node was low on resource: memory. (left out)"),
        ("Own words", "message left out"),
    ],
)
def test_of_why_a_pod_ended_the_kubelets_own_words_stay(told: str, kept: str) -> None:
    assert kept_message("Pod", told) == kept
