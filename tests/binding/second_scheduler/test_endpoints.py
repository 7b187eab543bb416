"""The endpoints that probes and Prometheus read."""

from __future__ import annotations

import socket
from collections import Counter
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from kubectl_sched.binding.second_scheduler.endpoints import EndpointServer
from kubectl_sched.binding.second_scheduler.metrics import SCHEDULED, Metrics
from kubectl_sched.binding.second_scheduler.queued_pod import Place
from kubectl_sched.errors import SchedError

if TYPE_CHECKING:
    from collections.abc import Iterator


class Health:
    wrong = ""

    def __call__(self) -> str:
        return self.wrong


@pytest.fixture
def health() -> Health:
    return Health()


@pytest.fixture
def metrics() -> Metrics:
    return Metrics(("mine",), "kubectl-sched-mine")


@pytest.fixture
def served(health: Health, metrics: Metrics) -> Iterator[EndpointServer]:
    serving = EndpointServer("127.0.0.1:0", {"/healthz": health}, metrics.text)
    yield serving
    serving.close()


def test_all_addresses_are_those_of_both_families(health: Health, metrics: Metrics) -> None:
    if not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")
    serving = EndpointServer(":0", {"/healthz": health}, metrics.text)
    try:
        for address in ("127.0.0.1", "[::1]"):
            with urlopen(f"http://{address}:{serving.port}/healthz", timeout=60) as answer:
                assert answer.read() == b"ok"
    finally:
        serving.close()


def ask(serving: EndpointServer, path: str) -> tuple[int, str]:
    try:
        with urlopen(f"http://127.0.0.1:{serving.port}{path}", timeout=60) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as refused:
        with refused:
            return refused.code, refused.read().decode()


def test_a_check_that_fails_says_why(served: EndpointServer, health: Health) -> None:
    assert ask(served, "/healthz?verbose") == (200, "ok")
    health.wrong = "the scheduling loop hangs"
    assert ask(served, "/healthz") == (500, "the scheduling loop hangs")
    assert ask(served, "/nothing")[0] == 404


def test_metrics_have_kube_schedulers_names(served: EndpointServer, metrics: Metrics) -> None:
    metrics.attempted(SCHEDULED, "mine", 0.01)
    metrics.scheduled(2, 1.5)
    metrics.leads(leads=True)
    pending = Counter({Place.ACTIVE: 3, Place.UNSCHEDULABLE: 1})
    metrics.show(pending, {(Place.ACTIVE, "PodAdd"): 4}, {"nodes": 2})
    samples = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(ask(served, "/metrics")[1])
        for sample in family.samples
    }
    assert samples["scheduler_pending_pods", "active"] == 3
    assert samples["scheduler_pending_pods", "gated"] == 0
    assert samples["scheduler_schedule_attempts_total", "mine", "scheduled"] == 1
    assert samples["scheduler_schedule_attempts_total", "mine", "error"] == 0
    assert samples["scheduler_scheduling_attempt_duration_seconds_count", "mine", "scheduled"] == 1
    assert samples["scheduler_pod_scheduling_sli_duration_seconds_sum", "2"] == 1.5
    assert samples["scheduler_queue_incoming_pods_total", "PodAdd", "active"] == 4
    assert samples["scheduler_cache_size", "nodes"] == 2
    assert samples["leader_election_master_status", "kubectl-sched-mine"] == 1


def test_a_port_that_is_taken_is_one_sentence(served: EndpointServer, metrics: Metrics) -> None:
    with pytest.raises(SchedError, match="address already in use"):
        EndpointServer(f"127.0.0.1:{served.port}", {}, metrics.text)


@pytest.mark.parametrize(
    ("listen", "at"),
    [("127.0.0.1:0", "127.0.0.1:{}"), (":0", "port {} of all addresses"), ("[::1]:0", "[::1]:{}")],
)
def test_it_says_where_it_listens(listen: str, at: str, metrics: Metrics) -> None:
    serving = EndpointServer(listen, {}, metrics.text)
    serving.close()
    assert serving.at == at.format(serving.port)
