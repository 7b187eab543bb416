"""Differences between minors in allocating devices: the allocators they have, and their bugs.

Answers to k8s.io/dynamic-resource-allocation/structured and pkg/scheduler/framework/plugins/dynamicresources; the
values of each minor are in releases.json.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

ADMIN_ACCESS: Final = "DRAAdminAccess"
CONSUMABLE_CAPACITY: Final = "DRAConsumableCapacity"
BINDING_CONDITIONS: Final = "DRADeviceBindingConditions+DRAResourceClaimDeviceStatus"
DEVICE_BINDING: Final = "DRADeviceBindingConditions"
DEVICE_STATUS: Final = "DRAResourceClaimDeviceStatus"
DEVICE_TAINTS: Final = "DRADeviceTaints"
LIST_ATTRIBUTES: Final = "DRAListTypeAttributes"
PARTITIONABLE: Final = "DRAPartitionableDevices"
PRIORITIZED_LIST: Final = "DRAPrioritizedList"
FRACTIONAL_RANGE: Final = "DRAFractionalCapacityRange"
OPTIONAL_NODE_OPERATIONS: Final = "DRAOptionalNodeOperations"
DERIVED_ATTRIBUTES: Final = "DRADerivedAttributes"
COMPATIBILITY_GROUPS: Final = "DRADeviceCompatibilityGroups"


class AllocatorChannel(msgspec.Struct, frozen=True):
    """One allocator of a minor. The first that supports all features that are on is taken."""

    name: str
    features: frozenset[str]
    knows_capacity: bool = False
    """Consumable capacity, distinctAttribute and binding conditions are known at all."""
    knows_all_slices: bool = False
    """Slices with counter sets count while their gate is off, and an incomplete pool may be invalid, too."""
    reaches_all_counters: bool = False
    """Slices with counter sets count on every node, wherever they can be used."""
    knows_skipped_operations: bool = False
    """Devices that skip node operations need a gate and a node that can."""
    constraint_errors_name_request: bool = False
    """An attribute that cannot be read is reported with the claim and the request."""
    tries_combinations: bool = False
    """Each combination of devices for a request is tried once, and not every permutation."""


class DeviceRules(msgspec.Struct, frozen=True, kw_only=True):
    """One minor's rules; where a field names a flaw, that flaw is what the real scheduler does."""

    channels: tuple[AllocatorChannel, ...]
    post_filter_wants_claims: bool = False
    """PostFilter says nothing at all of a pod without claims."""
    post_filter_is_silent: bool = False
    """PostFilter gives no reason where it does nothing."""
    owner_text_is_lowercase: bool = False
    """`was not created for pod` instead of `Pod`."""
    exact_is_flat: bool = False
    """A request without alternatives is exact, whatever it holds (v1beta1)."""
    taint_rules_have_selectors: bool = False
    """DeviceTaintRules know classes and selectors, and need no gate but DRADeviceTaints."""
    taint_rules_need_selector: bool = False
    """A DeviceTaintRule without a deviceSelector taints nothing; before, it taints every device."""
    taint_rules_crash: bool = False
    """The real scheduler crashes where a DeviceTaintRule meets a ResourceSlice."""
    invalid_pool_fails: bool = False
    """An invalid pool fails the whole cycle, instead of being passed over."""
    incomplete_pool_is_used: bool = False
    """Only allocationMode All minds that slices are missing, and counts those that the node reaches."""
    any_taint_effect_counts: bool = False
    """Taints of other effects than NoSchedule and NoExecute repel, too."""
    counters_by: Literal["slice", "pool name", "pool"] = "pool"
    """The owner of counter sets; `pool name` mixes up pools of one name and several drivers."""
    binding_slices_are_last: bool = False
    """Slices with binding conditions come last within their pools, too."""
    counters_include_allocating: bool = False
    """Counters are summed anew for each device, and a missing counter counts as zero."""
    failed_device_keeps_counters: bool = False
    """A device that is given up after its counters were taken does not give them back. A share that is given up takes
    the mark of a shared device with it if the other shares hold no capacity."""
    all_devices_forget_alternative: bool = False
    """The second of all devices of an alternative is looked up as if it were one of the first alternative."""
    all_alternatives_share_matches: bool = False
    """If two alternatives want all devices, the second is given those that matched the first."""
    knows_binding_conditions: bool = True
    """Devices with binding conditions are passed over while their gates are off."""
    admin_access_repeats_device: bool = False
    """Admin access may give the same device twice to a claim."""
    all_devices_stay_taken: bool = False
    """After all devices were taken in vain, they stay taken for further attempts."""
    distinct_by: Literal["device", "request", "value"] = "value"
    """The values that distinctAttribute compares: of the same device, the last device of each request, or all."""
    capacity_errors_fail: bool = False
    """A capacity that cannot be computed fails the cycle; a device without the capacity is merely passed over."""
    all_devices_fail_node: bool = False
    """A request for all devices of a pool that is incomplete or invalid fails the node, and not the whole cycle."""
    capacities_are_qualified: bool = False
    """Capacities are known by domain and name, so that a request may name the driver's with and without its domain.
    One that is requested under both names is an error, and so is a negative one, even of an allocated claim."""
    shared_device_is_not_exclusive: bool = False
    """A device of which parts are given away is nobody's as a whole, though the driver no longer lets it be shared."""
    unsupported_values_fail: bool = False
    """An attribute with a value that cannot be read fails the cycle where a constraint or a selector needs it, and
    nowhere else; versions are compared without their build metadata."""
    shared_device_takes_counters_again: bool = False
    """A device that is shared takes its counters once for each share."""
    capacity_refusal_names_request: bool = False
    """An alternative's capacity is refused in the name of the whole request."""
    capacity_is_of_another_device: bool = False
    """A device is taken if there is room in the device of its slice whose place is the number within the request.

    Where the slice has no such device, the real scheduler crashes.
    """
    all_devices_with_counters_crash: bool = False
    """The real scheduler crashes where a request for all devices takes one that consumes counters."""
    device_limit_counts_requests: bool = False
    """Too many devices are reported for the request that goes beyond the limit, not for the claim."""
    selectors_know_sharing: bool = True
    """Selectors may ask for device.allowMultipleAllocations, whatever the gates."""
    selectors_know_includes: bool = False
    """Selectors may call includes(), whatever the gates."""
    cel_go: int = 26
    """The minor of cel-go, which charges a selector differently from 0.29 and from 0.33 on."""
    selectors_read_lists: bool = False
    """Selectors see attributes that are lists without DRAListTypeAttributes too."""
    selector_errors_name_device: bool = False
    """A selector's run-time error names the device and gives a hint."""
    shared_device_holds_counters: bool = False
    """A device that other claims share a capacity of counts as allocated in its counter sets."""
    implicit_class_is_extended: bool = True
    """Every class is an extended resource of its own name, even if it names another."""
    losing_class_is_extended: bool = False
    """A class stays an extended resource of its own name where a better class has the name that it names."""
    plugged_resource_is_claimed_too: bool = False
    """A resource that the node has from a device plugin is claimed as well, where anything is claimed."""
    filter_timeout_fails: bool = False
    """A node for which allocating takes longer than filterTimeout fails the cycle, and is not merely rejected."""
    score_wants_prioritized_list: bool = False
    """Without DRAPrioritizedList every node scores 0."""
    score_counts_allocated: bool = False
    """Claims that were allocated before count in the score."""
    pending_claims_have_nodes: bool = False
    """A claim that got devices earlier in a group's cycle is used where these are; 1.36 does not look."""
    device_limit_counts_twice: bool = False
    """The devices that a request got already count twice against the limit of 32 in a claim: it gets at most 16.

    The real scheduler tries all combinations before it gives up, which may take for ever.
    """
    class_configs_are_repeated: bool = False
    """A class's configuration is written once for each request of the class, as if it were for all of the claim."""
    configs_are_merged: bool = False
    """A claim's configuration for several requests is written once, and without naming them where they are all."""
