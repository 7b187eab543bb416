"""Volumes: classes, claims, volumes, CSI nodes and capacities, and the in-tree volumes of pods."""

from typing import Any

from hypothesis import strategies as st

from tests.oracle.generate.values import HOSTNAME, ZONE, Json, maybe, metadata, without_nothing

DRIVER = "csi.example.com"
CLASSES = ("fast", "slow", "now", "static")
PROVISIONERS = {"fast": DRIVER, "slow": "other.example.com", "now": DRIVER, "static": "kubernetes.io/no-provisioner"}
ACCESS = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")
ZONES = ("za", "zb", "zc")


@st.composite
def storage(draw: st.DrawFn, nodes: list[Json]) -> list[Json]:
    """Drivers, classes, CSI nodes, capacities and free volumes."""
    objects = [
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "CSIDriver",
            "metadata": metadata(DRIVER, f"uid-{DRIVER}"),
            "spec": {"storageCapacity": draw(st.booleans()), "attachRequired": True},
        }
    ]
    objects += [draw(storage_class(name)) for name in CLASSES]
    objects += [draw(csi_node(node)) for node in nodes if draw(st.integers(0, 3))]
    objects += [draw(capacity(i)) for i in range(draw(st.integers(0, 2)))]
    objects += [draw(volume(f"pv-{i}", i, nodes)) for i in range(draw(st.integers(0, 3)))]
    return objects


@st.composite
def storage_class(draw: st.DrawFn, name: str) -> Json:
    """A class; only "fast" may be limited to zones."""
    topologies = None
    if name == "fast" and draw(st.integers(0, 2)) == 0:
        zones = draw(st.lists(st.sampled_from(ZONES), min_size=1, max_size=2, unique=True))
        topologies = [{"matchLabelExpressions": [{"key": ZONE, "values": zones}]}]
    return without_nothing(
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": metadata(name, f"uid-class-{name}"),
            "provisioner": PROVISIONERS[name],
            "volumeBindingMode": "Immediate" if name == "now" else "WaitForFirstConsumer",
            "allowedTopologies": topologies,
        }
    )


@st.composite
def csi_node(draw: st.DrawFn, node: Json) -> Json:
    """What the drivers of a node say of it."""
    name = node["metadata"]["name"]
    count = draw(st.sampled_from([None, 0, 1, 2]))
    driver = {"name": DRIVER, "nodeID": name, "topologyKeys": [ZONE]}
    if count is not None:
        driver["allocatable"] = {"count": count}
    annotations = {"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs,kubernetes.io/gce-pd"}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": metadata(name, f"uid-csinode-{name}", annotations=annotations),
        "spec": {"drivers": [driver] if draw(st.integers(0, 4)) else []},
    }


@st.composite
def capacity(draw: st.DrawFn, i: int) -> Json:
    """What is left in some zone for a class."""
    selector = draw(st.sampled_from([None, {}, {"matchLabels": {ZONE: "za"}}, {"matchLabels": {ZONE: "zb"}}]))
    return without_nothing(
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "CSIStorageCapacity",
            "metadata": metadata(f"cap-{i}", f"uid-cap-{i}", "kube-system"),
            "storageClassName": draw(st.sampled_from(["fast", "slow"])),
            "nodeTopology": selector,
            "capacity": draw(st.sampled_from(["0", "5Gi", "100Gi"])),
            "maximumVolumeSize": draw(st.sampled_from([None, "2Gi", "50Gi"])),
        }
    )


