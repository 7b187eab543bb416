from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from kubectl_sched.diagnostics.messages.decoder import parse
from kubectl_sched.sources import DumpError, budget
from kubectl_sched.sources.discovery.scheduler_logs import MARK, logs_among_objects
from kubectl_sched.sources.dump.json_documents import split
from kubectl_sched.sources.dump.reader import read
from kubectl_sched.sources.dump.user_files import json_value
from tests.apiserver.manifests import NODE, POD, listing, obj
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


@pytest.mark.parametrize("name", ["nodes.json", "nodes.txt"])
def test_a_member_that_says_it_never_ends_is_refused(tmp_path: Path, name: str) -> None:
    member = tarfile.TarInfo(name)
    member.size = 1 << 60
    assert "cut off or damaged" in refused(tmp_path, "d.tar", member.tobuf(tarfile.GNU_FORMAT) + bytes(10_240))


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
    for value in (b"a", b'"@@@"'):
        assert "at line 2: a value tagged !!binary is not base64" in refused(
            tmp_path, "d.yaml", b"kind: Pod\nmetadata: {name: !!binary %s}\n" % value
        )


def test_chained_pax_headers_are_refused(tmp_path: Path) -> None:
    header = tarfile.TarInfo("x")
    header.type = tarfile.XHDTYPE
    chain = header.tobuf(tarfile.USTAR_FORMAT) * 5_000
    assert "the archive is cut off or damaged" in refused(tmp_path, "d.tar", chain)


METHODS = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]


