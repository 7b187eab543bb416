"""Quantities such as `1500m` or `4Gi`.

Answers to k8s.io/apimachinery/pkg/api/resource (quantity.go, amount.go, suffix.go). Upstream holds an amount as an
int64 with a scale as long as that fits, else as an arbitrary decimal; where an amount overflows int64 the two answer
differently, and so does this module. From 1.38 on both saturate: they hold such an amount at the limit of int64.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from kubectl_sched.api.apimachinery.decimal_scaling import (
    decimal_scaled,
    fits_in_units,
    rounded_away,
    scaled_up,
    ten_to,
    without_factors,
)
from kubectl_sched.api.apimachinery.int64 import MAX_INT64, is_int64, saturated
from kubectl_sched.errors import SchedError
from kubectl_sched.lazy_pattern import pattern

if TYPE_CHECKING:
    from kubectl_sched.api.core import RawQuantity, ResourceList

NANO: Final = -9
MILLI: Final = -3

_LARGEST_EXPONENT: Final = 1000
_SHAPE: Final = pattern(
    r"(?P<value>(?P<sign>[+-]?)0*(?P<whole>[0-9]*)(?:\.(?P<fraction>[0-9]*))?)(?P<suffix>[eEinumkKMGTP]*[-+]?[0-9]*)"
)
_EXPONENT: Final = pattern(r"[eE]([+-]?[0-9]+)")

_WRONG_FORMAT: Final = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_WRONG_NUMBER: Final = "unable to parse numeric part of quantity"
_WRONG_SUFFIX: Final = "unable to parse quantity's suffix"


class Format(Enum):
    """The notation of a quantity."""

    DECIMAL_SI = "DecimalSI"
    BINARY_SI = "BinarySI"
    DECIMAL_EXPONENT = "DecimalExponent"


_DECIMAL_SUFFIXES: Final = {
    "n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18,
}  # fmt: skip
_BINARY_SUFFIXES: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_NAMES: Final = {exponent: suffix for suffix, exponent in _DECIMAL_SUFFIXES.items()}
_BINARY_NAMES: Final = {exponent: suffix for suffix, exponent in _BINARY_SUFFIXES.items()}

_LONGEST_SHOWN: Final = 64
"""Characters of a wrong text that its error repeats."""


class InvalidQuantity(SchedError):  # noqa: N818 - read as a sentence: raise InvalidQuantity
    """A text that is not a quantity; `reason` is upstream's own sentence, `where` says what holds the text."""

    def __init__(self, raw: RawQuantity, reason: str, where: str = "") -> None:
        self.raw = raw
        self.reason = reason
        self.where = where
        place = f"{where}: " if where else ""
        super().__init__(f"{place}{_shown(raw)} is not a quantity: {reason}{_hint(str(raw).strip())}")

    def within(self, where: str) -> InvalidQuantity:
        """Return the error as one about something inside `where`."""
        return type(self)(self.raw, self.reason, f"{where}: {self.where}" if self.where else where)


class UnsupportedQuantity(InvalidQuantity):
    """A text with the form of a quantity, of a size that no cluster has."""


def _shown(raw: RawQuantity) -> str:
    """The text in quotes, a long one cut."""
    text = str(raw)
    return repr(raw) if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]!r}..."


