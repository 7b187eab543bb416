"""The whole cycle over small clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubectl_sched.config import KubeVersion, load_configuration
from kubectl_sched.queries.explanation import Explanation, explanation_of
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.scheduler.scheduler import Scheduler
from tests.plugins.clusters import snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult


def explain(
    pod: Pod, *objects: KubernetesObject, config: Mapping[str, Any] | None = None, version: str = "1.36", **gates: bool
) -> ScheduleResult:
    """The cycle for the pod among these objects."""
    configuration = load_configuration(config, KubeVersion.parse(version), gates)
    return Scheduler(configuration, snapshot(*objects, pod, version=version)).schedule_one(pod)


def with_cycle(result: ScheduleResult) -> CycleResult:
    """Return the result of a pod that a profile serves."""
    assert isinstance(result, CycleResult)
    return result


def explained(
    pod: Pod, *objects: KubernetesObject, config: Mapping[str, Any] | None = None, version: str = "1.36", **gates: bool
) -> Explanation:
    """The cycle for the pod among these objects, with its warnings and its place in the queue."""
    configuration = load_configuration(config, KubeVersion.parse(version), gates)
    scheduler = Scheduler(configuration, snapshot(*objects, pod, version=version))
    return explanation_of(scheduler.schedule_one(pod), scheduler)


def profile(**plugins: Any) -> dict[str, Any]:
    """A configuration whose one profile sets these extension points; `pluginConfig` is the list of that name."""
    plugin_config = plugins.pop("pluginConfig", [])
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {"schedulerName": "default-scheduler", "plugins": plugins, "pluginConfig": plugin_config},
        ],
    }


def only(*names: str) -> dict[str, Any]:
    """An extension point with these plugins and no others."""
    return {"disabled": [{"name": "*"}], "enabled": [{"name": name} for name in names]}
