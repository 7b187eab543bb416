"""Differences between Kubernetes minors: the one table that plugins, configuration and documentation read.

Answers to k8s.io/kubernetes up to the patch releases in PATCHES; the rows are releases.json, with the default profile
of getDefaultPlugins (pkg/scheduler/apis/config/v1/default_plugins.go), and v1beta3's. What v1beta2 lists by extension
point is in `defaults.py`. What a patch changed is under its minor's `since_patch`. A minor builds on the first release
of the one before, since its branch never had the later patches of that one. A plugin that behaves differently by
version asks a named field of its `Release`; outside this package nothing compares version numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from kubectl_sched.config.allocator_versions import AllocatorChannel, DeviceRules
from kubectl_sched.errors import SchedError

if TYPE_CHECKING:
    from collections.abc import Iterator

_TABLE: Final = Path(__file__).with_name("releases.json")


_NO_PATCH: Final = -1


class KubeVersion(msgspec.Struct, frozen=True, order=True):
    """A Kubernetes minor such as 1.36, or one of its patch releases; a minor comes before its patches."""

    major: int
    minor: int
    patch: int = _NO_PATCH

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}" + (f".{self.patch}" if self.names_patch else "")

    @property
    def names_patch(self) -> bool:
        """Report whether this is a patch release, and not a whole minor."""
        return self.patch != _NO_PATCH

    @property
    def of_minor(self) -> KubeVersion:
        """Return the minor."""
        return KubeVersion(self.major, self.minor)

    @classmethod
    def parse(cls, text: str) -> KubeVersion:
        """Read `1.36`, `v1.36.2`, `1.36.2-gke.100` or `1.36+`; what follows the patch does not matter."""
        found = re.match(r"\s*v?(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?(?:$|[.+\-\s])", text)
        if found is None:
            raise SchedError(f"{text!r} is not a Kubernetes version; write it as {NEWEST} or {newest_patch(NEWEST)}")
        return cls(int(found[1]), int(found[2]), _NO_PATCH if found[3] is None else int(found[3]))


class DefaultPlugin(msgspec.Struct, frozen=True):
    """A plugin of the default profile: weight 0 where upstream leaves it unset, `gate` if only with that feature."""

    name: str
    weight: int = 0
    gate: str = ""


class FitErrorForm(msgspec.Struct, frozen=True, kw_only=True):
    """The form of a minor's FitError for a pod that fits nowhere (FitError.Error)."""

    counts_pre_filter: bool = False
    """A PreFilter rejection is counted once a node, as Filter's are, instead of said once for the pod."""
    tells_left_out: bool = True
    """Nodes that a PreFilter result leaves out give a reason."""
    tells_post_filter: bool = True
    """The message of PostFilter follows."""
    stop_after_post_filter: bool = False
    """A full stop follows it, also where it ends in one."""


