import base64
from pathlib import Path
from typing import Any

import pytest
import yaml

from kubectl_sched.sources.live.client import Server
from kubectl_sched.sources.live.connection_flags import Connection
from kubectl_sched.sources.live.credentials import Credentials
from kubectl_sched.sources.live.endpoint import Endpoint, Material, User
from kubectl_sched.sources.live.kubeconfig import resolve
from kubectl_sched.sources.live.live_errors import ClusterError, KubeconfigError

Document = dict[str, Any]


def kubeconfig(**changes: Any) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": "one",
                "cluster": {"server": "https://one:6443", "tls-server-name": "kube", "proxy-url": "http://p:1"},
            },
            {"name": "two", "cluster": {"server": "https://two:6443/k8s/", "certificate-authority": "certs/ca.crt"}},
        ],
        "users": [
            {"name": "ann", "user": {"token": "secret-of-ann"}},
            {"name": "bob", "user": {"client-certificate": "bob.crt", "client-key": "bob.key", "tokenFile": "t"}},
        ],
        "contexts": [
            {"name": "first", "context": {"cluster": "one", "user": "ann", "namespace": "team"}},
            {"name": "second", "context": {"cluster": "two", "user": "bob"}},
        ],
        "current-context": "first",
        **changes,
    }


def written(folder: Path, name: str, document: Document) -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(document))
    return str(path)


def test_the_current_context_says_which_server_namespace_and_user(tmp_path: Path) -> None:
    found = resolve(Connection(kubeconfig=written(tmp_path, "config", kubeconfig())), {})
    assert (found.server, found.namespace, found.user.token) == ("https://one:6443", "team", "secret-of-ann")
    assert (found.server_name, found.proxy) == ("kube", "http://p:1")


def test_flags_choose_context_cluster_user_and_namespace(tmp_path: Path) -> None:
    path = written(tmp_path, "config", kubeconfig())
    second = resolve(Connection(kubeconfig=path, context="second"), {})
    assert (second.server, second.namespace, second.user.name) == ("https://two:6443/k8s", "default", "bob")
    mixed = resolve(Connection(kubeconfig=path, cluster="two", user="ann", namespace="x"), {})
    assert (mixed.server, mixed.namespace, mixed.user.name) == ("https://two:6443/k8s", "x", "ann")


def test_paths_start_from_the_folder_of_their_file(tmp_path: Path) -> None:
    path = written(tmp_path, "deep/config", kubeconfig())
    found = resolve(Connection(kubeconfig=path, context="second"), {})
    assert found.authority == Material(path=str(tmp_path / "deep" / "certs" / "ca.crt"))
    assert found.user.certificate == Material(path=str(tmp_path / "deep" / "bob.crt"))
    assert found.user.token_file == str(tmp_path / "deep" / "t")


def test_of_several_files_the_first_to_name_something_counts(tmp_path: Path) -> None:
    document = kubeconfig(
        clusters=[{"name": "one", "cluster": {"server": "https://other:1"}}],
        contexts=[],
        users=[],
        **{"current-context": ""},
    )
    first = written(tmp_path, "a", document)
    second = written(tmp_path, "b", kubeconfig())
    found = resolve(Connection(), {"KUBECONFIG": f"{first}:{tmp_path / 'missing'}:{second}"})
    assert (found.server, found.namespace, found.user.name) == ("https://other:1", "team", "ann")


def test_the_home_folder_has_the_file_by_default(tmp_path: Path) -> None:
    written(tmp_path, ".kube/config", kubeconfig())
    assert resolve(Connection(), {"HOME": str(tmp_path)}).server == "https://one:6443"


def test_a_server_on_the_command_line_drops_the_tls_name_and_keeps_the_user(tmp_path: Path) -> None:
    path = written(tmp_path, "config", kubeconfig())
    found = resolve(Connection(kubeconfig=path, server="https://new:7", tls_server_name="api"), {})
    assert (found.server, found.server_name, found.user.name) == ("https://new:7", "api", "ann")
    assert resolve(Connection(kubeconfig=path, server="https://new:7"), {}).server_name is None


def test_a_server_on_the_command_line_needs_no_cluster_in_the_kubeconfig(tmp_path: Path) -> None:
    path = written(tmp_path, "config", kubeconfig(clusters=[]))
    assert resolve(Connection(kubeconfig=path, server="https://new:7"), {}).user.name == "ann"
    with pytest.raises(KubeconfigError, match="cluster 'one' does not exist"):
        resolve(Connection(kubeconfig=path), {})


