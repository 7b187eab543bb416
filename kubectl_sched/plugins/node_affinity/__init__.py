"""Filters and scores nodes by a pod's node affinity and node selector (plugins/nodeaffinity/node_affinity.go)."""
