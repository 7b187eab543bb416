"""Changes to a NodePool or a node group that would help a pod."""

from __future__ import annotations

from kubectl_sched.record import CachingRecord

NODE_POOL, NODE_GROUP = "NodePool", "NodeGroup"


class ProvisionerAdvice(CachingRecord, frozen=True, kw_only=True):
    """One change: the field of a NodePool, or the tag or annotation of a node group, and the value that would do.

    The value is empty where it is the reader's choice.
    """

    kind: str
    name: str
    field: str
    value: str = ""
    sentence: str
