"""kwok, and Kubernetes' own end-to-end tests of scheduling and devices: built once from their Go modules and kept."""

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.e2e.control_plane import MINOR
from tests.oracle.build import VERSIONS, cache_home, fingerprint, go

KWOK = Path(__file__).parent / "kwok"
SUITE = Path(__file__).parent / "kubernetes_suite"

SUITES = (MINOR, "1.37")
"""The minors whose tests are run."""


def kwok() -> Path:
    """The path of kwok, built if need be."""
    return _built(_kwok_path(), KWOK / "go.mod", "build", "sigs.k8s.io/kwok/cmd/kwok")


def suite(minor: str = MINOR) -> Path:
    """The path of the program that runs a minor's tests, built if need be: some five minutes on two cores."""
    return _built(_suite_path(minor), _suite_module(minor), "test", "-c", "-vet=off", ".")


def are_built() -> bool:
    """All are there already."""
    return all(path.exists() for path in (_kwok_path(), *map(_suite_path, SUITES)))


def _kwok_path() -> Path:
    return cache_home() / "kwok" / fingerprint([KWOK / "go.mod", KWOK / "go.sum"]) / "kwok"


def _suite_module(minor: str) -> Path:
    return SUITE / ("go.mod" if minor == MINOR else f"v{minor}.mod")


def _suite_path(minor: str) -> Path:
    module = _suite_module(minor)
    sources = [module, module.with_suffix(".sum"), SUITE / "suite_test.go"]
    return cache_home() / "kubernetes_suite" / f"{VERSIONS[minor]}-{fingerprint(sources)}" / "suite"


def _built(target: Path, module: Path, verb: str, *arguments: str) -> Path:
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            partial = Path(folder) / target.name
            command = [go(), verb, f"-modfile={module}", "-o", str(partial), *arguments]
            subprocess.run(command, cwd=module.parent, check=True)
            partial.replace(target)
    return target


if __name__ == "__main__":
    if sys.argv[1:] == ["--are-built"]:
        sys.exit(not are_built())
    print(kwok(), *map(suite, SUITES), sep="\n")
