"""Asks the selectors of classes and requests about devices (selectorsMatch)."""

from __future__ import annotations

from copy import copy
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from kubectl_sched.api.apimachinery.quantity import InvalidQuantity, parse_quantity
from kubectl_sched.api.resource import DeviceAttribute
from kubectl_sched.dynamic_resource_allocation.allocation_errors import AllocationFailed
from kubectl_sched.framework.cycle_budget import UNLIMITED, CycleBudget
from kubectl_sched.lazy_pattern import pattern

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from kubectl_sched.api.apimachinery.quantity import Quantity
    from kubectl_sched.api.resource import Device, DeviceDerivedAttribute, DeviceSelector
    from kubectl_sched.config.allocator_versions import DeviceRules
    from kubectl_sched.dynamic_resource_allocation.cel import Dialect, Program
    from kubectl_sched.dynamic_resource_allocation.cel.field_references import Read
    from kubectl_sched.dynamic_resource_allocation.devices import SliceDevice

_HINT = (
    "consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional "
    "fields"
)
_STEPS_A_CHARACTER, _BYTES_A_CHARACTER = 10, 400
"""Of an expression that is compiled."""

_STEPS_A_DEVICE, _BYTES_AN_ANSWER = 4, 200
_NAMED = pattern(r"device\.(attributes|capacity)\[['\"]([^'\"]+)['\"]\]\.\??(\w+)")


class SelectorAnswer(NamedTuple):
    """The value of an expression for a device, or its error."""

    matches: bool
    compile_error: str | None = None
    error: str | None = None


