"""Lists the modules of Kubernetes, Karpenter and Kueue that are newer than what was read, for somebody to read them.

    python -m tests.oracle.newer

asks the module proxy with the ordinary `go` command. A proxy may serve a version that its list leaves out, so the next
patch release of each exact minor is asked for by name, too, and each further tag of a minor before its release. The
first line of the output says what was read. The exit code is 1 if there is something to read.
"""

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from kubectl_sched.config.versions import OLDEST_EXACT, PRERELEASES, SUPPORTED, KubeVersion, newest_patch
from kubectl_sched.config.versions_page import read_modules
from kubectl_sched.node_provisioning.karpenter import karpenter_release
from tests.oracle.build import go

MODULE = "k8s.io/kubernetes"
_KARPENTER = [KubeVersion.parse(each.version) for each in karpenter_release.RELEASES]
OTHERS = {
    "sigs.k8s.io/karpenter": tuple({each.of_minor: each for each in _KARPENTER}.values()),
    "sigs.k8s.io/kueue": (KubeVersion(0, 18, 4), KubeVersion(0, 19, 2)),
}
"""The newest release of each minor that was read, by module, the oldest minor first."""

_TAG = re.compile(r"v(\d+)\.(\d+)\.(\d+)(?:-(alpha|beta|rc)\.(\d+))?")
_STAGES = ("alpha", "beta", "rc", "")


class Tag(NamedTuple):
    """A version of the module; they are ordered as Go orders them."""

    version: KubeVersion
    stage: int
    number: int

    @classmethod
    def parse(cls, text: str) -> "Tag | None":
        """Read v1.38.0-beta.0; None for a text of another form."""
        found = _TAG.fullmatch(text)
        if found is None:
            return None
        return cls(KubeVersion(*map(int, found.groups()[:3])), _STAGES.index(found[4] or ""), int(found[5] or 0))

    def __str__(self) -> str:
        stage = f"-{_STAGES[self.stage]}.{self.number}" if _STAGES[self.stage] else ""
        return f"v{self.version}{stage}"


def read_up_to(minor: KubeVersion) -> Tag:
    """Return the newest tag of a supported minor whose changes were read."""
    prerelease = Tag.parse(PRERELEASES.get(minor, ""))
    return prerelease or Tag(newest_patch(minor), len(_STAGES) - 1, 0)


def to_read(served: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each served version that is newer than what was read, and for each read without it."""
    for tag in sorted(each for each in map(Tag.parse, served) if each is not None):
        minor = tag.version.of_minor
        if minor > SUPPORTED[-1]:
            yield f"{tag} is of a minor that is not replayed: docs/development/adding-a-minor.md"
        elif minor in SUPPORTED and tag > read_up_to(minor):
            yield f"{tag} is newer than {read_up_to(minor)}, the newest of {minor} that was read"
        elif minor >= OLDEST_EXACT and tag.stage == len(_STAGES) - 1 and tag.version not in read_modules(minor):
            yield f"{tag} is served, and was read from the changelog alone, if at all"


def to_read_beside(module: str, served: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each served release of Karpenter or Kueue that is newer than what was read of its minor."""
    read = {each.of_minor: each for each in OTHERS[module]}
    oldest, newest = OTHERS[module][0], OTHERS[module][-1]
    for tag in sorted(each for each in map(Tag.parse, served) if each is not None):
        known = read.get(tag.version.of_minor, newest)
        if tag.version.of_minor >= oldest.of_minor and tag.version > known:
            yield f"{module} {tag} is newer than v{known}, which was read"


def what_was_read() -> str:
    """Return a line that names the newest release of each minor that was read."""
    kubernetes = [str(read_up_to(minor)) for minor in SUPPORTED if minor >= OLDEST_EXACT]
    read = {MODULE: kubernetes, **{module: [f"v{each}" for each in known] for module, known in OTHERS.items()}}
    return "read: " + "; ".join(f"{module} {', '.join(tags)}" for module, tags in read.items())


def served(module: str, more: Iterable[str]) -> list[str]:
    """Return the versions that the proxy lists, and those of `more` that it serves without listing them."""
    listed = _go("list", "-m", "-versions", module).split()[1:]
    return [*listed, *(tag for tag in more if tag not in listed and _is_served(module, tag))]


def _next_tags() -> Iterator[str]:
    for minor in SUPPORTED:
        if minor in PRERELEASES:
            read = read_up_to(minor)
            yield str(read._replace(number=read.number + 1))
            yield from (f"v{minor}.0-rc.0", f"v{minor}.0")
        elif minor >= OLDEST_EXACT:
            newest = newest_patch(minor)
            yield f"v{KubeVersion(newest.major, newest.minor, newest.patch + 1)}"


def _next_releases(module: str) -> Iterator[str]:
    for each in OTHERS[module]:
        yield f"v{KubeVersion(each.major, each.minor, each.patch + 1)}"
    newest = OTHERS[module][-1]
    yield f"v{KubeVersion(newest.major, newest.minor + 1, 0)}"


def _is_served(module: str, tag: str) -> bool:
    try:
        _go("list", "-m", f"{module}@{tag}")
    except subprocess.CalledProcessError:
        return False
    return True


def _go(*arguments: str) -> str:
    # Outside of a module, so that nothing of this repository chooses the version.
    done = subprocess.run([go(), *arguments], cwd=Path("/"), capture_output=True, text=True, check=True)
    return done.stdout


def main() -> int:
    """Print what was read, and what there is to read."""
    found = list(to_read(served(MODULE, _next_tags())))
    for module in OTHERS:
        found += to_read_beside(module, served(module, _next_releases(module)))
    print(what_was_read(), *(found or ["nothing is newer"]), sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
