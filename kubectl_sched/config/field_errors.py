"""field.Error of apimachinery: how kube-scheduler writes a validation error, and the same in plain words.

Answers to k8s.io/apimachinery/pkg/util/validation/field/errors.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from kubectl_sched.api.apimachinery import validation
from kubectl_sched.config.refusal import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.config.versions import Release


class FieldError(msgspec.Struct, frozen=True):
    """One error: upstream's text, and ours where that one does not say what to do."""

    text: str
    advice: str = ""


def invalid(path: str, value: str | int, detail: str, advice: str = "") -> FieldError:
    """`path: Invalid value: 5: detail`."""
    return FieldError(validation.invalid(path, value, detail), advice)


def invalid_structure(path: str, value: str, detail: str, advice: str = "") -> FieldError:
    """Report a value that is no scalar; `value` is its text, see `structure`."""
    return FieldError(f"{path}: Invalid value: {value}: {detail}", advice)


def structure(release: Release, as_json: object, as_go: str) -> str:
    """Return the text of a value that is no scalar: JSON since 1.34, Go syntax before."""
    return go_json(as_json) if release.errors_show_json else as_go


def go_json(value: object) -> str:
    """Return JSON as Go writes it, fit to stand in HTML."""
    text = msgspec.json.encode(value).decode()
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def required(path: str, detail: str = "", advice: str = "") -> FieldError:
    """`path: Required value: detail`."""
    return FieldError(f"{path}: Required value{detail and f': {detail}'}", advice)


def forbidden(path: str, detail: str) -> FieldError:
    """`path: Forbidden: detail`."""
    return FieldError(f"{path}: Forbidden: {detail}")


def duplicate(path: str, value: str, advice: str = "") -> FieldError:
    """`path: Duplicate value: "value"`."""
    return FieldError(f"{path}: Duplicate value: {validation.quoted(value)}", advice)


def unsupported(path: str, value: str, supported: Sequence[str]) -> FieldError:
    """`path: Unsupported value: "x": supported values: "a", "b"`."""
    return FieldError(validation.not_supported(path, value, supported))


def raise_aggregated(errors: Sequence[FieldError], prefix: str = "") -> None:
    """Raise ConfigurationError with all `errors`, if there are any."""
    if errors:
        advice = "; ".join(dict.fromkeys(error.advice for error in errors if error.advice))
        raise ConfigurationError(prefix + validation.aggregate(error.text for error in errors), advice)


def qualified_name_errors(name: str, release: Release) -> list[str]:
    """Return what is wrong with `prefix/name` as a label key or a resource name; nothing if it is one."""
    return validation.label_key_errors(name, release.qualified_name, release.length_unit)