@st.composite
def volume(draw: st.DrawFn, name: str, i: int, nodes: list[Json], claim: Json | None = None) -> Json:
    """A volume: free, or the claim's own. Every one has a size of its own, so that the smallest is never a tie."""
    places = [node["metadata"]["name"] for node in nodes]
    where = draw(
        maybe(
            st.sampled_from(
                [{"key": HOSTNAME, "operator": "In", "values": [place]} for place in places]
                + [{"key": ZONE, "operator": "In", "values": [zone]} for zone in ZONES]
            )
        )
    )
    csi = draw(st.booleans())
    spec: Json = {
        "capacity": {"storage": f"{1024 * draw(st.sampled_from([1, 5, 20])) + i}Mi"},
        "accessModes": draw(st.lists(st.sampled_from(ACCESS), min_size=1, max_size=2, unique=True)),
        "volumeMode": "Filesystem",
        "storageClassName": claim["spec"]["storageClassName"] if claim else draw(st.sampled_from(CLASSES)),
        "nodeAffinity": where and {"required": {"nodeSelectorTerms": [{"matchExpressions": [where]}]}},
        "csi": {"driver": DRIVER, "volumeHandle": name} if csi else None,
        "awsElasticBlockStore": None if csi else {"volumeID": f"aws://za/vol-{i}"},
    }
    if claim:
        about = claim["metadata"]
        spec["claimRef"] = {"namespace": about["namespace"], "name": about["name"], "uid": about["uid"]}
    zoned = draw(
        st.sampled_from([None, None, {ZONE: "za"}, {ZONE: "za__zb"}, {"failure-domain.beta.kubernetes.io/zone": "zb"}])
    )
    return without_nothing(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": metadata(name, f"uid-{name}", labels=zoned),
            "spec": spec,
            "status": {"phase": "Bound" if claim else "Available"},
        }
    )


@st.composite
def claimed(draw: st.DrawFn, pod: Json, nodes: list[Json]) -> tuple[Json, list[Json]]:
    """The pod with volumes, and the objects that these need."""
    objects: list[Json] = []
    volumes: list[Json] = []
    name = pod["metadata"]["name"]
    for i in range(draw(st.integers(0, 2))):
        kind = draw(st.sampled_from(["claim", "claim", "claim", "missing", "ebs", "gce", "hostPath", "ephemeral"]))
        if kind in {"claim", "ephemeral"}:
            source, more = draw(claim(pod, f"{name}-v{i}", nodes, ephemeral=kind == "ephemeral"))
            objects += more
        else:
            source = draw(st.sampled_from(IN_TREE[kind]))
        volumes.append({"name": f"v{i}"} | source)
    volumes = [*pod["spec"].get("volumes", []), *volumes]
    return pod | {"spec": pod["spec"] | {"volumes": volumes}}, objects


IN_TREE: dict[str, list[Json]] = {
    "missing": [{"persistentVolumeClaim": {"claimName": "nowhere"}}],
    "ebs": [{"awsElasticBlockStore": {"volumeID": volume}} for volume in ("vol-1", "vol-2")],
    "gce": [{"gcePersistentDisk": {"pdName": "d1", "readOnly": shared}} for shared in (True, False)],
    "hostPath": [{"hostPath": {"path": "/data"}}],
}


@st.composite
def claim(draw: st.DrawFn, pod: Json, name: str, nodes: list[Json], *, ephemeral: bool) -> tuple[Json, list[Json]]:
    """A volume source with its claim, and the volume where the claim is bound."""
    about = pod["metadata"]
    storage_class = draw(st.sampled_from(CLASSES))
    bound = draw(st.booleans()) or "nodeName" in pod["spec"]
    owner = {"apiVersion": "v1", "kind": "Pod", "name": about["name"], "uid": about["uid"], "controller": True}
    spec: dict[str, Any] = {
        "accessModes": draw(st.lists(st.sampled_from(ACCESS), min_size=1, max_size=1)),
        "resources": {"requests": {"storage": draw(st.sampled_from(["1Gi", "4Gi", "30Gi"]))}},
        "volumeMode": "Filesystem",
        "storageClassName": storage_class,
    }
    wanted: Json = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata(
            name,
            f"uid-claim-{name}",
            about["namespace"],
            ownerReferences=[owner] if ephemeral else None,
            annotations={"pv.kubernetes.io/bind-completed": "yes"} if bound else None,
        ),
        "spec": spec,
        "status": {"phase": "Bound" if bound else "Pending"},
    }
    objects = [wanted]
    if bound:
        its_volume = f"pv-of-{name}"
        spec["volumeName"] = its_volume
        if draw(st.integers(0, 7)):
            objects.append(draw(volume(its_volume, 500, nodes, wanted)))
    if ephemeral:
        return {"ephemeral": {"volumeClaimTemplate": {"spec": spec}}, "name": name.rsplit("-", 1)[1]}, objects
    return {"persistentVolumeClaim": {"claimName": name}}, objects
