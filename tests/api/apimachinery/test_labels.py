from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_sched.api.apimachinery.labels import (
    EVERYTHING,
    NOTHING,
    InvalidSelector,
    Requirement,
    requirement,
    selector_from_set,
    selector_of,
)
from kubectl_sched.api.apimachinery.selector_text import parse_selector
from kubectl_sched.api.meta import LabelSelector, LabelSelectorRequirement

NAME = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', "
    "regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "
    "regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'example.com', "
    r"regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)


def expression(key: str, operator: str, *values: str) -> LabelSelector:
    return LabelSelector(match_expressions=(LabelSelectorRequirement(key=key, operator=operator, values=values),))


@pytest.mark.parametrize(
    ("selector", "selected", "left_out"),
    [
        (expression("app", "In", "web", "api"), [{"app": "web"}], [{"app": "db"}, {}]),
        (expression("app", "NotIn", "web"), [{"app": "db"}, {}], [{"app": "web"}]),
        (expression("app", "Exists"), [{"app": ""}], [{}, {"App": "x"}]),
        (expression("app", "DoesNotExist"), [{}, {"tier": "x"}], [{"app": ""}]),
        (expression("n", "In", *"abcdefghijkl"), [{"n": "k"}], [{"n": "z"}, {}]),
        (LabelSelector(match_labels={"a": "x", "b": ""}), [{"a": "x", "b": "", "c": "y"}], [{"a": "x"}, {"b": ""}]),
        (
            LabelSelector(
                match_labels={"a": "x"},
                match_expressions=(LabelSelectorRequirement(key="a", operator="NotIn", values=("x",)),),
            ),
            [],
            [{"a": "x"}, {"a": "y"}, {}],
        ),
    ],
)
def test_selects(selector: LabelSelector, selected: list[dict[str, str]], left_out: list[dict[str, str]]) -> None:
    meaning = selector_of(selector)
    assert all(meaning.matches(labels) for labels in selected)
    assert not any(meaning.matches(labels) for labels in left_out)


def test_no_selector_selects_nothing_and_an_empty_one_everything() -> None:
    assert selector_of(None) == NOTHING
    assert not NOTHING.matches({})
    assert not NOTHING.is_empty
    assert NOTHING.add(requirement("a", "exists")) == NOTHING
    assert selector_of(LabelSelector()) == EVERYTHING == selector_from_set({})
    assert EVERYTHING.matches({"a": "x"})
    assert EVERYTHING.is_empty
    assert EVERYTHING != NOTHING


