"""Findings about the claims of pods, their volumes and drivers."""
