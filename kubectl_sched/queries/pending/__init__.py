"""Pending pods by cause, what helps all pods of one cause, and the workloads that lack them."""
