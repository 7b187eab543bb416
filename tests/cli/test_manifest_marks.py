"""`explain -f`: the line of the manifest that keeps its pod out, with a mark under the field."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tests.program import run

DEMO = Path(__file__).parents[2] / "fixtures/demo"
SPEC = "containers: [{name: c, image: i}]"


def _pod(spec: str) -> str:
    lines = dedent(spec).strip().splitlines()
    start = "apiVersion: v1\nkind: Pod\nmetadata: {name: new, labels: {app: new}}\nspec:\n"
    return start + "".join(f"  {line}\n" for line in lines)


def _node(name: str, zone: str) -> dict[str, Any]:
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone}
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    status = {"allocatable": amounts, "capacity": amounts}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}


def _running(name: str, node: str, **container: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default", "labels": {"app": "new"}}
    spec = {"nodeName": node, "containers": [{"name": "c", "image": "i", **container}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": "Running"}}


def _zones() -> list[dict[str, Any]]:
    """Two zones of one node each: a has two pods, and b has another one and a taint."""
    busy = _running("busy", "b1", ports=[{"containerPort": 80, "hostPort": 80}])
    busy["metadata"]["labels"] = {"app": "busy"}
    served = _running("served", "a1", ports=[{"containerPort": 80, "hostPort": 80}])
    tainted = {**_node("b1", "b"), "spec": {"taints": [{"key": "own", "effect": "NoSchedule"}]}}
    claim = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "spec": {"devices": {}}}
    other = {**claim, "metadata": {"name": "other", "namespace": "default"}}
    return [_node("a1", "a"), tainted, other, served, _running("second", "a1"), busy]


def _marked(folder: Path, manifest: str, *flags: str, objects: Any = None, name: str = "new.yaml") -> list[str]:
    """Return the lines of the drawing in the answer about the manifest, without its folder."""
    (folder / name).write_text(manifest)
    source = DEMO
    if objects is not None:
        source = folder / "cluster.json"
        source.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    done = run("explain", "--from", str(source), "-f", name, *flags, folder=folder)
    assert done.returncode in {1, 2}, done.stderr
    lines = (done.stdout + done.stderr).splitlines()
    start = next((number for number, line in enumerate(lines) if line.lstrip().startswith("--> ")), len(lines))
    return [line for line in lines[start : start + 4] if line.lstrip().startswith(("--> ", "|", "= ")) or " | " in line]


CASES = {
    "a request": """
        containers:
        - name: small
          image: i
          resources: {requests: {cpu: 1}}
        - name: large
          image: i
          resources:
            requests:
              cpu: 1200  # millicores
        ---
        13 |         cpu: 1200  # millicores
           |         ^^^^^^^^^ the largest node it may use has 32
        """,
    "a label that no node has": """
        nodeSelector:
          pool: gpuu
        containers: [{name: c, image: i}]
        ---
        6 |     pool: gpuu
          |     ^^^^^^^^^^ no node has pool=gpuu
        """,
    "an expression": """
        affinity:
          nodeAffinity:
            requiredDuringSchedulingIgnoredDuringExecution:
              nodeSelectorTerms:
              - matchExpressions:
                - key: pool
                  operator: In
                  values: [gpuu]
        containers: [{name: c, image: i}]
        ---
        10 |           - key: pool
           |             ^^^^^^^^^ no node has pool=gpuu
        """,
    "a gate": """
        schedulingGates:
        - name: example.com/wait
        containers: [{name: c, image: i}]
        ---
        6 |   - name: example.com/wait
          |     ^^^^^^^^^^^^^^^^^^^^^^ kube-scheduler leaves the pod alone until this gate is lifted
        """,
    "a field that is one of several on its line": """
        containers: [{name: c, image: i, env: [{name: A, value: hunter2}], resources: {requests: {cpu: 999}}}]
        ---
        5 | … cpu: 999 …
          |   ^^^^^^^^ the largest node it may use has 32
        """,
}


@pytest.mark.parametrize("case", CASES)
def test_the_line_is_shown_with_a_mark_under_the_field(case: str, tmp_path: Path) -> None:
    spec, drawing = dedent(CASES[case]).strip().split("\n---\n")
    lines = "\n".join(_marked(tmp_path, _pod(spec)))
    assert drawing in lines
    assert "hunter2" not in lines
    assert "= help: " in lines


IN_ZONES = {
    "spread": """
        topologySpreadConstraints:
        - topologyKey: topology.kubernetes.io/zone
          maxSkew: 1
          whenUnsatisfiable: DoNotSchedule
          labelSelector: {matchLabels: {app: new}}
        containers: [{name: c, image: i}]
        ---
        7 |     maxSkew: 1
          |     ^^^^^^^^^^ b has 0, a has 2
        """,
    "a taint": """
        tolerations:
        - key: own
          value: other
        nodeSelector: {topology.kubernetes.io/zone: b}
        containers: [{name: c, image: i}]
        ---
        6 |   - key: own
          |     ^^^^^^^^ taint own:NoSchedule is not tolerated
        """,
    "a host port": """
        containers:
        - name: c
          image: i
          ports:
          - containerPort: 80
            hostPort: 80
        ---
        10 |       hostPort: 80
        """,
    "anti-affinity": """
        affinity:
          podAntiAffinity:
            requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: topology.kubernetes.io/zone
              labelSelector: {matchLabels: {app: new}}
        containers: [{name: c, image: i}]
        ---
        8 |       - topologyKey: topology.kubernetes.io/zone
        """,
    "a claim": """
        containers: [{name: c, image: i}]
        volumes:
        - name: data
          persistentVolumeClaim:
            claimName: data-gone
        ---
        9 |       claimName: data-gone
        """,
    "a ResourceClaim": """
        containers: [{name: c, image: i}]
        resourceClaims:
        - name: first
          resourceClaimName: other
        - name: gpu
          resourceClaimName: gone
        ---
        9 |   - name: gpu
          |     ^^^^^^^^^ could not find ResourceClaim "default/gone"
        """,
}


@pytest.mark.parametrize("case", IN_ZONES)
def test_the_field_of_the_plugin_that_decides_is_marked(case: str, tmp_path: Path) -> None:
    spec, drawing = dedent(IN_ZONES[case]).strip().split("\n---\n")
    drawn = "\n".join(_marked(tmp_path, _pod(spec), objects=_zones()))
    assert drawing in drawn
    assert "^^^" in drawn


def test_a_cordon_is_no_field_of_the_pod(tmp_path: Path) -> None:
    node = {**_node("a1", "a"), "spec": {"unschedulable": True}}
    assert _marked(tmp_path, _pod(SPEC), objects=[node]) == []


TEMPLATES = {
    "Deployment": ("apps/v1", "selector: {matchLabels: {app: new}}, template: "),
    "StatefulSet": ("apps/v1", "serviceName: s, selector: {matchLabels: {app: new}}, template: "),
    "Job": ("batch/v1", "template: "),
    "CronJob": ("batch/v1", "schedule: '* * * * *', jobTemplate: {spec: {template: "),
}


@pytest.mark.parametrize("kind", TEMPLATES)
def test_the_template_of_each_kind_is_looked_through_in_the_last_document(kind: str, tmp_path: Path) -> None:
    version, start = TEMPLATES[kind]
    restart = "restartPolicy: Never, " if "batch" in version else ""
    first = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: new}\n---\n"
    template = f"{{metadata: {{labels: {{app: new}}}}, spec: {{{restart}{SPEC}, nodeSelector: {{\n  pool: gpuu}}}}}}"
    spec = f"{{{start}{template}{'}}' if kind == 'CronJob' else ''}}}"
    drawn = _marked(tmp_path, f"{first}apiVersion: {version}\nkind: {kind}\nmetadata: {{name: new}}\nspec: {spec}\n")
    assert drawn[1:3] == [
        "9 |   pool: gpuu}}}}" + ("}}" if kind == "CronJob" else ""),
        "  |   ^^^^^^^^^^ no node has pool=gpuu",
    ]


def _answer(folder: Path, manifest: str, objects: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the JSON of `explain -f`."""
    (folder / "new.yaml").write_text(manifest)
    (folder / "cluster.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    done = run("explain", "--from", "cluster.json", "-f", "new.yaml", "-o", "json", folder=folder)
    assert done.returncode == 1, done.stderr
    data: dict[str, Any] = json.loads(done.stdout)
    return data


def test_json_says_where_the_field_is_and_what_is_wrong(tmp_path: Path) -> None:
    manifest = _pod("nodeSelector:\n  example.com/pool: gpuu\ncontainers: [{name: c, image: i}]")
    (mark,) = _answer(tmp_path, manifest, [_node("a1", "a")])["marks"]
    assert mark.pop("help").startswith("remove example.com/pool=gpuu from its nodeSelector")
    assert mark == {
        "file": "new.yaml",
        "line": 6,
        "column": 5,
        "field": "spec.nodeSelector[example.com/pool]",
        "label": "no node has example.com/pool=gpuu",
    }


def test_a_field_that_decides_and_a_unit_in_doubt_are_both_marked(tmp_path: Path) -> None:
    spec = "nodeSelector: {pool: gpuu}\ncontainers:\n- {name: c, image: i, resources: {requests: {memory: 512000Mi}}}"
    marks = _answer(tmp_path, _pod(spec), [_node("a1", "a")])["marks"]
    fields = ["spec.nodeSelector.pool", "spec.containers[0].resources.requests.memory"]
    assert [mark["field"] for mark in marks] == fields
    alone = _answer(tmp_path, _pod(spec.partition("\n")[2]), [_node("a1", "a")])["marks"]
    assert [mark["field"] for mark in alone] == fields[1:]
    assert "the only node, has 8 GiB" in alone[0]["label"]


def test_each_workload_of_a_manifest_has_its_marks(tmp_path: Path) -> None:
    specs = ("nodeSelector: {pool: gpuu}\n", "nodeSelector:\n  disk: ssd\n", "")
    pods = [_pod(spec + SPEC).replace("name: new", f"name: n{number}") for number, spec in enumerate(specs)]
    found = _answer(tmp_path, "---\n".join(pods), [_node("a1", "a")])["items"]
    marks = [[(mark["line"], mark["field"]) for mark in each["marks"]] for each in found]
    assert marks == [[(5, "spec.nodeSelector.pool")], [(13, "spec.nodeSelector.disk")], []]
    shown = run("explain", "--from", "cluster.json", "-f", "new.yaml", folder=tmp_path).stdout
    below = [(first, second) for first, second in pairwise(shown.splitlines()) if second.lstrip().startswith("--> ")]
    assert [second.strip() for _, second in below] == ["--> new.yaml:5", "--> new.yaml:13"]
    assert [first.partition(":")[0] for first, _ in below] == ["default/n0", "default/n1"]


def test_json_manifests_have_marks_too(tmp_path: Path) -> None:
    spec = {"containers": [{"name": "c", "image": "i"}], "nodeSelector": {"pool": "gpuu"}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "new"}, "spec": spec}
    drawn = _marked(tmp_path, json.dumps({"apiVersion": "v1", "kind": "List", "items": [pod]}), name="new.json")
    assert drawn[:2] == [" --> new.json:1", '1 | … "pool": "gpuu" …']