class Quantity:
    """An exact amount, `unscaled * 10**scale`, and the format that it is written in.

    `is_decimal` says that upstream holds it as an arbitrary decimal, not in an int64. Quantities compare and hash by
    amount alone. `str` is upstream's String(): the text as read where that was canonical, else the canonical form.
    """

    __slots__ = ("_text", "format", "is_decimal", "scale", "unscaled")

    def __init__(
        self,
        unscaled: int = 0,
        scale: int = 0,
        format: Format = Format.DECIMAL_SI,  # noqa: A002 - upstream's word
        is_decimal: bool = False,
        text: str = "",
    ) -> None:
        self.unscaled = unscaled
        self.scale = scale
        self.format = format
        self.is_decimal = is_decimal
        self._text = text

    @property
    def is_zero(self) -> bool:
        """Report whether the amount is nothing."""
        return self.unscaled == 0

    def value(self, *, saturates: bool = False) -> int:
        """The amount in units, rounded up (Value)."""
        return self.scaled_value(0, saturates=saturates)

    def milli_value(self, *, saturates: bool = False) -> int:
        """The amount in thousandths, rounded up (MilliValue)."""
        return self.scaled_value(MILLI, saturates=saturates)

    def scaled_value(self, scale: int, *, saturates: bool = False) -> int:
        """The amount in units of `10**scale`, rounded up, as an int64 that overflows as upstream's (ScaledValue)."""
        shift = self.scale - scale
        if saturates:
            return saturated(rounded_away(self.unscaled, -shift) if shift < 0 else self.unscaled * ten_to(shift))
        if self.is_decimal:
            return decimal_scaled(self.unscaled, shift)
        if shift < 0:
            return rounded_away(self.unscaled, -shift)
        return scaled_up(self.unscaled, shift)

    def __add__(self, other: Quantity) -> Quantity:
        return self._combined(other, other.unscaled)

    def __sub__(self, other: Quantity) -> Quantity:
        return self._combined(other, -other.unscaled)

    def __neg__(self) -> Quantity:
        return Quantity(-self.unscaled, self.scale, self.format, self.is_decimal)

    def __mul__(self, factor: int) -> Quantity:
        product = self.unscaled * factor
        if not product and not self.is_decimal:
            return Quantity(0, 0 if self.unscaled else self.scale, self.format)
        stays = is_int64(product) and fits_in_units(product, self.scale)
        return Quantity(product, self.scale, self.format, self.is_decimal or not stays)

    def scaled_by(self, factor: Quantity) -> Quantity:
        """Multiply by another amount, exactly."""
        return Quantity(self.unscaled * factor.unscaled, self.scale + factor.scale, self.format, is_decimal=True)

    def __lt__(self, other: Quantity) -> bool:
        return self._compare(other) < 0

    def __le__(self, other: Quantity) -> bool:
        return self._compare(other) <= 0

    def __gt__(self, other: Quantity) -> bool:
        return self._compare(other) > 0

    def __ge__(self, other: Quantity) -> bool:
        return self._compare(other) >= 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self._compare(other) == 0

    def __hash__(self) -> int:
        unscaled, scale = without_factors(self.unscaled, 10)
        return hash((unscaled, scale + self.scale if unscaled else 0))

    def __str__(self) -> str:
        if not self._text:
            self._text = self.canonical()
        return self._text

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"

    def canonical(self) -> str:
        """The text that upstream prints for a computed amount (CanonicalizeBytes)."""
        if self.is_zero:
            return "0"
        units, rest = self._units()
        if self.format is Format.BINARY_SI and not rest and abs(units) >= 1024:
            whole, times = without_factors(units, 1024)
            return f"{whole}{_BINARY_NAMES.get(times * 10, '')}"
        unscaled, times = without_factors(self.unscaled, 10)
        exponent = self.scale + times
        unscaled *= ten_to(exponent % 3)
        exponent -= exponent % 3
        if self.format is Format.DECIMAL_EXPONENT:
            return f"{unscaled}e{exponent}" if exponent else str(unscaled)
        return f"{unscaled}{_DECIMAL_NAMES.get(exponent, '')}"

    def _units(self) -> tuple[int, int]:
        """The whole units, and what is left over in units of the scale."""
        if self.scale >= 0:
            return self.unscaled * ten_to(self.scale), 0
        return divmod(self.unscaled, ten_to(-self.scale))

    def _compare(self, other: Quantity) -> int:
        if self.scale == other.scale:
            return (self.unscaled > other.unscaled) - (self.unscaled < other.unscaled)
        common = min(self.scale, other.scale)
        mine = self.unscaled * ten_to(self.scale - common)
        theirs = other.unscaled * ten_to(other.scale - common)
        return (mine > theirs) - (mine < theirs)

    def _combined(self, other: Quantity, unscaled: int) -> Quantity:
        """The sum with `unscaled` in the other's scale; a zero takes the other's format."""
        form = self.format if self.unscaled else other.format
        common = min(self.scale, other.scale)
        if not self.is_decimal and not other.is_decimal:
            if not unscaled:
                return Quantity(self.unscaled, self.scale, form)
            if not self.unscaled:
                return Quantity(unscaled, other.scale, form)
        mine = self.unscaled * ten_to(self.scale - common)
        theirs = unscaled * ten_to(other.scale - common)
        fits = is_int64(mine) and is_int64(theirs) and is_int64(mine + theirs)
        return Quantity(mine + theirs, common, form, self.is_decimal or other.is_decimal or not fits)


ZERO: Final = Quantity()


def of_value(units: int, format: Format = Format.DECIMAL_SI) -> Quantity:  # noqa: A002 - upstream's word
    """A whole number of units (NewQuantity)."""
    return Quantity(units, 0, format)


def of_milli_value(thousandths: int, format: Format = Format.DECIMAL_SI) -> Quantity:  # noqa: A002 - upstream's word
    """So many thousandths (NewMilliQuantity)."""
    return Quantity(thousandths, MILLI, format)


@lru_cache(maxsize=1 << 16)
def parse_quantity(raw: RawQuantity) -> Quantity:
    """Read a quantity as JSON or YAML holds it (UnmarshalJSON, ParseQuantity); raise InvalidQuantity."""
    text = str(raw).strip()
    shape = _SHAPE.fullmatch(text)
    if not text or shape is None:
        raise InvalidQuantity(raw, _WRONG_FORMAT)
    base, exponent, form = _interpret(raw, shape["suffix"])
    whole, fraction = shape["whole"] or "0", shape["fraction"] or ""
    if base == 2:
        return _binary(raw, shape, whole, fraction, exponent)
    scale = exponent - len(fraction)
    if len(whole) + len(fraction) <= 18 and scale >= NANO:
        digits = whole + fraction
        canonical = scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"
        return Quantity(_signed(shape, int(digits)), scale, form, text=text if canonical else "")
    return _decimal(raw, shape, whole + fraction, scale, form)


