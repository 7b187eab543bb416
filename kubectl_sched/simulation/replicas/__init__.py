"""Placing the replicas of a workload: what their cycles have in common is judged once."""