@pytest.mark.parametrize(
    ("selector", "reason"),
    [
        (expression("a", "in", "x"), '"in" is not a valid label selector operator'),
        (
            expression("a", "In"),
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
        ),
        (
            expression("a", "Exists", "x", "<y>"),
            (
                r'[values: Invalid value: ["x","\u003cy\u003e"]: '
                "values set must be empty for exists and does not exist, "
                f'values[1][a]: Invalid value: "<y>": {VALUE}]'
            ),
        ),
        (expression("a b", "Exists"), f'key: Invalid value: "a b": name part {NAME}'),
        (expression("", "Exists"), f'key: Invalid value: "": name part must be non-empty; name part {NAME}'),
        (expression("/a", "Exists"), 'key: Invalid value: "/a": prefix part must be non-empty'),
        (expression("A.b/c", "Exists"), f'key: Invalid value: "A.b/c": prefix part {SUBDOMAIN}'),
        (
            expression("a/b/c", "Exists"),
            (
                f'key: Invalid value: "a/b/c": a valid label key {NAME} '
                "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            ),
        ),
        (expression("x" * 64, "Exists"), f'key: Invalid value: "{"x" * 64}": name part must be no more than 63 bytes'),
        (LabelSelector(match_labels={"a": "-x"}), f'values[0][a]: Invalid value: "-x": {VALUE}'),
    ],
)
def test_refuses_with_upstreams_words(selector: LabelSelector, reason: str) -> None:
    with pytest.raises(InvalidSelector) as refused:
        selector_of(selector)
    assert refused.value.reason == reason


@pytest.mark.parametrize(
    ("label", "greater", "less"),
    [("6", True, False), ("5", False, False), ("4", False, True), ("x", False, False), ("1_0", False, False)],
)
def test_compares_numbers(label: str, greater: bool, less: bool) -> None:
    assert requirement("n", "gt", ["5"]).matches({"n": label}) is greater
    assert requirement("n", "lt", ["5"]).matches({"n": label}) is less
    assert not requirement("n", "gt", ["5"]).matches({})


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("", ""),
        ("  ", ""),
        ("b=2,a=1", "a=1,b=2"),
        ("a == b", "a==b"),
        ("a!=b,c", "a!=b,c"),
        ("!a", "!a"),
        ("a in (y,x),b notin (z)", "a in (x,y),b notin (z)"),
        ("a in ()", "a in ()"),
        ("a in (,x)", "a in (,x)"),
        ("a=", "a="),
        ("a>5,b<7", "a>5,b<7"),
        ("in in (in)", "in in (in)"),
        ("notin=in", "notin=in"),
    ],
)
def test_reads_the_textual_form(text: str, printed: str) -> None:
    assert str(parse_selector(text)) == printed


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (",a", "found ',', expected: !, identifier, or 'end of string'"),
        ("a,", "found '', expected: identifier after ','"),
        ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("a=b c", "found 'c', expected: ',' or 'end of string'"),
        ("a in x", "unable to parse requirement: found 'x' expected: '('"),
        ("a in (x", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("a=(", "unable to parse requirement: found '(', expected: identifier"),
        ("!", "unable to parse requirement: found '', expected: identifier"),
        ("a/b/c", None),
        (
            "a>x",
            (
                'unable to parse requirement: values[0]: Invalid value: "x": '
                "for 'Gt', 'Lt' operators, the value must be an integer"
            ),
        ),
    ],
)
def test_refuses_texts_with_upstreams_words(text: str, reason: str | None) -> None:
    with pytest.raises(InvalidSelector) as refused:
        parse_selector(text)
    assert refused.value.reason.startswith(reason or 'unable to parse requirement: <nil>: Invalid value: "a/b/c": ')
    assert str(refused.value) == f"not a selector: {refused.value.reason}"


KEYS = st.sampled_from(["a", "b", "c"])
VALUES = st.sampled_from(["", "x", "y", "1", "2"])
LABELS = st.dictionaries(KEYS, VALUES)
REQUIREMENTS = st.one_of(
    st.builds(requirement, KEYS, st.sampled_from(["in", "notin"]), st.lists(VALUES, min_size=1, max_size=12)),
    st.builds(requirement, KEYS, st.sampled_from(["exists", "!"])),
    st.builds(requirement, KEYS, st.sampled_from(["=", "==", "!="]), VALUES.map(lambda value: [value])),
)


@given(st.lists(REQUIREMENTS, max_size=4), LABELS)
def test_all_requirements_must_hold(requirements: list[Requirement], labels: dict[str, str]) -> None:
    selector = EVERYTHING.add(*requirements)
    assert selector.matches(labels) == all(each.matches(labels) for each in selector.requirements)


@given(st.lists(REQUIREMENTS, max_size=4), LABELS)
def test_what_is_printed_reads_back(requirements: list[Requirement], labels: dict[str, str]) -> None:
    selector = EVERYTHING.add(*requirements)
    again = parse_selector(str(selector))
    assert again.matches(labels) == selector.matches(labels)
    assert str(again) == str(parse_selector(str(again)))


@given(LABELS, LABELS)
def test_a_set_selects_what_holds_it(wanted: dict[str, str], labels: dict[str, str]) -> None:
    assert selector_from_set(wanted).matches(labels) == (wanted.items() <= labels.items())
    assert selector_of(LabelSelector(match_labels=wanted)) == selector_from_set(wanted)
    assert hash(selector_from_set(wanted)) == hash(selector_from_set(dict(reversed(wanted.items()))))


@given(KEYS, st.lists(VALUES, min_size=1), LABELS)
def test_not_in_is_the_opposite_of_in(key: str, values: list[str], labels: dict[str, str]) -> None:
    assert requirement(key, "in", values).matches(labels) != requirement(key, "notin", values).matches(labels)
