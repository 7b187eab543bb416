"""ResourceSlices with DeviceTaintRules applied (k8s.io/dynamic-resource-allocation/resourceslice/tracker)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kubectl_sched.api.resource import DeviceClass, DeviceTaintRule, ResourceSlice
from kubectl_sched.dynamic_resource_allocation.allocation_errors import AllocationFailed, SchedulerCrashes
from kubectl_sched.dynamic_resource_allocation.devices import DeviceID, PoolSlice, SliceDevice, with_taint_rules
from kubectl_sched.dynamic_resource_allocation.selectors import Selectors

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kubectl_sched.api.resource import Device
    from kubectl_sched.config.allocator_versions import DeviceRules
    from kubectl_sched.snapshot import Snapshot

_WRONG_TYPE = "interface conversion: interface {} is *v1beta2.DeviceTaintRule, not *v1alpha3.DeviceTaintRule"


def published(nodes: Snapshot, rules: DeviceRules, enabled: Callable[[str], bool]) -> Sequence[ResourceSlice]:
    """Return the slices, with taint rules applied where these are on.

    The selectors of the rules are no work of a pod, and have no budget.
    """
    slices = nodes.objects.all(ResourceSlice)
    gate = "DRADeviceTaints" if rules.taint_rules_have_selectors else "DRADeviceTaintRules"
    taint_rules = nodes.objects.all(DeviceTaintRule) if enabled(gate) else ()
    if rules.taint_rules_crash and taint_rules and slices:
        raise SchedulerCrashes(_WRONG_TYPE)
    selectors = Selectors(rules, list_attributes=enabled("DRAListTypeAttributes"), sees_sharing=False)
    return with_taint_rules(slices, taint_rules, partial(_is_selected, nodes=nodes, rules=rules, selectors=selectors))


def _is_selected(
    rule: DeviceTaintRule, driver: str, device: Device, *, nodes: Snapshot, rules: DeviceRules, selectors: Selectors
) -> bool:
    where = rule.spec.device_selector
    if where is None:
        return not rules.taint_rules_need_selector
    if not rules.taint_rules_have_selectors:
        return True
    asked = list(where.selectors)
    if where.device_class_name is not None:
        of_class = nodes.objects.get(DeviceClass, where.device_class_name)
        if of_class is None:
            return False
        asked += of_class.spec.selectors
    one = SliceDevice(id=DeviceID(driver, "", device.name), device=device, slice=PoolSlice(published=ResourceSlice()))
    answers = [selectors.ask(selector.cel.expression, one) for selector in asked if selector.cel is not None]
    if any(answer.compile_error is not None for answer in answers):
        raise AllocationFailed
    return all(answer.matches for answer in answers)