def test_an_unknown_field_is_marked_below_the_error(tmp_path: Path) -> None:
    manifest = _pod("containers:\n- name: c\n  image: i\n  env:\n  - name: PASSWORD\n    valeu: hunter2")
    assert _marked(tmp_path, manifest) == [
        "  --> new.yaml:10",
        "10 |       valeu …",
        "   |       ^^^^^ Kubernetes has no such field; is it value?",
    ]


def test_a_refused_field_is_marked_below_the_error_by_what_holds_it(tmp_path: Path) -> None:
    limits = "containers:\n- name: c\n  image: i\n  resources:\n    requests: {nvidia.com/gpu: 1}"
    assert _marked(tmp_path, _pod(limits)) == [
        " --> new.yaml:8",
        "8 |     resources:",
        "  |     ^^^^^^^^^ Required value: Limit must be set for non overcommitable resources",
    ]


def test_a_unit_in_doubt_is_a_warning_with_a_mark(tmp_path: Path) -> None:
    manifest = _pod("containers:\n- name: c\n  image: i\n  resources:\n    limits:\n      ephemeral-storage: 100000M")
    (tmp_path / "new.yaml").write_text(manifest)
    done = run("explain", "--from", str(DEMO), "-f", "new.yaml", folder=tmp_path)
    assert done.returncode == 0
    doubt = "100000M ephemeral-storage is 93.1 GiB; is 100000k meant?"
    assert f"\n{doubt}\n" in done.stdout
    assert f"10 |         ephemeral-storage: 100000M\n   |         ^^^^^^^^^^^^^^^^^^^^^^^^^^ {doubt}" in done.stdout


