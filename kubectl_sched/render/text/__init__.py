"""Answers as text, for terminals and pipes."""