class Selectors:
    """Every expression is asked once about devices that are alike in what it reads.

    Where sharing is not seen, no device is one that several may have at once.
    """

    def __init__(
        self, rules: DeviceRules, *, list_attributes: bool, sees_sharing: bool, budget: CycleBudget | None = None
    ) -> None:
        self._rules = rules
        self.budget = budget or CycleBudget(UNLIMITED)
        self._sees_sharing = sees_sharing
        self._list_attributes = rules.selectors_read_lists or list_attributes
        self._inputs: dict[SliceDevice, Mapping[str, object] | str] = {}
        self._answers: dict[str, dict[Hashable, SelectorAnswer]] = {}
        self._programs: dict[str, Program | SelectorAnswer] = {}
        self._readable: dict[SliceDevice, bool] = {}

    def drawing_on(self, budget: CycleBudget) -> Selectors:
        """Return the selectors, with all that is known already, for work that draws on another budget."""
        other = copy(self)
        other.budget = budget
        return other

    def match(self, owner: str, selectors: Sequence[DeviceSelector], device: SliceDevice) -> bool:
        """Report whether all selectors of the owner (`class NAME`, `claim NAME`) match; raises AllocationFailed."""
        for number, selector in enumerate(selectors):
            if selector.cel is None:
                raise AllocationFailed(f"{owner}: selector #{number}: CEL expression empty")
            answer = self.ask(selector.cel.expression, device)
            where = f"{owner}: selector #{number}"
            if answer.compile_error is not None:
                raise AllocationFailed(f"{where}: CEL compile error: {answer.compile_error}")
            if answer.error is not None:
                raise AllocationFailed(self._runtime_error(where, device, answer.error))
            if not answer.matches:
                return False
        return True

    def _runtime_error(self, where: str, device: SliceDevice, error: str) -> str:
        if not self._rules.selector_errors_name_device:
            return f"{where}: CEL runtime error: {error}"
        hint = f". {_HINT}" if "no such key:" in error else ""
        return f"{where} on device {device.id}: CEL runtime error: {error}{hint}"

    def ask(self, expression: str, device: SliceDevice) -> SelectorAnswer:
        """Evaluate an expression for a device."""
        program = self._programs.get(expression)
        if program is None:
            program = self._programs[expression] = self._compiled(expression)
        if isinstance(program, SelectorAnswer):
            return program
        answers = self._answers.setdefault(expression, {})
        key = self._key(program.reads, device)
        if key not in answers:
            self.budget.spend(_STEPS_A_DEVICE)
            self.budget.hold(_BYTES_AN_ANSWER)
            answers[key] = self._ask(program, device)
        return answers[key]

    def _compiled(self, expression: str) -> Program | SelectorAnswer:
        from kubectl_sched.dynamic_resource_allocation import cel

        self.budget.spend(_STEPS_A_CHARACTER * len(expression))
        self.budget.hold(_BYTES_A_CHARACTER * len(expression))
        try:
            return cel.compile_expression(expression, self._dialect())
        except cel.CompileError as wrong:
            return SelectorAnswer(False, compile_error=str(wrong))

    def _dialect(self) -> Dialect:
        from kubectl_sched.dynamic_resource_allocation import cel

        rules = self._rules
        return cel.Dialect(
            rules.selectors_know_sharing, rules.selectors_know_includes, self._list_attributes, rules.cel_go
        )

    def _key(self, reads: frozenset[Read] | None, device: SliceDevice) -> Hashable:
        """Return the key of the answer; the device itself if its fields are unknown or unreadable."""
        if device not in self._readable:
            self._readable[device] = _is_readable(device.device, self._list_attributes)
        if reads is None or not self._readable[device]:
            return device
        driver, published = device.id.driver, device.device
        values: list[Hashable] = [driver, published.allow_multiple_allocations]
        for kind, domain, name in reads:
            among: Mapping[str, Hashable] = published.attributes if kind == "attributes" else published.capacity
            value = among.get(f"{domain}/{name}")
            if domain == driver and name in among:
                if value is not None:
                    return device
                value = among[name]
            values.append(value if kind == "attributes" else getattr(value, "value", None))
        return tuple(values)

    def _ask(self, program: Program, device: SliceDevice) -> SelectorAnswer:
        from kubectl_sched.dynamic_resource_allocation import cel

        variables = self._variables(device)
        if isinstance(variables, str):
            return SelectorAnswer(False, error=variables)
        try:
            return SelectorAnswer(program.matches(variables, self.budget))
        except cel.CelError as wrong:
            return SelectorAnswer(False, error=str(wrong))

    def actual_values(self, expression: str, device: SliceDevice) -> dict[str, str]:
        """The attributes and capacities that an expression names, and what the device has of them."""
        found: dict[str, str] = {}
        for kind, domain, name in _NAMED.findall(expression):
            values: Mapping[str, object] = device.device.attributes if kind == "attributes" else device.device.capacity
            key = name if domain == device.id.driver and name in values else f"{domain}/{name}"
            value = values.get(key)
            found[name] = "not there" if value is None else _shown(value)
        return found

    def _variables(self, device: SliceDevice) -> Mapping[str, object] | str:
        """Return the value of `device` in an expression; a text if an attribute cannot be read."""
        if device not in self._inputs:
            published = device.device
            if published.allow_multiple_allocations and not self._sees_sharing:
                published = msgspec.structs.replace(published, allow_multiple_allocations=False)
            self._inputs[device] = device_variable(
                device.id.driver, published, self._list_attributes, lazily=self._rules.unsupported_values_fail
            )
        return self._inputs[device]

    def derived_attribute(self, derived: DeviceDerivedAttribute, device: SliceDevice) -> DeviceAttribute:
        """The attribute that a request computes; raises AllocationFailed."""
        from kubectl_sched.dynamic_resource_allocation import cel
        from kubectl_sched.dynamic_resource_allocation.cel.program import compile_value

        variables = self._variables(device)
        try:
            program = compile_value(derived.expression, self._dialect())
        except cel.CompileError as wrong:
            raise AllocationFailed(f"compile derived attribute {derived.name} failed: {wrong}") from wrong
        where = f"evaluate derived attribute {derived.name} on device {device.id} failed"
        if isinstance(variables, str):
            raise AllocationFailed(f"{where}: {variables}")
        try:
            return _attribute_of(program.value(variables, self.budget), where)
        except cel.CelError as wrong:
            raise AllocationFailed(f"{where}: {wrong}") from wrong

    @staticmethod
    def quantities(device: SliceDevice) -> list[tuple[str, str, Quantity]]:
        """The counter sets, counters and amounts that a device consumes."""
        return [
            (consumed.counter_set, name, parse_quantity(counter.value))
            for consumed in device.device.consumes_counters
            for name, counter in consumed.counters.items()
        ]


def _shown(value: object) -> str:
    if isinstance(value, DeviceAttribute):
        values = [getattr(value, name) for name in value.__struct_fields__]
        shown = str(next((one for one in values if one not in (None, ())), ""))
        return shown.lower() if value.bool_value is not None else shown
    return str(getattr(value, "value", value))


