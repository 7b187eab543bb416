"""One extender behind us and behind the real kube-scheduler: equal verdicts, points, messages and victims."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from kubectl_sched.queries.explanation import Explanation
from kubectl_sched.render.answers.explanation_data import explanation_data
from tests.sources.extender.extender_server import extender_server
from tests.sources.extender.test_extender_client import HEAD, cluster, extender, loud_then_alone, replay

if TYPE_CHECKING:
    from pathlib import Path

    from tests.oracle.build import Oracle

pytestmark = pytest.mark.oracle

EXAMPLES = int(os.environ.get("ORACLE_EXAMPLES", "60"))

VERBS: tuple[dict[str, Any], ...] = (
    {"filterVerb": "filter"},
    {"prioritizeVerb": "prioritize"},
    {"filterVerb": "filter", "prioritizeVerb": "prioritize"},
    {"filterVerb": "broken"},
    {"filterVerb": "refuse"},
    {"filterVerb": "silent"},
    {"filterVerb": "nothing"},
    {"filterVerb": "nowhere"},
    {"filterVerb": "broken", "ignorable": True},
    {"prioritizeVerb": "broken"},
    *({"filterVerb": verb} for verb in ("number", "number-of-names", "number-of-errors", "number-failed", "nameless")),
    *({"filterVerb": verb} for verb in ("page", "cut", "trailing", "short", "latin-1", "moved", "no-quantity")),
    *({"prioritizeVerb": verb} for verb in ("scores", "fraction", "nulls", "page")),
    {"filterVerb": "filter", "managedResources": [{"name": "example.com/foo"}]},
)


def decided(oracle: Oracle, objects: list[Any], config: str) -> dict[str, Any]:
    (answer,) = oracle.ask(
        {"id": "x", "objects": objects, "config": config, "pods": ["default/web"], "extenders": True}
    )
    return answer


@pytest.mark.parametrize("caches", [True, False])
@pytest.mark.parametrize("verbs", VERBS, ids=lambda verbs: "-".join(map(str, verbs.values())))
def test_filtering_and_scoring_agree(oracle: Oracle, verbs: dict[str, Any], caches: bool, tmp_path: Path) -> None:
    with extender_server() as server:
        config = extender(server.url, nodeCacheCapable=caches, **verbs)
        real = decided(oracle, cluster(), config)
        ours = explanation_data(Explanation(result=replay(config, cluster(), tmp_path, oracle.patch)), "")
    agree(real, ours)


def agree(real: dict[str, Any], ours: dict[str, Any]) -> None:
    """Hold the verdicts, points, message and victims of both against each other."""
    if real.get("error"):
        assert ours["error"]  # in words of our own
        return
    assert ours["feasible"] == real["feasible"]
    assert ours["best"] == real["best"]
    assert (ours["message"] or "") == real["message"]
    for node in ours["nodes"]:
        view = real["nodes"][node["name"]]
        assert node["total"] == view.get("total")
        verdict = view["filter"]
        said = node["filter"] and (node["filter"]["code"], node["filter"]["reasons"])
        assert said == (verdict and (verdict["code"], verdict["reasons"]))
    if real.get("postFilter"):
        ours, real = ours["postFilter"], real["postFilter"]
        assert ours["code"] == real["code"]
        if real.get("nominatedNode") == ours["nominatedNode"]:
            assert ours["victims"] == real["victims"]
        else:
            assert ours["nominatedNode"] in real["nominatedNodes"]  # the last tie falls to chance


FILTERS = (*["filter"] * 6, "nothing", "nowhere", "refuse", "broken")
SCORES = (*["prioritize"] * 6, "nulls", "fraction", "broken")


def random_extender(chance: random.Random, url: str) -> dict[str, Any]:
    """Return an extender with verbs of its own, which answers most often as it should."""
    fields: dict[str, Any] = {"urlPrefix": url, "nodeCacheCapable": chance.random() < 0.5}
    for field, verbs in (("filterVerb", FILTERS), ("prioritizeVerb", SCORES), ("preemptVerb", ("preempt",))):
        if chance.randrange(3):
            fields[field] = chance.choice(verbs)
    if "prioritizeVerb" in fields:
        fields["weight"] = chance.randint(1, 20)
    return fields | {"ignorable": chance.randrange(3) == 0}


def random_case(chance: random.Random, url: str) -> tuple[list[dict[str, Any]], str]:
    """Return a cluster and a configuration of up to three extenders."""
    full = chance.randrange(3) == 0
    objects = cluster(
        chance.randint(1, 9), full=full, priority=chance.choice([0, 1000]), cpu=chance.choice(["1", "2", "5"])
    )
    if chance.randrange(4) == 0:
        objects[-1]["status"] = {"nominatedNodeName": f"n{chance.randint(1, 9)}"}
    # The oracle tells points apart by address.
    extenders = [random_extender(chance, f"{url}/{place}") for place in range(chance.randint(1, 3))]
    if chance.randrange(4) == 0:
        extenders[0]["managedResources"] = [{"name": "example.com/foo"}]
    return objects, HEAD + yaml.safe_dump({"extenders": extenders})


@pytest.mark.parametrize("seed", range(EXAMPLES))
def test_several_extenders_of_any_kind_agree(oracle: Oracle, seed: int, tmp_path: Path) -> None:
    with extender_server() as server:
        objects, config = random_case(random.Random(seed), server.url)  # noqa: S311 - to be repeatable
        real = decided(oracle, objects, config)
        ours = explanation_data(Explanation(result=replay(config, objects, tmp_path, oracle.patch)), "")
    assert not real.get("error", "").startswith("oracle:"), real["error"]
    agree(real, ours)


@pytest.mark.parametrize("caches", [True, False])
@pytest.mark.parametrize("verb", ["preempt", "broken", "nothing", "victims", "number"])
def test_preemption_agrees(oracle: Oracle, verb: str, caches: bool, tmp_path: Path) -> None:
    objects = cluster(4, full=True, priority=1000, cpu="2")
    with extender_server() as server:
        config = extender(server.url, nodeCacheCapable=caches, preemptVerb=verb)
        real = decided(oracle, objects, config)["postFilter"]
        ours = explanation_data(Explanation(result=replay(config, objects, tmp_path, oracle.patch)), "")["postFilter"]
    assert ours["code"] == real["code"]
    assert bool(ours["message"]) == bool(real["message"]) or ours["code"] == "Success"
    assert ours["nominatedNode"] == real["nominatedNode"]
    assert ours["victims"] == real["victims"]


def test_what_is_said_of_the_nominated_node_stays_although_a_later_extender_fails(
    oracle: Oracle, tmp_path: Path
) -> None:
    objects = cluster(4)
    objects[-1]["status"] = {"nominatedNodeName": "n1"}
    with extender_server() as server:
        config = loud_then_alone(server.url)
        real = decided(oracle, objects, config)
        ours = replay(config, objects, tmp_path, oracle.patch)
    assert not real.get("error")
    assert ours.message == real["message"]
