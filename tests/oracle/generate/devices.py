"""Devices: classes, slices and claims of dynamic resource allocation."""

from hypothesis import strategies as st

from tests.oracle.generate.values import ZONE, Json, metadata, without_nothing

DRIVER = "gpu.example.com"
MODELS = ("a100", "t4")

EXPRESSIONS = (
    f'device.driver == "{DRIVER}"',
    f'device.attributes["{DRIVER}"].model == "a100"',
    f'device.attributes["{DRIVER}"].model in ["t4", "h100"]',
    f'device.capacity["{DRIVER}"].memory.compareTo(quantity("20Gi")) > 0',
    f'"ecc" in device.attributes["{DRIVER}"] && device.attributes["{DRIVER}"].ecc',
    f'device.attributes["{DRIVER}"].numa > 0',
    "true",
    "false",
)


@st.composite
def inventory(draw: st.DrawFn, nodes: list[Json]) -> list[Json]:
    """Device classes and the slices of some nodes, and perhaps devices that a zone shares."""
    objects = [device_class("gpu", [EXPRESSIONS[0]]), device_class("a100", [EXPRESSIONS[0], EXPRESSIONS[1]])]
    objects += [draw(node_slice(node["metadata"]["name"])) for node in nodes if draw(st.integers(0, 3))]
    if draw(st.integers(0, 3)) == 0:
        where = {"nodeSelectorTerms": [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["za"]}]}]}
        shared = {"driver": DRIVER, "pool": pool("shared"), "nodeSelector": where, "devices": draw(devices())}
        objects.append(resource("ResourceSlice", "slice-shared", shared))
    return objects


def device_class(name: str, expressions: list[str]) -> Json:
    """A class of the devices for which all expressions hold."""
    return resource("DeviceClass", name, {"selectors": [{"cel": {"expression": text}} for text in expressions]})


def pool(name: str, count: int = 1) -> Json:
    """The pool that a slice belongs to."""
    return {"name": name, "generation": 1, "resourceSliceCount": count}


def resource(kind: str, name: str, spec: Json, namespace: str | None = None) -> Json:
    """An object of the device API."""
    about = metadata(name, f"uid-{kind.lower()}-{name}", namespace)
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": about, "spec": spec}


@st.composite
def node_slice(draw: st.DrawFn, node: str) -> Json:
    """What one node has; now and then a pool of which a slice is missing."""
    count = draw(st.sampled_from([1, 1, 1, 1, 2]))
    spec = {"driver": DRIVER, "nodeName": node, "pool": pool(node, count), "devices": draw(devices())}
    return resource("ResourceSlice", f"slice-{node}", spec)


@st.composite
def devices(draw: st.DrawFn) -> list[Json]:
    """Up to three devices with attributes and capacity."""
    found = []
    for i in range(draw(st.integers(0, 3))):
        attributes: Json = {
            "model": {"string": draw(st.sampled_from(MODELS))},
            "numa": {"int": draw(st.integers(0, 1))},
        }
        if draw(st.booleans()):
            attributes["ecc"] = {"bool": draw(st.booleans())}
        device: Json = {
            "name": f"gpu-{i}",
            "attributes": attributes,
            "capacity": {"memory": {"value": draw(st.sampled_from(["16Gi", "80Gi"]))}},
        }
        if draw(st.integers(0, 7)) == 0:
            device["taints"] = [{"key": "broken", "effect": draw(st.sampled_from(["NoSchedule", "NoExecute"]))}]
        found.append(device)
    return found


@st.composite
def exact_request(draw: st.DrawFn, *, named: bool = False) -> Json:
    """A request for some devices of a class."""
    selectors = [{"cel": {"expression": text}} for text in draw(st.lists(st.sampled_from(EXPRESSIONS), max_size=1))]
    everything = draw(st.integers(0, 4)) == 0
    request = {
        "deviceClassName": draw(st.sampled_from(["gpu", "a100", "gpu", "nothing"])),
        "allocationMode": "All" if everything else "ExactCount",
        "count": None if everything else draw(st.integers(1, 2)),
        "selectors": selectors or None,
        "tolerations": draw(st.sampled_from([None, None, [{"operator": "Exists"}]])),
    }
    return without_nothing(request | ({"name": draw(st.sampled_from(["s0", "s1"]))} if named else {}))


@st.composite
def claim_spec(draw: st.DrawFn) -> Json:
    """The devices of a claim, with alternatives and constraints."""
    requests: list[Json] = []
    for i in range(draw(st.integers(1, 2))):
        name = f"r{i}"
        if draw(st.integers(0, 3)):
            requests.append({"name": name, "exactly": draw(exact_request())})
        else:
            first, second = draw(exact_request(named=True)), draw(exact_request(named=True))
            alternatives = [first | {"name": "s0"}, second | {"name": "s1"}]
            requests.append({"name": name, "firstAvailable": alternatives})
    constraint = draw(st.sampled_from([None, None, "model", "numa", "ecc"]))
    wanted = {"requests": requests}
    if constraint:
        wanted["constraints"] = [{"matchAttribute": f"{DRIVER}/{constraint}"}]
    return {"devices": wanted}


@st.composite
def claiming(draw: st.DrawFn, pod: Json, nodes: list[Json]) -> tuple[Json, list[Json]]:
    """The pod with claims, and the claims; those of a running pod are allocated and reserved for it."""
    objects: list[Json] = []
    references: list[Json] = []
    about = pod["metadata"]
    for i in range(draw(st.integers(0, 2))):
        name = f"{about['name']}-claim{i}"
        references.append({"name": f"d{i}", "resourceClaimName": name})
        if draw(st.integers(0, 15)) == 0:
            continue
        object_ = resource("ResourceClaim", name, draw(claim_spec()), about["namespace"])
        object_["status"] = {}
        place = pod["spec"].get("nodeName")
        if place or draw(st.integers(0, 4)) == 0:
            user = {"resource": "pods", "name": about["name"], "uid": about["uid"]}
            where = place or draw(st.sampled_from([node["metadata"]["name"] for node in nodes]))
            object_["status"] = allocated(where, i) | ({"reservedFor": [user]} if place else {})
        objects.append(object_)
    if not references:
        return pod, []
    containers = [
        container
        | {"resources": container.get("resources", {}) | {"claims": [{"name": each["name"]} for each in references]}}
        for container in pod["spec"]["containers"]
    ]
    return pod | {"spec": pod["spec"] | {"containers": containers, "resourceClaims": references}}, objects


def allocated(node: str, i: int) -> Json:
    """A claim's status with one device of a node."""
    result = {"request": "r0", "driver": DRIVER, "pool": node, "device": f"gpu-{i}"}
    where = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    return {"allocation": {"devices": {"results": [result]}, "nodeSelector": {"nodeSelectorTerms": [where]}}}
