"""`profiles`: what a configuration comes to, and how a wrong one is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from kubectl_sched.cli.app import app
from kubectl_sched.config import NEWEST
from kubectl_sched.errors import SchedError

if TYPE_CHECKING:
    from pathlib import Path


Json = dict[str, Any]

JSON_HEAD = '{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"'
HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
TUNED = """
profiles:
- schedulerName: tuned
  percentageOfNodesToScore: 30
  plugins:
    preFilter: {disabled: [{name: '*'}], enabled: [{name: NodePorts}]}
    score:
      disabled: [{name: TaintToleration}]
      enabled: [{name: ImageLocality, weight: 7}, {name: NodeAffinity, weight: 2}]
  pluginConfig:
  - {name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}
- schedulerName: plain
"""


def run(arguments: list[str]) -> None:
    app(["profiles", *arguments], standalone_mode=False)


def as_json(path: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> Json:
    run(["--config", str(path), "-o", "json", *arguments])
    data: Json = json.loads(capsys.readouterr().out)
    assert data["kind"] == "Profiles"
    return data


@pytest.fixture
def tuned(tmp_path: Path) -> Path:
    path = tmp_path / "config.yaml"
    path.write_text(HEAD + TUNED)
    return path


def items(path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Json]:
    data = as_json(path, capsys, "--kube-version", "1.36")
    return {item["schedulerName"]: item for item in data["items"]}


def test_every_extension_point_is_listed_in_order_with_weights(tuned: Path, capsys: pytest.CaptureFixture[str]) -> None:
    score = items(tuned, capsys)["tuned"]["plugins"]["score"]
    assert [(plugin["name"], plugin["weight"]) for plugin in score][:3] == [
        ("ImageLocality", 7),
        ("NodeAffinity", 2),
        ("NodeResourcesFit", 1),
    ]


def test_what_differs_from_the_default_is_marked(tuned: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profile = items(tuned, capsys)["tuned"]
    marked = {plugin["name"]: plugin["difference"] for plugin in profile["plugins"]["score"]}
    assert marked["ImageLocality"] == "weight"
    assert marked["NodeAffinity"] is None
    assert profile["removed"]["score"] == ["TaintToleration"]
    assert [plugin["name"] for plugin in profile["plugins"]["preFilter"]] == ["NodePorts"]
    assert profile["argsThatDiffer"] == {"NodeResourcesFit": ["scoringStrategy"]}


def test_a_plain_profile_is_the_default_one(tuned: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profile = items(tuned, capsys)["plain"]
    assert profile["differsFromDefault"] is False
    assert profile["removed"] == {}


def test_the_table_marks_them_too(tuned: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["--config", str(tuned), "--kube-version", "1.36"])
    said = capsys.readouterr().out
    assert "~ImageLocality 7 (default 1)" in said
    assert "-TaintToleration" in said
    assert "percentageOfNodesToScore: 30" in said
    assert "args of NodeResourcesFit: ~scoringStrategy: {type: MostAllocated, " in said
    assert "plain, as the default profile is" in said


def test_a_config_map_that_holds_one_is_read(tuned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"scheduler.yaml": tuned.read_text()}}
    path = tmp_path / "configmap.yaml"
    path.write_text(yaml.safe_dump(manifest))
    run(["--config", str(path), "-o", "name"])
    assert capsys.readouterr().out == "profile/tuned\nprofile/plain\n"


def test_without_a_configuration_the_defaults_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    run(["--kube-version", "1.33"])
    said = capsys.readouterr().out
    assert said.startswith(
        "1 profile, as kube-scheduler 1.33 runs them.\n\ndefault-scheduler, as the default profile is\n"
    )
    assert "TaintToleration 3" in said


def test_the_version_that_is_assumed_is_said(tuned: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["--config", str(tuned), "-o", "name"])
    assumed = f"note: the newest supported version, {NEWEST}, is assumed: --kube-version gives another\n"
    assert capsys.readouterr().err == assumed
    run(["--config", str(tuned), "-o", "name", "--kube-version", str(NEWEST)])
    assert capsys.readouterr().err == ""


def test_what_is_warned_of_stands_beside_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("apiVersion: kubescheduler.config.k8s.io/v1beta2\nkind: KubeSchedulerConfiguration\n")
    run(["--config", str(path), "-o", "name", "--kube-version", "1.36"])
    said = capsys.readouterr()
    assert said.out == "profile/default-scheduler\n"
    assert said.err == (
        "warning: kubescheduler.config.k8s.io/v1beta2 is served by Kubernetes 1.22 to 1.27, not by 1.36: "
        "kube-scheduler 1.36 would refuse the file\n"
    )


def test_it_takes_the_connection_flags_and_needs_no_cluster(capsys: pytest.CaptureFixture[str]) -> None:
    run(["-n", "shop", "--server", "http://127.0.0.1:9", "--context", "nowhere", "-o", "name"])
    assert capsys.readouterr().out == "profile/default-scheduler\n"


@pytest.mark.parametrize(
    ("api_version", "newest"),
    [("v1", "1.37"), ("v1beta3", "1.28"), ("v1beta2", "1.27")],
)
def test_an_old_api_version_selects_the_newest_minor_that_serves_it(
    api_version: str, newest: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(f"apiVersion: kubescheduler.config.k8s.io/{api_version}\nkind: KubeSchedulerConfiguration\n")
    data = as_json(path, capsys)
    assert data["kubernetesVersion"] == newest
    assert bool(data["warnings"]) is (api_version != "v1")


def test_an_unknown_plugin_is_named_and_the_rest_resolved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(f"{HEAD}profiles: [{{schedulerName: mine, plugins: {{score: {{enabled: [{{name: Own}}]}}}}}}]")
    (item,) = as_json(path, capsys)["items"]
    assert item["unknownPlugins"] == [
        {
            "name": "Own",
            "extensionPoints": ["score"],
            "upstream": (
                'initializing profiles: creating profile for scheduler name mine: ScorePlugin "Own" does not exist'
            ),
        }
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "kind is missing"),
        ("a: 1\n---\nb: 2\n", "it holds 2 documents"),
        ("- a\n", "it is no mapping"),
        (
            f"{HEAD}profiles:\n- &a {{schedulerName: a}}\n- <<: *a\n  schedulerName: b\n",
            "'schedulerName' is already set",
        ),
        (
            f"{HEAD}profiles:\n- &a {{schedulerName: a}}\n- schedulerName: b\n  <<: *a\n",
            "'schedulerName' is already set",
        ),
        (f"{JSON_HEAD}, }}", "it is not JSON at line 1: .*; kube-scheduler reads what begins with a brace as JSON"),
        ("{kind: KubeSchedulerConfiguration}", "kube-scheduler reads what begins with a brace as JSON"),
        (f'{JSON_HEAD}, "parallelism": 1, "parallelism": 2}}', "key 'parallelism' is already set in the same object"),
        ("apiVersion: v1\nkind: Policy\n", "Policy"),
        (f"{HEAD}profiles: [{{schedulerName: a}}, {{schedulerName: a}}]", "Duplicate value"),
        ("apiVersion: v1\nkind: ConfigMap\ndata: {a: b}\n", "holds no KubeSchedulerConfiguration"),
        (f"---\n# one\n---\n{HEAD}", "its first document is empty, and kube-scheduler reads no other"),
        (f"null\n---\n{HEAD}", "its first document is empty, and kube-scheduler reads no other"),
    ],
)
def test_what_is_refused_is_said_in_a_sentence(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(SchedError, match=said) as refused:
        run(["--config", str(path)])
    assert refused.value.exit_code == 2


def test_json_is_read_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "config.json"
    path.write_text(f'{JSON_HEAD}, "profiles": [\n\t{{"schedulerName": "a\\/\\ud83d\\ude00"}}]}}')
    assert [item["schedulerName"] for item in as_json(path, capsys)["items"]] == ["a/\U0001f600"]


@pytest.mark.parametrize("second", [f"{HEAD}profiles: [{{schedulerName: b}}]", "unfinished: ["])
def test_of_several_documents_the_first_is_read_as_kube_scheduler_does(
    second: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(f"# one\n---\n{HEAD}profiles: [{{schedulerName: a}}]\n---\n{second}\n")
    data = as_json(path, capsys)
    assert [item["schedulerName"] for item in data["items"]] == ["a"]
    assert f"--config {path} holds 2 documents, of which kube-scheduler reads only the first" in data["warnings"]


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(SchedError, match="No such file or directory"):
        run(["--config", str(tmp_path / "absent.yaml")])
