"""Signatures of pods, by which equal ones are found."""
