"""Fixtures of the tests of readers."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from kubectl_sched.sources.dump.reader import read

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kubectl_sched.sources import Dump


@pytest.fixture
def read_text(tmp_path: Path) -> Callable[..., Dump]:
    def read_it(content: str | bytes | dict[str, Any] | list[Any], name: str = "dump") -> Dump:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, dict | list):
            content = json.dumps(content, indent=4)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read([str(path)])

    return read_it


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate of localhost that signs itself, and its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is needed to make a certificate: install it")
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "cert.pem", folder / "key.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([openssl, *made, *subject, "-days", "2"], check=True, capture_output=True)
    return certificate, key
