"""The parser of block style gives what libyaml's events give, or leaves the document to them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kubectl_sched.sources.yaml.yaml_blocks import UnusualYamlError, parse_blocks
from kubectl_sched.sources.yaml.yaml_events import parse
from tests.bench.make_dump import objects

WRITTEN_BY_KUBECTL = """\
---
# a comment
apiVersion: v1
kind: ConfigMap
metadata:
  annotations: {}
  labels:
    "y": quoted
    n: 1_000
  name: 'it''s'
  creationTimestamp: null
data:
  config.yaml: |
    a: 1

      b: "2"
  other: |-
    text
spec:
- args:
  - --flag=x
  - -1
  value:
- name: ü
  items: []

  then: "no: more"
status: .5
"""

KEYS = ("a", "b", "a.b/c", "y", "no", "<<", "1", "'q'", '"q"', "a b", "", "?", "x" * 301, "é")
VALUES = (
    "a", "1", "010", "1.5", "no", "~", "", " ", "a ", " a", "a b", "a: b", "a:", "a #b", "a#b", "#a", "-", "-a",
    "- a", "--", "---", "...", "'a'", "'a''b'", "'''", "'a", "''", '"a"', '"a\\n"', '"a', '""', '"a" b', "{}", "[]",
    "{a: 1}", "[a", "|", "|-", "|+", "|2", ">", "&a b", "*a", "!!str 1", "!a", "%a", "@a", "`a", "a\tb", "\ta", "ü",
    "\u0085", "\u2028", "\ufeff", "\x07", "a\r", "=", "<<", "2024-06-04", "1:30", "a, b", "?a", "? a", ":a", ": a",
    ",", "]", "(a)", "/a", "+1", "_", "$a", "a" * 300,
)  # fmt: skip
LINES = st.builds(
    lambda indent, dash, key, colon, value: f"{' ' * indent}{dash}{key}{colon}{value}",
    st.integers(0, 5),
    st.sampled_from(["", "", "- ", "-  ", "-", "- - "]),
    st.sampled_from(["a", "b", "c", *KEYS]),
    st.sampled_from([": ", ": ", ":", ":  ", "", " : "]),
    st.sampled_from(["", "", "a", *VALUES]),
)
MORE = st.sampled_from(["", "  ", "# a", "  # a", "---", "...", "%YAML 1.1", "    text", "  text", "text"])
ANY_KEY = st.one_of(st.sampled_from(KEYS), st.text())
NESTED = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(), st.sampled_from(VALUES)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(ANY_KEY, inner, max_size=3)),
    max_leaves=12,
)


def check(data: bytes) -> None:
    for strict in (False, True):
        try:
            value = parse_blocks(data, strict=strict)
        except UnusualYamlError:
            continue
        assert repr(value) == repr(parse(data, "a file", 1, strict=strict))


@given(st.lists(st.one_of(LINES, LINES, MORE), max_size=9), st.booleans())
@example(["a: |", "    b", "   c"], True)
@example(["a: |", "", "  b"], True)
@example(["a: |-", "  b", "   ", "c: 1"], True)
@example(["a:", "- b: 1", "  c:", "  - 2", "  d: 3", "- 4", "e: 5"], True)
@example(["- a", "b: 1"], True)
@example(["a: 1", "a: 2"], True)
@example(["a: b", "  c"], True)
@example(["a: 'b", "  c'"], True)
def test_what_is_taken_means_what_the_events_mean(lines: list[str], ends: bool) -> None:
    check(("\n".join(lines) + "\n" * ends).encode())


@given(NESTED)
def test_what_is_written_means_what_the_events_mean(value: object) -> None:
    check(msgspec.yaml.encode(value))


@given(st.integers(0, len(WRITTEN_BY_KUBECTL)), st.integers(0, 3), st.sampled_from(["", "\n", *VALUES]))
def test_a_small_change_means_what_the_events_mean(place: int, removed: int, added: str) -> None:
    check((WRITTEN_BY_KUBECTL[:place] + added + WRITTEN_BY_KUBECTL[place + removed :]).encode())


@given(st.binary(max_size=30))
def test_bytes_mean_what_the_events_mean(data: bytes) -> None:
    check(data)


@pytest.mark.parametrize("depth", [100, 399, 400, 600])
def test_depth_is_bounded(depth: int) -> None:
    data = "".join(f"{' ' * level}a:\n" for level in range(depth)).encode()
    if depth <= 400:
        assert parse_blocks(data, strict=True)
        return
    with pytest.raises(UnusualYamlError):
        parse_blocks(data, strict=True)


def test_a_dump_is_read_without_events() -> None:
    """Written by PyYAML, whose block style is kubectl's but for lines that it folds."""
    items = [msgspec.json.decode(text) for text in objects(3, 10)]
    assert parse_blocks(msgspec.yaml.encode({"kind": "List", "items": items}), strict=True)["items"] == items


@pytest.mark.parametrize("path", sorted((Path(__file__).parents[3] / "fixtures" / "demo").glob("*.yaml")), ids=str)
def test_files_mean_what_the_events_mean(path: Path) -> None:
    for part in path.read_bytes().split(b"\n---\n"):
        check(part)
