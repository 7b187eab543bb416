"""What is no JSON is told in the words of Go's decoder."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_sched.sources.extender.go_json import GoJSONError, first_value

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"", "EOF"),
        (b" \n", "EOF"),
        (b"[1", "unexpected EOF"),
        (b"<html>", "invalid character '<' looking for beginning of value"),
        (b"[1,]", "invalid character ']' looking for beginning of value"),
        (b'{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        (b"{'a':1}", r"invalid character '\'' looking for beginning of object key string"),
        (b'{"a" 1}', "invalid character '1' after object key"),
        (b'{"a":1 "b"}', "invalid character '\"' after object key:value pair"),
        (b"[1 2]", "invalid character '2' after array element"),
        (b"[01]", "invalid character '1' after array element"),
        (b"[-x]", "invalid character 'x' in numeric literal"),
        (b"[1.]", "invalid character ']' after decimal point in numeric literal"),
        (b"[1.5.2]", "invalid character '.' after array element"),
        (b"[1e+]", "invalid character ']' in exponent of numeric literal"),
        (b"[nul]", "invalid character ']' in literal null (expecting 'l')"),
        (b"NaN", "invalid character 'N' looking for beginning of value"),
        (b'["a\nb"]', r"invalid character '\n' in string literal"),
        (b'["\x01"]', r"invalid character '\x01' in string literal"),
        (b'["\\x"]', "invalid character 'x' in string escape code"),
        (b'["\\u00g0"]', r"invalid character 'g' in \u hexadecimal character escape"),
        (b"\xef\xbb\xbf{}", "invalid character 'ï' looking for beginning of value"),
    ],
)
def test_a_mistake_is_told_as_go_tells_it(text: bytes, says: str) -> None:
    with pytest.raises(GoJSONError) as told:
        first_value(text)
    assert str(told.value) == says


@given(json_values, st.binary(max_size=9))
def test_the_first_value_is_read_whatever_follows(value: object, following: bytes) -> None:
    assert first_value(f" {json.dumps([value])}".encode() + following) == [value]


@given(json_values, st.data())
def test_what_is_cut_off_ends_too_soon(value: object, data: st.DataObject) -> None:
    text = json.dumps([value]).encode()
    with pytest.raises(GoJSONError, match=r"^unexpected EOF$"):
        first_value(text[: data.draw(st.integers(1, len(text) - 1))])
