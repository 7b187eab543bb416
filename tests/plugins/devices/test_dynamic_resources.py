"""DynamicResources: the texts of its verdicts on each minor, and what its evidence says."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from kubectl_sched.api.resource import DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice
from kubectl_sched.framework.cycle_state import CycleState, PluginError
from kubectl_sched.framework.status import Code
from kubectl_sched.plugins.dynamic_resources.plugin import DynamicResources
from tests.decisions import explain
from tests.examples import at_length, cases
from tests.plugins.clusters import EXACT_MINORS, explained, filtered, make, node, pod, reasons, scored, snapshot
from tests.plugins.random_devices import DRIVER, DeviceCluster

if TYPE_CHECKING:
    from pathlib import Path

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.interface import PostFilterResult
    from kubectl_sched.framework.status import Status
    from kubectl_sched.snapshot import Snapshot

MINORS = pytest.mark.parametrize("version", EXACT_MINORS)


def plugin(version: str = "1.36", **gates: bool) -> DynamicResources:
    if version == "1.33":
        gates.setdefault("DynamicResourceAllocation", True)
    return make(DynamicResources, None, version, **gates)


def device_class(name: str = "gpu", *expressions: str) -> DeviceClass:
    selectors = [{"cel": {"expression": one}} for one in expressions]
    return msgspec.convert({"metadata": {"name": name}, "spec": {"selectors": selectors}}, DeviceClass)


def claim(name: str = "gpus", *, status: dict[str, Any] | None = None, **request: Any) -> ResourceClaim:
    """A claim with one request, `r`; what is not a field of the request is one of `devices`."""
    devices = {key: request.pop(key) for key in ("constraints",) if key in request}
    if "firstAvailable" in request:
        one = {"name": "r", **request}
    else:
        one = {"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1} | request}
    return msgspec.convert(
        {
            "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"},
            "spec": {"devices": {"requests": [one], **devices}},
            "status": status or {},
        },
        ResourceClaim,
    )


def allocated(*devices: str, to: str = "", on: str = "") -> dict[str, Any]:
    results = [{"request": "r", "driver": DRIVER, "pool": "p", "device": name} for name in devices]
    selector = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [on]}]}]}
    return {
        "allocation": {"devices": {"results": results}, **({"nodeSelector": selector} if on else {})},
        "reservedFor": [{"resource": "pods", "name": to, "uid": f"uid-{to}"}] if to else [],
    }


def device(name: str, **fields: Any) -> dict[str, Any]:
    attributes = {
        key: {"int": value} if isinstance(value, int) else {"string": value}
        for key, value in fields.pop("attributes", {}).items()
    }
    return {"name": name, "attributes": attributes, **fields}


def published(*devices: dict[str, Any], on: str = "w1", name: str = "s", **pool: Any) -> ResourceSlice:
    spec = {
        "driver": DRIVER,
        "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1, **pool},
        "devices": list(devices),
        **({"nodeName": on} if on else {"allNodes": True}),
    }
    return msgspec.convert({"metadata": {"name": name}, "spec": spec}, ResourceSlice)


def claimer(*names: str, **spec: Any) -> Pod:
    references = [{"name": f"c{place}", "resourceClaimName": name} for place, name in enumerate(names)]
    return pod(resourceClaims=references, **spec)


def pre_filtered(incoming: Pod, nodes: Snapshot, version: str = "1.36") -> tuple[Code, tuple[str, ...]]:
    status = plugin(version).pre_filter(CycleState(), incoming, nodes).status
    return status.code, status.reasons


def post_filtered(
    incoming: Pod, nodes: Snapshot, version: str = "1.36", *, after_pre_filter: bool = True, **gates: bool
) -> PostFilterResult:
    one, state = plugin(version, **gates), CycleState()
    statuses: list[Status] = []
    if one.pre_filter(state, incoming, nodes).status.is_success:
        statuses = [status.by(one.name) for status in one.filter(state, incoming, nodes)]
    return one.post_filter(
        state if after_pre_filter else CycleState(),
        incoming,
        nodes,
        statuses,  # type: ignore[arg-type]
        None,  # type: ignore[arg-type]
    )


def failure(one: DynamicResources, incoming: Pod, nodes: Snapshot) -> str:
    """The error that fails the cycle on the first node."""
    status = filtered(one, incoming, nodes)[0]
    assert status.code is Code.ERROR
    return status.reasons[0]


# Pods without claims


@MINORS
def test_pod_without_claims_is_skipped(version: str) -> None:
    nodes = snapshot(node(), version=version)
    assert plugin(version).pre_enqueue(pod(), nodes).is_success
    assert pre_filtered(pod(), nodes, version) == (Code.SKIP, ())


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("1.33", ()),
        ("1.34", ("no new claims to deallocate",)),
        ("1.35", ("no new claims to deallocate",)),
        ("1.36", ("no new claims to deallocate",)),
        ("1.37", ()),
    ],
)
def test_post_filter_without_claims(version: str, said: tuple[str, ...]) -> None:
    status = post_filtered(pod(), snapshot(node(), version=version), version).status
    assert (status.code, status.reasons) == (Code.UNSCHEDULABLE, said)


def test_post_filter_without_pre_filter_is_an_error() -> None:
    status = post_filtered(pod(), snapshot(node()), after_pre_filter=False).status
    assert (status.code, status.reasons) == (Code.ERROR, ("not found",))


def test_post_filter_while_off() -> None:
    status = post_filtered(pod(), snapshot(node(), version="1.33"), "1.33", DynamicResourceAllocation=False).status
    assert (status.code, status.reasons) == (Code.UNSCHEDULABLE, ("plugin disabled",))


def test_filter_without_pre_filter_fails() -> None:
    with pytest.raises(PluginError, match="not found"):
        plugin().filter(CycleState(), claimer("gpus"), snapshot(node()))


# Claims that are not right


def test_missing_claim_names_the_near_one() -> None:
    nodes = snapshot(node(), claim("gpus"), device_class())
    incoming = claimer("gpu")
    missing = 'could not find ResourceClaim "default/gpu"'
    assert plugin().pre_enqueue(incoming, nodes).reasons == (missing,)
    assert pre_filtered(incoming, nodes) == (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (missing,))
    (evidence,) = plugin().explain_pre_filter(CycleState(), incoming, nodes)
    assert evidence.hints == ("there is a claim `gpus` in the namespace",)


def test_claim_of_a_template_is_waited_for() -> None:
    template = msgspec.convert({"metadata": {"name": "t", "namespace": "default"}}, ResourceClaimTemplate)
    incoming = pod(resourceClaims=[{"name": "c0", "resourceClaimTemplateName": "t"}])
    (reason,) = plugin().pre_enqueue(incoming, snapshot(node(), template)).reasons
    assert reason == 'pod "default/web-0": ResourceClaim not created yet'


def test_missing_class_names_the_near_one() -> None:
    nodes = snapshot(node(), claim(deviceClassName="gpuu"), device_class())
    said = (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("request r: device class gpuu does not exist",))
    assert pre_filtered(claimer("gpus"), nodes) == said
    (evidence,) = plugin().explain_pre_filter(CycleState(), claimer("gpus"), nodes)
    assert evidence.hints == ("there is a device class `gpu`",)


# Devices


def test_selector_decides_and_evidence_names_attribute_and_expression() -> None:
    expression = f'device.attributes["{DRIVER}"].model == "a100"'
    wanted = claim(selectors=[{"cel": {"expression": expression}}])
    devices = [device(f"d{place}", attributes={"model": "t4"}) for place in range(2)]
    nodes = snapshot(node(), device_class(), wanted, published(*devices))
    assert reasons(plugin(), claimer("gpus"), nodes) == {"w1": ("cannot allocate all claims",)}
    (text,), _ = explained(plugin(), claimer("gpus"), nodes)
    assert expression in text
    assert "model is t4" in text
    assert "0 of 2 can be allocated" in text


@MINORS
def test_missing_attribute_is_an_error(version: str) -> None:
    wanted = claim(selectors=[{"cel": {"expression": f'device.attributes["{DRIVER}"].model == "a100"'}}])
    nodes = snapshot(node(), device_class(), wanted, published(device("d0")), version=version)
    where = f" on device {DRIVER}/p/d0" if version == "1.37" else ""
    text = f"claim default/gpus: selector #0{where}: CEL runtime error: no such key: model"
    said = failure(plugin(version), claimer("gpus"), nodes)
    assert said.removesuffix(
        ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for "
        "optional fields"
    ) == text  # fmt: skip


def test_holder_is_named() -> None:
    held = claim("other", status=allocated("d0", to="train-0"))
    nodes = snapshot(node(), device_class(), claim(), held, published(device("d0")))
    (text,), _ = explained(plugin(), claimer("gpus"), nodes)
    assert "default/other" in text
    assert "train-0" in text


def test_taint_repels_unless_tolerated() -> None:
    tainted = published(device("d0", taints=[{"key": "broken", "value": "x", "effect": "NoSchedule"}]))
    tolerations = [{"key": "broken", "operator": "Exists"}]
    nodes = snapshot(node(), device_class(), claim(), claim("brave", tolerations=tolerations), tainted)
    one = plugin(DRADeviceTaints=True)
    assert reasons(one, claimer("gpus"), nodes) == {"w1": ("cannot allocate all claims",)}
    assert reasons(one, claimer("brave"), nodes) == {}
    (text,), _ = explained(one, claimer("gpus"), nodes)
    assert "broken=x:NoSchedule" in text


def test_all_devices_want_a_whole_pool() -> None:
    incomplete = published(device("d0"), resourceSliceCount=2)
    nodes = snapshot(node(), device_class(), claim(allocationMode="All"), incomplete)
    said = failure(plugin(), claimer("gpus"), nodes)
    pool = f"{DRIVER}/p"
    assert said == (
        f"claim default/gpus, request r: asks for all devices, but resource pool {pool} is currently being updated"
    )


def test_incomplete_pool_is_named() -> None:
    nodes = snapshot(node(), device_class(), claim(), published(device("d0"), resourceSliceCount=2))
    (text,), _ = explained(plugin(), claimer("gpus"), nodes)
    assert "1 of 2" in text


def test_old_generation_does_not_count() -> None:
    old = published(device("d0"), device("d1"), name="old", on="")
    new = published(device("d0"), name="new", on="", generation=2)
    nodes = snapshot(node(), device_class(), claim(count=2), claim("one"), old, new)
    assert set(reasons(plugin(), claimer("gpus"), nodes)) == {"w1"}
    assert reasons(plugin(), claimer("one"), nodes) == {}


def test_match_attribute_binds_devices_together() -> None:
    devices = [device(f"d{place}", attributes={"numa": place}) for place in range(2)]
    constraint = [{"matchAttribute": f"{DRIVER}/numa"}]
    pair = claim(count=2, constraints=constraint)
    nodes = snapshot(node(), device_class(), pair, claim("free", count=2), published(*devices))
    assert set(reasons(plugin(), claimer("gpus"), nodes)) == {"w1"}
    assert reasons(plugin(), claimer("free"), nodes) == {}
    (text,), _ = explained(plugin(), claimer("gpus"), nodes)
    assert f"{DRIVER}/numa" in text


def test_allocated_claim_ties_the_pod_to_its_node() -> None:
    tied = claim(status=allocated("d0", to="other", on="w2"))
    nodes = snapshot(node("w1"), node("w2"), device_class(), tied, published(device("d0"), on="w2"))
    assert reasons(plugin(), claimer("gpus"), nodes) == {"w1": ("resourceclaim not available on the node",)}
    (text,), _ = explained(plugin(), claimer("gpus"), nodes)
    assert "w2" in text


@pytest.mark.parametrize(("since", "late"), [("2020-01-01T00:00:00Z", True), ("9999-12-31T23:59:59Z", False)])
def test_device_that_was_not_ready_in_time_is_named(since: str, late: bool) -> None:
    status = allocated("d0", to="other")
    status["allocation"]["allocationTimestamp"] = since
    status["allocation"]["devices"]["results"][0]["bindingConditions"] = ["Attached"]
    nodes = snapshot(node(), device_class(), claim(status=status), published(device("d0")))
    told, _ = explained(plugin(), claimer("gpus"), nodes)
    assert reasons(plugin(), claimer("gpus"), nodes) == (
        {"w1": ("resourceclaim not available on the node",)} if late else {}
    )
    assert ["was not Attached in time" in text for text in told] == ([True] if late else [])


def test_unused_claim_is_given_up() -> None:
    tied = claim(status=allocated("d0", on="gone"))
    nodes = snapshot(node(), device_class(), tied)
    result = post_filtered(claimer("gpus"), nodes)
    assert result.status.reasons == ("deallocation of ResourceClaim completed",)
    assert "default/gpus" in result.notes[0]


def test_first_alternative_scores_best() -> None:
    choice = claim(
        firstAvailable=[
            {
                "name": "big",
                "deviceClassName": "gpu",
                "allocationMode": "ExactCount",
                "count": 1,
                "selectors": [{"cel": {"expression": f'device.attributes["{DRIVER}"].size == 2'}}],
            },
            {"name": "any", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1},
        ]
    )
    slices = [published(device("d0", attributes={"size": size}), on=on, name=on) for on, size in (("w1", 1), ("w2", 2))]
    slices[1] = msgspec.structs.replace(
        slices[1],
        spec=msgspec.structs.replace(slices[1].spec, pool=msgspec.structs.replace(slices[1].spec.pool, name="q")),
    )
    nodes = snapshot(node("w1"), node("w2"), device_class(), choice, *slices)
    one, state = plugin(), CycleState()
    incoming = claimer("gpus")
    assert one.pre_filter(state, incoming, nodes).status.is_success
    assert all(status.is_success for status in one.filter(state, incoming, nodes))
    scores = one.score(state, incoming, nodes, [0, 1]).tolist()  # type: ignore[arg-type]
    assert scores[1] == scores[0] + 1


def test_binding_names_the_devices() -> None:
    nodes = snapshot(node(), device_class(), claim(), published(device("d0")))
    one, state = plugin(), CycleState()
    assert one.pre_filter(state, claimer("gpus"), nodes).status.is_success
    assert one.binding_actions(state, claimer("gpus"), nodes, 0) == ()
    one.filter(state, claimer("gpus"), nodes)
    actions = one.binding_actions(state, claimer("gpus"), nodes, 0)
    assert any(f"{DRIVER}/p/d0" in action.action for action in actions)


def test_scores_want_pre_filter() -> None:
    with pytest.raises(PluginError, match="not found"):
        scored(plugin(), claimer("gpus"), snapshot(node()))


# Laws


@at_length
@MINORS
def test_evidence_is_there_exactly_where_a_node_is_rejected(version: str, tmp_path: Path) -> None:
    for seed in cases(range(25), 4):
        request = DeviceCluster(Random(f"{version}-{seed}"), version).request(seed)  # noqa: S311 - a test case
        for answer in explain(request, tmp_path, version).values():
            for rejection in answer.get("rejections", ()):
                if rejection.get("plugin") == "DynamicResources":
                    assert rejection["evidence"], json.dumps(rejection)


JUNK: tuple[Any, ...] = ("", "garbage", 0, -1, 10**12, None, True, [], {}, "1.5.x", "1e400", ["a"], {"a": "b"})


@at_length
@MINORS
def test_broken_devices_never_end_in_a_traceback(version: str, tmp_path: Path) -> None:
    for seed in cases(range(40), 4):
        random = Random(f"broken-{version}-{seed}")  # noqa: S311 - a test case
        request = DeviceCluster(random, version).request(seed)
        for _ in range(random.randint(1, 4)):
            _spoil(random.choice([one for one in request["objects"] if one["kind"] not in {"Node", "Pod"}]), random)
        explain(request, tmp_path, version)


def _spoil(item: dict[str, Any], random: Random) -> None:
    """Put junk in one place below spec or status."""
    places: list[tuple[Any, Any]] = []

    def collect(value: Any) -> None:
        for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
            places.append((value, key))
            collect(value[key])

    for part in ("spec", "status"):
        collect(item.get(part))
    if places:
        container, key = random.choice(places)
        container[key] = random.choice(JUNK)
