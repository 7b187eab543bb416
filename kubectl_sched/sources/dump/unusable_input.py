"""The message for files without a usable dump, with the command that makes one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.shell_commands import get_all
from kubectl_sched.sources.dump_errors import DumpError
from kubectl_sched.sources.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.sources.dump.collection import Collection

_NOT_ASKED_FOR = frozenset({"ConfigMap", "Event", "Lease"})

_TEXTS = (
    (pattern(rb"\0|\A%PDF-"), "it is binary data, no dump"),
    (
        pattern(rb"^Name:\s{2,}\S.*\n(?:.*\n){0,8}?(?:Namespace|Roles|Labels|Priority):\s", re.MULTILINE),
        "it is the text of `kubectl describe`, which leaves out most of what the scheduler reads",
    ),
    (
        pattern(rb"\A\s*(?:NAMESPACE +)?(?:NAME|LAST SEEN) +[A-Z]"),
        "it is the table of `kubectl get`, which leaves out what the scheduler reads",
    ),
    (pattern(rb"\A\s*<(?:!doctype|html|\?xml)", re.IGNORECASE), "it is a web page, no dump"),
    (
        pattern(rb"\A\s*(?:[IWEF]\d{4} \d\d:\d\d:\d\d|time=\"|\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d)"),
        "it is a log, which does not hold the objects that the scheduler reads",
    ),
)
_KUBECTL_SAID = pattern(
    rb"\A\s*((?:Error from server|[Ee]rror: |Unable to connect to the server|The connection to the server)[^\n]*)"
)
_SCHEDULER_SAID = b"nodes are available: "

_BUNDLES = (
    (
        pattern(r"eks_i-[0-9a-f]+|(?:^|/)(?:ipamd|var_log/aws-routed-eni)(?:/|$)"),
        "an EKS log collector's bundle holds logs of one node, but no objects of the cluster",
    ),
    (
        pattern(r"periscope|(?:^|/)(?:kubeletcmd|kubeobjects|networkoutbound|networkconfig)[/_-]", re.IGNORECASE),
        "an aks-periscope bundle holds `kubectl describe` texts and logs, but no objects of the cluster",
    ),
)


def good_dump() -> str:
    """The command that makes a dump with everything that is read."""
    asked_for = [kind for kind in KINDS if kind.name not in _NOT_ASKED_FOR and kind.served_everywhere]
    return str(get_all([kind.resource for kind in asked_for]))


def foreign_text(data: bytes) -> str | None:
    """Name the kind of a file that people take for a dump; None if it is none of the known ones."""
    start = data[:4096]
    said = _KUBECTL_SAID.search(start)
    if said is not None:
        return f"kubectl wrote an error instead of objects: {said[1].decode(errors='replace').strip()}"
    known = next((told for expression, told in _TEXTS if expression.search(start)), None)
    if known is None or _SCHEDULER_SAID not in data:
        return known
    return f"{known}; what the scheduler says in it is explained by `kubectl sched explain message - < FILE`"


def refusal(paths: Sequence[str], met: Sequence[str], collection: Collection) -> DumpError:
    """Return the reason why the files are unusable, and the command that makes a dump."""
    return DumpError(f"{', '.join(paths)}: {_reason(paths, met, collection)}; a good dump is made by `{good_dump()}`")


def _reason(paths: Sequence[str], met: Sequence[str], collection: Collection) -> str:
    for expression, said in _BUNDLES:
        if any(expression.search(name) for name in (*paths, *met)):
            return said
    if collection.refusals:
        return f"it holds an error of the API server instead of objects ({next(iter(collection.refusals))})"
    if collection.passed_over:
        return f"there are no nodes and pods in it, only {_some(sorted(collection.passed_over))}"
    if collection.warnings:
        return f"there is nothing in it that can be read ({next(iter(collection.warnings))})"
    if met:
        return f"none of its {len(met)} files holds Kubernetes objects"
    return "there are no Kubernetes objects in it"


def _some(kinds: list[str]) -> str:
    return ", ".join(kinds[:5]) + (f" and {len(kinds) - 5} other kinds" if len(kinds) > 5 else "")
