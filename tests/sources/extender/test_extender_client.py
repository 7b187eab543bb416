"""Extenders are asked over HTTP as kube-scheduler asks them, and what they say counts."""

from __future__ import annotations

import base64
import json
import ssl
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from kubectl_sched.api.pod import Pod
from kubectl_sched.cli.app import app
from kubectl_sched.config import KubeVersion, load_configuration
from kubectl_sched.errors import SchedError
from kubectl_sched.queries.explanation import Explanation
from kubectl_sched.render.answers.explanation_data import explanation_data
from kubectl_sched.render.sentences.headline import decision
from kubectl_sched.sources.discovery.replay_setup import scheduler_for
from kubectl_sched.sources.dump.full_objects import whole_objects
from kubectl_sched.sources.dump.reader import read
from kubectl_sched.sources.extender.extender_client import HTTPExtenders
from tests.sources.extender.extender_server import ExtenderServer, extender_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kubectl_sched.scheduler.result import ScheduleResult

Json = dict[str, Any]

REFUSED = "the extender at http://127.0.0.1:1/f cannot be asked: connection refused"
NO_ADDRESS = "the extender's urlPrefix is no URL that begins with http:// or https:// and names a host"
HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def cluster(nodes: int = 8, *, priority: int = 0, cpu: str = "1", full: bool = False) -> list[Json]:
    """Nodes n1, n2, ... and the pending pod `web`; where they are full, each has one pod of low priority."""
    objects: list[Json] = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"n{index}", "annotations": {"rack": str(index)}},
            "status": {
                "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"},
                "images": [{"names": ["app:1"], "sizeBytes": 900_000_000}] if index % 3 == 0 else [],
            },
        }
        for index in range(1, nodes + 1)
    ]
    if full:
        objects += [pod(f"old-{index}", "3", on=f"n{index}") for index in range(1, nodes + 1)]
    else:
        objects += [pod("old", "2", on="n2")]
    return [*objects, pod("web", cpu, priority=priority)]


def pod(name: str, cpu: str, *, on: str = "", priority: int = 0) -> Json:
    resources = {"requests": {"cpu": cpu, "memory": "1Gi"}}
    spec = {
        "schedulerName": "default-scheduler",
        "containers": [{"name": "c", "image": "app:1", "resources": resources}],
        "nodeName": on,
        "priority": priority,
    }
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}", "annotations": {"team": "a"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def extender(url: str, **fields: Any) -> str:
    return HEAD + yaml.safe_dump({"extenders": [{"urlPrefix": url, "weight": 2, **fields}]})


def loud_then_alone(url: str) -> str:
    """Two extenders: the first names a further node if asked about one, and the second fails then."""
    one = {"urlPrefix": url, "nodeCacheCapable": True}
    return HEAD + yaml.safe_dump({"extenders": [{**one, "filterVerb": verb} for verb in ("loud", "alone")]})


def replay(config: str, objects: list[Json], folder: Path, version: str = "1.36") -> ScheduleResult:
    """The explanation of `web`, extenders asked."""
    path = folder / "dump.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    dump = read([str(path)])
    configuration = load_configuration(yaml.safe_load(config), KubeVersion.parse(version))
    scheduler, _ = scheduler_for(dump, configuration, HTTPExtenders(lambda: whole_objects([str(path)])))
    return scheduler.schedule_one(
        next(item for item in dump.objects if isinstance(item, Pod) and item.key == "default/web")
    )


@pytest.fixture
def server() -> Iterator[ExtenderServer]:
    with extender_server() as running:
        yield running


def verdicts(result: ScheduleResult) -> dict[str, tuple[str, tuple[str, ...]]]:
    assert result.verdict is not None
    told = zip(result.nodes.names, result.verdict, strict=True)
    return {name: (status.code.value, status.reasons) for name, status in told if not status.is_success}


