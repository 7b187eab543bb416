"""The errors of reading a dump."""

from __future__ import annotations

from kubectl_sched.errors import SchedError


class DumpError(SchedError):
    """A dump, a manifest or a configuration file that cannot be read."""


class BombError(DumpError):
    """An archive that expands to more than any dump does; nothing further of it is read."""


class YamlError(DumpError):
    """YAML that cannot be read."""
