"""A kubeconfig's `auth-provider: oidc`, refreshed by the Kubernetes client; kubectl has no other provider any more."""

from __future__ import annotations

import base64
import binascii
import json
import ssl
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kubectl_sched.sources.live.live_errors import ClusterError, KubeconfigError
from kubectl_sched.sources.live.request_deadline import told_if_slow

if TYPE_CHECKING:
    from kubectl_sched.sources.live.endpoint import User

_MARGIN_SECONDS = 300


def id_token(user: User, *, anew: bool = False, timeout: float | None = None) -> str:
    """The id-token, refreshed where it has expired (or `anew`), and then saved in the kubeconfig as kubectl does.

    Raises ClusterError where it cannot be refreshed, or not within `timeout` seconds.
    """
    provider = user.auth_provider or {}
    if provider.get("name") != "oidc":
        raise KubeconfigError(
            f"the auth-provider {provider.get('name')!r} of user {user.name!r} is gone from kubectl since 1.26; "
            "use its credential plugin (exec)"
        )
    config = dict(provider.get("config") or {})
    token = str(config.get("id-token") or "")
    if token and not anew and expiry(token) > time.time() + _MARGIN_SECONDS:
        return token
    if not config.get("refresh-token") or not config.get("idp-issuer-url"):
        raise ClusterError(
            f"the id-token of user {user.name!r} has expired, and there is no refresh-token; log in again"
        )
    refreshed = _refreshed(config, user, timeout)
    _save(user, refreshed)
    return str(refreshed["id-token"])


def expiry(token: str) -> float:
    """The expiry of a JWT (seconds since 1970); 0 if it states none."""
    try:
        claims = token.split(".")[1]
        return float(json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4))).get("exp", 0))
    except (IndexError, ValueError, TypeError, AttributeError, binascii.Error):
        return 0.0


def _refreshed(config: dict[str, Any], user: User, timeout: float | None) -> dict[str, Any]:
    """The client's own loader does the exchange; it takes no provider's word without a certificate to check it by."""
    from kubernetes.config.kube_config import KubeConfigLoader

    defaults = ssl.get_default_verify_paths()
    if "idp-certificate-authority-data" not in config:
        config.setdefault("idp-certificate-authority", defaults.cafile or defaults.openssl_cafile)
    config.setdefault("client-secret", "")
    before = config.get("id-token")
    # A token that has expired long ago: without one, or with one that is refused, the loader would not refresh.
    claims = base64.urlsafe_b64encode(b'{"exp":1}').decode().rstrip("=")
    config["id-token"] = f"e30.{claims}.e30"
    document = {
        "current-context": "it",
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
        "clusters": [{"name": "it", "cluster": {"server": "https://localhost"}}],
        "users": [{"name": "it", "user": {"auth-provider": {"name": "oidc", "config": config}}}],
    }
    pool = ThreadPoolExecutor(1)
    try:
        from kubernetes.client import Configuration

        loader: Any = KubeConfigLoader
        with told_if_slow(f"{config['idp-issuer-url']}, which renews the id-token of user {user.name!r}"):
            pool.submit(loader(document, config_base_path="").load_and_set, Configuration()).result(timeout)
    except TimeoutError:
        raise ClusterError(_cannot(user, config, f"no answer within {timeout:g} s")) from None
    except Exception as error:  # noqa: BLE001 - whatever the library's libraries raise; their texts may hold secrets
        raise ClusterError(_cannot(user, config, type(error).__name__)) from None
    finally:
        pool.shutdown(wait=False)
    if config["id-token"] in {before, f"e30.{claims}.e30"}:
        raise ClusterError(_cannot(user, config, "it gave no new token"))
    return config


def _cannot(user: User, config: dict[str, Any], why: str) -> str:
    issuer = config["idp-issuer-url"]
    return f"the id-token of user {user.name!r} has expired and {issuer} did not renew it ({why}); log in again"


def _save(user: User, config: dict[str, Any]) -> None:
    """A refresh-token may serve only once, so the new one is written back; write failures are ignored."""
    import yaml

    if user.kubeconfig is None:
        return
    path = Path(user.kubeconfig)
    try:
        document = yaml.safe_load(path.read_text("utf-8"))
        for entry in document["users"]:
            if entry["name"] == user.name:
                kept = entry["user"]["auth-provider"]["config"]
                kept.update({key: config[key] for key in ("id-token", "refresh-token")})
        partial = path.with_name(f"{path.name}.new")
        partial.touch(mode=0o600)
        partial.write_text(yaml.safe_dump(document, sort_keys=False), "utf-8")
        partial.replace(path)
    except (OSError, KeyError, TypeError, yaml.YAMLError):
        return
