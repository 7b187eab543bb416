from __future__ import annotations

import bz2
import io
import json
import tarfile
import zipfile
from typing import TYPE_CHECKING

import pytest

from kubectl_sched.diagnostics.messages.decoder import parse
from kubectl_sched.sources import DumpError, read
from kubectl_sched.sources.dump.json_documents import split
from tests.apiserver.manifests import NODE, POD, listing
from tests.program import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def refused(tmp_path: Path, name: str, content: bytes) -> str:
    """The sentence with which the program refuses a file."""
    path = tmp_path / name
    path.write_bytes(content)
    ended = run("explain", "web", "--from", str(path))
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "Traceback" not in ended.stderr
    assert ended.stderr.startswith("error: ")
    assert name in ended.stderr
    return ended.stderr


def skipped(value: str) -> str:
    """A pod with the value in a field that the scheduler does not read."""
    return json.dumps({**POD, "extra": "@"}).replace('"@"', value)


@pytest.mark.parametrize(
    "write",
    [
        skipped,
        lambda value: skipped(value).replace('"extra"', '"status"'),
        lambda value: f"{skipped(value)} {skipped(value)}",
        lambda value: json.dumps({"pods": "@"}).replace('"@"', f"[{skipped(value)}]"),
        lambda value: json.dumps({"schedulerConfig": "@"}).replace('"@"', value),
    ],
)
@pytest.mark.parametrize("value", ["Infinity", "NaN", "[-Infinity]", '{"a": tru}'])
def test_a_value_that_is_no_json_is_refused_at_its_byte(
    tmp_path: Path, value: str, write: Callable[[str], str]
) -> None:
    assert "byte" in refused(tmp_path, "d.json", write(value).encode())


def test_a_lone_surrogate_in_a_skipped_value_ends_in_an_answer_or_a_sentence(tmp_path: Path) -> None:
    for text in (
        json.dumps({"schedulerConfig": "\ud800"}),
        json.dumps({"kind": "Status", "message": "\ud800"}),
        json.dumps({"\ud800": [POD]}),
    ):
        assert "not JSON" in refused(tmp_path, "d.json", text.encode())


def test_binary_that_is_no_base64_is_refused_at_its_line(tmp_path: Path) -> None:
    assert "at line 2: a value tagged !!binary is not base64" in refused(
        tmp_path, "d.yaml", b"kind: Pod\nmetadata: {name: !!binary a}\n"
    )


def test_chained_pax_headers_are_refused(tmp_path: Path) -> None:
    header = tarfile.TarInfo("x")
    header.type = tarfile.XHDTYPE
    chain = header.tobuf(tarfile.USTAR_FORMAT) * 5_000
    assert "the archive is cut off or damaged" in refused(tmp_path, "d.tar", chain)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_members_that_cannot_be_expanded_piece_by_piece_are_refused(tmp_path: Path, method: int) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("pods.json", json.dumps(listing(POD)))
    assert "pods.json is not compressed by deflate" in refused(tmp_path, "d.zip", buffer.getvalue())


def test_a_zip_member_is_charged_by_what_comes_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kubectl_sched.sources.dump import compression

    monkeypatch.setattr(compression, "LEAST_ALLOWANCE", 1 << 20)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("pods.json", b" " * (4 << 20))
    said = buffer.getvalue().replace((4 << 20).to_bytes(4, "little"), (1).to_bytes(4, "little"))
    path = tmp_path / "d.zip"
    path.write_bytes(buffer.getvalue())
    with pytest.raises(DumpError, match="expands to over"):
        read([str(path)])
    path.write_bytes(said)
    with pytest.raises(DumpError):
        read([str(path)])


@pytest.mark.parametrize("name", ["d.json", "d.json.bz2"])
def test_more_values_than_any_dump_holds_are_refused(tmp_path: Path, name: str) -> None:
    content = b"[" + b"{}," * 1_500_000 + b"{}]"
    assert "1,500,000 values" in refused(tmp_path, name, bz2.compress(content) if name.endswith("bz2") else content)


def test_more_values_than_any_yaml_holds_are_refused(tmp_path: Path) -> None:
    assert "values in" in refused(tmp_path, "d.yaml", b"kind: List\nitems:\n" + b"- {}\n" * 1_500_000)


def test_braces_that_are_never_closed_take_linear_time() -> None:
    with pytest.raises(DumpError):
        split(b"{\n" * 500_000, "d.json")


def test_logs_that_never_end_take_linear_time() -> None:
    with pytest.raises(DumpError):
        split(b"{\n" + b"==== START logs for x\n" * 200_000, "d.json")


def test_counts_of_any_length_are_read_as_no_counts() -> None:
    assert parse(f"0/{'9' * 5000} nodes are available: {'9' * 5000} Insufficient cpu.").total is None


def test_a_message_longer_than_any_event_is_refused() -> None:
    ended = run("message", "-", stdin="1" * 1_000_000)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "longer than" in ended.stderr


def test_the_same_claim_twice_takes_its_place_once() -> None:
    from kubectl_sched.api.storage import PersistentVolumeClaim
    from kubectl_sched.snapshot.objects import Objects

    claims = [PersistentVolumeClaim() for _ in range(3)]
    objects = Objects().with_these(PersistentVolumeClaim, claims)
    assert objects.all(PersistentVolumeClaim)[0] is claims[-1]
    assert len(objects.all(PersistentVolumeClaim)) == 1


def test_objects_before_a_node_list_are_read(tmp_path: Path) -> None:
    path = tmp_path / "d.json"
    path.write_text(f"{json.dumps(listing(NODE))}\n{json.dumps(listing(POD))}")
    assert len(read([str(path)]).objects) == 2
