from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_sched.api.apimachinery.quantity import (
    Format,
    InvalidQuantity,
    Quantity,
    bytes_text,
    milli_value,
    of_milli_value,
    of_value,
    parse_quantity,
    value,
)

LARGEST = 2**63 - 1


@pytest.mark.parametrize(
    ("raw", "units", "thousandths"),
    [
        ("0", 0, 0),
        ("100m", 1, 100),
        ("1500m", 2, 1500),
        ("0.1", 1, 100),
        ("1.5", 2, 1500),
        (".5", 1, 500),
        ("5.", 5, 5000),
        ("+3", 3, 3000),
        ("-1.5", -2, -1500),
        ("007", 7, 7000),
        ("1n", 1, 1),
        ("1u", 1, 1),
        ("0.1n", 1, 1),
        ("1100u", 1, 2),
        ("1k", 1000, 10**6),
        ("1Ki", 1024, 1024_000),
        ("1.5Gi", 3 * 2**29, 3 * 2**29 * 1000),
        ("0.5Ki", 512, 512_000),
        ("0.1Ki", 103, 102_400),
        ("200Mi", 200 * 2**20, 200 * 2**20 * 1000),
        ("1e3", 1000, 10**6),
        ("1E3", 1000, 10**6),
        ("1e+3", 1000, 10**6),
        ("15e-1", 2, 1500),
        ("1E", 10**18, 0),
        ("4Ei", 2**62, 2**62 * 1000 % 2**64),
        (" 4 ", 4, 4000),
        (4, 4, 4000),
        (0.25, 1, 250),
        (1e22, 0, 0),
        (1e-7, 1, 1),
    ],
)
def test_values_round_up(raw: str | float, units: int, thousandths: int) -> None:
    assert value(raw) == units
    assert milli_value(raw) == thousandths


@pytest.mark.parametrize("raw", ["8Ei", "100Ei", "9223372036854775808Ki", "16Ei"])
def test_binary_amounts_are_capped_at_int64(raw: str) -> None:
    assert value(raw) == LARGEST


@pytest.mark.parametrize(
    ("raw", "units"),
    [
        ("9223372036854775807", LARGEST),
        ("9223372036854775808", -LARGEST - 1),
        ("100E", 0),
        ("1e30", 0),
        ("9007199254740993k", 9007199254740993000),
        ("90071992547409930k", -2161727821137828080),
    ],
)
def test_decimal_amounts_overflow_as_an_int64_does(raw: str, units: int) -> None:
    assert value(raw) == units


@pytest.mark.parametrize(
    ("raw", "printed"),
    [
        ("1.5", "1500m"),
        ("0.5", "500m"),
        ("1500m", "1500m"),
        ("1000m", "1"),
        ("2000", "2k"),
        ("1024Ki", "1Mi"),
        ("1025Ki", "1025Ki"),
        ("1.5Gi", "1536Mi"),
        ("0.5Ki", "512"),
        ("1.1Ki", "1126400m"),
        ("0.1Ki", "102400m"),
        ("1e3", "1e3"),
        ("1e4", "10e3"),
        ("100e-3", "100e-3"),
        ("0.1n", "1n"),
        ("-1.5", "-1500m"),
        ("+1Ki", "+1Ki"),
        ("0k", "0"),
        ("1.500", "1.500"),
        ("8Ei", "9223372036854775807"),
        ("1000E", "1"),
    ],
)
def test_prints_as_upstream(raw: str, printed: str) -> None:
    assert str(parse_quantity(raw)) == printed


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("", "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"),
        ("1.2.3", "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"),
        ("1,000", "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"),
        ("1 Gi", "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"),
        ("1K", "unable to parse quantity's suffix"),
        ("1mi", "unable to parse quantity's suffix"),
        ("1ee3", "unable to parse quantity's suffix"),
        ("--1", "unable to parse quantity's suffix"),
        ("1-3", "unable to parse quantity's suffix"),
        (".Ei", "unable to parse numeric part of quantity"),
    ],
)
def test_refuses_with_upstreams_words(raw: str, reason: str) -> None:
    with pytest.raises(InvalidQuantity) as refused:
        parse_quantity(raw)
    assert refused.value.reason == reason
    assert str(refused.value).startswith(f"{raw!r} is not a quantity: {reason}")


@pytest.mark.parametrize(
    ("raw", "hint"),
    [
        ("1K", "; write Ki for powers of 1024 or k for powers of 1000"),
        ("1mi", "; write Mi for powers of 1024"),
        ("1MB", "; write Mi for powers of 1024 or M for powers of 1000"),
        ("1GiB", "; write Gi for powers of 1024"),
        ("1g", "; write Gi for powers of 1024 or G for powers of 1000"),
        ("1,5", "; write it without commas, with a point before the fraction"),
        ("4 Gi", "; write no space before Gi"),
        ("4cores", "; the suffixes are n, u, m, k, M, G, T, P, E and Ki, Mi, Gi, Ti, Pi, Ei"),
        ("lots", "[-+]?[0-9]*)$'"),
    ],
)
def test_says_what_may_have_been_meant(raw: str, hint: str) -> None:
    with pytest.raises(InvalidQuantity) as refused:
        value(raw)
    assert str(refused.value).endswith(hint)


