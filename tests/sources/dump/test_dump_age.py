"""`--max-age`: a dump that is older is refused, one that does not tell its age as well."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from kubectl_sched.__main__ import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def dump(path: Path, created: str | None) -> str:
    metadata: dict[str, Any] = {"name": "n1"} | ({"creationTimestamp": created} if created else {})
    node = {"kind": "Node", "apiVersion": "v1", "metadata": metadata}
    pod = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}]}}
    path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [node, pod]}))
    return str(path)


def ago(**age: int) -> str:
    return (datetime.now(UTC) - timedelta(**age)).strftime("%Y-%m-%dT%H:%M:%SZ")


class Shown(NamedTuple):
    code: int | str | None
    out: str
    err: str


@pytest.fixture
def explain(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Shown]:
    def run(*arguments: str) -> Shown:
        monkeypatch.setattr(sys, "argv", ["kubectl-sched", "explain", "pod", "p", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return Shown(ended.value.code, *capsys.readouterr())

    return run


def test_a_newer_dump_is_read(tmp_path: Path, explain: Callable[..., Shown]) -> None:
    shown = explain("--from", dump(tmp_path / "d.json", ago(hours=3)), "--max-age", "24h")
    assert shown.code in {0, 1}
    assert "max-age" not in shown.err


@pytest.mark.parametrize(
    ("created", "max_age", "sentence"),
    [
        (72, "24h", "the dump is 3 days old, and --max-age allows 24h0m0s"),
        (3, "1h", "the dump is 3 h old, and --max-age allows 1h0m0s"),
        (None, "24h", "nothing in the dump tells when it was taken"),
        ("yesterday", "24h", "nothing in the dump tells when it was taken"),
        (1, "soon", '--max-age "soon" is no age'),
        (1, "-1h", '--max-age "-1h" is no age'),
        (1, "24", '--max-age "24" is no age'),
    ],
)
def test_an_older_dump_is_refused(
    tmp_path: Path, explain: Callable[..., Shown], created: str | int | None, max_age: str, sentence: str
) -> None:
    """A number is the hours since then."""
    time = ago(hours=created) if isinstance(created, int) else created
    shown = explain("--from", dump(tmp_path / "d.json", time), "--max-age", max_age)
    assert (shown.code, shown.out) == (2, "")
    assert sentence in shown.err


def test_a_running_cluster_has_no_age(explain: Callable[..., Shown]) -> None:
    shown = explain("--max-age", "24h")
    assert (shown.code, shown.out) == (2, "")
    assert "give --from, too" in shown.err
