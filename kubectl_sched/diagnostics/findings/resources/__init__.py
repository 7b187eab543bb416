"""Findings about the room on nodes and the requests for it."""
