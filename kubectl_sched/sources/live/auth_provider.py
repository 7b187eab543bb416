"""A kubeconfig's `auth-provider: oidc`, renewed through the Kubernetes client; kubectl has no other provider."""

from __future__ import annotations

import base64
import binascii
import json
import time
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus

from kubectl_sched.sources.live.endpoint import Material
from kubectl_sched.sources.live.live_errors import ClusterError, KubeconfigError
from kubectl_sched.sources.live.request_deadline import told_if_slow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.sources.live.endpoint import User

_MARGIN_SECONDS = 300
_BASIC = "client_secret_basic"
_FORM = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
_PLUGINS = {"gcp": "gke-gcloud-auth-plugin", "azure": "kubelogin (https://github.com/Azure/kubelogin)"}
"""Credential plugins that kubectl names instead of a provider (client-go: plugin/pkg/client/auth)."""


def id_token(user: User, *, anew: bool = False, timeout: float | None = None) -> str:
    """The id-token, renewed where it has expired (or `anew`), and then saved in the kubeconfig as kubectl does.

    Raises KubeconfigError for a provider that kubectl does not know, ClusterError where the token cannot be renewed, or
    not within `timeout` seconds.
    """
    provider = user.auth_provider or {}
    name = provider.get("name")
    if name in _PLUGINS:
        raise KubeconfigError(
            f"the auth-provider {name!r} of user {user.name!r} has been removed from kubectl; "
            f"use the credential plugin {_PLUGINS[name]} instead (exec)"
        )
    if name != "oidc":
        raise KubeconfigError(f"kubectl knows no auth-provider {name!r}, which user {user.name!r} has")
    config = dict(provider.get("config") or {})
    token = str(config.get("id-token") or "")
    if token and not anew and expiry(token) > time.time() + _MARGIN_SECONDS:
        return token
    if not config.get("refresh-token") or not config.get("idp-issuer-url"):
        raise ClusterError(
            f"the id-token of user {user.name!r} has expired, and there is no refresh-token; log in again"
        )
    renewed = _renewed(config, user, timeout)
    _save(user, renewed)
    return renewed["id-token"]


def expiry(token: str) -> float:
    """The expiry of a JWT (seconds since 1970); 0 if it states none."""
    try:
        claims = token.split(".")[1]
        return float(json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4))).get("exp", 0))
    except (IndexError, ValueError, TypeError, AttributeError, binascii.Error):
        return 0.0


def _renewed(config: dict[str, Any], user: User, timeout: float | None) -> dict[str, str]:
    """Return the new id-token and refresh-token, by their names in the kubeconfig."""
    pool = ThreadPoolExecutor(1)
    try:
        with told_if_slow(f"{config['idp-issuer-url']}, which renews the id-token of user {user.name!r}"):
            tokens = pool.submit(_exchanged, config).result(timeout)
    except TimeoutError:
        raise ClusterError(_cannot(user, config, f"no answer within {timeout:g} s")) from None
    except Exception as error:  # noqa: BLE001 - whatever the client's libraries raise; their texts may hold secrets
        raise ClusterError(_cannot(user, config, type(error).__name__)) from None
    finally:
        pool.shutdown(wait=False)
    if not isinstance(tokens, dict) or not isinstance(tokens.get("id_token"), str):
        raise ClusterError(_cannot(user, config, "it gave no new token"))
    return {
        "id-token": tokens["id_token"],
        "refresh-token": str(tokens.get("refresh_token") or config["refresh-token"]),
    }


def _exchanged(config: dict[str, Any]) -> Any:
    """Ask the issuer where it gives tokens, and there for new ones (OpenID Connect Core, section 12)."""
    from kubernetes.client import ApiClient, Configuration

    configuration = Configuration()
    configuration.host = config["idp-issuer-url"]
    configuration.retries = False
    configuration.ca_cert_data = _authority(config)
    with ApiClient(configuration) as client:
        discovery = f"{config['idp-issuer-url'].rstrip('/')}/.well-known/openid-configuration"
        issuer = _answer(client.rest_client.request("GET", discovery))
        form, headers = _request(config, issuer.get("token_endpoint_auth_methods_supported") or (_BASIC,))
        endpoint = issuer["token_endpoint"]
        return _answer(client.rest_client.request("POST", endpoint, headers=headers, post_params=form))


def _request(config: dict[str, Any], methods: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the form and the headers, which show the client's secret by one of the methods (section 9)."""
    form = {"grant_type": "refresh_token", "refresh_token": str(config["refresh-token"])}
    client, secret = (str(config.get(key) or "") for key in ("client-id", "client-secret"))
    if secret and _BASIC in methods:
        pair = f"{quote_plus(client)}:{quote_plus(secret)}"
        return form, {**_FORM, "Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
    return form | {"client_id": client} | ({"client_secret": secret} if secret else {}), dict(_FORM)


def _authority(config: dict[str, Any]) -> str | None:
    """Return the certificate that the issuer's is signed by, None for one of the system's."""
    data = config.get("idp-certificate-authority-data")
    material = Material(data=base64.b64decode(data)) if data else Material(path=config.get("idp-certificate-authority"))
    return material.read().decode("ascii") or None


def _answer(response: Any) -> Any:
    body = response.read()
    if response.status != HTTPStatus.OK:
        raise ValueError(response.status)
    return json.loads(body)


def _cannot(user: User, config: dict[str, Any], why: str) -> str:
    issuer = config["idp-issuer-url"]
    return f"the id-token of user {user.name!r} has expired and {issuer} did not renew it ({why}); log in again"


def _save(user: User, renewed: dict[str, str]) -> None:
    """Write the tokens back, as a refresh-token may serve only once; write failures are ignored."""
    import yaml

    if user.kubeconfig is None:
        return
    path = Path(user.kubeconfig)
    try:
        document = yaml.safe_load(path.read_text("utf-8"))
        for entry in document["users"]:
            if entry["name"] == user.name:
                entry["user"]["auth-provider"]["config"].update(renewed)
        partial = path.with_name(f"{path.name}.new")
        partial.touch(mode=0o600)
        partial.write_text(yaml.safe_dump(document, sort_keys=False), "utf-8")
        partial.replace(path)
    except (OSError, KeyError, TypeError, yaml.YAMLError):
        return
