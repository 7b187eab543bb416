"""The real kube-scheduler as a program that answers requests, built once for each Kubernetes version.

    python -m tests.oracle.build 1.36 1.36.5 known     builds ahead; `known` are all of KNOWN_PATCHES

    with Oracle("1.36") as oracle:
        answers = oracle.ask({"id": "x", "objects": [...], "config": "", "featureGates": {}, "pods": ["default/web-0"]})

What a request and an answer hold is in README.md beside this file. Building takes some minutes the first time and is
kept under ${XDG_CACHE_HOME:-~/.cache}/kubectl-sched/oracle.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

VERSIONS = {
    "1.33": "1.33.13",
    "1.34": "1.34.4",
    "1.35": "1.35.4",
    "1.36": "1.36.2",
    "1.37": "1.37.1",
    "1.38": "1.38.0-beta.0",
}
"""The patch release, or the tag before the first one, that stands for each minor."""

KNOWN_PATCHES = {
    "1.33": ("1.33.0", "1.33.1", "1.33.4", "1.33.5", "1.33.6", "1.33.13"),
    "1.34": ("1.34.0", "1.34.1", "1.34.2", "1.34.4", "1.34.11", "1.34.12"),
    "1.35": ("1.35.0", "1.35.1", "1.35.4", "1.35.5", "1.35.6", "1.35.8"),
    "1.36": ("1.36.0", "1.36.1", "1.36.2", "1.36.3", "1.36.4", "1.36.5"),
    "1.37": ("1.37.0", "1.37.1", "1.37.2"),
}
"""Patch releases whose modules can be had: the oldest and the newest, and both sides of what a patch changed."""

PROGRAM = Path(__file__).parent / "program"

OWN_GO = (1, 26)
"""The Go that must be installed; what a module needs beyond it is fetched."""

Request = dict[str, Any]
Answer = dict[str, Any]


class GoMissingError(Exception):
    """Go is not there, and neither is a program built before."""

    def __init__(self) -> None:
        super().__init__(
            "The oracle has to be built with Go 1.26 or newer: install it from https://go.dev/dl, put `go` on the "
            "PATH and run the tests again."
        )


class OracleCrashedError(Exception):
    """kube-scheduler itself went down over a request."""


def cache_home() -> Path:
    """Where built programs are kept, outside of the source tree."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "kubectl-sched"


def go() -> str:
    """The path of the `go` command."""
    found = shutil.which("go")
    if found is None:
        raise GoMissingError
    return found


