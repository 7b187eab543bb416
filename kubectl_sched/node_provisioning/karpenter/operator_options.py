"""The options of Karpenter that the simulation depends on (pkg/operator/options)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.config.features import TRUE
from kubectl_sched.node_provisioning.karpenter.karpenter_labels import CORE_WELL_KNOWN, GROUP
from kubectl_sched.node_provisioning.karpenter.karpenter_release import NEWEST, KarpenterRelease
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_sched.api.affinity import TopologySpreadConstraint

MAX_INSTANCE_TYPES: Final = 600


class Options(Record, frozen=True, kw_only=True):
    """Karpenter's settings, at their defaults unless its flags say otherwise."""

    release: KarpenterRelease = NEWEST
    respects_preferences: bool = True
    """PREFERENCE_POLICY is Respect."""

    relaxes_min_values: bool = False
    """MIN_VALUES_POLICY is BestEffort."""

    reserves_capacity: bool = True
    """The feature gate ReservedCapacity is on."""

    ignores_devices: bool = True
    """IGNORE_DRA_REQUESTS is true: pods with ResourceClaims are refused."""

    applies_overlays: bool = False
    """The feature gate NodeOverlay is on."""

    replaces_spot_by_spot: bool = False
    """The feature gate SpotToSpotConsolidation is on."""

    manages_deletion_costs: bool = False
    """The feature gate PodDeletionCostManagement is on: Karpenter itself writes deletion costs, and reads none."""

    default_constraints: tuple[TopologySpreadConstraint, ...] = ()
    """The spread constraints of pods that have none, out of SCHEDULER_CONFIG."""

    well_known: frozenset[str] = CORE_WELL_KNOWN
    """The labels that an instance type may have without a NodePool naming them; providers add their own."""

    restricted_domains: frozenset[str] = frozenset({GROUP})
    """The domains whose other labels no pod may name; providers add their own."""

    reservation_label: str = ""
    """The provider's label of a reservation's ID."""

    max_instance_types: int = MAX_INSTANCE_TYPES


def options_of(
    flags: Mapping[str, str],
    well_known: frozenset[str],
    provider_domains: Iterable[str] = (),
    reservation_label: str = "",
    release: KarpenterRelease = NEWEST,
    default_constraints: tuple[TopologySpreadConstraint, ...] = (),
) -> Options:
    """Return the options that the flags set, with the labels of the providers."""
    gates = feature_gates(flags)
    return Options(
        release=release,
        default_constraints=default_constraints if release.spreads_by_default else (),
        respects_preferences=flags.get("preference-policy") != "Ignore",
        relaxes_min_values=flags.get("min-values-policy") == "BestEffort",
        reserves_capacity=gates.get("ReservedCapacity", True),
        applies_overlays=gates.get("NodeOverlay", False),
        replaces_spot_by_spot=gates.get("SpotToSpotConsolidation", False),
        manages_deletion_costs=gates.get("PodDeletionCostManagement", False),
        ignores_devices=flags.get("ignore-dra-requests", "true") in TRUE,
        well_known=well_known,
        restricted_domains=frozenset({GROUP, *provider_domains} - {""}),
        reservation_label=reservation_label,
    )


def feature_gates(flags: Mapping[str, str]) -> dict[str, bool]:
    """Return the gates that the flags name."""
    pairs = (each.partition("=") for each in flags.get("feature-gates", "").split(","))
    return {name.strip(): value.strip() in TRUE for name, _, value in pairs if name}
