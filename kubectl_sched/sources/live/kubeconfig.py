"""kubectl's rules for finding the cluster and the user (client-go: tools/clientcmd/loader.go, client_config.go)."""

from __future__ import annotations

import base64
import binascii
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from kubectl_sched.api.apimachinery.int64 import parse_int64
from kubectl_sched.api.decoders import UNDECODABLE
from kubectl_sched.bounded_files import content
from kubectl_sched.errors import words_of
from kubectl_sched.sources.live.connections.proxies import is_on_this_host
from kubectl_sched.sources.live.endpoint import Endpoint, Material, User, split_address
from kubectl_sched.sources.live.impersonation import impersonation_headers
from kubectl_sched.sources.live.live_errors import KubeconfigError, NoClusterError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_sched.sources.live.connection_flags import Connection

Fields = dict[str, Any]

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class _Variable(msgspec.Struct, frozen=True):
    name: str


class _Exec(msgspec.Struct, frozen=True):
    args: list[Any] | None = None
    env: list[_Variable] | None = None


class _Provider(msgspec.Struct, frozen=True):
    config: dict[str, Any] | None = None


class _User(msgspec.Struct, frozen=True, rename="kebab"):
    client_certificate: str | None = None
    client_key: str | None = None
    token_file: str | None = msgspec.field(name="tokenFile", default=None)
    exec: _Exec | None = None
    auth_provider: _Provider | None = None
    as_groups: list[Any] | None = None
    as_user_extra: dict[str, list[Any]] | None = None


class _Cluster(msgspec.Struct, frozen=True, rename="kebab"):
    certificate_authority: str | None = None
    insecure_skip_tls_verify: bool | None = None
    disable_compression: bool | None = None
    tls_server_name: str | None = None
    proxy_url: str | None = None
    extensions: list[dict[str, Any]] | None = None


_SHAPES: dict[str, type[msgspec.Struct]] = {"clusters": _Cluster, "users": _User}
"""The types of entries that are more than a text."""

_TOLD_IN_A_HEADER = frozenset({"token", "tokenFile", "username", "password"})
"""The entries of a kubeconfig about the Authorization header, of which there can be one alone."""

_PATHS = {"clusters": ("certificate-authority",), "users": ("client-certificate", "client-key", "tokenFile")}


class Kubeconfig(NamedTuple):
    """All files together: of what several of them name, the first counts; paths start from each file's own folder."""

    current_context: str = ""
    contexts: Mapping[str, Fields] = {}
    clusters: Mapping[str, Fields] = {}
    users: Mapping[str, Fields] = {}
    files: tuple[str, ...] = ()


def resolve(
    connection: Connection, environment: Mapping[str, str] | None = None, service_account: Path = SERVICE_ACCOUNT
) -> Endpoint:
    """The server and the user that kubectl would choose.

    Raises KubeconfigError where what was asked for is not there, and NoClusterError where there is no cluster at all.
    """
    variables = os.environ if environment is None else environment
    config = load(kubeconfig_paths(connection, variables), named=bool(connection.kubeconfig))
    context = _context(config, connection)
    cluster = _cluster(config, connection, context)
    user = _user(config, connection, context)
    own = _own_cluster(variables, service_account)
    insecure = bool(cluster.get("insecure-skip-tls-verify"))
    if not cluster.get("server"):
        if own is None:
            raise NoClusterError(_nowhere(config, connection, variables))
        cluster = {**({"server": own.cluster["server"]} if insecure else own.cluster), **cluster}
        user = user if user.keys() & _TOLD_IN_A_HEADER else {**own.user, **user}
    authority = _material(cluster, "certificate-authority")
    if authority and insecure:
        raise KubeconfigError("a certificate authority and insecure-skip-tls-verify contradict each other: give one")
    namespace = connection.namespace or context.get("namespace") or (own and own.namespace)
    server = _with_scheme(str(cluster["server"]).rstrip("/"), cluster, user)
    return Endpoint(
        server=server,
        user=_as_user(user, str(context.get("user", ""))),
        namespace=str(namespace or "default"),
        authority=authority,
        insecure=insecure,
        server_name=cluster.get("tls-server-name") or None,
        proxy=cluster.get("proxy-url") or None,
        compression=not (
            connection.disable_compression or cluster.get("disable-compression") or is_on_this_host(server)
        ),
        timeout=_timeout(connection),
        cluster=cluster,
    )


def kubeconfig_paths(connection: Connection, environment: Mapping[str, str]) -> list[str]:
    """The files to look at, those first that count first."""
    if connection.kubeconfig:
        return [connection.kubeconfig]
    listed = [path for path in environment.get("KUBECONFIG", "").split(os.pathsep) if path]
    return listed or [str(Path(environment.get("HOME") or Path.home()) / ".kube" / "config")]