def test_what_an_extender_says_of_the_nominated_node_stands_outside_what_pre_filter_leaves(
    server: ExtenderServer, tmp_path: Path
) -> None:
    objects = cluster(4)
    web = objects[-1]
    only = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n3"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [only]}}
    web["spec"]["affinity"] = {"nodeAffinity": required}
    web["status"] = {"nominatedNodeName": "n1"}
    off = yaml.safe_dump({"profiles": [{"plugins": {"filter": {"disabled": [{"name": "NodeAffinity"}]}}}]})
    result = replay(extender(server.url, filterVerb="filter") + off, objects, tmp_path)
    left_out = "1 node(s) didn't satisfy plugin(s) [NodeAffinity]"
    assert (result.message or "").startswith(f"0/4 nodes are available: 1 it is seven, {left_out}, 2 it is odd.")


def test_what_an_extender_says_stays_although_a_later_one_fails_about_the_nominated_node(
    server: ExtenderServer, tmp_path: Path
) -> None:
    objects = cluster(4)
    objects[-1]["status"] = {"nominatedNodeName": "n1"}
    result = replay(loud_then_alone(server.url), objects, tmp_path)
    assert (result.message or "").startswith("0/4 nodes are available: 1 it is gone.")


@pytest.mark.parametrize(
    ("verb", "narrowed", "says"),
    [
        ("nowhere", False, "1 it is gone, 1 it is lost, 1 it is odd"),
        ("nowhere", True, "1 it is gone, 1 it is lost, 1 it is odd, 1 node(s) didn't satisfy plugin(s) [NodeAffinity]"),
        ("nothing", True, "4 node(s) didn't satisfy plugin(s) [NodeAffinity]"),
    ],
)
def test_nodes_that_are_not_there_count_before_those_of_which_nothing_is_said(
    verb: str, narrowed: bool, says: str, server: ExtenderServer, tmp_path: Path
) -> None:
    objects = cluster(4)
    if narrowed:
        only = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n3"]}]}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [only]}}
        objects[-1]["spec"]["affinity"] = {"nodeAffinity": required}
    result = replay(extender(server.url, filterVerb=verb, nodeCacheCapable=True), objects, tmp_path)
    assert result.message == f"0/4 nodes are available: {says}."


@pytest.mark.parametrize("caches", [True, False])
def test_an_extender_filters(caches: bool, server: ExtenderServer, tmp_path: Path) -> None:
    result = replay(extender(server.url, filterVerb="filter", nodeCacheCapable=caches), cluster(), tmp_path)
    assert [result.nodes.names[row] for row in result.feasible] == ["n2", "n4", "n6", "n8"]
    assert verdicts(result) == {
        "n1": ("Unschedulable", ("it is odd",)),
        "n3": ("Unschedulable", ("it is odd",)),
        "n5": ("UnschedulableAndUnresolvable", ()),
        "n7": ("UnschedulableAndUnresolvable", ("it is seven",)),
    }
    assert explanation_data(Explanation(result=result), decision(result))["nodes"][0]["filter"]["plugin"] is None


@pytest.mark.parametrize("caches", [True, False])
def test_it_is_sent_whole_objects_or_names(caches: bool, server: ExtenderServer, tmp_path: Path) -> None:
    replay(extender(server.url, filterVerb="filter", nodeCacheCapable=caches), cluster(2), tmp_path)
    ((_, body),) = server.asked
    assert body["Pod"]["metadata"]["annotations"] == {"team": "a"}
    assert "nodeName" not in body["Pod"]["spec"]
    assert body["NodeNames"] == (["n1", "n2"] if caches else None)
    if not caches:
        assert [item["metadata"]["annotations"] for item in body["Nodes"]["items"]] == [{"rack": "1"}, {"rack": "2"}]


def test_scores_count_ten_times_their_weight(server: ExtenderServer, tmp_path: Path) -> None:
    config = extender(server.url, prioritizeVerb="prioritize", nodeCacheCapable=True)
    result = replay(config, cluster(), tmp_path)
    (own,) = [each for each in result.scores if each.plugin == server.url]
    assert own.raw.tolist() == [1, 2, 3, 4, 0, 1, 2, 3]
    assert own.weighted.tolist() == [20, 40, 60, 80, 0, 20, 40, 60]
    assert result.best == ("n4",)


def test_a_node_that_is_sent_back_is_scored_as_if_nothing_ran_on_it(server: ExtenderServer, tmp_path: Path) -> None:
    kept, sent = (
        replay(extender(server.url, filterVerb="filter", nodeCacheCapable=caches), cluster(), tmp_path)
        for caches in (True, False)
    )
    assert kept.best == ("n6",)
    assert sent.best == ("n2", "n4", "n6", "n8")


