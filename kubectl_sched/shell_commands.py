"""Builds every command that is printed for people to paste, as argument lists.

A command is quoted here and nowhere else. There is no command about a name that Kubernetes would not accept: the
functions then return None. What it accepts begins with a letter or a digit, so that no name is an option.
"""

from __future__ import annotations

import re
import shlex
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from kubectl_sched.api.apimachinery.validation import (
    dns_label_errors,
    label_key_errors,
    label_value_errors,
    subdomain_errors,
)
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.record import Record
from kubectl_sched.visible_text import is_plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Argv: TypeAlias = tuple[str, ...]

_EFFECTS: Final = frozenset({"NoSchedule", "PreferNoSchedule", "NoExecute"})
_FILE: Final = "scheduler.yaml"
_CONTINUED: Final = " \\"
_QUOTED: Final = pattern(r"""(?:'[^']*'|"[^"]*"|[^\s'"])+""")
"""An argument as `quoted` writes it, with the operator that stands at its end."""

_ESCAPE_OF_FISH: Final = pattern(r"\\(?=[\\'])")
"""A backslash that fish takes for an escape between single quotes."""


class Operator(StrEnum):
    """The only shell syntax in a command, after a whole argument list."""

    END = ""
    PIPE = " |"
    AND = " &&"
    BACKGROUND = " &"
    THEN = ";"
    INTO_FILE = f" > {_FILE}"
    INTO_DUMP = " > dump.json"
    INTO_FILE_THEN = f" > {_FILE};"


class ShellCommand(Record, frozen=True, kw_only=True):
    """Argument lists, each with the operator that follows it."""

    steps: tuple[tuple[Argv, Operator], ...]

    @property
    def argvs(self) -> tuple[Argv, ...]:
        """The argument list of each program that it runs."""
        return tuple(argv for argv, _ in self.steps)

    def __str__(self) -> str:
        return " ".join(f"{' '.join(map(quoted, argv))}{operator}" for argv, operator in self.steps)


def quoted(argument: str) -> str:
    """Quote an argument so that bash, zsh and fish read it as it is.

    Between single quotes fish takes a backslash before another, or before the end, for an escape. zsh expands `=ls`,
    and fish `%self`.
    """
    if argument.startswith(("=", "%self")):
        return f"'{argument[0]}'{shlex.quote(argument[1:])}"
    return _ESCAPE_OF_FISH.sub(r"""'"\\\\"'""", shlex.quote(argument))


def folded(command: str, width: int) -> list[str]:
    """The command on lines of at most that width, as far as its arguments are short enough.

    No line begins inside an argument: a long one is left to the terminal, which copies it without a break.
    """
    lines: list[str] = []
    for word in _QUOTED.findall(command):
        if lines and len(lines[-1]) + 1 + len(word) + len(_CONTINUED) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(f"  {word}" if lines else word)
    return [f"{line}{_CONTINUED}" for line in lines[:-1]] + lines[-1:]


def cordon_node(node: str) -> ShellCommand | None:
    """Let no more pods on the node."""
    return _of(["kubectl", "cordon", node]) if _are_names(node) else None


def drain_nodes(nodes: Sequence[str], *, has_daemons: bool, loses_data: bool, has_bare: bool) -> ShellCommand | None:
    """Drain the nodes, with the flags that their pods make necessary."""
    flags = {"--ignore-daemonsets": has_daemons, "--delete-emptydir-data": loses_data, "--force": has_bare}
    given = [flag for flag, is_needed in flags.items() if is_needed]
    return _of(["kubectl", "drain", *nodes, *given]) if _are_names(*nodes) else None


def plan_drain(node: str) -> ShellCommand | None:
    """Say what a drain of the node would do."""
    return _of(["kubectl", "sched", "drain", node]) if _are_names(node) else None


def evict_pod(namespace: str, name: str) -> ShellCommand | None:
    """Evict the pod as `kubectl drain` does, so that PodDisruptionBudgets are asked, and wait until it is gone."""
    if not _are_names(name) or dns_label_errors(namespace):
        return None
    metadata = plain_json({"name": name, "namespace": namespace})
    eviction = '{"apiVersion":"policy/v1","kind":"Eviction",', f'"metadata":{metadata}}}'  # two arguments fit on lines
    path = f"/api/v1/namespaces/{namespace}/pods/{name}/eviction"
    return ShellCommand(
        steps=(
            (("echo", *eviction), Operator.PIPE),
            (("kubectl", "create", "--raw", path, "-f", "-"), Operator.AND),
            (("kubectl", "wait", "--for=delete", f"pod/{name}", "-n", namespace, "--timeout=10m"), Operator.END),
        )
    )


