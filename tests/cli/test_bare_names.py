"""Lines without a command, names that are looked up, and the flags that kubectl has."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kubectl_sched.__main__ import main
from tests import program

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., tuple[int, str, str]]

Json = dict[str, Any]


def made(kind: str, name: str, namespace: str = "", owner: tuple[str, str] | None = None, **fields: Any) -> Json:
    metadata: Json = {"name": name, **({"namespace": namespace} if namespace else {})}
    if owner is not None:
        kind_of, name_of = owner
        metadata["ownerReferences"] = [
            {"apiVersion": "apps/v1", "kind": kind_of, "name": name_of, "uid": name_of, "controller": True}
        ]
        metadata["labels"] = {"pod-template-hash": name_of.rpartition("-")[2]}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, **fields}


def pod(name: str, namespace: str = "default", owner: tuple[str, str] | None = None) -> Json:
    container = {"name": "c", "resources": {"requests": {"cpu": "1"}}}
    return made("Pod", name, namespace, owner, spec={"containers": [container]})


CLUSTER = [
    made("Node", "n1", status={"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}),
    pod("db-0"),
    pod("web-1"),
    pod("web-10"),
    pod("cart-7d9f-aaaaa", "shop", ("ReplicaSet", "cart-7d9f")),
    pod("cart-7d9f-bbbbb", "shop", ("ReplicaSet", "cart-7d9f")),
    pod("twin-0", "shop"),
    pod("twin-0", "team"),
    pod("bind", "shop"),
    made("ResourceQuota", "few", "full", spec={"hard": {"pods": "1"}}),
    *(made("Namespace", name) for name in ("default", "shop", "team", "full")),
]


def manifest(replicas: int, namespace: str = "default", **spec: Any) -> Json:
    labels = {"app": "api"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "c"}], **spec}}
    wanted = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {**made("Deployment", "api", namespace), "apiVersion": "apps/v1", "spec": wanted}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the program in a folder with a dump and manifests."""
    files = {
        "dump": {"apiVersion": "v1", "kind": "List", "items": CLUSTER},
        "misspelt": manifest(1, nodeSelectr={"a": "b"}),
        "five": manifest(5, "full"),
        "one": manifest(1, nodeSelector={"pool": "none"}),
    }
    for name, content in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    monkeypatch.chdir(tmp_path)

    def ran(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["kubectl-sched", *arguments, "--from", "dump.json"])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0), *capsys.readouterr()

    return ran


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("db-0", "default/db-0: "),
        ("pod db-0", "default/db-0: "),
        ("pod/db-0", "default/db-0: "),
        ("db", "default/db-0: "),
        ("web-1", "default/web-1: "),
        ("-n shop twin-0", "shop/twin-0: "),
        ("explain pod bind", "shop/bind: "),
        ("pod/bind", "shop/bind: "),
    ],
)
def test_a_name_alone_is_explained(run: Run, line: str, first: str) -> None:
    code, out, _ = run(*line.split())
    assert (code, out.splitlines()[0].startswith(first)) == (0, True)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("explain db-0 --node=n1 --from=-", 0),
        ("explain node n1 --from=-", 0),
        ("drain n1 --from=-", 0),
        ("whatif --drain=n1 --from=-", 0),
        ("drain n --from=-", 2),
    ],
)
def test_a_node_needs_no_domain(line: str, code: int) -> None:
    whole = json.dumps({"apiVersion": "v1", "kind": "List", "items": CLUSTER}).replace('"n1"', '"n1.example.internal"')
    done = program.run(*line.split(), stdin=whole)
    assert (done.returncode, "n1.example.internal" in done.stdout) == (code, code == 0)


@pytest.mark.parametrize("line", ["cart", "deploy/cart", "explain cart", "car", "cart-7d9f -n shop", "explain cart -A"])
def test_a_name_of_a_workload_is_all_of_its_pods(run: Run, line: str) -> None:
    code, out, _ = run(*line.split(), "-o", "json")
    assert [item["pod"]["name"] for item in json.loads(out)["items"]] == ["cart-7d9f-aaaaa", "cart-7d9f-bbbbb"]
    assert code == 0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("twin-0", "twin-0 may be one of 2: pod/twin-0 -n shop, pod/twin-0 -n team"),
        ("web", "web may be one of 2: pod/web-1 -n default, pod/web-10 -n default"),
        ("cart -n default", "there is no pod cart in namespace default"),
        ("capcity", "did you mean capacity?"),
        ("snap", "did you mean snapshot?"),
        ("get pods", 'unknown command "get"'),
        ("pod db-0 -o jsonpath={.outcome}", "-o json | jq '.outcome'"),
        ("pod db-0 -o jsonpath-as-json={.nodes[*].name}", "-o json | jq '.nodes[].name'"),
        ("capacity --output=custom-columns=A:.a", "-o json | jq"),
        ("capacity -ogo-template={{.a}}", "-o json | jq"),
        ("whatif misspelt.json", '"spec.template.spec.nodeSelectr" (is it nodeSelector?)'),
        ("explain -f misspelt.json", '"spec.template.spec.nodeSelectr" (is it nodeSelector?)'),
        ("explain db-0 -f one.json", "-f explains the pods of a manifest"),
    ],
)
def test_what_is_refused_says_the_way_round(run: Run, line: str, said: str) -> None:
    code, out, err = run(*line.split())
    assert (code, out) == (2, "")
    assert said in err


TEMPLATES = ("jsonpath={.a}", "jsonpath-as-json={.a}", "go-template={{.a}}", "custom-columns=A:.a")


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize(
    "line",
    [
        *("", "db-0", "pod db-0", "triage", "explain db-0", "explain node n1", "message TooManyPods"),
        *("whatif one.json", "drain n1", "capacity", "bind pod db-0", "diff", "profiles", "schedulers", "version"),
    ],
)
def test_every_command_refuses_templates_with_the_way_round(run: Run, line: str, template: str) -> None:
    code, out, err = run(*line.split(), "-o", template)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: there is no -o {template.partition('=')[0]}; jq does it: -o json | jq ")


def test_a_near_miss_of_a_command_is_refused_before_anything_is_read(run: Run) -> None:
    assert run("capcity", "--from", "missing.json")[2] == run("capcity")[2]


@pytest.mark.parametrize("line", ["triage", "explain db-0", "capacity", "schedulers", "whatif one.json"])
def test_all_namespaces_are_accepted(run: Run, line: str) -> None:
    assert run(*line.split(), "-A")[0] in {0, 1}


def test_a_manifest_is_explained(run: Run) -> None:
    code, out, _ = run("explain", "-f", "one.json")
    assert code == 1
    assert out.splitlines()[0] == "default/api-0: no node has pool=none; none has label pool."


def test_a_quota_is_an_answer(run: Run) -> None:
    code, out, _ = run("whatif", "five.json")
    first, *_ = out.splitlines()
    assert code == 1
    assert first.startswith("1 of 5 pods would be placed, on 1 node; 4 would never be created: exceeded quota: few")


def test_why_no_more_fit_is_in_the_first_line(run: Run) -> None:
    code, out, _ = run("whatif", "five.json", "--replicas", "max")
    assert code == 0
    assert out.splitlines()[0].startswith("1 pod would fit, on 1 node; one more does not: ")


def test_unknown_fields_may_pass(run: Run) -> None:
    code, _, _ = run("whatif", "misspelt.json", "--validate", "warn")
    assert code == 0
