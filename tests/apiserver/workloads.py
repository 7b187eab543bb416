"""Workloads as people write them, most of them with a mistake that the API server refuses."""

from __future__ import annotations

from typing import Any, NamedTuple

from kubectl_sched.api.apps import CronJob, DaemonSet, Deployment, Job, ReplicaSet, ReplicationController, StatefulSet
from kubectl_sched.api.pod import Pod

Json = dict[str, Any]

LABELS = {"app": "web"}
CONTAINERS = [{"name": "main", "image": "nginx"}]
FINITE = {"restartPolicy": "Never", "containers": CONTAINERS}
PATHS: dict[type[Any], str] = {
    Pod: "/api/v1/namespaces/default/pods",
    ReplicationController: "/api/v1/namespaces/default/replicationcontrollers",
    Job: "/apis/batch/v1/namespaces/default/jobs",
    CronJob: "/apis/batch/v1/namespaces/default/cronjobs",
    Deployment: "/apis/apps/v1/namespaces/default/deployments",
    ReplicaSet: "/apis/apps/v1/namespaces/default/replicasets",
    StatefulSet: "/apis/apps/v1/namespaces/default/statefulsets",
    DaemonSet: "/apis/apps/v1/namespaces/default/daemonsets",
}


class Written(NamedTuple):
    """A manifest of that kind, and which field it is refused for; empty where it is accepted."""

    kind: type[Any]
    field: str
    body: Json

    @property
    def id(self) -> str:
        """For the name of a test."""
        return f"{self.kind.__name__}-{self.field or 'accepted'}"


def _replicated(kind: type[Any], field: str = "", name: str = "web", **stated: Any) -> Written:
    """`stated` replaces fields of the spec; None takes one away."""
    template = {"metadata": {"labels": LABELS}, "spec": {"containers": CONTAINERS}}
    spec = {"selector": {"matchLabels": LABELS}, "template": template, **stated}
    return Written(kind, field, _named(name, {key: value for key, value in spec.items() if value is not None}))


def _named(name: str, spec: Json) -> Json:
    return {"metadata": {"name": name, "namespace": "default"}, "spec": spec}


def _template(labels: Json | None = None, **spec: Any) -> Json:
    return {"metadata": {"labels": labels or LABELS}, "spec": {"containers": CONTAINERS, **spec}}


def _job(field: str = "", name: str = "web", pod: Json | None = None, **spec: Any) -> Written:
    return Written(Job, field, _named(name, {"template": {"spec": pod or FINITE}, **spec}))


def _cron_job(field: str = "", name: str = "web", pod: Json | None = None) -> Written:
    template = {"spec": {"template": {"spec": pod or FINITE}}}
    return Written(CronJob, field, _named(name, {"schedule": "@daily", "jobTemplate": template}))


_OTHER = _template({"app": "db"})
_MISMATCH = "spec.template.metadata.labels"
_POLICY = "spec.template.spec.restartPolicy"
_CONTROLLER: Json = {"selector": LABELS}


def _rolling(**stated: Any) -> Json:
    return {"type": "RollingUpdate", "rollingUpdate": stated}


_STRATEGY, _UPDATE = "spec.strategy.rollingUpdate", "spec.updateStrategy.rollingUpdate"
_DEPLOYMENT_STRATEGIES: tuple[tuple[str, Json], ...] = (
    ("", {"type": "Recreate"}),
    ("", {"type": "RollingUpdate"}),
    ("", _rolling(maxSurge=1, maxUnavailable=0)),
    ("", _rolling(maxSurge="200%", maxUnavailable="0%")),
    ("", _rolling(maxSurge="1%", maxUnavailable="1%")),
    ("spec.strategy", {"type": "Canary"}),
    ("spec.strategy", {"type": "Canary", "rollingUpdate": {"maxSurge": "10%"}}),
    (_STRATEGY, {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}),
    (f"{_STRATEGY}.maxUnavailable", _rolling(maxSurge=0, maxUnavailable=0)),
    (f"{_STRATEGY}.maxUnavailable", _rolling(maxSurge="0%", maxUnavailable="0%")),
    (f"{_STRATEGY}.maxUnavailable", _rolling(maxUnavailable="101%")),
    (f"{_STRATEGY}.maxUnavailable", _rolling(maxUnavailable="half")),
    (f"{_STRATEGY}.maxSurge", _rolling(maxSurge=-1)),
    (f"{_STRATEGY}.maxSurge", _rolling(maxSurge="10")),
)
_SET_STRATEGIES: tuple[tuple[str, Json], ...] = (
    ("", {"type": "OnDelete"}),
    ("", _rolling(partition=2)),
    ("spec.updateStrategy", {"type": "Recreate"}),
    ("spec.updateStrategy", {"type": "Recreate", "rollingUpdate": {"partition": 1}}),
    (_UPDATE, {"type": "OnDelete", "rollingUpdate": {"partition": 1}}),
    (f"{_UPDATE}.partition", _rolling(partition=-1)),
)
_DAEMON_STRATEGIES: tuple[tuple[str, Json], ...] = (
    ("", {"type": "OnDelete"}),
    ("", _rolling(maxUnavailable="20%")),
    ("", _rolling(maxSurge=1, maxUnavailable=0)),
    ("spec.updateStrategy", {"type": "Recreate"}),
    (f"{_UPDATE}.maxSurge", _rolling(maxSurge=1)),
    (f"{_UPDATE}.maxSurge", _rolling(maxSurge="101%", maxUnavailable=0)),
    (f"{_UPDATE}.maxUnavailable", _rolling(maxUnavailable=0)),
    (f"{_UPDATE}.maxUnavailable", _rolling(maxUnavailable="1")),
)

