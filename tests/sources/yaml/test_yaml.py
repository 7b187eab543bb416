"""YAML means what it means to kubectl."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_sched.api.apimachinery.strategic_merge import merge
from kubectl_sched.sources import Dump, DumpError
from kubectl_sched.sources.dump.user_files import read_document, read_documents
from kubectl_sched.sources.yaml.yaml_documents import documents
from kubectl_sched.sources.yaml.yaml_scalars import resolve
from tests.apiserver.manifests import keys

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", True),
        ("y", True),
        ("On", True),
        ("no", False),
        ("N", False),
        ("OFF", False),
        ("yEs", "yEs"),
        ("null", None),
        ("~", None),
        ("", None),
        ("010", 8),
        ("0o10", 8),
        ("08", 8),
        ("0x1F", 31),
        ("-0b11", -3),
        ("1_000", 1000),
        ("+7", 7),
        ("18446744073709551615", 18446744073709551615),
        ("18446744073709551616", 18446744073709551616),
        ("1e3", 1000),
        ("1.5", 1.5),
        (".5", 0.5),
        ("5.", 5),
        ("1e400", "1e400"),
        (".inf", math.inf),
        ("1:30", "1:30"),
        ("2024-06-04", "2024-06-04"),
        ("2024-06-04T20:11:24Z", "2024-06-04T20:11:24Z"),
        ("2024_06_04", 20240604),
        ("1.2.3", "1.2.3"),
        ("500m", "500m"),
        ("8Gi", "8Gi"),
        ("-", "-"),
        ("0x", "0x"),
    ],
)
def test_plain_scalars_mean_what_they_mean_to_kubectl(text: str, value: Any) -> None:
    found = resolve(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (
            "a: 'yes'\nb: \"1\"\nc: |\n  1\nd: !!str 1\ne: !!int '7'\n",
            {"a": "yes", "b": "1", "c": "1\n", "d": "1", "e": 7},
        ),
        ("yes: 1\n1: 2\n1.5: 3\n", {"true": 1, "1": 2, "1.5": 3}),
        ("m: {a: 1, a: 2}\n", {"m": {"a": 2}}),
        ("x: &x {a: 1, b: 2}\nw: {<<: *x, b: 3}\n", {"x": {"a": 1, "b": 2}, "w": {"a": 1, "b": 3}}),
        (
            "x: &x {a: 1}\nz: &z {a: 2, c: 3}\nw:\n  <<: [*x, *z]\n",
            {"x": {"a": 1}, "z": {"a": 2, "c": 3}, "w": {"a": 1, "c": 3}},
        ),
        ("a: &a [1]\nb: [*a, *a]\n", {"a": [1], "b": [[1], [1]]}),
        ("a:\n- b\n-\n  - c\n- d: [e, {f: }]\n", {"a": ["b", ["c"], {"d": ["e", {"f": None}]}]}),
        ("a: !!binary aGVsbG8=\n", {"a": "hello"}),
        ("---\na: 1\n...\n", {"a": 1}),
    ],
)
def test_documents_are_built_as_kubectl_builds_them(text: str, value: Any) -> None:
    (document,) = documents(text.encode(), "f")
    assert document.value == value


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.text(st.characters(categories=("L", "N", "P", "S", "Zs")), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abcyn0 -:", max_size=4), inner, max_size=3),
    max_leaves=12,
)


@settings(deadline=None)
@given(st.dictionaries(st.text("xyz", min_size=1, max_size=2), _JSON, min_size=1), st.sampled_from([None, 2]))
def test_json_is_yaml(value: dict[str, Any], indent: int | None) -> None:
    (document,) = documents(json.dumps(value, indent=indent, ensure_ascii=False).encode(), "f", strict=True)
    assert document.error is None
    assert document.value == value


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("head", ["", "%YAML 1.1\n---\n", "# 9%\n\n%TAG ! x:\n%YAML 1.1\n--- # b\n", "# a\n---\n"])
def test_documents_are_told_apart_by_lines_of_every_end(head: str, end: str) -> None:
    data = f"{head}a: 1\n---\nb: 2\n--- 3\n---\n- [\n".replace("\n", end).encode()
    *found, wrong = documents(data, "x")
    assert [each.value for each in found] == [{"a": 1}, {"b": 2}, 3]
    assert wrong.error is not None
    assert wrong.line == head.count("\n") + 5


def test_every_document_has_its_line_and_its_own_mistakes() -> None:
    found = list(documents(b"a: 1\n---\n# empty\n---\nb: [\n--- # c\nc: 3\n", "f"))
    assert [(document.line, document.value) for document in found] == [(1, {"a": 1}), (4, None), (6, {"c": 3})]
    assert "f: it is not YAML at line" in str(found[1].error)


def test_managed_fields_are_passed_over_and_lines_stay(read_text: Callable[..., Dump]) -> None:
    node = (
        "apiVersion: v1\nkind: Node\nmetadata:\n  managedFields:\n  - apiVersion: v1\n    fieldsV1:\n      f:spec: {}\n"
        "    manager: kubelet\n  name: n1\n"
    )
    assert keys(read_text(node)) == ["Node n1"]
    with pytest.raises(DumpError, match="at line 10"):
        read_text(node + " x: y\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\nb: 2\na: 3\n", "at line 3: key 'a' is already set"),
        ('{"a": {"b": 1,\n "b": 2}}', "key 'b' is already set"),
        ('{"a": 1,\n "b" 2}', "it is not JSON at line 2"),
        ("- a\n", "a list where an object"),
        ("hello\n", "the text 'hello' where an object"),
        ("", "it is empty"),
        ("# nothing\n---\n", "it is empty"),
        ("a: 1\n---\nb: 2\n", "2 documents instead of one"),
        ("[" * 3000, "nested more than"),
        ('{"a":' * 100_000, "nested too deeply"),
    ],
)
def test_a_configuration_that_cannot_be_read_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(DumpError) as raised:
        read_document(str(path))
    assert said in str(raised.value)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize(
    "text",
    ["a: 1\nb: {c: no}\n", '{"a": 1, "b": {"c": false}}', "{a: 1, b: {c: no}}", "---\na: 1\nb:\n  c: off\n---\n"],
)
def test_a_configuration_is_read_from_yaml_and_json(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config"
    path.write_text(text)
    assert read_document(str(path)) == {"a": 1, "b": {"c": False}}


def test_manifests_may_be_many_documents_and_lists(tmp_path: Path) -> None:
    path = tmp_path / "manifests.yaml"
    path.write_text("kind: Pod\n---\nkind: List\nitems: [{kind: Node}, {kind: PodList, items: [{kind: Pod}]}]\n")
    assert [document["kind"] for document in read_documents(str(path))] == ["Pod", "Node", "Pod"]


@pytest.mark.parametrize(
    ("patch", "merged"),
    [
        (
            {"a": 2, "b": None},
            {"a": 2, "containers": [{"name": "x", "image": "1"}], "list": [1, 2], "finalizers": ["f"]},
        ),
        (
            {"containers": [{"name": "x", "image": "2"}, {"name": "y"}]},
            {"containers": [{"name": "x", "image": "2"}, {"name": "y"}]},
        ),
        ({"containers": [{"name": "x", "$patch": "delete"}]}, {"containers": []}),
        ({"containers": [{"$patch": "replace"}, {"name": "y"}]}, {"containers": [{"name": "y"}]}),
        ({"list": [3]}, {"list": [3]}),
        ({"finalizers": ["f", "g"]}, {"finalizers": ["f", "g"]}),
        ({"$deleteFromPrimitiveList/finalizers": ["f"]}, {"finalizers": []}),
        ({"$setElementOrder/containers": [{"name": "x"}]}, {}),
        ({"$retainKeys": ["a"], "a": 5}, {"a": 5, "b": ..., "containers": ..., "list": ..., "finalizers": ...}),
    ],
)
def test_strategic_merge_patches_are_applied(patch: dict[str, Any], merged: dict[str, Any]) -> None:
    original = {"a": 1, "b": 2, "containers": [{"name": "x", "image": "1"}], "list": [1, 2], "finalizers": ["f"]}
    expected = {key: value for key, value in {**original, **merged}.items() if value is not ...}
    if patch.get("b", 0) is None:
        del expected["b"]
    assert merge(original, patch) == expected
