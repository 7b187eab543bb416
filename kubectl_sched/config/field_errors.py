"""field.Error of apimachinery: how kube-scheduler writes a validation error, and the same in plain words.

Answers to k8s.io/apimachinery/pkg/util/validation/field/errors.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import msgspec

from kubectl_sched.config.refusal import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_sched.config.versions import Release

Scalar: TypeAlias = str | int | float | bool


class FieldError(msgspec.Struct, frozen=True):
    """One error: upstream's text, and ours where that one does not say what to do."""

    text: str
    advice: str = ""


def invalid(path: str, value: Scalar, detail: str, advice: str = "") -> FieldError:
    """`path: Invalid value: 5: detail`."""
    return FieldError(f"{path}: Invalid value: {_plain(value)}: {detail}", advice)


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
    return FieldError(f"{path}: Duplicate value: {_plain(value)}", advice)


def unsupported(path: str, value: str, supported: Sequence[str]) -> FieldError:
    """`path: Unsupported value: "x": supported values: "a", "b"`."""
    listed = ", ".join(map(_plain, supported))
    return FieldError(f"{path}: Unsupported value: {_plain(value)}: supported values: {listed}")


def aggregate(errors: Iterable[FieldError]) -> str:
    """Return upstream's text of several errors: one as it is, more in brackets, none twice."""
    texts = list(dict.fromkeys(error.text for error in errors))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def raise_aggregated(errors: Sequence[FieldError], prefix: str = "") -> None:
    """Raise ConfigurationError with all `errors`, if there are any."""
    if errors:
        advice = "; ".join(dict.fromkeys(error.advice for error in errors if error.advice))
        raise ConfigurationError(f"{prefix}{aggregate(errors)}", advice)


def quoted(text: str) -> str:
    """Return a text as Go's %q writes it."""
    return msgspec.json.encode(text).decode()


def _plain(value: Scalar) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return quoted(value) if isinstance(value, str) else str(value)
