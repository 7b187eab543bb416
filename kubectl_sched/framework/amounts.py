"""Amounts of resources in words, as `kubectl describe node` would write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.apimachinery.quantity import value
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_sched.api.pod import Pod

_BINARY: Final = ((60, "Ei"), (50, "Pi"), (40, "Ti"), (30, "Gi"), (20, "Mi"), (10, "Ki"))
_BYTES: Final = frozenset({"memory", "ephemeral-storage"})
_NUMBER: Final = pattern(r"[0-9]{1,18}(\.[0-9]{1,9})?(k|[KMGTPE]i|[MGTPE])")
_CONTAINERS_READ: Final = 32
"""The requests of a pod with more containers are told in our units."""


def unit_of(resource: str) -> str:
    """Return the unit of the scheduler's numbers for the resource: `m`, `bytes`, or nothing."""
    if resource == "cpu":
        return "m"
    return "bytes" if is_bytes(resource) else ""


def is_bytes(resource: str) -> bool:
    """Report whether the resource is counted in bytes."""
    return resource in _BYTES or resource.startswith(("hugepages-", "requests.storage"))


def amount_text(resource: str, amount: int) -> str:
    """One amount, exact: `1500m`, `2`, `512Mi`, `8052996Ki`."""
    if resource == "cpu":
        return str(amount // 1000) if amount % 1000 == 0 else f"{amount}m"
    if is_bytes(resource) and amount:
        for bits, suffix in _BINARY:
            if amount % (1 << bits) == 0:
                return f"{amount >> bits}{suffix}"
    return str(amount)


def amount_texts(resource: str, *amounts: int) -> tuple[str, ...]:
    """Amounts for a sentence, in one unit: cores, exactly; bytes rounded, in the unit of the first, Gi at most.

    Where different amounts would then look equal, they are in the next smaller unit.
    """
    if resource == "cpu":
        return tuple(_without_zeros(f"{amount / 1000:.3f}") for amount in amounts)
    if is_bytes(resource):
        first = abs(next(filter(None, amounts), 0))
        for bits, suffix in _BINARY[_BINARY.index((30, "Gi")) :]:
            texts = tuple(_rounded(amount, bits, suffix) for amount in amounts)
            if first >= 1 << bits and len(set(texts)) == len(set(amounts)) and texts.count("0") == amounts.count(0):
                return texts
    return tuple(map(str, amounts))


def _rounded(amount: int, bits: int, suffix: str) -> str:
    """`4Gi`, `3.9Gi`, `0.125Gi`: to a tenth, and what is less than one unit to a thousandth."""
    units = amount / (1 << bits)
    text = _without_zeros(f"{units:.{1 if abs(units) >= 1 else 3}f}")
    return text if text == "0" else f"{text}{suffix}"


def _without_zeros(decimal: str) -> str:
    return decimal.rstrip("0").rstrip(".")


def as_typed(pod: Pod, resource: str, amount: int) -> str | None:
    """Return an amount of bytes as the manifest has it: `16000M`; None if the pod gives no one unit.

    CPU is told in cores, as what nodes have is, and so is what only a sum of different units amounts to.
    """
    if not is_bytes(resource):
        return None
    typed = _typed(pod, resource)
    if amount in typed:
        return typed[amount]
    units = {text.lstrip("0123456789.") for text in typed.values()}
    if len(units) != 1:
        return None
    (unit,) = units
    size = value(f"1{unit}")
    return f"{amount // size}{unit}" if amount % size == 0 else None


def _typed(pod: Pod, resource: str) -> dict[int, str]:
    """Return each request of the resource that has a unit, by its amount."""
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    if len(containers) > _CONTAINERS_READ:
        return {}
    parts = [*(each.resources for each in containers), *filter(None, (pod.spec.resources,))]
    texts = dict.fromkeys(str(each.requests[resource]) for each in parts if resource in each.requests)
    return {value(text): text for text in texts if _NUMBER.fullmatch(text)}


def request_text(pod: Pod, resource: str, amount: int) -> str:
    """Return an amount that the pod requests, as typed or else in the units of `amount_texts`."""
    return as_typed(pod, resource, amount) or amount_texts(resource, amount)[0]


def request_texts(pod: Pod, resource: str, wanted: int, *amounts: int) -> tuple[str, ...]:
    """Return what the pod requests, as typed where it has a unit, and other amounts in one unit, told apart from it."""
    wants, *others = amount_texts(resource, wanted, *amounts)
    return (as_typed(pod, resource, wanted) or wants, *others)


class Unit(Record, frozen=True, kw_only=True):
    """The one unit that all amounts of a column are given in."""

    name: str
    size: int

    def text(self, amount: int) -> str:
        """The amount in this unit, to a tenth."""
        return f"{amount / self.size:,.1f}".removesuffix(".0")


def common_unit(resource: str, amounts: Iterable[int]) -> Unit:
    """Return whole cores or else millicores, GiB or MiB by the largest amount, and no unit for counts."""
    shown = list(amounts)
    if resource == "cpu":
        return (
            Unit(name="millicores", size=1) if any(amount % 1000 for amount in shown) else Unit(name="cores", size=1000)
        )
    if is_bytes(resource):
        return (
            Unit(name="GiB", size=1 << 30)
            if max(map(abs, shown), default=0) >= 1 << 30
            else Unit(name="MiB", size=1 << 20)
        )
    return Unit(name="", size=1)
