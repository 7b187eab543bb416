"""Checks and conversions of functions' arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from kubectl_sched.dynamic_resource_allocation.cel.values import MAX_INT, MAX_UINT, MIN_INT, CelError, UInt, Value

Function: TypeAlias = Callable[..., Value]


def no_overload() -> CelError:
    """The error of a function called with arguments of other types."""
    return CelError("no such overload")


def want(value: Value, *kinds: type) -> None:
    """Raises CelError for other types; bool is no int here, and UInt is none either."""
    if type(value) not in kinds:
        raise no_overload()


def want_text(*values: Value) -> None:
    """Raises CelError unless all are strings."""
    for value in values:
        want(value, str)


def on(kind: type, function: Function) -> Function:
    """The function of a first argument of this type alone."""

    def checked(*args: Value) -> Value:
        want(args[0], kind)
        return function(*args)

    return checked


def on_text(function: Function) -> Function:
    """The function of strings alone."""

    def checked(*args: Value) -> Value:
        want_text(*args)
        return function(*args)

    return checked


def int64(number: int) -> int:
    """The number, if it is an int."""
    if not MIN_INT <= number <= MAX_INT:
        raise CelError("integer overflow")
    return number


def uint64(number: int) -> UInt:
    """The number, if it is a uint."""
    if not 0 <= number <= MAX_UINT:
        raise CelError("unsigned integer overflow")
    return UInt(number)


def reads(read: Function) -> Function:
    """Report whether a string can be read as something."""

    def reads(*args: Value) -> bool:
        want_text(args[0])
        try:
            read(*args)
        except CelError:
            return False
        return True

    return reads