@pytest.mark.parametrize("output", ["markdown", "html"])
def test_pages_draw_it_too(output: str, tmp_path: Path) -> None:
    (tmp_path / "new.yaml").write_text(_pod(f"nodeSelector:\n  pool: gpuu\n{SPEC}"))
    done = run("explain", "--from", str(DEMO), "-f", "new.yaml", "-o", output, folder=tmp_path)
    assert "6 |     pool: gpuu\n  |     ^^^^^^^^^^ no node has pool=gpuu\n" in done.stdout


def test_characters_that_no_terminal_shows_do_not_reach_it(tmp_path: Path) -> None:
    manifest = _pod(f'nodeSelector:\n  "po\\u202eol": x  # \u202e\n{SPEC}')
    (tmp_path / "new.yaml").write_text(manifest)
    done = run("explain", "--from", str(DEMO), "-f", "new.yaml", folder=tmp_path)
    assert "\u202e" not in done.stdout + done.stderr


def test_a_quota_is_an_answer(tmp_path: Path) -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "small", "namespace": "default"},
        "spec": {"hard": {"pods": "0"}},
        "status": {"hard": {"pods": "0"}, "used": {"pods": "0"}},
    }
    (tmp_path / "new.yaml").write_text(_pod(SPEC))
    objects = {"apiVersion": "v1", "kind": "List", "items": [_node("a1", "a"), quota]}
    (tmp_path / "cluster.json").write_text(json.dumps(objects))
    done = run("explain", "--from", "cluster.json", "-f", "new.yaml", folder=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("default/new: never created: exceeded quota: small, requested: pods=1")


def test_pods_that_a_quota_refuses_are_no_less_of_the_answer_than_others(tmp_path: Path) -> None:
    room = {"hard": {"pods": "1"}, "used": {"pods": "0"}}
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "small", "namespace": "default"}}
    quota |= {"spec": {"hard": room["hard"]}, "status": room}
    pods = [_pod(f"nodeSelector: {{pool: gpuu}}\n{SPEC}").replace("name: new", f"name: {name}") for name in "ab"]
    found = _answer(tmp_path, "---\n".join(pods), [_node("a1", "a"), quota])["items"]
    assert [(each["pod"]["name"], each["outcome"]) for each in found] == [("a", "Unschedulable"), ("b", "Error")]
    assert found[1]["error"] == "exceeded quota: small, requested: pods=1, used: pods=1, limited: pods=1"
    template = f"{{metadata: {{labels: {{app: new}}}}, spec: {{nodeSelector: {{pool: gpuu}}, {SPEC}}}}}"
    sized = f"spec: {{replicas: 3, selector: {{matchLabels: {{app: new}}}}, template: {template}}}"
    manifest = f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: new}}\n{sized}\n"
    warnings = _answer(tmp_path, manifest, [_node("a1", "a"), quota])["warnings"]
    assert any(each.startswith("2 pods of Deployment default/new would never be created: ") for each in warnings)


