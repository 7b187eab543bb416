"""Every recorded decision says which plugins ran, in which order and with which weights."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from kubectl_sched.config import ConfigurationError, KubeVersion, ResolvedProfile, load_configuration
from tests.decisions import recorded, wrong_cases

if TYPE_CHECKING:
    from tests.decisions import Recorded

VECTORS = Path(__file__).parents[2] / "fixtures" / "vectors"
POINTS = ("preEnqueue", "preFilter", "filter", "postFilter", "preScore", "score")


def scheduler_names(request: dict[str, Any]) -> dict[str, str]:
    pods = [item for item in request["objects"] if item["kind"] == "Pod"]
    return {
        f"{pod['metadata'].get('namespace') or 'default'}/{pod['metadata']['name']}": pod["spec"].get("schedulerName")
        or "default-scheduler"
        for pod in pods
    }


def shown(profile: ResolvedProfile) -> dict[str, Any]:
    rows: dict[str, Any] = {point: [plugin.name for plugin in profile.plugins[point]] for point in POINTS}
    rows["weights"] = {plugin.name: plugin.weight for plugin in profile.plugins["score"]}
    return rows


@pytest.mark.parametrize("name", sorted(path.name for path in VECTORS.glob("*.jsonl.gz")))
def test_profiles_resolve_as_recorded(name: str) -> None:
    assert wrong_cases(recorded(VECTORS / name), check) == {}


def check(case: Recorded) -> None:
    decided = case.case
    request, responses = decided["request"], decided["responses"]
    document = yaml.safe_load(request["config"]) if request.get("config") else None
    refusals = {
        response["error"] for response in responses if response.get("error", "").startswith(("config:", "decode:"))
    }
    if refusals:
        with pytest.raises(ConfigurationError) as refused:
            load_configuration(document, KubeVersion(1, 36), request.get("featureGates"))
        assert f"config: {refused.value.reason}" in refusals or all(each.startswith("decode:") for each in refusals)
        return
    profiles = load_configuration(document, KubeVersion(1, 36), request.get("featureGates")).profiles
    names = scheduler_names(request)
    for pod, response in zip(request["pods"], responses, strict=True):
        assert response["profileFound"] == (names[pod] in profiles)
        if response.get("plugins"):
            assert shown(profiles[names[pod]]) == response["plugins"]