def device_variable(
    driver: str, device: Device, list_attributes: bool, *, lazily: bool = False
) -> Mapping[str, object] | str:
    """The `device` variable: attributes and capacity by domain and name.

    An attribute that cannot be read is an error; with `lazily` it is one where it is used.
    """
    from kubectl_sched.dynamic_resource_allocation.cel.values import UNREADABLE, CelError, DefaultMap

    attributes = DefaultMap()
    for name, attribute in device.attributes.items():
        domain, short = _split(name, driver)
        if lazily and name == short and f"{domain}/{short}" in device.attributes:
            continue
        try:
            value = _value_of(attribute, list_attributes)
        except CelError as wrong:
            if not lazily:
                return f"attribute {name}: parse semantic version: {wrong}"
            value = None
        if value is None and not lazily:
            return f"attribute {name}: unsupported attribute value"
        attributes.setdefault(domain, {})[short] = UNREADABLE if value is None else value
    capacity = DefaultMap()
    for name, available in device.capacity.items():
        domain, short = _split(name, driver)
        try:
            capacity.setdefault(domain, {})[short] = parse_quantity(available.value)
        except InvalidQuantity as wrong:
            return f"capacity {name}: {wrong.reason}"
    return {
        "driver": driver,
        "allowMultipleAllocations": device.allow_multiple_allocations,
        "attributes": attributes,
        "capacity": capacity,
    }


def _is_readable(device: Device, list_attributes: bool) -> bool:
    from kubectl_sched.dynamic_resource_allocation.cel.values import CelError

    try:
        for available in device.capacity.values():
            parse_quantity(available.value)
        return all(_value_of(attribute, list_attributes) is not None for attribute in device.attributes.values())
    except (CelError, InvalidQuantity):
        return False


def _split(name: str, driver: str) -> tuple[str, str]:
    domain, slash, short = name.partition("/")
    return (domain, short) if slash else (driver, name)


@lru_cache(maxsize=1 << 14)
def _value_of(attribute: DeviceAttribute, list_attributes: bool) -> object:
    from kubectl_sched.dynamic_resource_allocation.cel import Semver

    if list_attributes:
        for values in (attribute.int_values, attribute.bool_values, attribute.string_values):
            if values:
                return list(values)
        if attribute.version_values:
            return [Semver.parse(version) for version in attribute.version_values]
    for value in (attribute.int_value, attribute.bool_value, attribute.string_value):
        if value is not None:
            return value
    return None if attribute.version_value is None else Semver.parse(attribute.version_value)


def _attribute_of(value: object, where: str) -> DeviceAttribute:
    """A value as an attribute (valToDeviceAttribute)."""
    from kubectl_sched.dynamic_resource_allocation.cel import Semver

    if isinstance(value, list):
        return _attribute_of_list(value, where)
    if isinstance(value, bool):
        return DeviceAttribute(bool_value=value)
    if type(value) is int:
        return DeviceAttribute(int_value=value)
    if isinstance(value, str):
        return DeviceAttribute(string_value=value)
    if isinstance(value, Semver):
        return DeviceAttribute(version_value=str(value))
    raise AllocationFailed(f"{where}: unsupported CEL return type: {_go_type(value)}")


def _attribute_of_list(values: list[object], where: str) -> DeviceAttribute:
    from kubectl_sched.dynamic_resource_allocation.cel import Semver

    if not values:
        return DeviceAttribute()
    kind = next((kind for kind in (bool, int, str, Semver) if type(values[0]) is kind), None)
    if kind is None:
        raise AllocationFailed(f"{where}: unsupported list element type: {_go_type(values[0])}")
    for index, value in enumerate(values):
        if type(value) is not kind:
            expected = {bool: "bool", int: "int", str: "string"}.get(kind, "semver")
            wrong = f"expected list element at index {index} to be {expected}, got {_go_type(value)}"
            raise AllocationFailed(f"{where}: {wrong}")
    if kind is Semver:
        return DeviceAttribute(version_values=tuple(map(str, values)))
    return msgspec.convert({_LISTS[kind]: values}, DeviceAttribute)


_LISTS = {bool: "bools", int: "ints", str: "strings"}
_GO_TYPES = {
    "int": "int64",
    "uint": "uint64",
    "double": "float64",
    "bytes": "[]uint8",
    "kubernetes.Quantity": "*resource.Quantity",
    "kubernetes.Semver": "semver.Version",
    "null_type": "structpb.NullValue",
}


def _go_type(value: Any) -> str:
    from kubectl_sched.dynamic_resource_allocation.cel.values import type_name

    name = type_name(value)
    return _GO_TYPES.get(name, name)
