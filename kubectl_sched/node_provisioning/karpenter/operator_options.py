"""The options of Karpenter that the simulation depends on (pkg/operator/options)."""

from __future__ import annotations

from typing import Final

from kubectl_sched.node_provisioning.karpenter.karpenter_labels import CORE_WELL_KNOWN
from kubectl_sched.record import Record

VERSION: Final = "1.14.1"
"""The release of Karpenter that is replayed."""

MAX_INSTANCE_TYPES: Final = 600


class Options(Record, frozen=True, kw_only=True):
    """Karpenter's settings, at their defaults."""

    respects_preferences: bool = True
    """PREFERENCE_POLICY is Respect."""

    relaxes_min_values: bool = False
    """MIN_VALUES_POLICY is BestEffort."""

    reserves_capacity: bool = True
    """The feature gate ReservedCapacity is on."""

    well_known: frozenset[str] = CORE_WELL_KNOWN
    """The labels that an instance type may have without a NodePool naming them; providers add their own."""

    reservation_label: str = ""
    """The provider's label of a reservation's ID."""

    max_instance_types: int = MAX_INSTANCE_TYPES