@pytest.mark.parametrize(
    ("verb", "says"),
    [
        ("broken", "failed broken with extender at URL {url}/broken, code 500"),
        ("refuse", "it will not"),
        ("silent", "its answer is empty"),
        ("stranger", 'extender "{url}" claims a filtered node "elsewhere" which is not found in the input node list'),
        ("number", "its answer cannot be read: it is a number, not an object"),
        (
            "number-of-names",
            "its answer cannot be read: NodeNames is a number, not a list",
        ),
        (
            "number-of-errors",
            "its answer cannot be read: Error is a number, not a string",
        ),
        (
            "number-failed",
            "its answer cannot be read: FailedNodes is a number, not a string",
        ),
        (
            "no-quantity",
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
        ("page", "its answer is no JSON from character 1 on"),
        ("cut", "its answer is no JSON from character 20 on"),
        ("latin-1", "\ufffd"),
        ("drop-by-drop", "the extender at {url}/drop-by-drop did not answer within 0.2 s"),
        ("slow", "the extender at {url}/slow did not answer within 0.2 s"),
    ],
)
def test_a_failure_fails_the_cycle_unless_it_may_be_ignored(
    verb: str, says: str, server: ExtenderServer, tmp_path: Path
) -> None:
    patience = "200ms" if verb in {"slow", "drop-by-drop"} else "1m"
    fields = {"filterVerb": verb, "nodeCacheCapable": True, "httpTimeout": patience}
    failed = replay(extender(server.url, **fields), cluster(), tmp_path)
    assert (failed.outcome.value, failed.error) == ("Error", says.format(url=server.url))
    ignored = replay(extender(server.url, **fields, ignorable=True), cluster(), tmp_path)
    assert len(ignored.feasible) == 8


def test_a_node_that_is_sent_back_as_none_fails_the_cycle(server: ExtenderServer, tmp_path: Path) -> None:
    result = replay(extender(server.url, filterVerb="nameless"), cluster(2), tmp_path)
    assert result.error == "its answer cannot be read: Nodes.items.metadata is a number, not an object"


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("http://127.0.0.1:1", REFUSED),
        ("http://u:p@127.0.0.1:1", REFUSED),
        ("http://only-a-token@127.0.0.1:1", REFUSED),
        ("", NO_ADDRESS),
        ("file:///etc", NO_ADDRESS),
        ("127.0.0.1:1", NO_ADDRESS),
        ("http:///x", NO_ADDRESS),
        ("http://u:p@[x", "the extender's urlPrefix is no URL"),
        ("http://u:p@host:port", "the extender's urlPrefix is no URL"),
    ],
)
def test_an_address_that_leads_nowhere_fails_the_cycle(url: str, says: str, tmp_path: Path) -> None:
    assert replay(extender(url, filterVerb="f"), cluster(2), tmp_path).error == says


@pytest.mark.parametrize("verb", ["trailing", "short", "twice"])
def test_of_an_answer_the_first_value_counts(verb: str, server: ExtenderServer, tmp_path: Path) -> None:
    result = replay(extender(server.url, filterVerb=verb, nodeCacheCapable=True), cluster(), tmp_path)
    assert [result.nodes.names[row] for row in result.feasible] == ["n2"]


def test_an_answer_larger_than_any_is_not_taken_in(server: ExtenderServer, tmp_path: Path) -> None:
    asked = extender(server.url, filterVerb="huge", nodeCacheCapable=True, httpTimeout="60s")
    said = replay(asked, cluster(2), tmp_path).error
    assert said == f"the extender at {server.url}/huge gives an answer of over 64 MiB"


def test_one_that_has_moved_is_asked_again(server: ExtenderServer, tmp_path: Path) -> None:
    result = replay(extender(server.url, filterVerb="moved", nodeCacheCapable=True), cluster(), tmp_path)
    assert len(result.feasible) == 4
    (first, second) = server.asked
    assert (first[0], second[0]) == ("moved", "filter")
    assert first[1] == second[1]


