"""Expressions that select devices hold no text of the cluster's own, and select the same devices as before."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from kubectl_sched.api.resource import DeviceClass, ResourceSlice
from kubectl_sched.dynamic_resource_allocation.cel.dialect import Dialect
from kubectl_sched.dynamic_resource_allocation.cel.program import compile_expression
from kubectl_sched.dynamic_resource_allocation.cel.values import CelError
from kubectl_sched.dynamic_resource_allocation.selectors import device_variable
from kubectl_sched.sources.dump.dump import Dump
from kubectl_sched.sources.export.anonymized_expressions import _Expression
from kubectl_sched.sources.export.anonymizer import anonymized

if TYPE_CHECKING:
    from collections.abc import Mapping

DRIVER = "gpu.example.com"
MODELS = ("acme-falcon-80", "acme-falcon-40", "Acme Owl", "rack 7/acme", "4711", "linux")
DIALECT = Dialect(lists=True)
MODEL = f'device.attributes["{DRIVER}"].model'
PARTS = f'device.attributes["{DRIVER}"].parts'
EXPRESSIONS = (
    f'{MODEL} == "acme-falcon-80"',
    f"'acme-falcon-40' != {MODEL}",
    f'{MODEL} in ["Acme Owl", "rack 7/acme"] // acme',
    f'{MODEL}.startsWith("acme-falcon")',
    f'!{MODEL}.startsWith("acme") && {MODEL} != "nobody-has-this"',
    f'{MODEL}.endsWith("acme") || {MODEL}.contains("Owl")',
    f'{MODEL}.matches("^acme-.*-[48]0$")',
    f'{MODEL}.matches("acme-nobody")',
    f'{MODEL} == "4711" || {MODEL} == "linux"',
    f'{PARTS}.exists(part, part.startsWith("secret-board"))',
    f'"secret-board-1" in {PARTS}',
    f'device.driver == "{DRIVER}" && device.driver.startsWith("gpu.") && device.driver in ["x", "{DRIVER}"]',
    f'"{DRIVER}" in device.attributes && has({MODEL})',
    f'device.capacity["{DRIVER}"].memory.compareTo(quantity("40Gi")) >= 0',
    f'device.attributes["{DRIVER}"].version.isGreaterThan(semver("1.2.3"))',
    f'cel.bind(own, device.attributes["{DRIVER}"], own.model == "acme-falcon-80")',
    f'device.attributes["{DRIVER}"][?"model"].orValue("acme-none") == "Acme Owl"',
)


def dump_of(*expressions: str) -> Dump:
    devices = [
        {
            "name": f"d{number}",
            "attributes": {
                "model": {"string": model},
                "parts": {"strings": [f"secret-board-{number}", "fan"]},
                "version": {"version": f"1.{number}.0"},
            },
            "capacity": {"memory": {"value": f"{20 * number}Gi"}},
        }
        for number, model in enumerate(MODELS)
    ]
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    published = {"driver": DRIVER, "nodeName": "n1", "pool": pool, "devices": devices}
    selectors = [{"cel": {"expression": expression}} for expression in expressions]
    return Dump(
        objects=(
            msgspec.convert({"metadata": {"name": "s"}, "spec": published}, ResourceSlice),
            msgspec.convert({"metadata": {"name": "c"}, "spec": {"selectors": selectors}}, DeviceClass),
        )
    )


def parts_of(dump: Dump) -> tuple[list[Mapping[str, Any]], list[str]]:
    """The devices as expressions see them, and the expressions."""
    published, chosen = dump.objects
    assert isinstance(published, ResourceSlice)
    assert isinstance(chosen, DeviceClass)
    devices = [device_variable(DRIVER, each, True) for each in published.spec.devices]
    assert not any(isinstance(each, str) for each in devices)
    return devices, [each.cel.expression for each in chosen.spec.selectors if each.cel is not None]  # type: ignore[return-value] # as asserted


def selected(expression: str, devices: list[Mapping[str, Any]]) -> list[bool | None]:
    program = compile_expression(expression, DIALECT)
    found: list[bool | None] = []
    for device in devices:
        try:
            found.append(program.matches(device))
        except CelError:
            found.append(None)
    return found


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_the_same_devices_are_selected_and_no_text_is_left(expression: str) -> None:
    before = dump_of(expression)
    after = anonymized(before)
    assert after.warnings == ()
    devices, (changed,) = parts_of(after)
    assert selected(changed, devices) == selected(expression, parts_of(before)[0])
    said = str(after.objects).lower()
    assert not any(own in said for own in ("acme", "falcon", "owl", "secret", "board", "nobody"))


def test_all_expressions_are_about_some_devices_and_not_others() -> None:
    devices, expressions = parts_of(dump_of(*EXPRESSIONS))
    found = {expression: selected(expression, devices) for expression in expressions}
    assert {expression for expression, each in found.items() if None in each} == set()
    assert sum(len(set(each)) == 2 for each in found.values()) >= 11


@pytest.mark.parametrize(
    ("expression", "how"),
    [
        (f'{MODEL}.lowerAscii() == "acme owl"', "lowerAscii"),
        (f'{MODEL}.substring(0, 4) == "acme"', "substring"),
        (f'{MODEL}.lowerAscii().startsWith("acme")', "lowerAscii, startsWith"),
        (f'{MODEL} + "-x" == "acme-falcon-80-x"', "comparison or sum of texts"),
    ],
)
def test_what_takes_a_text_apart_is_said_to_be_lost(expression: str, how: str) -> None:
    after = anonymized(dump_of(expression))
    assert after.warnings == (
        f"expressions take texts of devices apart ({how}); under pseudonyms they may select other devices",
    )
    assert "acme" not in str(after.objects).lower()


@pytest.mark.parametrize("expression", ["acme(", "'acme", 'acme == "\\q"', "acme-1 acme"])
def test_what_cannot_be_read_is_replaced_as_a_whole(expression: str) -> None:
    (changed,) = parts_of(anonymized(dump_of(expression)))[1]
    assert "acme" not in changed


def test_a_list_of_too_many_texts_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubectl_sched.sources.export.anonymized_expressions._MOST_LISTED", 1)
    one, two = (anonymized(dump_of(f'{MODEL}.endsWith("{end}")')) for end in ("Owl", "0"))
    assert one.warnings == ()
    assert "(endsWith)" in two.warnings[0]
    monkeypatch.setattr("kubectl_sched.sources.export.anonymized_expressions._MOST_LOOKED_AT", 1)
    assert "(endsWith)" in anonymized(dump_of(f'{MODEL}.endsWith("Owl")')).warnings[0]


def test_what_is_nested_deeply_is_read() -> None:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000)  # as in a program that has read no expression yet
    try:
        (changed,) = parts_of(anonymized(dump_of(f'{"(" * 200}{MODEL} == "acme-falcon-80"{")" * 200}')))[1]
    finally:
        sys.setrecursionlimit(before)
    assert changed.startswith("(" * 200)
    assert "acme" not in changed


def test_twice_the_texts_are_at_most_two_and_a_half_times_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0
    at = _Expression._at  # noqa: SLF001 - the work is counted where it is done

    def counted(self: _Expression, place: int) -> Any:
        nonlocal looks
        looks += 1
        return at(self, place)

    monkeypatch.setattr(_Expression, "_at", counted)

    def work(texts: int) -> int:
        nonlocal looks
        looks = 0
        listed = ", ".join(f'"{number}"' for number in range(texts))
        anonymized(dump_of(f"{MODEL} in [{listed}]"))
        return looks

    assert 500 < work(500) < work(1_000) <= 2.5 * work(500)
