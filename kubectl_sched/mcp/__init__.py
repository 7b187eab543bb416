"""The tools of `kubectl sched mcp`."""
