"""Expressions against the answers of k8s.io/dynamic-resource-allocation/cel 0.36.2 (fixtures/cel/selectors.json)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_sched.api.apimachinery.quantity import parse_quantity
from kubectl_sched.config.versions import RELEASES, KubeVersion
from kubectl_sched.dynamic_resource_allocation.cel import (
    CelError,
    CelGo,
    CompileError,
    Dialect,
    Semver,
    compile_expression,
)
from kubectl_sched.dynamic_resource_allocation.cel.cost import metered
from kubectl_sched.dynamic_resource_allocation.cel.field_references import reads_of
from kubectl_sched.dynamic_resource_allocation.cel.parser import parse
from kubectl_sched.dynamic_resource_allocation.cel.regex import find_all, matches
from kubectl_sched.dynamic_resource_allocation.cel.values import DefaultMap

FIXTURE = Path(__file__).parents[3] / "fixtures" / "cel" / "selectors.json"
CASES: list[dict[str, Any]] = json.loads(FIXTURE.read_text())
DEVICE: dict[str, Any] = {
    "driver": "gpu.example.com",
    "allowMultipleAllocations": False,
    "attributes": DefaultMap(
        {
            "gpu.example.com": {
                "model": "a100",
                "numa": 0,
                "ecc": True,
                "driverVersion": Semver.parse("1.2.3"),
            },
            "resource.kubernetes.io": {"pcieRoot": "pci0"},
        }
    ),
    "capacity": DefaultMap({"gpu.example.com": {"memory": parse_quantity("80Gi")}}),
}


OLDEST = Dialect()


def _refused(text: str) -> dict[str, str]:
    return {"compileError": f"compilation failed: ERROR: <input>:-1:0: {text}"}


def answer(expression: str, dialect: Dialect = OLDEST) -> dict[str, Any]:
    try:
        program = compile_expression(expression, dialect)
        return {"matches": program.matches(DEVICE)}
    except CompileError as wrong:
        return {"compileError": str(wrong)}
    except CelError as wrong:
        return {"error": str(wrong)}


@pytest.mark.parametrize("case", CASES, ids=[case["expression"] for case in CASES])
def test_expression(case: dict[str, Any]) -> None:
    assert answer(case["expression"]) == {key: value for key, value in case.items() if key != "expression"}


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        (f"{'9' * 5000} == 1", "compilation failed: ERROR: <input>:1:1: invalid int literal\n | 999"),
        (f'int("{"9" * 5000}") == 1', "program instantiation failed: type conversion error from"),
        (f'uint("{"9" * 5000}") == 1u', "program instantiation failed: type conversion error from"),
    ],
)
def test_no_number_is_too_long_to_be_refused(expression: str, said: str) -> None:
    assert answer(expression)["compileError"].startswith(said)


def test_leading_zeros_do_not_count() -> None:
    assert answer(f'int("{"0" * 5000}7") == 7 && {"0" * 5000}7 == 7') == {"matches": True}


def test_includes_is_known_to_later_releases() -> None:
    expression = 'device.attributes["gpu.example.com"].model.includes("a100")'
    assert "undeclared reference to 'includes'" in answer(expression)["compileError"]
    assert answer(expression, Dialect(includes=True)) == {"matches": True}


def test_a_literal_s_elements_are_alike() -> None:
    model = 'device.attributes["gpu.example.com"].model'
    wrong = answer(f'{model} in [{model}, "x"]', Dialect(lists=True))["compileError"]
    assert "expected type 'dyn' but found 'string'" in wrong
    assert "expected type 'int' but found 'string'" in answer('[1, "a"] == []')["compileError"]
    for alike in ("[[], [1]]", "[[[]], [[1]]]", "[optional.none(), optional.of(1)]", '[{}, {"a": 1}]'):
        assert answer(f"size({alike}) == 2") == {"matches": True}, alike


def test_attributes_may_be_lists() -> None:
    assert answer("dyn(true)") == {"compileError": "must evaluate to bool or the unknown type, not dyn"}
    assert answer("dyn(true)", Dialect(lists=True)) == {"matches": True}


def test_shared_devices_are_known_to_later_releases() -> None:
    with pytest.raises(CompileError, match="undefined field 'allowMultipleAllocations'"):
        compile_expression("device.allowMultipleAllocations", Dialect(sharing=False))


def test_cost_limit_ends_evaluation() -> None:
    numbers = f"[{','.join(['1'] * 110)}]"
    expression = f"{numbers}.all(a, {numbers}.all(b, {numbers}.all(c, a + b + c == 3)))"
    assert answer(expression) == {"error": "operation cancelled: actual cost limit exceeded"}


@pytest.mark.parametrize(
    ("expression", "read"),
    [
        ('device.driver == "d"', set()),
        ('device.attributes["d"].a == 1 && device.capacity["d"].c > quantity("1")',
         {("attributes", "d", "a"), ("capacity", "d", "c")}),
        ('has(device.attributes["d"].a)', {("attributes", "d", "a")}),
        ('device.attributes["d"].?a.orValue(1) == 1', {("attributes", "d", "a")}),
        ('device.attributes["d"]["a"] == 1', {("attributes", "d", "a")}),
        ('"d" in device.attributes', None),
        ('device.attributes["d"].size() == 1', None),
        ('cel.bind(a, device.attributes["d"], a.b == 1)', None),
        ("[device].size() == 1", None),
        ('device.attributes["d"]["a/b"] == 1', None),
    ],
)  # fmt: skip
def test_what_an_expression_reads(expression: str, read: set[tuple[str, str, str]] | None) -> None:
    assert reads_of(parse(expression)) == read


WORDS = st.sampled_from(
    ["device", ".", "driver", "attributes", '["gpu.example.com"]', "model", "==", '"a100"', "&&", "||", "!", "(", ")",
     "1", "1.5", 'quantity("1Gi")', "has(", "[", "]", "{", "}", ":", ",", "?", ".?", "in", "null", "'", "\\", "semver(",
     ".exists(x, ", "x", "+", "-", "%", "0", "cel.bind(y, ", "optional.none()", ".orValue(", 'b"x"', "u", "`"]
)  # fmt: skip


def searched(pattern: str, text: str) -> dict[str, Any]:
    with metered():
        try:
            found = list(find_all(text, pattern, -1))
            return {"matches": matches(text, pattern), **({"found": found} if found else {})}
        except CelError as wrong:
            return {"error": str(wrong)}


def test_patterns_are_those_of_go() -> None:
    cases = json.loads((FIXTURE.parent / "patterns.json").read_text("utf-8"))
    found = {(case["pattern"], case["text"]): searched(case["pattern"], case["text"]) for case in cases}
    assert found == {(case["pattern"], case["text"]): case["answer"] for case in cases}


def test_costs_are_those_of_upstream() -> None:
    for case in json.loads((FIXTURE.parent / "costs.json").read_text("utf-8")):
        program = compile_expression(case["expression"], OLDEST)
        assert (program.matches(DEVICE), program.cost(DEVICE)) == (case["matches"], case["cost"]), case["expression"]


@pytest.mark.parametrize("minor", ["1.36", "1.37", "1.38"])
def test_failures_cost_what_they_cost_upstream(minor: str) -> None:
    """Since 1.38 a failure spares what would have come after it in its call."""
    dialect = Dialect(includes=True, cel_go=RELEASES[KubeVersion.parse(minor)].devices.cel_go)
    for case in json.loads((FIXTURE.parent / "failing_costs.json").read_text("utf-8")):
        cost = compile_expression(case["expression"], dialect).cost(DEVICE)
        assert cost == case["costs"][minor], case["expression"]


@pytest.mark.parametrize(
    ("cel_go", "expected"),
    [
        (CelGo.V0_29, "internal error: interface conversion: *types.Err is not traits.Lister: missing method Add"),
        (CelGo.V0_33, "integer overflow"),
    ],
)
def test_lists_are_not_compared_with_themselves_after_a_failure(cel_go: CelGo, expected: str) -> None:
    """Up to cel-go 0.29 the charge for it panics, which no `||` absorbs."""
    failing = "[1].map(e, e + 9223372036854775807).sort() == [1]"
    assert answer(failing, Dialect(cel_go=cel_go)) == {"error": expected}
    absorbed = answer(f"{failing} || true", Dialect(cel_go=cel_go))
    assert absorbed == ({"matches": True} if cel_go == CelGo.V0_33 else {"error": expected})


ELEVENFOLD = "".join(f"cel.bind(v{each}, [v{each - 1}, v{each - 1}], " for each in range(1, 60))
EXCEEDED = {"error": "operation cancelled: actual cost limit exceeded"}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("'" + "a" * 40 + "!'.matches('^(a+)+$')", {"matches": False}),
        ("lists.range(1000000000).size() > 0", EXCEEDED),
        ("lists.range(300000).sort() == []", EXCEEDED),
        ("'a'" + f".replace('a', '{'a' * 400}')" * 9 + ".size() > 0", EXCEEDED),
        ("'%.999999999f'.format([1.0]) == ''", EXCEEDED),
        (f"cel.bind(v0, [1], {ELEVENFOLD}v59 == v59.map(x, x){')' * 60}", EXCEEDED),
        (" || ".join(["false"] * 5000) + " || true", {"matches": True}),
        ("(" * 249 + "true" + ")" * 249, {"matches": True}),
        ("(" * 3000 + "true" + ")" * 3000, _refused("expression recursion limit exceeded: 250")),
        ("+".join(["1"] * 400) + " == 400", _refused("max recursion depth exceeded")),
        ("device" + ".a" * 300, _refused("max recursion depth exceeded")),
        (f"'{'x' * 100_001}' == ''", _refused("expression code point size exceeds limit: size: 100009, limit 100000")),
        ("'a'.find('a{1001}') == ''",
         {"compileError": "program instantiation failed: error parsing regexp: invalid repeat count: `{1001}`"}),
    ],
)  # fmt: skip
def test_hostile_expressions_end_soon(expression: str, expected: dict[str, Any]) -> None:
    assert answer(expression) == expected


def test_a_hundred_syntax_errors_are_enough() -> None:
    text = answer("#" * 90_000)["compileError"]
    assert text.count("token recognition error") == 100
    assert text.endswith("\n1 more errors were truncated")


@given(st.lists(WORDS, max_size=14))
def test_any_text_has_an_answer(words: list[str]) -> None:
    assert len(answer("".join(words))) == 1
    assert len(answer(" ".join(words))) == 1


@pytest.mark.parametrize(("text", "found_by_go"), [("aéb", False), ("aeb", True), ("aé", True), ("é", True)])
def test_re2_looks_for_no_word_boundary_between_bytes_where_go_does_between_characters(
    text: str, found_by_go: bool
) -> None:
    r"""google-re2 differs from Go's regexp for `\B` alone: it finds one inside a character of several bytes."""
    with metered(CelGo.V0_29):
        assert matches(text, r"\B") == (found_by_go or not text.isascii())


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ('device.attributes["gpu.example.com"].model.exists(e, true)', "got 'types.String', expected iterable type"),
        (
            'device.attributes["gpu.example.com"].driverVersion.map(e, 1) == []',
            "got 'cel.Semver', expected iterable type",
        ),
        (
            'device.attributes["gpu.example.com"].numa.all(i, e, true)',
            "unsupported comprehension range type: types.Int",
        ),
        ("dyn(quantity('1')).exists(e, true)", "got 'cel.Quantity', expected iterable type"),
        ("dyn(optional.of(1)).filter(e, true) == []", "got '*types.Optional', expected iterable type"),
        ("1 in dyn(1)", "no such overload"),
    ],
)
def test_only_lists_and_maps_are_ranges(expression: str, error: str) -> None:
    """kube-scheduler 1.37 answers so with attributes that are lists."""
    assert answer(expression, Dialect(lists=True)) == {"error": error}