def load(paths: Sequence[str], *, named: bool = False) -> Kubeconfig:
    """The files that exist, merged. With `named` a file that is missing is an error."""
    current = ""
    found: dict[str, dict[str, Fields]] = {"contexts": {}, "clusters": {}, "users": {}}
    read: list[str] = []
    for path in paths:
        document = _read(path, named=named)
        if document is None:
            continue
        read.append(path)
        current = current or str(document.get("current-context") or "")
        for section, entries in found.items():
            for name, fields in _entries(document, section, path):
                entries.setdefault(name, fields)
    return Kubeconfig(current, found["contexts"], found["clusters"], found["users"], tuple(read))


def _read(path: str, *, named: bool) -> Fields | None:
    try:
        data = content(Path(path).expanduser())
    except FileNotFoundError:
        if named:
            raise KubeconfigError(f"--kubeconfig {path}: there is no such file") from None
        return None
    except OSError as error:
        raise KubeconfigError(f"kubeconfig {path}: {words_of(error)}") from None
    with suppress(*UNDECODABLE):  # YAML as well, in a style for which PyYAML would have to be imported
        return msgspec.json.decode(data, type=Fields)
    from kubectl_sched.sources.dump_errors import DumpError
    from kubectl_sched.sources.yaml.yaml_documents import documents

    try:
        found = list(documents(data, f"kubeconfig {path}"))
    except DumpError as error:
        raise KubeconfigError(str(error)) from None
    if not found:
        return {}
    if found[0].error is not None:
        raise KubeconfigError(str(found[0].error))
    if not isinstance(found[0].value, dict):
        raise KubeconfigError(f"kubeconfig {path}: it is no mapping with clusters, users and contexts")
    return found[0].value


def _entries(document: Fields, section: str, path: str) -> list[tuple[str, Fields]]:
    entries = document.get(section) or []
    singular = section.removesuffix("s")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) and "name" in entry for entry in entries):
        raise KubeconfigError(f"kubeconfig {path}: {section} must be a list of objects with name and {singular}")
    folder = Path(path).expanduser().absolute().parent
    named: list[tuple[str, Fields]] = []
    for entry in entries:
        fields = entry.get(singular) or {}
        if not isinstance(fields, dict):
            raise KubeconfigError(f"kubeconfig {path}: {singular} {entry['name']} is no mapping")
        _check_shape(fields, section, f"kubeconfig {path}: {singular} {entry['name']}")
        located = {key: str(folder / fields[key]) for key in _PATHS.get(section, ()) if fields.get(key)}
        named.append((str(entry["name"]), {**fields, **located, "kubeconfig": str(Path(path).expanduser())}))
    return named


def _check_shape(fields: Fields, section: str, where: str) -> None:
    if section in _SHAPES:
        try:
            msgspec.convert(fields, _SHAPES[section])
        except msgspec.ValidationError as error:
            from kubectl_sched.sources.dump.document_shapes import in_words

            raise KubeconfigError(f"{where}: {in_words(error)}") from None


def _context(config: Kubeconfig, connection: Connection) -> Fields:
    name = connection.context or config.current_context
    if name and name not in config.contexts:
        if connection.context or not connection.server:
            raise KubeconfigError(f"context {name!r} does not exist{_near(name, config.contexts)}")
        return {}
    context = dict(config.contexts.get(name, {}))
    chosen = {"cluster": connection.cluster, "user": connection.user}
    return {**context, **{key: name for key, name in chosen.items() if name}}


def _near(name: str, there: Mapping[str, Fields]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, there, n=3) or sorted(there)[:3]
    return f"; there is {', '.join(near)}" if near else " in the kubeconfig"


def _cluster(config: Kubeconfig, connection: Connection, context: Fields) -> Fields:
    name = str(context.get("cluster", ""))
    if name and name not in config.clusters and (connection.cluster or not connection.server):
        raise KubeconfigError(f"cluster {name!r} does not exist{_near(name, config.clusters)}")
    cluster = dict(config.clusters.get(name, {}))
    if connection.insecure_skip_tls_verify or connection.certificate_authority:
        for key in ("certificate-authority", "certificate-authority-data"):
            cluster.pop(key, None)
        cluster["insecure-skip-tls-verify"] = connection.insecure_skip_tls_verify
        if connection.certificate_authority:
            cluster["certificate-authority"] = connection.certificate_authority
    if connection.tls_server_name or connection.server:
        cluster["tls-server-name"] = connection.tls_server_name
    if connection.server:
        cluster["server"] = connection.server
    return cluster


