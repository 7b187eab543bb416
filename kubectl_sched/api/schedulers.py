"""Objects that say which schedulers there are and how they are configured."""

from kubectl_sched.api.meta import Int32, KubernetesObject, Part


class LeaseSpec(Part, frozen=True):
    """The holder of the lease and its times (RFC 3339)."""

    holder_identity: str = ""
    lease_duration_seconds: Int32 = 0
    acquire_time: str | None = None
    renew_time: str | None = None


class Lease(KubernetesObject, frozen=True, tag_field="kind", tag="Lease"):
    """coordination.k8s.io/v1, by which one of several equal programs is elected."""

    spec: LeaseSpec = LeaseSpec()


class SchedulerSpec(Part, frozen=True):
    """OpenShift names its profile instead of giving a configuration."""

    profile: str = ""


class Scheduler(KubernetesObject, frozen=True, tag_field="kind", tag="Scheduler"):
    """config.openshift.io/v1."""

    spec: SchedulerSpec = SchedulerSpec()


class SchedulerConfigurationSpec(Part, frozen=True):
    """A KubeSchedulerConfiguration as YAML."""

    raw_config: str = ""


class SchedulerConfiguration(KubernetesObject, frozen=True, tag_field="kind", tag="SchedulerConfiguration"):
    """aks.azure.com/v1alpha1, from which Azure configures the scheduler that it runs."""

    spec: SchedulerConfigurationSpec = SchedulerConfigurationSpec()


class SchedulerLog(KubernetesObject, frozen=True, tag_field="kind", tag="SchedulerLog"):
    """The lines that a kube-scheduler logged as it started, under its pod's name. Only snapshots have such objects."""

    spec: SchedulerConfigurationSpec = SchedulerConfigurationSpec()
