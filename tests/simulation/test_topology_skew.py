"""The skew of a workload is that of the domains that its pods may be in."""

from __future__ import annotations

from kubectl_sched.simulation.rollout import Skew, skews
from tests.plugins.clusters import node, pod, snapshot

ZONED = snapshot(
    node("w1", labels={"zone": "a", "kubernetes.io/hostname": "w1"}),
    node("w2", labels={"zone": "a", "kubernetes.io/hostname": "w2"}),
    node("w3", labels={"zone": "b", "kubernetes.io/hostname": "w3"}),
    node("bare"),
)


def over(key: str) -> list[dict[str, object]]:
    return [{"topologyKey": key, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}]


def test_it_is_the_most_less_the_fewest() -> None:
    wanted = pod(topologySpreadConstraints=over("zone"))
    assert list(skews(wanted, ZONED, ["w1", "w2", "w3"], ["w1", "w2", "w1"])) == [
        Skew(topology_key="zone", before=1, after=3)
    ]


def test_without_constraints_it_is_over_what_the_defaults_spread() -> None:
    assert list(skews(pod(), ZONED, ["w1"], ["bare"])) == [
        Skew(topology_key="kubernetes.io/hostname", before=1, after=0)
    ]


def test_domains_that_the_affinity_does_not_admit_do_not_count() -> None:
    wanted = pod(topologySpreadConstraints=over("kubernetes.io/hostname"), nodeSelector={"zone": "a"})
    assert list(skews(wanted, ZONED, ["w1"], ["w1", "w2"])) == [
        Skew(topology_key="kubernetes.io/hostname", before=1, after=0)
    ]


def test_a_key_that_no_node_has_tells_nothing() -> None:
    assert list(skews(pod(topologySpreadConstraints=over("rack")), ZONED, ["w1"], [])) == []
