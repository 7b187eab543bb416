from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_sched.framework.cycle_state import CycleState
from kubectl_sched.plugins.image_locality import ImageLocality, normalized_image_name
from tests.plugins.clusters import make, node, pod, scored, snapshot

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod

MB = 1024 * 1024


def image(size: int, *names: str) -> dict[str, object]:
    return {"names": list(names), "sizeBytes": size * MB}


def running(*images: str, init: tuple[str, ...] = (), volumes: tuple[str, ...] = ()) -> Pod:
    return pod(
        initContainers=[{"name": f"i{number}", "image": each} for number, each in enumerate(init)],
        containers=[{"name": f"c{number}", "image": each} for number, each in enumerate(images)],
        volumes=[{"name": f"v{number}", "image": {"reference": each}} for number, each in enumerate(volumes)],
    )


@pytest.mark.parametrize(
    ("name", "compared"),
    [
        ("nginx", "nginx:latest"),
        ("nginx:1.10", "nginx:1.10"),
        ("registry:5000/nginx", "registry:5000/nginx:latest"),
        ("nginx@sha256:abc", "nginx@sha256:abc"),
    ],
)
def test_only_latest_is_added_to_a_name(name: str, compared: str) -> None:
    assert normalized_image_name(name) == compared


def test_an_image_counts_by_its_size_and_by_how_many_nodes_have_it() -> None:
    nodes = snapshot(
        node("both", images=[image(500, "a:1"), image(700, "b:1")]),
        node("one", images=[image(500, "a:1")]),
        node("none"),
        node("other"),
    )
    plugin = make(ImageLocality)
    # a is on half of the nodes and counts 250 MB, b on a quarter and counts 175 MB.
    both = 100 * (250 + 175 - 23) // (2 * 1000 - 23)
    one = 100 * (250 - 23) // (2 * 1000 - 23)
    assert scored(plugin, running("a:1", "b:1"), nodes) == [both, one, 0, 0]


def test_the_first_node_that_lists_an_image_says_its_size() -> None:
    nodes = snapshot(node("w1", images=[image(1000, "a:1")]), node("w2", images=[image(10, "a:1")]))
    assert scored(make(ImageLocality), running("a:1"), nodes) == [100, 100]


@pytest.mark.parametrize(
    ("version", "sum_of_images", "counted"), [("1.35", 500, 2), ("1.36", 1000, 2), ("1.37", 1000, 3)]
)
def test_image_volumes_by_minor(version: str, sum_of_images: int, counted: int) -> None:
    nodes = snapshot(node("w1", images=[image(500, "a:1", "b:1")]))
    incoming = running("c:1", "a:1", volumes=("b:1",))
    expected = 100 * (sum_of_images - 23) // (counted * 1000 - 23)
    assert scored(make(ImageLocality, version=version), incoming, nodes) == [expected]


def test_a_pod_without_containers_gets_no_points() -> None:
    assert scored(make(ImageLocality), pod(), snapshot(node())) == [0]


def test_scores_of_some_nodes_still_count_the_whole_cluster() -> None:
    nodes = snapshot(*(node(f"w{number}", images=[image(900, "a:1")] if number % 2 else []) for number in range(6)))
    whole = scored(make(ImageLocality), running("a:1"), nodes)
    some = nodes.take(nodes.pod_count.argsort(kind="stable")[[3, 0, 5]])
    assert whole is not None
    assert scored(make(ImageLocality), running("a:1"), some) == [whole[3], whole[0], whole[5]]


@pytest.mark.parametrize(
    ("wanted", "listed", "hint"),
    [
        (
            "nginx:1.10",
            "docker.io/library/nginx:1.10",
            "w1 has it as docker.io/library/nginx:1.10; names are compared as they are written, adding only :latest",
        ),
        (
            "docker.io/library/nginx:1.10",
            "nginx:1.10",
            "w1 has it as nginx:1.10; names are compared as they are written, adding only :latest",
        ),
        (
            "grafana/loki:2",
            "docker.io/grafana/loki:2",
            "w1 has it as docker.io/grafana/loki:2; names are compared as they are written, adding only :latest",
        ),
        ("ghcr.io/a/b:2", "ghcr.io/a/b:1", "w1 has another tag of it: ghcr.io/a/b:1"),
    ],
)
def test_names_that_people_take_for_the_same(wanted: str, listed: str, hint: str) -> None:
    nodes = snapshot(node("w1", images=[image(100, listed)]))
    (evidence,) = make(ImageLocality).explain_score(CycleState(), running(wanted), nodes, 0)
    assert evidence.text == f"does not list {wanted}"
    assert evidence.hints == (hint,)


def test_the_kubelet_s_cut_is_told() -> None:
    nodes = snapshot(node("w1", images=[image(100, f"other-{number}:1") for number in range(50)]))
    (evidence,) = make(ImageLocality).explain_score(CycleState(), running("a:1"), nodes, 0)
    assert evidence.hints == ("the kubelet lists only the 50 largest images; smaller ones may be there unseen",)


def test_evidence_tells_what_an_image_counts() -> None:
    nodes = snapshot(node("w1", images=[image(100, "a:1")]), node("w2"))
    (evidence,) = make(ImageLocality).explain_score(CycleState(), running("a:1"), nodes, 0)
    assert evidence.text == "has a:1 (100MiB), as have 1 of 2 nodes: counts 50MiB"