@pytest.mark.parametrize(
    ("server", "flags", "address"),
    [
        ("localhost:8080", {}, "http://localhost:8080"),
        ("10.0.0.1", {"certificate_authority": "ca.crt"}, "https://10.0.0.1"),
        ("10.0.0.1:6443", {"insecure_skip_tls_verify": True}, "https://10.0.0.1:6443"),
        ("https://user:word@api.example:6443/base/", {}, "https://api.example:6443/base"),
        ("https://[::1]:6443", {}, "https://[::1]:6443"),
    ],
)
def test_an_address_alone_is_http_unless_tls_is_spoken_of(server: str, flags: dict[str, Any], address: str) -> None:
    assert resolve(Connection(server=server, **flags), {"HOME": "/nowhere"}).server == address


def test_not_verifying_and_another_authority_replace_the_kubeconfigs(tmp_path: Path) -> None:
    data = base64.b64encode(b"PEM").decode()
    clusters = [{"name": "one", "cluster": {"server": "https://one", "certificate-authority-data": data}}]
    path = written(tmp_path, "config", kubeconfig(clusters=clusters))
    assert resolve(Connection(kubeconfig=path), {}).authority == Material(data=b"PEM")
    unchecked = resolve(Connection(kubeconfig=path, insecure_skip_tls_verify=True), {})
    assert (unchecked.insecure, bool(unchecked.authority)) == (True, False)
    other = resolve(Connection(kubeconfig=path, certificate_authority="x.crt"), {})
    assert (other.insecure, other.authority) == (False, Material(path="x.crt"))


def test_a_token_on_the_command_line_replaces_the_token_file(tmp_path: Path) -> None:
    path = written(tmp_path, "config", kubeconfig())
    user = resolve(Connection(kubeconfig=path, context="second", token="t"), {}).user  # noqa: S106 - a test's
    assert (user.token, user.token_file) == ("t", None)


def test_a_name_and_a_password_take_the_place_of_a_token(tmp_path: Path) -> None:
    path = written(tmp_path, "config", kubeconfig())
    endpoint = resolve(Connection(kubeconfig=path, username="eve", password="p:q"), {})  # noqa: S106 - a test's
    assert Credentials(endpoint).shown().authorization == f"Basic {base64.b64encode(b'eve:p:q').decode()}"
    with pytest.raises(KubeconfigError, match="--token and --username each say who asks: give one of them"):
        resolve(Connection(kubeconfig=path, username="eve", token="t"), {})  # noqa: S106 - a test's


def test_a_tokens_file_counts_for_more_than_the_token_beside_it_while_it_can_be_read(tmp_path: Path) -> None:
    users = [{"name": "ann", "user": {"token": "older", "tokenFile": "fresh"}}]
    endpoint = resolve(Connection(kubeconfig=written(tmp_path, "config", kubeconfig(users=users))), {})
    assert Credentials(endpoint).shown().authorization == "Bearer older"
    (tmp_path / "fresh").write_text("newer\n")
    assert Credentials(endpoint).shown().authorization == "Bearer newer"


def test_compression_is_turned_off_by_a_flag_as_by_the_kubeconfig(tmp_path: Path) -> None:
    path = written(tmp_path, "config", kubeconfig())
    assert resolve(Connection(kubeconfig=path), {}).compression
    assert not resolve(Connection(kubeconfig=path, disable_compression=True), {}).compression
    clusters = [{"name": "one", "cluster": {"server": "https://one", "disable-compression": True}}]
    path = written(tmp_path, "config", kubeconfig(clusters=clusters))
    assert not resolve(Connection(kubeconfig=path), {}).compression


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_a_server_on_this_host_need_not_compress(host: str, tmp_path: Path) -> None:
    path = written(tmp_path, "config", kubeconfig())
    assert not resolve(Connection(kubeconfig=path, server=f"https://{host}:6443"), {}).compression


