"""kubectl takes its connection and namespace flags before or after the command's name; so do we."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

TAKE_A_VALUE = frozenset(
    {
        *("--config", "--feature-gates", "--from", "--kube-version", "--namespace", "--profile", "-n"),
        *("--as", "--as-group", "--as-uid", "--certificate-authority", "--client-certificate", "--client-key"),
        *("--cluster", "--context", "--kubeconfig", "--request-timeout", "--server", "-s", "--tls-server-name"),
        *("--token", "--user"),
    }
)
STAND_ALONE = frozenset({"--all-namespaces", "--insecure-skip-tls-verify", "-A"})
_SHORT = ("-n", "-s")


def command_first(arguments: Sequence[str]) -> list[str]:
    """The arguments with flags that stand before the command's name moved behind it."""
    moved: list[str] = []
    rest = list(arguments)
    while rest:
        flag, equals, _ = rest[0].partition("=")
        if flag in TAKE_A_VALUE:
            width = 1 if equals else 2
        elif flag in STAND_ALONE or flag.startswith(_SHORT):
            width = 1
        else:
            break
        moved += rest[:width]
        rest = rest[width:]
    return [*rest[:1], *moved, *rest[1:]] if rest else moved
