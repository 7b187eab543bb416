"""The rules of Kubernetes for names, label keys, label values and integers, and its error texts.

Answers to k8s.io/apimachinery/pkg/api/validate/content, pkg/util/validation/field and pkg/util/errors, in the words of
1.36.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.lazy_pattern import pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence

_NAME_FORMAT: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_NAME: Final = pattern(_NAME_FORMAT)
_SUBDOMAIN_FORMAT: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_SUBDOMAIN: Final = pattern(_SUBDOMAIN_FORMAT)
_DNS_LABEL_FORMAT: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DNS_LABEL: Final = pattern(_DNS_LABEL_FORMAT)
_DECIMAL: Final = pattern("0|-?[1-9][0-9]*")

_ENDS: Final = "and must start and end with an alphanumeric character"
_NAME_IS_WRONG: Final = (
    f"must consist of alphanumeric characters, '-', '_' or '.', {_ENDS} "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_NAME_FORMAT}')"
)
_VALUE_IS_WRONG: Final = (
    f"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', {_ENDS} "
    f"(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '({_NAME_FORMAT})?')"
)
_SUBDOMAIN_IS_WRONG: Final = (
    f"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', {_ENDS} "
    f"(e.g. 'example.com', regex used for validation is '{_SUBDOMAIN_FORMAT}')"
)
_DNS_LABEL_IS_WRONG: Final = (
    f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', {_ENDS} "
    f"(e.g. 'my-name',  or '123-abc', regex used for validation is '{_DNS_LABEL_FORMAT}')"
)
_ESCAPES: Final = {
    "\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v", "\\": r"\\", '"': r"\"",
}  # fmt: skip


def label_key_errors(key: str, noun: str = "a valid label key", unit: str = "bytes") -> list[str]:
    """Return the errors of a label key (IsLabelKey); nothing if it is valid.

    `noun` and `unit` are words that earlier minors had others for: what a key is, and what its length is counted in.
    """
    parts = key.split("/")
    if len(parts) > 2:
        with_prefix = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"{noun} {_NAME_IS_WRONG} {with_prefix}"]
    errors = _prefix_errors(parts[0], unit) if len(parts) == 2 else []
    name = parts[-1]
    if not name:
        errors.append("name part must be non-empty")
    elif _too_long(name, 63):
        errors.append(f"name part must be no more than 63 {unit}")
    if not _NAME.fullmatch(name):
        errors.append(f"name part {_NAME_IS_WRONG}")
    return errors


def label_value_errors(value: str, unit: str = "bytes") -> list[str]:
    """Return the errors of a label value (IsLabelValue); nothing if it is valid."""
    errors = [f"must be no more than 63 {unit}"] if _too_long(value, 63) else []
    if value and not _NAME.fullmatch(value):
        errors.append(_VALUE_IS_WRONG)
    return errors


def subdomain_errors(name: str) -> list[str]:
    """Return the errors of most objects' names (IsDNS1123Subdomain); nothing if it is valid."""
    errors = ["must be no more than 253 characters"] if _too_long(name, 253) else []
    if not _SUBDOMAIN.fullmatch(name):
        errors.append(_SUBDOMAIN_IS_WRONG)
    return errors


def dns_label_errors(name: str) -> list[str]:
    """Return the errors of a name that may have no dots (IsDNS1123Label); nothing if it is valid."""
    errors = ["must be no more than 63 characters"] if _too_long(name, 63) else []
    if not _DNS_LABEL.fullmatch(name):
        errors.append("must not contain dots" if _SUBDOMAIN.fullmatch(name) else _DNS_LABEL_IS_WRONG)
    return errors


def is_decimal_integer(text: str) -> bool:
    """Report whether a text is a canonical decimal: no plus, no leading zeros, no negative zero (IsDecimalInteger)."""
    return _DECIMAL.fullmatch(text) is not None


def invalid(path: str, value: str | int | Sequence[str], detail: str) -> str:
    """A field.Invalid error."""
    return f"{path}: Invalid value: {_shown(value)}: {detail}"


def not_negative(path: str, number: int | None) -> Iterator[str]:
    """A number that may not be below 0."""
    if number is not None and number < 0:
        yield invalid(path, number, "must be greater than or equal to 0")


def text_problems(path: str, text: str, errors: Callable[[str], list[str]]) -> Iterator[str]:
    """A field.Invalid error for each thing that is wrong with a text; `errors` is one of the functions above."""
    return (invalid(path, text, detail) for detail in errors(text))


def unique_name_problems(name: str, path: str, taken: Container[str], *, doubled_is_all: bool = False) -> Iterator[str]:
    """Return the errors of a name that must be a DNS label and unique; `taken` holds the names before it.

    `doubled_is_all` says nothing else of a name that stands twice.
    """
    if not name:
        yield f"{path}: Required value"
    elif not (doubled_is_all and name in taken):
        yield from text_problems(path, name, dns_label_errors)
    if name and name in taken:
        yield f"{path}: Duplicate value: {quoted(name)}"


def label_problems(path: str, labels: Mapping[str, str]) -> Iterator[str]:
    """A field.Invalid error for each thing that is wrong with labels (ValidateLabels)."""
    for key, value in labels.items():
        yield from text_problems(path, key, label_key_errors)
        yield from text_problems(path, value, label_value_errors)


def not_supported(path: str, value: str, supported: Iterable[str]) -> str:
    """A field.NotSupported error."""
    return f"{path}: Unsupported value: {quoted(value)}: supported values: {', '.join(map(quoted, supported))}"


def choice_problems(path: str, value: str | None, supported: Collection[str]) -> Iterator[str]:
    """A field.NotSupported error for a value that is stated, but is none of those supported."""
    if value and value not in supported:
        yield not_supported(path, value, supported)


def aggregate(errors: Iterable[str]) -> str:
    """One error's text, or the distinct texts of several in brackets (aggregate.Error)."""
    distinct = tuple(dict.fromkeys(errors))
    return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"


def child(path: str, name: str) -> str:
    """The path of a field below another, which may be the root."""
    return f"{path}.{name}" if path else name


def quoted(text: str) -> str:
    """The text in double quotes, escaped as Go's %q does."""
    return f'"{"".join(map(_escaped, text))}"'


def json_list(values: Sequence[str]) -> str:
    """A list of strings as Go's encoding/json writes it; an empty one is a nil slice."""
    if not values:
        return "null"
    from json import dumps

    text = dumps(list(values), ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")


def _shown(value: str | int | Sequence[str]) -> str:
    if isinstance(value, int):
        return str(value)
    return quoted(value) if isinstance(value, str) else json_list(value)


def _prefix_errors(prefix: str, unit: str) -> list[str]:
    if not prefix:
        return ["prefix part must be non-empty"]
    errors = [f"prefix part must be no more than 253 {unit}"] if _too_long(prefix, 253) else []
    if not _SUBDOMAIN.fullmatch(prefix):
        errors.append(f"prefix part {_SUBDOMAIN_IS_WRONG}")
    return errors


def _too_long(text: str, limit: int) -> bool:
    return len(text) > limit or len(text.encode("utf-8", "surrogatepass")) > limit


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