@pytest.mark.parametrize(("moved_to", "asked"), [("/scheduler/moved", 10), ("ftp://localhost/x", 1)])
def test_one_that_sends_nowhere_is_given_up(moved_to: str, asked: int, server: ExtenderServer, tmp_path: Path) -> None:
    server.moved_to = moved_to
    result = replay(extender(server.url, filterVerb="moved", nodeCacheCapable=True), cluster(), tmp_path)
    assert (
        result.error == f"the extender at {server.url}/moved cannot be asked, or sends elsewhere to what is no address"
    )
    assert len(server.asked) == asked


@pytest.mark.parametrize("moved", ["moved", "moved-for-a-get"])
@pytest.mark.parametrize("elsewhere", [True, False])
def test_credentials_go_to_the_host_that_they_are_for(
    moved: str, elsewhere: bool, server: ExtenderServer, tmp_path: Path
) -> None:
    host = "127.0.0.1" if elsewhere else "localhost"
    server.moved_to = f"http://{host}:{server.server_port}/scheduler/filter"
    url = server.url.replace("//", "//me:hunter2@")
    replay(extender(url, filterVerb=moved, nodeCacheCapable=True), cluster(), tmp_path)
    basic = f"Basic {base64.b64encode(b'me:hunter2').decode()}"
    assert server.authorizations == [basic, None if elsewhere else basic]


@pytest.mark.parametrize("verb", ["broken", "stranger", "slow", "page", "filter"])
def test_no_message_holds_a_password(verb: str, server: ExtenderServer, tmp_path: Path) -> None:
    url = f"{server.url.replace('//', '//me:hunter2@')}"
    config = extender(url, filterVerb=verb, nodeCacheCapable=True, httpTimeout="300ms", prioritizeVerb="prioritize")
    told = explanation_data(Explanation(result=replay(config, cluster(), tmp_path)), "", evidence=lambda _: True)
    assert "hunter2" not in json.dumps(told)


