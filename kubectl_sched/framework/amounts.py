"""Amounts of resources in words, as `kubectl describe node` would write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable

_BINARY: Final = ((60, "Ei"), (50, "Pi"), (40, "Ti"), (30, "Gi"), (20, "Mi"), (10, "Ki"))
_BYTES: Final = frozenset({"memory", "ephemeral-storage"})


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
    """Several amounts to be compared: rounded to a tenth of a unit, unless different ones would then look equal."""
    if not is_bytes(resource):
        return tuple(amount_text(resource, amount) for amount in amounts)
    texts = tuple(_rounded(amount) for amount in amounts)
    if len(set(texts)) == len(set(amounts)):
        return texts
    return tuple(amount_text(resource, amount) for amount in amounts)


def _rounded(amount: int) -> str:
    """`4Gi`, `3.9Gi`: the greatest unit that leaves at least one, to a tenth."""
    for bits, suffix in _BINARY:
        if abs(amount) >= 1 << bits:
            return f"{amount / (1 << bits):.1f}".removesuffix(".0") + suffix
    return str(amount)


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
