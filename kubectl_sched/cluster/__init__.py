"""Where state comes from: dumps of every layout, and what is found in them."""

from kubectl_sched.cluster.dump import Dump
from kubectl_sched.cluster.errors import DumpError
from kubectl_sched.cluster.reading import read

__all__ = ["Dump", "DumpError", "read"]