class Release(msgspec.Struct, frozen=True, kw_only=True):
    """One minor at one of its patches, as far as it schedules differently from others."""

    version: KubeVersion
    """The minor."""
    patch: KubeVersion | None = None
    """The patch release, None for a minor whose patches are not known to differ."""
    prerelease: str | None = None
    """The tag that was read of a minor that is not released yet, such as v1.38.0-beta.0."""
    config_apis: tuple[str, ...]
    """The KubeSchedulerConfiguration versions that it serves, the one of its own defaults first."""
    multi_point: tuple[DefaultPlugin, ...]
    """The default profile of v1 and v1beta3, in order (getDefaultPlugins)."""
    fit_error: FitErrorForm = FitErrorForm()
    """The form of the FitError."""
    taint_reason: str = "node(s) had untolerated taint(s)"
    """TaintToleration's reason, with Python's places for the taint's key and value."""
    volume_conflict_reason: str = "node(s) didn't match PersistentVolume's node affinity"
    """VolumeBinding's reason where a bound volume cannot be reached from the node."""
    sidecar_ports_count: bool = True
    """Host ports of sidecar containers count as those of other containers do."""
    absent_requests_crash: bool = False
    """The real scheduler crashes over a pod with a container that requests nothing while its status has resources."""
    volume_scoring_gate: str = "StorageCapacityScoring"
    """The gate with which VolumeBinding scores nodes by storage capacity."""
    dynamic_resources_args: tuple[str, ...] = ()
    """The fields of DynamicResourcesArgs, none if the plugin takes no arguments."""
    invalid_plugins: tuple[str, ...] = ()
    """Plugins that validation of a v1 configuration refuses by name."""
    ratio_belongs_to_its_strategy: bool = False
    """NodeResourcesFit refuses requestedToCapacityRatio beside another strategy, and that strategy without it."""
    errors_show_json: bool = False
    """A validation error shows a value that is no scalar as JSON instead of in Go syntax."""
    queue_sort_differs: str = "has to match for all profiles"
    """The refusal of a queueSort unlike the first profile's."""
    queue_sort_args_differ: str = "has to match for all profiles"
    """The refusal of queueSort arguments unlike the first profile's."""
    shape_not_sorted: str = "utilization values must be sorted in increasing order"
    """The refusal of a shape whose utilizations do not rise."""
    only_leases: bool = False
    """Validation takes no resourceLock but leases."""
    lease_too_short: str = "LeaseDuration must be greater than RenewDeadline"
    """The refusal of a leaseDuration that is not longer than renewDeadline."""
    qualified_name: str = "a qualified name"
    """The name that validation gives to a key with more than one slash."""
    length_unit: str = "characters"
    """The unit in which validation states the largest length of a name; bytes are meant."""
    overflow_names_point: bool = False
    """The error for weights that overflow begins with the extension point: `score plugins: `."""
    placement_plugins_are_validated: bool = False
    """Plugins that validation refuses by name are refused as placementGenerate and placementScore plugins, too."""
    placements_are_merged: bool = False
    """Several PlacementGenerate plugins may be enabled, and a placement is a combination of one of each."""

    gangs_are_of_workloads: bool = False
    """A gang is a part of a Workload, not yet a PodGroup."""
    groups_form_trees: bool = False
    """CompositePodGroups hold PodGroups and each other."""
    gangs_wait_for_root: bool = False
    """A gang's pod waits for the group at the top of its tree alone; before, all of the tree has to be in order."""
    devices: DeviceRules
    """The rules by which devices are allocated."""

    fit_tells_unresolvable: bool = False
    """NodeResourcesFit's status is UnschedulableAndUnresolvable where a request is above what the node has at all."""

    fit_scores_whole_pod: bool = False
    """NodeResourcesFit scores requests of the pod as a whole, and resizes; before, the containers' specs alone."""

    amounts_saturate: bool = False
    """Amounts and sums beyond 2^63 - 1 are held there, and scores are exact; before, both overflow."""

    limit_ranges_are_exact: bool = False
    """The API server compares LimitRanges without rounding; before, in thousandths or in whole units."""

    device_overhead_per_container: bool = False
    """The overhead of a device counts for each container while it runs; before, for all of them at once."""

    balance_against_before: bool = False
    """NodeResourcesBalancedAllocation compares the balance with the pod to the balance without it."""

    device_class_hides_missing_resource: bool = False
    """With DRAExtendedResource, NodeResourcesFit leaves a resource to devices only where the node does not name it,
    and all of them where the pod asks for no extended resource."""

    image_volumes_have_locality: bool = False
    """ImageLocality adds the images of image volumes."""

    image_volumes_raise_threshold: bool = False
    """ImageLocality's threshold counts image volumes as it counts containers."""

    inferred_features: tuple[str, ...] = ()
    """The features that NodeDeclaredFeatures may infer from a pod's spec."""

    unsatisfied_features_are_named: bool = False
    """NodeDeclaredFeatures' reason ends in the features that the node lacks."""

    read_write_once_pod_reason: str = (
        "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"
    )
    """VolumeRestrictions' reason where another pod uses such a claim."""

    portworx_limits_ask_csi_node: bool = True
    """NodeVolumeLimits counts an in-tree Portworx volume only where the CSINode's annotation has it as migrated."""

    missing_driver_needs_opt_in: bool = False
    """With VolumeLimitScaling, only drivers with preventPodSchedulingIfMissing must be on the node."""

    status_requests_summed_per_pod: bool = False
    """The resize status of containers is summed over the pod before the larger of it and the spec counts."""

    empty_spread_selector_counts: bool = False
    """An empty labelSelector of a topology spread constraint counts every pod of the namespace; before, none."""

    storage_capacity_is_exact: bool = False
    """VolumeBinding compares a claim's size with a CSIStorageCapacity exactly; before, both rounded up to bytes."""

    namespace_selector_stays: bool = False
    """InterPodAffinity keeps a term's namespaceSelector after it has looked up the namespaces that it selects, and then
    matches it against no labels at all: `DoesNotExist` and `NotIn` select every namespace."""

    ties_fall_by_place: bool = False
    """Among tied nodes the winner follows from the order in which the search found them; before, chance decides."""

    devices_end_signing: bool = False
    """With DRAExtendedResource no pod has a signature, so that none takes part in opportunistic batching."""

    hints_rescore_last_node: bool = False
    """Opportunistic batching scores the node taken last again where it still fits; before, it ends there."""

    groups_do_not_preempt: bool = False
    """DefaultPreemption leaves pods of a group alone where workload-aware features are on."""

    pod_group_condition: str = "PodGroupScheduled"
    """The condition that the cycle of a group writes."""

    pod_group_api_version: str = "scheduling.k8s.io/v1alpha2"
    """The version of PodGroups that kube-scheduler reads, by which its events name them."""

    composite_pod_group_api_version: str = "scheduling.k8s.io/v1alpha3"
    """The version of CompositePodGroups that kube-scheduler reads, by which its events name them."""

    group_progress: str = "minCount ({minimum}) {verdict}: {scheduled} scheduled, {remaining} remaining"
    """GangScheduling's reason against a group, with Python's places for its numbers, and for the verdict on them."""

    group_status_has_prefix: bool = True
    """The status of a group that does not fit begins with `pod group is unschedulable`."""

    failures_name_their_group: bool = False
    """A group that is undone or not tried names the group above that failed. A pod whose group failed with an error
    names its group, and members that were tried keep their own reasons. Before, all repeat the message of the failed
    group."""

    group_trees_are_validated: bool = False
    """A tree of groups has one Workload, priority and preemption policy, a limit of depth, and limits of what a gang
    and a group that is disrupted as a whole may hold. Before, pods alone are compared with the topmost group."""

    group_policy_needs_gate: bool = True
    """The preemption policy of a group counts with PodGroupPreemptionPolicy alone, and then counts where it is unset,
    too; later a group without one has that of its pods."""

    composite_groups_have_condition: bool = False
    """A CompositePodGroup has a condition, too, and a group's condition is not written again once it is True."""

    placements_are_sampled: bool = False
    """A group stops once percentageOfPlacementsToScore of its placements fit, and with the first one where nothing
    scores placements; before, it tries all."""

    nominated_placement_is_first: bool = False
    """A PodGroup outside of a tree takes the one placement with its members' nominated nodes if it fits there."""

    empty_domains_count: bool = True
    """An empty value of the topology label is a domain, too."""

    waiting_group_preempts_first: bool = False
    """A group whose victims are on their way out waits for them before its preemption policy is looked at. A victim on
    a node that is gone is an error only if it is chosen. Without any victim other PostFilter plugins are asked."""

    unusable_order_is_dropped: bool = False
    """A pod that cannot take the cached order of nodes ends it for the members after it, and a group's preemption
    does."""

    preempting_pods_are_related: bool = True
    """The event Preempted refers to the pod that preempts, and not only by its text."""

    groups_have_cycle: bool = False
    """Pods of a group are scheduled in one cycle of the group."""

    groups_have_placement_feasible: bool = False
    """PlacementFeasible plugins judge a group's progress instead of Permit; preemption is for the whole group alone."""

    assumed_members_are_listed: bool = True
    """A member of a group that is assumed in its cycle joins the lists of pods with affinity and with claims."""

    groups_wait_for_gated: bool = False
    """A member that a PreEnqueue plugin holds back holds back its whole group."""

    groups_are_queued: bool = False
    """A group stands in the queue as one, by its own priority, and its members do not."""

    jobs_choose_groups: bool = False
    """With WorkloadWithJob every Job has a PodGroup, as its `spec.scheduling` says; before, only one that is a gang."""

    groups_are_victims: bool = False
    """With GenericWorkload, DefaultPreemption takes pods by the priority of their group, and groups as a whole where
    their disruptionMode is `all`."""

    one_violated_budget_is_enough: bool = False
    """The budgets after the first that a victim violates keep what they allow."""

    unstarted_victims_keep_their_order: bool = False
    """Of two victims that never started, the one listed first counts as older."""

    victims_tie_by_uid: bool = False
    """Of two victims of equal importance that started at the same time, the one with the smaller UID is spared first;
    pods that never started count as started last."""

    victims_keep_priority: bool = False
    """A pod of a group is a victim by its own priority, and ranks as a pod without a group where it goes alone."""

    budgets_may_select_all: bool = False
    """Preemption heeds PodDisruptionBudgets with an empty selector, and those of pods without labels."""

    preemption_may_need_no_victim: bool = False
    """A node where the pod fits beside all potential victims has no victims, unless an extender adds some; before,
    preemption fails."""

    preemption_ranks_nodes: bool = False
    """A group's preemption takes the nodes whose victims cost least, those that DefaultPreemption's Reserve noted for
    members before left aside, and keeps room for members of groups alone that fit."""

    ending_victims_are_left: bool = True
    """A victim that is being deleted already is neither marked nor deleted once more."""

    gated_pods_are_nominated: bool = False
    """A pod that a PreEnqueue plugin holds back keeps the node that it is nominated to."""

    preemption_is_announced: bool = False
    """If preemption helps, the message names the node and the number of victims."""

    backoff_counts_rejections: bool = False
    """A pod's backoff grows with rejections, and apart from them with errors in a row; before, with every attempt."""

    gated_pods_are_flushed: bool = False
    """A pod that a PreEnqueue plugin holds back is asked about again after five minutes without any event."""

    binding_victims_stay: bool = False
    """A victim that is being bound and waits in PreBind is not deleted: its binding cycle is given up."""

    nominated_pods_wake_others: bool = False
    """For the queueing hints of InterPodAffinity and PodTopologySpread a pod that is only nominated counts as placed,
    and those of InterPodAffinity look at both pods' anti-affinity, and at changes of the pod's own labels."""

    any_anti_affinity_term_wakes: bool = False
    """One anti-affinity term that no longer hits is worth another attempt; before, all of them had to hit."""

    smaller_trees_wake: bool = False
    """A CompositePodGroup that needs fewer groups than before is worth another attempt of its tree."""

    affinity_hints_read_namespaces: bool = False
    """The queueing hint of InterPodAffinity matches namespaceSelectors with the labels of the other pod's namespace."""

    nominated_pods_leave_small_nodes: bool = False
    """A pod is tried again if the node that it is nominated to becomes too small for it."""

    taint_changes_wake: bool = True
    """Any change of a node's taints is worth another attempt where a plugin has registered new nodes, but no taints."""

    device_class_wakes_fit: bool = False
    """NodeResourcesFit registers DeviceClasses where they offer extended resources."""

    allocatable_wakes_claims: bool = False
    """DynamicResources registers changes of what a node can allocate."""

    claim_deletion_wakes: bool = False
    """DynamicResources registers that a claim with devices is gone."""

    upcoming_nodes_need_scale_up: bool = False
    """For cluster-autoscaler, nodes of a group are on their way only while the group's scale-up is under way."""

    autoscaler_skips_all_nominated: bool = False
    """cluster-autoscaler passes over every nominated pod; before, only where the nominated node is there."""

    @property
    def patch_name(self) -> str | None:
        """Return the patch release or pre-release as text, None if no patch of the minor is known to differ."""
        if self.prerelease is not None:
            return self.prerelease.removeprefix("v")
        return None if self.patch is None else str(self.patch)

    @property
    def name(self) -> str:
        """Return the version as people name it: with the patch where patches differ."""
        return self.patch_name or str(self.version)

    @property
    def exact(self) -> bool:
        """Report whether decisions equal the real scheduler's; older minors take the nearest formulas."""
        return self.version >= OLDEST_EXACT


