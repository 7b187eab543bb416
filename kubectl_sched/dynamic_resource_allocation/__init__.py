"""Devices as ResourceSlices publish them, selectors choose them and claims hold them: what more than one plugin asks.

Answers to k8s.io/dynamic-resource-allocation.
"""
