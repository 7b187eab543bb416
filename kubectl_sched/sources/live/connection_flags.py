"""The cluster to ask, and the user to ask as: kubectl's flags of the same names."""

from __future__ import annotations

from kubectl_sched.record import Record


class Connection(Record, frozen=True, kw_only=True):
    """The flags of the command line; those that are None or empty come from the kubeconfig."""

    kubeconfig: str | None = None
    context: str | None = None
    cluster: str | None = None
    user: str | None = None
    namespace: str | None = None
    server: str | None = None
    token: str | None = None
    username: str | None = None
    password: str | None = None
    as_user: str | None = None
    as_groups: tuple[str, ...] = ()
    as_uid: str | None = None
    as_user_extras: tuple[str, ...] = ()
    request_timeout: str | None = None
    certificate_authority: str | None = None
    client_certificate: str | None = None
    client_key: str | None = None
    insecure_skip_tls_verify: bool = False
    tls_server_name: str | None = None
    disable_compression: bool = False

    def __repr__(self) -> str:
        """Without the token and the password, which no traceback or log may show."""
        return f"Connection(context={self.context!r}, server={self.server!r}, user={self.user!r})"
