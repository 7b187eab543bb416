import pytest

from kubectl_sched.cli.command_line import command_first, respelled
from kubectl_sched.cli.options.connection import ConnectionOptions
from kubectl_sched.cli.options.option_groups import flags
from kubectl_sched.errors import SchedError
from kubectl_sched.sources.live.connection_flags import Connection

FLAGS = {flag: each.takes_value for each in flags(ConnectionOptions).values() for flag in each.spellings}


@pytest.mark.parametrize("flag", FLAGS)
def test_every_connection_flag_may_stand_before_the_command(flag: str) -> None:
    given = [flag, "value"] if FLAGS[flag] else [flag]
    assert command_first([*given, "explain", "web"]) == ["explain", *given, "web"]
    if len(given) == 2:
        joined = "=".join(given)
        assert command_first([joined, "-A", "explain", "web"]) == ["explain", joined, "-A", "web"]


@pytest.mark.parametrize(
    "given", [["-s", "https://a"], ["-shttps://a"], ["-nteam"], ["-n", "team"], ["-n=team"], ["-Anteam"]]
)
def test_short_flags_may_be_glued_to_their_value(given: list[str]) -> None:
    assert command_first([*given, "explain", "web"]) == ["explain", *given, "web"]


def test_the_flags_that_were_given_are_named_as_they_are_written() -> None:
    given = ConnectionOptions(as_user="ann", as_groups=["g"], request_timeout="3s", insecure_skip_tls_verify=True)
    assert given.given_flags == ["--as", "--as-group", "--request-timeout", "--insecure-skip-tls-verify"]
    assert given.connection == Connection(
        as_user="ann", as_groups=("g",), request_timeout="3s", insecure_skip_tls_verify=True
    )
    assert ConnectionOptions().given_flags == []


SWITCHES, TAKERS = {"--all-namespaces", "-A", "-w"}, {"--namespace", "-n", "-o", "--node"}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (["web", "-n=team"], ["web", "-nteam"]),
        (["-o=jsonpath={a=b}"], ["-ojsonpath={a=b}"]),
        (["-nteam", "-n", "team", "--namespace=team"], ["-nteam", "-n", "team", "--namespace=team"]),
        (["-Awn=team"], ["-A", "-w", "-nteam"]),
        (["-Awn", "-A=true", "web"], ["-A", "-w", "-n", "-A=true", "web"]),
        (["-A=true", "-w=0"], ["-A"]),
        (["--all-namespaces=true", "--all-namespaces=False"], ["--all-namespaces"]),
        (["--node", "--all-namespaces=true"], ["--node", "--all-namespaces=true"]),
        (["--", "-n=team", "-A=true"], ["--", "-n=team", "-A=true"]),
        (["-", "-n=", "-Ax=1", "--other=true"], ["-", "-n=", "-A", "-x=1", "--other=true"]),
    ],
)
def test_values_of_flags_are_taken_in_each_of_kubectls_spellings(written: list[str], meant: list[str]) -> None:
    assert respelled(written, SWITCHES, TAKERS) == meant


@pytest.mark.parametrize("word", ["--all-namespaces=maybe", "-A=yes"])
def test_a_switch_is_either_on_or_off(word: str) -> None:
    with pytest.raises(SchedError, match=f"^{word}: it is either true or false$"):
        respelled([word], SWITCHES, TAKERS)
