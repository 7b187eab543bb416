"""Priorities and disruption budgets (k8s.io/api/policy/v1, k8s.io/api/scheduling/v1)."""

from kubectl_sched.api.meta import Int32, KubernetesObject, LabelSelector, Part


class PodDisruptionBudgetSpec(Part, frozen=True):
    """The pods that the budget protects, and how many of them: a number, or a percentage such as `50%`."""

    selector: LabelSelector | None = None
    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    unhealthy_pod_eviction_policy: str | None = None


class PodDisruptionBudgetStatus(Part, frozen=True):
    """The number of pods that may still be disrupted, and the pods that are being disrupted already."""

    disruptions_allowed: Int32 = 0
    current_healthy: Int32 = 0
    desired_healthy: Int32 = 0
    expected_pods: Int32 = 0
    disrupted_pods: dict[str, str | None] = {}


class PodDisruptionBudget(KubernetesObject, frozen=True, tag_field="kind", tag="PodDisruptionBudget"):
    """policy/v1."""

    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()


class PriorityClass(KubernetesObject, frozen=True, tag_field="kind", tag="PriorityClass"):
    """scheduling.k8s.io/v1."""

    value: Int32 = 0
    global_default: bool = False
    preemption_policy: str | None = None
