"""Claims read and checked before devices are looked for (pkg/scheduling/dynamicresources/request.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import field
from msgspec.structs import replace

from kubectl_sched.api.apimachinery.validation import quoted
from kubectl_sched.api.resource import ALLOCATION_RESULTS_MAX_SIZE, CapacityRequirements
from kubectl_sched.errors import SchedError
from kubectl_sched.node_provisioning.karpenter.dynamicresources.attribute_match import AttributeMatch
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubectl_sched.api.resource import DeviceClass, DeviceRequest, ExactDeviceRequest, ResourceClaim
    from kubectl_sched.dynamic_resource_allocation.devices import SliceDevice
    from kubectl_sched.dynamic_resource_allocation.selectors import Selectors
    from kubectl_sched.node_provisioning.karpenter.dynamicresources.published_pools import Candidate, PublishedPool


class NoAllocation(SchedError):  # noqa: N818 - an expected "no", read as a sentence
    """A pod's claims cannot be satisfied; the text is Karpenter's."""


class WantedDevices(Record, frozen=True, kw_only=True):
    """Devices that a request wants: the only alternative of an exact one, or one of several."""

    request: str
    alternative: str = ""
    expressions: tuple[str, ...]
    count: int = 0
    takes_all: bool = False
    capacity: CapacityRequirements | None = None
    published: tuple[Candidate, ...] = ()
    """The devices of pools that match, where all are wanted."""

    expected: dict[str, tuple[Candidate, ...]] = field(default_factory=dict)
    """The devices that nodes of each instance type will publish and that match, where all are wanted."""

    def number(self, instance_type: str) -> int:
        """Return how many devices are wanted of a node of the type (numSlots)."""
        return len(self.published) + len(self.expected.get(instance_type, ())) if self.takes_all else self.count


class WantedClaim(Record, frozen=True, kw_only=True):
    """A claim's requests, each with its alternatives, and its constraints."""

    key: str
    requests: tuple[tuple[WantedDevices, ...], ...]
    constraints: tuple[AttributeMatch, ...]


class ClaimReader(Record, frozen=True, kw_only=True):
    """The classes, devices and expressions that claims are read with."""

    classes: Mapping[str, DeviceClass]
    selectors: Selectors
    pools: Sequence[PublishedPool]
    expected: Mapping[str, Sequence[Candidate]]
    """The devices that nodes of each instance type will publish; types without any are not named."""

    knows_alternatives: bool

    def read(self, claim: ResourceClaim) -> WantedClaim:
        """Return the claim with what its requests want; raise NoAllocation (ValidateClaimRequest)."""
        where = f"claim {quoted(claim.name)}"
        constraints = []
        for each in claim.spec.devices.constraints:
            if each.match_attribute is None:
                what = "DistinctAttribute constraints not done yet" if each.distinct_attribute else _UNSUPPORTED
                raise NoAllocation(f"{where}: {what}")
            constraints.append(AttributeMatch(frozenset(each.requests), each.match_attribute))
        requests = tuple(self._alternatives(where, each) for each in claim.spec.devices.requests)
        return WantedClaim(key=claim.key, requests=_within_limit(where, requests), constraints=tuple(constraints))

    def _alternatives(self, where: str, request: DeviceRequest) -> tuple[WantedDevices, ...]:
        exact = request.exact
        if exact is not None:
            return (self._wanted(where, request.name, request.name, "", exact),)
        if not self.knows_alternatives:
            raise NoAllocation(f"{where} request {quoted(request.name)}: only Exactly requests are supported")
        if not request.first_available:
            what = "only Exactly and FirstAvailable requests are supported"
            raise NoAllocation(f"{where} request {quoted(request.name)}: {what}")
        return tuple(self._wanted(where, each.name, request.name, each.name, each) for each in request.first_available)

    def _wanted(
        self, claim: str, shown: str, request: str, alternative: str, exact: ExactDeviceRequest
    ) -> WantedDevices:
        """Return what is wanted, errors naming it as `shown` (buildRequestData)."""
        where = f"{claim} request {quoted(shown)}"
        device_class = self.classes.get(exact.device_class_name)
        if device_class is None:
            name = quoted(exact.device_class_name)
            raise NoAllocation(f"{where}: DeviceClass {name} not found: deviceclasses.resource.k8s.io {name} not found")
        expressions = []
        for each in (*device_class.spec.selectors, *exact.selectors):
            if each.cel is None:
                raise NoAllocation(f"{where}: unsupported selector type (only CEL is supported)")
            expressions.append(each.cel.expression)
        is_all = exact.allocation_mode == "All"
        wanted = WantedDevices(
            request=request,
            alternative=alternative,
            expressions=tuple(expressions),
            count=0 if is_all else exact.count,
            takes_all=is_all,
            capacity=exact.capacity,
        )
        return self._with_all(where, wanted) if is_all else wanted

    def _with_all(self, where: str, wanted: WantedDevices) -> WantedDevices:
        """Return the request with all devices that match; raise NoAllocation if a pool is not whole."""
        published: list[Candidate] = []
        for pool in self.pools:
            if pool.is_invalid:
                raise NoAllocation(f"{where}: pool {pool.id} is invalid (duplicate device names)")
            if pool.is_incomplete:
                raise NoAllocation(f"{where}: pool {pool.id} is incomplete (missing slices)")
            published += self._matching(where, wanted, pool.candidates)
        expected = {kind: self._matching(where, wanted, devices) for kind, devices in self.expected.items()}
        matching = {kind: devices for kind, devices in expected.items() if devices or published}
        return replace(wanted, published=tuple(published), expected=matching)

    def _matching(self, where: str, wanted: WantedDevices, devices: Iterable[Candidate]) -> tuple[Candidate, ...]:
        return tuple(each for each in devices if self._matches(where, wanted, each.device))

    def _matches(self, where: str, wanted: WantedDevices, device: SliceDevice) -> bool:
        for expression in wanted.expressions:
            answer = self.selectors.ask(expression, device)
            if answer.compile_error is not None or answer.error is not None:
                failed = f"failed to compile: {answer.compile_error}"
                if answer.compile_error is None:
                    failed = f"evaluation failed: {answer.error}"
                raise NoAllocation(f"{where}: CEL expression {quoted(expression)} {failed}")
            if not answer.matches:
                return False
        return True


_UNSUPPORTED = "unsupported constraint type"


def _within_limit(where: str, requests: tuple[tuple[WantedDevices, ...], ...]) -> tuple[tuple[WantedDevices, ...], ...]:
    """Return the requests without the devices of types that would exceed the limit of a claim."""
    limit = ALLOCATION_RESULTS_MAX_SIZE
    least = sum(min(each.count + len(each.published) for each in request) for request in requests)
    if least > limit:
        raise NoAllocation(f"{where} requests {least} total devices, exceeding maximum of {limit}")
    kinds = {kind for request in requests for each in request for kind in each.expected}
    counts = {
        kind: least + sum(min(len(each.expected.get(kind, ())) for each in request) for request in requests)
        for kind in kinds
    }
    over = {kind for kind, count in counts.items() if count > limit}
    if not over:
        return requests
    if over == kinds:
        raise NoAllocation(
            f"{where}: all instance types pruned, no instance type can satisfy this claim without exceeding the "
            f"maximum of {limit} devices"
        )
    return tuple(tuple(_without(each, over) for each in request) for request in requests)


def _without(wanted: WantedDevices, kinds: set[str]) -> WantedDevices:
    left = {kind: devices for kind, devices in wanted.expected.items() if kind not in kinds}
    return replace(wanted, expected=left)