def test_no_proxy_is_asked_for_this_machine(
    server: ExtenderServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    result = replay(extender(server.url, filterVerb="filter", nodeCacheCapable=True), cluster(), tmp_path)
    assert len(result.feasible) == 4


def test_one_that_names_no_nodes_leaves_none(server: ExtenderServer, tmp_path: Path) -> None:
    result = replay(extender(server.url, filterVerb="nothing", nodeCacheCapable=True), cluster(2), tmp_path)
    assert result.message == "0/2 nodes are available:"


def test_a_score_of_nothing_is_passed_over(server: ExtenderServer, tmp_path: Path) -> None:
    result = replay(extender(server.url, prioritizeVerb="nulls"), cluster(2), tmp_path)
    assert [each.raw.tolist() for each in result.scores if each.plugin == server.url] == [[10, 0]]


def test_scores_wrap_around(server: ExtenderServer, tmp_path: Path) -> None:
    result = replay(extender(server.url, prioritizeVerb="overflow"), cluster(2), tmp_path)
    (own,) = [each for each in result.scores if each.plugin == server.url]
    assert own.raw.tolist() == [1 - 2**63, 1]
    assert own.weighted.tolist() == [20, 20]


@pytest.mark.parametrize("verb", ["broken", "number", "scores", "fraction"])
def test_a_failure_to_score_gives_no_points(verb: str, server: ExtenderServer, tmp_path: Path) -> None:
    result = replay(extender(server.url, prioritizeVerb=verb), cluster(), tmp_path)
    assert result.fits
    assert server.url not in {each.plugin for each in result.scores}


@pytest.mark.parametrize(("managed", "asked"), [("example.com/foo", 0), ("example.com/bar", 1)])
def test_only_a_pod_that_wants_a_managed_resource_concerns_it(
    managed: str, asked: int, server: ExtenderServer, tmp_path: Path
) -> None:
    config = extender(server.url, filterVerb="filter", managedResources=[{"name": managed}])
    objects = cluster()
    objects[-1]["spec"]["containers"][0]["resources"]["limits"] = {"example.com/bar": "1"}
    replay(config, objects, tmp_path)
    assert len(server.asked) == asked


@pytest.mark.parametrize("caches", [True, False])
def test_preemption_is_left_to_it(caches: bool, server: ExtenderServer, tmp_path: Path) -> None:
    objects = cluster(4, full=True, priority=1000, cpu="2")
    result = replay(extender(server.url, preemptVerb="preempt", nodeCacheCapable=caches), objects, tmp_path)
    assert result.post_filter is not None
    assert result.post_filter.nominated_node == "n4"
    assert [victim.metadata.name for victim in result.post_filter.victims] == ["old-4"]


def test_a_failing_preemption_is_an_error(server: ExtenderServer, tmp_path: Path) -> None:
    objects = cluster(4, full=True, priority=1000, cpu="2")
    result = replay(extender(server.url, preemptVerb="broken"), objects, tmp_path)
    assert result.post_filter is not None
    assert result.post_filter.status.message == (
        f"preemption: failed broken with extender at URL {server.url}/broken, code 500"
    )


def test_victims_that_cannot_be_read_are_an_error(server: ExtenderServer, tmp_path: Path) -> None:
    objects = cluster(4, full=True, priority=1000, cpu="2")
    result = replay(extender(server.url, preemptVerb="victims"), objects, tmp_path)
    assert result.post_filter is not None
    assert result.post_filter.status.message == (
        "preemption: its answer cannot be read: NodeNameToMetaVictims.Pods is a number, not a list"
    )


@pytest.mark.parametrize(
    ("fields", "trusts"),
    [
        ({"enableHTTPS": True}, True),
        ({}, False),
        ({"tlsConfig": {"insecure": True}}, True),
        ({"enableHTTPS": True, "tlsConfig": {"caFile": "CERT"}}, True),
        ({"enableHTTPS": True, "tlsConfig": {"caData": "DATA"}}, True),
        ({"enableHTTPS": True, "tlsConfig": {"caFile": "CERT", "serverName": "elsewhere"}}, False),
        ({"enableHTTPS": True, "tlsConfig": {"caFile": "CERT", "certFile": "CERT", "keyFile": "KEY"}}, True),
        ({"enableHTTPS": True, "tlsConfig": {"caData": "DATA", "certData": "DATA", "keyData": "KEYDATA"}}, True),
    ],
)
def test_tls_is_as_configured(fields: Json, trusts: bool, certificate: tuple[Path, Path], tmp_path: Path) -> None:
    certificate_file, key_file = certificate
    values = {
        "CERT": str(certificate_file),
        "KEY": str(key_file),
        "DATA": base64.b64encode(certificate_file.read_bytes()).decode(),
        "KEYDATA": base64.b64encode(key_file.read_bytes()).decode(),
    }
    tls = {name: values.get(value, value) for name, value in fields.get("tlsConfig", {}).items()}
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate_file, key_file)
    with extender_server(context) as server:
        config = extender(server.url, filterVerb="filter", **{**fields, "tlsConfig": tls})
        result = replay(config, cluster(), tmp_path)
    assert (result.error is None) is trusts
    assert trusts or "certificate that cannot be verified" in (result.error or "")


def test_extenders_are_named_and_left_alone_unless_told_otherwise(
    server: ExtenderServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dump, config = tmp_path / "dump.json", tmp_path / "config.yaml"
    dump.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": cluster()}))
    config.write_text(extender(server.url, filterVerb="filter"))
    flags = ["explain", "web", "--from", str(dump), "--config", str(config), "-o", "json"]
    with pytest.raises(SystemExit):
        app(flags, standalone_mode=False)
    data = json.loads(capsys.readouterr().out)
    assert server.asked == []
    assert (
        f"extenders are not asked in a replay, so what they would filter and score is not shown: {server.url}"
        in (data["warnings"])
    )
    with pytest.raises(SystemExit):
        app([*flags, "--call-extenders"], standalone_mode=False)
    assert len(json.loads(capsys.readouterr().out)["feasible"]) == 4
    assert [verb for verb, _ in server.asked] == ["filter"]


def test_only_a_configuration_that_was_named_is_called(tmp_path: Path) -> None:
    with pytest.raises(SchedError, match="needs --config"):
        app(["explain", "web", "--from", str(tmp_path), "--call-extenders"], standalone_mode=False)
