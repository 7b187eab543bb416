import pytest

from kubectl_sched.sources.live.connections.proxies import proxy_from_environment

PROXY = "http://proxy.example:3128"


@pytest.mark.parametrize(
    ("server", "exempt", "proxied"),
    [
        ("https://api.example:6443", "", True),
        ("https://localhost:6443", "", False),
        ("https://127.0.0.1:6443", "", False),
        ("https://[::1]:6443", "", False),
        ("https://api.example:6443", "*", False),
        ("https://api.example:6443", "other, example", False),
        ("https://api.example:6443", ".example", False),
        ("https://api.example:6443", "*.example", False),
        ("https://example:6443", ".example", True),
        ("https://myexample:6443", "example", True),
        ("https://api.example:6443", "api.example:6443", False),
        ("https://api.example:6443", "api.example:443", True),
        ("https://api.example", "api.example:443", False),
        ("https://10.1.2.3:6443", "10.0.0.0/8", False),
        ("https://10.1.2.3:6443", "10.1.2.3", False),
        ("https://10.1.2.3:6443", "10.1.2.4,192.168.0.0/16", True),
        ("https://[fd00::1]:6443", "fd00::/8", False),
        ("https://[fd00::1]:6443", "[fd00::1]:6443", False),
    ],
)
def test_no_proxy_is_read_as_go_reads_it(server: str, exempt: str, proxied: bool) -> None:
    environment = {"HTTPS_PROXY": PROXY, "NO_PROXY": exempt}
    assert proxy_from_environment(server, environment) == (PROXY if proxied else None)


def test_each_scheme_has_its_own_variable_in_either_case() -> None:
    assert proxy_from_environment("https://a", {"https_proxy": "p:1"}) == "http://p:1"
    assert proxy_from_environment("https://a", {"HTTP_PROXY": "http://p:1"}) is None
    assert proxy_from_environment("http://a", {"HTTP_PROXY": "http://p:1"}) == "http://p:1"