def _user(config: Kubeconfig, connection: Connection, context: Fields) -> Fields:
    name = str(context.get("user", ""))
    if connection.user and name not in config.users:
        raise KubeconfigError(f"user {name!r} does not exist{_near(name, config.users)}")
    user = dict(config.users.get(name, {}))
    if connection.token and connection.username:
        raise KubeconfigError("--token and --username each say who asks: give one of them")
    if connection.token or connection.username:
        user = {key: value for key, value in user.items() if key not in _TOLD_IN_A_HEADER}
    told = {"token": connection.token, "username": connection.username, "password": connection.password}
    user |= {key: value for key, value in told.items() if value}
    for key, path in (("client-certificate", connection.client_certificate), ("client-key", connection.client_key)):
        if path:
            user.pop(f"{key}-data", None)
            user[key] = path
    acting = {
        "as": connection.as_user,
        "as-groups": list(connection.as_groups),
        "as-uid": connection.as_uid,
        "as-user-extra": {**(user.get("as-user-extra") or {}), **_extras(connection.as_user_extras)},
    }
    return {**user, **{key: value for key, value in acting.items() if value}}


def _extras(pairs: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise KubeconfigError(f"--as-user-extra {pair!r} is not written as KEY=VALUE")
        found.setdefault(key, []).append(value)
    return found


def _as_user(fields: Fields, name: str) -> User:
    return User(
        name=name,
        token=_text(fields, "token"),
        token_file=_text(fields, "tokenFile"),
        username=_text(fields, "username") or "",
        password=_text(fields, "password") or "",
        certificate=_material(fields, "client-certificate"),
        key=_material(fields, "client-key"),
        plugin=fields.get("exec"),
        auth_provider=fields.get("auth-provider"),
        kubeconfig=fields.get("kubeconfig"),
        impersonation=impersonation_headers(fields),
    )


def _text(fields: Fields, key: str) -> str | None:
    value = fields.get(key)
    return str(value) if value else None


def _material(fields: Fields, key: str) -> Material:
    data = fields.get(f"{key}-data")
    if not data:
        return Material(path=_text(fields, key))
    try:
        return Material(data=base64.b64decode("".join(str(data).split()), validate=True))
    except (binascii.Error, ValueError):
        raise KubeconfigError(f"{key}-data in the kubeconfig is not base64") from None


def _with_scheme(server: str, cluster: Fields, user: Fields) -> str:
    """An address alone is https where anything of TLS is given, else http (client-go: rest/url_utils.go)."""
    if "://" not in server:
        keys = ("certificate-authority", "certificate-authority-data", "insecure-skip-tls-verify")
        secure = any(cluster.get(key) for key in keys) or any(
            user.get(key) for key in ("client-certificate", "client-certificate-data")
        )
        server = f"{'https' if secure else 'http'}://{server}"
    address = split_address(server)
    if address is None or address.scheme not in {"http", "https"}:
        scheme, _, rest = server.partition("://")
        shown = f"{scheme}://{rest.rpartition('@')[2]}"  # without what it says of a user
        raise KubeconfigError(f"server {shown!r} is no address such as https://10.0.0.1:6443")
    return f"{address.scheme}://{address.netloc.rpartition('@')[2]}{address.path}"


class _OwnCluster(NamedTuple):
    cluster: Fields
    user: Fields
    namespace: str


def _own_cluster(environment: Mapping[str, str], folder: Path) -> _OwnCluster | None:
    """The cluster whose pod this is, with its service account (client-go: rest.InClusterConfig)."""
    host, port = environment.get("KUBERNETES_SERVICE_HOST"), environment.get("KUBERNETES_SERVICE_PORT")
    if not host or not port or not (folder / "token").exists():
        return None
    server = f"https://{f'[{host}]' if ':' in host else host}:{port}"
    namespace = environment.get("POD_NAMESPACE", "")
    if not namespace:
        with suppress(OSError):
            namespace = (folder / "namespace").read_text("utf-8").strip()
    authority = {"certificate-authority": str(folder / "ca.crt")} if (folder / "ca.crt").exists() else {}
    return _OwnCluster({"server": server, **authority}, {"tokenFile": str(folder / "token")}, namespace)


def _nowhere(config: Kubeconfig, connection: Connection, environment: Mapping[str, str]) -> str:
    if config.files and not config.current_context and not connection.context:
        names = sorted(config.contexts)[:3]
        choose = f"choose one with --context ({', '.join(names)})" if names else "name a server with --server"
        return f"the kubeconfig {', '.join(config.files)} has no current-context: {choose}"
    looked = ", ".join(kubeconfig_paths(connection, environment))
    return (
        f"no cluster is configured (looked at {looked}): name a kubeconfig with --kubeconfig or a server with --server"
    )


def _timeout(connection: Connection) -> float | None:
    """Seconds, None without limit: `30`, `30s`, `2m`; 0 is no limit."""
    text = connection.request_timeout
    if not text:
        return None
    from kubectl_sched.config.duration import InvalidDuration, parse_duration

    try:
        number = parse_int64(text)
        seconds = parse_duration(text) / 1e9 if number is None else float(number)
    except InvalidDuration:
        raise KubeconfigError(f"--request-timeout {text!r} is no duration such as 30s or 2m") from None
    if seconds < 0:
        raise KubeconfigError(f"--request-timeout {text!r} is negative")
    return seconds or None
