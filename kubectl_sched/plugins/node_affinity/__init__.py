"""Which nodes a pod requires and prefers by label or name (plugins/nodeaffinity/node_affinity.go)."""

from kubectl_sched.plugins.node_affinity.plugin import NodeAffinity

__all__ = ["NodeAffinity"]
