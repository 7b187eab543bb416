"""The sources of state: dumps of every layout, and running clusters."""

from kubectl_sched.sources.dump.dump import Dump
from kubectl_sched.sources.dump_errors import DumpError

__all__ = ["Dump", "DumpError"]