@lru_cache(maxsize=1 << 16)
def value(raw: RawQuantity, *, saturates: bool = False) -> int:
    """Value() of a quantity as it was written: whole units, rounded up; raise InvalidQuantity."""
    return parse_quantity(raw).value(saturates=saturates)


@lru_cache(maxsize=1 << 16)
def milli_value(raw: RawQuantity, *, saturates: bool = False) -> int:
    """MilliValue() of a quantity as it was written: thousandths, rounded up; raise InvalidQuantity."""
    return parse_quantity(raw).milli_value(saturates=saturates)


def parse_resource_list(resources: ResourceList) -> dict[str, Quantity]:
    """Read every quantity of a list; raise InvalidQuantity naming the resource."""
    parsed: dict[str, Quantity] = {}
    for name, raw in resources.items():
        try:
            parsed[name] = parse_quantity(raw)
        except InvalidQuantity as error:
            raise error.within(name) from error
    return parsed


def bytes_text(size: int) -> str:
    """Bytes as a quantity with binary suffixes where they are exact: `4Gi`, `1025`."""
    return str(of_value(size, Format.BINARY_SI))


def _interpret(raw: RawQuantity, suffix: str) -> tuple[int, int, Format]:
    """The base and the exponent that a suffix stands for (suffixHandler.interpret)."""
    if suffix in _DECIMAL_SUFFIXES:
        return 10, _DECIMAL_SUFFIXES[suffix], Format.DECIMAL_SI
    if suffix in _BINARY_SUFFIXES:
        return 2, _BINARY_SUFFIXES[suffix], Format.BINARY_SI
    exponent = _EXPONENT.fullmatch(suffix)
    if exponent is None:
        raise InvalidQuantity(raw, _WRONG_SUFFIX)
    if len(exponent[1]) > 9 or abs(int(exponent[1])) > _LARGEST_EXPONENT:
        raise UnsupportedQuantity(raw, f"exponents beyond {_LARGEST_EXPONENT} are not supported")
    return 10, int(exponent[1]), Format.DECIMAL_EXPONENT


def _binary(raw: RawQuantity, shape: re.Match[str], whole: str, fraction: str, exponent: int) -> Quantity:
    """A number with a binary suffix; without a fraction it stays an int64 while it surely fits."""
    precision = 15 - len(whole) - exponent * 3 // 10 - 1
    if not fraction and precision >= 0 and is_int64(int(whole) << exponent):
        canonical = int(whole) & 7 != 0
        text = shape.string if canonical else ""
        return Quantity(_signed(shape, int(whole) << exponent), 0, Format.BINARY_SI, text=text)
    return _decimal(raw, shape, whole + fraction, -len(fraction), Format.BINARY_SI, 1 << exponent)


def _decimal(
    raw: RawQuantity, shape: re.Match[str], digits: str, scale: int, form: Format, factor: int = 1
) -> Quantity:
    """An amount that upstream holds as an arbitrary decimal: rounded up to nanos, capped if binary."""
    if not any(character.isdigit() for character in shape["value"]):
        raise InvalidQuantity(raw, _WRONG_NUMBER)
    if len(digits) > _LARGEST_EXPONENT:
        raise UnsupportedQuantity(raw, f"more than {_LARGEST_EXPONENT} digits are not supported")
    unscaled = int(digits) * factor
    if not unscaled:
        return Quantity(0, scale, form, is_decimal=True)
    shift = scale - NANO
    nanos = unscaled * ten_to(shift) if shift >= 0 else -(-unscaled // ten_to(-shift))
    if form is Format.BINARY_SI and nanos > MAX_INT64 * 10**9:
        return Quantity(_signed(shape, MAX_INT64), 0, form, is_decimal=True)
    if form is Format.BINARY_SI and nanos < 10**9:
        form = Format.DECIMAL_SI
    return Quantity(_signed(shape, nanos), NANO, form, is_decimal=True)


def _signed(shape: re.Match[str], number: int) -> int:
    return -number if shape["sign"] == "-" else number


def _hint(text: str) -> str:
    """Suggest the quantity that the writer may have meant."""
    if "," in text:
        return "; write it without commas, with a point before the fraction"
    unit = re.fullmatch(r"[+-]?[0-9.]+(\s*)([A-Za-z]+)", text)
    if unit is None:
        return ""
    letter = unit[2][0].upper()
    if unit[2] in _DECIMAL_SUFFIXES or unit[2] in _BINARY_SUFFIXES:
        return f"; write no space before {unit[2]}"
    if not re.fullmatch(r"[kmgtpe](i?b?|bytes?)?", unit[2], re.IGNORECASE):
        return "; the suffixes are n, u, m, k, M, G, T, P, E and Ki, Mi, Gi, Ti, Pi, Ei"
    binary = f"{letter}i for powers of 1024"
    if "i" in unit[2].lower():
        return f"; write {binary}"
    return f"; write {binary} or {'k' if letter == 'K' else letter} for powers of 1000"
