"""Many cycles after each other: the queue of a what-if, rollouts, node edits."""
