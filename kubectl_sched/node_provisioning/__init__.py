"""Replays of the programs that add nodes: would one be made for a pod, which, and why not."""