def test_impersonation_of_the_kubeconfig_and_of_flags_meet(tmp_path: Path) -> None:
    acting = {"token": "x", "as": "eve", "as-groups": ["g1", "g2"], "as-user-extra": {"reason/why": ["a b"]}}
    path = written(tmp_path, "config", kubeconfig(users=[{"name": "ann", "user": acting}]))
    assert resolve(Connection(kubeconfig=path), {}).user.impersonation == (
        ("Impersonate-User", "eve"),
        ("Impersonate-Group", "g1"),
        ("Impersonate-Group", "g2"),
        ("Impersonate-Extra-reason%2Fwhy", "a b"),
    )
    flags = Connection(kubeconfig=path, as_user="mal", as_groups=("h",), as_uid="7")
    assert resolve(flags, {}).user.impersonation[:3] == (
        ("Impersonate-User", "mal"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Group", "h"),
    )
    extras = Connection(kubeconfig=path, as_user="mal", as_user_extras=("scope=a=1", "scope=b"))
    assert resolve(extras, {}).user.impersonation[-3:] == (
        ("Impersonate-Extra-reason%2Fwhy", "a b"),
        ("Impersonate-Extra-scope", "a=1"),
        ("Impersonate-Extra-scope", "b"),
    )


def test_in_a_pod_its_service_account_serves(tmp_path: Path) -> None:
    for name, text in (("token", "t0"), ("ca.crt", "PEM"), ("namespace", "mine\n")):
        (tmp_path / name).write_text(text)
    environment = {"HOME": "/nowhere", "KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    found = resolve(Connection(), environment, tmp_path)
    assert (found.server, found.namespace) == ("https://[fd00::1]:443", "mine")
    assert found.user.token_file == str(tmp_path / "token")
    assert found.authority == Material(path=str(tmp_path / "ca.crt"))
    told = {**environment, "POD_NAMESPACE": "told"}
    assert resolve(Connection(), told, tmp_path).namespace == "told"
    path = written(tmp_path, "config", kubeconfig())
    assert resolve(Connection(kubeconfig=path), told, tmp_path).namespace == "team"
    assert resolve(Connection(kubeconfig=path, context="second"), told, tmp_path).namespace == "told"


@pytest.mark.parametrize(
    ("flags", "authorization"),
    [
        (Connection(), "Bearer own"),
        (Connection(as_user="mal"), "Bearer own"),
        (Connection(token="told"), "Bearer told"),  # noqa: S106 - a test's
        (Connection(username="eve", password="p"), f"Basic {base64.b64encode(b'eve:p').decode()}"),  # noqa: S106
    ],
    ids=["own", "impersonating", "token", "password"],
)
def test_in_a_pod_whoever_is_named_asks(tmp_path: Path, flags: Connection, authorization: str) -> None:
    for name, text in (("token", "own"), ("ca.crt", "PEM")):
        (tmp_path / name).write_text(text)
    environment = {"HOME": "/nowhere", "KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}
    assert Credentials(resolve(flags, environment, tmp_path)).shown().authorization == authorization
    unchecked = resolve(Connection(insecure_skip_tls_verify=True), environment, tmp_path)
    assert (unchecked.insecure, bool(unchecked.authority)) == (True, False)


@pytest.mark.parametrize("value", ["false", "no", "0", 0, 1])
def test_only_a_truth_value_switches_verification_off(tmp_path: Path, value: object) -> None:
    cluster = {"server": "https://one", "insecure-skip-tls-verify": value}
    path = written(tmp_path, "config", kubeconfig(clusters=[{"name": "one", "cluster": cluster}]))
    with pytest.raises(KubeconfigError, match=r"cluster one: .*insecure-skip-tls-verify"):
        resolve(Connection(kubeconfig=path), {})


def test_an_authority_for_what_is_not_verified_is_refused(tmp_path: Path) -> None:
    cluster = {"server": "https://one", "insecure-skip-tls-verify": True, "certificate-authority-data": "UEVN"}
    path = written(tmp_path, "config", kubeconfig(clusters=[{"name": "one", "cluster": cluster}]))
    with pytest.raises(KubeconfigError, match="contradict each other"):
        resolve(Connection(kubeconfig=path), {})
    both = Connection(kubeconfig=path, insecure_skip_tls_verify=True, certificate_authority="x.crt")
    with pytest.raises(KubeconfigError, match="contradict each other"):
        resolve(both, {})
    assert resolve(Connection(kubeconfig=path, insecure_skip_tls_verify=True), {}).insecure


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30", 30.0), ("1m30s", 90.0), ("0", None), ("0s", None), ("", None), ("250ms", 0.25)],
)
def test_request_timeouts_are_seconds_or_durations(text: str, seconds: float | None) -> None:
    assert resolve(Connection(server="https://a", request_timeout=text), {"HOME": "/nowhere"}).timeout == seconds


@pytest.mark.parametrize(
    ("changes", "flags", "said"),
    [
        ({}, {"context": "frist"}, "context 'frist' does not exist; there is first"),
        ({}, {"cluster": "three"}, "cluster 'three' does not exist"),
        ({}, {"user": "carl"}, "user 'carl' does not exist"),
        ({}, {"request_timeout": "soon"}, "--request-timeout 'soon' is no duration"),
        ({}, {"as_groups": ("g",)}, "add --as"),
        ({}, {"as_user": "eve", "as_user_extras": ("scope",)}, "--as-user-extra 'scope' is not written as KEY=VALUE"),
        ({"clusters": {"one": {}}}, {}, "clusters must be a list"),
        ({"current-context": "gone"}, {}, "context 'gone' does not exist"),
        (
            {"users": [{"name": "ann", "user": {"client-key-data": "%%"}}]},
            {},
            "client-key-data in the kubeconfig is not base64",
        ),
        ({}, {"server": "https://[a"}, "server 'https://\\[a' is no address such as"),
        ({}, {"server": "https://a:99999"}, "server 'https://a:99999' is no address such as"),
        ({}, {"server": "https://user:word@a:99999"}, "^server 'https://a:99999' is no address such as"),
        ({"users": [{"name": "ann", "user": {"exec": 5}}]}, {}, "user ann: exec: expected object"),
        ({"users": [{"name": "ann", "user": {"exec": {"args": 5}}}]}, {}, "user ann: exec.args: expected array"),
        ({"users": [{"name": "ann", "user": {"exec": {"env": [{}]}}}]}, {}, "user ann: exec.env.*missing.*name"),
        ({"users": [{"name": "ann", "user": {"as-user-extra": [1]}}]}, {}, "user ann: as-user-extra: expected object"),
        ({"users": [{"name": "ann", "user": {"tokenFile": 5}}]}, {}, "user ann: tokenFile: expected str"),
        ({"clusters": [{"name": "one", "cluster": {"extensions": 5}}]}, {}, "cluster one: extensions: expected array"),
    ],
)
def test_what_makes_no_sense_is_said_in_one_sentence(
    tmp_path: Path, changes: Document, flags: dict[str, Any], said: str
) -> None:
    path = written(tmp_path, "config", kubeconfig(**changes))
    with pytest.raises(KubeconfigError, match=said) as raised:
        resolve(Connection(kubeconfig=path, **flags), {})
    assert raised.value.exit_code == 2


@pytest.mark.parametrize(
    "proxy", ["http://[a", "http://user:secret@a:b", "ftp://a", "http://a..b", "socks5://a\u202e", "http://a b"]
)
def test_a_proxy_that_is_none_is_refused_without_what_it_says_of_a_user(proxy: str) -> None:
    with pytest.raises(KubeconfigError, match="is no http, https or socks5 address") as raised:
        Server(Endpoint("http://a", proxy=proxy)).get("/version")
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("host", ["a..b", "a b", "a\u202e"])
def test_a_host_that_there_cannot_be_is_not_asked_again(host: str) -> None:
    with pytest.raises(ClusterError, match=r"^the server a.*: its address names no host that there can be$"):
        Server(Endpoint(f"http://{host}")).get("/version")


@pytest.mark.parametrize(("name", "value"), [("a=b", "c"), ("a", "\0")])
def test_a_plugin_with_a_variable_that_there_cannot_be_is_said_not_to_run(name: str, value: str) -> None:
    plugin = {"command": "/bin/true", "apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never"}
    user = User(plugin={**plugin, "env": [{"name": name, "value": value}]})
    with pytest.raises(ClusterError, match="the credential plugin /bin/true cannot be run: "):
        Server(Endpoint("https://a", user)).get("/version")


def test_no_cluster_at_all_names_the_ways_out(tmp_path: Path) -> None:
    with pytest.raises(
        ClusterError, match=r"no cluster is configured.* --kubeconfig or a server with --server$"
    ) as raised:
        resolve(Connection(), {"HOME": str(tmp_path)}, tmp_path / "none")
    assert raised.value.exit_code == 3


def test_a_kubeconfig_without_a_current_context_names_those_there_are(tmp_path: Path) -> None:
    path = written(tmp_path, "config", kubeconfig(**{"current-context": ""}))
    with pytest.raises(ClusterError, match=r"no current-context: choose one with --context \(first, second\)$"):
        resolve(Connection(kubeconfig=path), {}, tmp_path / "none")


def test_no_secret_is_ever_printed(tmp_path: Path) -> None:
    path = written(tmp_path, "config", kubeconfig())
    shown = repr(resolve(Connection(kubeconfig=path), {})) + repr(Connection(token="flag-secret"))  # noqa: S106 - a test's
    assert "secret-of-ann" not in shown
    assert "flag-secret" not in shown
