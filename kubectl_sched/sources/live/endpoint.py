"""Everything that is known of a server before it is asked: its address, how to trust it, and who asks."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from kubectl_sched.sources.live.live_errors import KubeconfigError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from urllib.parse import SplitResult


@dataclass(frozen=True, slots=True)
class Material:
    """A certificate or a key, in a file or right in the kubeconfig; never both."""

    path: str | None = None
    data: bytes | None = field(default=None, repr=False)

    def __bool__(self) -> bool:
        """Report whether there is any."""
        return self.path is not None or self.data is not None

    def read(self) -> bytes:
        """The PEM. Raises KubeconfigError where its file cannot be read."""
        if self.path is None:
            return self.data or b""
        try:
            return Path(self.path).read_bytes()
        except (OSError, ValueError) as error:  # no path holds a null byte
            reason = getattr(error, "strerror", None) or str(error)
            raise KubeconfigError(f"{self.path}: {reason.lower()}") from None


@dataclass(frozen=True, slots=True)
class User:
    """Credentials of a user, in the order of precedence: a token, a password, a plugin; and a certificate."""

    name: str = ""
    token: str | None = field(default=None, repr=False)
    token_file: str | None = None
    username: str = ""
    password: str = field(default="", repr=False)
    certificate: Material = Material()
    key: Material = Material()
    plugin: Mapping[str, Any] | None = field(default=None, repr=False)
    auth_provider: Mapping[str, Any] | None = field(default=None, repr=False)
    kubeconfig: str | None = None
    impersonation: tuple[tuple[str, str], ...] = ()

    @property
    def has_credentials(self) -> bool:
        """Report whether there is anything to show a server."""
        return bool(
            self.token or self.token_file or self.username or self.certificate or self.plugin or self.auth_provider
        )


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One server and one user of it. `timeout` is seconds for a request, None without limit."""

    server: str
    user: User = User()
    namespace: str = "default"
    authority: Material = Material()
    insecure: bool = False
    server_name: str | None = None
    proxy: str | None = field(default=None, repr=False)
    compression: bool = True
    timeout: float | None = None
    cluster: Mapping[str, Any] = field(default_factory=dict, repr=False)


def split_address(text: str) -> SplitResult | None:
    """Return the parts of an address; None if it names no host, or a host or port that there cannot be."""
    try:
        parts = urlsplit(text)
        is_address = bool(parts.hostname and parts.hostname.encode("idna")) and parts.port != 0
    except ValueError:
        return None
    return parts if is_address else None
