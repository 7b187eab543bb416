"""One immutable picture of a cluster, stored as columns of distinct values."""

from kubectl_sched.snapshot.build import build
from kubectl_sched.snapshot.column import Column
from kubectl_sched.snapshot.objects import Objects
from kubectl_sched.snapshot.pod_table import PodTable
from kubectl_sched.snapshot.snapshot import NodeInfo, Snapshot

__all__ = ["Column", "NodeInfo", "Objects", "PodTable", "Snapshot", "build"]
