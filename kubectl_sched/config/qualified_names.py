"""Validation of label keys and label values in a configuration.

Answers to k8s.io/apimachinery/pkg/util/validation/validation.go and pkg/api/validate/content/kube.go.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_sched.config.versions import Release

_NAME: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = rf"{_LABEL}(\.{_LABEL})*"
_NAME_RULE: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)
_SUBDOMAIN_RULE: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character"
)
_VALUE_RULE: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character"
)


def qualified_name_errors(name: str, release: Release) -> list[str]:
    """Return what is wrong with `prefix/name` as a label key or a resource name; nothing if it is one."""
    parts = name.split("/")
    if len(parts) > 2:
        prefix = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"{release.qualified_name} {_name_rule()} {prefix}"]
    errors = [f"prefix part {error}" for error in _prefix_errors(parts[0], release)] if len(parts) == 2 else []
    last = parts[-1]
    if not last:
        errors.append("name part must be non-empty")
    elif len(last.encode()) > 63:
        errors.append(f"name part {_too_long(63, release)}")
    if re.fullmatch(_NAME, last, re.ASCII) is None:
        errors.append(f"name part {_name_rule()}")
    return errors


def label_value_errors(value: str, release: Release) -> list[str]:
    """Return what is wrong with a label value; nothing if it is one."""
    errors = [_too_long(63, release)] if len(value.encode()) > 63 else []
    if re.fullmatch(f"({_NAME})?", value, re.ASCII) is None:
        errors.append(_rule(_VALUE_RULE, f"({_NAME})?", ("MyValue", "my_value", "12345")))
    return errors


def _prefix_errors(prefix: str, release: Release) -> list[str]:
    if not prefix:
        return ["must be non-empty"]
    errors = [_too_long(253, release)] if len(prefix.encode()) > 253 else []
    if re.fullmatch(_SUBDOMAIN, prefix, re.ASCII) is None:
        errors.append(_rule(_SUBDOMAIN_RULE, _SUBDOMAIN, ("example.com",)))
    return errors


def _name_rule() -> str:
    return _rule(_NAME_RULE, _NAME, ("MyName", "my.name", "123-abc"))


def _rule(rule: str, regex: str, examples: Iterable[str]) -> str:
    """Say a rule as upstream does, with its doubled separators between the examples."""
    listed = " or ".join(f"'{example}', " for example in examples)
    return f"{rule} (e.g. {listed}regex used for validation is '{regex}')"


def _too_long(limit: int, release: Release) -> str:
    return f"must be no more than {limit} {release.length_unit}"
