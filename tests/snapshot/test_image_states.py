"""The index of images by name, over nodes that list the same names together or apart."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kubectl_sched.api.core import ContainerImage, Node, NodeStatus
from kubectl_sched.snapshot.node_table import ImageState, NodeTable

NAMES = st.lists(st.sampled_from(["a", "b", "c"]), max_size=3).map(tuple)
IMAGES = st.lists(st.builds(ContainerImage, names=NAMES, size_bytes=st.integers(1, 3)), max_size=4).map(tuple)


def looked_up(nodes: tuple[Node, ...], name: str) -> ImageState | None:
    """The size on the first node that lists the name, and all rows that do."""
    sizes = [
        (row, image.size_bytes) for row, node in enumerate(nodes) for image in node.status.images if name in image.names
    ]
    return ImageState(sizes[0][1], sorted({row for row, _ in sizes})) if sizes else None


@given(st.lists(IMAGES, max_size=5))
def test_each_name_has_its_first_size_and_all_of_its_nodes(listed: list[tuple[ContainerImage, ...]]) -> None:
    nodes = tuple(Node(status=NodeStatus(images=images)) for images in listed)
    expected = {name: looked_up(nodes, name) for name in "abcdef"}
    table = NodeTable(nodes)
    assert {name: table.image_states.get(name) for name in expected} == expected
    assert {name: table.image_state(name) for name in expected} == expected
