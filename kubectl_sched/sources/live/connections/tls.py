"""Trust in the server, as Go's crypto/tls has it, and sentences about a server that is not trusted."""

from __future__ import annotations

import base64
import os
import re
import ssl
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.sources.live.endpoint import host_of
from kubectl_sched.sources.live.live_errors import KubeconfigError

if TYPE_CHECKING:
    import socket
    from typing import Self

    from kubectl_sched.sources.live.credentials import Shown
    from kubectl_sched.sources.live.endpoint import Endpoint

_UNKNOWN_AUTHORITY = "its certificate is signed by an unknown authority: name that with --certificate-authority"
_PROBLEMS = {
    9: "its certificate is not valid yet: check the clocks",
    10: "its certificate has expired: renew it (on kubeadm clusters: kubeadm certs renew apiserver)",
    **dict.fromkeys((18, 19, 20, 21), _UNKNOWN_AUTHORITY),
}
"""By OpenSSL's X509_V_ERR numbers."""

_PASSING_ALERTS = ("DECODE_ERROR", "DECRYPT_ERROR", "INTERNAL_ERROR", "BAD_RECORD_MAC", "UNEXPECTED_MESSAGE")

_OTHER_HOST = frozenset({62, 63, 64})
_PEM = pattern(rb"-----BEGIN CERTIFICATE-----(.+?)-----END CERTIFICATE-----", re.DOTALL)
_VALIDITY = pattern(rb"\x30.(?:\x17\x0d\d{12}Z|\x18\x0f\d{14}Z)(?:\x17\x0d(\d{12})Z|\x18\x0f(\d{14})Z)", re.DOTALL)


class _Context(ssl.SSLContext):
    """Makes lines whose end is an error where the other side does not announce it: what came before is not whole."""

    def __new__(cls) -> Self:
        """Speak as a client."""
        context = super().__new__(cls, ssl.PROTOCOL_TLS_CLIENT)
        context.sslobject_class = _WithinTLS
        return context

    def wrap_socket(self, sock: socket.socket, *arguments: Any, **more: Any) -> ssl.SSLSocket:
        """Speak TLS over a socket."""
        return super().wrap_socket(sock, *arguments, **{**more, "suppress_ragged_eofs": False})


class _WithinTLS(ssl.SSLObject):
    """TLS within that of a proxy, where urllib3 takes a line that just ends for a body's end."""

    def read(self, *arguments: Any) -> Any:
        """Read as from any other line."""
        try:
            return super().read(*arguments)
        except ssl.SSLEOFError:
            raise ConnectionAbortedError("the other side closed it unexpectedly") from None


def ssl_context(endpoint: Endpoint, shown: Shown) -> ssl.SSLContext:
    """Verifies the server unless told not to, and shows the client's certificate if there is one.

    Raises KubeconfigError where a certificate or a key cannot be read.
    """
    context = _Context()
    context.set_alpn_protocols(["http/1.1"])
    # Go asks less of an authority's certificate, and takes the server's own for one.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.hostname_checks_common_name = False
    if endpoint.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif authority := endpoint.authority.read():
        try:
            context.load_verify_locations(cadata=authority.decode("ascii", "replace").replace("\ufffd", "?"))
        except ssl.SSLError:
            raise KubeconfigError(
                f"{_place(endpoint.authority.path, 'certificate-authority')} is no PEM certificate"
            ) from None
    else:
        context.load_default_certs()
    if shown.certificate:
        _load_pair(context, shown)
    return context


def certified_name(endpoint: Endpoint) -> str:
    """Return the host that the server's certificate has to be for: without the zone of an address or a root's dot."""
    return endpoint.server_name or host_of(urlsplit(endpoint.server)).partition("%")[0].rstrip(".")


def _place(path: str | None, key: str) -> str:
    return f"{key} {path}" if path else f"{key}-data in the kubeconfig"


def _load_pair(context: ssl.SSLContext, shown: Shown) -> None:
    """OpenSSL reads them from a file only: a private one that is gone at once."""
    if not shown.key:
        raise KubeconfigError("a client certificate needs a client key as well (--client-key)")
    handle, path = tempfile.mkstemp()
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(shown.certificate.read() + b"\n" + shown.key.read())
        context.load_cert_chain(path, password=_no_password)
    except (ssl.SSLError, ValueError):
        places = f"{_place(shown.certificate.path, 'client-certificate')} and {_place(shown.key.path, 'client-key')}"
        raise KubeconfigError(f"{places} are no pair of a PEM certificate and its key") from None
    finally:
        Path(path).unlink()


def _no_password() -> str:
    """Never ask at the terminal for a key's password, as OpenSSL would."""
    raise ValueError


def expired_at(certificate: bytes) -> datetime | None:
    """The expiry of a PEM certificate that has expired; None if it has not, or states none that is understood."""
    pem = _PEM.search(certificate)
    try:
        found = _VALIDITY.search(base64.b64decode(pem[1])) if pem else None
    except ValueError:
        return None
    if found is None:
        return None
    if found[1]:
        year = int(found[1][:2])
        text = f"{2000 + year if year < 50 else 1900 + year}{found[1][2:].decode()}"
    else:
        text = found[2].decode()
    end = datetime.strptime(text, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    return end if end < datetime.now(UTC) else None


def may_pass_by(error: ssl.SSLError) -> bool:
    """Report whether a handshake failed by something that another one need not meet, as a reset does."""
    reason = str(error.reason or "")
    return isinstance(error, ssl.SSLEOFError) or any(alert in reason for alert in _PASSING_ALERTS)


def distrust(error: ssl.SSLError, host: str) -> str:
    """Return the problem of the connection to the server, and what to do."""
    if not isinstance(error, ssl.SSLCertVerificationError):
        reason = str(error.reason or "").lower().replace("_", " ")
        if "wrong version number" in reason or "http request" in reason:
            return "it does not speak TLS; its address may have to begin with http://"
        return f"TLS failed ({reason or 'the line was closed'})"
    if error.verify_code in _OTHER_HOST:
        return f"its certificate is not for {host}: name the host it is for with --tls-server-name"
    return _PROBLEMS.get(error.verify_code, f"its certificate is not accepted ({error.verify_message})")
