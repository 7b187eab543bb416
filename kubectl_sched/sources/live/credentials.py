"""Credentials: the Authorization header and the client certificate, made anew once they are refused."""

from __future__ import annotations

import base64
import threading
from typing import TYPE_CHECKING, NamedTuple

from kubectl_sched.sources.live.endpoint import Material
from kubectl_sched.sources.live.live_errors import ClusterError, KubeconfigError

if TYPE_CHECKING:
    from kubectl_sched.sources.live.endpoint import Endpoint, User


class Shown(NamedTuple):
    """The credentials that a server is shown: a header's value, a certificate with its key, or neither."""

    authorization: str | None = None
    certificate: Material = Material()
    key: Material = Material()
    made: int = 0
    """The number of times that they were made anew: a file may hold another certificate by now."""


class Credentials:
    """Credentials of one user; plugins are asked when something is first needed. May be used by several threads."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._lock = threading.Lock()
        self._shown: Shown | None = None

    @property
    def renewable(self) -> bool:
        """Report whether asking again may give others: a plugin, a provider, or a file that is rewritten."""
        user = self._endpoint.user
        files = (user.token_file, user.certificate.path, user.key.path)
        return any(files) or bool(not user.token and (user.plugin or user.auth_provider))

    def shown(self, refused: Shown | None = None) -> Shown:
        """Return what to show now. If the server `refused` something, other credentials are got, once."""
        with self._lock:
            if self._shown is None or (refused is not None and self._shown is refused):
                made = 0 if self._shown is None else self._shown.made + 1
                self._shown = self._made(anew=refused is not None)._replace(made=made)
            return self._shown

    def _made(self, *, anew: bool) -> Shown:
        user = self._endpoint.user
        mine = Shown(None, user.certificate, user.key)
        if not self._endpoint.server.startswith("https:"):
            # As kubectl: nothing secret goes over a line that anybody may read.
            return Shown()
        token = _token(user)
        if token:
            return mine._replace(authorization=f"Bearer {token}")
        if user.username:
            pair = base64.b64encode(f"{user.username}:{user.password}".encode()).decode()
            return mine._replace(authorization=f"Basic {pair}")
        if user.plugin is not None and not user.certificate:
            return self._from_plugin(mine)
        if user.auth_provider is not None:
            from kubectl_sched.sources.live.auth_provider import id_token

            token = id_token(user, anew=anew, timeout=self._endpoint.timeout)
            return mine._replace(authorization=f"Bearer {token}")
        return mine

    def _from_plugin(self, mine: Shown) -> Shown:
        from kubectl_sched.sources.live.exec_plugin import run_plugin

        assert self._endpoint.user.plugin is not None  # noqa: S101 - asked only then
        status = run_plugin(self._endpoint.user.plugin, self._endpoint)
        if status.certificate and status.key:
            mine = mine._replace(
                certificate=Material(data=status.certificate.encode()), key=Material(data=status.key.encode())
            )
        elif not status.token:
            raise ClusterError(f"the credential plugin of user {self._endpoint.user.name!r} gave no token")
        return mine._replace(authorization=f"Bearer {status.token}") if status.token else mine


def _token(user: User) -> str | None:
    """Return the token of the file, which is kept up to date, or the one beside it if that cannot be read."""
    if user.token_file is None:
        return user.token
    try:
        return Material(path=user.token_file).read().decode("utf-8", "replace").strip() or user.token
    except KubeconfigError:
        if user.token is None:
            raise
        return user.token
