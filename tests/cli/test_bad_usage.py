"""Mistakes on the command line and in dumps: one sentence, and the right exit code."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from kubectl_sched.__main__ import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Json = dict[str, Any]


class Answer(NamedTuple):
    code: int
    out: str
    err: str


def obj(kind: str, name: str, namespace: str = "", **fields: Any) -> Json:
    metadata: Json = {"name": name, "labels": {"app": name.partition("-")[0]}}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, **fields}


def node(name: str, cpu: str = "4") -> Json:
    return obj("Node", name, status={"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "10"}})


def pod(name: str, namespace: str = "default", **spec: Any) -> Json:
    return obj("Pod", name, namespace, spec={"containers": [{"name": "c"}], **spec})


def asking(cpu: str) -> list[Json]:
    return [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]


CLUSTER = [
    node("w1"),
    node("w2"),
    node("w3", cpu="4x"),
    pod("web-0"),
    pod("web-1", "shop"),
    pod("db-0", nodeName="w1"),
    pod("lost-0", nodeName="gone"),
    pod("wide-0", containers=asking("9" * 60)),
    pod("k-0", containers=asking("64K")),
    pod("urgent-0", priority=10**20),
    pod("large-0", nodeSelector={"a": "b"}),
]


@pytest.fixture
def kubectl_sched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Answer]:
    """Runs the program in a folder with `dump.json`."""
    (tmp_path / "dump.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": CLUSTER}, indent=1))
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Answer:
        monkeypatch.setattr(sys, "argv", ["kubectl-sched", *arguments])
        code: Any = 0
        try:
            main()
        except SystemExit as ended:
            code = ended.code or 0
        out, err = capsys.readouterr()
        return Answer(code, out, err)

    return run


@pytest.mark.parametrize(
    ("command", "reads_dumps"),
    [
        (("explain", "web-0"), True),
        (("whatif", "dump.json"), True),
        (("capacity",), True),
        (("bind", "pod", "web-0"), False),
        (("bind", "--watch", "--yes", "--scheduler-name", "mine"), False),
    ],
)
def test_without_a_cluster_only_commands_that_read_dumps_advise_one(
    kubectl_sched: Callable[..., Answer],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    command: tuple[str, ...],
    *,
    reads_dumps: bool,
) -> None:
    for variable in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    answer = kubectl_sched(*command)
    assert answer.code == 3
    assert answer.err.startswith("error: no cluster is configured (looked at ")
    assert answer.err.endswith(", or a dump with --from\n") is reads_dumps


@pytest.mark.parametrize(
    ("arguments", "nodes"),
    [
        ("explain pod web-0", 1),
        ("explain web-0", 1),
        ("explain pod/web-0", 1),
        ("explain pods web-0 db-0", 2),
        ("explain pods web-0 web-0", 1),
        ("explain web-0,db-0", 2),
        ("explain pods web-0,db-0", 2),
        ("explain pod web-1 -n shop", 1),
        ("explain -nshop web-1", 1),
        ("-n shop explain pod web-1", 1),
        ("--namespace=shop explain web-1", 1),
        ("-A explain pods web-1", 1),
        ("explain pods -l app=web", 1),
        ("-A explain pods -l app=web", 2),
        ("explain pods -l app=nothing", 0),
        ("explain pods --pending -n shop", 1),
        ("explain pods db-0 --pending", 0),
        ("explain pods lost-0", 1),
    ],
)
def test_pods_are_named_as_in_kubectl(kubectl_sched: Callable[..., Answer], arguments: str, nodes: int) -> None:
    answer = kubectl_sched(*arguments.split(), "--from", "dump.json", "-o", "name", "--kube-version", "1.36")
    assert answer.code == 0
    assert answer.out.count("node/w") >= nodes
    assert bool(answer.out) == bool(nodes)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("pod web-O", "there is no pod web-O in namespace default; near it: web-0"),
        ("pod web-1 -n default", "there is one in shop (-n shop)"),
        ("x y", "there is no pod x in namespace default"),
        ("pod/", "the name is missing"),
        ("web-0,", "the name is missing"),
        ("node w9", "explain node: no node matches w9; near it: w1, w2, w3"),
        ("service/x", "'service' is no kind whose pods can be explained; name a pod or a workload; if it is a"),
        ("service/x", "if it is a namespace, write x -n service"),
        ("deployment/web", "no pod in namespace default belongs to Deployment web"),
        ("deployment", "for the pods of a workload name it, as in deployment/web"),
        ("pod x -n shop", "there is no pod x in namespace shop, which has 1 pod; another"),
        ("pod x -n none", "there is no pod x in namespace none, which has none; another"),
        ("web-0 --node=", "Invalid value for '--node': it is given an empty name"),
        ("web-0 --profile=", "Invalid value for '--profile': it is given an empty name"),
        ("web-0 --config=", "Invalid value for '--config': it is given an empty name"),
        ("web-0 -l app=web", "names and --selector exclude each other"),
        ("-l app=(", "unable to parse"),
        ("pod k-0", "pod default/k-0: cpu: '64K' is not a quantity"),
        ("pod urgent-0", "Pod default/urgent-0 was skipped: spec.priority: "),
        ("-A pod urgent-0", "Pod default/urgent-0 was skipped: spec.priority"),
        ("web-0 --node w9", "there is no node w9"),
        ("-l nope=x --node w9", "there is no node w9"),
        ("web-0 --kube-version=", "'' is not a Kubernetes version; write it as "),
        ("web-0 --profile nope", "--profile nope: the configuration has only default-scheduler"),
        ("web-0 --kube-version abc", "'abc' is not a Kubernetes version"),
        ("web-0 --feature-gates Nope=true", "unrecognized feature gate: Nope"),
        ("web-0 --feature-gates DynamicResourceAllocation", "missing bool value"),
        ("web-0 --feature-gates Nope=true --feature-gates AllAlpha=false", "unrecognized feature gate: Nope"),
        ("web-0 --config nothing.yaml", "--config nothing.yaml: No such file"),
        ("web-0 --config dump.json", "List of v1 is no configuration"),
        ("web-0 --from=", "--from is given an empty path"),
        ("web-0 --from nothing.json", "nothing.json: no such file"),
        ("web-0 --from /proc/self/mem", "/proc/self/mem: it cannot be read"),
        ("web-0 --token x", "--token is about a running cluster"),
        ("web-0 --start-index 9", "--start-index 9: there are 2 nodes"),
        ("web-0 -o nonsense", "Invalid value for '--output'"),
        ("web-0 --nonsense", "No such option: --nonsense"),
    ],
)
def test_what_is_wrong_is_one_sentence(kubectl_sched: Callable[..., Answer], arguments: str, said: str) -> None:
    answer = kubectl_sched("explain", *arguments.split(), "--from", "dump.json")
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert answer.err.startswith(("error: ", "Usage: "))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("-n nothing", "such pods are in other namespaces (-A), such as default/web-0"),
        ("-l app=db -n shop pods", "1 such pod is in other namespaces (-A), such as default/db-0"),
        ("-l app=db --pending", "there is 1 pod, but it is not pending; pods are explained by name, too"),
    ],
)
def test_where_nothing_matches_it_says_what_is_there(
    kubectl_sched: Callable[..., Answer], arguments: str, said: str
) -> None:
    answer = kubectl_sched("explain", *arguments.split(), "--from", "dump.json")
    assert answer.code == 0
    assert answer.out.startswith(("no pods match\n", "nothing is pending\n"))
    assert "\n\nnote: " in answer.out
    assert said in answer.out


def test_a_dump_without_pods_is_told_that_it_needs_them(kubectl_sched: Callable[..., Answer], tmp_path: Path) -> None:
    (tmp_path / "nodes.json").write_text(json.dumps(node("w1")))
    assert "\nno pods at all were read" in kubectl_sched("explain", "--from", "nodes.json").out
    named = kubectl_sched("explain", "web-0", "--from", "nodes.json")
    assert (named.code, named.out) == (2, "")
    assert "there is no pod web-0 in namespace default: no pods at all were read" in named.err


@pytest.mark.parametrize(
    ("drained", "said"),
    [
        ("", "--drain: it names no node"),
        ("(zone=a", "--drain (zone=a: the parenthesis is not closed"),
    ],
)
def test_a_drain_of_no_node_is_refused(kubectl_sched: Callable[..., Answer], drained: str, said: str) -> None:
    answer = kubectl_sched("whatif", "--drain", drained, "--from", "dump.json")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"error: {said}")


@pytest.mark.parametrize("arguments", [["explain", "\x1b[31mx\n"], ["explain", "web-0", "--node", "\x1b[31mx"]])
def test_what_is_wrong_moves_no_cursor(kubectl_sched: Callable[..., Answer], arguments: list[str]) -> None:
    answer = kubectl_sched(*arguments, "--from", "dump.json")
    assert answer.code == 2
    assert "\\x1b[31mx" in answer.err
    assert "\x1b" not in answer.err


@pytest.mark.parametrize("output", ["json", "yaml", "name", "table", "wide"])
@pytest.mark.parametrize("pods", [["web-0"], ["web-0", "db-0"]])
def test_every_format_says_what_was_left_out(
    kubectl_sched: Callable[..., Answer], pods: list[str], output: str
) -> None:
    answer = kubectl_sched("explain", "pods", *pods, "--from", "dump.json", "-o", output)
    said = answer.out if output in {"json", "yaml"} else answer.err
    assert answer.code == 0
    assert "Pod default/urgent-0 was skipped" in " ".join(said.split())
    assert "node w3 is left out: " in " ".join(said.split())


def test_one_pod_that_cannot_be_read_does_not_keep_the_others_from_an_answer(
    kubectl_sched: Callable[..., Answer],
) -> None:
    said = "pod default/k-0 is left out: pod default/k-0: cpu: '64K' is not a quantity"
    listed = kubectl_sched("explain", "--pending", "--from", "dump.json")
    assert listed.code == 1
    assert "default/web-0  " in listed.out
    assert "default/k-0" not in listed.out
    assert said in listed.err
    compared = kubectl_sched("diff", "--to-kube-version", "1.35", "--from", "dump.json")
    assert compared.code == 0
    assert compared.out.startswith("6 pods compared")
    assert said in compared.err
    for command in (["explain", "k-0"], ["diff", "k-0", "--to-kube-version", "1.35"], ["explain", "-l", "app=k"]):
        refused = kubectl_sched(*command, "--from", "dump.json")
        assert (refused.code, refused.out) == (2, "")
        assert refused.err.startswith("error: pod default/k-0: cpu: '64K' is not a quantity")


def test_a_request_beyond_int64_is_no_trouble(kubectl_sched: Callable[..., Answer]) -> None:
    answer = kubectl_sched("explain", "wide-0", "--from", "dump.json", "-o", "json")
    assert answer.code == 1
    assert json.loads(answer.out)["nodes"][0]["filter"]["reasons"] == ["Insufficient cpu"]


def test_the_exit_code_with_a_node_is_that_nodes(kubectl_sched: Callable[..., Answer]) -> None:
    assert kubectl_sched("explain", "web-0", "--from", "dump.json", "--node", "w2").code == 0
    assert kubectl_sched("explain", "large-0", "--from", "dump.json", "--node", "w2").code == 1


@pytest.mark.parametrize(
    "arguments",
    [
        "explain web-0 --from - --from -",
        "diff --from - --to-dump -",
        "diff --from dump.json --config - --to-config -",
        "whatif - - --from dump.json",
        "whatif - --from -",
    ],
)
def test_standard_input_is_asked_for_once(
    kubectl_sched: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch, arguments: str
) -> None:
    piped = json.dumps(pod("new-0"))
    if "--config" in arguments:
        piped = '{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}'
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(piped.encode())))
    answer = kubectl_sched(*arguments.split())
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.endswith("standard input: - is given more than once, but it can be read only once; name a file\n")
    assert answer.err.count("\n") == 1
