"""Parts of the scheduling queue: its heaps, and the events that pods in flight have missed."""
