"""Finds the files that may hold objects: in files, directories and archives, and in archives inside them."""

from __future__ import annotations

import io
import os
import re
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

from kubectl_sched.bounded_files import is_stream_or_file
from kubectl_sched.errors import words_of
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.near_names import near_files
from kubectl_sched.sources.budget import Budget
from kubectl_sched.sources.dump.json_lists import HEAD_BYTES, is_list
from kubectl_sched.sources.dump.magic_numbers import compression_of, is_tar
from kubectl_sched.sources.dump_errors import BombError, DumpError
from kubectl_sched.typed_paths import is_directory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_sched.sources.dump.archives import Member

    Progress = Callable[[str, int, int | None], None]
    """Told what is being read, how many bytes of it are done, and how many there are if that is known."""

_WANTED = pattern(
    r"\.(?:json|ya?ml|jsonl|ndjson|tar)(?:\.(?:gz|xz|bz2|zst))?$|\.(?:tgz|zip)$|_get_-o_(?:json|yaml)_[^/]*$",
    re.IGNORECASE,
)
"""By their endings; sosreport names a file after the command whose output it is."""

_MAGIC_BYTES = 512
_NESTING = 3
_STEP = 8 << 20


def _tell_nobody(_: int) -> None: ...


class Source(NamedTuple):
    """A file that may hold objects.

    `name` is for people, `path` is where it lies in the layout; `named` says that it was asked for by itself. Content
    that is expanded while it is read cannot be sought; then `from_start` gives all of it once more, in memory. A reader
    tells `tell` how far it is.
    """

    name: str
    path: str
    content: BinaryIO
    named: bool
    from_start: Callable[[], BinaryIO] | None = None
    tell: Callable[[int], None] = _tell_nobody


