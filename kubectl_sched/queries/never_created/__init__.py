"""Pods that a workload should have and that were never made."""
