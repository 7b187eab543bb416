"""Devices in Karpenter's simulation, where IGNORE_DRA_REQUESTS is off (pkg/scheduling/dynamicresources)."""
