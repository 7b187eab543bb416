"""Filters and scores nodes by a pod's node affinity and node selector (plugins/nodeaffinity/node_affinity.go)."""

from kubectl_sched.plugins.node_affinity.plugin import NodeAffinity

__all__ = ["NodeAffinity"]
