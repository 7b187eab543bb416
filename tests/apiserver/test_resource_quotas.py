"""ResourceQuotas refuse and admit pods as in the API server."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import structs

from kubectl_sched.api.admission import ResourceQuota
from kubectl_sched.api.pod import Pod, PodStatus
from kubectl_sched.apiserver.pod_defaults import defaulted
from kubectl_sched.apiserver.refused_manifest import RefusedError
from kubectl_sched.apiserver.resource_quotas import Quotas
from kubectl_sched.config import Features, KubeVersion
from kubectl_sched.snapshot import Objects

Json = dict[str, Any]


def quota(name: str, hard: Json, **used: str) -> ResourceQuota:
    about = {"name": name, "namespace": "default"}
    return msgspec.convert({"metadata": about, "spec": {"hard": hard}, "status": {"used": used}}, ResourceQuota)


def asking(*containers: Json, **spec: Any) -> Pod:
    named = [{"name": f"c{number}", "resources": each} for number, each in enumerate(containers)]
    return msgspec.convert({"metadata": {"namespace": "default"}, "spec": {"containers": named, **spec}}, Pod)


CPU = {"requests": {"cpu": "1"}}
WHOLE = {"requests": {"memory": "1Gi"}}


@pytest.mark.parametrize(
    ("pod", "hard", "version", "said"),
    [
        (asking(CPU, {}), {"requests.cpu": "9"}, "1.36", "failed quota: q: must specify requests.cpu for: c1"),
        (asking(CPU, CPU), {"requests.cpu": "9"}, "1.36", None),
        (asking({}, CPU), {"limits.cpu": "9", "cpu": "9"}, "1.36",
         "failed quota: q: must specify cpu for: c0; limits.cpu for: c0,c1"),
        (asking({}, resources=WHOLE), {"requests.cpu": "9"}, "1.36", None),
        (asking({}, resources=WHOLE), {"memory": "1"}, "1.36",
         "exceeded quota: q, requested: memory=1Gi, used: memory=0, limited: memory=1"),
        (asking({}, resources=WHOLE), {"requests.cpu": "9"}, "1.33",
         "failed quota: q: must specify requests.cpu for: c0"),
        (asking({"requests": {"x.com/gpu": "1"}}, {}), {"requests.x.com/gpu": "1"}, "1.36", None),
    ],
)  # fmt: skip
def test_each_container_says_what_a_quota_limits_unless_the_pod_does(
    pod: Pod, hard: Json, version: str, said: str | None
) -> None:
    features = Features.for_version(KubeVersion.parse(version), {})
    assert refusal(defaulted(pod, features.enabled), quota("q", hard)) == said


def test_what_a_pod_does_not_use_may_be_used_up_already() -> None:
    unused = asking({"requests": {"cpu": "0"}})
    assert refusal(unused, quota("q", {"cpu": "1"}, cpu="2")) is None
    assert refusal(asking(CPU), quota("q", {"cpu": "1"}, cpu="2")) is not None


def test_what_is_not_said_comes_before_what_is_too_much() -> None:
    quotas = quota("a", {"cpu": "500m"}), quota("b", {"memory": "1Gi"})
    assert refusal(asking(CPU), *quotas) == "failed quota: b: must specify memory for: c0"


@pytest.mark.parametrize(
    ("hard", "used", "fits"),
    [
        ({"cpu": "2"}, {}, False),
        ({"cpu": "3"}, {}, True),
        ({"cpu": "2"}, {"cpu": "1"}, True),
        ({"cpu": "9", "pods": "2"}, {"cpu": "1"}, False),
        ({"cpu": "9", "pods": "3"}, {"cpu": "1"}, True),
    ],
)
def test_what_no_controller_has_counted_yet_is_counted(hard: Json, used: Json, fits: bool) -> None:
    ended = structs.replace(asking(CPU), status=PodStatus(phase="Succeeded"))
    running = [named("a", asking(CPU)), named("b", asking(CPU)), named("c", ended)]
    quotas = Quotas(Objects([quota("q", hard, **used), *running]))
    if fits:
        quotas.take(asking(CPU))
    else:
        with pytest.raises(RefusedError, match="exceeded quota: q"):
            quotas.take(asking(CPU))
        quotas.give_back(running[0])
        quotas.take(asking(CPU))


def named(name: str, pod: Pod) -> Pod:
    return structs.replace(pod, metadata=structs.replace(pod.metadata, name=name))


def refusal(pod: Pod, *quotas: ResourceQuota) -> str | None:
    try:
        Quotas(Objects(quotas)).take(pod)
    except RefusedError as refused:
        return refused.reason
    return None
