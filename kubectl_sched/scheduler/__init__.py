"""The scheduler: one cycle for one pod, and what came of it."""