def zipped(content: bytes, method: int) -> bytes:
    """An archive with the content as its only member."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("pods.json", content)
    return buffer.getvalue()


@pytest.mark.parametrize("method", METHODS)
def test_members_of_every_method_are_read(tmp_path: Path, method: int) -> None:
    path = tmp_path / "d.zip"
    pods = [{**POD, "metadata": {"name": f"p{number}"}} for number in range(9000)]
    path.write_bytes(zipped(json.dumps(listing(*pods)).encode(), method))
    assert len(read([str(path)]).objects) == 9000


@pytest.mark.parametrize("method", METHODS[2:])
def test_a_damaged_member_is_refused(tmp_path: Path, method: int) -> None:
    content = zipped(json.dumps(listing(POD)).encode(), method)
    checksum = zipfile.ZipFile(io.BytesIO(content)).infolist()[0].CRC.to_bytes(4, "little")
    refused(tmp_path, "d.zip", content.replace(checksum, b"\0\1\2\3"))
    for at in range(50, len(content) - 110, 7):
        refused(tmp_path, "d.zip", content[:at] + b"\xff\xff" + content[at + 2 :])


def test_a_dictionary_that_is_larger_than_any_is_refused(tmp_path: Path) -> None:
    content = zipped(json.dumps(listing(POD)).encode(), zipfile.ZIP_LZMA)
    at = 30 + len("pods.json") + 5
    assert "larger than that of xz -9" in refused(tmp_path, "d.zip", content[:at] + b"\xff" * 4 + content[at + 4 :])


@pytest.mark.parametrize("method", METHODS[1:])
def test_a_zip_member_is_charged_by_what_comes_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: int
) -> None:
    monkeypatch.setattr(budget, "LEAST_BYTES", 1 << 20)
    content = zipped(b" " * (4 << 20), method)
    path = tmp_path / "d.zip"
    path.write_bytes(content)
    with pytest.raises(DumpError, match="expands to over"):
        read([str(path)])
    path.write_bytes(content.replace((4 << 20).to_bytes(4, "little"), (1).to_bytes(4, "little")))
    with pytest.raises(DumpError):
        read([str(path)])


@pytest.mark.parametrize("copies", [1, 3])
def test_all_files_of_one_read_share_one_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, copies: int) -> None:
    monkeypatch.setattr(budget, "LEAST_OBJECTS", 100_000)
    for copy in range(copies):
        pods = [{"metadata": {"name": f"p{copy}-{number}"}} for number in range(12_000)]
        (tmp_path / f"{copy}.json").write_text(json.dumps(listing(*pods)).replace('"List"', '"PodList"'))
    if copies == 1:
        assert len(read([str(tmp_path)]).objects) == 12_000
    else:
        with pytest.raises(DumpError, match="more values than any dump"):
            read([str(tmp_path)])


@pytest.mark.parametrize("name", ["d.json", "d.json.gz"])
def test_more_values_than_any_dump_holds_are_refused(tmp_path: Path, name: str) -> None:
    content = b"[" + b"{}," * 5_000_000 + b"{}]"
    assert "more values than any dump of its size" in refused(
        tmp_path, name, gzip.compress(content) if name.endswith("gz") else content
    )


def test_one_item_of_millions_of_values_is_refused_before_it_is_made(tmp_path: Path) -> None:
    spec = b'{"tolerations": [' + b"{}," * 12_000_000 + b"{}]}"
    pod = b'{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": ' + spec + b"}"
    said = refused(tmp_path, "d.json", b'{"apiVersion": "v1", "items": [' + pod + b'], "kind": "List"}')
    assert f"more values than any dump of its size (over {budget.LEAST_OBJECTS:,})" in said


@pytest.mark.parametrize("end", ["\n", " "])
def test_more_documents_than_any_dump_holds_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    monkeypatch.setattr(budget, "LEAST_OBJECTS", 150_000)
    path = tmp_path / "d.json"
    path.write_text(f"{{}}{end}" * 200_000)
    with pytest.raises(DumpError, match="more values than any dump"):
        read([str(path)])


def test_more_values_than_any_yaml_holds_are_refused(tmp_path: Path) -> None:
    said = refused(tmp_path, "d.yaml", b"kind: List\nitems:\n" + b"- {}\n" * 6_000_000)
    assert "more values than any dump of its size" in said


def test_braces_that_are_never_closed_take_linear_time() -> None:
    with pytest.raises(DumpError):
        split(b"{\n" * 500_000, "d.json")


def test_logs_that_never_end_take_linear_time() -> None:
    with pytest.raises(DumpError):
        split(b"{\n" + b"==== START logs for x\n" * 200_000, "d.json")


def test_schedulers_logs_that_never_end_take_linear_time() -> None:
    starts = b"==== START logs for container c of pod a/b ====\n" * 40_000
    assert list(logs_among_objects(starts + MARK)) == []


def test_a_key_that_is_set_twice_among_many_is_found_in_linear_time() -> None:
    fields = ",".join(f'"{number}": 0' for number in (*range(200_000), 199_999))
    with pytest.raises(DumpError, match="key '199999' is already set"):
        json_value(f"{{{fields}}}".encode(), "d.json")


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


GATED = {**POD, "spec": {"schedulingGates": [{"name": "g"}], "containers": [{"name": "c"}]}, "items": [NODE, NODE]}
KARPENTER = {"spec": {"containers": [{"name": "c", "image": "public.ecr.aws/karpenter/controller:1.14.1"}]}}


@pytest.mark.parametrize(
    "item",
    [
        GATED,
        {**obj("Deployment", "karpenter", "", "apps/v1"), "spec": {"containers": [{}, {}], "template": KARPENTER}},
    ],
    ids=["a gated pod with items", "a Deployment of Karpenter with containers"],
)
def test_a_field_of_another_kind_is_none_of_the_object(tmp_path: Path, item: dict[str, Any]) -> None:
    path = tmp_path / "d.json"
    path.write_text(f"{json.dumps(NODE)}\n{json.dumps(item)}")
    assert [found.name for found in read([str(path)]).objects] == ["n1", item["metadata"]["name"]]


def test_a_claim_that_a_pod_names_twice_costs_no_pod_its_answer(tmp_path: Path) -> None:
    template = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    volumes = [
        {"name": "data", "ephemeral": {"volumeClaimTemplate": template}},
        {"name": "again", "persistentVolumeClaim": {"claimName": "twice-data"}},
    ]
    pods = [
        {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "uid": name}, "spec": {"volumes": found}}
        for name, found in (("twice", volumes), ("other", []))
    ]
    claim = {
        "kind": "PersistentVolumeClaim",
        "apiVersion": "v1",
        "metadata": {
            "name": "twice-data",
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Pod", "name": "twice", "uid": "twice", "controller": True}
            ],
        },
    }
    path = tmp_path / "d.json"
    node = {**NODE, "status": {"allocatable": {"pods": "9"}, "capacity": {"pods": "9"}}}
    for objects in ([node, *pods], [node, *pods, claim]):
        path.write_text(json.dumps(listing(*objects)))
        ended = run("explain", "--pending", "-o", "json", "--from", str(path))
        assert ended.returncode == 1, ended.stderr
        items = {item["pod"]["name"]: item for item in json.loads(ended.stdout)["items"]}
        assert items["other"]["best"] == [NODE["metadata"]["name"]]
        assert items["twice"]["unknown"] == []
