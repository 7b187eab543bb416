"""A large List is read the same with processes that take out its indentation as without them."""

from __future__ import annotations

import io
import json
import os
from signal import SIGKILL
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kubectl_sched.sources.dump import json_documents
from kubectl_sched.sources.dump.json_lists import CHUNK, find_frame
from kubectl_sched.sources.dump.processes import filling_process, unindented_pieces
from kubectl_sched.sources.dump.processes.unindented_pieces import UnindentedPieces
from kubectl_sched.sources.dump.reader import read
from kubectl_sched.sources.dump_errors import BombError, DumpError
from tests.apiserver.manifests import listing, obj
from tests.sources.dump.test_json_lists import ITEMS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kubectl_sched.sources import Dump

PODS = [
    obj("Pod", f"p{number}", "x", metadata={"labels": {"text": f"two  spaces,\n{number}"}}, spec={"priority": number})
    for number in range(60)
]
TEXT = json.dumps(listing(*PODS), indent=4)


@pytest.fixture(autouse=True)
def every_list_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_documents, "LEAST_UNINDENTED", 0)
    monkeypatch.setattr(unindented_pieces, "PART_BYTES", 1000)
    monkeypatch.setattr(unindented_pieces, "_processors", lambda: 2)
    monkeypatch.setattr(filling_process, "active_count", lambda: 1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "dump.json"
    path.write_text(TEXT)
    return path


def without_processes(path: Path) -> Callable[[], Dump]:
    def read_alone() -> Dump:
        with pytest.MonkeyPatch.context() as alone:
            alone.setattr(unindented_pieces, "_processors", lambda: 1)
            return read([str(path)])

    return read_alone


def outcome(reading: Callable[[], Dump]) -> Dump | str:
    try:
        return reading()
    except DumpError as error:
        return str(error)


def test_every_part_comes_from_a_process_without_indentation(path: Path) -> None:
    with path.open("rb") as file:
        pieces = UnindentedPieces(file, find_frame(file), lambda _: None, CHUNK)
        texts = [bytes(piece) for piece in pieces]
    assert pieces.parts == len(texts) > 10
    assert [pod for text in texts for pod in json.loads(text)] == PODS
    assert sum(map(len, texts)) < len(TEXT) / 2


def test_reading_in_parts_equals_reading_alone(path: Path) -> None:
    assert read([str(path)]) == without_processes(path)()


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ITEMS, st.sampled_from([4, 1]), st.booleans(), st.integers(min_value=100, max_value=2000))
def test_any_list_is_read_as_it_is_alone(
    path: Path, items: list[dict[str, Any]], indent: int, sort: bool, part: int
) -> None:
    path.write_text(json.dumps(listing(*items), indent=indent, sort_keys=sort))
    with pytest.MonkeyPatch.context() as smaller:
        smaller.setattr(unindented_pieces, "PART_BYTES", part)
        assert outcome(lambda: read([str(path)])) == outcome(without_processes(path))


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, len(TEXT) - 1), st.binary(max_size=3), st.integers(0, 3))
def test_damage_is_told_as_it_is_alone(path: Path, at: int, instead: bytes, removed: int) -> None:
    path.write_bytes(TEXT[:at].encode() + instead + TEXT[at + removed :].encode())
    assert outcome(lambda: read([str(path)])) == outcome(without_processes(path))


@pytest.mark.parametrize("after", [0, 1, 5])
@pytest.mark.parametrize("which", [0, 1])
def test_a_process_that_is_killed_costs_nothing_but_time(path: Path, after: int, which: int) -> None:
    found: list[dict[str, Any]] = []
    with path.open("rb") as file:
        pieces = UnindentedPieces(file, find_frame(file), lambda _: None, CHUNK)
        for count, piece in enumerate(pieces):
            found += json.loads(bytes(piece))
            if count == after:
                os.kill(pieces.processes[which].pid, SIGKILL)
    assert found == PODS
    assert pieces.parts < len(TEXT) // unindented_pieces.PART_BYTES


def test_the_processes_end_with_the_reading(path: Path) -> None:
    with path.open("rb") as file:
        pieces = UnindentedPieces(file, find_frame(file), lambda _: None, CHUNK)
        next(iter(pieces))
        pids = [process.pid for process in pieces.processes]
        pieces.close()
    for pid in pids:
        with pytest.raises(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


def test_an_item_larger_than_a_part_is_read(path: Path) -> None:
    large = obj("Pod", "large", "x", metadata={"labels": {str(number): "value" for number in range(500)}})
    path.write_text(json.dumps(listing(*PODS, large, *PODS), indent=4))
    assert read([str(path)]) == without_processes(path)()


def test_a_budget_is_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubectl_sched.sources.budget.LEAST_OBJECTS", 0)
    monkeypatch.setattr("kubectl_sched.sources.budget.BYTES_OF_AN_OBJECT", 1000)
    with pytest.raises(BombError, match="more values than any dump of its size"):
        read([str(path)])


def test_progress_is_told(path: Path) -> None:
    told: list[tuple[int, int | None]] = []
    read([str(path)], lambda _, done, total: told.append((done, total)))
    read_by_processes = [done for done, _ in told][-10:]
    assert len(set(read_by_processes)) == len(read_by_processes)
    assert told[-1] == (TEXT.rindex("]"), len(TEXT))


def test_what_is_no_file_is_read_without_processes() -> None:
    assert not unindented_pieces.is_worth_it(io.BytesIO(TEXT.encode()))


@pytest.mark.parametrize(
    ("limit", "is_shared"), [("max 100000", True), ("100000 100000", False), ("150000 100000", True)]
)
def test_a_container_of_one_processor_reads_without_processes(
    path: Path, limit: str, *, is_shared: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cpu.max").write_text(f"{limit}\n")
    monkeypatch.undo()
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    monkeypatch.setattr(unindented_pieces, "_CPU_MAX", tmp_path / "cpu.max")
    monkeypatch.setattr(filling_process, "active_count", lambda: 1)  # an earlier test may have left a thread
    with path.open("rb") as file:
        assert unindented_pieces.is_worth_it(file) is is_shared
