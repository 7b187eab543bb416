"""The treatment of fields of a manifest that Kubernetes does not know."""

from enum import StrEnum


class UnknownFields(StrEnum):
    """The values of kubectl apply's --validate."""

    strict = "strict"
    warn = "warn"
    ignore = "ignore"