def fingerprint(sources: list[Path]) -> str:
    """A short hash of the names and contents of the sources."""
    digest = hashlib.sha256()
    for source in sorted(sources):
        content = source.read_bytes()
        digest.update(f"{source.name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:16]


def patch_of(version: str) -> str:
    """The patch release that a version means: itself, or the one that stands for the minor."""
    return VERSIONS.get(version, version)


def minor_of(version: str) -> str:
    """`1.36` of `1.36` and of `1.36.5`."""
    return ".".join(version.split(".")[:2])


def program(version: str) -> Path:
    """The oracle for a minor such as "1.36", or a patch release such as "1.36.5", built if it is not there yet."""
    minor, patch = minor_of(version), patch_of(version)
    module = PROGRAM / f"v{minor}.mod"
    sources = [*PROGRAM.glob("*.go"), *PROGRAM.glob("*.s"), module, module.with_suffix(".sum")]
    target = cache_home() / "oracle" / f"{patch}-{fingerprint(sources)}" / "oracle"
    if not target.exists():
        flags = ["-tags", tags(minor), "-ldflags", f"-X main.kubernetesVersion={patch}"]
        if patch == VERSIONS[minor]:
            build(module, target, flags=flags)
        else:
            with tempfile.TemporaryDirectory() as folder:
                build(
                    of_patch(module, minor, patch, Path(folder)),
                    target,
                    flags=["-mod=mod", *flags],
                    sources=PROGRAM,
                )
    return target


def of_patch(module: Path, minor: str, patch: str, folder: Path) -> Path:
    """A copy of the module file in `folder`, with Kubernetes and what is released with it at another patch release."""
    copy = folder / module.name
    known, wanted = (version.removeprefix("1.") for version in (VERSIONS[minor], patch))
    text = module.read_text()
    for major in ("v0", "v1"):
        text = re.sub(rf"{major}\.{re.escape(known)}(?![\d.])", f"{major}.{wanted}", text)
    copy.write_text(text)
    copy.with_suffix(".sum").write_bytes(module.with_suffix(".sum").read_bytes())
    return copy


def tags(minor: str) -> str:
    """The build tags of a minor: like Go's own release tags, one for it and each before it."""
    return ",".join(f"k8s{known}" for known in VERSIONS if known <= minor)


def toolchain_of(module: Path) -> str:
    """`go1.27.0+auto` for a module file that needs a newer Go: the command itself looks at go.mod alone."""
    named = re.search(r"^go (\d+)\.(\d+)\S*$", module.read_text(), re.MULTILINE)
    newer = named is not None and (int(named[1]), int(named[2])) > OWN_GO
    return f"{named[0].replace(' ', '')}+auto" if named is not None and newer else ""


def build(
    module: Path,
    target: Path,
    *,
    flags: list[str],
    package: str = ".",
    sources: Path | None = None,
    toolchain: str = "",
) -> None:
    """Build a package of `sources`, else of what is beside the module file, into `target`, which appears when whole.

    A toolchain such as "go1.26.9" is fetched by Go itself where it is not the one that is installed; without it the one
    is taken that the module file needs.
    """
    command = go()
    toolchain = toolchain or toolchain_of(module)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        partial = Path(folder) / target.name
        arguments = [command, "build", f"-modfile={module}", *flags, "-o", str(partial), package]
        variables = {**os.environ, "GOTOOLCHAIN": toolchain} if toolchain else None
        folder_of_sources = sources or module.parent
        done = subprocess.run(
            arguments, cwd=folder_of_sources, env=variables, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            message = f"{' '.join(arguments)} failed:\n{done.stderr}"
            raise RuntimeError(message)
        partial.replace(target)


class Oracle:
    """A running oracle of a minor or a patch release; it starts with the first request and again after a crash."""

    def __init__(self, version: str = "1.36") -> None:
        self.minor = minor_of(version)
        self.patch = patch_of(version)
        self._path = program(version)
        self._process: subprocess.Popen[bytes] | None = None
        self._decode = msgspec.json.Decoder(Answer).decode

    def ask(self, request: Request) -> list[Answer]:
        """One answer for each of the request's pods, for each step of its sequence, or for each of its groups.

        Raises OracleCrashedError where kube-scheduler goes down; the next request starts it again.
        """
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        expected = sum(len(request.get(asked) or []) for asked in ("pods", "sequence", "groups"))
        expected += bool(request.get("queue") or request.get("hints") or request.get("loop"))
        try:
            process.stdin.write(msgspec.json.encode(request) + b"\n")
            process.stdin.flush()
            lines = [process.stdout.readline() for _ in range(expected)]
        except BrokenPipeError:
            lines = [b""]
        if not all(lines):
            raise OracleCrashedError(self._post_mortem())
        return [self._decode(line) for line in lines]

    def defaults(self) -> dict[str, Any]:
        """The default plugins, weights and arguments, and every feature gate of this version."""
        done = subprocess.run([self._path, "defaults"], capture_output=True, check=True)
        return msgspec.json.decode(done.stdout, type=dict[str, Any])

    def close(self) -> None:
        """End the program."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()
            self._stderr.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the program
            self._process = subprocess.Popen(
                [self._path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr
            )
        return self._process

    def _post_mortem(self) -> str:
        assert self._process is not None
        self._process.wait(timeout=10)
        self._stderr.seek(0)
        said = self._stderr.read().decode(errors="replace")
        self.close()
        return said[:4000]


def main() -> None:
    """Build the oracles that the command line names."""
    parser = argparse.ArgumentParser(description="Builds oracles of minors and of patch releases.")
    parser.add_argument("versions", nargs="+", metavar="1.36.5", help="a minor, a patch release, or known")
    for version in parser.parse_args().versions:
        for patch in (each for known in KNOWN_PATCHES.values() for each in known) if version == "known" else (version,):
            print(program(patch), flush=True)


if __name__ == "__main__":
    main()
