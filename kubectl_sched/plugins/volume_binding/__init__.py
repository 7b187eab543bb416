"""Finds nodes that reach a pod's volumes, or where volumes can be bound or made for it.

Answers to plugins/volumebinding/volume_binding.go.
"""