PATCHES: Final = {
    KubeVersion(1, minor): patch
    for minor, patch in enumerate((17, 17, 17, 16, 15, 16, 15, 15, 14, 14, 13, 13, 13, 10, 6, 2, 0), start=22)
}
"""The newest patch release of each minor whose changes were read."""

PRERELEASES: Final = {KubeVersion(1, 38): "v1.38.0-beta.0"}
"""The tag that was read of each minor that is not released yet."""

OLDEST_EXACT: Final = KubeVersion(1, 33)
_APPROXIMATION: Final = f"its own plugins, weights and reason texts, but the formulas of {OLDEST_EXACT}"
SUPPORTED: Final = tuple(PATCHES)
"""Every minor that can be replayed, oldest first."""
OLDEST: Final = SUPPORTED[0]
NEWEST: Final = max(version for version in SUPPORTED if version not in PRERELEASES)
"""The newest minor that is released, which is replayed where no version is known."""


def nearest(version: KubeVersion) -> tuple[KubeVersion, str | None]:
    """Return the supported version to replay for `version`, and the warning to show unless decisions are exact."""
    minor = version.of_minor
    taken = min(max(minor, OLDEST), SUPPORTED[-1])
    how = f"as of {PRERELEASES[taken]}, before its release" if taken in PRERELEASES else ""
    how = how if RELEASES[taken].exact else f"approximately: {_APPROXIMATION}"
    if taken != minor:
        told = f"Kubernetes {version} is not supported; replaying {taken}, the nearest one that is"
        return taken, f"{told}, {how}" if how else told
    if version > newest_patch(minor) and changing_patches(minor):
        newest = newest_patch(minor)
        return newest, f"Kubernetes {version} is newer than any patch known; replaying {newest}, the newest one"
    return version, f"Kubernetes {version} is replayed {how}" if how else None


