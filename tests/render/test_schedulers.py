"""`schedulers` on a terminal."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import pytest

from tests.terminal import on_terminal

if TYPE_CHECKING:
    from pathlib import Path

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "control-plane-1.example.com"}}
CONFIGURED_ON_ITS_HOST = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "kube-scheduler-control-plane-1.example.com",
        "namespace": "kube-system",
        "labels": {"component": "kube-scheduler"},
    },
    "spec": {
        "nodeName": "control-plane-1.example.com",
        "containers": [
            {
                "name": "kube-scheduler",
                "image": "registry.k8s.io/kube-scheduler:v1.36.2",
                "command": ["kube-scheduler", "--config=/etc/kubernetes/kube-scheduler-configuration.yaml"],
            }
        ],
    },
}


@pytest.mark.parametrize("columns", [80, 100, 160])
def test_commands_can_be_pasted_from_a_terminal(tmp_path: Path, columns: int) -> None:
    source = tmp_path / "dump.json"
    source.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [NODE, CONFIGURED_ON_ITS_HOST]}))
    found = json.loads(on_terminal(["schedulers", "--from", str(source), "-o", "json"])[0])
    commands = found["items"][0]["configuration"]["commands"]
    assert len(commands) == 2
    printed, _ = on_terminal(["schedulers", "--from", str(source)], columns=columns)
    assert max(map(len, printed.splitlines())) <= columns
    pasted = printed.replace("\\\n", " ").splitlines()
    assert [shlex.split(line) for line in pasted if line.startswith("    kubectl ")] == list(map(shlex.split, commands))


def test_flags_that_switch_features_are_shown(tmp_path: Path) -> None:
    flags = ["--feature-gates=StorageCapacityScoring=true", "--emulated-version=1.34"]
    container = {"name": "kube-scheduler", "image": "kube-scheduler:v1.36.2", "command": ["kube-scheduler", *flags]}
    pod = CONFIGURED_ON_ITS_HOST | {"spec": {"nodeName": "control-plane-1.example.com", "containers": [container]}}
    source = tmp_path / "dump.json"
    source.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [NODE, pod]}))
    printed, _ = on_terminal(["schedulers", "--from", str(source)])
    assert "  emulated version: 1.34\n  feature gates: StorageCapacityScoring=true\n" in printed
