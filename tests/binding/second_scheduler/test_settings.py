"""Flags and a configuration together: whom a second scheduler serves, by which Lease, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from kubectl_sched.binding.second_scheduler.election_rules import Terms
from kubectl_sched.binding.second_scheduler.settings import WatchOptions, address, check_flags, settings
from kubectl_sched.config import Configuration, KubeVersion, load_configuration
from kubectl_sched.errors import SchedError
from kubectl_sched.framework.cycle_budget import SERVICE
from kubectl_sched.sources.discovery.known_schedulers import lease_name


def configuration(*names: str, **fields: Any) -> Configuration:
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": name} for name in names],
    }
    return load_configuration({**document, **fields})


@pytest.mark.parametrize(
    ("given", "options", "served"),
    [
        (load_configuration(), WatchOptions(scheduler_name="mine"), ("mine",)),
        (configuration("one", "two"), WatchOptions(config="f"), ("one", "two")),
        (configuration("one", "two"), WatchOptions(config="f", scheduler_name="two"), ("two",)),
        (configuration("one"), WatchOptions(config="f", scheduler_name="mine"), ("mine",)),
    ],
    ids=["default", "all", "one of them", "renamed"],
)
def test_whom_it_serves(given: Configuration, options: WatchOptions, served: tuple[str, ...]) -> None:
    assert settings(options, given).names == served


def test_the_budget_of_a_cycle_is_set_by_flags() -> None:
    given = load_configuration()
    assert settings(WatchOptions(scheduler_name="mine"), given).limits == SERVICE
    own = WatchOptions(scheduler_name="mine", cycle_work="500ms", cycle_memory="1Gi")
    assert settings(own, given).limits == replace(SERVICE, steps=500_000, memory=1 << 30)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ({"cycle_work": "long"}, "--cycle-work long"),
        ({"cycle_work": "0s"}, "--cycle-work must be longer than 0s"),
        ({"cycle_memory": "much"}, "--cycle-memory much: it takes an amount such as 256Mi"),
        ({"cycle_memory": "-1"}, "--cycle-memory -1"),
    ],
)
def test_a_budget_that_makes_no_sense_is_refused(flags: dict[str, str], said: str) -> None:
    with pytest.raises(SchedError, match=said):
        check_flags(WatchOptions(scheduler_name="mine", **flags))  # type: ignore[arg-type]


def test_leader_election_is_kube_schedulers_but_for_the_lease() -> None:
    election = settings(WatchOptions(scheduler_name="Mine/1"), load_configuration()).election
    assert election is not None
    assert (election.namespace, election.name) == ("kube-system", "kubectl-sched-mine-1")
    terms = election.terms
    assert terms == Terms(identity=terms.identity, lease_duration=15.0, renew_deadline=10.0, retry_period=2.0)


def test_a_lease_that_the_configuration_names_is_taken() -> None:
    written = {"leaseDuration": "20s", "resourceName": "own", "resourceNamespace": "batch"}
    given = configuration("one", leaderElection=written)
    election = settings(WatchOptions(config="f", leader_elect_retry_period="1s"), given).election
    assert election is not None
    assert (election.namespace, election.name) == ("batch", "own")
    assert (election.terms.lease_duration, election.terms.retry_period) == (20.0, 1.0)


def test_without_leader_election_there_is_no_lease() -> None:
    assert settings(WatchOptions(scheduler_name="x", leader_elect=False), load_configuration()).election is None
    given = configuration("one", leaderElection={"leaderElect": False})
    assert settings(WatchOptions(config="f"), given).election is None
    assert settings(WatchOptions(config="f", leader_elect=True), given).election is not None


def test_backoff_is_the_configurations() -> None:
    given = configuration("one", podInitialBackoffSeconds=3, podMaxBackoffSeconds=7)
    backoff = settings(WatchOptions(config="f"), given).backoff
    assert [backoff.seconds(attempts) for attempts in (1, 2, 3)] == [3, 6, 7]


EXTENDERS = [{"urlPrefix": "http://127.0.0.1:1", "filterVerb": "filter"}]


@pytest.mark.parametrize(
    ("given", "options", "said"),
    [
        (configuration("one", "two"), WatchOptions(config="f", scheduler_name="x"), "has only one, two"),
        (configuration("one", extenders=EXTENDERS), WatchOptions(config="f"), "asks no extenders"),
        (
            load_configuration(),
            WatchOptions(scheduler_name="x", leader_elect_lease_duration="5s"),
            "must be longer than --leader-elect-renew-deadline",
        ),
        (
            load_configuration(),
            WatchOptions(scheduler_name="x", leader_elect_retry_period="9s"),
            "1.2 times --leader-elect-retry-period",
        ),
    ],
    ids=["unknown name", "extenders", "deadline", "retry"],
)
def test_what_makes_no_sense_together_is_refused(given: Configuration, options: WatchOptions, said: str) -> None:
    with pytest.raises(SchedError, match=said):
        settings(options, given)


def test_a_plugin_that_is_not_here_is_refused() -> None:
    profile = {"schedulerName": "one", "plugins": {"score": {"enabled": [{"name": "MyCustomPluginA"}]}}}
    given = configuration(profiles=[profile])
    with pytest.raises(SchedError, match="MyCustomPluginA, which is not here"):
        settings(WatchOptions(config="f"), given)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (WatchOptions(), "needs --scheduler-name NAME, or --config"),
        (WatchOptions(scheduler_name=""), "is empty"),
        (WatchOptions(scheduler_name="x", leader_elect_retry_period="2"), "missing unit"),
        (WatchOptions(scheduler_name="x", listen="10259"), "ADDRESS:PORT"),
        (WatchOptions(scheduler_name="x", listen=":99999"), "ADDRESS:PORT"),
    ],
    ids=["nobody", "empty", "unit", "no colon", "no port"],
)
def test_flags_that_make_no_sense_are_refused(options: WatchOptions, said: str) -> None:
    with pytest.raises(SchedError, match=said):
        check_flags(options)


@pytest.mark.parametrize(
    ("text", "expected"), [(":10259", ("", 10259)), ("127.0.0.1:0", ("127.0.0.1", 0)), ("[::1]:80", ("::1", 80))]
)
def test_addresses(text: str, expected: tuple[str, int]) -> None:
    assert address(text) == expected


def test_no_two_names_of_the_usual_kind_share_a_lease() -> None:
    assert lease_name("default-scheduler") == "kubectl-sched-default-scheduler"
    assert lease_name("batch.example.com") == "kubectl-sched-batch.example.com"


def test_gangs_are_served_where_they_wait_in_permit_and_where_groups_have_a_cycle() -> None:
    options = WatchOptions(scheduler_name="mine")
    both = {"GenericWorkload": True, "GangScheduling": True}
    gates = {"1.35": both, "1.36": both, "1.37": {"GenericWorkload": True}}
    for minor, on in gates.items():
        assert settings(options, load_configuration(None, KubeVersion.parse(minor), on)).names == ("mine",)
