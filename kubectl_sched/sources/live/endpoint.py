"""Everything that is known of a server before it is asked: its address, how to trust it, and who asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from kubectl_sched.bounded_files import content
from kubectl_sched.errors import words_of
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.sources.live.live_errors import KubeconfigError

if TYPE_CHECKING:
    from urllib.parse import SplitResult

_NO_HOST = pattern(r"[\x00-\x20\x7f]")


class _Secret(msgspec.Struct, frozen=True):
    """A value that does not show its fields, some of which are secrets."""

    __repr__ = object.__repr__

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return []


class Material(_Secret, frozen=True):
    """A certificate or a key, in a file or right in the kubeconfig; never both."""

    path: str | None = None
    data: bytes | None = None

    def __bool__(self) -> bool:
        """Report whether there is any."""
        return self.path is not None or self.data is not None

    def read(self) -> bytes:
        """The PEM. Raises KubeconfigError where its file cannot be read."""
        if self.path is None:
            return self.data or b""
        try:
            return content(self.path)
        except (OSError, ValueError) as error:  # no path holds a null byte
            reason = words_of(error) if isinstance(error, OSError) else str(error)
            raise KubeconfigError(f"{self.path}: {reason}") from None


class User(_Secret, frozen=True):
    """Credentials of a user, in the order of precedence: a token, a password, a plugin; and a certificate."""

    name: str = ""
    token: str | None = None
    token_file: str | None = None
    username: str = ""
    password: str = ""
    certificate: Material = Material()
    key: Material = Material()
    plugin: Mapping[str, Any] | None = None
    auth_provider: Mapping[str, Any] | None = None
    kubeconfig: str | None = None
    impersonation: tuple[tuple[str, str], ...] = ()

    @property
    def has_credentials(self) -> bool:
        """Report whether there is anything to show a server."""
        return bool(
            self.token or self.token_file or self.username or self.certificate or self.plugin or self.auth_provider
        )


class Endpoint(_Secret, frozen=True):
    """One server and one user of it. `timeout` is seconds for a request, None without limit."""

    server: str
    user: User = User()
    namespace: str = "default"
    authority: Material = Material()
    insecure: bool = False
    server_name: str | None = None
    proxy: str | None = None
    compression: bool = True
    timeout: float | None = None
    cluster: Mapping[str, Any] = {}


def split_address(text: str) -> SplitResult | None:
    """Return the parts of an address; None if it names no host, or a host or port that there cannot be."""
    try:
        parts = urlsplit(text)
        is_address = bool(parts.hostname and parts.hostname.encode("idna")) and parts.port != 0
    except ValueError:
        return None
    return parts if is_address and not _NO_HOST.search(parts.hostname or "") else None


def host_of(address: SplitResult) -> str:
    """Return the host; the zone of an IPv6 address (RFC 6874) as the operating system takes it."""
    return (address.hostname or "").replace("%25", "%")
