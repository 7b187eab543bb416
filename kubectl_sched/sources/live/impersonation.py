"""Impersonation: the headers of client-go's transport/round_trippers.go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from kubectl_sched.sources.live.live_errors import KubeconfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAME_CHARACTERS = "!#$&'*+-.^_`|~"


def impersonation_headers(user: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The headers for a kubeconfig's `as`, `as-uid`, `as-groups` and `as-user-extra`, a name more than once.

    Raises KubeconfigError for groups, a UID or extras of nobody.
    """
    name, uid = user.get("as"), user.get("as-uid")
    groups, extra = user.get("as-groups") or [], user.get("as-user-extra") or {}
    if not name:
        if uid or groups or extra:
            raise KubeconfigError(
                "--as-group, --as-uid and --as-user-extra say more about a user whom --as names; add --as"
            )
        return ()
    headers = [("Impersonate-User", str(name))]
    headers += [("Impersonate-Uid", str(uid))] if uid else []
    headers += [("Impersonate-Group", str(group)) for group in groups]
    for key, values in extra.items():
        headers += [(f"Impersonate-Extra-{quote(str(key), safe=_NAME_CHARACTERS)}", str(value)) for value in values]
    return tuple(headers)