def test_a_pod_of_the_same_name_elsewhere_is_not_meant(tmp_path: Path) -> None:
    other = _running("a", "a1")
    other["metadata"]["namespace"] = "elsewhere"
    places = [("default", "a"), ("another", "b")]
    pods = [
        _pod(f"nodeSelector: {{pool: gpuu}}\n{SPEC}").replace("name: new", f"name: {name}, namespace: {namespace}")
        for namespace, name in places
    ]
    found = _answer(tmp_path, "---\n".join(pods), [_node("a1", "a"), other])["items"]
    assert [(each["pod"]["namespace"], each["pod"]["name"]) for each in found] == places


def test_what_helps_a_manifest_is_a_change_of_its_file(tmp_path: Path) -> None:
    container = "{name: c, image: i, resources: {requests: {cpu: 40}}}"
    template = f"{{metadata: {{labels: {{app: new}}}}, spec: {{containers: [{container}]}}}}"
    manifest = f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: new}}\nspec:\n  template: {template}\n"
    (tmp_path / "new.yaml").write_text(f"{manifest}  selector: {{matchLabels: {{app: new}}}}\n")
    done = run("explain", "--from", str(DEMO), "-f", "new.yaml", "-o", "json", folder=tmp_path)
    own = [each for each in json.loads(done.stdout)["suggestions"] if each["rung"] == "yours"]
    assert own
    for each in own:
        assert (each["commands"], each["patches"], each["recreatesPods"]) == ([], [], False)
        assert [manual["instruction"] for manual in each["manual"]] == ["change this in new.yaml, then apply it"]
        assert "re-create" not in each["text"]


def test_each_of_several_manifests_has_its_mark_and_what_helps(tmp_path: Path) -> None:
    pods = [_pod(f"nodeSelector:\n  pool: gpuu\n{SPEC}").replace("name: new", f"name: {name}") for name in ("a", "b")]
    (tmp_path / "new.yaml").write_text("---\n".join(pods))
    done = run("explain", "--from", str(DEMO), "-f", "new.yaml", folder=tmp_path)
    for name in ("a", "b"):
        verdict, arrow, _, mark, *_ = done.stdout.partition(f"\ndefault/{name}: ")[2].splitlines()[:4]
        assert verdict.startswith("no node has pool=gpuu")
        assert arrow.strip().startswith("--> new.yaml:")
        assert "^" in mark
    assert done.stdout.count(" instead of pool=gpuu in its nodeSelector\n") == 2
    assert "explain pod" not in done.stdout