def newest_patch(minor: KubeVersion) -> KubeVersion:
    """Return the newest known patch release of a supported minor."""
    return KubeVersion(minor.major, minor.minor, PATCHES[minor])


def changing_patches(minor: KubeVersion) -> tuple[KubeVersion, ...]:
    """Return the patch releases of a supported minor that changed what is replayed, oldest first."""
    numbers = sorted(map(int, _changes().get(str(minor), {}).get(_SINCE_PATCH, {})))
    return tuple(KubeVersion(minor.major, minor.minor, number) for number in numbers)


V1BETA2: Final = "kubescheduler.config.k8s.io/v1beta2"
_SINCE_PATCH: Final = "since_patch"


@cache
def _changes() -> dict[str, dict[str, Any]]:
    """Read the changes of each minor since the first release of the one before, of devices each rule by itself."""
    changes: dict[str, dict[str, Any]] = msgspec.json.decode(_TABLE.read_bytes())
    return changes


def _steps(version: KubeVersion) -> Iterator[dict[str, Any]]:
    """Yield the changes that add up to a patch release, the first ones first."""
    for minor in SUPPORTED[: SUPPORTED.index(version.of_minor) + 1]:
        yield {field: value for field, value in _changes().get(str(minor), {}).items() if field != _SINCE_PATCH}
    for patch in changing_patches(version.of_minor):
        if patch <= version:
            yield _changes()[str(version.of_minor)][_SINCE_PATCH][str(patch.patch)]