def container_logs(namespace: str, pod: str, container: str) -> ShellCommand | None:
    """Show what the container wrote before its last restart."""
    if not _are_names(pod) or dns_label_errors(namespace) or dns_label_errors(container):
        return None
    return _of(["kubectl", "logs", "-p", pod, "-c", container, "-n", namespace])


def uncordon_node(node: str) -> ShellCommand | None:
    """Let pods on the node again."""
    return _of(["kubectl", "uncordon", node]) if _are_names(node) else None


def label_node(node: str, key: str, value: str, *, overwrite: bool = False) -> ShellCommand | None:
    """Give the node a label; kubectl changes one that is there only if it is told to."""
    if not _are_names(node) or label_key_errors(key) or label_value_errors(value):
        return None
    return _of(["kubectl", "label", "node", node, f"{key}={value}", *(["--overwrite"] if overwrite else [])])


def remove_taint(node: str, key: str, effect: str) -> ShellCommand | None:
    """Take the taints of that key and effect off the node."""
    if not _are_names(node) or label_key_errors(key) or effect not in _EFFECTS:
        return None
    return _of(["kubectl", "taint", "node", node, f"{key}:{effect}-"])


def describe_node(node: str) -> ShellCommand | None:
    """Show who has requested how much of the node."""
    return _of(["kubectl", "describe", "node", node]) if _are_names(node) else None


def describe(resource: str, namespace: str, name: str) -> ShellCommand | None:
    """Show an object of a namespace and its events; `resource` is a word of ours, as `daemonset`."""
    return _of(["kubectl", "describe", resource, name, "-n", namespace]) if _are_names(namespace, name) else None


def logs(namespace: str, pod: str, container: str = "") -> ShellCommand | None:
    """Show the log of a pod, or of one of its containers."""
    if not _are_names(namespace, pod, *filter(None, (container,))):
        return None
    return _of(["kubectl", "logs", pod, *(["-c", container] if container else []), "-n", namespace])


def explain_pod(namespace: str, name: str) -> ShellCommand | None:
    """Return the command that explains a pod; None if the names are not plain."""
    if not _are_names(namespace, name):
        return None
    return _of(["kubectl", "sched", "explain", "pod", name, "-n", namespace])


def delete_pods(namespace: str, names: Sequence[str]) -> ShellCommand | None:
    """Delete the pods of one namespace."""
    if not _are_names(*names) or dns_label_errors(namespace):
        return None
    return _of(["kubectl", "delete", *(f"pod/{name}" for name in names), "-n", namespace])


def delete_claim(namespace: str, name: str) -> ShellCommand | None:
    """Delete a claim without waiting for its finalizer, which stays as long as a pod uses the claim."""
    if not _are_names(name) or dns_label_errors(namespace):
        return None
    return _of(["kubectl", "delete", f"pvc/{name}", "-n", namespace, "--wait=false"])


def release_volume(name: str) -> ShellCommand | None:
    """Let other claims have the volume, with the data that is on it."""
    change = plain_json({"spec": {"claimRef": None}})
    return _of(["kubectl", "patch", "pv", name, "-p", change]) if _are_names(name) else None


def patch(kind: str, namespace: str, name: str, change: Mapping[str, Any], deleting: str = "") -> ShellCommand | None:
    """Apply a strategic merge patch to an object of a kind of Kubernetes' own, then delete a pod if one is named."""
    if not _are_names(name) or dns_label_errors(namespace):
        return None
    first = ("kubectl", "patch", f"{kind.lower()}/{name}", "-n", namespace, "-p", plain_json(change))
    if not deleting:
        return _of(first)
    then = delete_pods(namespace, (deleting,))
    return None if then is None else ShellCommand(steps=((first, Operator.AND), *then.steps))


