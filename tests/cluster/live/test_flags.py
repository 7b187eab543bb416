import pytest

from kubectl_sched.cli.arguments import command_first
from kubectl_sched.cli.connection import FLAGS, given_flags
from kubectl_sched.cluster.live.connection import Connection

SPELLINGS = {"as_user": "--as", "as_groups": "--as-group"}


@pytest.mark.parametrize("name", sorted(FLAGS))
def test_every_connection_flag_may_stand_before_the_command(name: str) -> None:
    flag = SPELLINGS.get(name, f"--{name.replace('_', '-')}")
    given = [flag] if FLAGS[name][0] is bool else [flag, "value"]
    assert command_first([*given, "explain", "web"]) == ["explain", *given, "web"]
    if len(given) == 2:
        joined = "=".join(given)
        assert command_first([joined, "-A", "explain", "web"]) == ["explain", joined, "-A", "web"]


@pytest.mark.parametrize("given", [["-s", "https://a"], ["-shttps://a"], ["-nteam"], ["-n", "team"]])
def test_short_flags_may_be_glued_to_their_value(given: list[str]) -> None:
    assert command_first([*given, "explain", "web"]) == ["explain", *given, "web"]


def test_the_flags_that_were_given_are_named_as_they_are_written() -> None:
    given = Connection(as_user="ann", as_groups=("g",), request_timeout="3s", insecure_skip_tls_verify=True)
    assert given_flags(given) == ["--as", "--as-group", "--request-timeout", "--insecure-skip-tls-verify"]
    assert given_flags(Connection(namespace="team")) == []