@contextmanager
def _read_errors(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DumpError(f"{name}: it cannot be read: {words_of(error)}") from None


class Walk:
    """Goes through what was asked for. `met` are the files seen, `problems` what could not be read besides."""

    def __init__(self, progress: Progress | None = None, budget: Budget | None = None) -> None:
        self.met: list[str] = []
        self.problems: list[str] = []
        self._progress = progress
        self._budget = budget or Budget()

    def sources(self, path: str) -> Iterator[Source]:
        """Every file at or below the path, `-` being standard input.

        Raises DumpError for a path that cannot be read; a file below a directory or in an archive that cannot be
        read is among the `problems` instead.
        """
        if not path:
            raise DumpError("--from is given an empty path; name a file, a directory, an archive or -")
        if path == "-":
            from kubectl_sched.sources.standard_input import standard_input

            stream = standard_input()
            _refuse_device(stream, "standard input")
            content = _all_of(stream, "standard input", self._progress)
            yield from self._opened(content, Source("standard input", "", content, named=True))
        elif is_directory(path):
            yield from self._directory(Path(path))
        else:
            yield from self._file(path, Path(path).name, named=True)

    def _directory(self, top: Path) -> Iterator[Source]:
        within = top.resolve().name
        for folder, folders, files in os.walk(top, onerror=self._unreadable):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(files):
                file = Path(folder, name)
                inside = f"{within}/{file.relative_to(top).as_posix()}"
                self.met.append(inside)
                if not _is_wanted(inside) or file.is_symlink() or not file.is_file():
                    continue
                try:
                    yield from self._file(str(file), inside, named=False)
                except BombError:
                    raise
                except DumpError as error:
                    self.problems.append(str(error))

    def _unreadable(self, error: OSError) -> None:
        self.problems.append(f"{error.filename}: {words_of(error)}; nothing in it was read")

    def _file(self, name: str, path: str, *, named: bool) -> Iterator[Source]:
        try:
            status = Path(name).stat()
            if not is_stream_or_file(name, status):
                raise DumpError(
                    f"{name}: it is a {'named pipe' if stat.S_ISFIFO(status.st_mode) else 'device'}, no dump"
                )
            file = Path(name).open("rb")  # noqa: SIM115 - closed below; only this may fail for want of the file
        except OSError as error:
            raise DumpError(f"{name}: {words_of(error)}{near_files(name)}") from None
        with file, _read_errors(name):
            content: BinaryIO = file
            source = Source(name, path, content, named)
            _refuse_device(file, name)
            if not file.seekable():
                content = _all_of(file, name, self._progress)
            elif self._progress is not None:
                progress, size = self._progress, status.st_size
                source = source._replace(tell=lambda done: progress(name, done, size))
                content = cast("BinaryIO", io.BufferedReader(_Counted(file, name, size, progress), _STEP))
            yield from self._opened(content, source)

    def _opened(self, content: BinaryIO, source: Source, depth: int = 0) -> Iterator[Source]:
        """The source itself, or what is in it. `content` is what `source` holds, which may be an archive."""
        start = content.read(_MAGIC_BYTES)
        content.seek(0)
        is_zip = start.startswith((b"PK\x03\x04", b"PK\x05\x06"))
        if not is_zip and not is_tar(start, source.path) and compression_of(start) is None:
            yield source._replace(content=content)
            return
        if depth >= _NESTING:
            raise DumpError(f"{source.name}: archives are nested more than {_NESTING} deep in it, as in no dump")
        from kubectl_sched.sources.dump import archives, compression

        if depth == 0:
            self._budget.allow(_size(content))
        if is_zip:
            members = archives.zip_members(content, source.name, self._wanted, self._budget)
            yield from self._members(members, source, depth)
        elif compression_of(start) is None:
            yield from self._members(archives.tar_members(content, source.name, self._wanted), source, depth)
        else:
            stream = io.BufferedReader(compression.Expanded(content, source.name, self._budget), 1 << 18)
            inner = source._replace(path=compression.without_suffix(source.path), tell=_tell_nobody)
            start = stream.peek(_MAGIC_BYTES)
            if is_tar(start, inner.path):
                members = archives.tar_members(stream, source.name, self._wanted)
                yield from self._members(members, source, depth)
            elif source.named and is_list(start):
                yield from self._expanded_ahead(content, inner)
            else:
                yield from self._opened(_all_of(stream, source.name), inner, depth + 1)

    def _expanded_ahead(self, content: BinaryIO, source: Source) -> Iterator[Source]:
        """Yield a probable list, expanded while it is decoded; if it proves to be something else, from the start."""
        from kubectl_sched.sources.dump.compression import Expanded, expanded

        once = expanded(content, source.name, self._budget)

        def from_start() -> BinaryIO:
            once.close()
            self._budget.expand(-once.expanded, source.name)
            content.seek(0)
            return _all_of(io.BufferedReader(Expanded(content, source.name, self._budget), _STEP), source.name)

        try:
            yield source._replace(content=io.BufferedReader(once, HEAD_BYTES), from_start=from_start)
        finally:
            once.close()

    def _members(self, members: Iterator[Member], source: Source, depth: int) -> Iterator[Source]:
        for path, content in members:
            member = Source(f"{source.name}:{path}", path, content, named=False)
            try:
                yield from self._opened(content, member, depth + 1)
            except BombError:
                raise
            except DumpError as error:
                self.problems.append(str(error))

    def _wanted(self, path: str) -> bool:
        self.met.append(path)
        return _is_wanted(path)


def _is_wanted(path: str) -> bool:
    if _WANTED.search(path) is not None:
        return True
    from kubectl_sched.sources.discovery.scheduler_logs import logs_of

    return logs_of(path) is not None


class _Counted(io.RawIOBase):
    """A file that tells how far it has been read."""

    def __init__(self, file: BinaryIO, name: str, size: int, progress: Progress) -> None:
        super().__init__()
        self._file = file
        self._name = name
        self._size = size
        self._progress = progress

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._file.seekable()

    def fileno(self) -> int:
        return self._file.fileno()

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def readinto(self, buffer: Any, /) -> int:
        count: int = cast("Any", self._file).readinto(buffer)
        self._progress(self._name, self._file.tell(), self._size)
        return count


def _refuse_device(file: BinaryIO, name: str) -> None:
    """Raises DumpError for a device that is not empty, as it may have no end. Pipes and terminals cannot be sought."""
    with suppress(io.UnsupportedOperation):  # of what has no descriptor
        if file.seekable() and not stat.S_ISREG(os.fstat(file.fileno()).st_mode) and file.read(1):
            raise DumpError(f"{name}: it is a device, no dump")


def _size(file: BinaryIO) -> int:
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    return size


def _all_of(file: Any, name: str, progress: Progress | None = None) -> io.BytesIO:
    """The rest of a stream, in memory."""
    content = io.BytesIO()
    while piece := file.read(_STEP):
        content.write(piece)
        if progress is not None:
            progress(name, content.tell(), None)
    content.seek(0)
    return content
