"""Creates a workload's pods, defaulted and admitted, together with the claims that are created with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.pod import Pod
from kubectl_sched.api.resource import ResourceClaim, ResourceClaimTemplate
from kubectl_sched.api.scheduling import PodGroup
from kubectl_sched.api.storage import PersistentVolumeClaim
from kubectl_sched.apiserver.refused_manifest import RefusedError
from kubectl_sched.apiserver.resource_quotas import Quotas
from kubectl_sched.controllers.job_pod_groups import in_group, pod_group_of
from kubectl_sched.controllers.pod_claims import bound_at_once, ephemeral_claims, new_claim, with_device_claims
from kubectl_sched.snapshot import Objects

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.apiserver.pod_admission import Admission
    from kubectl_sched.apiserver.server_dry_run import DryRun
    from kubectl_sched.controllers.workload_pods import Replicas


class Workload:
    """A workload with its pods as they would be stored, and the `old` ones that run already.

    `notes` are sentences about what goes before its pods are placed.
    """

    def __init__(self, replicas: Replicas, pods: list[Pod], notes: tuple[str, ...] = ()) -> None:
        self.replicas = replicas
        self.pods = pods
        self.old: list[Pod] = []
        self.notes = notes


class Making:
    """One what-if's pods and the objects `made` along with them; `others` are the cluster's besides nodes and pods."""

    def __init__(
        self,
        admission: Admission,
        others: Iterable[KubernetesObject],
        dry_run: DryRun | None = None,
        *,
        charges: bool,
    ) -> None:
        """`charges` says whether quotas count the pods as they are made, or their caller does so."""
        self.made: list[KubernetesObject] = []
        self.refused: list[tuple[Pod, str]] = []
        """The pods that a ResourceQuota does not admit, with the words of its plugin."""
        self._admission = admission
        self._objects = Objects(others)
        self._dry_run = dry_run
        self.quotas = Quotas(admission.objects)
        self._charges = charges
        self._controllers: set[tuple[type[KubernetesObject], str]] = set()
        self._made_at_once: set[str] = set()
        self._claims: set[str] = set()
        self._missing_templates: set[str] = set()

    def workload(self, replicas: Replicas, indices: Sequence[int]) -> Workload:
        """Return some pods of a workload; those that a quota does not admit are `refused`.

        Raises RefusedError for one that would not be stored.
        """
        admitted = _AdmittedOnce(self._admission)
        controller = replicas.controller
        if controller is not None and (key := (type(controller), controller.key)) not in self._controllers:
            self._controllers.add(key)
            self.made.append(controller)
        pods: list[Pod] = []
        claims: list[PersistentVolumeClaim] = []
        group: PodGroup | None = None
        asks, may_group = self._dry_run, self._admission.enabled("WorkloadWithJob")
        charges = self._charges and self.quotas.limits(replicas.source.namespace)
        for index in indices:
            pod = replicas.pod(index)
            pod = admitted.of(pod) if asks is None else asks.admitted(replicas.source, pod, admitted.of)
            if may_group:
                group = group or self._job_group(replicas.source, pod)
                pod = pod if group is None else in_group(pod, group)
            if charges and self._is_over_quota(pod):
                continue
            if pod.spec.resource_claims:
                pod = self._with_device_claims(pod)
            if replicas.claim_templates or pod.spec.volumes:
                claims += self._claims_of(pod, replicas)
            pods.append(pod)
        with_volumes, made_at_once = bound_at_once(claims, self._objects)
        self.made += with_volumes
        self._made_at_once |= made_at_once
        return Workload(replicas, pods)

    def _is_over_quota(self, pod: Pod) -> bool:
        """Charge the quotas of its namespace with the pod; keep it apart where one of them has no room."""
        try:
            self.quotas.take(pod)
        except RefusedError as error:
            self.refused.append((pod, error.reason))
            return True
        return False

    def let_go(self, pods: Iterable[Pod]) -> None:
        """Pods of the cluster that are gone, or that make room for others: quotas count them no more."""
        for pod in pods:
            self.quotas.give_back(pod)

    def admits_surge(self, workload: Workload) -> bool:
        """Report whether quotas have room for one such pod beside all that there are to be; else refuse them all."""
        first = workload.pods[0]
        try:
            self.quotas.take(first)
        except RefusedError as error:
            said = f"{error.reason} (its rollout adds a pod before it takes one away)"
            self.refused += ((pod, said) for pod in workload.pods)
            return False
        self.quotas.give_back(first)
        return True

    def _job_group(self, source: KubernetesObject, pod: Pod) -> PodGroup | None:
        """The group of a Job's pods, made with the first of them."""
        group = pod_group_of(source, pod, self._objects, chosen=self._admission.jobs_choose_groups)
        if group is not None and self._group(group.name, group.namespace) is None:
            self.made.append(group)
        return group

    def _group(self, name: str, namespace: str) -> PodGroup | None:
        made = (each for each in self.made if isinstance(each, PodGroup))
        found = next((each for each in made if (each.name, each.namespace) == (name, namespace)), None)
        return found or self._objects.get(PodGroup, name, namespace)

    def _with_device_claims(self, pod: Pod) -> Pod:
        named = pod.spec.scheduling_group if self._admission.enabled("DRAWorkloadResourceClaims") else None
        group = self._group(named.pod_group_name or "", pod.namespace) if named is not None else None
        for reference in pod.spec.resource_claims:
            name = reference.resource_claim_template_name
            if name is not None and self._objects.get(ResourceClaimTemplate, name, pod.namespace) is None:
                self._missing_templates.add(f"{pod.namespace}/{name}")
        pod, claims = with_device_claims(pod, self._objects, group)
        for claim in claims:
            if claim.key not in self._claims and self._objects.get(ResourceClaim, claim.name, claim.namespace) is None:
                self._claims.add(claim.key)
                self.made.append(claim)
        return pod

    def _claims_of(self, pod: Pod, replicas: Replicas) -> Iterator[PersistentVolumeClaim]:
        """Claims of the pod's templates that are not there already."""
        of_set = (
            new_claim(each, f"{each.metadata.name}-{pod.name}", pod.namespace, self._objects)
            for each in replicas.claim_templates
        )
        for claim in (*of_set, *ephemeral_claims(pod, self._objects)):
            if self._objects.get(PersistentVolumeClaim, claim.name, claim.namespace) is None:
                yield claim

    @property
    def notes(self) -> Iterator[str]:
        """Sentences about what was assumed, or is missing."""
        for name in sorted(self._missing_templates):
            yield f"ResourceClaimTemplate {name} was not found, so no claim is made from it and its pods wait for one"
        if self._made_at_once:
            names = ", ".join(sorted(self._made_at_once))
            yield (
                f"volumes of class {names} are made as soon as they are claimed, where the provisioner likes: "
                "here they are reachable from everywhere that the class allows"
            )


class _AdmittedOnce:
    """Replicas differ in name alone, so what the API server makes of the first it makes of all."""

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self._before: Pod | None = None
        self._after: Pod | None = None

    def of(self, pod: Pod) -> Pod:
        before, after = self._before, self._after
        if (
            before is None
            or after is None
            or before.spec is not pod.spec
            or before.metadata.labels != pod.metadata.labels
        ):
            after = self._admission.admitted(pod)
            self._before, self._after = pod, after
        return Pod(metadata=pod.metadata, spec=after.spec, status=after.status)
