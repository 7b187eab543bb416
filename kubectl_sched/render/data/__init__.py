"""Answers as data, for scripts."""
