"""Asks extenders over HTTP(S), as pkg/scheduler/extender.go does: one POST of JSON for each verb."""

from __future__ import annotations

import base64
import json
import os
import ssl
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from kubectl_sched.api.pod import Pod
from kubectl_sched.framework.extender_decoding import ExtenderError
from kubectl_sched.sources.extender.extender_transport import Trust, post

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kubectl_sched.api.core import Node
    from kubectl_sched.config.types import Extender, ExtenderTLSConfig


class GoJSONError(ValueError):
    """No JSON; the text says where it stops being JSON."""


def first_value(data: bytes) -> Any:
    """Return the value that the data begins with, whatever follows; raise GoJSONError."""
    text = data.decode(errors="replace").lstrip(" \t\r\n")
    try:
        return json.JSONDecoder(parse_constant=_refuse).raw_decode(text)[0]
    except RecursionError:
        raise GoJSONError("its answer is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise GoJSONError(_problem(text, error.pos)) from None
    except ValueError:
        raise GoJSONError("its answer is no JSON: it holds a number that JSON does not have") from None


def _problem(text: str, position: int) -> str:
    if not text:
        return "its answer is empty"
    return f"its answer is no JSON from character {position + 1} on"


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


_OK = 200


class HTTPExtenders:
    """An ExtenderClient. `documents` gives whole objects by kind and key; others are sent as far as they were read."""

    def __init__(self, documents: Callable[[], Mapping[tuple[str, str], dict[str, Any]]]) -> None:
        self._read = documents
        self._documents: Mapping[tuple[str, str], dict[str, Any]] | None = None
        self.sent_in_part = False
        """Report whether some object was sent with those fields alone that a replay reads."""

    def send(self, extender: Extender, verb: str, arguments: Mapping[str, Any]) -> Any:
        """The decoded JSON answer. Raises ExtenderError in the words of Go's client."""
        url = f"{extender.url_prefix.rstrip('/')}/{verb}"
        status, body = post(url, msgspec.json.encode(arguments), _trust(extender), extender.http_timeout.seconds)
        if status != _OK:
            raise ExtenderError(
                f"failed {verb} with extender at URL {extender.address.rstrip('/')}/{verb}, code {status}"
            )
        try:
            return first_value(body)
        except GoJSONError as error:
            raise ExtenderError(str(error)) from None

    def document(self, item: Pod | Node) -> dict[str, Any]:
        """Return the whole object if it can be read again; without nodeName if the replay took the pod off its node."""
        if self._documents is None:
            self._documents = self._read()
        found = self._documents.get((type(item).__name__, item.key))
        if found is None:
            self.sent_in_part = True
            return dict(msgspec.to_builtins(item))
        if isinstance(item, Pod) and not item.spec.node_name:
            spec = {key: value for key, value in found.get("spec", {}).items() if key != "nodeName"}
            return {**found, "spec": spec}
        return found


def _trust(extender: Extender) -> Trust:
    """TLS as makeTransport sets it up: enableHTTPS without a certificate authority checks nothing."""
    tls = extender.tls_config
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    has_authority = tls is not None and bool(tls.ca_file or tls.ca_data)
    if (tls is not None and tls.insecure) or (extender.enable_https and not has_authority):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif not has_authority:
        context.load_default_certs()
    if tls is not None:
        _load(context, tls)
    return Trust(context, tls.server_name if tls is not None else "")


def _load(context: ssl.SSLContext, tls: ExtenderTLSConfig) -> None:
    try:
        if tls.ca_data:
            context.load_verify_locations(cadata=base64.b64decode(tls.ca_data).decode())
        elif tls.ca_file:
            context.load_verify_locations(cafile=tls.ca_file)
        if (tls.cert_data or tls.cert_file) and (tls.key_data or tls.key_file):
            _load_certificate(context, tls)
    except (OSError, ValueError) as error:
        raise ExtenderError(f"the extender's tlsConfig cannot be used: {error}") from None


def _load_certificate(context: ssl.SSLContext, tls: ExtenderTLSConfig) -> None:
    """The library reads certificates from files only; one out of the configuration is in one for that moment."""
    written: list[Path] = []

    def on_disk(data: str, path: str) -> str:
        if not data:
            return path
        descriptor, name = tempfile.mkstemp()
        written.append(Path(name))
        with os.fdopen(descriptor, "wb") as file:
            file.write(base64.b64decode(data))
        return name

    try:
        certificate = on_disk(tls.cert_data, tls.cert_file)
        context.load_cert_chain(certificate, on_disk(tls.key_data, tls.key_file) or None)
    finally:
        for path in written:
            path.unlink()
