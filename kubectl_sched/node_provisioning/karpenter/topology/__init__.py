"""Topology spread, pod affinity and anti-affinity (topology.go, topologygroup.go)."""
