"""The answer of `kubectl sched`: groups of pending pods in sentences, as a table and as data."""