@cache
def _release(version: KubeVersion) -> Release:
    """Add up the changes until a patch release; a typed decoder would have to evaluate every annotation first."""
    row: dict[str, Any] = {"devices": {}}
    for changes in _steps(version):
        row |= {**changes, "devices": row["devices"] | changes.get("devices", {})}
    channels = [
        AllocatorChannel(**{**each, "features": frozenset(each["features"])}) for each in row["devices"]["channels"]
    ]
    made = {
        "multi_point": tuple(DefaultPlugin(**plugin) for plugin in row["multi_point"]),
        "fit_error": FitErrorForm(**row["fit_error"]),
        "devices": DeviceRules(**{**row["devices"], "channels": tuple(channels)}),
        "version": version.of_minor,
        "patch": version if changing_patches(version.of_minor) else None,
        "prerelease": PRERELEASES.get(version.of_minor),
    }
    plain: dict[str, Any] = {field: tuple(value) if isinstance(value, list) else value for field, value in row.items()}
    return Release(**(plain | made))


class _Releases(Mapping[KubeVersion, Release]):
    """The row of every minor at its newest patch, oldest first, and of every patch; each is made when first asked."""

    def __getitem__(self, version: KubeVersion) -> Release:
        if version.of_minor not in PATCHES:
            raise KeyError(version)
        return _release(version if version.names_patch else newest_patch(version))

    def __iter__(self) -> Iterator[KubeVersion]:
        return iter(SUPPORTED)

    def __len__(self) -> int:
        return len(SUPPORTED)


RELEASES: Final[Mapping[KubeVersion, Release]] = _Releases()
