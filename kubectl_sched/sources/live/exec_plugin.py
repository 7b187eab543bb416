"""Runs a credential plugin (client-go: plugin/pkg/client/auth/exec/exec.go)."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from kubectl_sched.api.decoders import UNDECODABLE, decoder
from kubectl_sched.sources.live.live_errors import ClusterError, KubeconfigError
from kubectl_sched.sources.live.request_deadline import told_if_slow
from kubectl_sched.typed_paths import exists

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_sched.sources.live.endpoint import Endpoint

_GROUP = "client.authentication.k8s.io/"
_EXTENSION = "client.authentication.k8s.io/exec"
_PATIENCE_SECONDS = 300


class PluginStatus(msgspec.Struct, frozen=True, rename="camel"):
    """The status that a plugin prints; nothing of it is ever shown."""

    token: str | None = None
    certificate: str | None = msgspec.field(name="clientCertificateData", default=None)
    key: str | None = msgspec.field(name="clientKeyData", default=None)


class ExecCredential(msgspec.Struct, frozen=True, rename="camel"):
    """The object that a plugin prints."""

    api_version: str = ""
    status: PluginStatus | None = None


def run_plugin(config: Mapping[str, Any], endpoint: Endpoint) -> PluginStatus:
    """Run the plugin for this cluster; its own words go to stderr, as with kubectl.

    Raises ClusterError where it is missing, fails, or prints no ExecCredential; KubeconfigError where it cannot be run
    as it is configured.
    """
    command, version = str(config.get("command") or ""), str(config.get("apiVersion") or "")
    if not command or not version.startswith(_GROUP):
        raise KubeconfigError(f"the kubeconfig's exec of user {endpoint.user.name!r} needs a command and an apiVersion")
    program = _program(command, endpoint)
    if program is None:
        hint = " ".join(str(config.get("installHint") or "").split())
        advice = f": {hint}" if hint.isprintable() and hint else "; it must be installed, as for kubectl"
        raise ClusterError(f"the credential plugin {command} of user {endpoint.user.name!r} is not there{advice}")
    interactive = _is_interactive(config, command)
    try:
        with told_if_slow(f"the credential plugin {command} of user {endpoint.user.name!r}"):
            done = subprocess.run(  # noqa: S603 - the kubeconfig names it, as for kubectl
                [program, *(str(argument) for argument in config.get("args") or ())],
                env=_variables(config, version, endpoint, interactive=interactive),
                stdin=None if interactive else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                timeout=endpoint.timeout or _PATIENCE_SECONDS,
                check=False,
            )
    except subprocess.TimeoutExpired as late:
        raise ClusterError(f"the credential plugin {command} did not answer within {late.timeout:g} s") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise ClusterError(f"the credential plugin {command} cannot be run: {(why or '').lower()}") from None
    if done.returncode != 0:
        raise ClusterError(
            f"the credential plugin {command} failed with exit code {done.returncode}; what it says stands above, and "
            "kubectl would fail likewise"
        )
    return _understood(done.stdout, command, version)


def _understood(printed: bytes, command: str, version: str) -> PluginStatus:
    try:
        credential = decoder(ExecCredential).decode(printed)
    except UNDECODABLE:
        # Its output may be a secret, so nothing of it is shown.
        raise ClusterError(f"the credential plugin {command} printed no ExecCredential") from None
    if credential.api_version != version:
        raise ClusterError(
            f"the credential plugin {command} answered in {credential.api_version!r} instead of {version}, which the "
            "kubeconfig names"
        )
    if credential.status is None:
        raise ClusterError(f"the credential plugin {command} printed an ExecCredential without a status")
    return credential.status


def _program(command: str, endpoint: Endpoint) -> str | None:
    """A path is relative to the kubeconfig's folder, a bare name is looked up in PATH."""
    if os.sep in command:
        folder = Path(endpoint.user.kubeconfig or ".").absolute().parent
        path = folder / command
        return str(path) if exists(str(path)) else None
    return shutil.which(command)


def _is_interactive(config: Mapping[str, Any], command: str) -> bool:
    mode = config.get("interactiveMode") or "IfAvailable"
    terminal = sys.stdin is not None and sys.stdin.isatty()
    if mode == "Always" and not terminal:
        raise ClusterError(f"the credential plugin {command} wants to ask, but standard input is no terminal")
    return mode != "Never" and terminal


def _variables(config: Mapping[str, Any], version: str, endpoint: Endpoint, *, interactive: bool) -> dict[str, str]:
    spec: dict[str, Any] = {"interactive": interactive}
    if config.get("provideClusterInfo"):
        spec["cluster"] = _cluster_info(endpoint)
    info = {"apiVersion": version, "kind": "ExecCredential", "spec": spec}
    own = {str(entry["name"]): str(entry.get("value", "")) for entry in config.get("env") or ()}
    return {**os.environ, **own, "KUBERNETES_EXEC_INFO": msgspec.json.encode(info).decode()}


def _cluster_info(endpoint: Endpoint) -> dict[str, Any]:
    info: dict[str, Any] = {"server": endpoint.server}
    if endpoint.authority:
        info["certificate-authority-data"] = base64.b64encode(endpoint.authority.read()).decode()
    if endpoint.insecure:
        info["insecure-skip-tls-verify"] = True
    for key in ("tls-server-name", "proxy-url"):
        if endpoint.cluster.get(key):
            info[key] = endpoint.cluster[key]
    for extension in endpoint.cluster.get("extensions") or ():
        if extension.get("name") == _EXTENSION:
            info["config"] = extension.get("extension")
    return info