@pytest.mark.parametrize("raw", ["1e999999999999", "1e5000", "1" * 5000])
def test_absurd_amounts_are_refused_instead_of_computed(raw: str) -> None:
    with pytest.raises(InvalidQuantity, match="not supported"):
        parse_quantity(raw)


@pytest.mark.parametrize(
    ("left", "right", "total"),
    [
        ("1Gi", "1Gi", "2Gi"),
        ("1Gi", "1M", "1074741824"),
        ("1M", "1Gi", "1074741824"),
        ("0", "1Gi", "1Gi"),
        ("100m", "0.9", "1"),
        ("8Ei", "8Ei", "18446744073709551614"),
    ],
)
def test_sums_keep_the_first_format(left: str, right: str, total: str) -> None:
    assert str(parse_quantity(left) + parse_quantity(right)) == total


def test_amounts_compare_whatever_their_format() -> None:
    assert parse_quantity("1Ki") == parse_quantity("1.024k") == parse_quantity("1024e0") != parse_quantity("1k")
    assert hash(parse_quantity("1000m")) == hash(parse_quantity("1"))
    assert parse_quantity("999m") < parse_quantity("1") <= parse_quantity("1e0") < parse_quantity("1Ki")
    assert max(parse_quantity("1G"), parse_quantity("1Gi")) == parse_quantity("1Gi")


def test_units_of_the_scheduler_print_as_quantities() -> None:
    assert [bytes_text(4 << 30), bytes_text(1000), bytes_text(1025)] == ["4Gi", "1k", "1025"]


DIGITS = st.from_regex(r"[0-9]{1,12}(\.[0-9]{1,8})?", fullmatch=True)
SUFFIXES = st.sampled_from(["", "n", "u", "m", "k", "M", "G", "Ki", "Mi", "Gi", "e3", "E-2"])
QUANTITIES = st.builds(
    lambda sign, digits, suffix: sign + digits + suffix, st.sampled_from(["", "-"]), DIGITS, SUFFIXES
)


def exact(quantity: Quantity) -> Fraction:
    return quantity.unscaled * Fraction(10) ** quantity.scale


@given(QUANTITIES)
def test_what_is_printed_reads_back(raw: str) -> None:
    quantity = parse_quantity(raw)
    assert parse_quantity(str(quantity)) == quantity
    assert parse_quantity(quantity.canonical()) == quantity


@given(QUANTITIES, QUANTITIES)
def test_arithmetic_is_exact(left: str, right: str) -> None:
    a, b = parse_quantity(left), parse_quantity(right)
    assert exact(a + b) == exact(a) + exact(b)
    assert exact(a - b) == exact(a) - exact(b)
    assert exact(a * 3) == exact(a) * 3
    assert (a < b, a == b, a > b) == (exact(a) < exact(b), exact(a) == exact(b), exact(a) > exact(b))
    if a == b:
        assert hash(a) == hash(b)


@given(QUANTITIES.filter(lambda raw: not raw.startswith("-")))
def test_values_are_the_ceiling(raw: str) -> None:
    quantity = parse_quantity(raw)
    if exact(quantity) < 2**53:
        assert value(raw) == -(-exact(quantity) // 1)
        assert milli_value(raw) == -(-exact(quantity) * 1000 // 1)


@given(st.integers(0, 2**62))
def test_whole_numbers_survive(number: int) -> None:
    assert of_value(number).value() == of_value(number, Format.BINARY_SI).value() == number
    assert of_milli_value(number).milli_value() == number
    assert value(bytes_text(number)) == number


@pytest.mark.parametrize(
    ("raw", "units", "milli"),
    [
        ("9223372036854775807", LARGEST, LARGEST),
        ("9223372036854775808", LARGEST, LARGEST),
        ("-9223372036854775809", -LARGEST - 1, -LARGEST - 1),
        ("100E", LARGEST, LARGEST),
        ("9223372036854775", 9223372036854775, 9223372036854775000),
        ("9223372036854776", 9223372036854776, LARGEST),
        ("8Ei", LARGEST, LARGEST),
        ("1.5m", 1, 2),
        ("-1.5m", -1, -2),
        ("-1.00000000000000000001", -2, -1001),
    ],
)
def test_values_saturate_since_1_38(raw: str, units: int, milli: int) -> None:
    """Computed with k8s.io/apimachinery 0.38.0-beta.0."""
    assert value(raw, saturates=True) == units
    assert milli_value(raw, saturates=True) == milli


@pytest.mark.parametrize(
    ("raw", "milli", "micro"),
    [
        ("9223372036854775807", -1000, -1_000_000),
        ("9223372036854775", 9223372036854775000, -808000),
        ("9223372036854776", -9223372036854775616, 192000),
        ("99999999999999999", 7766279631452240920, 200376420519689664),
        ("7Ei", -9223372036854775808, 0),
        ("8Ei", -1000, -1_000_000),
        ("9223372036854775807m", 9223372036854775807, -1000),
        ("-9223372036854775807", 1000, 1_000_000),
        ("9E", 0, 0),
        ("1e19", 0, 0),
    ],
)
def test_thousandths_overflow_as_upstreams(raw: str, milli: int, micro: int) -> None:
    """Computed with k8s.io/apimachinery 0.36.2 and 0.37.1, which saturate nothing."""
    quantity = parse_quantity(raw)
    assert (quantity.milli_value(), quantity.scaled_value(-6)) == (milli, micro)
