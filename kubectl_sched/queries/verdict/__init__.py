"""The verdict on a pod in one line, and the groups of nodes behind it."""