WRITTEN: tuple[Written, ...] = (
    Written(Pod, "", _named("web.v1", {"containers": CONTAINERS})),
    Written(Pod, "metadata.name", _named("Web", {"containers": CONTAINERS})),
    Written(Pod, "metadata.name", _named("w\u00e9b", {"containers": CONTAINERS})),
    Written(Pod, "metadata.name", _named("w" * 254, {"containers": CONTAINERS})),
    *(
        each
        for kind in (Deployment, ReplicaSet, StatefulSet)
        for each in (
            _replicated(kind),
            _replicated(kind, "metadata.name", "web_1"),
            _replicated(kind, "spec.selector", selector=None),
            _replicated(kind, "spec.selector", selector={}),
            _replicated(kind, _MISMATCH, template=_OTHER),
            _replicated(kind, _MISMATCH, template={"spec": {"containers": CONTAINERS}}),
            _replicated(kind, _POLICY, template=_template(restartPolicy="Never")),
            _replicated(kind, "spec.replicas", replicas=-1),
        )
    ),
    _replicated(Deployment, name="web.v1"),
    *(_replicated(Deployment, field, strategy=strategy) for field, strategy in _DEPLOYMENT_STRATEGIES),
    *(_replicated(StatefulSet, field, updateStrategy=strategy) for field, strategy in _SET_STRATEGIES),
    *(_replicated(DaemonSet, field, updateStrategy=strategy) for field, strategy in _DAEMON_STRATEGIES),
    _replicated(StatefulSet, podManagementPolicy="Parallel"),
    _replicated(StatefulSet, "spec.podManagementPolicy", podManagementPolicy="Ordered"),
    _replicated(StatefulSet, ordinals={"start": 5}),
    _replicated(StatefulSet, "spec.ordinals.start", ordinals={"start": -1}),
    _replicated(StatefulSet, "metadata.name", "web.v1"),
    _replicated(StatefulSet, "metadata.name", "w" * 64),
    _replicated(DaemonSet),
    _replicated(DaemonSet, _MISMATCH, selector=None),
    _replicated(DaemonSet, "spec.selector", selector={}),
    _replicated(DaemonSet, _MISMATCH, template=_OTHER),
    _replicated(DaemonSet, _POLICY, template=_template(restartPolicy="OnFailure")),
    _replicated(ReplicationController, **_CONTROLLER),
    _replicated(ReplicationController, selector=None),
    _replicated(ReplicationController, _MISMATCH, **_CONTROLLER, template=_OTHER),
    _replicated(ReplicationController, "spec.selector", selector=None, template={"spec": {"containers": CONTAINERS}}),
    _replicated(ReplicationController, "spec.template", **_CONTROLLER, template=None),
    _replicated(ReplicationController, _POLICY, **_CONTROLLER, template=_template(restartPolicy="Never")),
    _job(),
    _job("metadata.name", "Web"),
    _job(_POLICY, pod={"containers": CONTAINERS}),
    _job(_POLICY, pod={**FINITE, "restartPolicy": "Always"}),
    _job("spec.parallelism", parallelism=-1),
    _job("spec.completions", completions=-1),
    _job("spec.completions", completionMode="Indexed", parallelism=2),
    _job(completionMode="Indexed"),
    _job("spec.completionMode", completionMode="Sorted"),
    _cron_job(),
    _cron_job("metadata.name", "w" * 53),
    _cron_job("spec.jobTemplate.spec.template.spec.restartPolicy", pod={"containers": CONTAINERS}),
)
