"""Priorities and disruption budgets (k8s.io/api/policy/v1, k8s.io/api/scheduling/v1)."""

from kubectl_sched.api.meta import Int32, KubernetesObject, LabelSelector, Part


class PodDisruptionBudgetSpec(Part, frozen=True):
    """The selector of the pods that the budget protects."""

    selector: LabelSelector | None = None


class PodDisruptionBudgetStatus(Part, frozen=True):
    """The number of pods that may still be disrupted, and the pods that are being disrupted already."""

    disruptions_allowed: Int32 = 0
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