def resize_pod(namespace: str, name: str, change: Mapping[str, Any]) -> ShellCommand | None:
    """Change the resources of a pod that runs by a strategic merge patch (kubectl 1.32 and later)."""
    if not _are_names(namespace, name):
        return None
    return _of(["kubectl", "patch", f"pod/{name}", "-n", namespace, "--subresource=resize", "-p", plain_json(change)])


def replace_pod(namespace: str, name: str, change: Mapping[str, Any]) -> ShellCommand | None:
    """Replace the pod by a copy with the strategic merge patch applied."""
    if not _are_names(name) or dns_label_errors(namespace):
        return None
    return ShellCommand(
        steps=(
            (("kubectl", "get", f"pod/{name}", "-n", namespace, "-o", "json"), Operator.PIPE),
            (("kubectl", "patch", "--local", "-f", "-", "-p", plain_json(change), "-o", "json"), Operator.PIPE),
            (("kubectl", "replace", "--force", "-f", "-"), Operator.END),
        )
    )


def get_config_map(namespace: str, name: str) -> ShellCommand | None:
    """Write the ConfigMap into scheduler.yaml."""
    if not _are_names(name) or dns_label_errors(namespace):
        return None
    return _into_file(["kubectl", "get", f"configmap/{name}", "-n", namespace, "-o", "yaml"])


def get_aks_configuration() -> ShellCommand:
    """Write the KubeSchedulerConfiguration of AKS into scheduler.yaml."""
    resource = "schedulerconfigurations.aks.azure.com/upstream"
    return _into_file(["kubectl", "get", resource, "-o", "jsonpath={.spec.rawConfig}"])


def read_host_file(node: str, path: str) -> ShellCommand | None:
    """Write a file of the node's host into scheduler.yaml."""
    if not _are_names(node) or not is_plain(path):
        return None
    pod = ["kubectl", "debug", f"node/{node}", "--quiet", "-it", "--profile=sysadmin", "--image=busybox"]
    return _into_file([*pod, "--", "cat", f"/host{path}"])


def get_configz(namespace: str, pod: str) -> ShellCommand | None:
    """Write what the kube-scheduler itself says of its configuration into scheduler.yaml."""
    if not _are_names(pod) or dns_label_errors(namespace):
        return None
    server = ("--server=https://localhost:10259", "--insecure-skip-tls-verify")
    return ShellCommand(
        steps=(
            (("kubectl", "port-forward", f"pod/{pod}", "-n", namespace, "10259"), Operator.BACKGROUND),
            (("sleep", "2"), Operator.THEN),
            (("kubectl", "get", *server, "--raw=/configz"), Operator.INTO_FILE_THEN),
            (("kill", "%1"), Operator.END),
        )
    )


def get_all(resources: Sequence[str]) -> ShellCommand:
    """Write the objects of these resources into dump.json."""
    argv = ("kubectl", "get", ",".join(resources), "-A", "-o", "json")
    return ShellCommand(steps=((argv, Operator.INTO_DUMP),))


def explain_from(file: str) -> ShellCommand | None:
    """Explain the pods of a file."""
    if not is_plain(file):
        return None
    return _of(["kubectl", "sched", "explain", *([f"--from={file}"] if file.startswith("-") else ["--from", file])])


def message_reason(name: str) -> ShellCommand | None:
    """Explain one reason, by its name: letters and digits."""
    return _of(["kubectl", "sched", "message", "--reason", name]) if name.isalnum() else None


def plain_json(value: Any) -> str:
    r"""Return JSON of printable ASCII alone, in which a shell finds nothing to expand: `$` is written as \u0024.

    A backslash stands before `u` or a letter alone, as fish takes two of them for one.
    """
    import json

    text = json.dumps(value, separators=(",", ":"))
    return re.sub(r"""\\["\\]|[$`!'\x7f]""", lambda found: f"\\u{ord(found[0][-1]):04x}", text)


def _are_names(*names: str) -> bool:
    return not any(subdomain_errors(name) for name in names)


def _of(argv: Sequence[str]) -> ShellCommand:
    return ShellCommand(steps=((tuple(argv), Operator.END),))


def _into_file(argv: Sequence[str]) -> ShellCommand:
    return ShellCommand(steps=((tuple(argv), Operator.INTO_FILE),))
