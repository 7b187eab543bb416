"""kwok, and Kubernetes' own end-to-end tests of scheduling and devices: built once from their Go modules and kept."""

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.e2e.control_plane import MINOR
from tests.oracle.build import VERSIONS, cache_home, fingerprint, go

KWOK = Path(__file__).parent / "kwok"
SUITE = Path(__file__).parent / "kubernetes_suite"


def kwok() -> Path:
    """The path of kwok, built if need be."""
    return _built(_kwok_path(), KWOK, "build", "sigs.k8s.io/kwok/cmd/kwok")


def suite() -> Path:
    """The path of the program that runs Kubernetes' tests, built if need be: some five minutes on two cores."""
    return _built(_suite_path(), SUITE, "test", "-c", "-vet=off", ".")


def are_built() -> bool:
    """Both are there already."""
    return _kwok_path().exists() and _suite_path().exists()


def _kwok_path() -> Path:
    return cache_home() / "kwok" / fingerprint([KWOK / "go.mod", KWOK / "go.sum"]) / "kwok"


def _suite_path() -> Path:
    sources = [SUITE / name for name in ("go.mod", "go.sum", "suite_test.go")]
    return cache_home() / "kubernetes_suite" / f"{VERSIONS[MINOR]}-{fingerprint(sources)}" / "suite"


def _built(target: Path, module: Path, verb: str, *arguments: str) -> Path:
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            partial = Path(folder) / target.name
            subprocess.run([go(), verb, "-o", str(partial), *arguments], cwd=module, check=True)
            partial.replace(target)
    return target


if __name__ == "__main__":
    if sys.argv[1:] == ["--are-built"]:
        sys.exit(not are_built())
    print(kwok(), suite(), sep="\n")
