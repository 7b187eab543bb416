"""kubectl's connection flags, for every command that may read a running cluster."""

from __future__ import annotations

import inspect
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from kubectl_sched.sources.live.connection_flags import Connection

if TYPE_CHECKING:
    from collections.abc import Callable

_PANEL = "Connection"


def _option(*names: str, metavar: str | None = None, text: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=text, rich_help_panel=_PANEL)


_TEXT = str | None
FLAGS: dict[str, tuple[Any, Any]] = {
    "kubeconfig": (_TEXT, _option("--kubeconfig", metavar="FILE", text="The kubeconfig to use.")),
    "context": (_TEXT, _option("--context", metavar="NAME", text="The kubeconfig's context to use.")),
    "cluster": (_TEXT, _option("--cluster", metavar="NAME", text="The kubeconfig's cluster to use.")),
    "user": (_TEXT, _option("--user", metavar="NAME", text="The kubeconfig's user to use.")),
    "server": (_TEXT, _option("--server", "-s", metavar="URL", text="The address of the API server.")),
    "token": (_TEXT, _option("--token", metavar="TOKEN", text="A bearer token.")),
    "username": (_TEXT, _option("--username", metavar="NAME", text="The name for basic authentication.")),
    "password": (_TEXT, _option("--password", metavar="WORD", text="The password for basic authentication.")),
    "as_user": (_TEXT, _option("--as", metavar="USER", text="Act as this user.")),
    "as_groups": (list[str] | None, _option("--as-group", metavar="GROUP", text="Act as in this group; repeatable.")),
    "as_uid": (_TEXT, _option("--as-uid", metavar="UID", text="Act as the user of this UID.")),
    "as_user_extras": (
        list[str] | None,
        _option("--as-user-extra", metavar="KEY=VALUE", text="Act as the user with this extra; repeatable."),
    ),
    "request_timeout": (
        _TEXT,
        _option("--request-timeout", metavar="30s", text="How long one request may take; 0 is no limit."),
    ),
    "certificate_authority": (
        _TEXT,
        _option("--certificate-authority", metavar="FILE", text="The authority that signs the server's certificate."),
    ),
    "client_certificate": (_TEXT, _option("--client-certificate", metavar="FILE", text="A client certificate.")),
    "client_key": (_TEXT, _option("--client-key", metavar="FILE", text="The client certificate's key.")),
    "insecure_skip_tls_verify": (
        bool,
        _option("--insecure-skip-tls-verify", text="Do not check the server's certificate."),
    ),
    "tls_server_name": (
        _TEXT,
        _option("--tls-server-name", metavar="NAME", text="The host that the server's certificate is for."),
    ),
    "disable_compression": (bool, _option("--disable-compression", text="Let the server send what it sends as it is.")),
}
"""Each field of Connection besides the namespace: its type and its option."""


def takes_connection(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command all the connection flags; it gets them as one `connection`, the namespace in it."""
    hints = get_type_hints(command, include_extras=True)
    own = inspect.signature(command).parameters
    flags = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=_default(kind), annotation=Annotated[kind, option]
        )
        for name, (kind, option) in FLAGS.items()
    ]
    kept = [
        parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in own.items()
        if name != "connection"
    ]

    @wraps(command)
    def with_connection(**arguments: Any) -> None:
        given = {name: arguments.pop(name) for name in FLAGS}
        given |= {name: tuple(given[name] or ()) for name in ("as_groups", "as_user_extras")}
        command(**arguments, connection=Connection(namespace=arguments.get("namespace"), **given))

    with_connection.__signature__ = inspect.Signature([*kept, *flags])  # type: ignore[attr-defined] # inspect reads it
    with_connection.__annotations__ = {each.name: each.annotation for each in (*kept, *flags)}
    return with_connection


def _default(kind: Any) -> bool | None:
    return False if kind is bool else None


_SPELLINGS = {"as_user": "--as", "as_groups": "--as-group", "as_user_extras": "--as-user-extra"}


def given_flags(connection: Connection) -> list[str]:
    """The connection flags that were given, as they are written."""
    return [_SPELLINGS.get(name, f"--{name.replace('_', '-')}") for name in FLAGS if getattr(connection, name)]
