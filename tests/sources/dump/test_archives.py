from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import sys
import tarfile
import zipfile
from typing import TYPE_CHECKING

import pytest

from kubectl_sched.sources import DumpError
from kubectl_sched.sources import budget as limits
from kubectl_sched.sources.dump.reader import read
from tests.apiserver.manifests import NODE, POD, keys, listing, without_kind

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FILES = {
    "a/nodes.json": json.dumps(listing(NODE)),
    "a/shop/pods.json": json.dumps(listing(POD), indent=4),
    "a/x.log": "?",
}


def tar(files: dict[str, str], mode: str = "w") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload] # any mode of the tests
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return buffer.getvalue()


def zipped(files: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("d.tar", tar(FILES)),
        ("d.tar.gz", tar(FILES, "w:gz")),
        ("d.tgz", tar(FILES, "w:gz")),
        ("d.tar.xz", tar(FILES, "w:xz")),
        ("d.tar.bz2", tar(FILES, "w:bz2")),
        ("d.zip", zipped(FILES)),
        ("no-suffix", tar(FILES, "w:gz")),
    ],
)
def test_archives_are_read_without_unpacking(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    assert sorted(keys(read([str(tmp_path / name)]))) == ["Node n1", "Pod shop/web-0"]
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_the_folders_of_a_zip_from_powershell_are_known(tmp_path: Path) -> None:
    bare = {"metadata": {}, "items": [without_kind(POD)]}
    files = {r"cluster-resources\nodes.json": listing(NODE), r"cluster-resources\pods\shop.json": bare}
    (tmp_path / "b.zip").write_bytes(zipped({path: json.dumps(content) for path, content in files.items()}))
    assert keys(read([str(tmp_path / "b.zip")])) == ["Node n1", "Pod shop/web-0"]


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress, bz2.compress])
def test_compressed_files_are_read(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    (tmp_path / "dump").write_bytes(compress(json.dumps(listing(NODE, POD), indent=4).encode()))
    assert keys(read([str(tmp_path / "dump")])) == ["Node n1", "Pod shop/web-0"]


def test_zstd_is_read(tmp_path: Path) -> None:
    zstd = pytest.importorskip("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    (tmp_path / "d.tar.zst").write_bytes(zstd.compress(tar(FILES)))
    assert sorted(keys(read([str(tmp_path / "d.tar.zst")]))) == ["Node n1", "Pod shop/web-0"]


def test_files_compressed_one_after_the_other_are_one(tmp_path: Path) -> None:
    text = json.dumps(listing(NODE, POD), indent=4).encode()
    (tmp_path / "d.json.gz").write_bytes(gzip.compress(text[:100]) + gzip.compress(text[100:]))
    assert len(read([str(tmp_path / "d.json.gz")]).objects) == 2


def test_what_only_begins_as_a_list_is_read_as_what_it_is(tmp_path: Path) -> None:
    """The second document shows after a megabyte that the file was no list; nothing is charged or taken twice."""
    pods = [{**POD, "metadata": {**POD["metadata"], "name": f"web-{number}"}} for number in range(5000)]
    text = "\n".join(json.dumps(document, indent=4) for document in (listing(*pods), NODE))
    (tmp_path / "d.json.gz").write_bytes(gzip.compress(text.encode()))
    assert len(read([str(tmp_path / "d.json.gz")]).objects) == 5001


def test_an_archive_in_an_archive_in_a_directory_is_read(tmp_path: Path) -> None:
    inner = tar(FILES, "w:gz").decode("latin-1")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("x/results.tar.gz", inner.encode("latin-1"))
    (tmp_path / "bundle.zip").write_bytes(buffer.getvalue())
    assert sorted(keys(read([str(tmp_path)]))) == ["Node n1", "Pod shop/web-0"]


def test_names_that_climb_and_links_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text(json.dumps(POD))
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, kind in (
            ("link.json", tarfile.SYMTYPE),
            ("hard.json", tarfile.LNKTYPE),
            ("fifo.json", tarfile.FIFOTYPE),
        ):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, "../secret.json"
            archive.addfile(entry)
        entry = tarfile.TarInfo("../../nodes.json")
        entry.size = len(json.dumps(NODE))
        archive.addfile(entry, io.BytesIO(json.dumps(NODE).encode()))
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "d.tar").write_bytes(buffer.getvalue())
    (tmp_path / "d" / "link.json").symlink_to(tmp_path / "secret.json")
    assert keys(read([str(tmp_path / "d")])) == ["Node n1"]
    assert not (tmp_path.parent / "nodes.json").exists()


def bomb(levels: int) -> bytes:
    content = b'{"a": "' + b" " * 10_000_000 + b'"}'
    for _ in range(levels):
        content = gzip.compress(content)
    return content


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(bomb(1), id="gzip"),
        pytest.param(zipped({f"{number}.json": " " * 1_000_000 for number in range(20)}), id="zip"),
        pytest.param(tar({f"{number}.json": " " * 1_000_000 for number in range(20)}, "w:xz"), id="tar.xz"),
    ],
)
def test_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(limits, "LEAST_BYTES", 5_000_000)
    (tmp_path / "d.json").write_bytes(content)
    with pytest.raises(DumpError, match="expands to over 200 times its size"):
        read([str(tmp_path / "d.json")])


def test_archives_nested_without_end_are_refused(tmp_path: Path) -> None:
    (tmp_path / "d.gz").write_bytes(bomb(5))
    with pytest.raises(DumpError, match="nested more than"):
        read([str(tmp_path / "d.gz")])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("cut.json.gz", gzip.compress(json.dumps(listing(NODE), indent=4).encode())[:-30]),
        ("cut.tar.gz", tar(FILES, "w:gz")[:-60]),
        ("cut.tar.xz", tar(FILES, "w:xz")[:-60]),
        ("cut.tar", tar(FILES)[:700]),
        ("cut.zip", zipped(FILES)[:-40]),
        ("damaged.gz", gzip.compress(b"x" * 1000)[:15] + b"\xff" * 40),
    ],
)
def test_a_damaged_archive_is_refused_by_name(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DumpError, match=rf"{name}: .*(cut off|damaged)"):
        read([str(tmp_path / name)])


def test_a_damaged_file_among_others_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "nodes.json").write_text(json.dumps(listing(NODE)))
    (tmp_path / "pods.json.gz").write_bytes(gzip.compress(json.dumps(listing(POD)).encode())[:-20])
    (tmp_path / "events.json").write_text(json.dumps(listing(POD))[:-20])
    dump = read([str(tmp_path)])
    assert keys(dump) == ["Node n1"]
    assert len(dump.warnings) == 2
    assert all("cut off" in warning for warning in dump.warnings)


def test_progress_tells_how_much_of_each_file_is_done(tmp_path: Path) -> None:
    path = tmp_path / "d.json"
    path.write_text(json.dumps(listing(*(NODE for _ in range(100))), indent=4))
    told: list[tuple[str, int, int | None]] = []
    read([str(path)], lambda *state: told.append(state))
    size = path.stat().st_size
    assert {(name, total) for name, _, total in told} == {(str(path), size)}
    assert max(done for _, done, _ in told) == size
