"""Files that flags name: what never ends or never begins is refused at once, and what a shell passes on is read."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from kubectl_sched.bounded_files import MOST_BYTES
from tests.program import run

ROOT = Path(__file__).parents[2]
DEMO = "--from=fixtures/demo"
CONFIG = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "new"},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}
CERTIFICATE = ("--server=https://127.0.0.1:9", "--kubeconfig=/dev/null")

FLAGS = {
    "--kubeconfig": ("explain", "--kubeconfig={}", "web-0"),
    "--config": ("profiles", "--config={}"),
    "--to-config": ("diff", DEMO, "--to-config={}"),
    "-f": ("whatif", DEMO, "-f", "{}"),
    "a manifest": ("whatif", DEMO, "{}"),
    "--from": ("explain", "--from={}", "--pending"),
    "--to-dump": ("diff", DEMO, "--to-dump={}"),
    "--instance-types": ("explain", DEMO, "web-0", "--new-nodes", "--instance-types={}"),
    "--node-template": ("explain", DEMO, "web-0", "--new-nodes", "--node-template={}"),
    "--certificate-authority": ("explain", "web-0", *CERTIFICATE, "--certificate-authority={}"),
}


@pytest.mark.parametrize("kind", ["/dev/zero", "a named pipe"])
@pytest.mark.parametrize("flag", FLAGS)
def test_what_is_no_regular_file_is_refused_at_once(
    flag: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    path = kind
    if kind == "a named pipe":
        path = str(tmp_path / "pipe")
        os.mkfifo(path)
    done = run(*(word.format(path) for word in FLAGS[flag]))
    assert done.returncode == 2, done.stderr
    (sentence,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert path in sentence
    assert "regular file" in sentence or "no dump" in sentence


@pytest.mark.parametrize("flag", ["--kubeconfig", "--config", "-f"])
def test_a_file_that_nobody_wrote_by_hand_is_refused(
    flag: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    done = run(*(word.format(path) for word in FLAGS[flag]))
    assert done.returncode == 2
    assert "it is larger than 16 MiB" in done.stderr


@pytest.mark.parametrize("given", ["<(cat {})", "/dev/stdin < {}", "/dev/fd/3 3< {}", "/proc/self/fd/3 3< {}"])
@pytest.mark.parametrize("flag", ["--config", "-f", "--from", "--kubeconfig"])
def test_what_a_shell_passes_on_is_read(flag: str, given: str, tmp_path: Path) -> None:
    path = tmp_path / "given.json"
    contents = {"--config": CONFIG, "-f": POD, "--kubeconfig": {"users": []}}
    path.write_text(json.dumps(contents.get(flag, {"apiVersion": "v1", "kind": "List", "items": [POD]})))
    commands = {
        "--config": "profiles --config",
        "-f": f"whatif {DEMO} -f",
        "--from": "explain new --from",
        "--kubeconfig": "explain web-0 --kubeconfig",
    }
    line = f"{sys.executable} -m kubectl_sched {commands[flag]} {given.format(shlex.quote(str(path)))}"
    done = subprocess.run(["/bin/bash", "-c", line], cwd=ROOT, capture_output=True, text=True, check=False)
    assert "regular file" not in done.stderr
    assert "no dump" not in done.stderr
    if flag == "--kubeconfig":
        assert "no cluster" in done.stderr or "current-context" in done.stderr
    else:
        assert done.returncode in {0, 1}, done.stderr
