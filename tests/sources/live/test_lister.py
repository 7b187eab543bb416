import pytest

from kubectl_sched.sources.kinds import BY_NAME
from kubectl_sched.sources.live.lister import decoded, list_meta
from kubectl_sched.sources.live.live_errors import ClusterError

POD = BY_NAME["Pod"]


@pytest.mark.parametrize(
    "body",
    [
        b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"x","remainingItemCount":2},"items":[]}',
        b'{"items": [], "metadata": {"continue": "x", "resourceVersion": "7", "remainingItemCount": 2}}',
    ],
)
def test_what_a_page_says_of_the_list_is_read_wherever_it_stands(body: bytes) -> None:
    meta = list_meta(body)
    assert (meta.resource_version, meta.continue_, meta.remaining_item_count) == ("7", "x", 2)


def test_an_empty_list_may_be_null() -> None:
    assert decoded(b'{"kind":"PodList","metadata":{},"items":null}', POD) == ([], [])


def test_one_object_that_cannot_be_read_does_not_spoil_the_page() -> None:
    body = b'{"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"},"spec":{"priority":"high"}}]}'
    objects, broken = decoded(body, POD)
    assert [item.name for item in objects] == ["a"]
    assert broken == [("b", "spec.priority: expected int | null, got str")]


@pytest.mark.parametrize("body", [b"<html>", b'{"metadata":{"resourceVersion":"7"},"items":[{"meta'])
def test_what_is_no_list_is_said_so(body: bytes) -> None:
    with pytest.raises(ClusterError):
        assert (list_meta(body), decoded(body, POD)) is None
